//! The predicates of a subscription as written, with their weights.

use super::AttributeWeights;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::expr::{Condition, Expr, Missing, Normal, Normalizer, Op, Truth};
use crate::schema::{AttrId, Attributes, Schema};
use crate::value::{Literal, Value};
use smol_str::SmolStr;

/// The predicates of a subscription as written, from left to right: what its matches are scored with.
#[derive(Debug, Default)]
pub struct WeightedPredicates {
    predicates: Vec<WeightedPredicate>,
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
        let mut predicates = WeightedPredicates::default();
        predicates.set(expr, schema, missing)?;
        predicates.predicates.shrink_to_fit();
        Ok(predicates)
    }

    /// Replaces the content by the predicates of an expression; reuses the memory.
    pub fn set(&mut self, expr: &Expr, schema: &Schema, missing: Missing) -> Result<()> {
        self.predicates.clear();
        self.missing = missing;
        collect(expr, false, true, (schema, missing), &mut self.predicates)
    }

    /// What a predicate on a missing attribute is.
    pub(crate) fn missing(&self) -> Missing {
        self.missing
    }

    /// Every predicate, from left to right.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &WeightedPredicate> {
        self.predicates.iter()
    }

    /// The score where no attribute has a weight, if it is the same for all matches.
    pub fn constant_score(&self) -> Option<f64> {
        let constant = self.predicates.iter().all(WeightedPredicate::is_in_every_match);
        constant.then(|| self.upper_bound())
    }

    /// The sum of all weights, from left to right: no match without attribute weights has a greater score. Addition of
    /// numbers that are not negative is monotone, also with rounding, so a sum over some predicates is no greater.
    pub fn upper_bound(&self) -> f64 {
        self.predicates.iter().fold(0.0, |sum, predicate| sum + predicate.weight)
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
            + self.predicates.capacity() * size_of::<WeightedPredicate>()
            + heap.sum::<usize>()
    }
}

impl WeightedPredicate {
    /// Whether every event that matches the subscription satisfies the predicate. An engine can use its weight as part of
    /// every score; the weight of another predicate is an upper bound of what it adds.
    pub fn is_in_every_match(&self) -> bool {
        self.test.is_none()
    }

    /// The normalized form of what satisfies the predicate; `None` if every match does.
    pub(crate) fn normalized<'n>(
        &self,
        normalizer: &'n mut Normalizer,
        missing: Missing,
    ) -> Option<&'n Normal> {
        let test = self.test.as_ref()?;
        let negated = test.satisfying == Truth::False;
        Some(normalizer.normalize_condition(&test.condition, negated, &mut Numbered(self.attribute), missing))
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

/// The one attribute of a predicate, whose number is known.
struct Numbered(AttrId);

impl Attributes for Numbered {
    fn number(&mut self, _name: &SmolStr) -> AttrId {
        self.0
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
