//! Workloads as text: expressions in the language, events as JSON.
//!
//! | file | workload |
//! | --- | --- |
//! | `equalities` | a few equalities over integers that every event has |
//! | `ads` | campaigns: long IN lists, age ranges, interests, exclusions, alternatives |
//! | `detection` | rules over command lines, paths and addresses |
//! | `ranges` | ranges of a given width over a wide domain |
//! | `wide` | events with many attributes, rules over a few of them |
//!
//! Each takes its parameters from a definition and all random numbers from the generator passed in.

pub mod ads;
pub mod detection;
pub mod equalities;
pub mod ranges;
pub mod wide;

use std::fmt::Write as _;

/// A value of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Int(i64),
    /// A number with three decimals, in thousandths: exact in every system.
    Thousandths(i64),
    /// A text.
    Text(String),
    /// A list of texts.
    Texts(Vec<String>),
}

/// Attributes with their values.
pub type Event = Vec<(String, Value)>;

/// The output of a generator.
pub struct GeneratedWorkload {
    /// Expressions; a subscription's number is its position.
    pub subscriptions: Vec<String>,
    /// Events.
    pub events: Vec<Event>,
}

/// A number of thousandths as it is written.
pub fn decimal(thousandths: i64) -> String {
    format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000)
}

/// `'a', 'b', 'c'`.
pub fn quoted(texts: &[impl AsRef<str>]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| format!("'{}'", text.as_ref())).collect();
    texts.join(", ")
}

/// An event as JSON text.
pub fn json(event: &Event) -> String {
    let mut text = String::from("{");
    for (n, (name, value)) in event.iter().enumerate() {
        let comma = if n > 0 { "," } else { "" };
        let _ = match value {
            Value::Int(value) => write!(text, "{comma}\"{name}\":{value}"),
            Value::Thousandths(value) => write!(text, "{comma}\"{name}\":{}", decimal(*value)),
            Value::Text(value) => write!(text, "{comma}\"{name}\":{}", serde_json::json!(value)),
            Value::Texts(values) => write!(text, "{comma}\"{name}\":{}", serde_json::json!(values)),
        };
    }
    text + "}"
}
