//! Access children (propagation on demand, section 5.2.2): an AND is evaluated only when its access child is satisfied.
//!
//! The access child is the child node with the lowest estimated probability to be satisfied; with
//! `AccessChoice::Random`, as in the paper, a pseudo-random one.

use super::insertion::mix;
use super::nodes::{NodeKind, ParentLink, TreeNodeId};
use super::{ATree, AccessChoice};

impl ATree {
    /// Whether only the access child propagates its result to this node.
    pub(super) fn is_on_demand(&self, id: TreeNodeId) -> bool {
        self.optimizations.propagation_on_demand && self.nodes.get(id).kind == NodeKind::And
    }

    /// The link from the child node at a position to its parent.
    pub(super) fn parent_link(&self, parent: TreeNodeId, position: usize) -> ParentLink {
        if self.is_on_demand(parent) && position > 0 { ParentLink::OnDemand } else { ParentLink::Propagated }
    }

    /// Sorts child nodes by probability, so that the access child is first and the others fail early.
    pub(super) fn order_children(&self, id: TreeNodeId, children: &mut [TreeNodeId]) {
        children.sort_unstable_by(|a, b| {
            let probability = |child: &TreeNodeId| self.nodes.construction(*child).probability;
            probability(a).total_cmp(&probability(b)).then(a.cmp(b))
        });
        if self.optimizations.access == AccessChoice::Random {
            let at = mix(TreeNodeId(id.0 ^ 0x5bd1_e995)) as usize % children.len();
            children.swap(0, at);
        }
    }

    /// The probability that an AND or OR of child expressions is satisfied, if these are independent.
    pub(super) fn probability_of(&self, kind: NodeKind, child_exprs: &[TreeNodeId]) -> f32 {
        let probabilities =
            child_exprs.iter().map(|child_expr| self.nodes.construction(*child_expr).probability);
        match kind {
            NodeKind::And => probabilities.product(),
            _ => 1.0 - probabilities.map(|probability| 1.0 - probability).product::<f32>(),
        }
    }

    /// Recomputes all probabilities from the observed events, and chooses all access children by them.
    pub(super) fn choose_access_children(&mut self) {
        let mut all: Vec<(u16, TreeNodeId)> = self.nodes.iter().map(|(id, node)| (node.level, id)).collect();
        all.sort_unstable();
        let mut child_exprs = Vec::new();
        for (_, id) in &all {
            let kind = self.nodes.get(*id).kind;
            if kind == NodeKind::Predicate {
                let predicate = self.predicates.get(self.nodes.predicate(*id));
                let probability =
                    self.predicate_matching.probability(predicate, self.nodes.construction(*id).size);
                self.nodes.construction_mut(*id).probability = probability;
                continue;
            }
            child_exprs.clear();
            self.nodes.append_child_exprs(*id, &mut child_exprs);
            self.nodes.construction_mut(*id).probability = self.probability_of(kind, &child_exprs);
            let mut children = self.nodes.children(*id).to_vec();
            self.order_children(*id, &mut children);
            self.nodes.set_children(*id, &children);
        }
        let on_demand = self.optimizations.propagation_on_demand;
        for (_, id) in &all {
            self.nodes.set_parent_links(*id, |nodes, parent| {
                let is_access_child = nodes.children(parent)[0] == *id;
                if on_demand && nodes.get(parent).kind == NodeKind::And && !is_access_child {
                    ParentLink::OnDemand
                } else {
                    ParentLink::Propagated
                }
            });
        }
    }
}
