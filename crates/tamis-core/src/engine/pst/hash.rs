//! PSTHash: the spaces of several access predicates together lead to a subscription.
//!
//! Paper: section 6 (Algorithms 6 and 7).
//!
//! Idea: the N most selective predicates of a conjunction are its access predicates (N is 2 by default). Each covers
//! some leaves of its dimension; every combination of one leaf from each is a cell, and the conjunction is listed in
//! the cells it covers, found by a hash table. An event has one leaf in each of its dimensions, so it belongs to one
//! cell for every N of them: it looks them all up, and what it finds satisfies all access predicates already.
//!
//! Invariants: a conjunction is listed in exactly the cells its access predicates span, coordinates in the order of
//! attributes; `members` of a leaf are the conjunctions with that leaf as a coordinate; no cell is empty.
//!
//! Cost: matching O(cells of the event + candidates), where an event of m attributes has m!/(N!(m-N)!) cells; a
//! conjunction's record lies in up to `max_cells` cells, twice that after splits.
//!
//! Deviations from the paper:
//! - A conjunction with fewer than N usable predicates is listed under as many coordinates as it has, one at least
//!   (the paper uses PSTBloom for those, which is the same as one coordinate without signatures). An event with fewer
//!   than N attributes looks up what it has.
//! - Wide ranges do not explode: where the cells would be more than `max_cells`, the widest access predicate is not
//!   spread over its leaves but has the leaf of its whole dimension as its one coordinate, and is checked. So an
//!   event has two coordinates in a dimension, its own leaf and the whole. A conjunction that later splits spread over
//!   twice as many cells is placed anew.
//! - Only access predicates cut spaces; the others are checked, next to where they are found (see `record`).
//! - Patterns, networks and quantified predicates have no leaves: they too have the whole dimension as coordinate.
//!   What also holds for missing values is checked.

use super::blocks::{Block, Blocks};
use super::conjunctions::ConjId;
use super::record::{self, HalfSteps, Records};
use super::spaces::Changes;
use super::table::{Slot, Table};
use super::{Base, Ranked, Seen, whole_number};
use crate::engine::predicates::PredId;
use crate::engine::registry::Options;
use crate::engine::{Engine, Scratch, SubId};
use crate::error::Result;
use crate::event::Event;
use crate::expr::{Limits, Normal};
use crate::schema::AttrId;
use crate::space::LeafId;
use rustc_hash::FxHashMap;

/// More coordinates than this would make too many cells of any event.
const MOST_COORDINATES: usize = 4;

/// See the module's head.
#[derive(Debug)]
pub struct PstHash {
    base: Base,
    cells: Cells,
    /// By leaf: the conjunctions that have it as a coordinate and are spread.
    members: Vec<Block>,
    member_lists: Blocks<u32, 1>,
    /// By leaf: how many conjunctions have it as a coordinate. Most leaves of an event lead nowhere.
    uses: Vec<u32>,
    /// The records that every event must be checked with.
    everywhere: Block,
    /// By number of coordinates: how many conjunctions.
    arity: [usize; MOST_COORDINATES + 1],
    crowded: Vec<ConjId>,
    changes: Changes,
    /// The paper's N.
    coordinates: usize,
    max_cells: usize,
    max_dnf: usize,
}

/// The hash table: which records does a combination of leaves lead to?
#[derive(Debug, Default)]
struct Cells {
    lists: Table,
    /// Combinations of two and more leaves that longer ones begin with.
    prefixes: FxHashMap<u64, Prefix>,
    free_prefixes: Vec<u32>,
    made_prefixes: u32,
    records: Blocks<u32, 4>,
}

#[derive(Clone, Copy, Debug)]
struct Prefix {
    number: u32,
    /// How many records' cells begin with it.
    uses: u32,
}

/// What stands before the first leaf.
const NOTHING: u32 = u32::MAX;
/// Tells the numbers of prefixes from those of leaves.
const PREFIX: u32 = 1 << 31;

fn key(before: u32, leaf: LeafId) -> u64 {
    u64::from(before) << 32 | u64::from(leaf.0)
}

