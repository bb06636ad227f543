//! Cutting spaces for a predicate, and merging them after its removal.

use super::nodes::{BoundUpdate, NONE};
use super::{LeafMerge, LeafSplit, PsTree, Range};
use crate::expr::Cut;
use crate::space::elements::Key;
use crate::space::leaves::{LeafId, Leaves};

impl<K: Key> PsTree<K> {
    /// Cuts the spaces at both ends of a range (the paper's Partition, twice), or counts one more predicate that needs
    /// the cuts. Appends the splits. Returns the first and the last leaf of the range.
    pub fn place(
        &mut self,
        (low, high): &Range<K>,
        leaves: &mut Leaves,
        splits: &mut Vec<LeafSplit>,
    ) -> (LeafId, LeafId) {
        let low_bound = low.as_ref().map(|cut| self.partition(cut, leaves, splits));
        let high_bound = high.as_ref().map(|cut| self.partition(cut, leaves, splits));
        let first = low.as_ref().zip(low_bound).map(|(cut, id)| self.bounds[id as usize].above(cut.after));
        let last = high.as_ref().zip(high_bound).map(|(cut, id)| self.bounds[id as usize].below(cut.after));
        (first.unwrap_or(self.first), last.unwrap_or(self.last))
    }

    /// Makes a cut, or counts one more predicate that needs it. Returns its bound.
    fn partition(&mut self, cut: &Cut<K>, leaves: &mut Leaves, splits: &mut Vec<LeafSplit>) -> u32 {
        let id = match self.find(cut.at.query()) {
            Ok(id) => id,
            Err(neighbour) => self.add_bound(&cut.at, neighbour),
        };
        let bound = &mut self.bounds[id as usize];
        let predicates = self.bound_updates[id as usize].predicates(cut.after);
        *predicates += 1;
        if *predicates > 1 {
            return id;
        }
        let kept = if cut.after { bound.e } else { bound.l };
        let made = leaves.split(kept, &mut self.leaf_numbers);
        if cut.after {
            self.set_above(id, made);
        } else {
            bound.e = made;
            if self.bound_updates[id as usize].after == 0 {
                self.set_above(id, made);
            }
        }
        self.spaces += 1;
        splits.push(LeafSplit { kept, made });
        id
    }

    /// Counts one predicate less that needs the cuts of [`PsTree::place`]; the spaces on both sides of a cut that no
    /// predicate needs merge (the paper's DeletePredicate). Appends the merges.
    pub fn unplace(&mut self, (low, high): &Range<K>, leaves: &mut Leaves, merges: &mut Vec<LeafMerge>) {
        for cut in low.iter().chain(high) {
            merges.extend(self.unpartition(cut, leaves));
        }
    }

    /// Counts one predicate less that needs a cut.
    fn unpartition(&mut self, cut: &Cut<K>, leaves: &mut Leaves) -> Option<LeafMerge> {
        let Ok(id) = self.find(cut.at.query()) else {
            debug_assert!(false, "a placed range has its cuts");
            return None;
        };
        let bound = &mut self.bounds[id as usize];
        let predicates = self.bound_updates[id as usize].predicates(cut.after);
        *predicates -= 1;
        if *predicates > 0 {
            return None;
        }
        let merge = if cut.after {
            LeafMerge { kept: bound.e, gone: bound.g }
        } else {
            LeafMerge { kept: bound.l, gone: bound.e }
        };
        let BoundUpdate { before, after, .. } = self.bound_updates[id as usize];
        let without_cuts = before == 0 && after == 0;
        if cut.after {
            self.set_above(id, merge.kept);
        } else {
            bound.e = merge.kept;
            if self.bound_updates[id as usize].after == 0 {
                self.set_above(id, merge.kept);
            }
        }
        leaves.merge(merge.kept, merge.gone, &mut self.leaf_numbers);
        self.spaces -= 1;
        if without_cuts {
            self.remove_bound(id);
        }
        Some(merge)
    }

    /// Links the leaf between a bound and the next one above.
    fn set_above(&mut self, id: u32, leaf: LeafId) {
        self.bounds[id as usize].g = leaf;
        let next = self.bound_updates[id as usize].next;
        self.link_leaf_above(id, leaf);
        if next == NONE {
            self.last = leaf;
        } else {
            let bound = &mut self.bounds[next as usize];
            bound.l = leaf;
            if self.bound_updates[next as usize].before == 0 {
                bound.e = leaf;
            }
            self.link_leaf_below(next, leaf);
        }
    }
}
