//! The ids of a segment by local number, and the hash table that finds the number of an id.
//!
//! The table uses open addressing with linear probing. Its length is a power of two; a bucket holds a local number plus
//! one, or 0 if empty. The hash is part of the file format: for an integer the finalizer of splitmix64, for a string
//! xxh3-64; its lowest bits are the first bucket to probe.
//!
//! That hash is known, so ids can be chosen that share a bucket. The table is therefore filled in the order of the buckets,
//! which takes one pass whatever the ids are; a builder looks ids up in a table with a keyed hash; and a lookup that needs
//! more than [`MAX_PROBES`] probes makes such a table of all ids, once.

use super::strings::{Strings, StringsBuilder, slice};
use crate::engine::shared::keyed_hash::keyed_hash;
use crate::index::Id;
use crate::index::sync::Inside;
use crate::storage::{Array, Sections, SectionsWriter};
use hashbrown::HashTable;
use smol_str::SmolStr;
use std::sync::OnceLock;
use xxhash_rust::xxh3::xxh3_64;

/// Tags of the sections.
const KINDS: u32 = 1;
const INTS: u32 = 2;
const TEXTS: u32 = 3; // and 4
const TABLE: u32 = 5;

/// What `kinds` holds.
const INT: u8 = 0;
const TEXT: u8 = 1;

/// Maximum probes of a lookup. With random hashes a table of a billion ids, two thirds full, needs about 300.
const MAX_PROBES: usize = 1_024;

/// See the module's head. No access panics or loops forever, whatever a damaged file holds.
pub(in crate::index::segmented) struct Ids {
    /// Number of ids.
    len: usize,
    /// By number: [`INT`] or [`TEXT`]; empty if all ids are of one kind.
    kinds: Array<u8>,
    /// By number, 0 for strings. Only the first if all ids are consecutive integers; empty if all are strings.
    ints: Array<i64>,
    /// By number, empty for integers. None at all if all ids are integers.
    texts: Strings,
    /// Local numbers plus one by the hash of their id; 0 is an empty bucket. At most two thirds are used.
    table: Array<u32>,
    /// Local numbers by the keyed hash of their id; made when a lookup in `table` takes too long.
    by_keyed_hash: OnceLock<HashTable<u32>>,
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

    /// As [`keyed`], for a number.
    fn keyed(&self, local: usize) -> u64 {
        if self.is_text(local) {
            keyed_hash(slice(self.bytes, self.offsets, local))
        } else {
            keyed_hash(&self.int(local))
        }
    }

    /// The number of an id in a table with a keyed hash.
    fn find_keyed(&self, table: &HashTable<u32>, id: &Id) -> Option<u32> {
        table.find(keyed(id), |local| self.is(*local as usize, id)).copied()
    }

    /// The number of an id; an error if that takes too many probes.
    fn find(&self, table: &[u32], id: &Id) -> Result<Option<u32>, TooManyProbes> {
        let hash = match id {
            Id::Int(id) => mix(*id),
            Id::Text(id) => xxh3_64(id.as_bytes()),
        };
        // A damaged table may have no empty bucket, so each bucket is probed at most once.
        for step in 0..table.len().min(MAX_PROBES) {
            let entry = table[(hash as usize).wrapping_add(step) & (table.len() - 1)];
            let Some(local) = entry.checked_sub(1) else { return Ok(None) };
            if self.is(local as usize, id) {
                return Ok(Some(local));
            }
        }
        if table.len() > MAX_PROBES { Err(TooManyProbes) } else { Ok(None) }
    }

    /// The table of the first `len` numbers.
    fn table(&self, len: usize) -> Vec<u32> {
        let mut buckets = 2;
        // At most two thirds full.
        while len * 3 > buckets * 2 {
            buckets *= 2;
        }
        let home = |local: u32| (self.hash(local as usize) as usize & (buckets - 1), local);
        let mut homes: Vec<(usize, u32)> = (0..len as u32).map(home).collect();
        homes.sort_unstable();
        // The last numbers may have no room behind their bucket; they go to the first buckets, which move the others.
        let end = |first: usize| homes.iter().fold(first, |next, (home, _)| next.max(*home) + 1);
        let mut wrapped = 0;
        while end(wrapped).saturating_sub(buckets) > wrapped {
            wrapped = end(wrapped) - buckets;
        }
        let (mut table, mut next) = (vec![0; buckets], wrapped);
        for (home, local) in homes {
            next = next.max(home) + 1;
            table[(next - 1) % buckets] = local + 1;
        }
        table
    }
}

