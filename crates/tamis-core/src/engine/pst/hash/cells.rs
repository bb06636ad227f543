//! The cells of PSTHash: what is the posting list of a cell, and which cells does an event probe?
//!
//! A cell is a sequence of leaves of different dimensions, in the order of attributes. The list of a single leaf is in an
//! array; the lists of longer cells are in a hash table. A cell of two leaves is a key of 64 bits by itself; of a longer
//! one, all but the last leaf are a prefix, which has a number.

use super::cell_table::{CellSlot, CellTable};
use crate::engine::shared::conjunctions::ConjId;
use crate::engine::shared::list_pool::{ListPool, ListRef, shrink};
use crate::engine::shared::records::{self, Records};
use crate::schema::AttrId;
use crate::space::{LeafId, LeafSplit};
use hashbrown::HashMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Maximum leaves of a cell: an event with 30 attributes has 27,405 cells of 4 leaves.
pub(super) const MAX_COORDINATES: usize = 4;

/// A leaf of an event, as a coordinate of cells.
#[derive(Clone, Copy)]
pub(super) struct Coordinate {
    pub attribute: AttrId,
    pub leaf: LeafId,
    /// Whether the event satisfies exactly the predicates that cover the leaf.
    pub exact: bool,
}

/// A probe of the hash table.
#[derive(Clone, Copy)]
pub(super) struct CellProbe {
    key: u64,
    /// Whether all coordinates of the cell are exact.
    pub exact: bool,
    /// The first slot of the key.
    slot: CellSlot,
}

/// The posting lists of all cells.
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// By leaf: the list of the cell of this leaf alone.
    singles: Vec<ListRef>,
    /// The lists of cells of several leaves.
    table: CellTable,
    /// By the key of a prefix of two and more leaves.
    prefixes: HashMap<u64, Prefix, FxBuildHasher>,
    /// Numbers of prefixes that are not used.
    free_prefixes: Vec<u32>,
    /// Number of prefix numbers handed out so far, free ones included.
    made_prefixes: u32,
    /// The records of all lists.
    records: ListPool<u32, 4>,
}

/// All but the last leaf of cells.
#[derive(Clone, Copy, Debug)]
struct Prefix {
    /// Stands for the prefix in keys; at least [`PREFIX`].
    number: u32,
    /// Number of records in cells that begin with it.
    uses: u32,
}

/// Distinguishes the numbers of prefixes from those of leaves.
const PREFIX: u32 = 1 << 31;

fn key(before: u32, leaf: LeafId) -> u64 {
    u64::from(before) << 32 | u64::from(leaf.0)
}

impl Cells {
    /// Makes room for leaves below a number.
    pub fn reserve_leaves(&mut self, leaves: usize) {
        if self.singles.len() < leaves {
            self.singles.resize(leaves, ListRef::EMPTY);
        }
    }

    /// The key of a cell of two and more leaves; `None` if a prefix has no number.
    fn key_of(&self, cell: &[LeafId]) -> Option<u64> {
        let [first, second, rest @ ..] = cell else { return None };
        let mut found = key(first.0, *second);
        for leaf in rest {
            found = key(self.prefixes.get(&found)?.number, *leaf);
        }
        Some(found)
    }

    /// Appends a record to the list of a cell.
    pub fn insert(&mut self, cell: &[LeafId], record: &[u32]) {
        let list = match cell {
            [] => return,
            [leaf] => &mut self.singles[leaf.index()],
            [first, second, rest @ ..] => {
                let mut cell_key = key(first.0, *second);
                for leaf in rest {
                    let prefix = self.prefixes.entry(cell_key).or_insert_with(|| {
                        let number = self.free_prefixes.pop().unwrap_or_else(|| {
                            self.made_prefixes += 1;
                            self.made_prefixes - 1 + PREFIX
                        });
                        Prefix { number, uses: 0 }
                    });
                    prefix.uses += 1;
                    cell_key = key(prefix.number, *leaf);
                }
                self.table.entry(cell_key)
            }
        };
        self.records.extend(list, record);
    }

