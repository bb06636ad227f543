//! PSTBloom: one access predicate leads to a subscription, signatures in the leaves of the others confirm it.
//!
//! Paper: section 5 (Algorithms 4 and 5).
//!
//! Idea: the most selective predicate of a conjunction is its access predicate; each leaf that it covers lists the
//! conjunction. Each leaf also has a signature, a Bloom filter of the conjunctions one of whose other predicates covers
//! the leaf. Matching looks up the event's leaves in the PS-Trees of its attributes (1); listed conjunctions that have
//! signed in the leaves of their other attributes are candidates (2); candidates are tested (3).
//!
//! | file | question it answers |
//! | --- | --- |
//! | `placing` | which leaves list a conjunction, also after splits and merges? |
//! | `signing` | which leaves does a conjunction sign in, and when are signatures rebuilt? |
//! | `check` | do lists and signatures agree with the conjunctions? |
//!
//! Invariants: exactly the leaves that its access predicate covers list a conjunction, or the leaf of a whole dimension,
//! or, if no predicate needs a present attribute, the list for every event. The signature of a leaf has the bit of every
//! conjunction one of whose signed predicates covers the leaf; these entries are counted exactly, also through splits and
//! merges, because the length of signatures follows from their number.
//!
//! Cost: matching O(event attributes + records in the event's leaves); a conjunction has one record per leaf that its
//! access predicate covers, at most `max_spaces`, twice that after splits.
//!
//! Deviations from the paper:
//! - Residual tests lie in the posting list (see [`records`](crate::engine::shared::records)), so that rejecting a
//!   candidate is one sequential read. A filter of the attributes it needs comes before the signatures and rejects most.
//! - Only predicates with at most `max_signed` values (`=`, IN), or in dimensions with at most that many leaves, sign. A
//!   wide range would sign in each of its leaves, and most events would pass it; its test costs no more than a look at a
//!   signature. `max_signed=1000000` signs everything, as the paper does.
//! - An access predicate that covers more than `max_spaces` leaves is not spread over them: it leads through the leaf of its
//!   whole dimension and is tested. A conjunction that later splits spread over more than twice as many is relocated:
//!   the first time only `=` and IN may be spread, then nothing.
//! - Steps 2 and 3 run term by term: the signature, then the test. The first failure rejects.
//! - Bits of removed conjunctions stay in signatures, which costs time, not correctness, until more entries are stale than
//!   live; then the dimension's signatures are rebuilt. They are rebuilt in a larger size when they fill up.
//! - Patterns, networks and quantified predicates have no spaces: they are tested, or lead through the whole dimension.
//!   Predicates that missing values satisfy are tested.

mod check;
mod placing;
mod signing;

use super::base::{Base, CandidateList, TestedEvent};
use crate::engine::registry::{
    Construction, EngineInfo, Family, OptionInfo, OptionKind, OptionValues, Takes,
};
use crate::engine::shared::conjunctions::ConjId;
use crate::engine::shared::dedup::SubscriptionDedup;
use crate::engine::shared::list_pool::{ListPool, ListRef, shrink};
use crate::engine::shared::placement::LeafChanges;
use crate::engine::shared::records::{AttributeFilter, HalfSteps};
use crate::engine::shared::signatures::Signatures;
use crate::engine::{Engine, SubId};
use crate::error::Result;
use crate::event::Event;
use crate::expr::{Limits, Normal};
use crate::schema::AttrId;
use crate::space::{LeafId, LeafLookup};

/// Its entry in the registry.
pub(in crate::engine) const INFO: EngineInfo = EngineInfo {
    name: "pst_bloom",
    description: "PSTBloom: one access predicate, Bloom signatures in the leaves of PS-Trees",
    family: Family::Paper,
    takes: Takes::Conjunctions,
    exact: true,
    options: &[
        OptionInfo {
            name: "max_spaces",
            description: "maximum leaves that an access predicate is spread over",
            kind: OptionKind::WholeNumber { default: 128, range: 1..=1 << 20 },
        },
        OptionInfo {
            name: "max_signed",
            description: "maximum values of a predicate, or leaves of its attribute, for the predicate to sign",
            kind: OptionKind::WholeNumber { default: 8, range: 0..=1 << 20 },
        },
        OptionInfo {
            name: "signature_bits",
            description: "bits of a signature per conjunction that signs in the leaf, on average",
            kind: OptionKind::WholeNumber { default: 8, range: 1..=64 },
        },
    ],
    construction: Construction::InPlace(|options, limits| Box::new(PstBloom::new(options, limits))),
};

/// See the module's head.
#[derive(Debug)]
struct PstBloom {
    base: Base,
    /// By leaf: its posting list.
    lists: Vec<ListRef>,
    /// The posting list for every event.
    unconditional: ListRef,
    /// The records of all posting lists.
    records: ListPool<u32, 4>,
    signatures: Signatures,
    /// Conjunctions that splits may have spread over more than `2 * max_spaces` leaves.
    overspread: Vec<ConjId>,
    /// Buffer of an update.
    changes: LeafChanges,
    max_spaces: usize,
    max_signed: usize,
}

