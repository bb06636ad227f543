//! Arrow record batches to rows: columns are resolved once per batch, and no object is made per cell.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `columns` | which columns, fields and entries of maps do expressions refer to? |
//! | `cells` | how is a cell of an Arrow type read? |
//! | `strings` | how is a string read whose offsets nobody has checked? |
//! | `source` | which rows are read at a time? |

mod cells;
mod columns;
mod source;
mod strings;

pub use source::{ArrowSource, ArrowSourceError};
pub use strings::arrow_text;

use super::rows::Rows;
use crate::error::Result;
use crate::schema::Schema;
use arrow_array::RecordBatch;
use columns::{ReferredColumn, resolve};

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
            if let Err(error) = column.read(row, rows) {
                rows.abandon_row();
                return Err(error);
            }
        }
        rows.finish_row();
        Ok(())
    }
}
