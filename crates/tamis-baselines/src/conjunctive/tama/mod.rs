//! TAMA: approximate matching by counting over layered tables of subranges.
//!
//! Paper: Y. Zhao and J. Wu, Towards Approximate Event Processing in a Large-Scale Content-Based Network, ICDCS 2011; the
//! GEM-Tree paper (IEEE Access 2019) compares with it.
//!
//! Idea: each attribute has a table of layers; layer `l` divides its values into `2^l` subranges. A predicate is stored in
//! the fewest subranges that cover its range, rounded outwards to the bottom layer. An event visits one subrange per layer
//! and attribute, and counts the conjunctions stored there; one whose count reaches the number of its predicates matches.
//!
//! **Approximate**: a range is rounded to subranges, so an event may match conjunctions that it does not satisfy; it misses
//! none. More layers round less. With `final_check` every match is evaluated, and answers are exact.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `table` | which subranges cover a range, and which contain a value? |
//! | `check` | do the tables agree with the conjunctions? |
//!
//! Invariants: a conjunction is listed once in each subrange that covers one of its predicates, once per predicate; those
//! without a predicate that needs a value are in the list for every event.
//!
//! Cost: a predicate has at most two entries of 4 bytes per layer; matching O(layers x attributes of the event + entries
//! there), which includes conjunctions whose other predicates fail: counting excludes nothing early. Removal is linear in the
//! lists.
//!
//! Deviations from the paper:
//! - Subranges are not equal parts of a range that is known in advance: the bottom layer is cut at ends of the predicates, so
//!   any domain works, and with fewer distinct ends than subranges answers on intervals are exact. The tables are built again
//!   when the conjunctions have doubled, and after a batch.
//! - An attribute has no more layers than its predicates can tell apart.
//! - All operators: sets are several ranges; patterns, networks and quantifiers are rounded to all values of the kind they
//!   accept; predicates that a missing value satisfies are not counted, which is as approximate as the rest.

mod check;
mod table;

use table::LayeredTable;
use tamis_core::engine::registry::{
    Construction, EngineInfo, Family, OptionInfo, OptionKind, OptionValues, Takes,
};
use tamis_core::engine::shared::conjunctions::{ConjId, Conjunctions};
use tamis_core::engine::shared::dedup::SubscriptionDedup;
use tamis_core::engine::shared::list_pool::{ListPool, ListRef, shrink};
use tamis_core::engine::shared::ordinals::{Ordinal, Ordinals, Span, ends_of};
use tamis_core::engine::shared::predicates::Predicates;
use tamis_core::engine::{Engine, SubId};
use tamis_core::event::Event;
use tamis_core::expr::{Limits, Normal};
use tamis_core::{AttrId, Result};

/// Its entry in the registry.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "tama",
    description: "TAMA: counting over layered tables of subranges; approximate, never misses",
    family: Family::Baseline,
    takes: Takes::Conjunctions,
    exact: false,
    options: &[
        OptionInfo {
            name: "level",
            description: "discretization level: maximum layers below the first, each with twice as many subranges",
            kind: OptionKind::WholeNumber { default: 13, range: 0..=20 },
        },
        OptionInfo {
            name: "final_check",
            description: "evaluates every match, so that answers are exact",
            kind: OptionKind::Switch { default: false },
        },
    ],
    construction: Construction::InPlace(|options, limits| Box::new(Tama::new(options, limits))),
};

/// A conjunction as lists name it: dense numbers, so that counters are an array.
#[derive(Clone, Copy, Debug)]
struct Slot {
    conjunction: ConjId,
    /// Number of its predicates that are counted; 0 for unused slots and for those in the list for every event.
    needed: u32,
}

/// Where a conjunction is.
#[derive(Clone, Copy, Debug, Default)]
struct Location {
    /// Its position in [`Tama::slots`].
    slot: u32,
}

