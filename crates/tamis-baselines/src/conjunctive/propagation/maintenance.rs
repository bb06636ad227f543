//! When are hash tables created and dropped? The paper's greedy choice of schemas by benefit per unit of space.
//!
//! The cost of an event, in rows: for each table the probability that the event has its schema, times `probe_cost`; for
//! each conjunction the probability of its access predicate. A table with schema S saves, for every conjunction with
//! equalities on all of S, the difference between the probability of its access predicate now and that of its equalities
//! on S. The table with the most net benefit per entry is created first; the benefits of the others are then less.
//!
//! A round of maintenance runs when half of the conjunctions have changed since the last one, and after observations. It
//! drops tables whose benefit is less than half of their cost, creates those that pay, and moves conjunctions. Benefits
//! are estimated on a sample of the conjunctions.

use super::Propagation;
use super::hash_tables::{MAX_SCHEMA, NONE, Schema, attributes};
use super::placing::{Access, Equality};
use rustc_hash::FxHashMap;
use tamis_core::engine::shared::conjunctions::ConjId;

/// Minimum updates between two rounds.
const MIN_UPDATES: usize = 32;
/// Maximum conjunctions in the sample.
const SAMPLE: usize = 8_192;
/// Maximum equalities of a conjunction from which schemas are made; the most selective ones.
const MAX_EQUALITIES: usize = 8;
/// A table is dropped when its benefit is less than this share of its cost.
const DROP_SHARE: f64 = 0.5;

/// A conjunction of the sample.
struct Sampled {
    /// In the order of attributes.
    equalities: Vec<Equality>,
    /// The probability of the access predicate it has so far.
    probability: f64,
}

/// What a table would save.
#[derive(Clone, Copy, Default)]
struct Benefit {
    /// Rows per event.
    rows: f64,
    /// Conjunctions that would move.
    moved: f64,
}

impl Sampled {
    /// Visits every schema of at most `max_schema` attributes that the conjunction has equalities on, with the probability
    /// of these equalities.
    fn each_schema(&self, max_schema: usize, mut visit: impl FnMut(Schema, f64)) {
        for subset in 1u32..1 << self.equalities.len() {
            if !(2..=max_schema as u32).contains(&subset.count_ones()) {
                continue;
            }
            let mut schema = [NONE; MAX_SCHEMA];
            let mut probability = 1.0;
            let chosen = self.equalities.iter().enumerate().filter(|(at, _)| subset >> at & 1 == 1);
            for (place, (_, equality)) in schema.iter_mut().zip(chosen) {
                *place = equality.attribute.0;
                probability *= equality.probability;
            }
            visit(schema, probability);
        }
    }

    /// Adds what tables would save for this conjunction, times `sign`.
    fn add_to(&self, benefits: &mut FxHashMap<Schema, Benefit>, max_schema: usize, sign: f64) {
        self.each_schema(max_schema, |schema, probability| {
            if probability < self.probability {
                let benefit = benefits.entry(schema).or_default();
                benefit.rows += sign * (self.probability - probability);
                benefit.moved += sign;
            }
        });
    }
}

impl Propagation {
    /// Counts an update; runs a round when it is time.
    pub(super) fn count_update(&mut self) {
        self.updates += 1;
        if self.updates >= MIN_UPDATES + self.conjunctions.len() / 2 {
            self.maintain();
        }
    }

    /// A round of maintenance.
    pub(super) fn maintain(&mut self) {
        self.updates = 0;
        self.drop_tables();
        if self.create_tables() {
            self.relocate();
        }
    }

    /// Moves every conjunction that has a better access predicate.
    pub(super) fn relocate(&mut self) {
        let ids: Vec<ConjId> = self.conjunctions.all().collect();
        ids.into_iter().for_each(|id| self.reconsider(id));
    }

    /// What probing a table costs, in rows per event.
    fn cost(&self, schema: &Schema) -> f64 {
        let presence = attributes(schema).map(|attribute| self.statistics.presence(attribute));
        presence.product::<f64>() * self.probe_cost
    }

