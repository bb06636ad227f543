//! Each distinct predicate once, counted: expressions that share predicates share the work on them.
//!
//! | file or folder | question it answers |
//! | --- | --- |
//! | `matching` | which predicates does an event satisfy? |
//! | `event_bitmap` | which predicates or nodes has an event satisfied so far? |
//!
//! Invariant: a predicate in use is found in the hash table under its own number; free numbers have no predicate.

mod event_bitmap;
mod matching;

pub use event_bitmap::EventBitmap;
pub use matching::{LeafCounts, PredicateKey, PredicateMatching, PredicateScratch};

use crate::engine::shared::keyed_hash::keyed_hash;
use crate::engine::shared::list_pool::shrink;
use crate::expr::Predicate;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as TableEntry;

/// A distinct predicate. Numbers of released ones are used again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PredId(pub u32);

impl PredId {
    /// As a position in an array with one element per predicate.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Debug)]
struct CountedPredicate {
    /// `None` if the number is free.
    predicate: Option<Predicate>,
    /// Number of uses; 0 if the number is free.
    uses: u32,
}

/// All predicates in use.
#[derive(Debug, Default)]
pub struct Predicates {
    /// By number.
    entries: Vec<CountedPredicate>,
    /// Free numbers.
    free: Vec<PredId>,
    /// Numbers by the hash of the predicate.
    table: HashTable<PredId>,
}

impl Predicates {
    /// The number of a predicate; counts one use.
    pub fn acquire(&mut self, predicate: Predicate) -> PredId {
        let entries = &mut self.entries;
        let found = self.table.entry(
            keyed_hash(&predicate),
            |id| entries[id.index()].predicate.as_ref() == Some(&predicate),
            |id| entries[id.index()].predicate.as_ref().map_or(0, keyed_hash),
        );
        match found {
            TableEntry::Occupied(occupied) => {
                let id = *occupied.get();
                entries[id.index()].uses += 1;
                id
            }
            TableEntry::Vacant(vacant) => {
                let entry = CountedPredicate { predicate: Some(predicate), uses: 1 };
                let id = match self.free.pop() {
                    Some(id) => {
                        entries[id.index()] = entry;
                        id
                    }
                    None => {
                        entries.push(entry);
                        PredId(entries.len() as u32 - 1)
                    }
                };
                vacant.insert(id);
                id
            }
        }
    }

    /// As [`Predicates::acquire`], for a predicate that is cloned only if it is not in use.
    pub fn acquire_ref(&mut self, predicate: &Predicate) -> PredId {
        match self.find(predicate) {
            Some(id) => {
                self.entries[id.index()].uses += 1;
                id
            }
            None => self.acquire(predicate.clone()),
        }
    }

    /// Counts one more use of a predicate that is in use.
    pub fn acquire_again(&mut self, id: PredId) {
        self.entries[id.index()].uses += 1;
    }

    /// The number of a predicate that is in use.
    pub fn find(&self, predicate: &Predicate) -> Option<PredId> {
        let same = |id: &PredId| self.entries[id.index()].predicate.as_ref() == Some(predicate);
        self.table.find(keyed_hash(predicate), same).copied()
    }

    /// Counts one use less; after the last, the number is free.
    pub fn release(&mut self, id: PredId) {
        let entry = &mut self.entries[id.index()];
        entry.uses -= 1;
        if entry.uses > 0 {
            return;
        }
        if let Some(predicate) = entry.predicate.take()
            && let Ok(found) = self.table.find_entry(keyed_hash(&predicate), |other| *other == id)
        {
            found.remove();
        }
        self.free.push(id);
    }

    /// The predicate with this number, which is in use.
    #[inline]
    pub fn get(&self, id: PredId) -> &Predicate {
        match &self.entries[id.index()].predicate {
            Some(predicate) => predicate,
            None => unreachable!("predicate {id:?} is in use"),
        }
    }

    /// Number of uses; 0 if the number is free.
    pub fn uses(&self, id: PredId) -> u32 {
        self.entries[id.index()].uses
    }

    /// Number of distinct predicates.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Whether there is no predicate.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One more than the greatest number in use.
    pub fn bound(&self) -> usize {
        self.entries.len()
    }

    /// Every number in use, in ascending order.
    pub fn ids(&self) -> impl Iterator<Item = PredId> + '_ {
        (0..).map(PredId).zip(&self.entries).filter(|(_, entry)| entry.uses > 0).map(|(id, _)| id)
    }

    /// Checks that every predicate is found under its number.
    pub fn validate(&self) -> Result<(), String> {
        for (at, entry) in self.entries.iter().enumerate() {
            let Some(predicate) = &entry.predicate else { continue };
            let found = self.table.find(keyed_hash(predicate), |id| {
                self.entries[id.index()].predicate.as_ref() == Some(predicate)
            });
            if found != Some(&PredId(at as u32)) || entry.uses == 0 {
                return Err(format!("predicates: number {at} is not found, or not used"));
            }
        }
        if self.table.len() != self.len() {
            return Err(format!("predicates: {} in the table, {} in use", self.table.len(), self.len()));
        }
        Ok(())
    }

    /// Frees memory reserved for growth.
    pub fn defragment(&mut self) {
        shrink(&mut self.entries);
    }

    /// Bytes in use, approximately.
    pub fn memory(&self) -> usize {
        let heap: usize =
            self.entries.iter().filter_map(|entry| entry.predicate.as_ref()).map(Predicate::heap).sum();
        self.entries.capacity() * size_of::<CountedPredicate>()
            + self.table.allocation_size()
            + self.free.capacity() * size_of::<PredId>()
            + heap
    }
}
