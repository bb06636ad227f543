//! OpIndex: pivot attributes partition the subscriptions, operators partition the predicates, counters find the matches.
//!
//! Paper: D. Zhang, C.-Y. Chan and K.-L. Tan, An Efficient Publish/Subscribe Index for E-Commerce Databases, PVLDB 7(8), 2014.
//!
//! Idea: the least frequent attribute of a conjunction is its pivot. An event visits only the partitions of its own
//! attributes. Each partition has a sorted list of predicates per operator, divided into segments with signatures; an
//! event's value satisfies a run of a list. Each satisfied predicate counts down the counter of its conjunction, which
//! matches at 0. A CNF counts clauses instead and is in the partition of every attribute of one of its clauses.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `operand` | how does a value become an integer of the same order? |
//! | `symbols` | which predicates on strings, networks and lists does a value satisfy? |
//! | `record` | to which pieces is a predicate rewritten, and how are they stored? |
//! | `lists` | which predicates of one operator does a value satisfy? |
//! | `pivot` | which entries, slots and clauses does a member have in a partition? |
//! | `frequencies` | which clause of a member occurs in the fewest events? |
//! | `placing` | how is a subscription expanded, inserted, removed and moved? |
//! | `matching` | which members does an event satisfy? |
//! | `check` | do all invariants hold? |
//!
//! Invariants: a member is in the partitions of exactly the attributes of its pivot clause, a clause that no event without
//! one of them satisfies; in each it has the entries of its predicates on that attribute in the pivot clause, those of all
//! other clauses that are counted, one slot, and a number per clause with several predicates. Counters begin with the
//! number of clauses besides the pivot clause.
//!
//! Cost: for an event of m attributes, m² searches per operator at most, plus a step per satisfied predicate in the
//! partitions visited; inserting and removing O(predicates log entries), plus the move of at most a block of a list each.
//!
//! Deviations from the paper:
//! - In a partition, the predicates on the pivot attribute are searched first. Only their members are counted; if there are
//!   none, the rest of the partition is skipped. The paper's Algorithm 2 takes the attributes in any order.
//! - In a partition of at most 128 members, whose predicates on the pivot attribute are ranges of numbers, these are compared
//!   one by one: with many attributes most partitions are small, and one pass over a few slots takes less time than a search
//!   per operator.
//! - A member that needs an attribute which the event lacks is no candidate; a filter of 64 bits beside its counter shows it.
//!   The paper counts it in vain; with many attributes, nearly all are such.
//! - At most four candidates of a partition are tested predicate by predicate instead of counted.
//! - Hence a CNF subscription leaves out, in the partition of one attribute, the predicates of its pivot clause on others:
//!   these lead to it from their own partitions.
//! - The pivot clause of a CNF is the one whose attributes have the least sum of frequencies. The paper takes the one with
//!   the fewest predicates, and the sum for ties.
//! - A counter per member and a mark per clause with several predicates instead of a bitmap: no limit of clauses.
//! - Counters are set for candidates and reset for them; the paper initializes the counters of every visited partition.
//! - BETWEEN is one entry in a list of intervals, sorted by the low end; `intervals=False` rewrites it to `>=` and `<=` as
//!   the paper does.
//! - A list has at most `segments` segments, fewer while it is short; a long one is divided into blocks, so that insertion
//!   moves a bounded number of entries. An attribute's hash decides its segment, and is the paper's global order.
//! - Strings, patterns and networks are found once per event for all partitions (see `symbols`), where the paper has a trie in
//!   every predicate list.
//! - Clauses that a missing value may satisfy, which the paper does not have, are evaluated for members whose other clauses
//!   hold; members of nothing else are evaluated for every event.

mod check;
mod frequencies;
mod lists;
mod matching;
mod operand;
mod pivot;
mod placing;
mod record;
mod symbols;

use super::registry::{Construction, EngineInfo, Family, OptionInfo, OptionKind, OptionValues, Takes};
use super::shared::list_pool::{ListPool, ListRef, shrink};
use super::shared::members::{MemberId, Members};
use super::{Engine, SubId};
use crate::error::Result;
use crate::event::Event;
use crate::expr::{Limits, Normal};
use frequencies::Frequencies;
use lists::Tuning;
use matching::OpIndexScratch;
use pivot::Pivot;
use placing::{Form, Moved};
use symbols::Symbols;

/// Its entry in the registry.
pub(super) const INFO: EngineInfo = EngineInfo {
    name: "op_index",
    description: "OpIndex: partitions by pivot attribute, predicate lists by operator, counters",
    family: Family::Paper,
    takes: Takes::NormalForms,
    exact: true,
    options: &[
        OptionInfo {
            name: "segments",
            description: "maximum segments of a predicate list",
            kind: OptionKind::WholeNumber { default: 32, range: 1..=4_096 },
        },
        OptionInfo {
            name: "signature_bits",
            description: "the paper's w: bits in the signature of a segment",
            kind: OptionKind::WholeNumber { default: 64, range: 1..=64 },
        },
        OptionInfo {
            name: "directory",
            description: "segments and signatures; without, binary search over whole lists: the paper's OpIndex-BS",
            kind: OptionKind::Switch { default: true },
        },
        OptionInfo {
            name: "intervals",
            description: "one entry for BETWEEN; without, one for >= and one for <=, as in the paper",
            kind: OptionKind::Switch { default: true },
        },
        OptionInfo {
            name: "form",
            description: "normal form of expressions that are no conjunctions; auto takes the cheaper one",
            kind: OptionKind::Choice { default: "auto", words: &["auto", "cnf", "dnf"] },
        },
    ],
    construction: Construction::InPlace(|options, limits| Box::new(OpIndex::new(options, limits))),
};

