//! Index self-adjustment (Algorithm 3): a new node becomes a child node of existing nodes whose child expressions
//! include its own.

use super::ATree;
use super::insertion::position_in;
use super::nodes::{NodeKind, TreeNodeId};
use super::reorganization::{MAX_CANDIDATES, MAX_REUSE_LEVEL};

impl ATree {
    /// Replaces child nodes of existing nodes by a new node. The candidates are the parents of its child node with
    /// fewest parents.
    pub(super) fn self_adjust(&mut self, new: TreeNodeId, child_exprs: &[TreeNodeId]) {
        let (kind, level) = (self.nodes.get(new).kind, self.nodes.get(new).level);
        let parents_of = |child: &&TreeNodeId| self.nodes.get(**child).parents.len();
        let Some(rarest) = self.nodes.children(new).iter().min_by_key(parents_of) else { return };
        if level >= MAX_REUSE_LEVEL {
            return;
        }
        let larger = self.nodes.parents(*rarest).iter().take(MAX_CANDIDATES).filter(|parent| {
            **parent != new
                && self.nodes.get(**parent).kind == kind
                && self.nodes.construction(**parent).size as usize > child_exprs.len()
        });
        let larger: Vec<TreeNodeId> = larger.copied().collect();
        for parent in larger {
            if !self.has_all(parent, child_exprs) {
                continue;
            }
            let old = self.nodes.children(parent);
            let outside = old.iter().filter(|child| !self.is_within(**child, kind, child_exprs));
            let mut children: Vec<TreeNodeId> = outside.copied().collect();
            if children.len() + 2 <= old.len() {
                children.push(new);
                self.relink(parent, &mut children);
            }
        }
    }

    /// Whether an inner node has all these child expressions.
    fn has_all(&self, id: TreeNodeId, child_exprs: &[TreeNodeId]) -> bool {
        let mut found = vec![false; child_exprs.len()];
        self.nodes.all_child_exprs(id, &mut |child_expr| {
            position_in(child_exprs, child_expr).into_iter().for_each(|at| found[at] = true);
            true
        });
        !found.contains(&false)
    }

    /// Whether a child node of a node with this connective represents only child expressions among these.
    pub(super) fn is_within(&self, child: TreeNodeId, kind: NodeKind, child_exprs: &[TreeNodeId]) -> bool {
        if self.nodes.get(child).kind == kind {
            self.has_only(child, child_exprs)
        } else {
            position_in(child_exprs, child).is_some()
        }
    }
}
