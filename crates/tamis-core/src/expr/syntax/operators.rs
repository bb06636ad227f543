//! Properties of an operator: its name, its literals, the kind of value it tests.

use super::ast::{Condition, Op};
use crate::expr::pattern::PatternKind;
use crate::value::{Kind, Literal};
use smol_str::SmolStr;

/// The kind of value that a predicate tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandKind {
    /// Values of one kind.
    One(Kind),
    /// Its literals are of several kinds.
    Mixed,
    /// Whether the value is present, of any kind.
    Presence,
}

impl OperandKind {
    /// Its name in listings of predicates.
    pub fn name(self) -> &'static str {
        match self {
            OperandKind::One(Kind::Bool) => "bool",
            OperandKind::One(Kind::Number) => "number",
            OperandKind::One(Kind::Text) => "text",
            OperandKind::One(Kind::Time) => "time",
            OperandKind::Mixed => "mixed",
            OperandKind::Presence => "presence",
        }
    }
}

impl Op {
    /// Its name in canonical text, NOT included; `TRUE` for an attribute by itself.
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

    /// Its literals from left to right; patterns and networks as texts.
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

    /// The kind of value it tests: that of its literals.
    pub fn operand_kind(&self) -> OperandKind {
        let alike = |first: &Literal, others: &[Literal]| {
            let kind = first.kind();
            if others.iter().all(|other| other.kind() == kind) {
                OperandKind::One(kind)
            } else {
                OperandKind::Mixed
            }
        };
        match self {
            Op::Compare(_, literal) => OperandKind::One(literal.kind()),
            Op::Between { low, high, .. } => alike(low, std::slice::from_ref(high)),
            Op::In { literals, .. } => {
                literals.split_first().map_or(OperandKind::Mixed, |(a, b)| alike(a, b))
            }
            Op::Matches { .. } | Op::InCidr(_) => OperandKind::One(Kind::Text),
            Op::IsTrue => OperandKind::One(Kind::Bool),
            Op::IsNull { .. } => OperandKind::Presence,
        }
    }
}

impl Condition {
    /// The canonical text without the weight.
    pub fn text(&self) -> String {
        Condition { weight: 1.0, ..self.clone() }.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Limits, parse};

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
    fn literals_of_one_kind_test_that_kind() {
        for (text, kind) in [
            ("a = 1", OperandKind::One(Kind::Number)),
            ("a BETWEEN DATE '2026-11-15' AND TIMESTAMP '2026-11-15 12:00:00'", OperandKind::One(Kind::Time)),
            ("a BETWEEN 1 AND 'b'", OperandKind::Mixed),
            ("a IN (1, 2.5)", OperandKind::One(Kind::Number)),
            ("a IN (1, TRUE)", OperandKind::Mixed),
            ("a LIKE 'b'", OperandKind::One(Kind::Text)),
            ("a", OperandKind::One(Kind::Bool)),
            ("a IS NULL", OperandKind::Presence),
        ] {
            assert_eq!(conditions(text)[0].op.operand_kind(), kind, "{text}");
        }
    }
}
