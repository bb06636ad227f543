//! Arrow record batches to rows: columns are resolved once per batch, and no object is made per cell.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `cells` | how is a cell of an Arrow type read? |
//! | `strings` | how is a string read whose offsets nobody has checked? |
//! | `source` | which rows are read at a time? |

mod cells;
mod source;
mod strings;

pub use source::{ArrowSource, ArrowSourceError};
pub use strings::arrow_text;

use super::rows::{Rows, Slot};
use crate::error::{Error, Result};
use crate::schema::{AttrId, Schema};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_schema::DataType;
use cells::CellReader;
use std::sync::Arc;

/// A column, or a field of a struct column, that an expression refers to.
struct ReferredColumn {
    /// Dotted name, for errors.
    name: String,
    attribute: AttrId,
    read: CellReader,
}

/// The columns of a batch that expressions refer to, ready to be read row by row.
pub struct ArrowReader {
    columns: Vec<ReferredColumn>,
    /// Number of rows in the batch.
    rows: usize,
}

impl ArrowReader {
    /// Resolves the columns. A column that an expression refers to must have a type that is meaningful as a value.
    pub fn new(batch: &RecordBatch, schema: &Schema) -> Result<ArrowReader> {
        let mut columns = Vec::new();
        let names = batch.schema();
        for (field, array) in names.fields().iter().zip(batch.columns()) {
            resolve(field.name().clone(), array, &[], schema, &mut columns)?;
        }
        Ok(ArrowReader { columns, rows: batch.num_rows() })
    }

    /// Number of rows in the batch.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether the batch has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Appends one row of the batch to `rows`.
    pub fn read(&self, row: usize, rows: &mut Rows) -> Result<()> {
        for column in &self.columns {
            match (column.read)(row, rows) {
                Ok(slot) => rows.set(column.attribute, slot),
                Err(message) => {
                    rows.abandon_row();
                    return Err(Error::event(&column.name, message));
                }
            }
        }
        rows.finish_row();
        Ok(())
    }
}

/// Appends the readers of a column and, for a struct, of its fields. `parents` are the enclosing structs: where one of
/// them is null, the cell is null.
fn resolve(
    name: String,
    array: &ArrayRef,
    parents: &[Arc<StructArray>],
    schema: &Schema,
    columns: &mut Vec<ReferredColumn>,
) -> Result<()> {
    let Some(path) = schema.path(&name) else {
        return Ok(());
    };
    if let Some(attribute) = path.attribute {
        let read = cells::reader(array).map_err(|message| Error::event(&name, message))?;
        let parents = parents.to_vec();
        let read: CellReader = if parents.is_empty() {
            read
        } else {
            Box::new(move |row, rows| {
                if parents.iter().any(|parent| parent.is_null(row)) {
                    Ok(Slot::Missing)
                } else {
                    read(row, rows)
                }
            })
        };
        columns.push(ReferredColumn { name: name.clone(), attribute, read });
    }
    if let (true, DataType::Struct(fields)) = (path.has_subpaths, array.data_type()) {
        let parent = array.as_struct().clone();
        let mut parents = parents.to_vec();
        parents.push(Arc::new(parent.clone()));
        for (field, child) in fields.iter().zip(parent.columns()) {
            resolve(format!("{name}.{}", field.name()), child, &parents, schema, columns)?;
        }
    }
    Ok(())
}