impl Cells {
    /// The key of a cell whose prefixes are there.
    fn key_of(&self, path: &[LeafId]) -> Option<u64> {
        let (last, prefix) = path.split_last()?;
        let mut before = NOTHING;
        for (at, leaf) in prefix.iter().enumerate() {
            before = if at == 0 { leaf.0 } else { self.prefixes.get(&key(before, *leaf))?.number };
        }
        Some(key(before, *last))
    }

    fn insert(&mut self, path: &[LeafId], record: &[u32]) {
        let Some((last, prefix)) = path.split_last() else { return };
        let mut before = NOTHING;
        for (at, leaf) in prefix.iter().enumerate() {
            if at == 0 {
                before = leaf.0;
                continue;
            }
            let prefix = self.prefixes.entry(key(before, *leaf)).or_insert_with(|| {
                let number = self.free_prefixes.pop().unwrap_or_else(|| {
                    self.made_prefixes += 1;
                    self.made_prefixes - 1 + PREFIX
                });
                Prefix { number, uses: 0 }
            });
            prefix.uses += 1;
            before = prefix.number;
        }
        self.records.extend(self.lists.entry(key(before, *last)), record);
    }

    fn remove(&mut self, path: &[LeafId], id: ConjId) {
        let Some(cell) = self.key_of(path) else { return };
        let list = self.lists.entry(cell);
        if let Some((at, length)) = record::find(self.records.get(*list), id) {
            self.records.cut_out(list, at, length);
        }
        if list.is_empty() {
            self.lists.remove(cell);
        }
        // Prefixes go from the longest to the shortest: the key of each begins with the one before.
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

    fn memory(&self) -> usize {
        let prefix = size_of::<(u64, Prefix)>() + 1;
        self.lists.memory()
            + self.prefixes.capacity() * prefix * 8 / 7
            + self.free_prefixes.capacity() * size_of::<u32>()
            + self.records.memory()
    }
}

/// How the predicates of a conjunction are to be used: access predicates first, in the order of attributes.
struct Choice {
    order: Vec<Ranked>,
    access: u8,
    spread: u8,
}

/// A coordinate of an event.
#[derive(Clone, Copy)]
struct Coordinate {
    attribute: AttrId,
    leaf: LeafId,
    exact: bool,
}

/// A cell that is looked up.
#[derive(Clone, Copy)]
struct Asked {
    key: u64,
    /// Whether all its leaves are.
    exact: bool,
    peeked: Slot,
}

/// A cell that was found.
#[derive(Clone, Copy)]
struct Found {
    list: Block,
    exact: bool,
    /// Read ahead of time, so that the list is at hand when its turn comes.
    touched: u32,
}

/// What a thread needs to match.
#[derive(Default)]
struct HashScratch {
    steps: HalfSteps,
    coordinates: Vec<Coordinate>,
    asked: Vec<Asked>,
    found: Vec<Found>,
    seen: Seen,
}

impl PstHash {
    /// An empty engine.
    pub fn new(options: &Options, limits: &Limits) -> Result<PstHash> {
        Ok(PstHash {
            base: Base::default(),
            cells: Cells::default(),
            members: Vec::new(),
            member_lists: Blocks::default(),
            uses: Vec::new(),
            everywhere: Block::default(),
            arity: [0; MOST_COORDINATES + 1],
            crowded: Vec::new(),
            changes: Changes::default(),
            coordinates: whole_number(options, "access_predicates", 2, 1..=MOST_COORDINATES)?,
            max_cells: whole_number(options, "max_cells", 32, 1..=1 << 20)?,
            max_dnf: limits.max_dnf,
        })
    }

    fn choose(&self, id: ConjId) -> Choice {
        let mut ranked = self.base.ranked(id);
        let mut access: Vec<Ranked> = Vec::with_capacity(self.coordinates);
        let mut at = 0;
        while at < ranked.len() && access.len() < self.coordinates {
            let fits = ranked[at].needs_presence();
            if fits && access.iter().all(|chosen| chosen.attribute != ranked[at].attribute) {
                access.push(ranked.remove(at));
            } else {
                at += 1;
            }
        }
        access.sort_by_key(|chosen| chosen.attribute);
        let count =
            |chosen: &Ranked| self.base.spaces.count(chosen.attribute, chosen.region()?, self.max_cells);
        let mut counts: Vec<Option<usize>> = access.iter().map(count).collect();
        while counts.iter().flatten().product::<usize>() > self.max_cells {
            if let Some(widest) = (0..counts.len()).max_by_key(|&at| counts[at]) {
                counts[widest] = None;
            }
        }
        let spread = counts.iter().enumerate().map(|(at, count)| u8::from(count.is_some()) << at).sum();
        let count = access.len() as u8;
        access.extend(ranked);
        Choice { order: access, access: count, spread }
    }

