//! PSTHash: the spaces of several access predicates together lead to a subscription.
//!
//! Paper: section 6 (Algorithms 6 and 7).
//!
//! Idea: the N most selective predicates of a conjunction are its access predicates (N is 2 by default). Each covers
//! some leaves of its dimension; every combination of one leaf from each is a cell, and the cells that it covers list the
//! conjunction. A hash table finds the list of a cell. An event has one leaf in each of its dimensions, so it belongs to
//! one cell for every N of them: it probes them all, and satisfies all access predicates of the conjunctions it finds.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `placing` | which cells list a conjunction, also after splits and merges? |
//! | `cells` | what is the list of a cell, and which cells does an event probe? |
//! | `cell_table` | how are thousands of keys probed in a row? |
//! | `check` | do cells and counters agree with the conjunctions? |
//!
//! Invariants: exactly the cells that its access predicates span list a conjunction, coordinates in the order of
//! attributes; `members` of a leaf are the conjunctions with that leaf as one of several coordinates; no cell is empty.
//!
//! Cost: matching O(cells of the event + records in them), where an event of m attributes has m!/(N!(m-N)!) cells; a
//! conjunction has one record in each of at most `max_cells` cells, or `max_spaces` leaves, twice that after splits.
//!
//! Deviations from the paper:
//! - Wide ranges are bounded: a second access predicate is taken only if the cells are then at most `max_cells`, and the
//!   first only if it covers at most `max_spaces` leaves; the others are tested. If none can be taken, the leaf of a whole
//!   dimension lists the conjunction. A conjunction that later splits spread over more than twice as many cells is
//!   relocated: the first time only `=` and IN may be spread, then nothing.
//! - A second access predicate is taken only where the first alone leads to lists of at least `long_list` conjunctions: a
//!   short list is read in less time than a cell is found. `long_list=0` takes it always, as the paper does.
//! - A conjunction with fewer than N usable predicates has as many coordinates as usable predicates (the paper uses
//!   PSTBloom for those, which is one coordinate and signatures). An event with fewer than N attributes probes what it has.
//! - Only access predicates cut spaces; the others are residual tests in the list (see
//!   [`records`](crate::engine::shared::records)).
//! - Patterns, networks and quantified predicates have no leaves: they are tested, or lead through the whole dimension.
//!   Predicates that missing values satisfy are tested.

mod cell_table;
mod cells;
mod check;
mod placing;

use super::base::{Base, CandidateList, TestedEvent};
use crate::engine::registry::{
    Construction, EngineInfo, Family, OptionInfo, OptionKind, OptionValues, Takes,
};
use crate::engine::shared::conjunctions::ConjId;
use crate::engine::shared::dedup::SubscriptionDedup;
use crate::engine::shared::list_pool::{ListPool, ListRef, shrink};
use crate::engine::shared::placement::LeafChanges;
use crate::engine::shared::records::{AttributeFilter, HalfSteps};
use crate::engine::{Engine, SubId};
use crate::error::Result;
use crate::event::Event;
use crate::expr::{Limits, Normal};
use crate::space::LeafId;
use cells::{CellProbe, Cells, Coordinate, MAX_COORDINATES};

/// Its entry in the registry.
pub(in crate::engine) const INFO: EngineInfo = EngineInfo {
    name: "pst_hash",
    description: "PSTHash: several access predicates, a hash table of the spaces of PS-Trees",
    family: Family::Paper,
    takes: Takes::Conjunctions,
    exact: true,
    options: &[
        OptionInfo {
            name: "access_predicates",
            description: "the paper's N: maximum access predicates of a conjunction",
            kind: OptionKind::WholeNumber { default: 2, range: 1..=MAX_COORDINATES },
        },
        OptionInfo {
            name: "max_cells",
            description: "maximum cells that list a conjunction with several access predicates",
            kind: OptionKind::WholeNumber { default: 16, range: 1..=1 << 20 },
        },
        OptionInfo {
            name: "max_spaces",
            description: "maximum leaves that a single access predicate is spread over",
            kind: OptionKind::WholeNumber { default: 128, range: 1..=1 << 20 },
        },
        OptionInfo {
            name: "long_list",
            description: "minimum conjunctions in a leaf for a second access predicate",
            kind: OptionKind::WholeNumber { default: 256, range: 0..=1 << 20 },
        },
    ],
    construction: Construction::InPlace(|options, limits| Box::new(PstHash::new(options, limits))),
};

/// See the module's head.
#[derive(Debug)]
struct PstHash {
    base: Base,
    cells: Cells,
    /// By leaf: the conjunctions that have it as one of several coordinates, in `member_lists`.
    members: Vec<ListRef>,
    /// Numbers of conjunctions.
    member_lists: ListPool<u32, 1>,
    /// By leaf: number of conjunctions that have it as a coordinate. Most leaves of an event have none, and are skipped.
    uses: Vec<u32>,
    /// The posting list for every event.
    unconditional: ListRef,
    /// By number of coordinates: number of conjunctions.
    by_coordinates: [usize; MAX_COORDINATES + 1],
    /// Conjunctions that splits may have spread too far.
    overspread: Vec<ConjId>,
    /// Buffer of an update.
    changes: LeafChanges,
    /// The paper's N.
    max_coordinates: usize,
    max_cells: usize,
    max_spaces: usize,
    long_list: usize,
}

