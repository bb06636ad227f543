//! Merging the operands of a connective that test the same attribute.

use super::{AndOr, DraftBuilder, DraftNode};
use crate::engine::shared::keyed_hash::KeyedSet;
use crate::expr::normal::predicate::{Over, Predicate, Test};
use crate::expr::normal::value_set::ValueSet;
use crate::schema::{AttrId, Attributes};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;

/// Maximum operands that are compared each with each; more are hashed.
const MAX_COMPARED: usize = 16;

/// The predicates on one attribute among the operands of a connective.
struct SameAttribute {
    attribute: AttrId,
    /// Position of the first one among the merged operands.
    position: usize,
    /// What each accepts.
    sets: Vec<ValueSet>,
}

impl<A: Attributes> DraftBuilder<'_, A> {
    /// Drops repeated operands and merges those that test the same attribute into the first of them. True if the
    /// result decides the connective.
    pub(super) fn merge(&mut self, connective: AndOr, nodes: &mut Vec<u32>) -> bool {
        if nodes.len() > MAX_COMPARED {
            return self.merge_many(connective, nodes);
        }
        let mut kept: Vec<u32> = Vec::with_capacity(nodes.len());
        for &node in nodes.iter() {
            let DraftNode::Leaf(predicate) = &self.draft[node as usize] else {
                if !kept.contains(&node) {
                    kept.push(node);
                }
                continue;
            };
            let merged = kept.iter().enumerate().find_map(|(position, &earlier)| {
                match &self.draft[earlier as usize] {
                    DraftNode::Leaf(earlier) if earlier.attribute == predicate.attribute => {
                        merge_predicates(connective, earlier, predicate).map(|merged| (position, merged))
                    }
                    _ => None,
                }
            });
            match merged {
                Some((_, Merged::Decides)) => return true,
                Some((_, Merged::NoChange)) => {}
                Some((position, Merged::Predicate(predicate))) => {
                    // Another node: the earlier one may have other parents.
                    self.draft.push(DraftNode::Leaf(predicate));
                    kept[position] = self.draft.len() as u32 - 1;
                }
                None => kept.push(node),
            }
        }
        *nodes = kept;
        false
    }

    /// [`DraftBuilder::merge`] for many operands, in expected linear time.
    fn merge_many(&mut self, connective: AndOr, nodes: &mut Vec<u32>) -> bool {
        let mut kept: Vec<u32> = Vec::with_capacity(nodes.len());
        let (mut distinct_nodes, mut distinct_leaves) = (FxHashSet::default(), KeyedSet::default());
        // By attribute: its position in `groups`.
        let mut group_of: FxHashMap<AttrId, usize> = FxHashMap::default();
        let mut groups: Vec<SameAttribute> = Vec::new();
        for &node in nodes.iter() {
            let set = match &self.draft[node as usize] {
                DraftNode::Leaf(predicate) if !distinct_leaves.insert(predicate) => continue,
                DraftNode::Leaf(Predicate { attribute, over: Over::Value, test }) => {
                    test.to_set().map(|set| (*attribute, set))
                }
                DraftNode::Leaf(_) => None,
                _ if !distinct_nodes.insert(node) => continue,
                _ => None,
            };
            let Some((attribute, set)) = set else {
                kept.push(node);
                continue;
            };
            match group_of.entry(attribute) {
                Entry::Occupied(group) => groups[*group.get()].sets.push(set),
                Entry::Vacant(vacant) => {
                    vacant.insert(groups.len());
                    groups.push(SameAttribute { attribute, position: kept.len(), sets: vec![set] });
                    kept.push(node);
                }
            }
        }
        for SameAttribute { attribute, position, sets } in groups {
            if sets.len() == 1 {
                continue;
            }
            let set = combine_all(connective, sets);
            if decides(connective, &set) {
                return true;
            }
            self.draft.push(DraftNode::Leaf(Predicate {
                attribute,
                over: Over::Value,
                test: Test::from(set),
            }));
            kept[position] = self.draft.len() as u32 - 1;
        }
        *nodes = kept;
        false
    }
}

/// The result of merging two predicates.
enum Merged {
    /// The connective is decided: AND by a contradiction, OR by a tautology.
    Decides,
    /// The result is the earlier predicate.
    NoChange,
    /// The result is another predicate.
    Predicate(Predicate),
}

/// Two predicates on one attribute as one, where that is exact.
fn merge_predicates(connective: AndOr, earlier: &Predicate, later: &Predicate) -> Option<Merged> {
    if earlier == later {
        return Some(Merged::NoChange);
    }
    // Different elements may satisfy two quantified predicates.
    if earlier.over != Over::Value || later.over != Over::Value {
        return None;
    }
    let (left, right) = (earlier.test.to_set()?, later.test.to_set()?);
    let set = combine(connective, &left, &right);
    Some(match connective {
        _ if decides(connective, &set) => Merged::Decides,
        _ if set == left => Merged::NoChange,
        _ => Merged::Predicate(Predicate {
            attribute: earlier.attribute,
            over: Over::Value,
            test: Test::from(set),
        }),
    })
}

fn combine(connective: AndOr, left: &ValueSet, right: &ValueSet) -> ValueSet {
    match connective {
        AndOr::And => left.intersection(right),
        AndOr::Or => left.union(right),
    }
}

/// Intersection or union of all sets, in a balanced tree: n equalities cost O(n log n), not O(n²).
fn combine_all(connective: AndOr, mut sets: Vec<ValueSet>) -> ValueSet {
    while sets.len() > 1 {
        let pairs = sets.chunks(2);
        sets = pairs
            .map(|pair| if let [l, r] = pair { combine(connective, l, r) } else { pair[0].clone() })
            .collect();
    }
    sets.pop().unwrap_or_else(ValueSet::empty)
}

/// Whether a predicate that accepts this set decides the connective.
fn decides(connective: AndOr, set: &ValueSet) -> bool {
    match connective {
        AndOr::And => set.is_empty(),
        AndOr::Or => set.is_everything(),
    }
}