/// The buffers of one matching thread.
#[derive(Default)]
struct BloomScratch {
    steps: HalfSteps,
    /// By attribute: the signature of the event's leaf; [`Signatures::none`] between events.
    signatures: Vec<ListRef>,
    /// The event's leaves, and the leaf of the whole dimension.
    leaves: Vec<(AttrId, (LeafLookup, LeafId))>,
    candidates: Vec<CandidateList>,
    dedup: SubscriptionDedup,
}

impl PstBloom {
    fn new(options: &OptionValues, limits: &Limits) -> PstBloom {
        PstBloom {
            base: Base::new(limits.max_dnf),
            lists: Vec::new(),
            unconditional: ListRef::EMPTY,
            records: ListPool::default(),
            signatures: Signatures::new(options.whole_number("signature_bits")),
            overspread: Vec::new(),
            changes: LeafChanges::default(),
            max_spaces: options.whole_number("max_spaces"),
            max_signed: options.whole_number("max_signed"),
        }
    }
}

impl Engine for PstBloom {
    type Scratch = BloomScratch;

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
            let predicates = self.base.conjunctions.predicates(id);
            let attributes: Vec<AttrId> =
                predicates.map(|predicate| self.base.predicates.get(predicate).attribute).collect();
            self.withdraw(id);
            self.base.conjunctions.remove(id, &mut self.base.predicates);
            self.rebuild_stale_signatures(attributes.into_iter());
        }
    }

    fn match_event(&self, event: &Event<'_>, scratch: &mut BloomScratch, matches: &mut Vec<SubId>) {
        let BloomScratch { steps, signatures, leaves, candidates, dedup } = scratch;
        let attributes = event.attributes();
        steps.begin(attributes);
        dedup.begin_event();
        signatures.resize(attributes, self.signatures.none);
        candidates.clear();
        leaves.clear();
        candidates.push(CandidateList::new(self.unconditional, true));
        // Step 1: the leaves of the event. Each loop reads, for all attributes, what the one before has found, so that the
        // cache misses of different attributes overlap.
        let mut present = AttributeFilter::default();
        for cell in event.cells() {
            let value = event.resolve(cell.slot);
            steps.set(cell.attribute, value);
            present.add(cell.attribute);
            let located = self.base.placed.locate(cell.attribute, value);
            leaves.extend(located.map(|located| (cell.attribute, located)));
        }
        for &(attribute, (lookup, whole)) in leaves.iter() {
            if !lookup.exact {
                signatures[attribute.index()] = self.signatures.all;
            } else if lookup.leaf != LeafId::NONE {
                let signature = self.signatures.of_leaf(lookup.leaf);
                if !signature.is_empty() {
                    signatures[attribute.index()] = signature;
                }
            }
            for (leaf, exact) in [(lookup.leaf, lookup.exact), (lookup.next_integer, false), (whole, true)] {
                if leaf != LeafId::NONE && !self.lists[leaf.index()].is_empty() {
                    candidates.push(CandidateList::new(self.lists[leaf.index()], exact));
                }
            }
        }
        for candidate in candidates.iter_mut() {
            candidate.prefetched = self.records.get(candidate.list).first().copied().unwrap_or(0);
        }
        // Steps 2 and 3, term by term: the signature of its leaf, then the test.
        let tested = TestedEvent { event, present, steps };
        let may_sign = |id: ConjId, attribute: u32| {
            let signature = signatures.get(attribute as usize);
            signature.is_some_and(|signature| self.signatures.may_contain(*signature, id))
        };
        for &CandidateList { list, exact, .. } in candidates.iter() {
            self.base.test_records(self.records.get(list), exact, &tested, may_sign, dedup, matches);
        }
        for cell in event.cells() {
            signatures[cell.attribute.index()] = self.signatures.none;
        }
    }

    fn observe(&mut self, event: &Event<'_>) {
        self.base.placed.observe(event);
    }

    fn adapt(&mut self) {
        let ids: Vec<ConjId> = self.base.conjunctions.all().collect();
        for id in ids {
            let choice = self.choose(id);
            let plan = self.base.conjunctions.state(id);
            let same = (choice.access, choice.spread) == (plan.access, plan.spread)
                && choice.order.first().map(|ranked| ranked.id)
                    == self.base.conjunctions.predicates(id).next();
            if !same {
                self.withdraw(id);
                self.place(id);
            }
        }
        self.relocate_overspread();
        let attributes = self.signatures.dimensions().len() as u32;
        self.rebuild_stale_signatures((0..attributes).map(AttrId));
    }

    fn defragment(&mut self) {
        self.base.defragment();
        shrink(&mut self.lists);
        self.records.defragment(self.lists.iter_mut().chain([&mut self.unconditional]));
        self.signatures.defragment();
    }

    fn validate(&self) -> Result<(), String> {
        self.check()
    }

    fn memory(&self) -> usize {
        self.base.memory()
            + self.lists.capacity() * size_of::<ListRef>()
            + self.records.memory()
            + self.signatures.memory()
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        let mut stats = self.base.stats();
        let dimensions = self.signatures.dimensions().iter();
        let entries = dimensions.map(|dimension| dimension.entries);
        let (live, stale) = entries.fold((0, 0), |(live, stale), e| (live + e.live, stale + e.stale));
        stats.extend([
            ("records", self.base.record_count()),
            ("record_bytes", self.records.memory() as u64),
            ("signature_entries", live as u64),
            ("signature_entries_stale", stale as u64),
            ("signature_bytes", self.signatures.memory() as u64),
        ]);
        stats
    }
}
