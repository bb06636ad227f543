//! How much a match counts: one definition for the index, which scores matches, and for engines that rank by themselves.
//!
//! The score of an event and a subscription is the sum, over the subscription's satisfied predicates, of predicate weight
//! times event weight of the attribute. Predicates are those of the expression as written, summed from left to right;
//! weights are finite and not negative, so a sum over some predicates is a lower bound of the score. Of two subscriptions
//! with equal scores, the one inserted first is the better.
//!
//! Only matches are scored. So a predicate without which the expression could not be TRUE needs no test: those that AND
//! joins, and those that OR joins under NOT. Of a conjunction these are all; other predicates are evaluated.

use crate::error::{Error, Result};
use crate::event::Event;
use crate::expr::{Condition, Expr, Missing, Op, Truth};
use crate::schema::{AttrId, Schema};
use crate::value::{Literal, Value};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// An event's weights by attribute. Reused from event to event.
#[derive(Debug, Default)]
pub struct AttributeWeights {
    /// By attribute; 1.0 wherever the event gives none.
    weights: Vec<f64>,
    /// The attributes to reset before the next event.
    given: Vec<AttrId>,
}

impl AttributeWeights {
    /// Takes over an event's weights, finite and not negative, of the attributes that the schema has; no predicate reads
    /// others.
    pub fn load<'w>(&mut self, weights: impl Iterator<Item = (&'w str, f64)>, schema: &Schema) {
        for attribute in self.given.drain(..) {
            self.weights[attribute.index()] = 1.0;
        }
        self.weights.resize(schema.len(), 1.0);
        for (name, weight) in weights {
            if let Some(attribute) = schema.get(name) {
                self.weights[attribute.index()] = weight;
                self.given.push(attribute);
            }
        }
    }

    /// Whether every weight is 1.0 because the event gives none.
    pub fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// At least the weight of every attribute.
    pub fn greatest(&self) -> f64 {
        self.given.iter().map(|attribute| self.get(*attribute)).fold(1.0, f64::max)
    }

    /// The weight of an attribute; 1.0 for one that the schema does not have: an engine's upper bounds may still count the
    /// attribute of a removed subscription.
    #[inline]
    pub fn get(&self, attribute: AttrId) -> f64 {
        self.weights.get(attribute.index()).copied().unwrap_or(1.0)
    }
}

/// What [`RankingEngine::top_k`](super::RankingEngine::top_k) is to find.
#[derive(Clone, Copy)]
pub struct TopKQuery<'q> {
    /// The event that subscriptions must match.
    pub event: &'q Event<'q>,
    /// Its weights.
    pub weights: &'q AttributeWeights,
    /// Maximum subscriptions.
    pub k: usize,
    /// Minimum score; 0.0 if every match may be among the best.
    pub floor: f64,
}

/// The predicates of a subscription as written, from left to right: what its matches are scored with.
#[derive(Debug)]
pub struct WeightedPredicates {
    predicates: Box<[WeightedPredicate]>,
    /// What a predicate on a missing attribute is.
    missing: Missing,
}

/// A predicate as written.
#[derive(Debug)]
pub struct WeightedPredicate {
    /// The attribute whose event weight multiplies the predicate's.
    pub attribute: AttrId,
    /// Finite and not negative.
    pub weight: f64,
    /// Whether it is satisfied by an event without the attribute.
    satisfied_if_missing: bool,
    /// What decides whether it is satisfied; `None` if it is in every match.
    test: Option<Box<ScoringTest>>,
}

#[derive(Debug)]
struct ScoringTest {
    condition: Condition,
    /// The truth value that satisfies it: FALSE under an odd number of NOTs.
    satisfying: Truth,
}

/// Bytes that a pattern is taken to occupy: a compiled regex has some kilobytes.
const PATTERN_BYTES: usize = 8 << 10;

