//! Predicates back in the language, for people to read.
//!
//! A normalized predicate has forgotten how it was written; it is said again as shortly as the language allows. The
//! text is meant as SQL reads it ([`Missing::Unknown`](super::Missing::Unknown)): if a missing value is accepted too,
//! `OR x IS NULL` says so.

use super::Limits;
use super::accepted::after_prefix;
use super::ast::{Attribute, Comparison, Condition, Connective, Expr, Op, Quantifier};
use super::normal::{Over, Predicate, Test, highest_number, highest_time, lowest_number, lowest_time};
use super::pattern::{PatternKind, TextPattern};
use super::set::{Cut, OrderedSet, ValueSet};
use crate::number::Number;
use crate::time;
use crate::value::Literal;
use smol_str::SmolStr;
use std::sync::Arc;

impl Predicate {
    /// The predicate on an attribute of this name; `None` where the language has no words for it: it cannot ask
    /// whether an element is missing, nor hold several operators against one and the same element.
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

    /// The predicate for people: [`Predicate::to_expr`] as text, or `all(x): x > 5 OR x IS NULL`.
    pub fn text(&self, name: &str) -> String {
        if let Some(expr) = self.to_expr(name) {
            return expr.to_string();
        }
        let list = Attribute { name: name.into(), quantifier: self.over.quantifier() };
        let of_element = Predicate { over: Over::Value, ..self.clone() };
        format!("{list}: {}", of_element.text(name))
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

/// An operator, perhaps with NOT around it because it has none inside.
struct Term {
    not: bool,
    op: Op,
}

impl From<Op> for Term {
    fn from(op: Op) -> Term {
        Term { not: false, op }
    }
}

impl Term {
    fn matches(pattern: Arc<TextPattern>, negated: bool) -> Term {
        let has_not = matches!(pattern.kind(), PatternKind::Like | PatternKind::ILike | PatternKind::Regex);
        Term { not: negated && !has_not, op: Op::Matches { negated: negated && has_not, pattern } }
    }

    fn on(self, name: &str, quantifier: Option<Quantifier>) -> Expr {
        // Not for any is: for all not.
        let quantifier = match quantifier {
            Some(Quantifier::Any) if self.not => Some(Quantifier::All),
            Some(Quantifier::All) if self.not => Some(Quantifier::Any),
            as_it_is => as_it_is,
        };
        let attribute = Attribute { name: name.into(), quantifier };
        let condition = Expr::Condition(Condition { attribute, op: self.op, weight: 1.0 });
        if self.not { Expr::Not(Box::new(condition)) } else { condition }
    }
}

/// What a test accepts, as alternatives; in each, all terms hold.
fn alternatives(test: &Test) -> Vec<Vec<Term>> {
    let mut said = match test {
        Test::Pattern { pattern, negated, .. } => vec![vec![Term::matches(pattern.clone(), *negated)]],
        Test::Cidr { networks, negated, .. } => {
            vec![vec![Term { not: *negated, op: Op::InCidr(networks.to_vec()) }]]
        }
        _ => test.to_set().map_or_else(Vec::new, |set| present_values(&set)),
    };
    if test.accepts_missing() {
        said.push(vec![Op::IsNull { negated: false }.into()]);
    }
    if said.is_empty() {
        said.push(vec![wrong_order(false, ONE, ZERO)]);
    }
    said
}

const ZERO: Literal = Literal::Number(Number::Int(0));
const ONE: Literal = Literal::Number(Number::Int(1));

/// Bounds in the wrong order include nothing, or exclude nothing and leave every value of their kind.
fn wrong_order(negated: bool, low: Literal, high: Literal) -> Term {
    Op::Between { negated, low, high }.into()
}

fn present_values(set: &ValueSet) -> Vec<Vec<Term>> {
    if set.other {
        // Only IS NOT NULL accepts what no operator compares, and it accepts all else that is present.
        return vec![vec![Op::IsNull { negated: true }.into()]];
    }
    let bools = [false, true].into_iter().filter(|b| set.bools[usize::from(*b)]);
    let mut equal: Vec<Literal> = bools.map(Literal::Bool).collect();
    let mut said: Vec<Vec<Term>> = Vec::new();
    let any_time = wrong_order(true, Literal::Date(1), Literal::Date(0));
    let any_text = Op::Compare(Comparison::GreaterEqual, Literal::Text(SmolStr::default()));
    of_kind(&set.numbers, number_range, wrong_order(true, ONE, ZERO), &mut equal, &mut said);
    of_kind(&set.times, time_range, any_time, &mut equal, &mut said);
    of_kind(&set.texts, text_range, any_text.into(), &mut equal, &mut said);
    if !equal.is_empty() {
        said.insert(0, vec![one_of(equal, false)]);
    }
    said
}

/// Adds what is accepted of one kind: single values to `equal`, which all kinds share, the rest to `said`.
fn of_kind<T: Ord + Clone>(
    set: &OrderedSet<T>,
    range: impl Fn(Option<&Cut<T>>, Option<&Cut<T>>) -> Option<Range>,
    everything: Term,
    equal: &mut Vec<Literal>,
    said: &mut Vec<Vec<Term>>,
) {
    let ranges_of =
        |set: &OrderedSet<T>| set.ranges().filter_map(|(low, high)| range(low, high)).collect::<Vec<_>>();
    let (ranges, gaps) = (ranges_of(set), ranges_of(&set.clone().complement()));
    if ranges.is_empty() {
        return;
    }
    if gaps.is_empty() {
        return said.push(vec![everything]);
    }
    if let Some(unequal) = gaps.iter().map(Range::point).collect() {
        return said.push(vec![one_of(unequal, true)]);
    }
    if let [gap] = gaps.as_slice()
        && let Some(term) = gap.term(true)
    {
        return said.push(vec![term]);
    }
    for range in ranges {
        match range {
            Range::Point(at) => equal.push(at),
            range => said.push(range.terms()),
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

/// Neighbouring values of one kind.
enum Range {
    Point(Literal),
    /// The strings that begin so.
    Prefix(SmolStr),
    Span {
        low: Option<End>,
        high: Option<End>,
    },
}

struct End {
    at: Literal,
    /// Whether `at` belongs to the range.
    closed: bool,
}

impl End {
    /// The end at a value that belongs, or at the next one beyond, which does not: whichever reads better. `x < 5`
    /// became `x <= 4.999999999999999` when it was normalized.
    fn shorter(at: Literal, beyond: Literal) -> End {
        let clearly = beyond.to_string().len() + 1 < at.to_string().len();
        End { at: if clearly { beyond } else { at }, closed: !clearly }
    }

    /// The values on the range's side of its low or its high end, or those on the other side.
    fn compare(&self, low: bool, negated: bool) -> Op {
        let comparison = match (low != negated, self.closed != negated) {
            (true, true) => Comparison::GreaterEqual,
            (true, false) => Comparison::Greater,
            (false, true) => Comparison::LessEqual,
            (false, false) => Comparison::Less,
        };
        Op::Compare(comparison, self.at.clone())
    }
}

impl Range {
    fn point(&self) -> Option<Literal> {
        if let Range::Point(at) = self { Some(at.clone()) } else { None }
    }

    /// The values inside, or outside, if one term can say it.
    fn term(&self, negated: bool) -> Option<Term> {
        Some(match self {
            Range::Point(at) => one_of(vec![at.clone()], negated),
            Range::Prefix(prefix) => {
                let pattern = TextPattern::new(PatternKind::Prefix, prefix, &Limits::default()).ok()?;
                Term::matches(Arc::new(pattern), negated)
            }
            Range::Span { low: Some(low), high: Some(high) } if low.closed && high.closed => {
                Op::Between { negated, low: low.at.clone(), high: high.at.clone() }.into()
            }
            Range::Span { low: Some(low), high: None } => low.compare(true, negated).into(),
            Range::Span { low: None, high: Some(high) } => high.compare(false, negated).into(),
            Range::Span { .. } => return None,
        })
    }

    /// The values inside.
    fn terms(&self) -> Vec<Term> {
        match (self.term(false), self) {
            (Some(term), _) => vec![term],
            (None, Range::Span { low: Some(low), high: Some(high) }) => {
                vec![low.compare(true, false).into(), high.compare(false, false).into()]
            }
            (None, _) => Vec::new(),
        }
    }
}

/// Two spellings of one bound may leave nothing between them: then there is no range.
fn number_range(low: Option<&Cut<Number>>, high: Option<&Cut<Number>>) -> Option<Range> {
    let (low, high) = (lowest_number(low), highest_number(high));
    let infinite = |number| number == Number::MIN || number == Number::MAX;
    let end = |at: Number, beyond: Number| match (Literal::Number(at), Literal::Number(beyond)) {
        // Infinity cannot be written.
        (_, beyond) if infinite(at) => End { at: beyond, closed: false },
        (at, _) if infinite(beyond) => End { at, closed: true },
        (at, beyond) => End::shorter(at, beyond),
    };
    (low <= high).then(|| {
        if low == high && !infinite(low) {
            return Range::Point(Literal::Number(low));
        }
        Range::Span {
            low: (low != Number::MIN).then(|| end(low, low.next_down())),
            high: (high != Number::MAX).then(|| end(high, high.next_up())),
        }
    })
}

fn time_range(low: Option<&Cut<i64>>, high: Option<&Cut<i64>>) -> Option<Range> {
    let (low, high) = (lowest_time(low), highest_time(high));
    (low <= high).then(|| {
        if low == high {
            return Range::Point(instant(low));
        }
        Range::Span {
            low: (low != i64::MIN).then(|| End::shorter(instant(low), instant(low - 1))),
            high: (high != i64::MAX).then(|| End::shorter(instant(high), instant(high + 1))),
        }
    })
}

/// A midnight as its date.
fn instant(micros: i64) -> Literal {
    match i32::try_from(micros / time::DAY) {
        Ok(days) if micros % time::DAY == 0 => Literal::Date(days),
        _ => Literal::Timestamp(micros),
    }
}

fn text_range(low: Option<&Cut<SmolStr>>, high: Option<&Cut<SmolStr>>) -> Option<Range> {
    if let (Some(low), Some(high)) = (low, high) {
        if low.at == high.at {
            return Some(Range::Point(Literal::Text(low.at.clone())));
        }
        if !low.after && !high.after && after_prefix(&low.at).as_ref() == Some(&high.at) {
            return Some(Range::Prefix(low.at.clone()));
        }
    }
    Some(Range::Span {
        low: low.map(|cut| End { at: Literal::Text(cut.at.clone()), closed: !cut.after }),
        high: high.map(|cut| End { at: Literal::Text(cut.at.clone()), closed: cut.after }),
    })
}

#[cfg(test)]
mod tests {
    use crate::expr::{Limits, Missing, Normalizer, Predicate, parse};
    use crate::schema::Schema;

    /// The one predicate that an expression on `x` comes down to.
    fn predicate(text: &str, missing: Missing) -> Predicate {
        let expr = parse(text, &Limits::default()).expect("an expression");
        let (mut schema, mut normalizer) = (Schema::default(), Normalizer::default());
        let normal = normalizer.normalize(&expr, &mut schema, missing);
        let [predicate] = normal.predicates() else {
            unreachable!("{text}: {:?}", normal.predicates());
        };
        predicate.clone()
    }

    fn said(text: &str) -> String {
        predicate(text, Missing::Unknown).text("x")
    }

    #[test]
    fn what_is_canonical_stays_as_it_is() {
        for text in [
            "x = 3",
            "x != 3",
            "x < 5",
            "x <= 5",
            "x > 0.1",
            "x >= -0.1",
            "x > 5 AND x <= 7",
            "x BETWEEN 18 AND 35",
            "x NOT BETWEEN 18 AND 35",
            "x <= 5 OR x > 7",
            "x IN (1, 2)",
            "x NOT IN (1, 2)",
            "x IN (1, 2) OR x >= 5",
            "x > 1.7976931348623157e308",
            "x <= 1.7976931348623157e308",
            "x IN (TRUE, 1, DATE '2026-11-15', 'a')",
            "x = 1 OR x != 'a' OR x IS NULL",
            "x = TRUE",
            "x IN (FALSE, TRUE)",
            "x < DATE '2026-11-15'",
            "x > TIMESTAMP '2026-11-15 10:00:00'",
            "x BETWEEN DATE '2026-11-15' AND DATE '2026-11-16'",
            "x = 'it''s'",
            "x > 'a' AND x < 'c'",
            "startswith(x, 'eu-')",
            "NOT startswith(x, 'eu-')",
            "x LIKE '%bob%'",
            "x NOT LIKE '%bob%'",
            "x RLIKE '^a+$'",
            "contains(x, '%')",
            "NOT contains(x, '%')",
            "in_cidr(x, '10.0.0.0/8', '::/0')",
            "NOT in_cidr(x, '10.0.0.0/8')",
            "x IS NULL",
            "x IS NOT NULL",
            "x NOT BETWEEN 1 AND 0",
            "x >= ''",
            "any(x) = 'a'",
            "all(x) NOT IN (1, 2)",
            "all(x) NOT LIKE 'a_'",
            "any(x) BETWEEN 1 AND 0",
            "NOT endswith(any(x), 'a')",
            "NOT in_cidr(all(x), '10.0.0.0/8')",
        ] {
            assert_eq!(said(text), text);
        }
    }

    #[test]
    fn other_ways_to_write_it_become_one() {
        for (text, expected) in [
            ("not x > 5", "x <= 5"),
            ("x >= 18 and x <= 35", "x BETWEEN 18 AND 35"),
            ("x < 1 or x > 3", "x NOT BETWEEN 1 AND 3"),
            ("x < 5 or x >= 5", "x NOT BETWEEN 1 AND 0"),
            ("x <= 5 or x > 5", "x NOT BETWEEN 1 AND 0"),
            ("x = 'b' or x = 'a'", "x IN ('a', 'b')"),
            ("x like 'eu-%'", "startswith(x, 'eu-')"),
            ("x like '%'", "x >= ''"),
            ("not x", "x = FALSE"),
            ("x < TIMESTAMP '2026-11-15 00:00:00'", "x < DATE '2026-11-15'"),
            ("not any(x) < 3", "all(x) >= 3"),
        ] {
            assert_eq!(said(text), expected, "{text}");
        }
    }

    #[test]
    fn a_missing_value_is_named() {
        for (text, expected) in [
            ("x != 3", "x != 3 OR x IS NULL"),
            ("not x > 3", "x <= 3 OR x IS NULL"),
            ("x not like '%a%'", "x NOT LIKE '%a%' OR x IS NULL"),
            ("not in_cidr(x, '10.0.0.0/8')", "NOT in_cidr(x, '10.0.0.0/8') OR x IS NULL"),
            ("any(x) != 3", "any(x): x != 3 OR x IS NULL"),
            ("any(x) not in (1, 'a')", "any(x): x IS NULL"),
            ("all(x) not between 1 and 3", "all(x): x NOT BETWEEN 1 AND 3 OR x IS NULL"),
        ] {
            assert_eq!(predicate(text, Missing::False).text("x"), expected, "{text}");
        }
    }

    #[test]
    fn names_are_quoted_where_they_must_be() {
        assert_eq!(predicate("x = 3", Missing::Unknown).text("user.age"), "user.age = 3");
        assert_eq!(predicate("x = 3", Missing::Unknown).text("in"), "\"in\" = 3");
    }
}
