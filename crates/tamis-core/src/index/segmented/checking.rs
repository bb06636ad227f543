//! Does everything fit together? For tests.

use super::snapshot::Snapshot;
use crate::index::Id;
use rustc_hash::FxHashSet;

impl Snapshot {
    /// Checks every invariant; the error names the broken one.
    pub fn validate(&self) -> Result<(), String> {
        for part in &self.parts {
            part.segment.validate()?;
            part.dead.validate(part.segment.len())?;
            if part.live() == 0 {
                return Err("snapshot: a segment without live members".into());
            }
        }
        let (mut ids, mut sequences) = (FxHashSet::default(), FxHashSet::default());
        let mut text_ids = 0;
        for place in self.places() {
            let (id, sequence) = (self.id(place), self.sequence(place));
            if self.find(&id) != Some(place) {
                return Err(format!("snapshot: {id} is at {place:?}, but found at {:?}", self.find(&id)));
            }
            if sequence >= self.next_sequence || !sequences.insert(sequence) {
                return Err(format!("snapshot: {id} has the place {sequence} in the order of insertion"));
            }
            text_ids += usize::from(matches!(id, Id::Text(_)));
            if !ids.insert(id) {
                return Err(format!("snapshot: the id at {place:?} is live twice"));
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