/// See the module's head.
#[derive(Debug)]
struct OpIndex {
    members: Members<MemberState>,
    /// The records of all members.
    records: ListPool<u32, 4>,
    /// The places of all members: for each pivot the slot and the numbers of marked clauses; or the position among the
    /// unconditional ones.
    places: ListPool<u32, 1>,
    symbols: Symbols,
    frequencies: Frequencies,
    /// By attribute; `None` if it is the pivot of no member.
    pivots: Vec<Option<Box<Pivot>>>,
    /// Members all of whose clauses are open.
    unconditional: Vec<MemberId>,
    /// Insertions and removals since the last review of the pivots.
    updates: usize,
    /// Members at the last review.
    reviewed: usize,
    tuning: Tuning,
    /// Whether BETWEEN is one entry.
    intervals: bool,
    form: Form,
    /// Maximum conjunctions or clauses of a subscription.
    max_dnf: usize,
}

/// A member: a conjunction of clauses.
#[derive(Clone, Copy, Debug, Default)]
struct MemberState {
    /// In [`OpIndex::records`].
    record: ListRef,
    /// In [`OpIndex::places`].
    places: ListRef,
    /// The position of the pivot clause, or [`MemberState::UNCONDITIONAL`].
    pivot_clause: u32,
}

impl MemberState {
    const UNCONDITIONAL: u32 = u32::MAX;
}

impl OpIndex {
    fn new(options: &OptionValues, limits: &Limits) -> OpIndex {
        let segments = if options.switch("directory") { options.whole_number("segments") } else { 0 };
        OpIndex {
            members: Members::default(),
            records: ListPool::default(),
            places: ListPool::default(),
            symbols: Symbols::default(),
            frequencies: Frequencies::default(),
            pivots: Vec::new(),
            unconditional: Vec::new(),
            updates: 0,
            reviewed: 0,
            tuning: Tuning {
                segments: segments as u32,
                signature_bits: options.whole_number("signature_bits") as u32,
            },
            intervals: options.switch("intervals"),
            form: match options.choice("form") {
                "cnf" => Form::Cnf,
                "dnf" => Form::Dnf,
                _ => Form::Auto,
            },
            max_dnf: limits.max_dnf,
        }
    }
}

impl Engine for OpIndex {
    type Scratch = OpIndexScratch;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn insert(&mut self, id: SubId, expression: &Normal) -> Result<()> {
        self.add(id, expression)
    }

    fn remove(&mut self, id: SubId) {
        self.withdraw(id);
    }

    fn match_event(&self, event: &Event<'_>, scratch: &mut OpIndexScratch, matches: &mut Vec<SubId>) {
        self.find_matches(event, scratch, matches);
    }

    fn observe(&mut self, event: &Event<'_>) {
        self.frequencies.observe(event);
    }

    fn adapt(&mut self) {
        self.review(Moved::Better);
    }

    fn defragment(&mut self) {
        self.members.defragment();
        self.records.defragment(self.members.values_mut().map(|state| &mut state.record));
        self.places.defragment(self.members.values_mut().map(|state| &mut state.places));
        self.symbols.defragment();
        self.pivots.iter_mut().flatten().for_each(|pivot| pivot.defragment());
        shrink(&mut self.pivots);
    }

    fn validate(&self) -> Result<(), String> {
        self.check()
    }

    fn memory(&self) -> usize {
        self.members.memory()
            + self.records.memory()
            + self.places.memory()
            + self.symbols.memory()
            + self.frequencies.memory()
            + self.pivots.capacity() * size_of::<Option<Box<Pivot>>>()
            + self.pivots.iter().flatten().map(|pivot| pivot.memory()).sum::<usize>()
            + self.unconditional.capacity() * size_of::<MemberId>()
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        let pivots = || self.pivots.iter().flatten();
        let narrow =
            || pivots().flat_map(|pivot| pivot.narrow.all()).map(|(_, list)| (list.len(), list.segments()));
        let wide = || pivots().flat_map(|pivot| &pivot.wide).flat_map(|wide| wide.all());
        let wide = || wide().map(|(_, list)| (list.len(), list.segments()));
        let lists = || narrow().chain(wide()).filter(|(len, _)| *len > 0);
        vec![
            ("members", self.members.len() as u64),
            ("pivots", pivots().count() as u64),
            ("placements", pivots().map(|pivot| pivot.len() as u64).sum()),
            ("largest_partition", pivots().map(|pivot| pivot.len() as u64).max().unwrap_or(0)),
            ("unconditional", self.unconditional.len() as u64),
            ("predicate_lists", lists().count() as u64),
            ("entries", lists().map(|(len, _)| len as u64).sum()),
            ("segments", lists().map(|(_, segments)| segments as u64).sum()),
            ("symbols", self.symbols.len() as u64),
        ]
    }
}
