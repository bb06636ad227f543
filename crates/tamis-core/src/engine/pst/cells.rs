//! The cells of PSTHash: which conjunctions does a combination of leaves lead to?

use super::conjunctions::ConjId;
use super::record::{self, Records};
use super::table::{Slot, Table};
use crate::engine::shared::list_pool::{ListPool, ListRef};
use crate::schema::AttrId;
use crate::space::{LeafId, LeafSplit};
use rustc_hash::FxHashMap;

/// More coordinates than this would make too many cells of any event.
pub(super) const MOST_COORDINATES: usize = 4;

/// One leaf of an event, as a coordinate.
#[derive(Clone, Copy)]
pub(super) struct Coordinate {
    pub attribute: AttrId,
    pub leaf: LeafId,
    /// Whether exactly the predicates that cover the leaf are satisfied.
    pub exact: bool,
}

/// A cell that is looked up.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    key: u64,
    /// Whether all its leaves are.
    pub exact: bool,
    peeked: Slot,
}

/// Lists of records with paths of leaves as keys. A single leaf has its list at hand; longer paths are looked up in a
/// hash table. A path of two leaves is a key by itself; of a longer one, all but the last leaf are a prefix with a
/// number.
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// By leaf.
    singles: Vec<ListRef>,
    lists: Table,
    prefixes: FxHashMap<u64, Prefix>,
    free_prefixes: Vec<u32>,
    made_prefixes: u32,
    records: ListPool<u32, 4>,
}

#[derive(Clone, Copy, Debug)]
struct Prefix {
    number: u32,
    /// How many records' paths begin with it.
    uses: u32,
}

/// Tells the numbers of prefixes from those of leaves.
const PREFIX: u32 = 1 << 31;

fn key(before: u32, leaf: LeafId) -> u64 {
    u64::from(before) << 32 | u64::from(leaf.0)
}

impl Cells {
    /// Makes room for leaves below a number.
    pub fn make_room(&mut self, leaves: usize) {
        if self.singles.len() < leaves {
            self.singles.resize(leaves, ListRef::EMPTY);
        }
    }

    /// The key of a path of two and more leaves whose prefixes are known.
    fn key_of(&self, path: &[LeafId]) -> Option<u64> {
        let [first, second, rest @ ..] = path else { return None };
        let mut cell = key(first.0, *second);
        for leaf in rest {
            cell = key(self.prefixes.get(&cell)?.number, *leaf);
        }
        Some(cell)
    }

    pub fn insert(&mut self, path: &[LeafId], record: &[u32]) {
        let list = match path {
            [] => return,
            [leaf] => &mut self.singles[leaf.index()],
            [first, second, rest @ ..] => {
                let mut cell = key(first.0, *second);
                for leaf in rest {
                    let prefix = self.prefixes.entry(cell).or_insert_with(|| {
                        let number = self.free_prefixes.pop().unwrap_or_else(|| {
                            self.made_prefixes += 1;
                            self.made_prefixes - 1 + PREFIX
                        });
                        Prefix { number, uses: 0 }
                    });
                    prefix.uses += 1;
                    cell = key(prefix.number, *leaf);
                }
                self.lists.entry(cell)
            }
        };
        self.records.extend(list, record);
    }

    pub fn remove(&mut self, path: &[LeafId], id: ConjId) {
        if let [leaf] = path {
            let mut list = self.singles[leaf.index()];
            self.remove_from(&mut list, id);
            self.singles[leaf.index()] = list;
            return;
        }
        let Some(cell) = self.key_of(path) else { return };
        let mut list = *self.lists.entry(cell);
        self.remove_from(&mut list, id);
        match list.is_empty() {
            true => self.lists.remove(cell),
            false => *self.lists.entry(cell) = list,
        }
        // From the longest to the shortest: the key of each begins with the one before.
        for end in (2..path.len()).rev() {
            let Some(prefix_key) = self.key_of(&path[..end]) else { continue };
            if let Some(prefix) = self.prefixes.get_mut(&prefix_key) {
                prefix.uses -= 1;
                if prefix.uses == 0 {
                    self.free_prefixes.push(prefix.number);
                    self.prefixes.remove(&prefix_key);
                }
            }
        }
    }

    /// The list of a path of one leaf.
    #[inline]
    pub fn single(&self, leaf: LeafId) -> ListRef {
        self.singles[leaf.index()]
    }

    /// Copies the list of a leaf to the new part of it.
    pub fn copy_single(&mut self, split: LeafSplit) -> ListRef {
        let list = self.records.copy(self.singles[split.kept.index()]);
        self.singles[split.made.index()] = list;
        list
    }

    /// Forgets the list of a leaf.
    pub fn release_single(&mut self, leaf: LeafId) {
        self.records.release(std::mem::take(&mut self.singles[leaf.index()]));
    }

    /// Appends to a list outside of the cells.
    pub fn append(&mut self, list: &mut ListRef, record: &[u32]) {
        self.records.extend(list, record);
    }

    /// Takes the record of a conjunction out of a list.
    pub fn remove_from(&mut self, list: &mut ListRef, id: ConjId) {
        if let Some((at, length)) = record::find(self.records.get(*list), id) {
            self.records.remove_range(list, at, length);
        }
    }

