//! The k highest scores among an event's matches.
//!
//! An expression is parsed when it is first scored; its scorer is cached for the other events that it matches, because
//! parsing takes a hundred times as long as scoring. Often the cache holds one number: without attribute weights, all
//! matches of a conjunction have the same score.

use super::RankingRequest;
use super::scorer::Scorer;
use super::weights::AttributeWeights;
use crate::error::Result;
use crate::event::EventSlots;
use crate::index::matching::EventContext;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Maximum estimated bytes of a thread's scorer cache. Expressions that do not fit are parsed each time.
const MAX_CACHE_BYTES: usize = 128 << 20;

/// Subscriptions with their texts.
pub(in crate::index) trait ExpressionTexts {
    /// How a subscription is addressed.
    type Location: Copy;

    /// Identifies a subscription in the cache; valid until a subscription is replaced or removed.
    fn key(&self, location: Self::Location) -> u64;

    /// `None` where a damaged file has no text.
    fn text(&self, location: Self::Location) -> Option<&str>;

    /// Position in insertion order.
    fn sequence(&self, location: Self::Location) -> u64;
}

/// Ranks the matches of one event after another.
pub(in crate::index) struct Ranker<L> {
    cache: ScorerCache,
    /// The event being ranked.
    slots: EventSlots,
    /// Its attribute weights.
    weights: AttributeWeights,
    /// The best matches so far, the worst of them on top; at most k. Empty between events.
    best: BinaryHeap<RankedMatch<L>>,
}

/// Scorers of expressions that were parsed before.
#[derive(Default)]
struct ScorerCache {
    /// By [`ExpressionTexts::key`].
    by_key: FxHashMap<u64, CachedScorer>,
    /// Estimated bytes of `by_key`.
    bytes: usize,
}

enum CachedScorer {
    /// The score of every match; valid without attribute weights.
    Constant(f64),
    /// Valid with any weights.
    Scorer(Box<Scorer>),
}

/// A match in the heap. Greater is worse: a lower score, or the same score and a later insertion.
#[derive(Clone, Copy)]
struct RankedMatch<L> {
    score: f64,
    sequence: u64,
    location: L,
}

impl<L> Default for Ranker<L> {
    fn default() -> Ranker<L> {
        Ranker {
            cache: ScorerCache::default(),
            slots: EventSlots::default(),
            weights: AttributeWeights::default(),
            best: BinaryHeap::new(),
        }
    }
}

impl<L: Copy> Ranker<L> {
    /// Empties the cache. Required when keys may identify other expressions.
    pub fn clear_cache(&mut self) {
        // Dropped, not cleared: the next calls may need far less memory.
        self.cache = ScorerCache::default();
    }

    /// Calls `emit` with the best of a row's matches and their scores, best first; ties in insertion order. After an
    /// error `emit` was not called.
    pub fn rank(
        &mut self,
        context: &EventContext<'_>,
        texts: &impl ExpressionTexts<Location = L>,
        matches: impl Iterator<Item = L>,
        request: &RankingRequest<'_>,
        mut emit: impl FnMut(L, f64),
    ) -> Result<()> {
        if request.k == 0 {
            return Ok(());
        }
        self.best.clear();
        self.weights.load(request.weights.of(context.row), context.schema);
        let event = self.slots.load(context.rows, context.row, context.schema.len());
        for location in matches {
            let score = match self.cache.by_key.get(&texts.key(location)) {
                Some(CachedScorer::Constant(score)) if self.weights.are_none() => *score,
                Some(CachedScorer::Scorer(scorer)) => scorer.score(&event, &self.weights, context.missing),
                _ => {
                    let scorer = Scorer::new(texts.text(location), context)?;
                    let score = scorer.score(&event, &self.weights, context.missing);
                    self.cache.insert(texts.key(location), scorer, &self.weights);
                    score
                }
            };
            if self.best.len() < request.k {
                self.best.push(RankedMatch { score, sequence: texts.sequence(location), location });
            } else if let Some(mut worst) = self.best.peek_mut()
                // Most matches fail by their score, which saves the lookup of their sequence.
                && score.total_cmp(&worst.score).is_ge()
            {
                let candidate = RankedMatch { score, sequence: texts.sequence(location), location };
                if candidate < *worst {
                    *worst = candidate;
                }
            }
        }
        let mut ranked = std::mem::take(&mut self.best).into_sorted_vec();
        ranked.drain(..).for_each(|ranked| emit(ranked.location, ranked.score));
        // An empty heap that keeps the allocation.
        self.best = ranked.into();
        Ok(())
    }
}

impl ScorerCache {
    /// Caches a constant if that is valid for these weights, the scorer otherwise; nothing if there is no room.
    fn insert(&mut self, key: u64, scorer: Scorer, weights: &AttributeWeights) {
        // Hash tables are half full on average.
        let entry_bytes = 2 * size_of::<(u64, CachedScorer)>();
        let (cached, bytes) = match scorer.constant() {
            Some(score) if weights.are_none() => (CachedScorer::Constant(score), entry_bytes),
            _ => {
                let bytes = entry_bytes + scorer.memory();
                (CachedScorer::Scorer(Box::new(scorer)), bytes)
            }
        };
        if self.bytes + bytes <= MAX_CACHE_BYTES {
            self.bytes += bytes;
            self.by_key.insert(key, cached);
        }
    }
}

impl<L> Ord for RankedMatch<L> {
    fn cmp(&self, other: &RankedMatch<L>) -> Ordering {
        other.score.total_cmp(&self.score).then(self.sequence.cmp(&other.sequence))
    }
}

impl<L> PartialOrd for RankedMatch<L> {
    fn partial_cmp(&self, other: &RankedMatch<L>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<L> PartialEq for RankedMatch<L> {
    fn eq(&self, other: &RankedMatch<L>) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<L> Eq for RankedMatch<L> {}
