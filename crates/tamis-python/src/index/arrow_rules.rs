//! Rules in Arrow data: a column of ids and one of expressions.

use crate::arrow::unreadable;
use crate::errors::{exception, invalid_id, with_row};
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatchReader, cast::AsArray};
use arrow_schema::{ArrowError, DataType};
use pyo3::prelude::*;
use tamis_core::Error;
use tamis_core::event::arrow_text;
use tamis_core::index::{Id, Source};

/// Why Arrow data cannot be read as rules.
pub enum ArrowRulesError {
    Arrow(ArrowError),
    Core(Error),
    /// A row, and what is wrong with its id.
    Id(usize, String),
}

impl ArrowRulesError {
    pub fn exception(self, py: Python<'_>) -> PyErr {
        match self {
            ArrowRulesError::Arrow(error) => unreadable(error),
            ArrowRulesError::Core(error) => exception(py, error),
            ArrowRulesError::Id(row, message) => with_row(py, invalid_id(py, &message), row),
        }
    }
}

impl From<Error> for ArrowRulesError {
    fn from(error: Error) -> ArrowRulesError {
        ArrowRulesError::Core(error)
    }
}

/// All rules of a stream, by the names of its columns of ids and of expressions.
pub fn read_rules(
    reader: Box<dyn RecordBatchReader + Send>,
    (id_column, expression_column): &(String, String),
) -> Result<Vec<(Id, Source)>, ArrowRulesError> {
    let mut rules = Vec::new();
    let schema = reader.schema();
    let (ids, texts) = (position(&schema, id_column)?, position(&schema, expression_column)?);
    for batch in reader {
        let batch = batch.map_err(ArrowRulesError::Arrow)?;
        for row in 0..batch.num_rows() {
            let number = rules.len();
            let id =
                arrow_id(batch.column(ids), row).map_err(|message| ArrowRulesError::Id(number, message))?;
            let text = text(batch.column(texts), row, expression_column);
            let text = text.map_err(|message| Error::Expression(message).at_row(number))?;
            rules.push((id, Source::from(text)));
        }
    }
    Ok(rules)
}

/// The position of a required column.
fn position(schema: &arrow_schema::Schema, name: &str) -> Result<usize, Error> {
    schema.index_of(name).map_err(|_| {
        let found: Vec<String> = schema.fields().iter().map(|field| format!("{:?}", field.name())).collect();
        Error::Expression(format!(
            "the Arrow data has no column {name:?} but {}; name yours with id_column= and expression_column=",
            found.join(", ")
        ))
    })
}

fn arrow_id(ids: &ArrayRef, row: usize) -> Result<Id, String> {
    let int = match ids.data_type() {
        _ if ids.is_null(row) => return Err("the id is null".into()),
        DataType::Int8 => i64::from(ids.as_primitive::<Int8Type>().value(row)),
        DataType::Int16 => i64::from(ids.as_primitive::<Int16Type>().value(row)),
        DataType::Int32 => i64::from(ids.as_primitive::<Int32Type>().value(row)),
        DataType::Int64 => ids.as_primitive::<Int64Type>().value(row),
        DataType::UInt8 => i64::from(ids.as_primitive::<UInt8Type>().value(row)),
        DataType::UInt16 => i64::from(ids.as_primitive::<UInt16Type>().value(row)),
        DataType::UInt32 => i64::from(ids.as_primitive::<UInt32Type>().value(row)),
        DataType::UInt64 => {
            let id = ids.as_primitive::<UInt64Type>().value(row);
            i64::try_from(id).map_err(|_| format!("the id {id} does not fit 64 bits"))?
        }
        _ => return text(ids, row, "id").map(Id::from),
    };
    Ok(Id::Int(int))
}

/// The text of a row.
pub fn text<'b>(texts: &'b ArrayRef, row: usize, name: &str) -> Result<&'b str, String> {
    if texts.is_null(row) {
        return Err(format!("the {name} is null"));
    }
    let text = arrow_text(texts, row).ok_or_else(|| {
        format!("the column {name:?} is of Arrow type {}; cast it to strings", texts.data_type())
    })?;
    text.map_err(|fault| format!("the {name} is {fault}"))
}
