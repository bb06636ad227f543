//! Events as tests write them, and their conversion to rows.

use tamis_core::event::{EventSlots, Rows, Slot};
use tamis_core::expr::{Expr, Missing, Truth};
use tamis_core::{Error, Schema, Value};

/// A value of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// No value.
    Missing,
    /// TRUE or FALSE.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float; NaN is missing.
    Float(f64),
    /// A string.
    Text(String),
    /// Microseconds since the epoch.
    Time(i64),
    /// A list; lists in it are of no kind that predicates accept.
    List(Vec<Given>),
    /// A nested object.
    Object,
}

/// Attributes and their values; the last of equal names wins.
pub type GivenEvent = Vec<(String, Given)>;

/// Appends the event as a row, without the attributes that the schema does not know.
pub fn write_row(event: &GivenEvent, schema: &Schema, rows: &mut Rows) {
    for (name, value) in event {
        if let Some(attribute) = schema.get(name) {
            let slot = slot_of(value, rows);
            rows.set(attribute, slot);
        }
    }
    rows.finish_row();
}

fn slot_of(value: &Given, rows: &mut Rows) -> Slot {
    match value {
        Given::Missing => Slot::Missing,
        Given::Bool(value) => Slot::Bool(*value),
        Given::Int(value) => Slot::Int(*value),
        Given::Float(value) => Rows::float_slot(*value),
        Given::Text(text) => rows.text_slot(text).expect("little text"),
        Given::Time(micros) => Slot::Time(*micros),
        Given::Object => Slot::Other,
        Given::List(elements) => {
            let mut list = rows.list();
            for element in elements {
                let slot = match element {
                    Given::List(_) => Slot::Other,
                    scalar => slot_of(scalar, rows),
                };
                list.push(rows, slot);
            }
            list.finish(rows).expect("few elements")
        }
    }
}

/// The truth of an expression by the reference evaluation.
pub fn truth(expr: &Expr, event: &GivenEvent, missing: Missing) -> Truth {
    let schema = expr.schema();
    let mut rows = Rows::default();
    write_row(event, &schema, &mut rows);
    expr.evaluate_row(&schema, &rows, 0, missing)
}

/// A schema of just these attributes.
pub fn schema(names: &[&str]) -> Schema {
    let mut schema = Schema::default();
    for &name in names {
        schema.intern(&name.into());
    }
    schema
}

/// A row as text, attribute by attribute; missing ones are left out.
pub fn shown(schema: &Schema, rows: &Rows, row: usize) -> String {
    let mut slots = EventSlots::default();
    let event = slots.load(rows, row, schema.len());
    let present = schema.names().filter_map(|name| {
        let value = event.value(schema.get(name)?);
        (!matches!(value, Value::Missing)).then(|| format!("{name}={}", event.describe(value)))
    });
    present.collect::<Vec<_>>().join(" ")
}

/// The attribute an event error names, and its message.
pub fn fault<T: std::fmt::Debug>(outcome: Result<T, Error>) -> (Option<String>, String) {
    match outcome {
        Err(Error::Event { attribute, message }) => (attribute, message),
        other => unreachable!("expected an event error, got {other:?}"),
    }
}
