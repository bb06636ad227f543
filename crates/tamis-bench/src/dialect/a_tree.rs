//! The language of the crate `a-tree`: typed attributes, comparisons, sets and lists, no patterns, no quoting.

use super::{Dialect, write};
use std::collections::BTreeMap;
use tamis_core::expr::{Comparison, Condition, Expr, Op, Quantifier};
use tamis_core::{Literal, Number};

/// The type of an attribute in all events of a case: the crate needs it beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeKind {
    /// Whole numbers.
    Int,
    /// Other numbers.
    Decimal,
    /// Texts.
    Text,
    /// Lists of texts.
    Texts,
}

/// The crate's text of an expression; an attribute that no event has is an error, as the crate does not know it.
pub fn expression(expr: &Expr, kinds: &BTreeMap<String, AttributeKind>) -> Result<String, String> {
    let mut text = String::new();
    write(expr, false, &ATreeDialect { kinds }, &mut text)?;
    Ok(text)
}

struct ATreeDialect<'k> {
    kinds: &'k BTreeMap<String, AttributeKind>,
}

impl Dialect for ATreeDialect<'_> {
    fn condition(&self, condition: &Condition, negated: bool, out: &mut String) -> Result<(), String> {
        let name = condition.attribute.name.as_str();
        let kind = *self.kinds.get(name).ok_or_else(|| format!("no event has attribute {name}"))?;
        let text = match (&condition.attribute.quantifier, &condition.op) {
            (None, Op::Compare(comparison, value)) => {
                format!("{name} {} {}", symbol(*comparison, negated), literal(value, kind)?)
            }
            (None, Op::Between { negated: outside, low, high }) => {
                let (low, high) = (literal(low, kind)?, literal(high, kind)?);
                if *outside == negated {
                    format!("{name} >= {low} and {name} <= {high}")
                } else {
                    format!("{name} < {low} or {name} > {high}")
                }
            }
            (None, Op::In { negated: outside, literals }) if kind != AttributeKind::Decimal => {
                let word = if *outside == negated { "in" } else { "not in" };
                format!("{name} {word} {}", list(literals, kind)?)
            }
            (Some(Quantifier::Any), Op::In { negated: false, literals }) => {
                let word = if negated { "none of" } else { "one of" };
                format!("{name} {word} {}", list(literals, kind)?)
            }
            (_, Op::Matches { .. }) => return Err("it has no patterns".into()),
            _ => return Err(format!("it cannot express {condition:?}")),
        };
        out.push_str(&text);
        Ok(())
    }
}

fn symbol(comparison: Comparison, negated: bool) -> &'static str {
    match (comparison, negated) {
        (Comparison::Equal, false) | (Comparison::NotEqual, true) => "=",
        (Comparison::NotEqual, false) | (Comparison::Equal, true) => "<>",
        (Comparison::Less, false) | (Comparison::GreaterEqual, true) => "<",
        (Comparison::LessEqual, false) | (Comparison::Greater, true) => "<=",
        (Comparison::Greater, false) | (Comparison::LessEqual, true) => ">",
        (Comparison::GreaterEqual, false) | (Comparison::Less, true) => ">=",
    }
}

fn list(literals: &[Literal], kind: AttributeKind) -> Result<String, String> {
    let members: Result<Vec<String>, String> = literals.iter().map(|value| literal(value, kind)).collect();
    Ok(format!("[{}]", members?.join(", ")))
}

fn literal(value: &Literal, kind: AttributeKind) -> Result<String, String> {
    match (value, kind) {
        (Literal::Number(Number::Int(value)), AttributeKind::Int) => Ok(value.to_string()),
        (Literal::Number(Number::Int(value)), AttributeKind::Decimal) => Ok(format!("{value}.0")),
        (Literal::Number(Number::Float(value)), AttributeKind::Decimal) => Ok(format!("{value:.3}")),
        (Literal::Text(text), AttributeKind::Text | AttributeKind::Texts)
            if !text.contains(['\'', '"', '\\']) =>
        {
            Ok(format!("'{text}'"))
        }
        (value, kind) => Err(format!("it cannot compare {kind:?} with {value}")),
    }
}
