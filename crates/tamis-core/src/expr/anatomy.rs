//! What an expression is made of: the operator, kind and literals of a predicate, the size of a disjunction.

use super::ast::{Condition, Expr, Op};
use super::pattern::PatternKind;
use crate::value::{Kind, Literal};
use smol_str::SmolStr;

/// What a predicate asks of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A value of one kind.
    Kind(Kind),
    /// One of several kinds.
    Mixed,
    /// Only that there is one, or none.
    Presence,
}

impl Asked {
    /// As people say it.
    pub fn name(self) -> &'static str {
        match self {
            Asked::Kind(Kind::Bool) => "bool",
            Asked::Kind(Kind::Number) => "number",
            Asked::Kind(Kind::Text) => "text",
            Asked::Kind(Kind::Time) => "time",
            Asked::Mixed => "mixed",
            Asked::Presence => "presence",
        }
    }
}

impl Op {
    /// As in canonical text, NOT included; `TRUE` for an attribute by itself.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Compare(comparison, _) => comparison.symbol(),
            Op::Between { negated: false, .. } => "BETWEEN",
            Op::Between { negated: true, .. } => "NOT BETWEEN",
            Op::In { negated: false, .. } => "IN",
            Op::In { negated: true, .. } => "NOT IN",
            Op::IsNull { negated: false } => "IS NULL",
            Op::IsNull { negated: true } => "IS NOT NULL",
            Op::Matches { negated, pattern } => match (pattern.kind(), negated) {
                (PatternKind::Like, false) => "LIKE",
                (PatternKind::Like, true) => "NOT LIKE",
                (PatternKind::ILike, false) => "ILIKE",
                (PatternKind::ILike, true) => "NOT ILIKE",
                (PatternKind::Regex, false) => "RLIKE",
                (PatternKind::Regex, true) => "NOT RLIKE",
                (PatternKind::Prefix, false) => "startswith",
                (PatternKind::Prefix, true) => "NOT startswith",
                (PatternKind::Suffix, false) => "endswith",
                (PatternKind::Suffix, true) => "NOT endswith",
                (PatternKind::Contains, false) => "contains",
                (PatternKind::Contains, true) => "NOT contains",
            },
            Op::InCidr(_) => "in_cidr",
            Op::IsTrue => "TRUE",
        }
    }

    /// What it compares with, from left to right; patterns and networks are texts.
    pub fn literals(&self) -> Vec<Literal> {
        match self {
            Op::Compare(_, literal) => vec![literal.clone()],
            Op::Between { low, high, .. } => vec![low.clone(), high.clone()],
            Op::In { literals, .. } => literals.clone(),
            Op::Matches { pattern, .. } => vec![Literal::Text(pattern.source().into())],
            Op::InCidr(networks) => {
                networks.iter().map(|network| Literal::Text(SmolStr::from(network.to_string()))).collect()
            }
            Op::IsNull { .. } | Op::IsTrue => Vec::new(),
        }
    }

    /// What it asks of a value.
    pub fn asked(&self) -> Asked {
        let alike = |first: &Literal, others: &[Literal]| {
            let kind = first.kind();
            if others.iter().all(|other| other.kind() == kind) { Asked::Kind(kind) } else { Asked::Mixed }
        };
        match self {
            Op::Compare(_, literal) => Asked::Kind(literal.kind()),
            Op::Between { low, high, .. } => alike(low, std::slice::from_ref(high)),
            Op::In { literals, .. } => literals.split_first().map_or(Asked::Mixed, |(a, b)| alike(a, b)),
            Op::Matches { .. } | Op::InCidr(_) => Asked::Kind(Kind::Text),
            Op::IsTrue => Asked::Kind(Kind::Bool),
            Op::IsNull { .. } => Asked::Presence,
        }
    }
}

impl Condition {
    /// The canonical text, its weight aside.
    pub fn text(&self) -> String {
        Condition { weight: 1.0, ..self.clone() }.to_string()
    }
}

impl Expr {
    /// To how many conjunctions the expression expands if none is merged with another; infinity if they are too many
    /// for a float.
    pub fn conjunctions(&self) -> f64 {
        self.conjunctions_of_both().0
    }

    /// Those of the expression and those of its negation.
    fn conjunctions_of_both(&self) -> (f64, f64) {
        let mut operands = self.children().iter().map(Expr::conjunctions_of_both);
        let Some((size, negated)) = operands.next() else { return (1.0, 1.0) };
        match self {
            Expr::Not(_) => (negated, size),
            Expr::And(_) => operands.fold((size, negated), |(s, n), (other, not)| (s * other, n + not)),
            Expr::Or(_) => operands.fold((size, negated), |(s, n), (other, not)| (s + other, n * not)),
            _ => operands.fold((size, negated), |(s, n), (other, not)| {
                let (different, alike) = (s * not + n * other, s * other + n * not);
                if matches!(self, Expr::Xor(_)) { (different, alike) } else { (alike, different) }
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Limits, parse};
    use super::*;

    fn conditions(text: &str) -> Vec<Condition> {
        let expr = parse(text, &Limits::default()).expect("an expression");
        let mut found = Vec::new();
        expr.for_each_condition(false, &mut |condition, _| found.push(condition.clone()));
        found
    }

    #[test]
    fn an_operator_is_named_as_in_canonical_text() {
        for text in [
            "a = 1",
            "a NOT BETWEEN 1 AND 2",
            "a IN (1, 'b')",
            "a IS NOT NULL",
            "a NOT ILIKE 'x'",
            "endswith(a, 'x')",
            "in_cidr(a, '10.0.0.0/8')",
        ] {
            let condition = &conditions(&format!("{text} ^ 2"))[0];
            assert!(text.contains(condition.op.name()), "{text}");
            assert_eq!(condition.text(), text);
            let literals = condition.op.literals();
            assert!(literals.iter().all(|literal| text.contains(&literal.to_string())), "{literals:?}");
        }
        assert_eq!(conditions("not a")[0].op.name(), "TRUE");
    }

    #[test]
    fn literals_of_one_kind_ask_for_that_kind() {
        for (text, asked) in [
            ("a = 1", Asked::Kind(Kind::Number)),
            ("a BETWEEN DATE '2026-11-15' AND TIMESTAMP '2026-11-15 12:00:00'", Asked::Kind(Kind::Time)),
            ("a BETWEEN 1 AND 'b'", Asked::Mixed),
            ("a IN (1, 2.5)", Asked::Kind(Kind::Number)),
            ("a IN (1, TRUE)", Asked::Mixed),
            ("a LIKE 'b'", Asked::Kind(Kind::Text)),
            ("a", Asked::Kind(Kind::Bool)),
            ("a IS NULL", Asked::Presence),
        ] {
            assert_eq!(conditions(text)[0].op.asked(), asked, "{text}");
        }
    }

    #[test]
    fn conjunctions_are_counted_before_any_is_merged() {
        for (text, size) in [
            ("TRUE", 1.0),
            ("a", 1.0),
            ("(a or b) and (c or d or e)", 6.0),
            ("not (a and b)", 2.0),
            ("a xor b xor c", 4.0),
            ("not (a xnor (b or c))", 3.0),
        ] {
            let expr = parse(text, &Limits::default()).expect("an expression");
            assert_eq!(expr.conjunctions(), size, "{text}");
        }
    }
}
