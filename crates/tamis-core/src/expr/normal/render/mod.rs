//! Normalized predicates as text of the language, for graphs and explanations.
//!
//! A normalized predicate does not store how it was written; the text is the shortest that the language has for its
//! values. The text has the semantics of SQL ([`Missing::Unknown`](super::Missing::Unknown)): if the predicate accepts a
//! missing value, the text has `OR x IS NULL`.

mod ranges;
#[cfg(test)]
mod tests;

use super::ordered_set::{Cut, OrderedSet};
use super::predicate::{Over, Predicate, Test};
use super::value_set::ValueSet;
use crate::expr::pattern::{PatternKind, TextPattern};
use crate::expr::syntax::{Attribute, Comparison, Condition, Connective, Expr, Op, Quantifier};
use crate::number::Number;
use crate::value::Literal;
use ranges::{LiteralRange, number_range, text_range, time_range};
use smol_str::SmolStr;
use std::sync::Arc;

impl Predicate {
    /// The predicate as an expression on an attribute of this name; `None` where the language has none: it cannot test
    /// whether an element is missing, nor apply several operators to the same element.
    pub fn to_expr(&self, name: &str) -> Option<Expr> {
        let alternatives = alternatives(&self.test);
        let quantifier = self.over.quantifier();
        let mut terms = alternatives.iter().flatten();
        let first = terms.next().map(|term| &term.op);
        if quantifier.is_some() && (terms.next().is_some() || matches!(first, Some(Op::IsNull { .. }))) {
            return None;
        }
        let all_of = |terms: Vec<Term>| {
            let conditions = terms.into_iter().map(|term| term.on(name, quantifier)).collect();
            Expr::join(Connective::And, conditions)
        };
        Some(Expr::join(Connective::Or, alternatives.into_iter().map(all_of).collect()))
    }

    /// The text of [`Predicate::to_expr`]; where the language has none, a description such as
    /// `all(x): x > 5 OR x IS NULL`.
    pub fn text(&self, name: &str) -> String {
        if let Some(expr) = self.to_expr(name) {
            return expr.to_string();
        }
        let quantified = Attribute { name: name.into(), quantifier: self.over.quantifier() };
        let of_element = Predicate { over: Over::Value, ..self.clone() };
        format!("{quantified}: {}", of_element.text(name))
    }
}

impl Over {
    fn quantifier(self) -> Option<Quantifier> {
        match self {
            Over::Value => None,
            Over::AnyElement => Some(Quantifier::Any),
            Over::AllElements => Some(Quantifier::All),
        }
    }
}

/// An operator on the attribute.
struct Term {
    /// NOT before the predicate, for operators without a negated form.
    not: bool,
    op: Op,
}

impl From<Op> for Term {
    fn from(op: Op) -> Term {
        Term { not: false, op }
    }
}

impl Term {
    /// A pattern, or its negation.
    fn matches(pattern: Arc<TextPattern>, negated: bool) -> Term {
        let has_not = matches!(pattern.kind(), PatternKind::Like | PatternKind::ILike | PatternKind::Regex);
        Term { not: negated && !has_not, op: Op::Matches { negated: negated && has_not, pattern } }
    }

    /// The term as an expression.
    fn on(self, name: &str, quantifier: Option<Quantifier>) -> Expr {
        // Normalization has pushed NOT below the quantifier; written before it, NOT swaps any and all.
        let quantifier = match quantifier {
            Some(Quantifier::Any) if self.not => Some(Quantifier::All),
            Some(Quantifier::All) if self.not => Some(Quantifier::Any),
            same => same,
        };
        let attribute = Attribute { name: name.into(), quantifier };
        let condition = Expr::Condition(Condition { attribute, op: self.op, weight: 1.0 });
        if self.not { Expr::Not(Box::new(condition)) } else { condition }
    }
}

