//! How much a match counts: the sum of its predicates' weights, computed from the expression as written.
//!
//! Only matches are scored. So a predicate without which the expression could not be TRUE needs no second look: those
//! that AND joins, and those that OR joins under NOT. Of a conjunction these are all; other predicates are evaluated.

use super::holding::Holding;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::expr::{Condition, Expr, Missing, Op, Truth, parse};
use crate::schema::{AttrId, Schema};
use crate::value::{Literal, Value};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// How much each attribute of an event counts; 1.0 where none is given.
#[derive(Clone, Debug, Default)]
pub struct EventWeights(FxHashMap<SmolStr, f64>);

impl EventWeights {
    /// Sets an attribute's weight, which must be finite and not negative.
    pub fn set(&mut self, attribute: &str, weight: f64) -> Result<()> {
        if !weight.is_finite() || weight < 0.0 {
            return Err(Error::event(attribute, format!("the weight {weight} is not finite and >= 0")));
        }
        self.0.insert(attribute.into(), weight);
        Ok(())
    }
}

/// The weights of many events.
#[derive(Clone, Copy, Debug)]
pub enum Weighting<'w> {
    /// All events have the same.
    Same(&'w EventWeights),
    /// Each row has its own.
    Each(&'w [EventWeights]),
}

impl<'w> Weighting<'w> {
    /// The weights of a row, which has some.
    pub(super) fn of(self, row: usize) -> &'w EventWeights {
        match self {
            Weighting::Same(weights) => weights,
            Weighting::Each(weights) => &weights[row],
        }
    }

    /// Whether there are weights for so many rows, no more and no fewer.
    pub fn check(self, rows: usize) -> Result<()> {
        match self {
            Weighting::Each(weights) if weights.len() != rows => {
                let message = format!("weights of {} events for {rows} events", weights.len());
                Err(Error::Event { attribute: None, message })
            }
            _ => Ok(()),
        }
    }
}

/// An event's weights with a place for each attribute. Reused from event to event.
#[derive(Debug, Default)]
pub(super) struct AttributeWeights {
    /// By attribute; 1.0 wherever the event gives none.
    weights: Vec<f64>,
    /// The places to reset before the next event.
    filled: Vec<AttrId>,
}

impl AttributeWeights {
    /// Whether no attribute has a weight.
    pub fn are_none(&self) -> bool {
        self.filled.is_empty()
    }

    /// Takes over the weights of attributes that the schema has; no predicate looks at others.
    pub fn load(&mut self, weights: &EventWeights, schema: &Schema) {
        for attribute in self.filled.drain(..) {
            self.weights[attribute.index()] = 1.0;
        }
        self.weights.resize(schema.len(), 1.0);
        for (name, weight) in &weights.0 {
            if let Some(attribute) = schema.get(name) {
                self.weights[attribute.index()] = *weight;
                self.filled.push(attribute);
            }
        }
    }
}

/// What is left of an expression to score its matches.
pub(super) struct Scorer {
    /// One for each predicate, from left to right.
    terms: Box<[Term]>,
}

struct Term {
    attribute: AttrId,
    weight: f64,
    /// Whether it counts for an event without the attribute.
    without: bool,
    /// What decides whether it counts; `None` if it holds in every match.
    doubt: Option<Box<Doubt>>,
}

struct Doubt {
    condition: Condition,
    /// FALSE if an odd number of NOTs stands around it.
    wanted: Truth,
}

/// What a pattern is taken to occupy: a compiled regex has some kilobytes.
const PATTERN: usize = 8 << 10;

impl Scorer {
    pub fn new(text: Option<&str>, holding: &Holding<'_>) -> Result<Scorer> {
        let text = text.ok_or_else(|| damaged("a text is not UTF-8"))?;
        let mut terms = Vec::new();
        take_apart(&parse(text, holding.limits)?, false, true, holding, &mut terms)?;
        Ok(Scorer { terms: terms.into() })
    }

    /// The score where no attribute has a weight, if that is the same for all matches.
    pub fn plain(&self) -> Option<f64> {
        let certain = self.terms.iter().all(|term| term.doubt.is_none());
        certain.then(|| self.terms.iter().fold(0.0, |sum, term| sum + term.weight))
    }

    /// The score of an event that matches.
    pub fn score(&self, event: &Event<'_>, weights: &AttributeWeights, missing: Missing) -> f64 {
        let mut sum = 0.0;
        for term in &self.terms {
            if term.counts(event, missing) {
                sum += term.weight * weights.weights[term.attribute.index()];
            }
        }
        sum
    }

    /// Bytes in use, near enough.
    pub fn memory(&self) -> usize {
        let doubts = self.terms.iter().filter_map(|term| term.doubt.as_ref());
        let beyond = doubts.map(|doubt| match &doubt.condition.op {
            Op::Matches { .. } => size_of::<Doubt>() + PATTERN,
            Op::In { literals, .. } => size_of::<Doubt>() + literals.len() * size_of::<Literal>(),
            _ => size_of::<Doubt>(),
        });
        size_of::<Scorer>() + self.terms.len() * size_of::<Term>() + beyond.sum::<usize>()
    }
}

impl Term {
    fn new(condition: &Condition, negated: bool, certain: bool, holding: &Holding<'_>) -> Result<Term> {
        let attribute = holding.schema.get(&condition.attribute.name);
        let attribute = attribute.ok_or_else(|| damaged("an attribute is unknown"))?;
        let weight = condition.weight;
        if certain {
            return Ok(Term { attribute, weight, without: true, doubt: None });
        }
        let doubt =
            Doubt { condition: condition.clone(), wanted: if negated { Truth::False } else { Truth::True } };
        let without = condition.truth_without(holding.missing) == doubt.wanted;
        Ok(Term { attribute, weight, without, doubt: Some(Box::new(doubt)) })
    }

    fn counts(&self, event: &Event<'_>, missing: Missing) -> bool {
        // Events have few of all attributes: most of the time there is no need to fetch the predicate.
        match (&self.doubt, event.value(self.attribute)) {
            (None, _) => true,
            (Some(_), Value::Missing) => self.without,
            (Some(doubt), value) => doubt.condition.truth(value, event, missing) == doubt.wanted,
        }
    }
}

/// Appends a term for each predicate. `certain` says that in a match the expression, or under an odd number of NOTs
/// its negation, is TRUE.
fn take_apart(
    expr: &Expr,
    negated: bool,
    certain: bool,
    holding: &Holding<'_>,
    terms: &mut Vec<Term>,
) -> Result<()> {
    let certain = certain
        && match expr {
            Expr::And(_) => !negated,
            Expr::Or(_) => negated,
            Expr::Xor(_) | Expr::Xnor(_) => false,
            Expr::Const(_) | Expr::Condition(_) | Expr::Not(_) => true,
        };
    if let Expr::Condition(condition) = expr {
        terms.push(Term::new(condition, negated, certain, holding)?);
    }
    let negated = negated != matches!(expr, Expr::Not(_));
    expr.children().iter().try_for_each(|child| take_apart(child, negated, certain, holding, terms))
}

fn damaged(what: &str) -> Error {
    Error::Internal(format!("the index is damaged: {what}"))
}
