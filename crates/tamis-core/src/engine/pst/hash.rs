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
//! attributes; `members` of a leaf are the conjunctions with that leaf as one of several coordinates; no cell is empty.
//!
//! Cost: matching O(cells of the event + candidates), where an event of m attributes has m!/(N!(m-N)!) cells; a
//! conjunction's record lies in up to `max_cells` cells, or in `max_spaces` leaves, twice that after splits.
//!
//! Deviations from the paper:
//! - Wide ranges do not explode: a second access predicate is taken only if the cells are then at most `max_cells`, and
//!   the first only if it covers at most `max_spaces` leaves; what is not taken is checked. If none can be taken, the
//!   conjunction is listed under the leaf of a whole dimension. A conjunction that later splits spread over twice as
//!   many cells is placed anew, first with only `=` and IN to be spread, then with nothing.
//! - A second access predicate is taken only where the first alone leads to long lists, of `long_list` conjunctions and
//!   more: a short list is read sooner than a cell is found. `long_list=0` takes it always, as the paper does.
//! - A conjunction with fewer than N usable predicates has as many coordinates as it has such predicates (the paper
//!   uses PSTBloom for those, which is the same as one coordinate, without signatures). An event with fewer than N
//!   attributes looks up what it has.
//! - Only access predicates cut spaces; the others are checked, next to where they are found (see `record`).
//! - Patterns, networks and quantified predicates have no leaves: they are checked, or lead through the whole
//!   dimension. What also holds for missing values is checked.

use super::cells::{Asked, Cells, Coordinate, MOST_COORDINATES, each_path};
use super::conjunctions::ConjId;
use super::record::{self, Attributes, HalfSteps, Records};
use super::spaces::Changes;
use super::{Asking, Base, Choice, Found, Ranked, Seen};
use crate::engine::registry::{
    Construction, EngineInfo, Family, OptionInfo, OptionKind, OptionValues, Takes,
};
use crate::engine::shared::list_pool::{ListPool, ListRef};
use crate::engine::shared::predicates::PredId;
use crate::engine::{Engine, SubId};
use crate::error::Result;
use crate::event::Event;
use crate::expr::{Limits, Normal};
use crate::schema::AttrId;
use crate::space::LeafId;

/// Its entry in the registry.
pub(in crate::engine) const HASH_INFO: EngineInfo = EngineInfo {
    name: "pst_hash",
    description: "PSTHash: several access predicates, a hash table of the spaces of PS-Trees",
    family: Family::Paper,
    takes: Takes::Conjunctions,
    exact: true,
    options: &[
        OptionInfo {
            name: "access_predicates",
            description: "the paper's N: maximum access predicates of a conjunction",
            kind: OptionKind::WholeNumber { default: 2, range: 1..=MOST_COORDINATES },
        },
        OptionInfo {
            name: "max_cells",
            description: "maximum cells that list a conjunction with several access predicates",
            kind: OptionKind::WholeNumber { default: 16, range: 1..=1 << 20 },
        },
        OptionInfo {
            name: "max_spaces",
            description: "maximum leaves that list a conjunction with one access predicate",
            kind: OptionKind::WholeNumber { default: 128, range: 1..=1 << 20 },
        },
        OptionInfo {
            name: "long_list",
            description: "minimum conjunctions in the first leaf for a second access predicate",
            kind: OptionKind::WholeNumber { default: 256, range: 0..=1 << 20 },
        },
    ],
    construction: Construction::InPlace(|options, limits| Box::new(PstHash::new(options, limits))),
};

/// See the module's head.
#[derive(Debug)]
pub(in crate::engine) struct PstHash {
    base: Base,
    cells: Cells,
    /// By leaf: the conjunctions that have it as one of several coordinates.
    members: Vec<ListRef>,
    member_lists: ListPool<u32, 1>,
    /// By leaf: how many conjunctions have it as a coordinate. Most leaves of an event lead nowhere.
    uses: Vec<u32>,
    /// What every event must be checked with.
    everywhere: ListRef,
    /// By number of coordinates: how many conjunctions.
    lengths: [usize; MOST_COORDINATES + 1],
    /// Conjunctions that splits may have spread too far.
    crowded: Vec<ConjId>,
    changes: Changes,
    /// The paper's N.
    coordinates: usize,
    max_cells: usize,
    max_spaces: usize,
    long_list: usize,
    max_dnf: usize,
}