    fn drop_tables(&mut self) {
        let numbers: Vec<u32> = self.tables.iter().map(|(number, _)| number).collect();
        for number in numbers {
            let table = self.tables.get(number);
            let lists = table.iter().map(|(_, (_, entry))| entry.clusters);
            let members: Vec<ConjId> =
                lists.flat_map(|list| self.clusters.rows(list)).map(|(id, ..)| id).collect();
            let saved = |id: &ConjId| {
                let equalities = self.equalities(*id);
                let single = equalities.iter().map(|equality| equality.probability).fold(1.0, f64::min);
                let of_schema = |equality: &&Equality| table.schema.contains(&equality.attribute.0);
                let here = equalities.iter().filter(of_schema).map(|equality| equality.probability);
                single - here.product::<f64>()
            };
            let benefit: f64 = members.iter().map(saved).sum();
            if members.is_empty() || benefit < DROP_SHARE * self.cost(&table.schema) {
                members.iter().for_each(|id| self.withdraw(*id));
                self.tables.drop_table(number);
                members.iter().for_each(|id| self.place(*id));
            }
        }
    }

    /// Drops the table of an access predicate that was the last of it.
    pub(super) fn drop_if_empty(&mut self, access: Access) {
        if let Access::Table { table, .. } = access
            && self.tables.get(table).len() == 0
        {
            self.tables.drop_table(table);
        }
    }

    /// Creates the tables that pay; whether there is one.
    fn create_tables(&mut self) -> bool {
        let stride = self.conjunctions.len().div_ceil(SAMPLE).max(1);
        if self.max_schema < 2 {
            return false;
        }
        let mut sample: Vec<Sampled> =
            self.conjunctions.all().step_by(stride).map(|id| self.sampled(id)).collect();
        let mut benefits: FxHashMap<Schema, Benefit> = FxHashMap::default();
        sample.iter().for_each(|sampled| sampled.add_to(&mut benefits, self.max_schema, 1.0));
        let mut is_created = false;
        while self.tables.len() < self.max_tables
            && let Some(schema) = self.best_schema(&benefits, stride as f64)
        {
            self.tables.create(schema);
            is_created = true;
            for sampled in &mut sample {
                let mut found = f64::INFINITY;
                sampled.each_schema(self.max_schema, |other, probability| {
                    if other == schema {
                        found = probability;
                    }
                });
                if found < sampled.probability {
                    sampled.add_to(&mut benefits, self.max_schema, -1.0);
                    sampled.probability = found;
                    sampled.add_to(&mut benefits, self.max_schema, 1.0);
                }
            }
        }
        is_created
    }

    fn sampled(&self, id: ConjId) -> Sampled {
        let mut equalities = self.equalities(id);
        let probability = self.probability(self.conjunctions.state(id).access);
        if equalities.len() > MAX_EQUALITIES {
            equalities.sort_by(|a, b| a.probability.total_cmp(&b.probability));
            equalities.truncate(MAX_EQUALITIES);
            equalities.sort_unstable_by_key(|equality| equality.attribute);
        }
        Sampled { equalities, probability }
    }

    /// The schema with the most net benefit per entry; `None` if none pays. Each sampled conjunction stands for `scale`.
    fn best_schema(&self, benefits: &FxHashMap<Schema, Benefit>, scale: f64) -> Option<Schema> {
        let mut best: Option<(f64, Schema)> = None;
        for (schema, benefit) in benefits {
            // Rounding may leave a little of what was subtracted.
            let net = benefit.rows * scale - self.cost(schema);
            if net <= 1e-6 || self.tables.has(schema) {
                continue;
            }
            let value = net / (benefit.moved * scale).max(1.0);
            let is_better = best.is_none_or(|(most, other)| (value, other) > (most, *schema));
            if is_better {
                best = Some((value, *schema));
            }
        }
        best.map(|(_, schema)| schema)
    }
}
