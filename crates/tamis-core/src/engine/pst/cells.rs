//! The cells of PSTHash: which conjunctions does a combination of leaves lead to?

use super::blocks::{Block, Blocks};
use super::record::Place;
use super::table::{Slot, Table};
use crate::schema::AttrId;
use crate::space::LeafId;
use rustc_hash::FxHashMap;

/// More coordinates than this would make too many cells of any event.
pub(super) const MOST_COORDINATES: usize = 4;

/// Some attributes, as a Bloom filter of 64 bits: never denies one that is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Attributes(u64);

impl Attributes {
    pub fn add(&mut self, attribute: AttrId) {
        self.0 |= 1 << (attribute.0.wrapping_mul(0x9E37_79B9) >> 26);
    }

    /// Whether all of these may be among others.
    #[inline]
    pub fn may_be_within(self, others: Attributes) -> bool {
        self.0 & !others.0 == 0
    }
}

/// What a cell holds of a conjunction: enough to dismiss most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    record: u32,
    /// In two halves, so that an entry takes twelve bytes.
    needs: [u32; 2],
}

impl Entry {
    /// `needs` are the attributes that the record looks at.
    pub fn new(record: Place, needs: Attributes) -> Entry {
        Entry { record: record.0, needs: [needs.0 as u32, (needs.0 >> 32) as u32] }
    }

    #[inline]
    pub fn record(self) -> Place {
        Place(self.record)
    }

    #[inline]
    pub fn needs(self) -> Attributes {
        Attributes(u64::from(self.needs[0]) | u64::from(self.needs[1]) << 32)
    }
}

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

/// Lists of entries with paths of leaves as keys. A single leaf has its list at hand; longer paths are looked up in a
/// hash table. A path of two leaves is a key by itself; of a longer one, all but the last leaf are a prefix with a
/// number.
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// By leaf.
    singles: Vec<Block>,
    lists: Table,
    prefixes: FxHashMap<u64, Prefix>,
    free_prefixes: Vec<u32>,
    made_prefixes: u32,
    entries: Blocks<Entry, 1>,
}

#[derive(Clone, Copy, Debug)]
struct Prefix {
    number: u32,
    /// How many entries' paths begin with it.
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
            self.singles.resize(leaves, Block::EMPTY);
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

    pub fn insert(&mut self, path: &[LeafId], entry: Entry) {
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
        self.entries.extend(list, &[entry]);
    }

    /// Removes the entry with a record.
    pub fn remove(&mut self, path: &[LeafId], record: Place) {
        if let [leaf] = path {
            let mut list = self.singles[leaf.index()];
            self.remove_from(&mut list, record);
            self.singles[leaf.index()] = list;
            return;
        }
        let Some(cell) = self.key_of(path) else { return };
        let mut list = *self.lists.entry(cell);
        self.remove_from(&mut list, record);
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
    pub fn single(&self, leaf: LeafId) -> Block {
        self.singles[leaf.index()]
    }

    /// Appends to a list outside of the table.
    pub fn append(&mut self, list: &mut Block, entry: Entry) {
        self.entries.extend(list, &[entry]);
    }

    /// Takes the entry with a record out of a list.
    pub fn remove_from(&mut self, list: &mut Block, record: Place) {
        if let Some(at) = self.entries.get(*list).iter().position(|entry| entry.record() == record) {
            self.entries.cut_out(list, at, 1);
        }
    }

    #[inline]
    pub fn entries(&self, list: Block) -> &[Entry] {
        self.entries.get(list)
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
    pub fn answer(&self, asked: Asked) -> Option<Block> {
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
            + self.singles.capacity() * size_of::<Block>()
            + self.prefixes.capacity() * prefix * 8 / 7
            + self.free_prefixes.capacity() * size_of::<u32>()
            + self.entries.memory()
    }

    /// Checks that the cells hold these entries, each with its path, and no others.
    pub fn validate(&self, expected: &[(Vec<LeafId>, Entry)]) -> Result<(), String> {
        let mut cells: FxHashMap<&[LeafId], Vec<Entry>> = FxHashMap::default();
        let mut prefixes: FxHashMap<u64, u32> = FxHashMap::default();
        for (path, entry) in expected {
            cells.entry(path).or_default().push(*entry);
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
            let mut found = self.entries.get(list.unwrap_or_default()).to_vec();
            found.sort_unstable_by_key(|entry| entry.record);
            wanted.sort_unstable_by_key(|entry| entry.record);
            if found != wanted {
                return Err(format!("cells: {path:?} holds {found:?}, should {wanted:?}"));
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
