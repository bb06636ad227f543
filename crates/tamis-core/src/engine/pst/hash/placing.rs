//! Which cells list a conjunction, also after splits and merges?
//!
//! The axis of an access predicate is the set of leaves it covers. A conjunction is listed in every cell that takes one
//! leaf from each of its axes.

use super::PstHash;
use super::cells::each_cell;
use crate::engine::pst::base::{AccessChoice, AccessPlan, may_spread};
use crate::engine::shared::conjunctions::ConjId;
use crate::engine::shared::list_pool::ListRef;
use crate::engine::shared::placement::RankedPredicate;
use crate::engine::shared::predicates::PredId;
use crate::engine::shared::records::{self, Records};
use crate::schema::AttrId;
use crate::space::LeafId;

impl PstHash {
    /// The access predicates come in the order of attributes.
    pub(super) fn choose(&self, id: ConjId) -> AccessChoice {
        let mut ranked = self.base.ranked(id);
        let relocations = self.base.conjunctions.state(id).relocations;
        let first = ranked.iter().position(|ranked| {
            may_spread(ranked, relocations) && self.base.placed.fits(ranked, self.max_spaces)
        });
        let mut access: Vec<usize> = first.into_iter().collect();
        let mut cells = match first {
            Some(at) if self.max_coordinates > 1 && self.has_long_list(&ranked[at]) => {
                self.base.placed.leaves_within(&ranked[at], self.max_cells)
            }
            _ => None,
        };
        for (at, candidate) in ranked.iter().enumerate().skip(first.map_or(0, |first| first + 1)) {
            let (Some(so_far), true) = (cells, access.len() < self.max_coordinates) else { break };
            if may_spread(candidate, relocations)
                && let Some(leaves) = self.base.placed.leaves_within(candidate, self.max_cells / so_far)
            {
                access.push(at);
                cells = Some(so_far * leaves);
            }
        }
        let spread = access.len();
        if spread == 0 {
            access.extend(ranked.iter().position(RankedPredicate::needs_presence));
        }
        let mut order: Vec<RankedPredicate> = access.iter().rev().map(|&at| ranked.remove(at)).collect();
        order.sort_by_key(|chosen| chosen.attribute);
        order.extend(ranked);
        AccessChoice { order, access: access.len() as u8, spread: ((1 << spread) - 1) as u8, signed: 0 }
    }

    /// Whether a predicate alone would lead to a long list: whether its lowest leaf has many conjunctions.
    fn has_long_list(&self, ranked: &RankedPredicate) -> bool {
        let first = self.base.placed.first_leaf(ranked);
        self.long_list == 0 || first.is_some_and(|leaf| self.uses[leaf.index()] as usize >= self.long_list)
    }