    /// Removes the record of a conjunction from the list of a cell.
    pub fn remove(&mut self, cell: &[LeafId], id: ConjId) {
        if let [leaf] = cell {
            let mut list = self.singles[leaf.index()];
            self.remove_from(&mut list, id);
            self.singles[leaf.index()] = list;
            return;
        }
        let Some(key) = self.key_of(cell) else { return };
        let mut list = *self.table.entry(key);
        self.remove_from(&mut list, id);
        match list.is_empty() {
            true => self.table.remove(key),
            false => *self.table.entry(key) = list,
        }
        // The longest first: the key of a prefix needs the number of the shorter one.
        for end in (2..cell.len()).rev() {
            let Some(prefix_key) = self.key_of(&cell[..end]) else { continue };
            if let Some(prefix) = self.prefixes.get_mut(&prefix_key) {
                prefix.uses -= 1;
                if prefix.uses == 0 {
                    self.free_prefixes.push(prefix.number);
                    self.prefixes.remove(&prefix_key);
                }
            }
        }
    }

    /// The list of the cell of one leaf.
    #[inline]
    pub fn single(&self, leaf: LeafId) -> ListRef {
        self.singles[leaf.index()]
    }

    /// Copies the list of a leaf to the leaf that was split off.
    pub fn copy_single(&mut self, split: LeafSplit) -> ListRef {
        let list = self.records.copy(self.singles[split.kept.index()]);
        self.singles[split.made.index()] = list;
        list
    }

    /// Frees the list of a leaf.
    pub fn release_single(&mut self, leaf: LeafId) {
        self.records.release(std::mem::take(&mut self.singles[leaf.index()]));
    }

    /// Appends a record to a list that belongs to no cell.
    pub fn append(&mut self, list: &mut ListRef, record: &[u32]) {
        self.records.extend(list, record);
    }

    /// Removes the record of a conjunction from a list.
    pub fn remove_from(&mut self, list: &mut ListRef, id: ConjId) {
        records::remove(&mut self.records, list, id);
    }

    /// The records of a list.
    #[inline]
    pub fn list(&self, list: ListRef) -> &[u32] {
        self.records.get(list)
    }

    /// The conjunctions with a record in a list, in ascending order.
    pub fn conjunctions(&self, list: ListRef) -> Vec<ConjId> {
        records::conjunctions(self.list(list))
    }

    /// Probes the cells of an event that have at least two leaves, of lengths that conjunctions have. `coordinates` are in
    /// the order of attributes; `by_coordinates` has the number of conjunctions by number of coordinates.
    pub fn probe(&self, coordinates: &[Coordinate], by_coordinates: &[usize], probes: &mut Vec<CellProbe>) {
        let longest = by_coordinates.iter().rposition(|count| *count > 0).unwrap_or(0);
        for (at, first) in
            coordinates.iter().enumerate().take(if longest > 1 { coordinates.len() } else { 0 })
        {
            let others = after(coordinates, at);
            self.probe_longer(others, first.leaf.0, 2, first.exact, &by_coordinates[..=longest], probes);
        }
    }

    /// Probes the cells of at least `length` leaves that begin with the leaf or prefix `before`.
    fn probe_longer(
        &self,
        coordinates: &[Coordinate],
        before: u32,
        length: usize,
        exact: bool,
        by_coordinates: &[usize],
        probes: &mut Vec<CellProbe>,
    ) {
        for (at, next) in coordinates.iter().enumerate() {
            let (exact, key) = (exact && next.exact, key(before, next.leaf));
            if by_coordinates[length] > 0 {
                probes.push(CellProbe { key, exact, slot: self.table.first_slot(key) });
            }
            if length + 1 < by_coordinates.len()
                && let Some(prefix) = self.prefixes.get(&key)
            {
                let others = after(coordinates, at);
                self.probe_longer(others, prefix.number, length + 1, exact, by_coordinates, probes);
            }
        }
    }

