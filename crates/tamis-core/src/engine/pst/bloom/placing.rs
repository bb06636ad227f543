//! Which leaves list a conjunction, also after splits and merges?

use super::PstBloom;
use crate::engine::pst::base::{AccessChoice, AccessPlan, may_spread};
use crate::engine::shared::conjunctions::ConjId;
use crate::engine::shared::list_pool::ListRef;
use crate::engine::shared::placement::RankedPredicate;
use crate::engine::shared::records::{self, Records};
use crate::schema::AttrId;

impl PstBloom {
    pub(super) fn choose(&self, id: ConjId) -> AccessChoice {
        let mut ranked = self.base.ranked(id);
        let relocations = self.base.conjunctions.state(id).relocations;
        let spread = ranked.iter().position(|ranked| {
            may_spread(ranked, relocations) && self.base.placed.fits(ranked, self.max_spaces)
        });
        let access = spread.or_else(|| ranked.iter().position(RankedPredicate::needs_presence));
        let mut order: Vec<RankedPredicate> = access.map(|at| ranked.remove(at)).into_iter().collect();
        let (signed, rest): (Vec<_>, Vec<_>) = ranked.into_iter().partition(|ranked| self.signs(ranked));
        let count = signed.len() as u32;
        order.extend(signed.into_iter().chain(rest));
        AccessChoice {
            access: u8::from(access.is_some()),
            spread: u8::from(spread.is_some()),
            signed: count,
            order,
        }
    }

    /// Lists and signs a conjunction.
    pub(super) fn place(&mut self, id: ConjId) {
        let choice = self.choose(id);
        self.base.conjunctions.reorder(id, choice.order.iter().map(|ranked| ranked.id));
        self.base.add_dimensions(&choice.order);
        self.reserve_leaves();
        let plan = self.base.conjunctions.state_mut(id);
        (plan.access, plan.spread, plan.signed) = (choice.access, choice.spread, choice.signed);
        let signed = usize::from(choice.access)..usize::from(choice.access) + choice.signed as usize;
        for (at, ranked) in choice.order.iter().enumerate() {
            if at == 0 && choice.spread == 1 || signed.contains(&at) {
                self.place_predicate(ranked);
            }
        }
        let record = self.record(id);
        match (choice.access, choice.spread) {
            (0, _) => self.records.extend(&mut self.unconditional, &record),
            (_, 0) => {
                let leaf = self.base.placed.whole_leaf(choice.order[0].attribute);
                self.records.extend(&mut self.lists[leaf.index()], &record);
                self.base.conjunctions.state_mut(id).records = 1;
            }
            _ => {
                let Self { base, lists, records, .. } = self;
                let mut count = 0;
                if let Some(region) = choice.order[0].region() {
                    base.placed.cover_region(choice.order[0].attribute, region, |leaf| {
                        records.extend(&mut lists[leaf.index()], &record);
                        count += 1;
                    });
                }
                base.conjunctions.state_mut(id).records = count;
            }
        }
        for ranked in &choice.order[signed] {
            self.sign(id, ranked);
        }
    }

    /// Removes a conjunction from lists and spaces; its number and its predicates stay.
    pub(super) fn withdraw(&mut self, id: ConjId) {
        let plan = *self.base.conjunctions.state(id);
        let placements: Vec<_> = self.base.placements(id).collect();
        match (plan.access, plan.spread) {
            (0, _) => records::remove(&mut self.records, &mut self.unconditional, id),
            (_, 0) => {
                let attribute = self.base.predicates.get(placements[0].0).attribute;
                let leaf = self.base.placed.whole_leaf(attribute);
                records::remove(&mut self.records, &mut self.lists[leaf.index()], id);
            }
            _ => {
                let Self { base, lists, records, .. } = self;
                base.placed.cover(base.predicates.get(placements[0].0), |leaf| {
                    records::remove(records, &mut lists[leaf.index()], id);
                });
            }
        }
        for &(predicate, _) in placements[usize::from(plan.access)..].iter().take(plan.signed as usize) {
            self.mark_stale(predicate);
        }
        *self.base.conjunctions.state_mut(id) =
            AccessPlan { relocations: plan.relocations, ..AccessPlan::default() };
        for (predicate, placed) in placements {
            if placed {
                let predicate_of = self.base.predicates.get(predicate);
                let attribute = predicate_of.attribute;
                self.base.placed.withdraw(predicate, predicate_of, &mut self.changes);
                self.apply_merges(attribute);
            }
        }
    }

    fn reserve_leaves(&mut self) {
        let leaves = self.base.placed.leaf_bound();
        if self.lists.len() < leaves {
            self.lists.resize(leaves, ListRef::EMPTY);
            self.signatures.reserve_leaves(leaves);
        }
    }

    /// Places a predicate; a leaf that is split off gets a copy of list and signature.
    fn place_predicate(&mut self, ranked: &RankedPredicate) {
        if let Some(region) = ranked.region() {
            self.base.placed.place(ranked.id, ranked.attribute, region, &mut self.changes);
        }
        self.reserve_leaves();
        for split in self.changes.splits.drain(..) {
            let list = self.records.copy(self.lists[split.kept.index()]);
            self.lists[split.made.index()] = list;
            for record in Records(self.records.get(list)) {
                if self.base.count_record(record.conjunction, 1, self.max_spaces) {
                    self.overspread.push(record.conjunction);
                }
            }
            self.signatures.split(ranked.attribute, split);
        }
    }

    fn apply_merges(&mut self, attribute: AttrId) {
        for merge in self.changes.merges.drain(..) {
            let list = std::mem::take(&mut self.lists[merge.gone.index()]);
            for record in Records(self.records.get(list)) {
                self.base.conjunctions.state_mut(record.conjunction).records -= 1;
            }
            self.records.release(list);
            self.signatures.merge(attribute, merge);
        }
    }

    /// Relocates conjunctions that splits have spread too far.
    pub(super) fn relocate_overspread(&mut self) {
        while let Some(id) = self.overspread.pop() {
            if !self.base.conjunctions.contains(id) {
                continue;
            }
            let plan = self.base.conjunctions.state_mut(id);
            if plan.records as usize > 2 * self.max_spaces {
                plan.relocations += 1;
                self.withdraw(id);
                self.place(id);
            }
        }
    }

    /// The record of a conjunction. A spread access predicate needs no test: the leaves guarantee it.
    pub(super) fn record(&self, id: ConjId) -> Vec<u32> {
        let mut record = records::begin(id, self.base.conjunctions.is_one_of_several(id));
        let plan = self.base.conjunctions.state(id);
        let access = usize::from(plan.access);
        let signed = access..access + plan.signed as usize;
        for (at, id) in self.base.conjunctions.predicates(id).enumerate().skip(usize::from(plan.spread)) {
            records::add_term(&mut record, id, self.base.predicates.get(id), signed.contains(&at));
        }
        records::finish(&mut record);
        record
    }
}
