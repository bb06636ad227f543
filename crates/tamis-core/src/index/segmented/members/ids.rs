//! The ids of a segment by local number, and the hash table that finds the number of an id.
//!
//! The table uses open addressing with linear probing. Its length is a power of two; a bucket holds a local number plus
//! one, or 0 if empty. The hash is part of the file format: for an integer the finalizer of splitmix64, for a string
//! xxh3-64; its lowest bits are the first bucket to probe.

use super::strings::{Strings, StringsBuilder, slice};
use crate::index::Id;
use crate::storage::{Array, Sections, SectionsWriter};
use smol_str::SmolStr;
use xxhash_rust::xxh3::xxh3_64;

/// Tags of the sections.
const KINDS: u32 = 1;
const INTS: u32 = 2;
const TEXTS: u32 = 3; // and 4
const TABLE: u32 = 5;

/// What `kinds` holds.
const INT: u8 = 0;
const TEXT: u8 = 1;

/// See the module's head. No access panics or loops forever, whatever a damaged file holds.
pub(in crate::index::segmented) struct Ids {
    /// By number: [`INT`] or [`TEXT`]; empty if all ids are of one kind.
    kinds: Array<u8>,
    /// By number, 0 for strings. Only the first if all ids are consecutive integers; empty if all are strings.
    ints: Array<i64>,
    /// By number, empty for integers. None at all if all ids are integers.
    texts: Strings,
    /// Local numbers plus one by the hash of their id; 0 is an empty bucket. At most two thirds are used.
    table: Array<u32>,
}

/// The arrays of [`Ids`] or [`IdsBuilder`].
#[derive(Clone, Copy)]
struct IdSlices<'a> {
    /// As [`Ids::kinds`].
    kinds: &'a [u8],
    /// As [`Ids::ints`].
    ints: &'a [i64],
    /// Bytes of the string ids.
    bytes: &'a [u8],
    /// Offsets of the string ids.
    offsets: &'a [u64],
}

impl<'a> IdSlices<'a> {
    fn is_text(&self, local: usize) -> bool {
        match self.kinds.get(local) {
            Some(kind) => *kind == TEXT,
            None => self.ints.is_empty(),
        }
    }

    fn int(&self, local: usize) -> i64 {
        match self.ints {
            [first] => first.wrapping_add(local as i64),
            all => all.get(local).copied().unwrap_or(0),
        }
    }

    fn is(&self, local: usize, id: &Id) -> bool {
        match id {
            Id::Int(id) => !self.is_text(local) && self.int(local) == *id,
            Id::Text(id) => self.is_text(local) && slice(self.bytes, self.offsets, local) == id.as_bytes(),
        }
    }

    fn hash(&self, local: usize) -> u64 {
        if self.is_text(local) {
            xxh3_64(slice(self.bytes, self.offsets, local))
        } else {
            mix(self.int(local))
        }
    }

    fn find(&self, table: &[u32], id: &Id) -> Option<u32> {
        let hash = match id {
            Id::Int(id) => mix(*id),
            Id::Text(id) => xxh3_64(id.as_bytes()),
        };
        // A damaged table may have no empty bucket, so each bucket is probed at most once.
        for step in 0..table.len() {
            let entry = table[bucket(hash, step, table.len())];
            let local = entry.checked_sub(1)?;
            if self.is(local as usize, id) {
                return Some(local);
            }
        }
        None
    }

    /// Inserts a number that is not in the table.
    fn insert(&self, table: &mut [u32], local: u32) {
        let hash = self.hash(local as usize);
        let length = table.len();
        let empty = (0..length).map(|step| bucket(hash, step, length)).find(|at| table[*at] == 0);
        if let Some(empty) = empty {
            table[empty] = local + 1;
        }
    }
}

fn bucket(hash: u64, step: usize, buckets: usize) -> usize {
    (hash as usize).wrapping_add(step) & (buckets - 1)
}

/// The finalizer of splitmix64.
fn mix(id: i64) -> u64 {
    let mut hash = id as u64;
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    hash ^ (hash >> 31)
}