    fn place(&mut self, id: ConjId) {
        let choice = self.choose(id);
        self.base.conjunctions.reorder(id, choice.order.iter().map(|ranked| ranked.id));
        let access = &choice.order[..usize::from(choice.access)];
        for (at, ranked) in access.iter().enumerate() {
            if choice.spread & 1 << at != 0 {
                self.place_predicate(ranked);
            } else {
                self.base.spaces.whole(ranked.attribute);
                self.make_room();
            }
        }
        let conjunction = self.base.conjunctions.get_mut(id);
        (conjunction.access, conjunction.spread) = (choice.access, choice.spread);
        self.arity[usize::from(choice.access)] += 1;
        let record = self.record(id);
        if access.is_empty() {
            self.cells.records.extend(&mut self.everywhere, &record);
            return;
        }
        let axes = self.axes(id);
        for (at, axis) in axes.iter().enumerate() {
            for leaf in axis {
                self.uses[leaf.index()] += 1;
                if choice.spread & 1 << at != 0 {
                    self.member_lists.extend(&mut self.members[leaf.index()], &[id.0]);
                }
            }
        }
        let mut copies = 0;
        each_cell(&axes, |path| {
            self.cells.insert(path, &record);
            copies += 1;
        });
        self.base.conjunctions.get_mut(id).copies = copies;
    }

    /// Takes a conjunction out of cells and spaces; it keeps its number and its predicates.
    fn unplace(&mut self, id: ConjId) {
        let conjunction = *self.base.conjunctions.get(id);
        self.arity[usize::from(conjunction.access)] -= 1;
        if conjunction.access == 0 {
            if let Some((at, length)) = record::find(self.cells.records.get(self.everywhere), id) {
                self.cells.records.cut_out(&mut self.everywhere, at, length);
            }
            return;
        }
        let axes = self.axes(id);
        each_cell(&axes, |path| self.cells.remove(path, id));
        for (at, axis) in axes.iter().enumerate() {
            for leaf in axis {
                self.uses[leaf.index()] -= 1;
                if conjunction.spread & 1 << at != 0 {
                    self.remove_member(*leaf, id);
                }
            }
        }
        let placements: Vec<_> = self.base.placements(id).filter(|(_, placed)| *placed).collect();
        let conjunction = self.base.conjunctions.get_mut(id);
        (conjunction.access, conjunction.spread, conjunction.copies) = (0, 0, 0);
        for (predicate, _) in placements {
            let attribute = self.base.predicates.get(predicate).attribute;
            self.base.spaces.unplace(predicate, self.base.predicates.get(predicate), &mut self.changes);
            self.apply_merges(attribute);
        }
    }

    fn remove_member(&mut self, leaf: LeafId, id: ConjId) {
        let list = &mut self.members[leaf.index()];
        if let Some(at) = self.member_lists.get(*list).iter().position(|member| *member == id.0) {
            self.member_lists.cut_out(list, at, 1);
        }
    }

    /// The leaves of each coordinate of a placed conjunction.
    fn axes(&self, id: ConjId) -> Vec<Vec<LeafId>> {
        let access = usize::from(self.base.conjunctions.get(id).access);
        self.base
            .placements(id)
            .take(access)
            .map(|(predicate, placed)| self.axis(predicate, placed))
            .collect()
    }

    fn axis(&self, predicate: PredId, spread: bool) -> Vec<LeafId> {
        let predicate = self.base.predicates.get(predicate);
        let mut axis = Vec::new();
        if spread {
            self.base.spaces.cover(predicate, |leaf| axis.push(leaf));
        } else {
            axis.extend(self.base.spaces.dimension(predicate.attribute).map(|dimension| dimension.whole()));
        }
        axis
    }

