//! Words for explanations: why a value does not compare, and long predicates in short.

use super::syntax::{Condition, Op};
use crate::event::Event;
use crate::value::{Literal, Value};
use std::net::IpAddr;

/// Maximum literals of a list that are shown; of a longer one, the first of them and the number of the others.
const SHOWN: usize = 8;
/// Maximum characters of a predicate that are shown.
const WIDTH: usize = 120;

/// The kind of a value, with its article.
fn kind_of(value: Value<'_>) -> &'static str {
    match value {
        Value::Missing => "missing",
        Value::Bool(_) => "a boolean",
        Value::Int(_) | Value::Float(_) => "a number",
        Value::Text(_) => "text",
        Value::Time(_) => "a time",
        Value::List(_) => "a list",
        Value::Other => "an object or of another kind that is not compared",
    }
}

fn wanted_by(literal: &Literal) -> &'static str {
    match literal {
        Literal::Bool(_) => "a boolean",
        Literal::Number(_) => "a number",
        Literal::Text(_) => "text",
        Literal::Date(_) | Literal::Timestamp(_) => "a time",
    }
}

impl Op {
    /// The kinds that it compares.
    fn wanted(&self) -> Vec<&'static str> {
        let mut wanted = match self {
            Op::Compare(_, literal) => vec![wanted_by(literal)],
            Op::Between { low, high, .. } => vec![wanted_by(low), wanted_by(high)],
            Op::In { literals, .. } => literals.iter().map(wanted_by).collect(),
            Op::Matches { .. } => vec!["text"],
            Op::InCidr(_) => vec!["the text of an IP address"],
            Op::IsTrue => vec!["a boolean"],
            Op::IsNull { .. } => Vec::new(),
        };
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }

    /// Why a value does not compare; `None` if its kind is not the reason.
    fn mismatch(&self, value: Value<'_>) -> Option<String> {
        let (found, wanted) = (kind_of(value), self.wanted());
        let shown = shortened(&value.to_string());
        match (self, value) {
            (Op::InCidr(_), Value::Text(text)) => {
                text.parse::<IpAddr>().err().map(|_| format!("{shown} is no IP address"))
            }
            _ if wanted.contains(&found) || wanted.is_empty() => None,
            _ => Some(format!("{shown} is {found}, {} is wanted", wanted.join(" or "))),
        }
    }
}

impl Condition {
    /// Why a value that is present does not compare; `None` if its kind is not the reason.
    pub(super) fn mismatch(&self, value: Value<'_>, event: &Event<'_>) -> Option<String> {
        let name = &self.attribute.name;
        match (self.attribute.quantifier, value) {
            (_, Value::Missing) => None,
            (None, Value::List(_)) => {
                Some(format!("a list is compared by its elements: write any({name}) or all({name})"))
            }
            (None, value) => self.op.mismatch(value),
            (Some(_), Value::List(list)) => event.elements(list).find_map(|element| match element {
                Value::Missing => Some("an element is missing".to_owned()),
                element => self.op.mismatch(element),
            }),
            (Some(_), value) => {
                Some(format!("{} is {}, a list is wanted", shortened(&value.to_string()), kind_of(value)))
            }
        }
    }

    /// The predicate with long lists and patterns abbreviated; `None` if nothing is.
    pub(super) fn summary(&self) -> Option<String> {
        let text = self.to_string();
        if let Op::In { negated, literals } = &self.op
            && literals.len() > SHOWN
        {
            let first = Op::In { negated: *negated, literals: literals[..SHOWN].to_vec() };
            let first =
                Condition { attribute: self.attribute.clone(), op: first, weight: self.weight }.to_string();
            // The list is closed by the last parenthesis; a weight may follow it.
            let close = first.rfind(')')?;
            let more = literals.len() - SHOWN;
            return Some(shortened(&format!("{}, ... {more} more{}", &first[..close], &first[close..])));
        }
        let short = shortened(&text);
        (short != text).then_some(short)
    }
}

/// The first [`WIDTH`] characters.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
