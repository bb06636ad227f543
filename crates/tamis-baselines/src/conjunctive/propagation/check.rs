//! Do clusters, tables and indexes agree with the conjunctions?

use super::super::points;
use super::Propagation;
use super::hash_tables::{NONE, attributes};
use super::placing::Access;
use tamis_core::AttrId;
use tamis_core::engine::shared::conjunctions::ConjId;
use tamis_core::engine::shared::list_pool::ListRef;
use tamis_core::engine::shared::predicates::PredId;

impl Propagation {
    pub(super) fn check(&self) -> Result<(), String> {
        self.predicates.validate()?;
        let mut uses = vec![0; self.predicates.bound()];
        let ids = self.conjunctions.all().flat_map(|id| self.conjunctions.predicates(id));
        ids.for_each(|predicate| uses[predicate.index()] += 1);
        if let Some(at) = (0..uses.len()).find(|at| self.predicates.uses(PredId(*at as u32)) != uses[*at]) {
            return Err(format!("propagation: predicate {at} is used {} times, counted otherwise", uses[at]));
        }
        let used = || (0..uses.len()).filter(|at| uses[*at] > 0).map(|at| PredId(at as u32));
        self.index.validate(used().map(|id| (id, self.predicates.get(id))))?;
        let indexed =
            (0..self.is_indexed.len()).filter(|at| self.is_indexed[*at]).map(|at| PredId(at as u32));
        if !indexed.eq(used()) {
            return Err("propagation: some predicate is indexed and not used, or used and not indexed".into());
        }
        self.check_equalities(used())?;
        self.check_entry(Access::Universal, self.universal.clusters, self.universal.rows, &[])?;
        for (at, entry) in (0..).zip(&self.singles) {
            self.check_entry(Access::Single(PredId(at)), entry.clusters, entry.rows, &[at])?;
        }
        for (number, table) in self.tables.iter() {
            for (at, (key, entry)) in table.iter() {
                let key: Vec<u32> = key.iter().copied().take_while(|id| *id != NONE).collect();
                let of_key = key.iter().map(|id| self.predicates.get(PredId(*id)).attribute);
                if !of_key.eq(attributes(&table.schema)) || entry.rows == 0 {
                    return Err(format!(
                        "propagation: entry {at} of table {number} has no rows, or a wrong key"
                    ));
                }
                let access = Access::Table { table: number, entry: at };
                self.check_entry(access, entry.clusters, entry.rows, &key)?;
            }
            let first = AttrId(table.schema[0]);
            if !self.tables.beginning_with(first).contains(&number) {
                return Err(format!("propagation: table {number} is not listed under {first:?}"));
            }
        }
        let rows: usize = self.cluster_lists().map(|list| self.clusters.rows(list).len()).sum();
        match rows == self.conjunctions.len() {
            true => Ok(()),
            false => Err(format!("propagation: {rows} rows, {} conjunctions", self.conjunctions.len())),
        }
    }

    fn check_equalities(&self, used: impl Iterator<Item = PredId>) -> Result<(), String> {
        let mut counted: Vec<u32> = Vec::new();
        for predicate in used.map(|id| self.predicates.get(id)).filter(|one| points::is_equality(one)) {
            counted.resize(counted.len().max(predicate.attribute.index() + 1), 0);
            counted[predicate.attribute.index()] += 1;
        }
        let is_wrong = |(at, count): &(u32, u32)| self.statistics.equalities(AttrId(*at)) != *count;
        match (0..).zip(counted).find(is_wrong) {
            Some((at, count)) => {
                Err(format!("propagation: attribute {at} has {count} equalities, counted otherwise"))
            }
            None => Ok(()),
        }
    }

    /// Checks the rows behind an access predicate, whose equalities are `key`.
    fn check_entry(&self, access: Access, list: ListRef, rows: u32, key: &[u32]) -> Result<(), String> {
        let found = self.clusters.rows(list);
        if found.len() != rows as usize {
            return Err(format!("propagation: {access:?} has {} rows, counted {rows}", found.len()));
        }
        let is_right = |(id, bits, row): &(ConjId, Vec<u32>, u32)| {
            let state = self.conjunctions.state(*id);
            let mut predicates = self.conjunctions.predicates(*id).map(|id| id.0);
            let mut of_access: Vec<u32> = predicates.by_ref().take(state.access_size.into()).collect();
            let mut key = key.to_vec();
            of_access.sort_unstable();
            key.sort_unstable();
            (state.access, state.row) == (access, *row)
                && of_access == key
                && predicates.eq(bits.iter().copied())
        };
        match found.iter().find(|row| !is_right(row)) {
            Some((id, ..)) => Err(format!("propagation: the row of {id:?} behind {access:?} is wrong")),
            None => Ok(()),
        }
    }
}