    /// Lists a conjunction in its cells.
    pub(super) fn place(&mut self, id: ConjId) {
        let choice = self.choose(id);
        self.base.conjunctions.reorder(id, choice.order.iter().map(|ranked| ranked.id));
        self.base.add_dimensions(&choice.order);
        self.reserve_leaves();
        let access = &choice.order[..usize::from(choice.access)];
        for (at, ranked) in access.iter().enumerate() {
            if choice.spread & 1 << at != 0 {
                self.place_predicate(ranked);
            }
        }
        let plan = self.base.conjunctions.state_mut(id);
        (plan.access, plan.spread) = (choice.access, choice.spread);
        self.by_coordinates[usize::from(choice.access)] += 1;
        let record = self.record(id);
        if access.is_empty() {
            return self.cells.append(&mut self.unconditional, &record);
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
        let records = self.insert_in_cells(&axes, &record);
        self.base.conjunctions.state_mut(id).records = records;
    }

    /// Inserts a record into every cell of the axes; the number of cells.
    fn insert_in_cells(&mut self, axes: &[Vec<LeafId>], record: &[u32]) -> u32 {
        let mut count = 0;
        each_cell(axes, |cell| {
            self.cells.insert(cell, record);
            count += 1;
        });
        count
    }

    /// Removes a conjunction from cells and spaces; its number and its predicates stay.
    pub(super) fn withdraw(&mut self, id: ConjId) {
        let plan = *self.base.conjunctions.state(id);
        self.by_coordinates[usize::from(plan.access)] -= 1;
        if plan.access == 0 {
            return self.cells.remove_from(&mut self.unconditional, id);
        }
        let axes = self.axes(id);
        each_cell(&axes, |cell| self.cells.remove(cell, id));
        for axis in &axes {
            for leaf in axis {
                self.uses[leaf.index()] -= 1;
                if axes.len() > 1 {
                    self.remove_member(*leaf, id);
                }
            }
        }
        let placements: Vec<_> = self.base.placements(id).filter(|(_, placed)| *placed).collect();
        *self.base.conjunctions.state_mut(id) =
            AccessPlan { relocations: plan.relocations, ..AccessPlan::default() };
        for (predicate, _) in placements {
            let attribute = self.base.predicates.get(predicate).attribute;
            self.base.placed.withdraw(predicate, self.base.predicates.get(predicate), &mut self.changes);
            self.apply_merges(attribute);
        }
    }

    fn remove_member(&mut self, leaf: LeafId, id: ConjId) {
        let list = &mut self.members[leaf.index()];
        if let Some(at) = self.member_lists.get(*list).iter().position(|member| *member == id.0) {
            self.member_lists.remove_range(list, at, 1);
        }
    }

    /// The axes of a placed conjunction.
    pub(super) fn axes(&self, id: ConjId) -> Vec<Vec<LeafId>> {
        let access = usize::from(self.base.conjunctions.state(id).access);
        let placements = self.base.placements(id).take(access);
        placements.map(|(predicate, placed)| self.axis(predicate, placed)).collect()
    }

    fn axis(&self, predicate: PredId, spread: bool) -> Vec<LeafId> {
        let predicate = self.base.predicates.get(predicate);
        let mut axis = Vec::new();
        if spread {
            self.base.placed.cover(predicate, |leaf| axis.push(leaf));
        } else {
            axis.extend(self.base.placed.dimension(predicate.attribute).map(|dimension| dimension.whole()));
        }
        axis
    }

    /// As [`PstHash::axes`], with one leaf instead of the axis of its attribute.
    fn axes_through(&self, id: ConjId, attribute: AttrId, leaf: LeafId) -> Vec<Vec<LeafId>> {
        let access = usize::from(self.base.conjunctions.state(id).access);
        let axis = |(predicate, placed)| match self.base.predicates.get(predicate).attribute == attribute {
            true => vec![leaf],
            false => self.axis(predicate, placed),
        };
        self.base.placements(id).take(access).map(axis).collect()
    }

    fn reserve_leaves(&mut self) {
        let leaves = self.base.placed.leaf_bound();
        if self.uses.len() < leaves {
            self.uses.resize(leaves, 0);
            self.cells.reserve_leaves(leaves);
            self.members.resize(leaves, ListRef::EMPTY);
        }
    }

    /// Places a predicate. The records of a leaf that is split are copied to the cells of the leaf that is split off: the
    /// list of the leaf itself as a whole, then the cells in which it is one of several coordinates.
    fn place_predicate(&mut self, ranked: &RankedPredicate) {
        let attribute = ranked.attribute;
        if let Some(region) = ranked.region() {
            self.base.placed.place(ranked.id, attribute, region, &mut self.changes);
        }
        self.reserve_leaves();
        let mut splits = std::mem::take(&mut self.changes.splits);
        for split in splits.drain(..) {
            let members = self.member_lists.copy(self.members[split.kept.index()]);
            self.members[split.made.index()] = members;
            self.uses[split.made.index()] = self.uses[split.kept.index()];
            let list = self.cells.copy_single(split);
            for record in Records(self.cells.list(list)) {
                if self.base.count_record(record.conjunction, 1, self.max_spaces) {
                    self.overspread.push(record.conjunction);
                }
            }
            for at in 0..members.len() {
                let member = ConjId(self.member_lists.get(members)[at]);
                let (record, axes) = (self.record(member), self.axes_through(member, attribute, split.made));
                let records = self.insert_in_cells(&axes, &record);
                if self.base.count_record(member, records, self.max_cells) {
                    self.overspread.push(member);
                }
            }
        }
        // Returns the buffer for reuse.
        self.changes.splits = splits;
    }

    fn apply_merges(&mut self, attribute: AttrId) {
        let mut merges = std::mem::take(&mut self.changes.merges);
        for merge in merges.drain(..) {
            for id in self.cells.conjunctions(self.cells.single(merge.gone)) {
                self.base.conjunctions.state_mut(id).records -= 1;
            }
            self.cells.release_single(merge.gone);
            let members = std::mem::take(&mut self.members[merge.gone.index()]);
            self.uses[merge.gone.index()] = 0;
            for at in 0..members.len() {
                let member = ConjId(self.member_lists.get(members)[at]);
                let axes = self.axes_through(member, attribute, merge.gone);
                let mut count = 0;
                each_cell(&axes, |cell| {
                    self.cells.remove(cell, member);
                    count += 1;
                });
                self.base.conjunctions.state_mut(member).records -= count;
            }
            self.member_lists.release(members);
        }
        self.changes.merges = merges;
    }

    /// Relocates conjunctions that splits have spread too far.
    pub(super) fn relocate_overspread(&mut self) {
        while let Some(id) = self.overspread.pop() {
            if !self.base.conjunctions.contains(id) {
                continue;
            }
            let plan = self.base.conjunctions.state_mut(id);
            let limit = if plan.access == 1 { self.max_spaces } else { self.max_cells };
            if plan.records as usize > 2 * limit {
                plan.relocations += 1;
                self.withdraw(id);
                self.place(id);
            }
        }
    }

    /// The record of a conjunction: residual tests of the predicates that its cells do not guarantee.
    pub(super) fn record(&self, id: ConjId) -> Vec<u32> {
        let mut record = records::begin(id, self.base.conjunctions.is_one_of_several(id));
        for (predicate, _) in self.base.placements(id).filter(|(_, placed)| !placed) {
            records::add_term(&mut record, predicate, self.base.predicates.get(predicate), false);
        }
        records::finish(&mut record);
        record
    }
}