    /// The list of a cell that was probed.
    #[inline]
    pub fn resolve(&self, probe: CellProbe) -> Option<ListRef> {
        self.table.resolve(probe.key, probe.slot)
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.table.len() + self.singles.iter().filter(|list| !list.is_empty()).count()
    }

    /// Moves all lists together, the one outside of cells included, and frees memory reserved for growth.
    pub fn defragment(&mut self, outside: &mut ListRef) {
        shrink(&mut self.singles);
        let lists = self.singles.iter_mut().chain(self.table.lists_mut()).chain([outside]);
        self.records.defragment(lists);
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        self.table.memory()
            + self.singles.capacity() * size_of::<ListRef>()
            + self.prefixes.allocation_size()
            + self.free_prefixes.capacity() * size_of::<u32>()
            + self.records.memory()
    }

    /// Checks that exactly these cells list exactly these conjunctions, with up-to-date records.
    pub fn validate(
        &self,
        expected: &[(Vec<LeafId>, ConjId)],
        record_of: impl Fn(ConjId) -> Vec<u32>,
    ) -> Result<(), String> {
        let mut cells: FxHashMap<&[LeafId], Vec<ConjId>> = FxHashMap::default();
        let mut prefixes: FxHashMap<u64, u32> = FxHashMap::default();
        for (cell, id) in expected {
            cells.entry(cell).or_default().push(*id);
            for end in 2..cell.len() {
                *prefixes.entry(self.key_of(&cell[..end]).unwrap_or_default()).or_default() += 1;
            }
        }
        if cells.len() != self.len() {
            return Err(format!("cells: there are {}, should be {}", self.len(), cells.len()));
        }
        for (cell, mut expected) in cells {
            let list = match cell {
                [leaf] => Some(self.single(*leaf)),
                _ => self.key_of(cell).and_then(|key| self.table.get(key)),
            };
            let list = list.unwrap_or_default();
            expected.sort_unstable();
            if self.conjunctions(list) != expected {
                let found = self.conjunctions(list);
                return Err(format!("cells: {cell:?} lists {found:?}, should {expected:?}"));
            }
            for record in Records(self.list(list)) {
                if record_of(record.conjunction)[records::HEAD..] != *record.terms {
                    return Err(format!("cells: the record of {:?} is out of date", record.conjunction));
                }
            }
        }
        let counted = |(key, prefix): (&u64, &Prefix)| prefixes.get(key) == Some(&prefix.uses);
        if prefixes.len() != self.prefixes.len() || !self.prefixes.iter().all(counted) {
            return Err("cells: the use counters of prefixes are wrong".into());
        }
        Ok(())
    }
}

/// The coordinates after one that are of other dimensions.
fn after(coordinates: &[Coordinate], at: usize) -> &[Coordinate] {
    let rest = &coordinates[at + 1..];
    let same = rest.iter().take_while(|other| other.attribute == coordinates[at].attribute).count();
    &rest[same..]
}

/// Visits every cell that takes one leaf from each axis.
pub(super) fn each_cell(axes: &[Vec<LeafId>], mut visit: impl FnMut(&[LeafId])) {
    if axes.iter().any(Vec::is_empty) {
        return;
    }
    let mut at = vec![0; axes.len()];
    let mut cell: Vec<LeafId> = axes.iter().map(|axis| axis[0]).collect();
    loop {
        visit(&cell);
        let Some(turn) = (0..axes.len()).rev().find(|&axis| at[axis] + 1 < axes[axis].len()) else { return };
        at[turn] += 1;
        at[turn + 1..].fill(0);
        for axis in turn..axes.len() {
            cell[axis] = axes[axis][at[axis]];
        }
    }
}
