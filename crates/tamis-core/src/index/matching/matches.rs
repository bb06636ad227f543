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

    /// Removes the matches of some events, in ascending order: those that could not be read match nothing, although rules such
    /// as `TRUE` accept the empty event that stands for them.
    pub fn clear_events(&mut self, events: impl Iterator<Item = usize>) {
        let mut removed = vec![false; self.len()];
        events.for_each(|event| removed[event] = true);
        let ends = |event: usize| self.offsets[event] as usize..self.offsets[event + 1] as usize;
        if (0..self.len()).all(|event| !removed[event] || ends(event).is_empty()) {
            return;
        }
        let (mut kept, mut offsets) = (Vec::with_capacity(self.len()), vec![0]);
        for event in 0..self.len() {
            let range = if removed[event] { 0..0 } else { ends(event) };
            offsets.push(offsets[event] + range.len() as i64);
            kept.push(range);
        }
        self.ids = self.ids.ranges(kept.into_iter());
        self.offsets = offsets;
    }

    /// Appends the matches of further events.
    pub fn append(&mut self, other: Matches) {
        let base = self.ids.len() as i64;
        self.offsets.extend(other.offsets.iter().skip(1).map(|offset| base + offset));
        self.ids.append(other.ids);
    }
}
