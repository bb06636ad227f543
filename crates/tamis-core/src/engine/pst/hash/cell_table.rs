//! A hash table from keys to lists that is probed for thousands of keys in a row.
//!
//! A look-up in a table of many megabytes is a cache miss, and a branch on its outcome keeps the next look-up from
//! starting. So a look-up has two steps: [`CellTable::first_slot`] reads the first slot of a key without a branch, for all
//! keys in a row, whose cache misses overlap; [`CellTable::resolve`] decides with the slot that was read. No published
//! table offers that. Open addressing, linear probing, removal by shifting back.

use crate::engine::shared::list_pool::ListRef;

/// A slot of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellSlot {
    /// [`FREE`] if the slot is empty.
    key: u64,
    list: ListRef,
}

const FREE: u64 = u64::MAX;
const EMPTY: CellSlot = CellSlot { key: FREE, list: ListRef::EMPTY };

/// See the module's head.
#[derive(Debug, Default)]
pub(super) struct CellTable {
    /// None, or a power of two, at most 3/4 in use.
    slots: Vec<CellSlot>,
    /// Number of keys.
    len: usize,
}

impl CellTable {
    #[inline]
    fn home(&self, key: u64) -> usize {
        // The upper half of a product depends on all bits of the key.
        let hash = u128::from(key) * 0x9E37_79B9_7F4A_7C15;
        ((hash >> 64) as usize ^ hash as usize) & (self.slots.len() - 1)
    }

    /// The slot where probing for a key begins.
    #[inline]
    pub fn first_slot(&self, key: u64) -> CellSlot {
        if self.slots.is_empty() { EMPTY } else { self.slots[self.home(key)] }
    }

    /// The list of a key, given its first slot.
    #[inline]
    pub fn resolve(&self, key: u64, first: CellSlot) -> Option<ListRef> {
        match first.key {
            FREE => None,
            found if found == key => Some(first.list),
            _ => self.get(key),
        }
    }

    /// The list of a key.
    pub fn get(&self, key: u64) -> Option<ListRef> {
        self.find(key).map(|at| self.slots[at].list)
    }

    fn find(&self, key: u64) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let mut at = self.home(key);
        loop {
            match self.slots[at].key {
                FREE => return None,
                found if found == key => return Some(at),
                _ => at = (at + 1) & (self.slots.len() - 1),
            }
        }
    }

    /// The list of a key; inserts the key with an empty list if it is absent.
    pub fn entry(&mut self, key: u64) -> &mut ListRef {
        if (self.len + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
        let mut at = self.home(key);
        while self.slots[at].key != key {
            if self.slots[at].key == FREE {
                self.slots[at] = CellSlot { key, list: ListRef::EMPTY };
                self.len += 1;
                break;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        &mut self.slots[at].list
    }

    fn grow(&mut self) {
        let slots = vec![EMPTY; (self.slots.len() * 2).max(16)];
        let old = std::mem::replace(&mut self.slots, slots);
        for slot in old.into_iter().filter(|slot| slot.key != FREE) {
            let mut at = self.home(slot.key);
            while self.slots[at].key != FREE {
                at = (at + 1) & (self.slots.len() - 1);
            }
            self.slots[at] = slot;
        }
    }

    /// Removes a key.
    pub fn remove(&mut self, key: u64) {
        let Some(mut gap) = self.find(key) else { return };
        self.len -= 1;
        let mask = self.slots.len() - 1;
        let mut at = gap;
        loop {
            at = (at + 1) & mask;
            if self.slots[at].key == FREE {
                break;
            }
            // A slot may move back as far as its home.
            let home = self.home(self.slots[at].key);
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(gap) & mask {
                self.slots[gap] = self.slots[at];
                gap = at;
            }
        }
        self.slots[gap] = EMPTY;
    }

    /// The lists of all keys, mutable.
    pub fn lists_mut(&mut self) -> impl Iterator<Item = &mut ListRef> {
        self.slots.iter_mut().filter(|slot| slot.key != FREE).map(|slot| &mut slot.list)
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        self.slots.capacity() * size_of::<CellSlot>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::shared::list_pool::ListPool;
    use std::collections::HashMap;

    #[test]
    fn keys_keep_their_lists() {
        let (mut table, mut model) = (CellTable::default(), HashMap::new());
        let mut pool = ListPool::<u32, 4>::default();
        let mut state = 1u64;
        for round in 0..40_000u32 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Few keys, so that they recur; many are adjacent.
            let key = (state >> 33) % 700;
            if state >> 63 == 0 && round % 5_000 > 1_000 || round % 5_000 > 4_000 {
                table.remove(key);
                model.remove(&key);
            } else {
                pool.extend(table.entry(key), &[round]);
                model.insert(key, *table.entry(key));
            }
            if round % 97 == 0 {
                assert_eq!(table.len(), model.len());
                for key in 0..700 {
                    assert_eq!(table.get(key), model.get(&key).copied());
                    assert_eq!(table.resolve(key, table.first_slot(key)), model.get(&key).copied());
                }
            }
        }
    }
}
