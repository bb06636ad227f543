//! Text to expression, and everything that accepts an expression.
//!
//! A refused text gets an error whose place lies within the text. An accepted one prints to text that parses to the
//! same expression, and `scan` and `compiled` match it with an event if and only if the reference evaluation says TRUE.
//! The events hold the expression's own literals, so that comparisons are decided at their boundaries.

use tamis_conformance::event::{Given, GivenEvent, write_row};
use tamis_core::event::Rows;
use tamis_core::expr::{Condition, Expr, Limits, Missing, Op, Truth, parse};
use tamis_core::index::{Id, Index, Settings};
use tamis_core::{Error, Literal, MICROS_PER_DAY, Number, ParseError};

/// Small enough that no accepted input takes long.
const LIMITS: Limits = Limits { max_length: 4_096, max_depth: 50, max_regex_size: 1 << 16, max_dnf: 200 };
/// Events per expression.
const EVENTS: usize = 6;

/// Checks one text.
pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match parse(&text, &LIMITS) {
        Err(error) => check_place(&text, &error),
        Ok(expr) => {
            let printed = expr.to_string();
            // Canonical text may be longer than what was written: only the length of the input is bounded.
            let unbounded = Limits { max_length: usize::MAX, ..LIMITS };
            assert_eq!(parse(&printed, &unbounded).as_ref(), Ok(&expr), "{text:?} prints as {printed:?}");
            for missing in [Missing::Unknown, Missing::False] {
                check_matches(&expr, missing);
            }
        }
    }
}

fn check_place(text: &str, error: &ParseError) {
    let line = text.split('\n').nth(error.line.wrapping_sub(1)).expect("a line of the text");
    assert!((1..=line.chars().count() + 1).contains(&error.column), "{text:?}: {error}");
    assert!(!error.found.is_empty() && !error.expected.is_empty(), "{text:?}: {error}");
}

fn check_matches(expr: &Expr, missing: Missing) {
    for engine in ["scan", "compiled"] {
        let limits = Limits { max_length: usize::MAX, ..LIMITS };
        let settings = Settings { engine: engine.into(), missing, limits, ..Settings::default() };
        let index = Index::new(settings).expect("valid settings");
        match index.add(Id::from(1), expr.to_string().as_str().into()) {
            Ok(_) => index.compact().expect("compaction"),
            Err(Error::TooComplex { .. }) => continue,
            Err(error) => unreachable!("{expr}: {error}"),
        }
        let schema = index.schema();
        let mut rows = Rows::default();
        let events = events(expr);
        events.iter().for_each(|event| write_row(event, &schema, &mut rows));
        for (row, event) in events.iter().enumerate() {
            let matched = !index.match_row(&schema, &rows, row).expect("a fresh schema").is_empty();
            let truth = expr.evaluate_row(&schema, &rows, row, missing);
            assert_eq!(matched, truth == Truth::True, "{engine}, {missing:?}: {expr} on {event:?}");
        }
    }
}

/// Event `n` gives each attribute the `n`-th literal of one of its predicates, shifted by -1, 0 or 1.
fn events(expr: &Expr) -> Vec<GivenEvent> {
    let mut values: Vec<(String, Given)> = Vec::new();
    expr.for_each_condition(false, &mut |condition, _| {
        for value in literals(condition) {
            let list = condition.attribute.quantifier.is_some();
            let value = if list { Given::List(vec![value, Given::Missing]) } else { value };
            values.push((condition.attribute.name.to_string(), value));
        }
    });
    let event = |n: usize| {
        let kept = values.iter().enumerate().filter(|(at, _)| !(at + n).is_multiple_of(3));
        kept.map(|(_, (name, value))| (name.clone(), shifted(value, n as i64 % 3 - 1))).collect()
    };
    (0..EVENTS).map(event).collect()
}

fn literals(condition: &Condition) -> Vec<Given> {
    match &condition.op {
        Op::Compare(_, literal) => vec![given(literal)],
        Op::Between { low, high, .. } => vec![given(low), given(high)],
        Op::In { literals, .. } => literals.iter().take(3).map(given).collect(),
        Op::Matches { pattern, .. } => vec![Given::Text(pattern.source().to_owned())],
        Op::InCidr(networks) => networks.iter().map(|net| Given::Text(net.addr().to_string())).collect(),
        Op::IsNull { .. } | Op::IsTrue => vec![Given::Bool(true)],
    }
}

fn given(literal: &Literal) -> Given {
    match literal {
        Literal::Bool(value) => Given::Bool(*value),
        Literal::Number(Number::Int(value)) => Given::Int(*value),
        Literal::Number(Number::Float(value)) => Given::Float(*value),
        Literal::Text(text) => Given::Text(text.to_string()),
        Literal::Date(day) => Given::Time(i64::from(*day).saturating_mul(MICROS_PER_DAY)),
        Literal::Timestamp(micros) => Given::Time(*micros),
    }
}

fn shifted(value: &Given, by: i64) -> Given {
    match value {
        Given::Int(value) => Given::Int(value.saturating_add(by)),
        Given::Float(value) => Given::Float(value + by as f64),
        Given::Time(value) => Given::Time(value.saturating_add(by)),
        Given::Bool(value) => Given::Bool(*value ^ (by != 0)),
        Given::Text(text) if by > 0 => Given::Text(format!("{text}a")),
        Given::Text(text) if by < 0 => Given::Text(text.chars().skip(1).collect()),
        Given::List(values) => Given::List(values.iter().map(|value| shifted(value, by)).collect()),
        other => other.clone(),
    }
}
