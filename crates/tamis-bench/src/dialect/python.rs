//! Python source for `eval`: `g` is the event's `get`, `e` the event, `regex` gives a compiled search.

use super::{Dialect, write};
use std::fmt::Write as _;
use tamis_core::expr::{Comparison, Condition, Expr, Op, PatternKind, Quantifier, TextPattern};
use tamis_core::{Literal, Number};

/// The Python text of an expression.
pub fn expression(expr: &Expr) -> Result<String, String> {
    let mut text = String::new();
    write(expr, false, &PythonDialect, &mut text)?;
    Ok(text)
}

struct PythonDialect;

impl Dialect for PythonDialect {
    fn condition(&self, condition: &Condition, negated: bool, out: &mut String) -> Result<(), String> {
        let name = text(&condition.attribute.name);
        let translated = match (&condition.attribute.quantifier, &condition.op) {
            (None, Op::Compare(comparison, value)) => compare(&name, opposite(*comparison, negated), value)?,
            (None, Op::Between { negated: outside, low, high }) => {
                let (low, high) = (number(low)?, number(high)?);
                // The default is such that a missing value makes it false.
                if *outside == negated {
                    format!("{low} <= g({name}, nan) <= {high}")
                } else {
                    format!("not {low} <= g({name}, {low}) <= {high}")
                }
            }
            (None, Op::In { negated: outside, literals }) => {
                let (first, all) = (literal(&literals[0])?, set(literals)?);
                if *outside == negated {
                    format!("g({name}) in {all}")
                } else {
                    format!("g({name}, {first}) not in {all}")
                }
            }
            (Some(Quantifier::Any), Op::In { negated: false, literals }) => {
                let some = format!("any(i in {} for i in g({name}, ()))", set(literals)?);
                if negated { format!("{name} in e and not {some}") } else { some }
            }
            (None, Op::Matches { negated: unlike, pattern }) => {
                let found = matches(&name, pattern);
                if *unlike == negated { found } else { format!("{name} in e and not {found}") }
            }
            _ => return Err(format!("not translated to Python: {condition:?}")),
        };
        out.push_str(&translated);
        Ok(())
    }
}

fn opposite(comparison: Comparison, negated: bool) -> Comparison {
    if negated { comparison.negated() } else { comparison }
}

fn compare(name: &str, comparison: Comparison, value: &Literal) -> Result<String, String> {
    Ok(match comparison {
        Comparison::Equal => format!("g({name}) == {}", literal(value)?),
        Comparison::NotEqual => format!("g({name}, {0}) != {0}", literal(value)?),
        order => format!("g({name}, nan) {} {}", order.symbol(), number(value)?),
    })
}

fn matches(name: &str, pattern: &TextPattern) -> String {
    let source = pattern.source();
    // The text between two %, if it has no other wildcard.
    let inner = source.strip_prefix('%').and_then(|rest| rest.strip_suffix('%'));
    let inner = inner.filter(|inner| !inner.contains(['%', '_', '\\']));
    match (pattern.kind(), inner) {
        (PatternKind::Contains, _) => format!("({} in g({name}, ''))", text(source)),
        (PatternKind::Prefix, _) => format!("g({name}, '').startswith({})", text(source)),
        (PatternKind::Suffix, _) => format!("g({name}, '').endswith({})", text(source)),
        (PatternKind::Like, Some(inner)) => format!("({} in g({name}, ''))", text(inner)),
        (PatternKind::ILike, Some(inner)) => {
            format!("({} in g({name}, '').lower())", text(&inner.to_lowercase()))
        }
        (PatternKind::Like, None) => format!("(regex({})(g({name}, '')) is not None)", text(&like(source))),
        (PatternKind::ILike, None) => {
            format!("(regex({})(g({name}, '')) is not None)", text(&format!("(?i){}", like(source))))
        }
        (PatternKind::Regex, _) => format!("(regex({})(g({name}, '')) is not None)", text(source)),
    }
}

/// A LIKE pattern as a regular expression.
fn like(source: &str) -> String {
    let mut regex = String::from("(?s)\\A");
    for letter in source.chars() {
        match letter {
            '%' => regex.push_str(".*"),
            '_' => regex.push('.'),
            letter if letter.is_alphanumeric() => regex.push(letter),
            letter => {
                let _ = write!(regex, "\\{letter}");
            }
        }
    }
    regex + "\\Z"
}

fn set(literals: &[Literal]) -> Result<String, String> {
    let members: Result<Vec<String>, String> = literals.iter().map(literal).collect();
    Ok(format!("{{{}}}", members?.join(", ")))
}

fn literal(value: &Literal) -> Result<String, String> {
    match value {
        Literal::Text(value) => Ok(text(value)),
        value => number(value),
    }
}

fn number(value: &Literal) -> Result<String, String> {
    match value {
        Literal::Number(Number::Int(value)) => Ok(value.to_string()),
        Literal::Number(Number::Float(value)) => Ok(format!("{value:?}")),
        other => Err(format!("not translated to Python: {other}")),
    }
}

/// A JSON string literal is a Python string literal as well.
fn text(text: &str) -> String {
    serde_json::json!(text).to_string()
}
