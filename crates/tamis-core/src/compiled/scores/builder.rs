//! Collects bounds and weighted predicates while members are added.

use super::tokens::{HAS_TEST, HAS_WEIGHT, write_number};
use super::{Ranks, Scores, WeightedTokens};
use crate::compiled::limits::{SegmentLimits, SegmentOverflow};
use crate::engine::scoring::WeightedPredicates;
use crate::engine::shared::predicates::Predicates;
use crate::expr::{Normalizer, Root};
use rustc_hash::FxHashMap;

/// What decides whether a predicate counts: one of these normalized predicates holds. There is one of them, or two where a
/// negated quantifier in a closed world also accepts a missing list.
pub(in crate::compiled) type ScoreTest = Box<[u32]>;

/// See the module's head.
#[derive(Default)]
pub(in crate::compiled) struct ScoresBuilder {
    /// By member.
    bounds: Vec<f64>,
    /// By member: whether some predicate needs a test.
    varies: Vec<bool>,
    /// By member: where its tokens end.
    ends: Vec<u32>,
    tokens: Vec<u8>,
    weights: Vec<f64>,
    /// Positions in `weights` by bits.
    weight_positions: FxHashMap<u64, u32>,
    tests: Vec<ScoreTest>,
    /// Positions in `tests`.
    test_positions: FxHashMap<ScoreTest, u32>,
    normalizer: Normalizer,
    /// Predicates of the test in hand.
    any_of: Vec<u32>,
}

impl ScoresBuilder {
    /// Adds the next member. Its predicates that need a test are numbered among those of the segment.
    pub fn add(
        &mut self,
        weighted: &WeightedPredicates,
        predicates: &mut Predicates,
        limits: &SegmentLimits,
    ) -> Result<(), SegmentOverflow> {
        let (mut bound, mut varies) = (0.0, false);
        for predicate in weighted.iter() {
            let mut flags = if predicate.weight == 1.0 { 0 } else { HAS_WEIGHT };
            let test = match predicate.normalized(&mut self.normalizer, weighted.missing()) {
                None => None,
                Some(normal) => match normal.root() {
                    Root::Never => continue,
                    Root::Always => None,
                    // A leaf, or two under OR.
                    Root::Node(_) => {
                        self.any_of.clear();
                        self.any_of
                            .extend(normal.predicates().iter().map(|leaf| predicates.acquire_ref(leaf).0));
                        Some(self.test_position(limits)?)
                    }
                },
            };
            flags |= if test.is_some() { HAS_TEST } else { 0 };
            varies |= test.is_some();
            bound += predicate.weight;
            write_number(u64::from(predicate.attribute.0) << 2 | flags, &mut self.tokens);
            if flags & HAS_WEIGHT != 0 {
                let position = self.weight_position(predicate.weight, limits)?;
                write_number(u64::from(position), &mut self.tokens);
            }
            test.into_iter().for_each(|test| write_number(u64::from(test), &mut self.tokens));
        }
        self.bounds.push(bound);
        self.varies.push(varies);
        self.ends.push(limits.items(self.tokens.len(), "bytes of weighted predicates")?);
        Ok(())
    }

    fn weight_position(&mut self, weight: f64, limits: &SegmentLimits) -> Result<u32, SegmentOverflow> {
        let next = limits.items(self.weights.len(), "distinct weights")?;
        let position = *self.weight_positions.entry(weight.to_bits()).or_insert(next);
        if position == next {
            self.weights.push(weight);
        }
        Ok(position)
    }

    fn test_position(&mut self, limits: &SegmentLimits) -> Result<u32, SegmentOverflow> {
        if let Some(position) = self.test_positions.get(self.any_of.as_slice()) {
            return Ok(*position);
        }
        let position = limits.items(self.tests.len(), "distinct tests of weighted predicates")?;
        let test: ScoreTest = self.any_of.as_slice().into();
        self.tests.push(test.clone());
        self.test_positions.insert(test, position);
        Ok(position)
    }

    /// The distinct tests, in the order in which [`ScoresBuilder::finish`] takes them encoded.
    pub fn tests(&self) -> &[ScoreTest] {
        &self.tests
    }

    /// The order of the members.
    pub fn ranks(&self) -> Ranks {
        Ranks::new(&self.bounds, |number| self.varies[number])
    }

    /// The arrays, with tests in 8 bytes each.
    pub fn finish(self, ranks: Ranks, tests: Vec<u64>) -> Scores {
        let mut starts = Vec::with_capacity(self.ends.len() + 1);
        starts.push(0);
        starts.extend(self.ends);
        let tokens = WeightedTokens {
            starts: starts.into(),
            tokens: self.tokens.into(),
            weights: self.weights.into(),
            tests: tests.into(),
        };
        Scores { ranks, tokens }
    }
}
