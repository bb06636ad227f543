//! Propagation: clusters of subscriptions behind equality access predicates, matched over a predicate bit vector.
//!
//! Paper: F. Fabret, H.-A. Jacobsen, F. Llirbat, J. Pereira, K. Ross and D. Shasha, Filtering Algorithms and
//! Implementation for Very Fast Publish/Subscribe Systems, SIGMOD 2001.
//!
//! Idea: each distinct predicate is one bit. For an event, indexes of predicates set the bits of all that hold. Each
//! subscription has an access predicate: one equality, or several that a multi-attribute hash table finds together, the
//! ones that the fewest events satisfy. Behind it are clusters of subscriptions with the same number of other predicates,
//! column by column; only those of access predicates that hold are read, and a row matches if all its bits are set.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `predicate_index` | which predicates does an event satisfy? |
//! | `bounds` | which ranges contain a value? |
//! | `clusters` | which rows of a cluster have all their bits set? |
//! | `hash_tables` | which cluster list do the values of several attributes lead to? |
//! | `statistics` | how probable is an equality? |
//! | `placing` | which access predicate does a conjunction get? |
//! | `maintenance` | when are hash tables created and dropped? |
//! | `check` | do clusters, tables and indexes agree with the conjunctions? |
//!
//! Invariants: a conjunction has one row, in the cluster of its size behind its access predicate; its columns are its other
//! predicates; every predicate in use is indexed once.
//!
//! Cost: matching O(predicates on one side of the event's values + rows behind the access predicates that hold); a row
//! has 4 bytes per predicate. Conjunctions without an equality are in the universal cluster list, which every event reads.
//!
//! Deviations from the paper:
//! - A range with two ends is one predicate, found by its low end, where the paper has two predicates: one bit and one
//!   column less. IN is one predicate, found under each value; it is no access predicate.
//! - `!=`, NOT IN, patterns, networks, `any`, `all`, ranges over texts and mixtures are evaluated in the first phase, once
//!   per event and distinct predicate. Predicates that a missing value satisfies are set for events without the attribute.
//! - Between events only the words of the bit vector that were set are cleared; the paper clears all of it.
//! - Hash tables are reconsidered in rounds, on a sample, when half of the conjunctions have changed, instead of
//!   whenever a cluster exceeds a margin; the criterion, net benefit per unit of space, is the paper's. Columns are read in
//!   blocks of 16 rows; there are no prefetch instructions, since columns are sequential.
//! - Space is bounded by a number of tables, not by bytes.

mod bounds;
mod check;
mod clusters;
mod hash_tables;
mod maintenance;
mod placing;
mod predicate_index;
mod statistics;

use super::points;
use clusters::Clusters;
use hash_tables::{AccessEntry, HashTables, MAX_SCHEMA, NONE, attributes};
use placing::ClusterRow;
use predicate_index::{BitVector, PredicateIndex};
use statistics::Statistics;
use tamis_core::engine::registry::{
    Construction, EngineInfo, Family, OptionInfo, OptionKind, OptionValues, Takes,
};
use tamis_core::engine::shared::conjunctions::{ConjId, Conjunctions};
use tamis_core::engine::shared::dedup::SubscriptionDedup;
use tamis_core::engine::shared::list_pool::shrink;
use tamis_core::engine::shared::predicates::{PredId, Predicates};
use tamis_core::engine::{Engine, SubId};
use tamis_core::event::Event;
use tamis_core::expr::{Limits, Normal};
use tamis_core::{AttrId, Result};

/// Its entry in the registry.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "propagation",
    description: "Propagation: clusters behind equality access predicates, a bit per predicate",
    family: Family::Baseline,
    takes: Takes::Conjunctions,
    exact: true,
    options: &[
        OptionInfo {
            name: "max_schema",
            description: "maximum equalities of an access predicate; 1 is without multi-attribute hash tables",
            kind: OptionKind::WholeNumber { default: 3, range: 1..=MAX_SCHEMA },
        },
        OptionInfo {
            name: "max_tables",
            description: "maximum multi-attribute hash tables",
            kind: OptionKind::WholeNumber { default: 256, range: 0..=4096 },
        },
        OptionInfo {
            name: "probe_cost",
            description: "cost of probing a hash table, in rows of a cluster",
            kind: OptionKind::Number { default: 16.0, range: 0.0..=1000.0 },
        },
    ],
    construction: Construction::InPlace(|options, limits| Box::new(Propagation::new(options, limits))),
};

/// See the module's head.
#[derive(Debug)]
struct Propagation {
    /// A predicate's number is its bit.
    predicates: Predicates,
    /// By predicate: whether it is in `index`.
    is_indexed: Vec<bool>,
    index: PredicateIndex,
    conjunctions: Conjunctions<ClusterRow>,
    clusters: Clusters,
    /// The clusters that every event reads.
    universal: AccessEntry,
    /// By predicate: the clusters behind it, if it is an equality.
    singles: Vec<AccessEntry>,
    /// The clusters behind several equalities.
    tables: HashTables,
    statistics: Statistics,
    /// Conjunctions inserted or removed since the last round of maintenance.
    updates: usize,
    /// Maximum attributes of a schema.
    max_schema: usize,
    max_tables: usize,
    /// In rows of a cluster.
    probe_cost: f64,
    /// Maximum conjunctions of a subscription.
    max_dnf: usize,
}

/// The buffers of one matching thread.
#[derive(Debug, Default)]
struct PropagationScratch {
    bits: BitVector,
    /// The equalities that the event satisfies.
    equalities: Vec<(AttrId, PredId)>,
    /// The same by attribute; [`NONE`] where there is none.
    equality_of: Vec<u32>,
    dedup: SubscriptionDedup,
}

