//! Arrow record batches to events, against values that are known from how the batch was made.
//!
//! A batch of any type is read with the values it was made of; a row with a value that cannot be read (an integer past
//! 64 bits, a time past the range) is refused, and nothing of it is left; a column of a type that is no value is refused
//! by name.

use crate::arrow_columns::{Column, Meaning, column};
use arbitrary::{Result, Unstructured};
use arrow_array::RecordBatch;
use tamis_conformance::event::{Given, GivenEvent, schema, shown, write_row};
use tamis_core::event::{ArrowReader, Rows};
use tamis_core::{Error, Schema};

/// Attributes that rules refer to.
const ATTRIBUTES: &[&str] = &["x", "y", "x.a", "x.a.b", "y.b"];
/// Rows per batch.
const MAX_ROWS: usize = 5;

/// Checks one batch.
pub fn check(data: &[u8]) {
    let mut input = Unstructured::new(data);
    // Bytes that are too few make no batch.
    let Ok((batch, columns)) = batch(&mut input) else {
        return;
    };
    let schema = schema(ATTRIBUTES);
    match (ArrowReader::new(&batch, &schema), columns.iter().all(readable)) {
        (Ok(reader), true) => check_rows(&reader, &columns, &schema),
        // A struct may hold a type that is no value where no rule refers to it.
        (Ok(_), false) => {}
        (Err(Error::Event { attribute: Some(_), .. }), false) => {}
        (Err(error), _) => unreachable!("{error}: {:?}", batch.schema()),
    }
}

fn readable(column: &Column) -> bool {
    column.meanings.is_some()
}

fn batch(input: &mut Unstructured<'_>) -> Result<(RecordBatch, Vec<Column>)> {
    let rows = input.int_in_range(0..=MAX_ROWS)?;
    let columns = vec![column(input, rows, 0)?, column(input, rows, 0)?];
    let arrays =
        ["x", "y"].into_iter().zip(&columns).map(|(name, column)| (name, column.array.clone(), true));
    let batch = RecordBatch::try_from_iter_with_nullable(arrays).expect("columns of one length");
    Ok((batch, columns))
}

fn check_rows(reader: &ArrowReader, columns: &[Column], schema: &Schema) {
    let mut rows = Rows::default();
    for row in 0..reader.len() {
        let mut event = GivenEvent::new();
        let mut unreadable = false;
        for (name, column) in ["x", "y"].into_iter().zip(columns) {
            let meanings = column.meanings.as_ref().expect("a readable column");
            unreadable |= !expect(name, &meanings[row], schema, &mut event);
        }
        let before = rows.len();
        match (reader.read(row, &mut rows), unreadable) {
            (Ok(()), false) => {
                let mut expected = Rows::default();
                write_row(&event, schema, &mut expected);
                assert_eq!(shown(schema, &rows, before), shown(schema, &expected, 0), "row {row}: {event:?}");
            }
            (Err(Error::Event { .. }), true) => {
                assert_eq!(rows.len(), before);
                rows.finish_row();
                assert!(rows.row(before).is_empty(), "left over from row {row}: {event:?}");
            }
            (outcome, _) => unreachable!("row {row}, {event:?}: {outcome:?}"),
        }
    }
}

/// Adds what a cell gives its attribute and those of its fields; `false` if a value that a rule refers to is unreadable.
fn expect(name: &str, meaning: &Meaning, schema: &Schema, event: &mut GivenEvent) -> bool {
    let Some(path) = schema.path(name) else {
        return true;
    };
    let mut put = |given: Given| {
        if path.attribute.is_some() {
            event.push((name.to_owned(), given));
        }
    };
    match meaning {
        Meaning::Value(given) => put(given.clone()),
        Meaning::Unreadable => return path.attribute.is_none(),
        Meaning::Fields(fields) => {
            put(Given::Object);
            // Not `all`: every field is read, also behind an unreadable one.
            let readable = |(field, meaning): &(String, Meaning)| {
                expect(&format!("{name}.{field}"), meaning, schema, event)
            };
            let outcomes: Vec<bool> = fields.iter().map(readable).collect();
            return outcomes.into_iter().all(|readable| readable);
        }
    }
    true
}
