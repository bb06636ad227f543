//! The best k of each event's matches.
//!
//! An expression is parsed when it is first scored, and what scoring needs of it is kept for the other events that match
//! it: parsing takes a hundred times as long. Often that is one number: in a conjunction every predicate counts.

use super::holding::Holding;
use super::scoring::{AttributeWeights, Scorer};
use super::{Matches, Weighting};
use crate::error::Result;
use crate::event::EventSlots;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::num::NonZeroUsize;

/// The best matches of many events.
#[derive(Clone, Debug, Default)]
pub struct RankedMatches {
    /// Each event's ids, best first.
    pub matches: Matches,
    /// By place in the ids.
    pub scores: Vec<f64>,
}

impl RankedMatches {
    /// Appends the matches of further events.
    pub fn append(&mut self, other: RankedMatches) {
        self.matches.append(other.matches);
        self.scores.extend(other.scores);
    }
}

/// What a ranking is to be.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'w> {
    /// So many of each row's matches.
    pub k: usize,
    pub weights: Weighting<'w>,
    /// By default one per core.
    pub threads: Option<NonZeroUsize>,
}

/// Bytes that a thread keeps of expressions it has parsed, near enough. What does not fit is parsed again.
const MOST_KEPT: usize = 128 << 20;

/// Subscriptions, as they were written.
pub(super) trait Written {
    /// Where a subscription is.
    type Place: Copy;

    /// Names a subscription until one of them changes or goes.
    fn key(&self, place: Self::Place) -> u64;

    /// `None` if a damaged file has none.
    fn text(&self, place: Self::Place) -> Option<&str>;

    /// The place in the order of insertion.
    fn sequence(&self, place: Self::Place) -> u64;
}

/// Ranks the matches of one event after another.
pub(super) struct Ranker<P> {
    known: Known,
    slots: EventSlots,
    weights: AttributeWeights,
    /// The best so far, the worst of them on top; empty between events.
    best: BinaryHeap<Contender<P>>,
}

/// What is left of expressions that were parsed.
#[derive(Default)]
struct Known {
    by_key: FxHashMap<u64, Kept>,
    bytes: usize,
}

enum Kept {
    /// The score of every match, where no attribute has a weight.
    Plain(f64),
    Scorer(Box<Scorer>),
}

/// Greater is worse.
#[derive(Clone, Copy)]
struct Contender<P> {
    score: f64,
    sequence: u64,
    place: P,
}

impl<P> Default for Ranker<P> {
    fn default() -> Ranker<P> {
        Ranker {
            known: Known::default(),
            slots: EventSlots::default(),
            weights: AttributeWeights::default(),
            best: BinaryHeap::new(),
        }
    }
}

impl<P: Copy> Ranker<P> {
    /// To be called when keys may have got another meaning.
    pub fn forget(&mut self) {
        // Dropped, not cleared: what the next calls need may be far less.
        self.known = Known::default();
    }

    /// Gives the best of a row's matches with their scores, best first; ties in order of insertion. After an error
    /// nothing was given.
    pub fn rank(
        &mut self,
        holding: &Holding<'_>,
        written: &impl Written<Place = P>,
        matches: impl Iterator<Item = P>,
        wanted: &Wanted<'_>,
        mut give: impl FnMut(P, f64),
    ) -> Result<()> {
        if wanted.k == 0 {
            return Ok(());
        }
        self.best.clear();
        self.weights.load(wanted.weights.of(holding.row), holding.schema);
        let event = self.slots.load(holding.rows, holding.row, holding.schema.len());
        for place in matches {
            let score = match self.known.by_key.get(&written.key(place)) {
                Some(Kept::Plain(score)) if self.weights.are_none() => *score,
                Some(Kept::Scorer(scorer)) => scorer.score(&event, &self.weights, holding.missing),
                _ => {
                    let scorer = Scorer::new(written.text(place), holding)?;
                    let score = scorer.score(&event, &self.weights, holding.missing);
                    self.known.keep(written.key(place), scorer, &self.weights);
                    score
                }
            };
            if self.best.len() < wanted.k {
                self.best.push(Contender { score, sequence: written.sequence(place), place });
            } else if let Some(mut worst) = self.best.peek_mut()
                // Most fail by their score, and need not be asked for their place in the order.
                && score.total_cmp(&worst.score).is_ge()
            {
                let contender = Contender { score, sequence: written.sequence(place), place };
                if contender < *worst {
                    *worst = contender;
                }
            }
        }
        let mut ranked = std::mem::take(&mut self.best).into_sorted_vec();
        ranked.drain(..).for_each(|contender| give(contender.place, contender.score));
        // Empty, but with the memory of before.
        self.best = ranked.into();
        Ok(())
    }
}

impl Known {
    /// Keeps what is needed with such weights, if there is room.
    fn keep(&mut self, key: u64, scorer: Scorer, weights: &AttributeWeights) {
        // Tables are half full on average.
        let entry = 2 * size_of::<(u64, Kept)>();
        let (kept, bytes) = match scorer.plain() {
            Some(score) if weights.are_none() => (Kept::Plain(score), entry),
            _ => {
                let bytes = entry + scorer.memory();
                (Kept::Scorer(Box::new(scorer)), bytes)
            }
        };
        if self.bytes + bytes <= MOST_KEPT {
            self.bytes += bytes;
            self.by_key.insert(key, kept);
        }
    }
}

impl<P> Ord for Contender<P> {
    fn cmp(&self, other: &Contender<P>) -> Ordering {
        other.score.total_cmp(&self.score).then(self.sequence.cmp(&other.sequence))
    }
}

impl<P> PartialOrd for Contender<P> {
    fn partial_cmp(&self, other: &Contender<P>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<P> PartialEq for Contender<P> {
    fn eq(&self, other: &Contender<P>) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<P> Eq for Contender<P> {}