/// A lookup has taken more than [`MAX_PROBES`] probes.
struct TooManyProbes;

/// The keyed hash of an id.
fn keyed(id: &Id) -> u64 {
    match id {
        Id::Int(id) => keyed_hash(id),
        Id::Text(id) => keyed_hash(id.as_bytes()),
    }
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
        if let Some(table) = self.by_keyed_hash.get() {
            return self.slices().find_keyed(table, id);
        }
        self.slices().find(&self.table, id).unwrap_or_else(|TooManyProbes| {
            // A fork waits for threads that are inside: no child inherits a table that is half made.
            let _inside = Inside::enter();
            let table = self.by_keyed_hash.get_or_init(|| self.keyed_table());
            self.slices().find_keyed(table, id)
        })
    }

    fn keyed_table(&self) -> HashTable<u32> {
        let slices = self.slices();
        let hash = |local: &u32| slices.keyed(*local as usize);
        let mut table = HashTable::with_capacity(self.len);
        for local in 0..self.len as u32 {
            // Only a damaged file has an id twice.
            if slices.find_keyed(&table, &self.get(local as usize)).is_none() {
                table.insert_unique(hash(&local), local, hash);
            }
        }
        table
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
        let keyed = self.by_keyed_hash.get().map_or(0, HashTable::allocation_size);
        self.kinds.memory() + self.ints.memory() + self.texts.memory() + self.table.memory() + keyed
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
            len,
            kinds: sections.take(KINDS)?,
            ints: sections.take(INTS)?,
            texts,
            table: sections.take(TABLE)?,
            by_keyed_hash: OnceLock::new(),
        };
        let lengths = (ids.kinds.len(), ids.ints.len(), ids.texts.len());
        if ![(0, 1, 0), (0, len, 0), (0, 0, len), (len, len, len)].contains(&lengths) {
            return Err(format!("the ids of {len} members are {lengths:?} kinds, integers and strings"));
        }
        if !ids.table.len().is_power_of_two() || ids.table.len() <= len {
            return Err(format!("a table of {} buckets for {len} ids", ids.table.len()));
        }
        if ids.table.iter().any(|entry| *entry as usize > len) {
            return Err(format!("a number in the table of {len} ids is too large"));
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
    /// Local numbers by the keyed hash of their id.
    table: HashTable<u32>,
}

impl IdsBuilder {
    pub fn new() -> IdsBuilder {
        IdsBuilder {
            kinds: Vec::new(),
            ints: Vec::new(),
            texts: StringsBuilder::new(),
            text_count: 0,
            table: HashTable::new(),
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
        self.slices().find_keyed(&self.table, id).is_some()
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
        let mut table = std::mem::take(&mut self.table);
        let slices = self.slices();
        table.insert_unique(keyed(id), self.kinds.len() as u32 - 1, |local| slices.keyed(*local as usize));
        self.table = table;
    }

    pub fn finish(mut self) -> Ids {
        let len = self.kinds.len();
        let table = self.slices().table(len);
        let (ints, texts) = (self.text_count < len || len == 0, self.text_count > 0);
        if !texts && self.ints.is_sorted_by(|a, b| a.checked_add(1) == Some(*b)) {
            self.ints.truncate(1);
        }
        Ids {
            len,
            kinds: if ints && texts { self.kinds } else { Vec::new() }.into(),
            ints: if ints { self.ints } else { Vec::new() }.into(),
            texts: if texts { self.texts } else { StringsBuilder::new() }.finish(),
            table: table.into(),
            by_keyed_hash: OnceLock::new(),
        }
    }
}

#[cfg(test)]
mod tests;
