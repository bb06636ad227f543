//! The language of the crate `a-tree`: typed attributes, comparisons, sets and lists, no patterns, no quoting.

use super::{Dialect, write};
use std::collections::BTreeMap;
use tamis_core::expr::{Comparison, Condition, Expr, Op, Quantifier};
use tamis_core::{Literal, Number};

/// What an attribute holds in all events of a case: the crate wants to know beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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
pub fn expression(expr: &Expr, kinds: &BTreeMap<String, Kind>) -> Result<String, String> {
    let mut text = String::new();
    write(expr, false, &Crate { kinds }, &mut text)?;
    Ok(text)
}

struct Crate<'k> {
    kinds: &'k BTreeMap<String, Kind>,
}

impl Dialect for Crate<'_> {
    fn condition(&self, condition: &Condition, negated: bool, out: &mut String) -> Result<(), String> {
        let name = condition.attribute.name.as_str();
        let kind = *self.kinds.get(name).ok_or_else(|| format!("no event has attribute {name}"))?;
        let said = match (&condition.attribute.quantifier, &condition.op) {
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
            (None, Op::In { negated: outside, literals }) if kind != Kind::Decimal => {
                let word = if *outside == negated { "in" } else { "not in" };
                format!("{name} {word} {}", list(literals, kind)?)
            }
            (Some(Quantifier::Any), Op::In { negated: false, literals }) => {
                let word = if negated { "none of" } else { "one of" };
                format!("{name} {word} {}", list(literals, kind)?)
            }
            (_, Op::Matches { .. }) => return Err("it has no patterns".into()),
            _ => return Err(format!("it cannot say {condition:?}")),
        };
        out.push_str(&said);
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

fn list(literals: &[Literal], kind: Kind) -> Result<String, String> {
    let members: Result<Vec<String>, String> = literals.iter().map(|value| literal(value, kind)).collect();
    Ok(format!("[{}]", members?.join(", ")))
}

fn literal(value: &Literal, kind: Kind) -> Result<String, String> {
    match (value, kind) {
        (Literal::Number(Number::Int(value)), Kind::Int) => Ok(value.to_string()),
        (Literal::Number(Number::Int(value)), Kind::Decimal) => Ok(format!("{value}.0")),
        (Literal::Number(Number::Float(value)), Kind::Decimal) => Ok(format!("{value:.3}")),
        (Literal::Text(text), Kind::Text | Kind::Texts) if !text.contains(['\'', '"', '\\']) => {
            Ok(format!("'{text}'"))
        }
        (value, kind) => Err(format!("it cannot compare {kind:?} with {value}")),
    }
}