/// What a thread needs to match.
#[derive(Default)]
pub(in crate::engine) struct HashScratch {
    steps: HalfSteps,
    coordinates: Vec<Coordinate>,
    asked: Vec<Asked>,
    found: Vec<Found>,
    seen: Seen,
}

impl PstHash {
    /// An empty engine.
    pub fn new(options: &OptionValues, limits: &Limits) -> PstHash {
        PstHash {
            base: Base::default(),
            cells: Cells::default(),
            members: Vec::new(),
            member_lists: ListPool::default(),
            uses: Vec::new(),
            everywhere: ListRef::default(),
            lengths: [0; MOST_COORDINATES + 1],
            crowded: Vec::new(),
            changes: Changes::default(),
            coordinates: options.whole_number("access_predicates"),
            max_cells: options.whole_number("max_cells"),
            max_spaces: options.whole_number("max_spaces"),
            long_list: options.whole_number("long_list"),
            max_dnf: limits.max_dnf,
        }
    }

    /// The access predicates come in the order of attributes.
    fn choose(&self, id: ConjId) -> Choice {
        let mut ranked = self.base.ranked(id);
        let crowded = self.base.conjunctions.get(id).crowded;
        let first = ranked
            .iter()
            .position(|ranked| ranked.may_spread(crowded) && self.base.spaces.fits(ranked, self.max_spaces));
        let mut access: Vec<usize> = first.into_iter().collect();
        let mut cells = match first {
            Some(at) if self.coordinates > 1 && self.is_crowded(&ranked[at]) => {
                self.base.spaces.count(&ranked[at], self.max_cells)
            }
            _ => None,
        };
        for (at, candidate) in ranked.iter().enumerate().skip(first.map_or(0, |first| first + 1)) {
            let (Some(so_far), true) = (cells, access.len() < self.coordinates) else { break };
            if candidate.may_spread(crowded)
                && let Some(count) = self.base.spaces.count(candidate, self.max_cells / so_far)
            {
                access.push(at);
                cells = Some(so_far * count);
            }
        }
        let spread = access.len();
        if spread == 0 {
            access.extend(ranked.iter().position(Ranked::needs_presence));
        }
        let mut chosen: Vec<Ranked> = access.iter().rev().map(|&at| ranked.remove(at)).collect();
        chosen.sort_by_key(|chosen| chosen.attribute);
        chosen.extend(ranked);
        let spread = ((1 << spread) - 1) as u8;
        Choice { order: chosen, access: access.len() as u8, spread, signed: 0 }
    }

    /// Whether lists of one leaf would be long for a predicate: whether its lowest leaf has many conjunctions already.
    fn is_crowded(&self, ranked: &Ranked) -> bool {
        let first = self.base.spaces.first_leaf(ranked);
        self.long_list == 0 || first.is_some_and(|leaf| self.uses[leaf.index()] as usize >= self.long_list)
    }

    fn place(&mut self, id: ConjId) {
        let choice = self.choose(id);
        self.base.conjunctions.reorder(id, choice.order.iter().map(|ranked| ranked.id));
        self.base.know_attributes(&choice.order);
        self.make_room();
        let access = &choice.order[..usize::from(choice.access)];
        for (at, ranked) in access.iter().enumerate() {
            if choice.spread & 1 << at != 0 {
                self.place_predicate(ranked);
            }
        }
        let conjunction = self.base.conjunctions.get_mut(id);
        (conjunction.access, conjunction.spread) = (choice.access, choice.spread);
        self.lengths[usize::from(choice.access)] += 1;
        let record = self.record(id);
        if access.is_empty() {
            return self.cells.append(&mut self.everywhere, &record);
        }
        let axes = self.axes(id);
        for axis in &axes {
            for leaf in axis {
                self.uses[leaf.index()] += 1;
                if axes.len() > 1 {
                    self.member_lists.extend(&mut self.members[leaf.index()], &[id.0]);
                }
            }
        }
        let mut copies = 0;
        each_path(&axes, |path| {
            self.cells.insert(path, &record);
            copies += 1;
        });
        self.base.conjunctions.get_mut(id).copies = copies;
    }

