//! Do lists and signatures agree with the conjunctions?

use super::PstBloom;
use crate::engine::shared::conjunctions::ConjId;
use crate::engine::shared::records::{self, Records};
use crate::schema::AttrId;
use crate::space::LeafId;
use rustc_hash::{FxHashMap, FxHashSet};

/// What the conjunctions have signed, counted one by one.
struct Signed {
    /// By leaf: number of conjunctions that have signed there.
    entries: Vec<usize>,
    /// By attribute: the conjunctions that have signed.
    signers: FxHashMap<AttrId, Vec<ConjId>>,
}

impl PstBloom {
    pub(super) fn check(&self) -> Result<(), String> {
        self.base.validate()?;
        // The lists that the conjunctions imply.
        let mut expected: Vec<Vec<ConjId>> = vec![Vec::new(); self.base.placed.leaf_bound()];
        let mut signed = Signed { entries: vec![0; expected.len()], signers: FxHashMap::default() };
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
            self.check_signed(id, &mut signed)?;
        }
        self.check_entries(&signed)?;
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

    /// Checks that a conjunction has signed in the leaves of its signed predicates; counts its entries.
    fn check_signed(&self, id: ConjId, counted: &mut Signed) -> Result<(), String> {
        let plan = self.base.conjunctions.state(id);
        let signed = self.base.placements(id).skip(usize::from(plan.access)).take(plan.signed as usize);
        for (predicate, _) in signed {
            let predicate = self.base.predicates.get(predicate);
            let mut missing = None;
            self.base.placed.cover(predicate, |leaf| {
                counted.entries[leaf.index()] += 1;
                let signature = self.signatures.of_leaf(leaf);
                if signature.is_empty() || !self.signatures.may_contain(signature, id) {
                    missing = Some(leaf);
                }
            });
            if let Some(leaf) = missing {
                return Err(format!("pst_bloom: {id:?} has not signed in leaf {}", leaf.0));
            }
            counted.signers.entry(predicate.attribute).or_default().push(id);
        }
        Ok(())
    }

    /// Checks the counts of entries and of members against those of all conjunctions.
    fn check_entries(&self, counted: &Signed) -> Result<(), String> {
        for (at, dimension) in self.signatures.dimensions().iter().enumerate() {
            let attribute = AttrId(at as u32);
            let leaves = self.base.placed.leaves_of(attribute);
            self.signatures.validate(attribute, &leaves)?;
            let live = |leaf: &&LeafId| self.signatures.entries(**leaf).live;
            if let Some(leaf) = leaves.iter().find(|leaf| live(leaf) != counted.entries[leaf.index()]) {
                let (entries, live) = (counted.entries[leaf.index()], live(&leaf));
                return Err(format!("pst_bloom: leaf {} has {entries} entries, counted {live}", leaf.0));
            }
            let signers = counted.signers.get(&attribute).map_or(&[][..], Vec::as_slice);
            if signers.len() != dimension.signers {
                let (found, counted) = (signers.len(), dimension.signers);
                return Err(format!("pst_bloom: {found} sign in attribute {at}, counted {counted}"));
            }
            let members: FxHashSet<ConjId> = dimension.members.iter().copied().collect();
            if let Some(id) = signers.iter().find(|id| !members.contains(id)) {
                return Err(format!("pst_bloom: {id:?} signs in attribute {at} and is no member"));
            }
        }
        Ok(())
    }
}
