//! Which leaves does a conjunction sign in, and when are signatures rebuilt?

use super::PstBloom;
use crate::engine::shared::conjunctions::ConjId;
use crate::engine::shared::placement::RankedPredicate;
use crate::engine::shared::predicates::PredId;
use crate::engine::shared::signatures::DimensionSignatures;
use crate::schema::AttrId;

/// Minimum stale bits of a dimension before its signatures are rebuilt.
const MIN_STALE: usize = 64;

impl PstBloom {
    /// Whether a predicate that is not the access predicate signs: it has few values, or its dimension has few leaves.
    pub(super) fn signs(&self, ranked: &RankedPredicate) -> bool {
        ranked.region().is_some_and(|region| {
            let few = ranked.selectivity.shape.points().is_some_and(|points| points <= self.max_signed);
            few || self.base.placed.leaf_count(ranked.attribute) + 2 * region.parts() <= self.max_signed
        })
    }

    /// Signs for a conjunction in the leaves of a predicate.
    pub(super) fn sign(&mut self, id: ConjId, ranked: &RankedPredicate) {
        let (Self { base, signatures, .. }, Some(region)) = (&mut *self, ranked.region()) else { return };
        let words = signatures.dimension(ranked.attribute).words;
        let mut entries = 0;
        base.placed.cover_region(ranked.attribute, region, |leaf| {
            signatures.sign(leaf, words, id);
            entries += 1;
        });
        let dimension = signatures.dimension(ranked.attribute);
        dimension.members.push(id);
        dimension.live += entries;
        let total = dimension.live + dimension.stale;
        if signatures.words_for(total, base.placed.leaf_count(ranked.attribute)) > 2 * words {
            self.rebuild_signatures(ranked.attribute);
        }
    }

    /// Counts the bits of a signed predicate, which is about to be withdrawn, as stale.
    pub(super) fn mark_stale(&mut self, predicate: PredId) {
        let predicate = self.base.predicates.get(predicate);
        let mut entries = 0;
        self.base.placed.cover(predicate, |_| entries += 1);
        let dimension = self.signatures.dimension(predicate.attribute);
        dimension.live = dimension.live.saturating_sub(entries);
        dimension.stale += entries;
    }

    /// Rebuilds the signatures of dimensions in which more bits are stale than live.
    pub(super) fn rebuild_stale_signatures(&mut self, attributes: impl Iterator<Item = AttrId>) {
        for attribute in attributes {
            let dimension = self.signatures.dimension(attribute);
            if dimension.stale > dimension.live.max(MIN_STALE) {
                self.rebuild_signatures(attribute);
            }
        }
    }

    fn rebuild_signatures(&mut self, attribute: AttrId) {
        let Self { base, signatures, .. } = self;
        let Some(dimension) = base.placed.dimension(attribute) else { return };
        base.placed.each_leaf(dimension, |leaf| signatures.clear(leaf));
        let mut members = std::mem::take(&mut signatures.dimension(attribute).members);
        members.sort_unstable();
        members.dedup();
        let signed_predicate = |id: ConjId| -> Option<PredId> {
            if !base.conjunctions.contains(id) {
                return None;
            }
            let plan = base.conjunctions.state(id);
            let signed = base.conjunctions.predicates(id).skip(usize::from(plan.access));
            signed.take(plan.signed as usize).find(|p| base.predicates.get(*p).attribute == attribute)
        };
        let entries = signatures.dimension(attribute).live;
        let words = signatures.words_for(entries, base.placed.leaf_count(attribute));
        let mut live = 0;
        members.retain(|&id| {
            let predicate = signed_predicate(id);
            if let Some(predicate) = predicate {
                base.placed.cover(base.predicates.get(predicate), |leaf| {
                    signatures.sign(leaf, words, id);
                    live += 1;
                });
            }
            predicate.is_some()
        });
        *signatures.dimension(attribute) = DimensionSignatures { words, live, stale: 0, members };
    }
}
