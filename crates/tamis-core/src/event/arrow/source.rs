//! Arrow data as a source of events.

use super::ArrowReader;
use crate::error::Error;
use crate::event::{EventSource, Rows};
use crate::schema::Schema;
use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use std::num::NonZeroUsize;

/// Rows of a portion per thread: what they occupy stays in the cache.
const ROWS_PER_THREAD: usize = 1024;

/// A portion has the rows of at least this many threads.
const LEAST_THREADS: usize = 8;

/// Why Arrow data cannot be read as events.
#[derive(Debug)]
pub enum ArrowSourceError {
    /// The stream itself failed.
    Arrow(ArrowError),
    /// A value has no meaning as an event's, or the index failed.
    Core(Error),
}

impl From<Error> for ArrowSourceError {
    fn from(error: Error) -> ArrowSourceError {
        ArrowSourceError::Core(error)
    }
}

impl From<ArrowError> for ArrowSourceError {
    fn from(error: ArrowError) -> ArrowSourceError {
        ArrowSourceError::Arrow(error)
    }
}

/// The rows of record batches.
pub struct ArrowSource {
    /// Batches that are not begun yet. A stream can be read once.
    batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>,
    /// Maximum rows per portion.
    portion_rows: usize,
    /// The batch that the current portion is a slice of; none before the first [`advance`](EventSource::advance).
    batch: Option<RecordBatch>,
    /// First row of `batch` behind the current portion.
    next_row: usize,
    /// The current portion. A reader prepares all rows of a batch, so slices hold only rows that are read next.
    portion: Vec<RecordBatch>,
    /// Rows in all portions before the current one.
    rows_before: usize,
}

impl ArrowSource {
    /// Reads at most [`ROWS_PER_THREAD`] rows per thread at a time, so that memory does not grow with the data. The first
    /// portion is empty: column types matter only where there are rows.
    pub fn in_portions(
        batches: impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'static,
        threads: Option<NonZeroUsize>,
    ) -> ArrowSource {
        let threads = threads.map_or(1, NonZeroUsize::get).max(LEAST_THREADS);
        ArrowSource {
            batches: Box::new(batches),
            portion_rows: ROWS_PER_THREAD * threads,
            batch: None,
            next_row: 0,
            portion: Vec::new(),
            rows_before: 0,
        }
    }

    /// Reads everything as one portion, for use that is all or nothing.
    pub fn whole(
        batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    ) -> Result<ArrowSource, ArrowSourceError> {
        let portion = batches.collect::<Result<_, _>>()?;
        Ok(ArrowSource { portion, ..ArrowSource::in_portions(std::iter::empty(), None) })
    }
}

impl EventSource for ArrowSource {
    type Error = ArrowSourceError;

    fn read(&mut self, schema: &Schema, rows: &mut Rows) -> Result<(), ArrowSourceError> {
        let mut first = self.rows_before;
        for batch in self.portion.iter().filter(|batch| batch.num_rows() > 0) {
            let reader = ArrowReader::new(batch, schema)?;
            for row in 0..reader.len() {
                let outcome = reader.read(row, rows);
                rows.accept(outcome, first + row)?;
            }
            first += batch.num_rows();
        }
        Ok(())
    }

    fn advance(&mut self) -> Result<bool, ArrowSourceError> {
        self.rows_before += self.portion.iter().map(RecordBatch::num_rows).sum::<usize>();
        self.portion.clear();
        loop {
            if let Some(batch) = &self.batch
                && self.next_row < batch.num_rows()
            {
                let length = self.portion_rows.min(batch.num_rows() - self.next_row);
                self.portion.push(batch.slice(self.next_row, length));
                self.next_row += length;
                return Ok(true);
            }
            match self.batches.next() {
                None => return Ok(false),
                Some(batch) => (self.batch, self.next_row) = (Some(batch?), 0),
            }
        }
    }
}