impl Propagation {
    fn new(options: &OptionValues, limits: &Limits) -> Propagation {
        Propagation {
            predicates: Predicates::default(),
            is_indexed: Vec::new(),
            index: PredicateIndex::default(),
            conjunctions: Conjunctions::default(),
            clusters: Clusters::default(),
            universal: AccessEntry::default(),
            singles: Vec::new(),
            tables: HashTables::default(),
            statistics: Statistics::default(),
            updates: 0,
            max_schema: options.whole_number("max_schema"),
            max_tables: options.whole_number("max_tables"),
            probe_cost: options.number("probe_cost"),
            max_dnf: limits.max_dnf,
        }
    }

    /// Indexes the predicates of a conjunction that are not.
    fn index_predicates(&mut self, id: ConjId) {
        for id in self.conjunctions.predicates(id) {
            if self.is_indexed.len() <= id.index() {
                self.is_indexed.resize(id.index() + 1, false);
            }
            if !std::mem::replace(&mut self.is_indexed[id.index()], true) {
                let predicate = self.predicates.get(id);
                self.index.insert(id, predicate);
                if points::is_equality(predicate) {
                    self.statistics.add_equality(predicate.attribute, id);
                }
            }
        }
    }

    /// Removes from the index the predicates that only this conjunction uses.
    fn unindex_predicates(&mut self, id: ConjId) {
        for id in self.conjunctions.predicates(id).filter(|id| self.predicates.uses(*id) == 1) {
            let predicate = self.predicates.get(id);
            self.index.remove(id, predicate);
            self.is_indexed[id.index()] = false;
            if points::is_equality(predicate) {
                self.statistics.remove_equality(predicate.attribute);
            }
        }
    }
}

impl Engine for Propagation {
    type Scratch = PropagationScratch;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn insert(&mut self, id: SubId, expression: &Normal) -> Result<()> {
        let mut ids = Vec::new();
        self.conjunctions.insert(id, expression, self.max_dnf, &mut self.predicates, &mut ids)?;
        ids.iter().for_each(|id| self.index_predicates(*id));
        ids.iter().for_each(|id| self.place(*id));
        ids.iter().for_each(|_| self.count_update());
        Ok(())
    }

    fn remove(&mut self, id: SubId) {
        for id in self.conjunctions.of(id) {
            let access = self.conjunctions.state(id).access;
            self.withdraw(id);
            self.drop_if_empty(access);
            self.unindex_predicates(id);
            self.conjunctions.remove(id, &mut self.predicates);
            self.count_update();
        }
    }

    fn match_event(&self, event: &Event<'_>, scratch: &mut PropagationScratch, matches: &mut Vec<SubId>) {
        let PropagationScratch { bits, equalities, equality_of, dedup } = scratch;
        dedup.begin_event();
        bits.begin(self.predicates.bound());
        equalities.drain(..).for_each(|(attribute, _)| equality_of[attribute.index()] = NONE);
        if equality_of.len() < event.attributes() {
            equality_of.resize(event.attributes(), NONE);
        }
        self.index.set_bits(event, &self.predicates, bits, |attribute, id| {
            equality_of[attribute.index()] = id.0;
            equalities.push((attribute, id));
        });
        let mut report = |id: ConjId| {
            let sub = self.conjunctions.owner(id);
            if dedup.insert(sub) {
                matches.push(sub);
            }
        };
        self.clusters.find(self.universal.clusters, bits, &mut report);
        for (attribute, id) in equalities.iter() {
            self.clusters.find(self.single(*id).clusters, bits, &mut report);
            for number in self.tables.beginning_with(*attribute) {
                let table = self.tables.get(*number);
                let mut key = [NONE; MAX_SCHEMA];
                let mut places = key.iter_mut().zip(attributes(&table.schema));
                let are_present = places.all(|(place, attribute)| {
                    *place = equality_of.get(attribute.index()).copied().unwrap_or(NONE);
                    *place != NONE
                });
                if are_present && let Some(at) = table.find(&key) {
                    self.clusters.find(table.entry(at).1.clusters, bits, &mut report);
                }
            }
        }
    }

    fn observe(&mut self, event: &Event<'_>) {
        self.statistics.observe_event();
        for cell in event.cells() {
            let equality = self.index.equality(cell.attribute, event.resolve(cell.slot));
            self.statistics.observe(cell.attribute, equality);
        }
    }

    fn adapt(&mut self) {
        self.maintain();
        self.relocate();
    }

    fn defragment(&mut self) {
        self.predicates.defragment();
        self.conjunctions.defragment();
        self.index.defragment();
        self.tables.defragment();
        shrink(&mut self.singles);
        let lists = self.singles.iter_mut().map(|entry| &mut entry.clusters);
        self.clusters.defragment(lists.chain(self.tables.lists_mut()).chain([&mut self.universal.clusters]));
    }

    fn validate(&self) -> Result<(), String> {
        self.check()
    }

    fn memory(&self) -> usize {
        self.predicates.memory()
            + self.is_indexed.capacity()
            + self.index.memory()
            + self.conjunctions.memory()
            + self.clusters.memory()
            + self.singles.capacity() * size_of::<AccessEntry>()
            + self.tables.memory()
            + self.statistics.memory()
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        let clusters: usize = self.cluster_lists().map(|list| self.clusters.count(list)).sum();
        let in_tables =
            self.tables.iter().flat_map(|(_, table)| table.iter().map(|(_, (_, entry))| entry.rows));
        vec![
            ("conjunctions", self.conjunctions.len() as u64),
            ("distinct_predicates", self.predicates.len() as u64),
            ("clusters", clusters as u64),
            ("hash_tables", self.tables.len() as u64),
            ("conjunctions_in_hash_tables", in_tables.map(u64::from).sum()),
            ("universal", self.universal.rows.into()),
        ]
    }
}
