//! Disjunctive normal form, for engines that take only conjunctions.
//!
//! The number of conjunctions can be exponential, so it is counted before anything is expanded.

use super::normal::{Node, NodeId, Normal, Predicate, Root, Test};
use crate::error::{Error, Result};

/// Predicates that must all hold.
pub type Conjunction = Vec<Predicate>;

impl Normal {
    /// How many conjunctions the expression expands to, before contradictions are dropped; saturating.
    pub fn dnf_size(&self) -> u64 {
        let mut sizes: Vec<u64> = Vec::with_capacity(self.nodes.len());
        for &node in &self.nodes {
            let children = self.children(node).iter().map(|&child| sizes[child as usize]);
            sizes.push(match node {
                Node::Leaf(_) => 1,
                Node::And { .. } => children.fold(1, u64::saturating_mul),
                Node::Or { .. } => children.fold(0, u64::saturating_add),
            });
        }
        match self.root {
            Root::Never => 0,
            Root::Always => 1,
            Root::Node(root) => sizes[root as usize],
        }
    }

    /// The conjunctions of which at least one must hold: none for a contradiction, a single empty one for a
    /// tautology. Predicates on one attribute are merged, contradictory conjunctions dropped.
    pub fn to_dnf(&self, max: usize) -> Result<Vec<Conjunction>> {
        let size = self.dnf_size();
        if size > max as u64 {
            return Err(Error::TooComplex { size, limit: max as u64 });
        }
        let leaves = match self.root {
            Root::Never => Vec::new(),
            Root::Always => vec![Vec::new()],
            Root::Node(root) => self.expand(root),
        };
        Ok(leaves.into_iter().filter_map(|leaves| self.conjunction(&leaves)).collect())
    }

    fn expand(&self, node: NodeId) -> Vec<Vec<u32>> {
        let node = self.nodes[node as usize];
        let children = self.children(node).iter();
        match node {
            Node::Leaf(predicate) => vec![vec![predicate]],
            Node::Or { .. } => children.flat_map(|&child| self.expand(child)).collect(),
            Node::And { .. } => children.fold(vec![Vec::new()], |done, &child| {
                let right = self.expand(child);
                done.iter().flat_map(|left| right.iter().map(|right| [&left[..], right].concat())).collect()
            }),
        }
    }

    fn conjunction(&self, leaves: &[u32]) -> Option<Conjunction> {
        let mut merged: Conjunction = Vec::with_capacity(leaves.len());
        for &leaf in leaves {
            let predicate = &self.predicates[leaf as usize];
            if merged.contains(predicate) {
                continue;
            }
            let mergeable = |earlier: &&mut Predicate| {
                earlier.attribute == predicate.attribute
                    && earlier.over == super::Over::Value
                    && predicate.over == super::Over::Value
                    && earlier.test.to_set().is_some()
            };
            match (merged.iter_mut().find(mergeable), predicate.test.to_set()) {
                (Some(earlier), Some(set)) => {
                    let both = earlier.test.to_set()?.intersection(&set);
                    if both.is_empty() {
                        return None;
                    }
                    earlier.test = Test::from(both);
                }
                _ => merged.push(predicate.clone()),
            }
        }
        Some(merged)
    }
}
