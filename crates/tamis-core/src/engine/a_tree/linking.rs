//! Replacing the child nodes of a node: links in both directions, and levels up to the roots.

use super::ATree;
use super::insertion::position_in;
use super::nodes::{ParentLink, TreeNodeId};
use super::reorganization::MAX_REUSE_LEVEL;

impl ATree {
    /// Gives a node these child nodes, in the order of [`ATree::order_children`].
    pub(super) fn relink(&mut self, id: TreeNodeId, children: &mut [TreeNodeId]) {
        let old = self.nodes.children(id).to_vec();
        self.order_children(id, children);
        // Sorted copies for look-ups; a new node has no old child nodes to look up.
        let (mut old_sorted, mut sorted) = (old.clone(), Vec::new());
        if !old.is_empty() {
            old_sorted.sort_unstable();
            sorted.extend_from_slice(children);
            sorted.sort_unstable();
        }
        for (at, child) in old.iter().enumerate() {
            let old_link = self.parent_link(id, at);
            if position_in(&sorted, *child).is_none() {
                self.nodes.remove_parent(*child, id, old_link);
            } else if old_link == ParentLink::Propagated && self.is_on_demand(id) && children[0] != *child {
                self.nodes.set_on_demand(*child, id);
            }
        }
        for (at, child) in children.iter().enumerate() {
            let link = self.parent_link(id, at);
            if position_in(&old_sorted, *child).is_none() {
                self.nodes.add_parent(*child, id, link);
            } else if link == ParentLink::Propagated && self.is_on_demand(id) && old[0] != *child {
                self.nodes.set_propagated(*child, id);
            }
        }
        self.nodes.set_children(id, children);
        self.update_level(id);
    }

    /// Recomputes the level of a node and, where it changes, of its ancestors.
    fn update_level(&mut self, id: TreeNodeId) {
        let mut changed = vec![id];
        while let Some(id) = changed.pop() {
            let levels = self.nodes.children(id).iter().map(|child| self.nodes.get(*child).level);
            let level = 1 + levels.max().unwrap_or(0);
            if level > MAX_REUSE_LEVEL && self.nodes.get(id).has_same_kind_child {
                // With its child expressions as child nodes, the node has the lowest possible level.
                let mut child_exprs = Vec::new();
                self.nodes.append_child_exprs(id, &mut child_exprs);
                self.relink(id, &mut child_exprs);
                continue;
            }
            if level != self.nodes.get(id).level {
                self.nodes.set_level(id, level);
                changed.extend_from_slice(self.nodes.parents(id));
            }
        }
    }
}
