//! Multi-attribute hash tables: the values of several attributes together lead to a cluster list.
//!
//! A table has a schema, two to four attributes. Its keys are the equalities of an access predicate, one per attribute of
//! the schema, as numbers of predicates: dense numbers, which nobody chooses.
//!
//! Invariants: no entry has an empty cluster list; a table is listed under the first attribute of its schema.

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;
use tamis_core::AttrId;
use tamis_core::engine::shared::list_pool::{ListRef, shrink};

/// Maximum attributes of a schema.
pub(super) const MAX_SCHEMA: usize = 4;

/// Attributes in ascending order, then [`NONE`].
pub(super) type Schema = [u32; MAX_SCHEMA];
/// Equalities in the order of the schema, then [`NONE`].
pub(super) type AccessKey = [u32; MAX_SCHEMA];

/// No attribute, or no predicate.
pub(super) const NONE: u32 = u32::MAX;

/// A cluster list and the number of its rows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AccessEntry {
    pub clusters: ListRef,
    pub rows: u32,
}

/// The attributes of a schema.
pub(super) fn attributes(schema: &Schema) -> impl Iterator<Item = AttrId> + '_ {
    schema.iter().take_while(|attribute| **attribute != NONE).map(|attribute| AttrId(*attribute))
}

/// A table of one schema.
#[derive(Debug)]
pub(super) struct SchemaTable {
    pub schema: Schema,
    /// Numbers of entries by the hash of the key.
    table: HashTable<u32>,
    /// By number.
    entries: Vec<(AccessKey, AccessEntry)>,
    /// Free numbers.
    free: Vec<u32>,
}

impl SchemaTable {
    fn new(schema: Schema) -> SchemaTable {
        SchemaTable { schema, table: HashTable::new(), entries: Vec::new(), free: Vec::new() }
    }

    pub fn find(&self, key: &AccessKey) -> Option<u32> {
        let hash = FxBuildHasher.hash_one(key);
        self.table.find(hash, |at| self.entries[*at as usize].0 == *key).copied()
    }

    /// The entry with a key, which the caller is about to extend.
    pub fn find_or_add(&mut self, key: &AccessKey) -> u32 {
        self.find(key).unwrap_or_else(|| {
            let entry = (*key, AccessEntry::default());
            let at = match self.free.pop() {
                Some(at) => {
                    self.entries[at as usize] = entry;
                    at
                }
                None => {
                    self.entries.push(entry);
                    self.entries.len() as u32 - 1
                }
            };
            let entries = &self.entries;
            let hash = |at: &u32| FxBuildHasher.hash_one(entries[*at as usize].0);
            self.table.insert_unique(FxBuildHasher.hash_one(key), at, hash);
            at
        })
    }

    pub fn entry(&self, at: u32) -> &(AccessKey, AccessEntry) {
        &self.entries[at as usize]
    }

    pub fn entry_mut(&mut self, at: u32) -> &mut AccessEntry {
        &mut self.entries[at as usize].1
    }

    /// Frees an entry without rows.
    pub fn remove(&mut self, at: u32) {
        let hash = FxBuildHasher.hash_one(self.entries[at as usize].0);
        if let Ok(found) = self.table.find_entry(hash, |other| *other == at) {
            found.remove();
        }
        self.entries[at as usize] = ([NONE; MAX_SCHEMA], AccessEntry::default());
        self.free.push(at);
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Every entry.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &(AccessKey, AccessEntry))> {
        (0..).zip(&self.entries).filter(|(_, (key, _))| key[0] != NONE)
    }

    pub fn lists_mut(&mut self) -> impl Iterator<Item = &mut ListRef> {
        self.entries.iter_mut().map(|(_, entry)| &mut entry.clusters)
    }

    fn memory(&self) -> usize {
        self.table.allocation_size()
            + self.entries.capacity() * size_of::<(AccessKey, AccessEntry)>()
            + self.free.capacity() * size_of::<u32>()
    }
}

/// The hashing configuration: all tables.
#[derive(Debug, Default)]
pub(super) struct HashTables {
    /// By number; `None` if the number is free.
    tables: Vec<Option<SchemaTable>>,
    /// By attribute: the tables whose schema begins with it.
    by_first: Vec<Vec<u32>>,
}

impl HashTables {
    pub fn get(&self, at: u32) -> &SchemaTable {
        match &self.tables[at as usize] {
            Some(table) => table,
            None => unreachable!("hash table {at} is in use"),
        }
    }

    pub fn get_mut(&mut self, at: u32) -> &mut SchemaTable {
        match &mut self.tables[at as usize] {
            Some(table) => table,
            None => unreachable!("hash table {at} is in use"),
        }
    }

    /// The tables whose schema begins with an attribute.
    #[inline]
    pub fn beginning_with(&self, attribute: AttrId) -> &[u32] {
        self.by_first.get(attribute.index()).map_or(&[], Vec::as_slice)
    }

    /// Adds a table.
    pub fn create(&mut self, schema: Schema) {
        let table = Some(SchemaTable::new(schema));
        let at = match self.tables.iter().position(Option::is_none) {
            Some(at) => {
                self.tables[at] = table;
                at
            }
            None => {
                self.tables.push(table);
                self.tables.len() - 1
            }
        };
        let first = schema[0] as usize;
        if self.by_first.len() <= first {
            self.by_first.resize_with(first + 1, Vec::new);
        }
        self.by_first[first].push(at as u32);
    }

    /// Removes a table without entries.
    pub fn drop_table(&mut self, at: u32) {
        if let Some(table) = self.tables[at as usize].take() {
            self.by_first[table.schema[0] as usize].retain(|other| *other != at);
        }
    }

    /// Whether there is a table with a schema.
    pub fn has(&self, schema: &Schema) -> bool {
        self.beginning_with(AttrId(schema[0])).iter().any(|at| self.get(*at).schema == *schema)
    }

    /// Every table.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &SchemaTable)> {
        (0..).zip(&self.tables).filter_map(|(at, table)| Some((at, table.as_ref()?)))
    }

    /// The cluster lists of all tables.
    pub fn lists_mut(&mut self) -> impl Iterator<Item = &mut ListRef> {
        self.tables.iter_mut().flatten().flat_map(SchemaTable::lists_mut)
    }

    /// Number of tables.
    pub fn len(&self) -> usize {
        self.tables.iter().flatten().count()
    }

    /// Frees memory reserved for growth.
    pub fn defragment(&mut self) {
        self.tables.iter_mut().flatten().for_each(|table| shrink(&mut table.entries));
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        self.tables.capacity() * size_of::<Option<SchemaTable>>()
            + self.tables.iter().flatten().map(SchemaTable::memory).sum::<usize>()
            + self.by_first.capacity() * size_of::<Vec<u32>>()
            + self.by_first.iter().map(|tables| tables.capacity() * size_of::<u32>()).sum::<usize>()
    }
}
