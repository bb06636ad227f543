//! Which leaves does a conjunction sign in, and when are signatures rebuilt?

use super::PstBloom;
use crate::engine::shared::conjunctions::ConjId;
use crate::engine::shared::placement::RankedPredicate;
use crate::engine::shared::predicates::PredId;
use crate::schema::AttrId;

/// Minimum stale entries of a dimension before its signatures are rebuilt, and removed members before they are pruned.
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
        base.placed
            .cover_region(ranked.attribute, region, |leaf| signatures.sign(ranked.attribute, leaf, id));
        let dimension = signatures.dimension(ranked.attribute);
        dimension.members.push(id);
        dimension.signers += 1;
        let (words, total) = (dimension.words, dimension.entries.total());
        if signatures.words_for(total, base.placed.leaf_count(ranked.attribute)) > 2 * words {
            self.rebuild_signatures(ranked.attribute);
        }
    }

    /// Counts the entries of a signed predicate, which is about to be withdrawn, as stale.
    pub(super) fn mark_stale(&mut self, predicate: PredId) {
        let Self { base, signatures, .. } = self;
        let predicate = base.predicates.get(predicate);
        signatures.dimension(predicate.attribute).signers -= 1;
        base.placed.cover(predicate, |leaf| signatures.mark_stale(predicate.attribute, leaf));
    }

    /// Rebuilds the signatures of dimensions with more stale entries than live ones, and prunes lists of members most of
    /// which are removed: merges drop stale entries, so few of these do not mean few removed members.
    pub(super) fn rebuild_stale_signatures(&mut self, attributes: impl Iterator<Item = AttrId>) {
        for attribute in attributes {
            let dimension = self.signatures.dimension(attribute);
            if dimension.entries.stale > dimension.entries.live.max(MIN_STALE) {
                self.rebuild_signatures(attribute);
            } else if dimension.members.len() >= 2 * dimension.signers.max(MIN_STALE) {
                self.prune_members(attribute);
            }
        }
    }

    fn rebuild_signatures(&mut self, attribute: AttrId) {
        self.prune_members(attribute);
        let Self { base, signatures, .. } = self;
        let leaves = base.placed.leaves_of(attribute);
        let dimension = signatures.dimension(attribute);
        let members = std::mem::take(&mut dimension.members);
        let live = dimension.entries.live;
        let words = signatures.words_for(live, base.placed.leaf_count(attribute));
        signatures.restart(attribute, words, &leaves);
        for &id in &members {
            if let Some(predicate) = base.signed_on(id, attribute) {
                let predicate = base.predicates.get(predicate);
                base.placed.cover(predicate, |leaf| signatures.sign(attribute, leaf, id));
            }
        }
        signatures.dimension(attribute).members = members;
    }

    /// Removes the members of a dimension that do not sign there any more, and duplicates: numbers are used again.
    fn prune_members(&mut self, attribute: AttrId) {
        let Self { base, signatures, .. } = self;
        let members = &mut signatures.dimension(attribute).members;
        members.sort_unstable();
        members.dedup();
        members.retain(|id| base.signed_on(*id, attribute).is_some());
    }
}