    /// The words of a list.
    #[inline]
    pub fn words(&self, list: ListRef) -> &[u32] {
        self.records.get(list)
    }

    /// Who has a record in a list, in order of numbers.
    pub fn conjunctions(&self, list: ListRef) -> Vec<ConjId> {
        let mut ids: Vec<_> = Records(self.words(list)).map(|record| record.conjunction).collect();
        ids.sort_unstable();
        ids
    }

    /// Peeks at the cells of an event: every path of two and more leaves from different dimensions, as long as some
    /// conjunction's. `coordinates` are in the order of attributes, `lengths` tells how many conjunctions have paths of
    /// each length.
    pub fn ask(&self, coordinates: &[Coordinate], lengths: &[usize], asked: &mut Vec<Asked>) {
        let longest = lengths.iter().rposition(|count| *count > 0).unwrap_or(0);
        for (at, first) in
            coordinates.iter().enumerate().take(if longest > 1 { coordinates.len() } else { 0 })
        {
            let others = after(coordinates, at);
            self.ask_on(others, first.leaf.0, 2, first.exact, &lengths[..=longest], asked);
        }
    }

    fn ask_on(
        &self,
        coordinates: &[Coordinate],
        before: u32,
        length: usize,
        exact: bool,
        lengths: &[usize],
        asked: &mut Vec<Asked>,
    ) {
        for (at, next) in coordinates.iter().enumerate() {
            let (exact, cell) = (exact && next.exact, key(before, next.leaf));
            if lengths[length] > 0 {
                asked.push(Asked { key: cell, exact, peeked: self.lists.peek(cell) });
            }
            if length + 1 < lengths.len()
                && let Some(prefix) = self.prefixes.get(&cell)
            {
                self.ask_on(after(coordinates, at), prefix.number, length + 1, exact, lengths, asked);
            }
        }
    }

    /// The list of a cell that was peeked at.
    #[inline]
    pub fn answer(&self, asked: Asked) -> Option<ListRef> {
        self.lists.resolve(asked.key, asked.peeked)
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.lists.len() + self.singles.iter().filter(|list| !list.is_empty()).count()
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        let prefix = size_of::<(u64, Prefix)>() + 1;
        self.lists.memory()
            + self.singles.capacity() * size_of::<ListRef>()
            + self.prefixes.capacity() * prefix * 8 / 7
            + self.free_prefixes.capacity() * size_of::<u32>()
            + self.records.memory()
    }

    /// Checks that these conjunctions are in the cells with these paths and in no others, with the records they
    /// should have.
    pub fn validate(
        &self,
        expected: &[(Vec<LeafId>, ConjId)],
        record_of: impl Fn(ConjId) -> Vec<u32>,
    ) -> Result<(), String> {
        let mut cells: FxHashMap<&[LeafId], Vec<ConjId>> = FxHashMap::default();
        let mut prefixes: FxHashMap<u64, u32> = FxHashMap::default();
        for (path, id) in expected {
            cells.entry(path).or_default().push(*id);
            for end in 2..path.len() {
                *prefixes.entry(self.key_of(&path[..end]).unwrap_or_default()).or_default() += 1;
            }
        }
        if cells.len() != self.len() {
            return Err(format!("cells: there are {}, should be {}", self.len(), cells.len()));
        }
        for (path, mut wanted) in cells {
            let list = match path {
                [leaf] => Some(self.single(*leaf)),
                _ => self.key_of(path).and_then(|cell| self.lists.get(cell)),
            };
            let list = list.unwrap_or_default();
            wanted.sort_unstable();
            if self.conjunctions(list) != wanted {
                let found = self.conjunctions(list);
                return Err(format!("cells: {path:?} holds {found:?}, should {wanted:?}"));
            }
            for record in Records(self.words(list)) {
                if record_of(record.conjunction)[record::HEAD..] != *record.terms {
                    return Err(format!("cells: the record of {:?} is out of date", record.conjunction));
                }
            }
        }
        let counted = |(key, prefix): (&u64, &Prefix)| prefixes.get(key) == Some(&prefix.uses);
        if prefixes.len() != self.prefixes.len() || !self.prefixes.iter().all(counted) {
            return Err("cells: prefixes are not used as counted".into());
        }
        Ok(())
    }
}

/// The coordinates behind one that are of other dimensions: each gives one leaf to a path.
fn after(coordinates: &[Coordinate], at: usize) -> &[Coordinate] {
    let rest = &coordinates[at + 1..];
    let same = rest.iter().take_while(|other| other.attribute == coordinates[at].attribute).count();
    &rest[same..]
}

/// Calls with every path that takes one leaf from each axis.
pub(super) fn each_path(axes: &[Vec<LeafId>], mut each: impl FnMut(&[LeafId])) {
    if axes.iter().any(Vec::is_empty) {
        return;
    }
    let mut at = vec![0; axes.len()];
    let mut path: Vec<LeafId> = axes.iter().map(|axis| axis[0]).collect();
    loop {
        each(&path);
        let Some(turn) = (0..axes.len()).rev().find(|&axis| at[axis] + 1 < axes[axis].len()) else { return };
        at[turn] += 1;
        at[turn + 1..].fill(0);
        for axis in turn..axes.len() {
            path[axis] = axes[axis][at[axis]];
        }
    }
}
