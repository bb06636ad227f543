//! The ids of matches, collected in the layout of [`IdColumn`].

use crate::index::segmented::members::Ids;
use crate::index::segmented::snapshot::{Location, Snapshot};
use crate::index::{Id, IdColumn};

/// An [`IdColumn`] being filled.
pub(super) enum IdColumnBuilder {
    /// The index has integer ids only.
    Ints(Vec<i64>),
    /// The index has string ids only. All bytes are checked to be UTF-8 at once, at the end.
    Texts { offsets: Vec<i64>, bytes: Vec<u8> },
    /// The index has both kinds.
    Mixed(Vec<Id>),
}

impl IdColumnBuilder {
    /// Empty. Its kind depends on the ids in the index, not on those that match.
    pub fn new(snapshot: &Snapshot) -> IdColumnBuilder {
        if snapshot.text_ids == 0 {
            IdColumnBuilder::Ints(Vec::new())
        } else if snapshot.text_ids == snapshot.len {
            IdColumnBuilder::Texts { offsets: vec![0], bytes: Vec::new() }
        } else {
            IdColumnBuilder::Mixed(Vec::new())
        }
    }

    /// Number of ids.
    pub fn len(&self) -> usize {
        match self {
            IdColumnBuilder::Ints(ids) => ids.len(),
            IdColumnBuilder::Texts { offsets, .. } => offsets.len() - 1,
            IdColumnBuilder::Mixed(ids) => ids.len(),
        }
    }

    /// Appends the ids of members of one segment.
    pub fn extend(&mut self, ids: &Ids, locals: &[u32]) {
        match self {
            IdColumnBuilder::Ints(column) => ids.extend_ints(locals, column),
            IdColumnBuilder::Texts { offsets, bytes } => {
                for local in locals {
                    bytes.extend_from_slice(ids.text_bytes(*local as usize));
                    offsets.push(bytes.len() as i64);
                }
            }
            IdColumnBuilder::Mixed(column) => {
                column.extend(locals.iter().map(|local| ids.get(*local as usize)))
            }
        }
    }

    /// Appends one id.
    pub fn push(&mut self, snapshot: &Snapshot, location: Location) {
        if let Location::Segment(at, local) = location {
            return self.extend(&snapshot.segments[at].segment.ids, &[local]);
        }
        match (self, snapshot.id(location)) {
            (IdColumnBuilder::Ints(column), Id::Int(id)) => column.push(id),
            (IdColumnBuilder::Texts { offsets, bytes }, Id::Text(id)) => {
                bytes.extend_from_slice(id.as_bytes());
                offsets.push(bytes.len() as i64);
            }
            (IdColumnBuilder::Mixed(column), id) => column.push(id),
            // Unreachable: `new` chose the kind by the ids of this snapshot.
            (IdColumnBuilder::Ints(_) | IdColumnBuilder::Texts { .. }, _) => {}
        }
    }

    pub fn finish(self) -> IdColumn {
        match self {
            IdColumnBuilder::Ints(ids) => IdColumn::Ints(ids),
            IdColumnBuilder::Mixed(ids) => IdColumn::Mixed(ids),
            IdColumnBuilder::Texts { offsets, bytes } => match String::from_utf8(bytes) {
                Ok(text) => IdColumn::Texts { offsets, text },
                // Only a damaged file has invalid UTF-8. Replacement characters have other lengths, so offsets change.
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
