//! What matching returns.

use crate::index::IdColumn;

/// The schema gained attributes since the events were read, which left those out: the events have to be read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stale;

/// The matches of many events, in the layout of an Arrow list array.
#[derive(Clone, Debug)]
pub struct Matches {
    /// Event `i` matched `ids[offsets[i]..offsets[i + 1]]`; `offsets[0]` is 0.
    pub offsets: Vec<i64>,
    /// The ids of all events, concatenated.
    pub ids: IdColumn,
}

impl Default for Matches {
    fn default() -> Matches {
        Matches { offsets: vec![0], ids: IdColumn::default() }
    }
}

impl Matches {
    /// Number of events.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends the matches of further events.
    pub fn append(&mut self, other: Matches) {
        let base = self.ids.len() as i64;
        self.offsets.extend(other.offsets.iter().skip(1).map(|offset| base + offset));
        self.ids.append(other.ids);
    }
}
