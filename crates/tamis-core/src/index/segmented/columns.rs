//! Ids on their way out, in the layout of [`IdColumn`].

use super::ids::Ids;
use super::snapshot::{Place, Snapshot};
use crate::index::{Id, IdColumn};

/// Ids of one kind as long as the index has only that. Bytes become a string at the end, all at once.
pub(super) enum Column {
    Ints(Vec<i64>),
    Texts { offsets: Vec<i64>, bytes: Vec<u8> },
    Mixed(Vec<Id>),
}

impl Column {
    /// Empty; the kind depends on what the index holds, not on what matches.
    pub fn new(snapshot: &Snapshot) -> Column {
        if snapshot.text_ids == 0 {
            Column::Ints(Vec::new())
        } else if snapshot.text_ids == snapshot.len {
            Column::Texts { offsets: vec![0], bytes: Vec::new() }
        } else {
            Column::Mixed(Vec::new())
        }
    }

    /// Number of ids.
    pub fn len(&self) -> usize {
        match self {
            Column::Ints(ids) => ids.len(),
            Column::Texts { offsets, .. } => offsets.len() - 1,
            Column::Mixed(ids) => ids.len(),
        }
    }

    /// Appends the ids of members of one segment.
    pub fn extend(&mut self, ids: &Ids, locals: &[u32]) {
        match self {
            Column::Ints(column) => ids.extend_ints(locals, column),
            Column::Texts { offsets, bytes } => {
                for local in locals {
                    bytes.extend_from_slice(ids.text_bytes(*local as usize));
                    offsets.push(bytes.len() as i64);
                }
            }
            Column::Mixed(column) => column.extend(locals.iter().map(|local| ids.get(*local as usize))),
        }
    }

    pub fn push(&mut self, snapshot: &Snapshot, place: Place) {
        if let Place::Part(part, local) = place {
            return self.extend(&snapshot.parts[part].segment.ids, &[local]);
        }
        match (self, snapshot.id(place)) {
            (Column::Ints(column), Id::Int(id)) => column.push(id),
            (Column::Texts { offsets, bytes }, Id::Text(id)) => {
                bytes.extend_from_slice(id.as_bytes());
                offsets.push(bytes.len() as i64);
            }
            (Column::Mixed(column), id) => column.push(id),
            // Not with the kind that `new` chose for this snapshot.
            (Column::Ints(_) | Column::Texts { .. }, _) => {}
        }
    }

    pub fn finish(self) -> IdColumn {
        match self {
            Column::Ints(ids) => IdColumn::Ints(ids),
            Column::Mixed(ids) => IdColumn::Mixed(ids),
            Column::Texts { offsets, bytes } => match String::from_utf8(bytes) {
                Ok(text) => IdColumn::Texts { offsets, text },
                // Only a damaged file has such ids. Replaced characters have other lengths.
                Err(error) => {
                    let bytes = error.as_bytes();
                    let id = |ends: &[i64]| {
                        let id = String::from_utf8_lossy(&bytes[ends[0] as usize..ends[1] as usize]);
                        Id::from(&*id)
                    };
                    IdColumn::Mixed(offsets.windows(2).map(id).collect())
                }
            },
        }
    }
}