    /// As [`PstHash::axes`], with one leaf in place of all of its dimension.
    fn axes_through(&self, id: ConjId, attribute: AttrId, leaf: LeafId) -> Vec<Vec<LeafId>> {
        let access = usize::from(self.base.conjunctions.get(id).access);
        let axis = |(predicate, placed)| match self.base.predicates.get(predicate).attribute == attribute {
            true => vec![leaf],
            false => self.axis(predicate, placed),
        };
        self.base.placements(id).take(access).map(axis).collect()
    }

    fn make_room(&mut self) {
        let leaves = self.base.spaces.leaf_bound();
        if self.uses.len() < leaves {
            self.uses.resize(leaves, 0);
            self.members.resize(leaves, Block::default());
        }
    }

    fn place_predicate(&mut self, ranked: &Ranked) {
        let attribute = ranked.attribute;
        if let Some(region) = ranked.region() {
            self.base.spaces.place(ranked.id, attribute, region, &mut self.changes);
        }
        self.make_room();
        let splits = std::mem::take(&mut self.changes.splits);
        for split in &splits {
            let members = self.member_lists.copy(self.members[split.kept.index()]);
            self.members[split.made.index()] = members;
            self.uses[split.made.index()] = self.uses[split.kept.index()];
            // The records of the old space are copied to the cells of the new one.
            for at in 0..members.len() {
                let member = ConjId(self.member_lists.get(members)[at]);
                let (record, axes) = (self.record(member), self.axes_through(member, attribute, split.made));
                let mut copies = 0;
                each_cell(&axes, |path| {
                    self.cells.insert(path, &record);
                    copies += 1;
                });
                let conjunction = self.base.conjunctions.get_mut(member);
                conjunction.copies += copies;
                if conjunction.copies as usize > 2 * self.max_cells {
                    self.crowded.push(member);
                }
            }
        }
        self.changes.splits = splits;
        self.changes.splits.clear();
    }

    fn apply_merges(&mut self, attribute: AttrId) {
        let merges = std::mem::take(&mut self.changes.merges);
        for merge in &merges {
            let members = std::mem::take(&mut self.members[merge.gone.index()]);
            self.uses[merge.gone.index()] = 0;
            for at in 0..members.len() {
                let member = ConjId(self.member_lists.get(members)[at]);
                let axes = self.axes_through(member, attribute, merge.gone);
                let mut copies = 0;
                each_cell(&axes, |path| {
                    self.cells.remove(path, member);
                    copies += 1;
                });
                self.base.conjunctions.get_mut(member).copies -= copies;
            }
            self.member_lists.release(members);
        }
        self.changes.merges = merges;
        self.changes.merges.clear();
    }

    /// Places anew what splits have spread too far.
    fn settle(&mut self) {
        while let Some(id) = self.crowded.pop() {
            let crowded = |copies| copies as usize > 2 * self.max_cells;
            if self.base.conjunctions.contains(id) && crowded(self.base.conjunctions.get(id).copies) {
                self.unplace(id);
                self.place(id);
            }
        }
    }

    /// What cells say of a conjunction: the predicates they do not guarantee.
    fn record(&self, id: ConjId) -> Vec<u32> {
        let mut record = Vec::with_capacity(16);
        record::begin(&mut record, id, self.base.conjunctions.is_one_of_several(id));
        for (predicate, _) in self.base.placements(id).filter(|(_, placed)| !placed) {
            record::add_term(&mut record, predicate, self.base.predicates.get(predicate), false);
        }
        record::finish(&mut record);
        record
    }

