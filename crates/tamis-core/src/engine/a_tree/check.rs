//! The invariants of the tree.

use super::ATree;
use super::insertion::hash_of;
use super::nodes::{NodeKind, ParentLink, TreeNode, TreeNodeId, table_hash};
use super::reorganization::MAX_REUSE_LEVEL;
use rustc_hash::FxHashSet;

/// What the check of single nodes counts, for the check of the whole.
#[derive(Default)]
struct Counts {
    /// By node: number of nodes with it as a child expression.
    uses: Vec<u32>,
    /// Links to child nodes.
    links: usize,
    /// Inner nodes.
    inner: usize,
    /// Candidates for reorganization, in all lists.
    reusable: usize,
    /// The child expressions of all ANDs (true) and ORs (false).
    distinct: FxHashSet<(bool, Vec<TreeNodeId>)>,
}

impl ATree {
    /// Checks levels, links in both directions, child expressions, use counts, uniqueness, and the predicates.
    pub(super) fn check(&self) -> Result<(), String> {
        self.predicates.validate()?;
        let predicates =
            self.nodes.iter().filter(|(_, node)| node.kind == NodeKind::Predicate).map(|(id, _)| id);
        self.predicate_matching.validate(predicates, |id| self.predicate_of(id), &self.nodes)?;
        let mut counts = Counts { uses: vec![0; self.nodes.bound()], ..Counts::default() };
        for (id, node) in self.nodes.iter() {
            let broken = |invariant: &str| format!("a-tree: node {}: {invariant}", id.0);
            counts.reusable += self.nodes.construction(id).reusable.len();
            if self.nodes.construction(id).use_count == 0 {
                return Err(broken("is not used"));
            }
            self.check_parents(id)?;
            match node.kind {
                NodeKind::Predicate => self.check_predicate(id, node),
                _ => self.check_inner(id, node, &mut counts),
            }
            .map_err(broken)?;
        }
        self.check_uses(&mut counts.uses)?;
        let Counts { links, inner, reusable, .. } = counts;
        let entered = if self.optimizations.unique_ids { inner } else { 0 };
        let candidates = if self.optimizations.reorganize { inner } else { 0 };
        if (self.nodes.link_count, self.nodes.expr_to_node.len(), reusable) != (links, entered, candidates) {
            return Err(format!("a-tree: {links} links and {inner} inner nodes are miscounted"));
        }
        Ok(())
    }

    fn check_predicate(&self, id: TreeNodeId, node: &TreeNode) -> Result<(), &'static str> {
        if node.level != 1 || !self.nodes.children(id).is_empty() {
            return Err("is a predicate above level 1");
        }
        if self.optimizations.unique_ids && self.node_of[self.nodes.predicate(id).index()] != id {
            return Err("is not the node of its predicate");
        }
        Ok(())
    }

    fn check_inner(&self, id: TreeNodeId, node: &TreeNode, counts: &mut Counts) -> Result<(), &'static str> {
        let (children, construction) = (self.nodes.children(id), self.nodes.construction(id));
        counts.inner += 1;
        counts.links += children.len();
        let level = children.iter().map(|child| self.nodes.get(*child).level).max().unwrap_or(0) + 1;
        if level != node.level || children.len() < 2 {
            return Err("has the wrong level, or less than two child nodes");
        }
        let has_same_kind_child = children.iter().any(|child| self.nodes.get(*child).kind == node.kind);
        if level > MAX_REUSE_LEVEL && has_same_kind_child {
            return Err("reuses nodes above the maximum level");
        }
        if node.has_same_kind_child != has_same_kind_child {
            return Err("is wrong about the connectives of its child nodes");
        }
        if children.iter().any(|child| !self.nodes.parents(*child).contains(&id)) {
            return Err("is not a parent of a child node");
        }
        let mut child_exprs = Vec::new();
        self.nodes.append_child_exprs(id, &mut child_exprs);
        if child_exprs.len() != construction.size as usize {
            return Err("has the wrong number of child expressions");
        }
        if construction.hash != hash_of(node.kind, &child_exprs) & self.hash_mask {
            return Err("has the hash of other child expressions");
        }
        child_exprs.iter().for_each(|child_expr| counts.uses[child_expr.index()] += 1);
        if self.optimizations.reorganize {
            let anchor = self.nodes.anchor(id);
            let candidates = self.nodes.reuse_candidates.get(self.nodes.construction(anchor).reusable);
            let entries = candidates.iter().filter(|candidate| candidate.node == id).count();
            if !child_exprs.contains(&anchor) || entries != 1 {
                return Err("is not a candidate for reorganization at its anchor");
            }
        }
        if self.optimizations.unique_ids {
            let found = self.nodes.expr_to_node.find(table_hash(construction.hash), |other| *other == id);
            if found.is_none() || !counts.distinct.insert((node.kind == NodeKind::And, child_exprs)) {
                return Err("is not found by its child expressions, or not unique");
            }
        }
        Ok(())
    }

    /// Checks subscriptions and use counts; `uses` has the uses as child expressions.
    fn check_uses(&self, uses: &mut [u32]) -> Result<(), String> {
        let mut subscriptions = Vec::new();
        for (id, node) in self.nodes.iter() {
            let from = subscriptions.len();
            self.nodes.append_subscriptions(node.subscriptions, &mut subscriptions);
            let own = &subscriptions[from..];
            if own.iter().any(|subscription| self.root_of.get(subscription.index()) != Some(&id)) {
                return Err(format!("a-tree: node {} has a subscription of another", id.0));
            }
            uses[id.index()] += own.len() as u32;
        }
        if subscriptions.len() != self.root_of.iter().filter(|root| **root != TreeNodeId::NONE).count() {
            return Err("a-tree: a subscription has no node".into());
        }
        let use_count = |id: TreeNodeId| self.nodes.construction(id).use_count;
        match self.nodes.iter().find(|(id, _)| use_count(*id) != uses[id.index()]) {
            Some((id, _)) => Err(format!("a-tree: the use count of node {} is wrong", id.0)),
            None => Ok(()),
        }
    }

    /// Every parent has the node as a child node, once; propagated links come first.
    fn check_parents(&self, id: TreeNodeId) -> Result<(), String> {
        let node = self.nodes.get(id);
        for (at, parent) in self.nodes.parents(id).iter().enumerate() {
            let mut positions =
                self.nodes.children(*parent).iter().enumerate().filter(|(_, child)| **child == id);
            let link = positions.next().map(|(position, _)| self.parent_link(*parent, position));
            let stored =
                if at < node.propagated as usize { ParentLink::Propagated } else { ParentLink::OnDemand };
            if link != Some(stored) || positions.next().is_some() {
                return Err(format!("a-tree: node {} has a wrong link to its parent {}", id.0, parent.0));
            }
        }
        Ok(())
    }
}
