//! One way to read events, whatever they are made of.

use super::Rows;
use crate::error::Error;
use crate::schema::Schema;

/// Events that can be read into [`Rows`]: mappings of a host language, JSON or Arrow data.
///
/// A source has one portion or several. It starts at its first portion; [`advance`](EventSource::advance) moves to the
/// next. The index reads a portion with the schema it has pinned and, if a later update added attributes before the
/// rows were used, reads the same portion again.
pub trait EventSource {
    /// The error of reading. Errors of the index become one, too.
    type Error: From<Error>;

    /// Appends the events of the current portion to `rows`, which are empty. An error that concerns one of many events
    /// names its row, counted over all portions.
    fn read(&mut self, schema: &Schema, rows: &mut Rows) -> Result<(), Self::Error>;

    /// Moves to the next portion; `false` if the current one was the last.
    fn advance(&mut self) -> Result<bool, Self::Error> {
        Ok(false)
    }

    /// Runs work that may block or take long and does not need the source. A source that can only be read while a lock of
    /// its host is held (Python's interpreter lock) releases that lock for the duration.
    fn unlocked<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        work()
    }
}
