//! The ids users give to their subscriptions.

use crate::value::heap_of;
use smol_str::SmolStr;
use std::fmt;
use std::ops::Range;

/// A string or a 64-bit integer; `1` and `"1"` are different ids.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Id {
    /// An integer.
    Int(i64),
    /// A string.
    Text(SmolStr),
}

impl Id {
    /// Bytes on the heap.
    pub(crate) fn heap(&self) -> usize {
        if let Id::Text(id) = self { heap_of(id) } else { 0 }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Id::Int(id) => write!(f, "{id}"),
            Id::Text(id) => write!(f, "'{id}'"),
        }
    }
}

impl From<i64> for Id {
    fn from(id: i64) -> Id {
        Id::Int(id)
    }
}

impl From<&str> for Id {
    fn from(id: &str) -> Id {
        Id::Text(id.into())
    }
}

/// Many ids in the layout Arrow uses, so that they leave without a copy.
#[derive(Clone, Debug)]
pub enum IdColumn {
    /// All ids of the index are integers.
    Ints(Vec<i64>),
    /// All ids of the index are strings: one text, and where each begins (one more offset than ids).
    Texts {
        /// Begins with 0, ends with the text's length.
        offsets: Vec<i64>,
        /// All ids, one after another.
        text: String,
    },
    /// Both occur.
    Mixed(Vec<Id>),
}

impl IdColumn {
    /// Number of ids.
    pub fn len(&self) -> usize {
        match self {
            IdColumn::Ints(ids) => ids.len(),
            IdColumn::Texts { offsets, .. } => offsets.len() - 1,
            IdColumn::Mixed(ids) => ids.len(),
        }
    }

    /// Whether there is no id.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One id.
    pub fn get(&self, at: usize) -> Id {
        match self {
            IdColumn::Ints(ids) => Id::Int(ids[at]),
            IdColumn::Texts { offsets, text } => {
                Id::Text(text[offsets[at] as usize..offsets[at + 1] as usize].into())
            }
            IdColumn::Mixed(ids) => ids[at].clone(),
        }
    }

    /// All ids.
    pub fn iter(&self) -> impl Iterator<Item = Id> + '_ {
        (0..self.len()).map(|at| self.get(at))
    }

    /// All ids, as a vector.
    pub fn to_vec(&self) -> Vec<Id> {
        self.iter().collect()
    }

    /// The ids of some ranges, in ascending order.
    pub(super) fn ranges(&self, ranges: impl Iterator<Item = Range<usize>>) -> IdColumn {
        match self {
            IdColumn::Ints(ids) => IdColumn::Ints(ranges.flat_map(|range| &ids[range]).copied().collect()),
            IdColumn::Mixed(ids) => IdColumn::Mixed(ranges.flat_map(|range| &ids[range]).cloned().collect()),
            IdColumn::Texts { offsets, text } => {
                let (mut kept, mut kept_offsets) = (String::new(), vec![0]);
                for at in ranges.flatten() {
                    kept.push_str(&text[offsets[at] as usize..offsets[at + 1] as usize]);
                    kept_offsets.push(kept.len() as i64);
                }
                IdColumn::Texts { offsets: kept_offsets, text: kept }
            }
        }
    }

    /// Appends the ids of another column; where the kinds differ, the result is mixed.
    pub fn append(&mut self, other: IdColumn) {
        match (&mut *self, other) {
            (_, other) if other.is_empty() => {}
            (column, other) if column.is_empty() => *column = other,
            (IdColumn::Ints(ids), IdColumn::Ints(more)) => ids.extend(more),
            (IdColumn::Texts { offsets, text }, IdColumn::Texts { offsets: more, text: tail }) => {
                let base = text.len() as i64;
                text.push_str(&tail);
                offsets.extend(more.iter().skip(1).map(|offset| base + offset));
            }
            (column, other) => {
                *column = IdColumn::Mixed(column.iter().chain(other.iter()).collect());
            }
        }
    }
}

impl PartialEq for IdColumn {
    fn eq(&self, other: &IdColumn) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: AsRef<[Id]>> PartialEq<T> for IdColumn {
    fn eq(&self, other: &T) -> bool {
        self.iter().eq(other.as_ref().iter().cloned())
    }
}

impl Default for IdColumn {
    fn default() -> IdColumn {
        IdColumn::Ints(Vec::new())
    }
}
