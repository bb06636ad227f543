//! Expression deletion (Algorithm 5).

use super::ATree;
use super::nodes::{NodeKind, TreeNodeId, table_hash};
use crate::engine::SubId;

impl ATree {
    /// Deletes the expression of a subscription.
    pub(super) fn delete_expression(&mut self, subscription: SubId) {
        let root = std::mem::replace(&mut self.root_of[subscription.index()], TreeNodeId::NONE);
        self.nodes.remove_subscription(root, subscription);
        let construction = self.nodes.construction_mut(root);
        construction.use_count -= 1;
        if construction.use_count == 0 {
            self.remove_unused(root);
        }
    }

    /// Removes a node with use count 0, then the child expressions that only it used.
    pub(super) fn remove_unused(&mut self, id: TreeNodeId) {
        let mut unused = vec![id];
        let mut child_exprs = Vec::new();
        while let Some(id) = unused.pop() {
            if self.nodes.get(id).kind == NodeKind::Predicate {
                self.remove_predicate(id);
                continue;
            }
            child_exprs.clear();
            self.nodes.append_child_exprs(id, &mut child_exprs);
            self.replace_by_children(id);
            self.remove_inner(id);
            for child_expr in &child_exprs {
                let construction = self.nodes.construction_mut(*child_expr);
                construction.use_count -= 1;
                if construction.use_count == 0 {
                    unused.push(*child_expr);
                }
            }
        }
    }

    /// Replaces a node by its child nodes in all parents. These have the same connective: as a child expression the
    /// node would be in use.
    fn replace_by_children(&mut self, id: TreeNodeId) {
        let kind = self.nodes.get(id).kind;
        let mut others = Vec::new();
        let parents = self.nodes.parents(id).to_vec();
        // All at once: unlinking them one by one would be quadratic in the number of parents.
        self.nodes.clear_parents(id);
        for parent in parents {
            let mut children: Vec<TreeNodeId> = self.nodes.children(parent).to_vec();
            children.retain(|child| *child != id);
            others.clear();
            for child in &children {
                if self.nodes.get(*child).kind == kind {
                    self.nodes.append_child_exprs(*child, &mut others);
                } else {
                    others.push(*child);
                }
            }
            others.sort_unstable();
            // Without child nodes whose child expressions the others represent already.
            let own = self.nodes.children(id).iter();
            children.extend(own.filter(|child| !self.is_within(**child, kind, &others)));
            self.relink(parent, &mut children);
        }
    }

    /// Removes an inner node without parents.
    fn remove_inner(&mut self, id: TreeNodeId) {
        let hash = self.nodes.construction(id).hash;
        if self.optimizations.unique_ids
            && let Ok(found) = self.nodes.expr_to_node.find_entry(table_hash(hash), |other| *other == id)
        {
            found.remove();
        }
        if self.optimizations.reorganize {
            let anchor = self.nodes.anchor(id);
            let mut reusable = self.nodes.construction(anchor).reusable;
            let candidates = self.nodes.reuse_candidates.get(reusable);
            if let Some(at) = candidates.iter().position(|other| other.node == id) {
                self.nodes.reuse_candidates.swap_remove(&mut reusable, at);
                self.nodes.construction_mut(anchor).reusable = reusable;
            }
        }
        for (at, child) in self.nodes.children(id).to_vec().into_iter().enumerate() {
            let link = self.parent_link(id, at);
            self.nodes.remove_parent(child, id, link);
        }
        self.nodes.set_children(id, &[]);
        self.nodes.remove(id);
    }

    /// Removes an l-node without parents.
    fn remove_predicate(&mut self, id: TreeNodeId) {
        let number = self.nodes.predicate(id);
        self.predicate_matching.remove(id, self.predicates.get(number), &mut self.nodes);
        self.predicates.release(number);
        self.nodes.remove(id);
    }
}