/// See the module's head.
#[derive(Debug)]
struct Tama {
    predicates: Predicates,
    conjunctions: Conjunctions<Location>,
    /// By attribute.
    tables: Vec<LayeredTable>,
    /// The lists of all subranges, of slots.
    postings: ListPool<u32, 2>,
    slots: Vec<Slot>,
    /// Unused positions of `slots`.
    free_slots: Vec<u32>,
    /// Slots of the conjunctions that every event is a candidate of.
    unconditional: ListRef,
    /// Insertions and removals since the tables were built.
    changes: usize,
    /// Maximum layers below the first.
    level: usize,
    final_check: bool,
    /// Maximum conjunctions of a subscription.
    max_dnf: usize,
}

/// The buffers of one matching thread.
#[derive(Default)]
struct TamaScratch {
    /// By slot: the number of the last event that counted it, and its count then.
    counters: Vec<(u32, u32)>,
    /// The number of the current event, from 1 on.
    event: u32,
    dedup: SubscriptionDedup,
}

/// Maximum conjunctions whose predicates the cuts are chosen from.
const SAMPLE: usize = 50_000;

impl Tama {
    fn new(options: &OptionValues, limits: &Limits) -> Tama {
        Tama {
            predicates: Predicates::default(),
            conjunctions: Conjunctions::default(),
            tables: Vec::new(),
            postings: ListPool::default(),
            slots: Vec::new(),
            free_slots: Vec::new(),
            unconditional: ListRef::EMPTY,
            changes: 0,
            level: options.whole_number("level"),
            final_check: options.switch("final_check"),
            max_dnf: limits.max_dnf,
        }
    }

    /// The attribute and the accepted spans of each predicate that is counted.
    fn counted(&self, id: ConjId) -> impl Iterator<Item = (AttrId, Vec<Span>)> + '_ {
        self.conjunctions.predicates(id).filter_map(|predicate| {
            let predicate = self.predicates.get(predicate);
            Some((predicate.attribute, Ordinals::default().spans(predicate)?))
        })
    }

    /// The subranges that a conjunction is listed in.
    fn listed(&self, id: ConjId) -> Vec<(AttrId, usize)> {
        let cover = |(attribute, spans): (AttrId, Vec<Span>)| {
            let numbers = match self.tables.get(attribute.index()) {
                Some(table) => table.cover(&spans),
                None => LayeredTable::default().cover(&spans),
            };
            numbers.into_iter().map(move |number| (attribute, number))
        };
        self.counted(id).flat_map(cover).collect()
    }

    /// Lists a conjunction.
    fn place(&mut self, id: ConjId) {
        let (slot, listed) = (self.conjunctions.state(id).slot, self.listed(id));
        let needed = self.counted(id).count() as u32;
        self.slots[slot as usize] = Slot { conjunction: id, needed };
        if needed == 0 {
            return self.postings.extend(&mut self.unconditional, &[slot]);
        }
        for (attribute, number) in listed {
            if self.tables.len() <= attribute.index() {
                self.tables.resize_with(attribute.index() + 1, LayeredTable::default);
            }
            self.postings.extend(self.tables[attribute.index()].list_mut(number), &[slot]);
        }
    }

    /// Reverts [`Tama::place`].
    fn withdraw(&mut self, id: ConjId) {
        let slot = self.conjunctions.state(id).slot;
        if self.slots[slot as usize].needed == 0 {
            return table::remove(&mut self.postings, &mut self.unconditional, slot);
        }
        for (attribute, number) in self.listed(id) {
            table::remove(&mut self.postings, self.tables[attribute.index()].list_mut(number), slot);
        }
    }

    /// Cuts the tables by the predicates there are, and lists all conjunctions again.
    fn rebuild(&mut self) {
        let step = (self.conjunctions.len() / SAMPLE).max(1);
        let mut ends: Vec<Vec<Ordinal>> = vec![Vec::new(); self.tables.len()];
        for id in self.conjunctions.all().step_by(step) {
            for (attribute, spans) in self.counted(id) {
                ends[attribute.index()].extend(spans.into_iter().flat_map(ends_of));
            }
        }
        self.tables = ends.iter_mut().map(|ends| LayeredTable::new(ends, self.level)).collect();
        self.postings = ListPool::default();
        self.unconditional = ListRef::EMPTY;
        self.changes = 0;
        let all: Vec<ConjId> = self.conjunctions.all().collect();
        all.into_iter().for_each(|id| self.place(id));
    }

    /// Reports a conjunction whose predicates have all been counted.
    #[inline]
    fn report(&self, id: ConjId, event: &Event<'_>, dedup: &mut SubscriptionDedup, matches: &mut Vec<SubId>) {
        let holds = || self.conjunctions.predicates(id).all(|one| self.predicates.get(one).holds(event));
        if self.final_check && !holds() {
            return;
        }
        let sub = self.conjunctions.owner(id);
        if !self.conjunctions.is_one_of_several(id) || dedup.insert(sub) {
            matches.push(sub);
        }
    }
}

