//! Values: constants in expressions ([`Literal`]) and values of events ([`Value`]).

use crate::number::{Number, compare_int_float};
use crate::time;
use smol_str::SmolStr;
use std::cmp::Ordering;
use std::fmt;

/// A constant in an expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Literal {
    /// `TRUE` or `FALSE`.
    Bool(bool),
    /// `42`, `-1.5`, `1e9`.
    Number(Number),
    /// `'text'`.
    Text(SmolStr),
    /// `DATE '2026-11-15'`, as days since the epoch.
    Date(i32),
    /// `TIMESTAMP '2026-11-15 10:00:00'`, as microseconds since the epoch.
    Timestamp(i64),
}

/// The kinds of values. Values of different kinds do not compare: a predicate across kinds is UNKNOWN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Booleans; FALSE sorts before TRUE.
    Bool,
    /// Integers and floats.
    Number,
    /// Strings, by code point.
    Text,
    /// Dates and timestamps; a date is its midnight UTC.
    Time,
}

impl Literal {
    /// The kind of value this literal compares with.
    pub fn kind(&self) -> Kind {
        match self {
            Literal::Bool(_) => Kind::Bool,
            Literal::Number(_) => Kind::Number,
            Literal::Text(_) => Kind::Text,
            Literal::Date(_) | Literal::Timestamp(_) => Kind::Time,
        }
    }

    /// The instant of a date or timestamp, in microseconds since the epoch; `None` for other literals.
    pub fn micros(&self) -> Option<i64> {
        match self {
            Literal::Date(days) => time::micros_of_date(*days),
            Literal::Timestamp(micros) => Some(*micros),
            _ => None,
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Bool(true) => f.write_str("TRUE"),
            Literal::Bool(false) => f.write_str("FALSE"),
            Literal::Number(Number::Int(i)) => write!(f, "{i}"),
            // Debug prints the shortest text that reads back to the same float.
            Literal::Number(Number::Float(x)) => write!(f, "{x:?}"),
            Literal::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
            Literal::Date(days) => write!(f, "DATE '{}'", time::format_date(*days)),
            Literal::Timestamp(micros) => write!(f, "TIMESTAMP '{}'", time::format_timestamp(*micros)),
        }
    }
}

/// Bytes in front of what an [`Arc`](std::sync::Arc) points to: its two counters.
pub(crate) const ARC_COUNTERS: usize = 2 * size_of::<usize>();

/// Bytes that a string takes on the heap. A clone shares them.
pub(crate) fn heap_of(text: &SmolStr) -> usize {
    if text.is_heap_allocated() { text.len() + ARC_COUNTERS } else { 0 }
}

/// One attribute's value in an event, borrowed from the event.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// Absent, null or NaN.
    Missing,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float that is not NaN.
    Float(f64),
    /// A string.
    Text(&'a str),
    /// A date's midnight or a timestamp, in microseconds since the epoch.
    Time(i64),
    /// A list, read through [`crate::event::Event::elements`].
    List(crate::event::ListRef),
    /// Present, but of no comparable kind: a nested object, a list inside a list.
    Other,
}

impl Value<'_> {
    /// Order of the value relative to a literal; `None` across kinds (UNKNOWN).
    pub fn compare(&self, literal: &Literal) -> Option<Ordering> {
        match (self, literal) {
            (Value::Bool(a), Literal::Bool(b)) => Some(a.cmp(b)),
            (Value::Int(a), Literal::Number(b)) => Some(Number::Int(*a).cmp(b)),
            (Value::Float(a), Literal::Number(Number::Float(b))) => a.partial_cmp(b),
            (Value::Float(a), Literal::Number(Number::Int(b))) => Some(compare_int_float(*b, *a).reverse()),
            (Value::Text(a), Literal::Text(b)) => Some((*a).cmp(b.as_str())),
            (Value::Time(a), Literal::Date(_) | Literal::Timestamp(_)) => Some(a.cmp(&literal.micros()?)),
            _ => None,
        }
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Missing => f.write_str("missing"),
            Value::Bool(b) => write!(f, "{}", Literal::Bool(*b)),
            Value::Int(i) => write!(f, "{i}"),
            Value::Float(x) => write!(f, "{x:?}"),
            Value::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
            Value::Time(micros) => write!(f, "{}", time::format_timestamp(*micros)),
            Value::List(list) => write!(f, "a list of {}", list.len()),
            Value::Other => f.write_str("a nested value"),
        }
    }
}
