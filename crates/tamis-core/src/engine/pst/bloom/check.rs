//! Do lists and signatures agree with the conjunctions?

use super::PstBloom;
use crate::engine::shared::conjunctions::ConjId;
use crate::engine::shared::records::{self, Records};

impl PstBloom {
    pub(super) fn check(&self) -> Result<(), String> {
        self.base.validate()?;
        // The lists that the conjunctions imply.
        let mut expected: Vec<Vec<ConjId>> = vec![Vec::new(); self.base.placed.leaf_bound()];
        let mut unconditional = Vec::new();
        for id in self.base.conjunctions.all() {
            let plan = self.base.conjunctions.state(id);
            let access = self.base.placements(id).next().map(|(id, _)| self.base.predicates.get(id));
            let mut count = 0;
            match (plan.access, access) {
                (0, _) | (_, None) => unconditional.push(id),
                (_, Some(access)) if plan.spread == 0 => {
                    let dimension = self.base.placed.dimension(access.attribute);
                    let dimension = dimension.ok_or("pst_bloom: no dimension")?;
                    expected[dimension.whole().index()].push(id);
                    count = 1;
                }
                (_, Some(access)) => self.base.placed.cover(access, |leaf| {
                    expected[leaf.index()].push(id);
                    count += 1;
                }),
            }
            if plan.records != count {
                return Err(format!("pst_bloom: {id:?} has {count} records, counted {}", plan.records));
            }
            self.check_signed(id)?;
        }
        for (at, list) in self.lists.iter().enumerate() {
            let list = self.records.get(*list);
            let mut expected = expected.get(at).cloned().unwrap_or_default();
            expected.sort_unstable();
            let listed = records::conjunctions(list);
            if listed != expected {
                return Err(format!("pst_bloom: leaf {at} lists {listed:?}, should {expected:?}"));
            }
            for record in Records(list) {
                if self.record(record.conjunction)[records::HEAD..] != *record.terms {
                    return Err(format!("pst_bloom: the record of {:?} is out of date", record.conjunction));
                }
            }
        }
        unconditional.sort_unstable();
        if records::conjunctions(self.records.get(self.unconditional)) != unconditional {
            return Err("pst_bloom: the list for every event is wrong".into());
        }
        Ok(())
    }

    /// Checks that a conjunction has signed in the leaves of its signed predicates.
    fn check_signed(&self, id: ConjId) -> Result<(), String> {
        let plan = self.base.conjunctions.state(id);
        let signed = self.base.placements(id).skip(usize::from(plan.access)).take(plan.signed as usize);
        for (predicate, _) in signed {
            let mut missing = None;
            self.base.placed.cover(self.base.predicates.get(predicate), |leaf| {
                let signature = self.signatures.of_leaf(leaf);
                if signature.is_empty() || !self.signatures.may_contain(signature, id) {
                    missing = Some(leaf);
                }
            });
            if let Some(leaf) = missing {
                return Err(format!("pst_bloom: {id:?} has not signed in leaf {}", leaf.0));
            }
        }
        Ok(())
    }
}