/// The buffers of one matching thread.
#[derive(Default)]
struct HashScratch {
    steps: HalfSteps,
    /// The event's leaves that are coordinates, in the order of attributes.
    coordinates: Vec<Coordinate>,
    probes: Vec<CellProbe>,
    candidates: Vec<CandidateList>,
    dedup: SubscriptionDedup,
}

impl PstHash {
    fn new(options: &OptionValues, limits: &Limits) -> PstHash {
        PstHash {
            base: Base::new(limits.max_dnf),
            cells: Cells::default(),
            members: Vec::new(),
            member_lists: ListPool::default(),
            uses: Vec::new(),
            unconditional: ListRef::EMPTY,
            by_coordinates: [0; MAX_COORDINATES + 1],
            overspread: Vec::new(),
            changes: LeafChanges::default(),
            max_coordinates: options.whole_number("access_predicates"),
            max_cells: options.whole_number("max_cells"),
            max_spaces: options.whole_number("max_spaces"),
            long_list: options.whole_number("long_list"),
        }
    }
}

impl Engine for PstHash {
    type Scratch = HashScratch;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn insert(&mut self, id: SubId, expression: &Normal) -> Result<()> {
        for id in self.base.insert(id, expression)? {
            self.place(id);
        }
        self.relocate_overspread();
        Ok(())
    }

    fn remove(&mut self, id: SubId) {
        for id in self.base.conjunctions.of(id) {
            self.withdraw(id);
            self.base.conjunctions.remove(id, &mut self.base.predicates);
        }
    }

    fn match_event(&self, event: &Event<'_>, scratch: &mut HashScratch, matches: &mut Vec<SubId>) {
        let HashScratch { steps, coordinates, probes, candidates, dedup } = scratch;
        steps.begin(event.attributes());
        dedup.begin_event();
        coordinates.clear();
        probes.clear();
        candidates.clear();
        // Step 1: the leaves of the event.
        let mut present = AttributeFilter::default();
        for cell in event.cells() {
            let (attribute, value) = (cell.attribute, event.resolve(cell.slot));
            steps.set(attribute, value);
            present.add(attribute);
            let Some((lookup, whole)) = self.base.placed.locate(attribute, value) else { continue };
            for (leaf, exact) in [(lookup.leaf, lookup.exact), (lookup.next_integer, false)] {
                if leaf != LeafId::NONE && self.uses[leaf.index()] > 0 {
                    coordinates.push(Coordinate { attribute, leaf, exact });
                    candidates.push(CandidateList::new(self.cells.single(leaf), exact));
                }
            }
            if self.uses[whole.index()] > 0 {
                candidates.push(CandidateList::new(self.cells.single(whole), true));
            }
        }
        // Step 2: the cells of the event. Each loop reads, for all cells, what the one before has found, so that their
        // cache misses overlap.
        coordinates.sort_unstable_by_key(|coordinate| coordinate.attribute);
        self.cells.probe(coordinates, &self.by_coordinates, probes);
        candidates.push(CandidateList::new(self.unconditional, true));
        for probe in probes.iter() {
            let list = self.cells.resolve(*probe);
            candidates.extend(list.map(|list| CandidateList::new(list, probe.exact)));
        }
        for candidate in candidates.iter_mut() {
            candidate.prefetched = self.cells.list(candidate.list).first().copied().unwrap_or(0);
        }
        // Step 3: the residual tests.
        let tested = TestedEvent { event, present, steps };
        for &CandidateList { list, exact, .. } in candidates.iter() {
            self.base.test_records(self.cells.list(list), exact, &tested, |_, _| true, dedup, matches);
        }
    }

    fn observe(&mut self, event: &Event<'_>) {
        self.base.placed.observe(event);
    }

    fn adapt(&mut self) {
        let ids: Vec<ConjId> = self.base.conjunctions.all().collect();
        for id in ids {
            let choice = self.choose(id);
            let plan = *self.base.conjunctions.state(id);
            let access = usize::from(choice.access);
            let chosen = choice.order.iter().map(|ranked| ranked.id).take(access);
            let same = (choice.access, choice.spread) == (plan.access, plan.spread)
                && self.base.conjunctions.predicates(id).take(access).eq(chosen);
            if !same {
                self.withdraw(id);
                self.place(id);
            }
        }
        self.relocate_overspread();
    }

    fn defragment(&mut self) {
        self.base.defragment();
        self.cells.defragment(&mut self.unconditional);
        shrink(&mut self.members);
        shrink(&mut self.uses);
        self.member_lists.defragment(self.members.iter_mut());
    }

    fn validate(&self) -> Result<(), String> {
        self.check()
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
        stats.extend([
            ("cells", self.cells.len() as u64),
            ("records", self.base.record_count()),
            ("cell_bytes", self.cells.memory() as u64),
        ]);
        stats
    }
}
