//! The invariants of predicate matching.

use super::{AttributePredicates, FoundBy, LeafCounts, LeafId, PredicateKey, PredicateMatching};
use crate::expr::Predicate;

/// Expected sizes of the lists of one attribute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ListSizes {
    if_present: usize,
    tested: usize,
    if_missing: usize,
    patterns: usize,
    negated_patterns: usize,
}

impl ListSizes {
    fn of<K>(attribute: &AttributePredicates<K>) -> ListSizes {
        ListSizes {
            if_present: attribute.if_present.len(),
            tested: attribute.tested.len(),
            if_missing: attribute.if_missing.len(),
            patterns: attribute.patterns.len(),
            negated_patterns: attribute.negated_patterns.len(),
        }
    }
}

impl<K: PredicateKey> PredicateMatching<K> {
    /// Checks the PS-Trees and the automata, and that every predicate is in exactly the lists that find it.
    /// `keys` are all predicates, in ascending order.
    pub fn validate<'p>(
        &self,
        keys: impl Iterator<Item = K>,
        predicate_of: impl Fn(K) -> &'p Predicate,
        counts: &impl LeafCounts<K>,
    ) -> Result<(), String> {
        let mut leaves = Vec::new();
        for (at, attribute) in self.attributes.iter().enumerate() {
            let Some(attribute) = attribute else { continue };
            attribute.dimension.validate(&self.leaves, &mut leaves)?;
            attribute.patterns.validate()?;
            let registered = self.may_be_missing.iter().any(|attribute| attribute.index() == at);
            if attribute.if_missing.is_empty() == registered {
                return Err(format!("predicate matching: attribute {at} is wrong about missing values"));
            }
        }
        let mut expected = vec![Vec::new(); self.leaves.bound()];
        let mut sizes = vec![ListSizes::default(); self.attributes.len()];
        for id in keys {
            let predicate = predicate_of(id);
            let sizes = sizes.get_mut(predicate.attribute.index());
            if !sizes.is_some_and(|sizes| self.is_listed(id, predicate, counts, sizes, &mut expected)) {
                return Err(format!("predicate matching: predicate {} is not found", id.number()));
            }
        }
        for (at, (attribute, sizes)) in self.attributes.iter().zip(sizes).enumerate() {
            let Some(attribute) = attribute else { continue };
            let found = ListSizes::of(attribute);
            if found != sizes {
                return Err(format!("predicate matching: attribute {at} has {found:?}, expected {sizes:?}"));
            }
        }
        leaves.into_iter().try_for_each(|leaf| self.check_leaf(leaf, &expected[leaf.index()]))
    }

    /// Whether a predicate is in the lists that find it. Counts it in their expected sizes, and appends it
    /// to the expected lists of the leaves it covers.
    fn is_listed(
        &self,
        id: K,
        predicate: &Predicate,
        counts: &impl LeafCounts<K>,
        sizes: &mut ListSizes,
        expected: &mut [Vec<K>],
    ) -> bool {
        let Some(Some(attribute)) = self.attributes.get(predicate.attribute.index()) else { return false };
        let in_list = |list: &[K]| list.contains(&id);
        let accepts_missing = predicate.accepts_missing();
        sizes.if_missing += usize::from(accepts_missing);
        if accepts_missing != in_list(&attribute.if_missing) || self.lists_all != in_list(&attribute.all) {
            return false;
        }
        match FoundBy::of(predicate) {
            FoundBy::Presence => {
                sizes.if_present += 1;
                in_list(&attribute.if_present)
            }
            FoundBy::Test => {
                sizes.tested += 1;
                in_list(&attribute.tested)
            }
            FoundBy::Pattern(_, negated) => {
                sizes.patterns += 1;
                sizes.negated_patterns += usize::from(negated);
                negated == in_list(&attribute.negated_patterns)
            }
            FoundBy::Region(region) if counts.leaf_count(id) > 0 => {
                let mut covered = 0;
                attribute.dimension.cover(&region, &self.leaves, |leaf| {
                    expected[leaf.index()].push(id);
                    covered += 1;
                });
                covered == counts.leaf_count(id)
            }
            FoundBy::Region(region) => {
                let is_tested = region.parts() > 0;
                sizes.tested += usize::from(is_tested);
                in_list(&attribute.tested) == is_tested
            }
        }
    }

    /// Checks the list of a leaf; `expected` is in ascending order.
    fn check_leaf(&self, leaf: LeafId, expected: &[K]) -> Result<(), String> {
        let list = self.lists.get(leaf.index()).copied().unwrap_or_default();
        let mut found = self.listed.get(list).to_vec();
        found.sort_unstable();
        if found != expected || found.len() != self.leaves.predicates(leaf) as usize {
            return Err(format!("predicate matching: leaf {} lists the wrong predicates", leaf.0));
        }
        Ok(())
    }
}