    /// Appends the keys of the cells that continue `before` with one of the coordinates, and then with others.
    fn keys(
        &self,
        coordinates: &[Coordinate],
        before: u32,
        length: usize,
        exact: bool,
        keys: &mut Vec<Asked>,
    ) {
        for (at, next) in coordinates.iter().enumerate() {
            let (exact, cell) = (exact && next.exact, key(before, next.leaf));
            if self.arity[length] > 0 {
                keys.push(Asked { key: cell, exact, peeked: self.cells.lists.peek(cell) });
            }
            if length == self.coordinates {
                continue;
            }
            let before = match length {
                1 => next.leaf.0,
                _ => match self.cells.prefixes.get(&cell) {
                    Some(prefix) => prefix.number,
                    None => continue,
                },
            };
            // A dimension gives one coordinate to a cell.
            let others = coordinates[at + 1..].iter().position(|other| other.attribute != next.attribute);
            if let Some(skip) = others {
                self.keys(&coordinates[at + 1 + skip..], before, length + 1, exact, keys);
            }
        }
    }
}

/// Calls with every combination of one leaf from each axis.
fn each_cell(axes: &[Vec<LeafId>], mut each: impl FnMut(&[LeafId])) {
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

impl Engine for PstHash {
    fn insert(&mut self, id: SubId, expression: &Normal) -> Result<()> {
        let mut ids = Vec::new();
        self.base.conjunctions.insert(id, expression, self.max_dnf, &mut self.base.predicates, &mut ids)?;
        for id in ids {
            self.place(id);
        }
        self.settle();
        Ok(())
    }

    fn remove(&mut self, id: SubId) {
        for id in self.base.conjunctions.of(id) {
            self.unplace(id);
            self.base.conjunctions.remove(id, &mut self.base.predicates);
        }
    }

    fn scratch(&self) -> Scratch {
        Box::new(HashScratch::default())
    }

    fn match_event(&self, event: &Event<'_>, scratch: &mut Scratch, matches: &mut Vec<SubId>) {
        let Some(scratch) = scratch.downcast_mut() else { return };
        let HashScratch { steps, coordinates, asked, found, seen } = scratch;
        steps.begin(event.attributes());
        seen.begin_event();
        coordinates.clear();
        asked.clear();
        found.clear();
        // Step 1: the leaves of the event.
        for cell in event.cells() {
            let (attribute, value) = (cell.attribute, event.resolve(cell.slot));
            steps.set(attribute, value);
            let Some((located, whole)) = self.base.spaces.locate(attribute, value) else { continue };
            for (leaf, exact) in [(located.leaf, located.exact), (located.second, false), (whole, true)] {
                if leaf != LeafId::NONE && self.uses[leaf.index()] > 0 {
                    coordinates.push(Coordinate { attribute, leaf, exact });
                }
            }
        }
        // Step 2: its cells.
        coordinates.sort_unstable_by_key(|coordinate| coordinate.attribute);
        // Each loop reads what the one before found, for all cells: so the waits for memory overlap.
        self.keys(coordinates, NOTHING, 1, true, asked);
        found.push(Found { list: self.everywhere, exact: true, touched: 0 });
        for &Asked { key, exact, peeked } in asked.iter() {
            let list = self.cells.lists.resolve(key, peeked);
            found.extend(list.map(|list| Found { list, exact, touched: 0 }));
        }
        for cell in found.iter_mut() {
            cell.touched = self.cells.records.get(cell.list).first().copied().unwrap_or(0);
        }
        // Step 3: the check. Where a fraction led, the access predicates are in doubt as well.
        for &Found { list, exact, .. } in found.iter() {
            for record in Records(self.cells.records.get(list)) {
                let id = record.conjunction;
                let holds = match exact {
                    true => record::holds(record.terms, steps, event, &self.base.predicates, |_| true),
                    false => self.base.satisfies(event, id),
                };
                if !holds {
                    continue;
                }
                let sub = self.base.conjunctions.owner(id);
                if exact && !record.several || seen.first_time(sub) {
                    matches.push(sub);
                }
            }
        }
    }

    fn observe(&mut self, event: &Event<'_>) {
        self.base.spaces.observe(event);
    }

    fn adapt(&mut self) {
        let ids: Vec<ConjId> = self.base.conjunctions.all().collect();
        for id in ids {
            let choice = self.choose(id);
            let conjunction = *self.base.conjunctions.get(id);
            let access = usize::from(choice.access);
            let same = (choice.access, choice.spread) == (conjunction.access, conjunction.spread)
                && self.base.conjunctions.predicates(id).take(access).eq(choice
                    .order
                    .iter()
                    .map(|ranked| ranked.id)
                    .take(access));
            if !same {
                self.unplace(id);
                self.place(id);
            }
        }
        self.settle();
    }

    fn validate(&self) -> Result<(), String> {
        self.base.validate()?;
        let bound = self.base.spaces.leaf_bound();
        let (mut expected, mut prefixes) = (FxHashMap::<u64, Vec<ConjId>>::default(), FxHashMap::default());
        let (mut members, mut uses) = (vec![Vec::new(); bound], vec![0; bound]);
        let (mut everywhere, mut arity) = (Vec::new(), [0; MOST_COORDINATES + 1]);
        for id in self.base.conjunctions.all() {
            let conjunction = self.base.conjunctions.get(id);
            arity[usize::from(conjunction.access)] += 1;
            if conjunction.access == 0 {
                everywhere.push(id);
                continue;
            }
            let axes = self.axes(id);
            for (at, axis) in axes.iter().enumerate() {
                for leaf in axis {
                    uses[leaf.index()] += 1;
                    if conjunction.spread & 1 << at != 0 {
                        members[leaf.index()].push(id.0);
                    }
                }
            }
            let (mut copies, mut lost) = (0, false);
            each_cell(&axes, |path| {
                copies += 1;
                match self.cells.key_of(path) {
                    Some(cell) => expected.entry(cell).or_default().push(id),
                    None => lost = true,
                }
                for end in 2..path.len() {
                    if let Some(prefix) = self.cells.key_of(&path[..end]) {
                        *prefixes.entry(prefix).or_insert(0u32) += 1;
                    }
                }
            });
            if lost || copies != conjunction.copies {
                return Err(format!("pst_hash: {id:?} has {copies} cells, counted {}", conjunction.copies));
            }
        }
        if arity != self.arity {
            return Err(format!("pst_hash: arities are {arity:?}, counted {:?}", self.arity));
        }
        let listed = |list: Block| -> Vec<ConjId> {
            let mut ids: Vec<_> =
                Records(self.cells.records.get(list)).map(|record| record.conjunction).collect();
            ids.sort_unstable();
            ids
        };
        if expected.len() != self.cells.lists.len() {
            return Err(format!("pst_hash: {} cells, should be {}", self.cells.lists.len(), expected.len()));
        }
        for (cell, mut wanted) in expected {
            wanted.sort_unstable();
            let list = self.cells.lists.get(cell).unwrap_or_default();
            if listed(list) != wanted {
                return Err(format!("pst_hash: cell {cell:x} lists {:?}, should {wanted:?}", listed(list)));
            }
            for record in Records(self.cells.records.get(list)) {
                if self.record(record.conjunction)[record::HEAD..] != *record.terms {
                    return Err(format!("pst_hash: the record of {:?} is out of date", record.conjunction));
                }
            }
        }
        let counted = |(key, prefix): (&u64, &Prefix)| prefixes.get(key) == Some(&prefix.uses);
        if prefixes.len() != self.cells.prefixes.len() || !self.cells.prefixes.iter().all(counted) {
            return Err("pst_hash: prefixes are not used as counted".into());
        }
        everywhere.sort_unstable();
        if listed(self.everywhere) != everywhere {
            return Err("pst_hash: the list for every event is wrong".into());
        }
        for leaf in 0..bound {
            let mut kept =
                self.members.get(leaf).map_or(Vec::new(), |list| self.member_lists.get(*list).to_vec());
            kept.sort_unstable();
            members[leaf].sort_unstable();
            if kept != members[leaf] || self.uses.get(leaf).copied().unwrap_or(0) != uses[leaf] {
                return Err(format!("pst_hash: the members or uses of leaf {leaf} are wrong"));
            }
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        self.base.memory()
            + self.cells.memory()
            + self.members.capacity() * size_of::<Block>()
            + self.member_lists.memory()
            + self.uses.capacity() * size_of::<u32>()
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        let mut stats = self.base.stats();
        let copies =
            self.base.conjunctions.all().map(|id| u64::from(self.base.conjunctions.get(id).copies)).sum();
        stats.extend([
            ("cells", self.cells.lists.len() as u64),
            ("records", copies),
            ("record_bytes", self.cells.records.memory() as u64),
        ]);
        stats
    }
}