impl Ids {
    fn slices(&self) -> IdSlices<'_> {
        let (bytes, offsets) = self.texts.arrays();
        IdSlices { kinds: &self.kinds, ints: &self.ints, bytes, offsets }
    }

    /// The local number of an id.
    pub fn find(&self, id: &Id) -> Option<u32> {
        self.slices().find(&self.table, id)
    }

    pub fn is_text(&self, local: usize) -> bool {
        self.slices().is_text(local)
    }

    /// Whether all are integers or all are strings.
    pub fn is_uniform(&self) -> bool {
        self.kinds.is_empty()
    }

    /// An id. In a damaged file a missing id is 0 or an empty string, and invalid UTF-8 is replaced.
    pub fn get(&self, local: usize) -> Id {
        if self.is_text(local) {
            Id::Text(SmolStr::new(String::from_utf8_lossy(self.texts.bytes(local))))
        } else {
            Id::Int(self.slices().int(local))
        }
    }

    /// Appends the ids of some numbers, all of them integers.
    pub fn extend_ints(&self, locals: &[u32], ints: &mut Vec<i64>) {
        match self.ints.as_slice() {
            [first] => ints.extend(locals.iter().map(|local| first.wrapping_add(i64::from(*local)))),
            all => ints.extend(locals.iter().map(|local| all.get(*local as usize).copied().unwrap_or(0))),
        }
    }

    pub fn text_bytes(&self, local: usize) -> &[u8] {
        self.texts.bytes(local)
    }

    pub fn memory(&self) -> usize {
        self.kinds.memory() + self.ints.memory() + self.texts.memory() + self.table.memory()
    }

    pub fn write(&self, out: &mut SectionsWriter<'_>) {
        out.put(KINDS, &self.kinds);
        out.put(INTS, &self.ints);
        self.texts.write(TEXTS, out);
        out.put(TABLE, &self.table);
    }

    pub fn open(len: usize, sections: &Sections) -> Result<Ids, String> {
        let texts = Strings::open(TEXTS, sections)?;
        let ids = Ids {
            kinds: sections.take(KINDS)?,
            ints: sections.take(INTS)?,
            texts,
            table: sections.take(TABLE)?,
        };
        let lengths = (ids.kinds.len(), ids.ints.len(), ids.texts.len());
        if ![(0, 1, 0), (0, len, 0), (0, 0, len), (len, len, len)].contains(&lengths) {
            return Err(format!("the ids of {len} members are {lengths:?} kinds, integers and strings"));
        }
        if !ids.table.len().is_power_of_two() || ids.table.len() <= len {
            return Err(format!("a table of {} buckets for {len} ids", ids.table.len()));
        }
        Ok(ids)
    }

    /// Every one of the first `len` numbers is found by its id, and nothing else is in the table.
    pub fn validate(&self, len: usize) -> Result<(), String> {
        self.texts.validate()?;
        if let Some(local) = (0..len).find(|local| self.find(&self.get(*local)) != Some(*local as u32)) {
            return Err(format!("ids: {} does not lead to its number", self.get(local)));
        }
        let held = self.table.iter().filter(|entry| **entry != 0).count();
        if held != len { Err(format!("ids: {held} numbers in the table of {len} members")) } else { Ok(()) }
    }
}

/// Appends ids one by one, each once.
pub(in crate::index::segmented) struct IdsBuilder {
    /// By number: [`INT`] or [`TEXT`].
    kinds: Vec<u8>,
    /// By number, 0 for strings.
    ints: Vec<i64>,
    /// By number, empty for integers.
    texts: StringsBuilder,
    /// Number of ids that are strings.
    text_count: usize,
    /// As [`Ids::table`].
    table: Vec<u32>,
}

impl IdsBuilder {
    pub fn new() -> IdsBuilder {
        IdsBuilder {
            kinds: Vec::new(),
            ints: Vec::new(),
            texts: StringsBuilder::new(),
            text_count: 0,
            table: vec![0; 2],
        }
    }

    fn slices(&self) -> IdSlices<'_> {
        IdSlices {
            kinds: &self.kinds,
            ints: &self.ints,
            bytes: &self.texts.bytes,
            offsets: &self.texts.offsets,
        }
    }

    pub fn contains(&self, id: &Id) -> bool {
        self.slices().find(&self.table, id).is_some()
    }

    /// Appends an id that is not there.
    pub fn push(&mut self, id: &Id) {
        let (kind, int, text) = match id {
            Id::Int(id) => (INT, *id, ""),
            Id::Text(id) => (TEXT, 0, id.as_str()),
        };
        self.kinds.push(kind);
        self.ints.push(int);
        self.texts.push(text);
        self.text_count += usize::from(kind == TEXT);
        // At most two thirds full.
        if self.kinds.len() * 3 > self.table.len() * 2 {
            self.table = self.filled_table(self.table.len() * 2);
        } else {
            let mut table = std::mem::take(&mut self.table);
            self.slices().insert(&mut table, self.kinds.len() as u32 - 1);
            self.table = table;
        }
    }

    fn filled_table(&self, buckets: usize) -> Vec<u32> {
        let mut table = vec![0; buckets];
        let slices = self.slices();
        (0..self.kinds.len() as u32).for_each(|local| slices.insert(&mut table, local));
        table
    }

    pub fn finish(mut self) -> Ids {
        let (ints, texts) =
            (self.text_count < self.kinds.len() || self.kinds.is_empty(), self.text_count > 0);
        if !texts && self.ints.is_sorted_by(|a, b| a.checked_add(1) == Some(*b)) {
            self.ints.truncate(1);
        }
        Ids {
            kinds: if ints && texts { self.kinds } else { Vec::new() }.into(),
            ints: if ints { self.ints } else { Vec::new() }.into(),
            texts: if texts { self.texts } else { StringsBuilder::new() }.finish(),
            table: self.table.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(ids: &[i64]) -> Ids {
        let mut builder = IdsBuilder::new();
        ids.iter().for_each(|id| builder.push(&Id::Int(*id)));
        builder.finish()
    }

    #[test]
    fn consecutive_integers_are_stored_as_the_first() {
        for (ids, stored) in [
            (&[][..], 0),
            (&[7], 1),
            (&[-1, 0, 1, 2], 1),
            (&[i64::MAX - 1, i64::MAX], 1),
            (&[i64::MAX, i64::MIN], 2),
            (&[3, 4, 6], 3),
            (&[2, 1], 2),
        ] {
            let built = built(ids);
            assert_eq!(built.ints.len(), stored);
            assert_eq!(built.validate(ids.len()), Ok(()));
            let locals: Vec<u32> = (0..ids.len() as u32).collect();
            let mut read = Vec::new();
            built.extend_ints(&locals, &mut read);
            assert_eq!(read, ids);
            assert!(locals.iter().all(|local| built.get(*local as usize) == Id::Int(ids[*local as usize])));
            assert_eq!(built.find(&Id::Int(i64::MIN + 1)), None);
        }
    }
}
