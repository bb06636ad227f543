//! Adding and removing predicates.

use super::{AttributePredicates, FoundBy, LeafCounts, ListRef, PredicateKey, PredicateMatching};
use crate::engine::shared::patterns::Patterns;
use crate::expr::Predicate;
use crate::schema::AttrId;
use crate::space::{Dimension, Region};

fn remove_from<K: PredicateKey>(list: &mut Vec<K>, id: K) {
    if let Some(at) = list.iter().position(|other| *other == id) {
        list.swap_remove(at);
    }
}

impl<K: PredicateKey> PredicateMatching<K> {
    /// Adds a predicate under a key that is not in use.
    pub fn insert(&mut self, id: K, predicate: &Predicate, counts: &mut impl LeafCounts<K>) {
        let at = predicate.attribute.index();
        if self.attributes.len() <= at {
            self.attributes.resize_with(at + 1, || None);
        }
        let attribute = self.attributes[at].get_or_insert_with(|| AttributePredicates {
            dimension: Dimension::new(&mut self.leaves),
            if_present: Vec::new(),
            tested: Vec::new(),
            if_missing: Vec::new(),
            patterns: Patterns::default(),
            negated_patterns: Vec::new(),
            all: Vec::new(),
        });
        if self.lists_all {
            attribute.all.push(id);
        }
        if predicate.accepts_missing() {
            if attribute.if_missing.is_empty() {
                self.may_be_missing.push(predicate.attribute);
            }
            attribute.if_missing.push(id);
        }
        match FoundBy::of(predicate) {
            FoundBy::Presence => attribute.if_present.push(id),
            FoundBy::Test => attribute.tested.push(id),
            FoundBy::Pattern(pattern, negated) => {
                attribute.patterns.insert(id.number(), pattern);
                if negated {
                    attribute.negated_patterns.push(id);
                }
            }
            FoundBy::Region(region) => {
                let mut covered = 0;
                attribute.dimension.hull(&region, &self.leaves, |_, _| {
                    covered += 1;
                    covered <= self.max_spaces
                });
                if covered.max(region.parts()) > self.max_spaces {
                    attribute.tested.push(id);
                } else {
                    self.list(id, predicate.attribute, &region, counts);
                }
            }
        }
    }

    /// Lists a predicate in the leaves it covers.
    fn list(&mut self, id: K, attribute: AttrId, region: &Region, counts: &mut impl LeafCounts<K>) {
        let PredicateMatching { leaves, lists, listed, splits, .. } = self;
        let Some(Some(attribute)) = self.attributes.get_mut(attribute.index()) else { return };
        splits.clear();
        attribute.dimension.place(region, leaves, splits);
        lists.resize(leaves.bound(), ListRef::EMPTY);
        for split in splits.iter() {
            lists[split.made.index()] = listed.copy(lists[split.kept.index()]);
            for other in listed.get(lists[split.made.index()]) {
                let leaves = counts.leaf_count_mut(*other);
                *leaves += 1;
                if *leaves as usize == 2 * self.max_spaces {
                    self.too_wide.push(*other);
                }
            }
        }
        let mut covered = 0;
        attribute.dimension.cover(region, leaves, |leaf| {
            listed.extend(&mut lists[leaf.index()], &[id]);
            covered += 1;
        });
        *counts.leaf_count_mut(id) = covered;
    }

    /// Removes a predicate from the lists of the leaves it covers.
    fn unlist(&mut self, id: K, attribute: AttrId, region: &Region, counts: &mut impl LeafCounts<K>) {
        let PredicateMatching { leaves, lists, listed, merges, .. } = self;
        let Some(Some(attribute)) = self.attributes.get_mut(attribute.index()) else { return };
        attribute.dimension.cover(region, leaves, |leaf| {
            let list = &mut lists[leaf.index()];
            if let Some(at) = listed.get(*list).iter().position(|other| *other == id) {
                listed.swap_remove(list, at);
            }
        });
        merges.clear();
        attribute.dimension.unplace(region, leaves, merges);
        for merge in merges.iter() {
            let gone = std::mem::take(&mut lists[merge.gone.index()]);
            listed.get(gone).iter().for_each(|other| *counts.leaf_count_mut(*other) -= 1);
            listed.release(gone);
        }
        *counts.leaf_count_mut(id) = 0;
    }

    /// Removes a predicate.
    pub fn remove(&mut self, id: K, predicate: &Predicate, counts: &mut impl LeafCounts<K>) {
        let Some(Some(attribute)) = self.attributes.get_mut(predicate.attribute.index()) else { return };
        if self.lists_all {
            remove_from(&mut attribute.all, id);
        }
        if predicate.accepts_missing() {
            remove_from(&mut attribute.if_missing, id);
            if attribute.if_missing.is_empty() {
                self.may_be_missing.retain(|attribute| *attribute != predicate.attribute);
            }
        }
        match FoundBy::of(predicate) {
            FoundBy::Presence => remove_from(&mut attribute.if_present, id),
            FoundBy::Test => remove_from(&mut attribute.tested, id),
            FoundBy::Pattern(_, negated) => {
                attribute.patterns.remove(id.number());
                if negated {
                    remove_from(&mut attribute.negated_patterns, id);
                }
            }
            FoundBy::Region(region) if counts.leaf_count(id) > 0 => {
                self.unlist(id, predicate.attribute, &region, counts);
            }
            FoundBy::Region(_) => remove_from(&mut attribute.tested, id),
        }
    }

    /// Unlists a predicate that is listed in `2 * max_spaces` leaves or more; it is tested from then on.
    pub fn unlist_if_too_wide(&mut self, id: K, predicate: &Predicate, counts: &mut impl LeafCounts<K>) {
        if let FoundBy::Region(region) = FoundBy::of(predicate)
            && counts.leaf_count(id) as usize >= 2 * self.max_spaces
        {
            self.unlist(id, predicate.attribute, &region, counts);
            if let Some(Some(attribute)) = self.attributes.get_mut(predicate.attribute.index()) {
                attribute.tested.push(id);
            }
        }
    }
}
