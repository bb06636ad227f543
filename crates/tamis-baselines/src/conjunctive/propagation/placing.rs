//! Which access predicate does a conjunction get, and where is its row?

use super::super::points;
use super::Propagation;
use super::hash_tables::{AccessEntry, AccessKey, MAX_SCHEMA, NONE, attributes};
use tamis_core::AttrId;
use tamis_core::engine::shared::conjunctions::ConjId;
use tamis_core::engine::shared::list_pool::ListRef;
use tamis_core::engine::shared::predicates::PredId;
use tamis_core::expr::Test;

/// What leads to a conjunction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Access {
    /// Every event: the universal cluster list.
    #[default]
    Universal,
    /// An equality.
    Single(PredId),
    /// The equalities of an entry of a hash table.
    Table { table: u32, entry: u32 },
}

/// Where a conjunction is. In its list of predicates, those of the access predicate come first, then the columns.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClusterRow {
    pub access: Access,
    /// Number of equalities of the access predicate.
    pub access_size: u8,
    /// Its row in the cluster of its size.
    pub row: u32,
}

/// An equality of a conjunction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Equality {
    pub attribute: AttrId,
    pub id: PredId,
    /// The paper's nu.
    pub probability: f64,
}

/// A possible access predicate.
struct Candidate {
    /// The table, or [`NONE`] for a single equality or none at all.
    table: u32,
    key: AccessKey,
    probability: f64,
    /// Rows behind it now; decides between equal probabilities.
    rows: u32,
}

impl Candidate {
    fn is_better_than(&self, other: &Candidate) -> bool {
        self.probability < other.probability
            || self.probability == other.probability && self.rows < other.rows
    }
}

impl Propagation {
    /// The equalities of a conjunction, in the order of attributes.
    pub(super) fn equalities(&self, id: ConjId) -> Vec<Equality> {
        let equality = |id: PredId| {
            let predicate = self.predicates.get(id);
            let probability = || self.statistics.probability(predicate.attribute, id);
            let attribute = predicate.attribute;
            points::is_equality(predicate).then(|| Equality { attribute, id, probability: probability() })
        };
        let mut found: Vec<Equality> = self.conjunctions.predicates(id).filter_map(equality).collect();
        found.sort_unstable_by_key(|equality| equality.attribute);
        found
    }

    /// The access predicate that the fewest events satisfy.
    fn choose(&self, equalities: &[Equality]) -> Candidate {
        let mut best = Candidate { table: NONE, key: [NONE; MAX_SCHEMA], probability: 2.0, rows: 0 };
        let mut consider = |candidate: Candidate| {
            if candidate.is_better_than(&best) {
                best = candidate;
            }
        };
        for equality in equalities {
            let mut key = [NONE; MAX_SCHEMA];
            key[0] = equality.id.0;
            let rows = self.single(equality.id).rows;
            consider(Candidate { table: NONE, key, probability: equality.probability, rows });
            for table in self.tables.beginning_with(equality.attribute) {
                if let Some(candidate) = self.candidate(*table, equalities) {
                    consider(candidate);
                }
            }
        }
        best
    }

    /// The access predicate by a table; `None` if the conjunction lacks an equality on its schema.
    fn candidate(&self, number: u32, equalities: &[Equality]) -> Option<Candidate> {
        let table = self.tables.get(number);
        let mut key = [NONE; MAX_SCHEMA];
        let mut probability = 1.0;
        for (place, attribute) in key.iter_mut().zip(attributes(&table.schema)) {
            let at = equalities.binary_search_by_key(&attribute, |equality| equality.attribute).ok()?;
            *place = equalities[at].id.0;
            probability *= equalities[at].probability;
        }
        let rows = table.find(&key).map_or(0, |at| table.entry(at).1.rows);
        Some(Candidate { table: number, key, probability, rows })
    }

    /// The entry of an equality.
    #[inline]
    pub(super) fn single(&self, id: PredId) -> AccessEntry {
        self.singles.get(id.index()).copied().unwrap_or_default()
    }

