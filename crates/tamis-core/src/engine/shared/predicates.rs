//! Each distinct predicate once: expressions that share predicates share the work on them.

use crate::expr::Predicate;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as TableEntry;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// A distinct predicate. Numbers of forgotten ones are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PredId(pub u32);

impl PredId {
    /// As a position in an array with one place per predicate.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Debug)]
struct Entry {
    /// `None` in places that are free.
    predicate: Option<Predicate>,
    uses: u32,
}

/// All predicates in use, found by what they say.
#[derive(Debug, Default)]
pub(crate) struct Predicates {
    entries: Vec<Entry>,
    free: Vec<PredId>,
    table: HashTable<PredId>,
}

fn hash(predicate: &Predicate) -> u64 {
    FxBuildHasher.hash_one(predicate)
}

impl Predicates {
    /// The number of a predicate, used once more.
    pub fn take(&mut self, predicate: Predicate) -> PredId {
        let entries = &mut self.entries;
        let place = self.table.entry(
            hash(&predicate),
            |id| entries[id.index()].predicate.as_ref() == Some(&predicate),
            |id| entries[id.index()].predicate.as_ref().map_or(0, hash),
        );
        match place {
            TableEntry::Occupied(found) => {
                let id = *found.get();
                entries[id.index()].uses += 1;
                id
            }
            TableEntry::Vacant(vacant) => {
                let entry = Entry { predicate: Some(predicate), uses: 1 };
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

    /// As [`Predicates::take`], for a predicate that is copied only if it is new.
    pub fn take_ref(&mut self, predicate: &Predicate) -> PredId {
        match self.find(predicate) {
            Some(id) => {
                self.entries[id.index()].uses += 1;
                id
            }
            None => self.take(predicate.clone()),
        }
    }

    /// The number of a predicate that is in use.
    pub fn find(&self, predicate: &Predicate) -> Option<PredId> {
        let same = |id: &PredId| self.entries[id.index()].predicate.as_ref() == Some(predicate);
        self.table.find(hash(predicate), same).copied()
    }

    /// One use less; after the last the predicate is forgotten.
    pub fn give_back(&mut self, id: PredId) {
        let entry = &mut self.entries[id.index()];
        entry.uses -= 1;
        if entry.uses > 0 {
            return;
        }
        if let Some(predicate) = entry.predicate.take()
            && let Ok(found) = self.table.find_entry(hash(&predicate), |other| *other == id)
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

    /// How often a predicate is used; 0 for free places.
    pub fn uses(&self, id: PredId) -> u32 {
        self.entries[id.index()].uses
    }

    /// How many distinct predicates there are.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// One more than the greatest number in use.
    pub fn bound(&self) -> usize {
        self.entries.len()
    }

    /// Checks that every predicate is found under its number.
    pub fn validate(&self) -> Result<(), String> {
        for (at, entry) in self.entries.iter().enumerate() {
            let Some(predicate) = &entry.predicate else { continue };
            let found = self
                .table
                .find(hash(predicate), |id| self.entries[id.index()].predicate.as_ref() == Some(predicate));
            if found != Some(&PredId(at as u32)) || entry.uses == 0 {
                return Err(format!("predicates: number {at} is not found, or unused"));
            }
        }
        if self.table.len() != self.len() {
            return Err(format!("predicates: {} found, {} kept", self.table.len(), self.len()));
        }
        Ok(())
    }

    /// Bytes in use, near enough.
    pub fn memory(&self) -> usize {
        let heap: usize =
            self.entries.iter().filter_map(|entry| entry.predicate.as_ref()).map(Predicate::heap).sum();
        self.entries.capacity() * size_of::<Entry>()
            + self.table.capacity() * (size_of::<PredId>() + 1)
            + self.free.capacity() * size_of::<PredId>()
            + heap
    }
}