impl WeightedPredicates {
    /// The predicates of an expression whose attributes are in the schema.
    pub fn new(expr: &Expr, schema: &Schema, missing: Missing) -> Result<WeightedPredicates> {
        let mut predicates = Vec::new();
        collect(expr, false, true, (schema, missing), &mut predicates)?;
        Ok(WeightedPredicates { predicates: predicates.into(), missing })
    }

    /// Every predicate, from left to right.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &WeightedPredicate> {
        self.predicates.iter()
    }

    /// The score where no attribute has a weight, if it is the same for all matches.
    pub fn constant_score(&self) -> Option<f64> {
        let constant = self.predicates.iter().all(WeightedPredicate::is_in_every_match);
        constant.then(|| self.predicates.iter().fold(0.0, |sum, predicate| sum + predicate.weight))
    }

    /// The score of an event that matches.
    pub fn score(&self, event: &Event<'_>, weights: &AttributeWeights) -> f64 {
        let mut sum = 0.0;
        for predicate in &self.predicates {
            if predicate.is_satisfied(event, self.missing) {
                sum += predicate.weight * weights.get(predicate.attribute);
            }
        }
        sum
    }

    /// Bytes in use, approximately.
    pub fn memory(&self) -> usize {
        let tests = self.predicates.iter().filter_map(|predicate| predicate.test.as_ref());
        let heap = tests.map(|test| match &test.condition.op {
            Op::Matches { .. } => size_of::<ScoringTest>() + PATTERN_BYTES,
            Op::In { literals, .. } => size_of::<ScoringTest>() + literals.len() * size_of::<Literal>(),
            _ => size_of::<ScoringTest>(),
        });
        size_of::<WeightedPredicates>()
            + self.predicates.len() * size_of::<WeightedPredicate>()
            + heap.sum::<usize>()
    }
}

impl WeightedPredicate {
    /// Whether every event that matches the subscription satisfies the predicate. An engine can use its weight as part of
    /// every score; the weight of another predicate is an upper bound of what it adds.
    pub fn is_in_every_match(&self) -> bool {
        self.test.is_none()
    }

    /// Whether an event without the attribute satisfies the predicate, so that its weight counts for such events.
    pub fn is_satisfied_if_missing(&self) -> bool {
        self.satisfied_if_missing
    }

    /// A predicate that needs a test unless `in_every_match`.
    fn new(
        condition: &Condition,
        negated: bool,
        in_every_match: bool,
        schema: &Schema,
        missing: Missing,
    ) -> Result<WeightedPredicate> {
        let attribute = schema.get(&condition.attribute.name);
        let attribute = attribute.ok_or_else(|| Error::damaged("an attribute is unknown"))?;
        let weight = condition.weight;
        let satisfying = if negated { Truth::False } else { Truth::True };
        let satisfied_if_missing = condition.truth_without(missing) == satisfying;
        let test =
            (!in_every_match).then(|| Box::new(ScoringTest { condition: condition.clone(), satisfying }));
        Ok(WeightedPredicate { attribute, weight, satisfied_if_missing, test })
    }

    fn is_satisfied(&self, event: &Event<'_>, missing: Missing) -> bool {
        // Events have few of all attributes: most tests are decided without a read of the condition.
        match (&self.test, event.value(self.attribute)) {
            (None, _) => true,
            (Some(_), Value::Missing) => self.satisfied_if_missing,
            (Some(test), value) => test.condition.truth(value, event, missing) == test.satisfying,
        }
    }
}

