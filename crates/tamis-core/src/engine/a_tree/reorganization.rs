//! Expression reorganization (Algorithm 2): the child nodes of a new node are a set cover of its child expressions by
//! existing nodes.

use super::ATree;
use super::insertion::{mix, position_in};
use super::nodes::{NodeKind, TreeNodeId};

/// Nodes of this level and above are not child nodes of the same connective: bounds the nesting of nodes of one
/// connective in growing chains of expressions.
pub(super) const MAX_REUSE_LEVEL: u16 = 64;

/// Maximum candidates that are examined per list, for reorganization and self-adjustment; no further list is read once
/// as many are found. With few predicates and many expressions the lists are long, and later candidates rarely improve
/// the cover.
pub(super) const MAX_CANDIDATES: usize = 256;

/// Bloom signature of child expressions, one of 32 bits each: a set is no subset of another if it has a bit that the
/// other lacks.
pub(super) fn signature_of(child_exprs: &[TreeNodeId]) -> u32 {
    child_exprs.iter().fold(0, |bits, child_expr| bits | 1 << (mix(*child_expr) >> 27))
}

impl ATree {
    /// Appends the child nodes that represent child expressions: existing nodes, which may overlap, and the child
    /// expressions that none of them covers.
    pub(super) fn reorganize(
        &mut self,
        kind: NodeKind,
        child_exprs: &[TreeNodeId],
        children: &mut Vec<TreeNodeId>,
    ) {
        let signature = signature_of(child_exprs);
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        for child_expr in child_exprs {
            if candidates.len() >= MAX_CANDIDATES {
                break;
            }
            let reusable = self.nodes.reuse_candidates.get(self.nodes.construction(*child_expr).reusable);
            for other in reusable.iter().take(MAX_CANDIDATES) {
                if other.signature & !signature == 0
                    && self.nodes.get(other.node).kind == kind
                    && self.nodes.get(other.node).level < MAX_REUSE_LEVEL
                    && (self.nodes.construction(other.node).size as usize) < child_exprs.len()
                    && self.has_only(other.node, child_exprs)
                {
                    candidates.push(other.node);
                }
            }
        }
        if candidates.is_empty() {
            children.extend_from_slice(child_exprs);
        } else {
            self.cover(child_exprs, &mut candidates, children);
        }
        self.candidates = candidates;
    }

    /// Greedy set cover: takes the candidate with most uncovered child expressions while that are at least two.
    fn cover(
        &self,
        child_exprs: &[TreeNodeId],
        candidates: &mut Vec<TreeNodeId>,
        children: &mut Vec<TreeNodeId>,
    ) {
        let mut covered = vec![false; child_exprs.len()];
        loop {
            let mut best = (1, TreeNodeId::NONE);
            for &candidate in candidates.iter() {
                let mut uncovered = 0;
                // A child expression that is visited twice counts twice: the candidate ranks too high, no more.
                self.nodes.all_child_exprs(candidate, &mut |child_expr| {
                    uncovered +=
                        usize::from(position_in(child_exprs, child_expr).is_some_and(|at| !covered[at]));
                    true
                });
                best = best.max((uncovered, candidate));
            }
            let (uncovered, chosen) = best;
            if uncovered < 2 {
                break;
            }
            self.nodes.all_child_exprs(chosen, &mut |child_expr| {
                position_in(child_exprs, child_expr).into_iter().for_each(|at| covered[at] = true);
                true
            });
            candidates.retain(|candidate| *candidate != chosen);
            children.push(chosen);
        }
        let uncovered = child_exprs.iter().zip(covered).filter(|(_, covered)| !covered);
        children.extend(uncovered.map(|(child_expr, _)| *child_expr));
    }
}