    /// Chooses an access predicate and adds a row to its clusters.
    pub(super) fn place(&mut self, id: ConjId) {
        let equalities = self.equalities(id);
        let Candidate { table, key, .. } = self.choose(&equalities);
        let access = match (table, key[0]) {
            (NONE, NONE) => Access::Universal,
            (NONE, single) => Access::Single(PredId(single)),
            _ => Access::Table { table, entry: self.tables.get_mut(table).find_or_add(&key) },
        };
        let of_access = |id: &PredId| key.contains(&id.0);
        let (mut order, mut rest): (Vec<PredId>, Vec<PredId>) =
            self.conjunctions.predicates(id).partition(of_access);
        // The column that the fewest events satisfy first.
        rest.sort_by(|a, b| self.estimate(*a).total_cmp(&self.estimate(*b)));
        let access_size = order.len() as u8;
        let bits: Vec<u32> = rest.iter().map(|id| id.0).collect();
        order.extend(rest);
        self.conjunctions.reorder(id, order.into_iter());
        let mut clusters = self.entry_mut(access).clusters;
        let row = self.clusters.insert(&mut clusters, id, &bits);
        let entry = self.entry_mut(access);
        (entry.clusters, entry.rows) = (clusters, entry.rows + 1);
        *self.conjunctions.state_mut(id) = ClusterRow { access, access_size, row };
    }

    /// Removes the row of a conjunction.
    pub(super) fn withdraw(&mut self, id: ConjId) {
        let ClusterRow { access, access_size, row } = *self.conjunctions.state(id);
        let columns = self.conjunctions.predicates(id).len() - usize::from(access_size);
        let mut clusters = self.entry_mut(access).clusters;
        if let Some(moved) = self.clusters.remove(&mut clusters, columns, row) {
            self.conjunctions.state_mut(moved).row = row;
        }
        let entry = self.entry_mut(access);
        (entry.clusters, entry.rows) = (clusters, entry.rows - 1);
        if let (Access::Table { table, entry }, 0) = (access, entry.rows) {
            self.tables.get_mut(table).remove(entry);
        }
    }

    /// Moves a conjunction if another access predicate is satisfied by fewer events.
    pub(super) fn reconsider(&mut self, id: ConjId) {
        let equalities = self.equalities(id);
        let best = self.choose(&equalities).probability;
        if best < self.probability(self.conjunctions.state(id).access) * (1.0 - 1e-9) {
            self.withdraw(id);
            self.place(id);
        }
    }

    /// The probability that an event satisfies an access predicate.
    pub(super) fn probability(&self, access: Access) -> f64 {
        let of = |id: u32| self.statistics.probability(self.predicates.get(PredId(id)).attribute, PredId(id));
        match access {
            Access::Universal => 2.0,
            Access::Single(id) => of(id.0),
            Access::Table { table, entry } => {
                let (key, _) = self.tables.get(table).entry(entry);
                key.iter().take_while(|id| **id != NONE).map(|id| of(*id)).product()
            }
        }
    }

    /// The share of events that satisfy a predicate: from the statistics if it is an equality, otherwise by its shape.
    fn estimate(&self, id: PredId) -> f64 {
        let predicate = self.predicates.get(id);
        match &predicate.test {
            _ if points::is_equality(predicate) => self.statistics.probability(predicate.attribute, id),
            Test::Set(_) => 0.3,
            Test::Number { .. } | Test::Time { .. } => 0.4,
            _ => 0.6,
        }
    }

    fn entry_mut(&mut self, access: Access) -> &mut AccessEntry {
        match access {
            Access::Universal => &mut self.universal,
            Access::Single(id) => {
                if self.singles.len() <= id.index() {
                    self.singles.resize(id.index() + 1, AccessEntry::default());
                }
                &mut self.singles[id.index()]
            }
            Access::Table { table, entry } => self.tables.get_mut(table).entry_mut(entry),
        }
    }

    /// Every cluster list.
    pub(super) fn cluster_lists(&self) -> impl Iterator<Item = ListRef> + '_ {
        let tables = self.tables.iter().flat_map(|(_, table)| table.iter().map(|(_, (_, entry))| *entry));
        let all = self.singles.iter().copied().chain(tables).chain([self.universal]);
        all.map(|entry| entry.clusters).filter(|list| !list.is_empty())
    }
}
