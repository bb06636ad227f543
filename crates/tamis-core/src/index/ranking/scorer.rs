//! The score of a match: the sum of the weights of its satisfied predicates, computed from the expression as written.
//!
//! Only matches are scored. A predicate that every match satisfies is counted without being evaluated: the operands of
//! AND, and of OR under NOT. In a conjunction these are all predicates; the others are evaluated.

use super::weights::AttributeWeights;
use crate::error::Result;
use crate::event::Event;
use crate::expr::{Condition, Expr, Missing, Op, Truth, parse};
use crate::index::matching::{EventContext, damaged};
use crate::schema::AttrId;
use crate::value::{Literal, Value};

/// An expression, reduced to what scoring its matches needs.
pub(super) struct Scorer {
    /// One per predicate, from left to right.
    terms: Box<[ScoreTerm]>,
}

/// The summand of one predicate.
struct ScoreTerm {
    attribute: AttrId,
    /// Weight of the predicate.
    weight: f64,
    /// Whether it counts for an event without the attribute.
    counts_if_missing: bool,
    /// Decides whether the term counts; `None` if every match satisfies the predicate.
    test: Option<Box<TermTest>>,
}

/// A predicate that a match need not satisfy.
struct TermTest {
    condition: Condition,
    /// The truth for which the term counts: FALSE under an odd number of NOTs.
    counted_truth: Truth,
}

/// Estimated bytes of a compiled pattern.
const PATTERN_BYTES: usize = 8 << 10;

impl Scorer {
    pub fn new(text: Option<&str>, context: &EventContext<'_>) -> Result<Scorer> {
        let text = text.ok_or_else(|| damaged("a text is not UTF-8"))?;
        let mut terms = Vec::new();
        push_terms(&parse(text, context.limits)?, false, true, context, &mut terms)?;
        Ok(Scorer { terms: terms.into() })
    }

    /// The score of every match without attribute weights; `None` if matches differ.
    pub fn constant(&self) -> Option<f64> {
        let certain = self.terms.iter().all(|term| term.test.is_none());
        certain.then(|| self.terms.iter().fold(0.0, |sum, term| sum + term.weight))
    }

    /// The score of an event that matches.
    pub fn score(&self, event: &Event<'_>, weights: &AttributeWeights, missing: Missing) -> f64 {
        let mut sum = 0.0;
        for term in &self.terms {
            if term.counts(event, missing) {
                sum += term.weight * weights.of(term.attribute);
            }
        }
        sum
    }

    /// Estimated bytes in use.
    pub fn memory(&self) -> usize {
        let tests = self.terms.iter().filter_map(|term| term.test.as_ref());
        let test_bytes = tests.map(|test| match &test.condition.op {
            Op::Matches { .. } => size_of::<TermTest>() + PATTERN_BYTES,
            Op::In { literals, .. } => size_of::<TermTest>() + literals.len() * size_of::<Literal>(),
            _ => size_of::<TermTest>(),
        });
        size_of::<Scorer>() + self.terms.len() * size_of::<ScoreTerm>() + test_bytes.sum::<usize>()
    }
}

impl ScoreTerm {
    fn new(
        condition: &Condition,
        negated: bool,
        certain: bool,
        context: &EventContext<'_>,
    ) -> Result<ScoreTerm> {
        let attribute = context.schema.get(&condition.attribute.name);
        let attribute = attribute.ok_or_else(|| damaged("an attribute is unknown"))?;
        let weight = condition.weight;
        if certain {
            return Ok(ScoreTerm { attribute, weight, counts_if_missing: true, test: None });
        }
        let counted_truth = if negated { Truth::False } else { Truth::True };
        let counts_if_missing = condition.truth_without(context.missing) == counted_truth;
        let test = Some(Box::new(TermTest { condition: condition.clone(), counted_truth }));
        Ok(ScoreTerm { attribute, weight, counts_if_missing, test })
    }

    fn counts(&self, event: &Event<'_>, missing: Missing) -> bool {
        // An event has few of all attributes, so the test is rarely dereferenced.
        match (&self.test, event.value(self.attribute)) {
            (None, _) => true,
            (Some(_), Value::Missing) => self.counts_if_missing,
            (Some(test), value) => test.condition.truth(value, event, missing) == test.counted_truth,
        }
    }
}

/// Appends a term per predicate. `certain`: in every match the expression, or its negation if `negated`, is TRUE.
fn push_terms(
    expr: &Expr,
    negated: bool,
    certain: bool,
    context: &EventContext<'_>,
    terms: &mut Vec<ScoreTerm>,
) -> Result<()> {
    let certain = certain
        && match expr {
            Expr::And(_) => !negated,
            Expr::Or(_) => negated,
            Expr::Xor(_) | Expr::Xnor(_) => false,
            Expr::Const(_) | Expr::Condition(_) | Expr::Not(_) => true,
        };
    if let Expr::Condition(condition) = expr {
        terms.push(ScoreTerm::new(condition, negated, certain, context)?);
    }
    let negated = negated != matches!(expr, Expr::Not(_));
    expr.children().iter().try_for_each(|child| push_terms(child, negated, certain, context, terms))
}