/// What a test accepts: a disjunction of conjunctions of terms.
fn alternatives(test: &Test) -> Vec<Vec<Term>> {
    let mut alternatives = match test {
        Test::Pattern { pattern, negated, .. } => vec![vec![Term::matches(pattern.clone(), *negated)]],
        Test::Cidr { networks, negated, .. } => {
            vec![vec![Term { not: *negated, op: Op::InCidr(networks.to_vec()) }]]
        }
        _ => test.to_set().map_or_else(Vec::new, |set| present_values(&set)),
    };
    if test.accepts_missing() {
        alternatives.push(vec![Op::IsNull { negated: false }.into()]);
    }
    if alternatives.is_empty() {
        alternatives.push(vec![wrong_order(false, ONE, ZERO)]);
    }
    alternatives
}

const ZERO: Literal = Literal::Number(Number::Int(0));
const ONE: Literal = Literal::Number(Number::Int(1));

/// BETWEEN with its bounds in the wrong order: accepts nothing or, negated, every value of their kind.
fn wrong_order(negated: bool, low: Literal, high: Literal) -> Term {
    Op::Between { negated, low, high }.into()
}

/// The present values of a set, as a disjunction of conjunctions of terms.
fn present_values(set: &ValueSet) -> Vec<Vec<Term>> {
    if set.other {
        // Only IS NOT NULL accepts values that no operator compares, and it accepts every present value.
        return vec![vec![Op::IsNull { negated: true }.into()]];
    }
    let bools = [false, true].into_iter().filter(|b| set.bools[usize::from(*b)]);
    let mut equal: Vec<Literal> = bools.map(Literal::Bool).collect();
    let mut alternatives: Vec<Vec<Term>> = Vec::new();
    let any_time = wrong_order(true, Literal::Date(1), Literal::Date(0));
    let any_text = Op::Compare(Comparison::GreaterEqual, Literal::Text(SmolStr::default()));
    of_kind(&set.numbers, number_range, wrong_order(true, ONE, ZERO), &mut equal, &mut alternatives);
    of_kind(&set.times, time_range, any_time, &mut equal, &mut alternatives);
    of_kind(&set.texts, text_range, any_text.into(), &mut equal, &mut alternatives);
    if !equal.is_empty() {
        alternatives.insert(0, vec![one_of(equal, false)]);
    }
    alternatives
}

/// Adds the values of one kind: single values to `equal`, which all kinds share, the rest to `alternatives`.
fn of_kind<T: Ord + Clone>(
    set: &OrderedSet<T>,
    range: impl Fn(Option<&Cut<T>>, Option<&Cut<T>>) -> Option<LiteralRange>,
    all_values: Term,
    equal: &mut Vec<Literal>,
    alternatives: &mut Vec<Vec<Term>>,
) {
    let ranges_of =
        |set: &OrderedSet<T>| set.ranges().filter_map(|(low, high)| range(low, high)).collect::<Vec<_>>();
    let (ranges, gaps) = (ranges_of(set), ranges_of(&set.clone().complement()));
    if ranges.is_empty() {
        return;
    }
    if gaps.is_empty() {
        return alternatives.push(vec![all_values]);
    }
    if let Some(unequal) = gaps.iter().map(LiteralRange::point).collect() {
        return alternatives.push(vec![one_of(unequal, true)]);
    }
    if let [gap] = gaps.as_slice()
        && let Some(term) = gap.term(true)
    {
        return alternatives.push(vec![term]);
    }
    for range in ranges {
        match range {
            LiteralRange::Point(at) => equal.push(at),
            range => alternatives.push(range.terms()),
        }
    }
}

/// `= 3`, `IN (3, 5)`, or the negation.
fn one_of(mut literals: Vec<Literal>, negated: bool) -> Term {
    let comparison = if negated { Comparison::NotEqual } else { Comparison::Equal };
    match literals.pop() {
        Some(single) if literals.is_empty() => Op::Compare(comparison, single).into(),
        last => {
            literals.extend(last);
            Op::In { negated, literals }.into()
        }
    }
}
