//! Expression insertion (Algorithms 1 and 4): one node per distinct predicate, subexpression and expression.

use super::ATree;
use super::nodes::{NodeKind, ReuseCandidate, TreeNodeId, table_hash};
use super::reorganization::signature_of;
use crate::engine::SubId;
use crate::expr::{Node, Normal, Predicate, Root};

/// The position of a node in a list in ascending order.
#[inline]
pub(super) fn position_in(sorted: &[TreeNodeId], id: TreeNodeId) -> Option<usize> {
    match sorted.len() {
        0..=16 => sorted.iter().position(|other| *other == id),
        _ => sorted.binary_search(&id).ok(),
    }
}

/// Mixes the bits of a number.
pub(super) fn mix(id: TreeNodeId) -> u32 {
    let mixed = (u64::from(id.0) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 32) as u32 ^ mixed as u32
}

/// Hash of child expressions under a connective; independent of their order.
pub(super) fn hash_of(kind: NodeKind, child_exprs: &[TreeNodeId]) -> u32 {
    child_exprs
        .iter()
        .fold(kind as u32, |hash, child_expr| hash.wrapping_add(mix(*child_expr).wrapping_mul(0x85EB_CA6B)))
}

impl ATree {
    /// Inserts an expression, from its predicates up (Algorithm 4).
    pub(super) fn insert_expression(&mut self, subscription: SubId, expression: &Normal) {
        let Root::Node(root) = expression.root() else { return };
        let mut inserted = std::mem::take(&mut self.inserted);
        let mut child_exprs = std::mem::take(&mut self.child_exprs);
        inserted.clear();
        self.created.clear();
        for node in expression.nodes() {
            let kind = match node {
                Node::Leaf(_) => NodeKind::Predicate,
                Node::And { .. } => NodeKind::And,
                Node::Or { .. } => NodeKind::Or,
            };
            inserted.push(if let Node::Leaf(at) = *node {
                (self.predicate_node(&expression.predicates()[at as usize]), kind)
            } else {
                child_exprs.clear();
                for child in expression.children(*node) {
                    let (child, child_kind) = inserted[*child as usize];
                    if child_kind == kind {
                        // The child collapsed to its only child expression, which has this connective.
                        self.nodes.append_child_exprs(child, &mut child_exprs);
                    } else {
                        child_exprs.push(child);
                    }
                }
                let id = self.inner_node(kind, &mut child_exprs);
                // Equal child expressions collapse to one.
                (id, if child_exprs.len() == 1 { self.nodes.get(id).kind } else { kind })
            });
        }
        let (root, _) = inserted[root as usize];
        (self.inserted, self.child_exprs) = (inserted, child_exprs);
        self.nodes.construction_mut(root).use_count += 1;
        self.nodes.add_subscription(root, subscription);
        if self.root_of.len() <= subscription.index() {
            self.root_of.resize(subscription.index() + 1, TreeNodeId::NONE);
        }
        self.root_of[subscription.index()] = root;
        // Nodes whose child expressions were flattened into another expression.
        while let Some(id) = self.created.pop() {
            if self.nodes.get(id).kind != NodeKind::Free && self.nodes.construction(id).use_count == 0 {
                self.remove_unused(id);
            }
        }
        self.unlist_too_wide();
    }

    /// The l-node of a predicate, created if there is none.
    fn predicate_node(&mut self, predicate: &Predicate) -> TreeNodeId {
        if self.optimizations.unique_ids
            && let Some(found) = self.predicates.find(predicate)
        {
            return self.node_of[found.index()];
        }
        let number = self.predicates.acquire(predicate.clone());
        let id = self.nodes.add_predicate(number);
        if self.node_of.len() <= number.index() {
            self.node_of.resize(number.index() + 1, TreeNodeId::NONE);
        }
        self.node_of[number.index()] = id;
        self.predicate_matching.insert(id, predicate, &mut self.nodes);
        let probability = self.predicate_matching.probability(predicate, self.nodes.construction(id).size);
        self.nodes.construction_mut(id).probability = probability;
        self.created.push(id);
        id
    }

    /// The inner node of child expressions, created if there is none. Sorts and dedups them.
    fn inner_node(&mut self, kind: NodeKind, child_exprs: &mut Vec<TreeNodeId>) -> TreeNodeId {
        child_exprs.sort_unstable();
        child_exprs.dedup();
        if let [only] = child_exprs[..] {
            return only;
        }
        let hash = hash_of(kind, child_exprs) & self.hash_mask;
        if self.optimizations.unique_ids
            && let Some(found) = self.find_inner(kind, child_exprs, hash)
        {
            return found;
        }
        self.create_inner(kind, child_exprs, hash)
    }

    /// The node with these child expressions: found by hash, confirmed one by one.
    fn find_inner(&self, kind: NodeKind, child_exprs: &[TreeNodeId], hash: u32) -> Option<TreeNodeId> {
        let same = |id: &TreeNodeId| {
            let construction = self.nodes.construction(*id);
            construction.hash == hash
                && construction.size as usize == child_exprs.len()
                && self.nodes.get(*id).kind == kind
                && self.has_only(*id, child_exprs)
        };
        self.nodes.expr_to_node.find(table_hash(hash), same).copied()
    }

    /// Whether all child expressions of an inner node are among these.
    pub(super) fn has_only(&self, id: TreeNodeId, child_exprs: &[TreeNodeId]) -> bool {
        self.nodes.all_child_exprs(id, &mut |child_expr| position_in(child_exprs, child_expr).is_some())
    }

    /// Creates an inner node: reorganizes its child expressions, links it, adjusts the nodes around it.
    fn create_inner(&mut self, kind: NodeKind, child_exprs: &[TreeNodeId], hash: u32) -> TreeNodeId {
        let mut children = std::mem::take(&mut self.children);
        children.clear();
        if self.optimizations.reorganize {
            self.reorganize(kind, child_exprs, &mut children);
        } else {
            children.extend_from_slice(child_exprs);
        }
        let list_len = |child_expr: &&TreeNodeId| self.nodes.construction(**child_expr).reusable.len();
        let anchor = child_exprs.iter().min_by_key(list_len).copied().unwrap_or(TreeNodeId::NONE);
        let id = self.nodes.add_inner(kind, anchor);
        let probability = self.probability_of(kind, child_exprs);
        let construction = self.nodes.construction_mut(id);
        (construction.hash, construction.size) = (hash, child_exprs.len() as u32);
        construction.probability = probability;
        for child_expr in child_exprs {
            self.nodes.construction_mut(*child_expr).use_count += 1;
        }
        if self.optimizations.reorganize {
            let candidate = ReuseCandidate { node: id, signature: signature_of(child_exprs) };
            let mut reusable = self.nodes.construction(anchor).reusable;
            self.nodes.reuse_candidates.extend(&mut reusable, &[candidate]);
            self.nodes.construction_mut(anchor).reusable = reusable;
        }
        if self.optimizations.unique_ids {
            self.nodes.enter_expr(id);
        }
        self.relink(id, &mut children);
        self.created.push(id);
        if self.optimizations.self_adjust {
            self.self_adjust(id, child_exprs);
        }
        self.children = children;
        id
    }

    /// Moves predicates that splits have spread over too many leaves to the predicates that are tested one by one.
    fn unlist_too_wide(&mut self) {
        while let Some(id) = self.predicate_matching.take_too_wide() {
            if self.nodes.get(id).kind == NodeKind::Predicate {
                let predicate = self.predicates.get(self.nodes.predicate(id));
                self.predicate_matching.unlist_if_too_wide(id, predicate, &mut self.nodes);
            }
        }
    }
}