    /// Takes a conjunction out of cells and spaces; it keeps its number and its predicates.
    fn unplace(&mut self, id: ConjId) {
        let conjunction = *self.base.conjunctions.get(id);
        self.lengths[usize::from(conjunction.access)] -= 1;
        if conjunction.access == 0 {
            return self.cells.remove_from(&mut self.everywhere, id);
        }
        let axes = self.axes(id);
        each_path(&axes, |path| self.cells.remove(path, id));
        for axis in &axes {
            for leaf in axis {
                self.uses[leaf.index()] -= 1;
                if axes.len() > 1 {
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
            self.member_lists.remove_range(list, at, 1);
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
            self.cells.make_room(leaves);
            self.members.resize(leaves, ListRef::default());
        }
    }

    fn place_predicate(&mut self, ranked: &Ranked) {
        let attribute = ranked.attribute;
        if let Some(region) = ranked.region() {
            self.base.spaces.place(ranked.id, attribute, region, &mut self.changes);
        }
        self.make_room();
        let splits = std::mem::take(&mut self.changes.splits);
        for &split in &splits {
            let members = self.member_lists.copy(self.members[split.kept.index()]);
            self.members[split.made.index()] = members;
            self.uses[split.made.index()] = self.uses[split.kept.index()];
            // The records of the old space are copied to the cells of the new one: where it is the only coordinate,
            // as they lie; then where it is one of several.
            let list = self.cells.copy_single(split);
            for record in Records(self.cells.words(list)) {
                let conjunction = self.base.conjunctions.get_mut(record.conjunction);
                conjunction.copies += 1;
                if conjunction.copies as usize > 2 * self.max_spaces {
                    self.crowded.push(record.conjunction);
                }
            }
            for at in 0..members.len() {
                let member = ConjId(self.member_lists.get(members)[at]);
                let (record, axes) = (self.record(member), self.axes_through(member, attribute, split.made));
                let mut copies = 0;
                each_path(&axes, |path| {
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
            for id in self.cells.conjunctions(self.cells.single(merge.gone)) {
                self.base.conjunctions.get_mut(id).copies -= 1;
            }
            self.cells.release_single(merge.gone);
            let members = std::mem::take(&mut self.members[merge.gone.index()]);
            self.uses[merge.gone.index()] = 0;
            for at in 0..members.len() {
                let member = ConjId(self.member_lists.get(members)[at]);
                let axes = self.axes_through(member, attribute, merge.gone);
                let mut copies = 0;
                each_path(&axes, |path| {
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

    /// How many cells a conjunction with so many coordinates may have.
    fn limit(&self, coordinates: u8) -> usize {
        if coordinates == 1 { self.max_spaces } else { self.max_cells }
    }

    /// Places anew what splits have spread too far.
    fn settle(&mut self) {
        while let Some(id) = self.crowded.pop() {
            if !self.base.conjunctions.contains(id) {
                continue;
            }
            let conjunction = self.base.conjunctions.get(id);
            if conjunction.copies as usize > 2 * self.limit(conjunction.access) {
                self.base.conjunctions.get_mut(id).crowded += 1;
                self.unplace(id);
                self.place(id);
            }
        }
    }

    /// What is to be checked of a conjunction: the predicates its cells do not guarantee.
    fn record(&self, id: ConjId) -> Vec<u32> {
        let mut record = Vec::with_capacity(16);
        record::begin(&mut record, id, self.base.conjunctions.is_one_of_several(id));
        for (predicate, _) in self.base.placements(id).filter(|(_, placed)| !placed) {
            record::add_term(&mut record, predicate, self.base.predicates.get(predicate), false);
        }
        record::finish(&mut record);
        record
    }
}

impl Engine for PstHash {
    type Scratch = HashScratch;

    fn name(&self) -> &'static str {
        HASH_INFO.name
    }

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

    fn match_event(&self, event: &Event<'_>, scratch: &mut HashScratch, matches: &mut Vec<SubId>) {
        let HashScratch { steps, coordinates, asked, found, seen } = scratch;
        steps.begin(event.attributes());
        seen.begin_event();
        coordinates.clear();
        asked.clear();
        found.clear();
        // Step 1: the leaves of the event.
        let mut present = Attributes::default();
        for cell in event.cells() {
            let (attribute, value) = (cell.attribute, event.resolve(cell.slot));
            steps.set(attribute, value);
            present.add(attribute);
            let Some((located, whole)) = self.base.spaces.locate(attribute, value) else { continue };
            for (leaf, exact) in [(located.leaf, located.exact), (located.next_integer, false)] {
                if leaf != LeafId::NONE && self.uses[leaf.index()] > 0 {
                    coordinates.push(Coordinate { attribute, leaf, exact });
                    found.push(Found::new(self.cells.single(leaf), exact));
                }
            }
            if self.uses[whole.index()] > 0 {
                found.push(Found::new(self.cells.single(whole), true));
            }
        }
        // Step 2: its cells. Each loop reads what the one before found, for all cells, so that the waits for memory
        // overlap.
        coordinates.sort_unstable_by_key(|coordinate| coordinate.attribute);
        self.cells.ask(coordinates, &self.lengths, asked);
        found.push(Found::new(self.everywhere, true));
        for asked in asked.iter() {
            let list = self.cells.answer(*asked);
            found.extend(list.map(|list| Found::new(list, asked.exact)));
        }
        for cell in found.iter_mut() {
            cell.touched = self.cells.words(cell.list).first().copied().unwrap_or(0);
        }
        // Step 3: the check.
        let asking = Asking { event, present, steps };
        for &Found { list, exact, .. } in found.iter() {
            self.base.check(self.cells.words(list), exact, &asking, |_, _| true, seen, matches);
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
        let (mut members, mut uses) = (vec![Vec::new(); bound], vec![0; bound]);
        let (mut expected, mut everywhere) = (Vec::new(), Vec::new());
        let mut lengths = [0; MOST_COORDINATES + 1];
        for id in self.base.conjunctions.all() {
            let conjunction = self.base.conjunctions.get(id);
            lengths[usize::from(conjunction.access)] += 1;
            if conjunction.access == 0 {
                everywhere.push(id);
                continue;
            }
            let axes = self.axes(id);
            for axis in &axes {
                for leaf in axis {
                    uses[leaf.index()] += 1;
                    if axes.len() > 1 {
                        members[leaf.index()].push(id.0);
                    }
                }
            }
            let mut copies = 0;
            each_path(&axes, |path| {
                copies += 1;
                expected.push((path.to_vec(), id));
            });
            if copies != conjunction.copies {
                return Err(format!("pst_hash: {id:?} has {copies} cells, counted {}", conjunction.copies));
            }
        }
        if lengths != self.lengths {
            return Err(format!("pst_hash: lengths are {lengths:?}, counted {:?}", self.lengths));
        }
        self.cells.validate(&expected, |id| self.record(id))?;
        everywhere.sort_unstable();
        if self.cells.conjunctions(self.everywhere) != everywhere {
            return Err("pst_hash: the list for every event is wrong".into());
        }
        for leaf in 0..bound {
            let list = self.members.get(leaf).copied().unwrap_or_default();
            let mut kept = self.member_lists.get(list).to_vec();
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
            + self.members.capacity() * size_of::<ListRef>()
            + self.member_lists.memory()
            + self.uses.capacity() * size_of::<u32>()
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        let mut stats = self.base.stats();
        let copies =
            self.base.conjunctions.all().map(|id| u64::from(self.base.conjunctions.get(id).copies)).sum();
        stats.extend([
            ("cells", self.cells.len() as u64),
            ("records", copies),
            ("cell_bytes", self.cells.memory() as u64),
        ]);
        stats
    }
}