impl Engine for Tama {
    type Scratch = TamaScratch;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn insert(&mut self, id: SubId, expression: &Normal) -> Result<()> {
        let mut ids = Vec::new();
        self.conjunctions.insert(id, expression, self.max_dnf, &mut self.predicates, &mut ids)?;
        for &id in &ids {
            let slot = self.free_slots.pop().unwrap_or_else(|| {
                self.slots.push(Slot { conjunction: id, needed: 0 });
                self.slots.len() as u32 - 1
            });
            self.conjunctions.state_mut(id).slot = slot;
            self.place(id);
        }
        self.changes += ids.len();
        if self.changes > self.conjunctions.len() / 2 {
            self.rebuild();
        }
        Ok(())
    }

    fn remove(&mut self, id: SubId) {
        for id in self.conjunctions.of(id) {
            self.withdraw(id);
            let slot = self.conjunctions.state(id).slot;
            self.slots[slot as usize].needed = 0;
            self.free_slots.push(slot);
            self.conjunctions.remove(id, &mut self.predicates);
            self.changes += 1;
        }
    }

    fn match_event(&self, event: &Event<'_>, scratch: &mut TamaScratch, matches: &mut Vec<SubId>) {
        let TamaScratch { counters, event: number, dedup } = scratch;
        dedup.begin_event();
        *number = number.wrapping_add(1);
        if *number == 0 {
            counters.fill((0, 0));
            *number = 1;
        }
        if counters.len() < self.slots.len() {
            counters.resize(self.slots.len(), (0, 0));
        }
        for &slot in self.postings.get(self.unconditional) {
            self.report(self.slots[slot as usize].conjunction, event, dedup, matches);
        }
        for cell in event.cells() {
            let Some(table) = self.tables.get(cell.attribute.index()) else { continue };
            let at = Ordinals::default().of(event.resolve(cell.slot));
            for list in table.lists_at(at) {
                for &slot in self.postings.get(list) {
                    let counter = &mut counters[slot as usize];
                    let count = if counter.0 == *number { counter.1 + 1 } else { 1 };
                    *counter = (*number, count);
                    let Slot { conjunction, needed } = self.slots[slot as usize];
                    if count == needed {
                        self.report(conjunction, event, dedup, matches);
                    }
                }
            }
        }
    }

    fn defragment(&mut self) {
        if self.changes > 0 {
            self.rebuild();
        }
        self.predicates.defragment();
        self.conjunctions.defragment();
        shrink(&mut self.slots);
        shrink(&mut self.free_slots);
        let lists = self.tables.iter_mut().flat_map(LayeredTable::lists_mut);
        self.postings.defragment(lists.chain([&mut self.unconditional]));
    }

    fn validate(&self) -> Result<(), String> {
        self.check()
    }

    fn memory(&self) -> usize {
        self.predicates.memory()
            + self.conjunctions.memory()
            + self.tables.capacity() * size_of::<LayeredTable>()
            + self.tables.iter().map(LayeredTable::memory).sum::<usize>()
            + self.postings.memory()
            + self.slots.capacity() * size_of::<Slot>()
            + self.free_slots.capacity() * size_of::<u32>()
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        let lists = self.tables.iter().flat_map(|table| table.lists());
        vec![
            ("conjunctions", self.conjunctions.len() as u64),
            ("distinct_predicates", self.predicates.len() as u64),
            ("subranges", self.tables.iter().map(|table| table.lists().len() as u64).sum()),
            ("layers", self.tables.iter().map(|table| u64::from(table.layers())).max().unwrap_or(0)),
            ("entries", lists.map(|list| list.len() as u64).sum()),
        ]
    }
}
