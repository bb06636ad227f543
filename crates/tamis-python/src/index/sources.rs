//! Matching the events of any source.

use super::NativeIndex;
use crate::interruption::Length;
use pyo3::Python;
use std::num::NonZeroUsize;
use tamis_core::event::{BadEvent, EventSource};
use tamis_core::index::Matches;

impl NativeIndex {
    /// The matches of all events, and the events that cannot be read; `strict` makes the first of these an error.
    pub(super) fn match_source<S: EventSource>(
        &self,
        source: &mut S,
        threads: Option<NonZeroUsize>,
        ordered: bool,
        strict: bool,
    ) -> Result<(Matches, Vec<BadEvent>), S::Error> {
        if strict {
            return Ok((self.index.match_events(source, threads, ordered)?, Vec::new()));
        }
        self.index.match_readable_events(source, threads, ordered)
    }

    /// How long matching takes; `None` if the number of events is not known.
    pub(super) fn length(&self, py: Python<'_>, events: Option<usize>) -> Length {
        Length::of_matching(events, py.detach(|| self.index.len()), self.index.engine_name())
    }
}
