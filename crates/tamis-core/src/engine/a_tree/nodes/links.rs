//! Links between nodes: parents, child nodes, and the child expressions that child nodes represent.

use super::{ListRef, NodeStore, TreeNode, TreeNodeId};

/// How the result of a child node reaches a parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine::a_tree) enum ParentLink {
    /// The child propagates its result to the parent.
    Propagated,
    /// The parent reads the result after its access child is satisfied (propagation on demand).
    OnDemand,
}

impl NodeStore {
    /// The child nodes; the access child first.
    #[inline]
    pub fn children(&self, id: TreeNodeId) -> &[TreeNodeId] {
        self.links.get(self.nodes[id.index()].children)
    }

    pub fn parents(&self, id: TreeNodeId) -> &[TreeNodeId] {
        self.links.get(self.nodes[id.index()].parents)
    }

    /// Visits the child expressions of an inner node, possibly some of them repeatedly, until `visit` returns false.
    /// Returns whether it never did. Recurses at most once per level of reuse.
    pub fn all_child_exprs(&self, id: TreeNodeId, visit: &mut impl FnMut(TreeNodeId) -> bool) -> bool {
        let TreeNode { kind, has_same_kind_child, .. } = *self.get(id);
        self.children(id).iter().all(|&child| {
            if has_same_kind_child && self.get(child).kind == kind {
                self.all_child_exprs(child, visit)
            } else {
                visit(child)
            }
        })
    }

    /// Appends the child expressions of an inner node, each once, in ascending order.
    pub fn append_child_exprs(&self, id: TreeNodeId, found: &mut Vec<TreeNodeId>) {
        let start = found.len();
        self.all_child_exprs(id, &mut |child_expr| {
            found.push(child_expr);
            true
        });
        let mut appended = found.split_off(start);
        appended.sort_unstable();
        appended.dedup();
        found.extend(appended);
    }

    /// Links a child node to a parent.
    pub fn add_parent(&mut self, child: TreeNodeId, parent: TreeNodeId, link: ParentLink) {
        let node = &mut self.nodes[child.index()];
        self.links.extend(&mut node.parents, &[parent]);
        if link == ParentLink::Propagated {
            let last = node.parents.len() - 1;
            self.links.get_mut(node.parents).swap(node.propagated as usize, last);
            node.propagated += 1;
        }
    }

    /// Unlinks a child node from a parent. O(parents of the child).
    pub fn remove_parent(&mut self, child: TreeNodeId, parent: TreeNodeId, link: ParentLink) {
        if link == ParentLink::Propagated {
            self.set_on_demand(child, parent);
        }
        let node = &mut self.nodes[child.index()];
        if let Some(at) = self.links.get(node.parents).iter().rposition(|other| *other == parent) {
            self.links.swap_remove(&mut node.parents, at);
        }
    }

    /// Turns an on-demand link into a propagated one.
    pub fn set_propagated(&mut self, child: TreeNodeId, parent: TreeNodeId) {
        let node = &mut self.nodes[child.index()];
        let (parents, propagated) = (self.links.get_mut(node.parents), node.propagated as usize);
        if let Some(at) = parents[propagated..].iter().rposition(|other| *other == parent) {
            parents.swap(propagated, propagated + at);
            node.propagated += 1;
        }
    }

    /// Turns a propagated link into an on-demand one: the last, where [`NodeStore::remove_parent`] finds it first.
    pub fn set_on_demand(&mut self, child: TreeNodeId, parent: TreeNodeId) {
        let node = &mut self.nodes[child.index()];
        let parents = self.links.get_mut(node.parents);
        let propagated = &parents[..node.propagated as usize];
        if let Some(at) = propagated.iter().rposition(|other| *other == parent) {
            node.propagated -= 1;
            parents.swap(at, node.propagated as usize);
            let last = parents.len() - 1;
            parents.swap(node.propagated as usize, last);
        }
    }

    /// Removes all links to parents.
    pub fn clear_parents(&mut self, id: TreeNodeId) {
        let node = &mut self.nodes[id.index()];
        self.links.release(node.parents);
        (node.parents, node.propagated) = (ListRef::EMPTY, 0);
    }

    /// Sets the kind of every link to a parent.
    pub fn set_parent_links(&mut self, id: TreeNodeId, link: impl Fn(&NodeStore, TreeNodeId) -> ParentLink) {
        let (mut parents, on_demand): (Vec<TreeNodeId>, Vec<TreeNodeId>) =
            self.parents(id).iter().partition(|parent| link(self, **parent) == ParentLink::Propagated);
        let node = &mut self.nodes[id.index()];
        node.propagated = parents.len() as u32;
        parents.extend(on_demand);
        self.links.get_mut(node.parents).copy_from_slice(&parents);
    }

    /// Replaces the child nodes of a node. The caller updates their links to parents.
    pub fn set_children(&mut self, id: TreeNodeId, children: &[TreeNodeId]) {
        let kind = self.nodes[id.index()].kind;
        let has_same_kind_child = children.iter().any(|child| self.nodes[child.index()].kind == kind);
        let node = &mut self.nodes[id.index()];
        node.has_same_kind_child = has_same_kind_child;
        self.link_count = self.link_count + children.len() - node.children.len();
        if node.children.len() == children.len() {
            self.links.get_mut(node.children).copy_from_slice(children);
        } else {
            self.links.release(node.children);
            node.children = ListRef::EMPTY;
            self.links.extend(&mut node.children, children);
        }
    }
}