/// Appends every predicate. `in_every_match` says that in a match the expression, or under an odd number of NOTs its
/// negation, is TRUE.
fn collect(
    expr: &Expr,
    negated: bool,
    in_every_match: bool,
    (schema, missing): (&Schema, Missing),
    predicates: &mut Vec<WeightedPredicate>,
) -> Result<()> {
    let in_every_match = in_every_match
        && match expr {
            Expr::And(_) => !negated,
            Expr::Or(_) => negated,
            Expr::Xor(_) | Expr::Xnor(_) => false,
            Expr::Const(_) | Expr::Condition(_) | Expr::Not(_) => true,
        };
    if let Expr::Condition(condition) = expr {
        predicates.push(WeightedPredicate::new(condition, negated, in_every_match, schema, missing)?);
    }
    let negated = negated != matches!(expr, Expr::Not(_));
    let mut children = expr.children().iter();
    children.try_for_each(|child| collect(child, negated, in_every_match, (schema, missing), predicates))
}

/// The best k of the items that are offered, in a heap of at most k. Reused from event to event.
#[derive(Debug)]
pub struct BestK<T> {
    k: usize,
    /// The worst item on top.
    heap: BinaryHeap<Ranked<T>>,
}

/// An item with its rank; less is better.
#[derive(Clone, Copy, Debug)]
struct Ranked<T> {
    score: f64,
    sequence: u64,
    item: T,
}

impl<T> Default for BestK<T> {
    fn default() -> BestK<T> {
        BestK { k: 0, heap: BinaryHeap::new() }
    }
}

impl<T: Copy> BestK<T> {
    /// Drops all items; from here on the best `k` are held.
    pub fn begin(&mut self, k: usize) {
        self.k = k;
        self.heap.clear();
    }

    /// Takes an item if it is among the best k so far. `sequence` is its position in the order of insertion, computed
    /// only if its score does not decide.
    pub fn offer(&mut self, score: f64, sequence: impl FnOnce() -> u64, item: T) {
        if self.heap.len() < self.k {
            self.heap.push(Ranked { score, sequence: sequence(), item });
        } else if let Some(mut worst) = self.heap.peek_mut()
            && score.total_cmp(&worst.score).is_ge()
        {
            let ranked = Ranked { score, sequence: sequence(), item };
            if ranked < *worst {
                *worst = ranked;
            }
        }
    }

    /// The least score that can still enter: that of the worst item once there are k, else 0.0.
    pub fn floor(&self) -> f64 {
        if self.heap.len() < self.k {
            0.0
        } else {
            self.heap.peek().map_or(f64::INFINITY, |worst| worst.score)
        }
    }

    /// Takes out all items, best first, with their scores.
    pub fn drain(&mut self, mut each: impl FnMut(T, f64)) {
        let mut sorted = std::mem::take(&mut self.heap).into_sorted_vec();
        sorted.drain(..).for_each(|ranked| each(ranked.item, ranked.score));
        // Empty, with the memory of before.
        self.heap = sorted.into();
    }
}

impl<T> Ord for Ranked<T> {
    fn cmp(&self, other: &Ranked<T>) -> Ordering {
        other.score.total_cmp(&self.score).then(self.sequence.cmp(&other.sequence))
    }
}

impl<T> PartialOrd for Ranked<T> {
    fn partial_cmp(&self, other: &Ranked<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Ranked<T> {
    fn eq(&self, other: &Ranked<T>) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Ranked<T> {}

#[cfg(test)]
mod tests {
    use super::BestK;

    #[test]
    fn the_best_k_come_out_in_order_and_ties_by_insertion() {
        let mut best = BestK::default();
        best.begin(3);
        assert_eq!(best.floor(), 0.0);
        for (sequence, score) in [1.0, 5.0, 2.0, 5.0, 2.0, 0.0].into_iter().enumerate() {
            best.offer(score, || sequence as u64, sequence);
        }
        assert_eq!(best.floor(), 2.0);
        let mut drained = Vec::new();
        best.drain(|item, score| drained.push((item, score)));
        assert_eq!(drained, [(1, 5.0), (3, 5.0), (2, 2.0)]);
        best.begin(0);
        best.offer(9.0, || 0, 0);
        assert_eq!(best.floor(), f64::INFINITY);
        best.drain(|_, _| unreachable!("the best none"));
    }
}
