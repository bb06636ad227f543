//! The invariants of a snapshot, for tests.

use super::Snapshot;
use crate::engine::shared::keyed_hash::KeyedSet;
use crate::index::Id;
use rustc_hash::FxHashSet;

impl Snapshot {
    /// Checks every invariant; the error names the broken one.
    pub fn validate(&self) -> Result<(), String> {
        for live in &self.segments {
            live.segment.validate()?;
            live.tombstones.validate(live.segment.len())?;
            if live.live() == 0 {
                return Err("snapshot: a segment without live members".into());
            }
        }
        let (mut ids, mut sequences) = (KeyedSet::default(), FxHashSet::default());
        let mut text_ids = 0;
        for location in self.locations() {
            let (id, sequence) = (self.id(location), self.sequence(location));
            if self.find(&id) != Some(location) {
                return Err(format!("snapshot: {id} is at {location:?}, but found at {:?}", self.find(&id)));
            }
            if sequence >= self.next_sequence || !sequences.insert(sequence) {
                return Err(format!("snapshot: {id} has position {sequence} in insertion order"));
            }
            text_ids += usize::from(matches!(id, Id::Text(_)));
            if !ids.insert(id) {
                return Err(format!("snapshot: the id at {location:?} is live twice"));
            }
        }
        if (ids.len(), text_ids) != (self.len, self.text_ids) {
            let (len, texts) = (self.len, self.text_ids);
            return Err(format!(
                "snapshot: {} ids, {text_ids} of them strings, counted as {len} and {texts}",
                ids.len()
            ));
        }
        Ok(())
    }
}
