//! Expression matching: which expressions does an event satisfy? (Algorithm 6 and its optimizations.)
//!
//! Results are propagated from the predicates up, level by level, so that the results of all child nodes are known when a
//! node is evaluated. The default is [`ATree::match_on_demand`]: only satisfied nodes propagate their result (zero
//! suppression filter), and an AND is evaluated only when its access child is satisfied (propagation on demand).
//! [`ATree::match_by_counting`] runs without one of these or both, for comparison.
//!
//! Cost: nearly all of it is cache misses on nodes. So the parents of many satisfied nodes are collected first, and then
//! read [`READ_AHEAD`] at a time, which lets their misses overlap. An OR is satisfied with its first satisfied child
//! node, so only ANDs are queued by level.

use super::ATree;
use super::nodes::{NodeKind, TreeNode, TreeNodeId};
use crate::engine::SubId;
use crate::engine::shared::list_pool::ListRef;
use crate::engine::shared::predicates::{EventBitmap, PredicateScratch};
use crate::event::Event;

/// Nodes that are read at once.
const READ_AHEAD: usize = 16;

/// The buffers of matching.
#[derive(Debug, Default)]
pub(in crate::engine) struct ATreeScratch {
    /// The nodes that the event satisfies.
    satisfied: EventBitmap,
    /// By satisfied node whose result is not yet propagated: the list of its parents, and how many of them get it.
    propagations: Vec<(ListRef, u32)>,
    /// The parents that a result is being propagated to.
    parents: Vec<TreeNodeId>,
    /// By level: nodes to evaluate (the paper's queues).
    queues: Vec<Vec<TreeNodeId>>,
    predicates: PredicateScratch<TreeNodeId>,
    /// Signature of the current event, for counting: operands with another one are of an earlier event.
    signature: u32,
    /// By node, for counting.
    operands: Vec<Operands>,
}

/// The results that child nodes have propagated to a node, and its own.
#[derive(Clone, Copy, Debug, Default)]
struct Operands {
    /// The event they are of.
    signature: u32,
    /// Number of TRUE results.
    satisfied: u32,
    /// Number of FALSE results.
    unsatisfied: u32,
    /// `None` is the paper's undefined.
    result: Option<bool>,
}

impl ATreeScratch {
    /// Extends the queues to all levels.
    fn begin(&mut self, tree: &ATree) {
        if self.queues.len() < tree.nodes.level_bound() {
            self.queues.resize_with(tree.nodes.level_bound(), Vec::new);
        }
    }

    /// Extends the buffers to all nodes, and takes a signature for the next event.
    fn begin_counting(&mut self, tree: &ATree) {
        self.begin(tree);
        if self.operands.len() < tree.nodes.bound() {
            self.operands.resize(tree.nodes.bound().next_power_of_two(), Operands::default());
        }
        if self.signature == u32::MAX {
            self.operands.fill(Operands::default());
            self.signature = 0;
        }
        self.signature += 1;
    }
}

impl ATree {
    /// Matches with the zero suppression filter and propagation on demand.
    pub(super) fn match_on_demand(
        &self,
        event: &Event<'_>,
        scratch: &mut ATreeScratch,
        matches: &mut Vec<SubId>,
    ) {
        scratch.begin(self);
        let ATreeScratch { satisfied, propagations, parents, queues, predicates, .. } = scratch;
        satisfied.begin(self.nodes.bound());
        let mut satisfy = |id: TreeNodeId,
                           node: &TreeNode,
                           satisfied: &mut EventBitmap,
                           propagations: &mut Vec<(ListRef, u32)>| {
            if satisfied.insert(id.0) {
                self.nodes.append_subscriptions(node.subscriptions, matches);
                if node.propagated > 0 {
                    propagations.push((node.parents, node.propagated));
                }
            }
        };
        self.predicate_matching.find(
            event,
            |id| self.predicate_of(id),
            predicates,
            |id| {
                satisfy(id, self.nodes.get(id), satisfied, propagations);
            },
        );
        for level in 1..self.nodes.level_bound() {
            for id in queues[level].drain(..) {
                let node = self.nodes.get(id);
                if self.other_children_satisfied(node, satisfied) {
                    satisfy(id, node, satisfied, propagations);
                }
            }
            while !propagations.is_empty() {
                parents.clear();
                for (list, propagated) in propagations.drain(..) {
                    let propagated = &self.nodes.links.get(list)[..propagated as usize];
                    parents.extend(propagated.iter().filter(|parent| !satisfied.contains(parent.0)));
                }
                for ids in parents.chunks(READ_AHEAD) {
                    let mut nodes = [TreeNode::FREE; READ_AHEAD];
                    nodes.iter_mut().zip(ids).for_each(|(node, id)| *node = *self.nodes.get(*id));
                    for (node, id) in nodes.iter().zip(ids) {
                        // The results of all predicates are known, so an AND of predicates is evaluated at once.
                        if node.kind == NodeKind::Or
                            || node.level == 2 && self.other_children_satisfied(node, satisfied)
                        {
                            satisfy(*id, node, satisfied, propagations);
                        } else if node.level > 2 {
                            queues[usize::from(node.level)].push(*id);
                        }
                    }
                }
            }
        }
    }

    /// Whether all child nodes of an AND but its access child are satisfied.
    #[inline]
    fn other_children_satisfied(&self, node: &TreeNode, satisfied: &EventBitmap) -> bool {
        self.nodes.links.get(node.children)[1..].iter().all(|child| satisfied.contains(child.0))
    }

    /// Matches by counting the results that child nodes propagate. Without the zero suppression filter, FALSE is
    /// propagated, too. With propagation on demand, an AND reads the results of its child nodes after its access child
    /// has propagated one.
    pub(super) fn match_by_counting(
        &self,
        event: &Event<'_>,
        scratch: &mut ATreeScratch,
        matches: &mut Vec<SubId>,
    ) {
        scratch.begin_counting(self);
        let ATreeScratch { signature, queues, predicates, operands, .. } = scratch;
        let signature = *signature;
        let mut set_result = |id: TreeNodeId, result: bool| {
            let operand = &mut operands[id.index()];
            if operand.signature != signature {
                *operand = Operands { signature, result: Some(result), ..Operands::default() };
                queues[1].push(id);
            }
        };
        self.predicate_matching.find(
            event,
            |id| self.predicate_of(id),
            predicates,
            |id| set_result(id, true),
        );
        if !self.optimizations.zero_suppression {
            for cell in event.cells() {
                let all = self.predicate_matching.on_attribute(cell.attribute);
                all.iter().for_each(|id| set_result(*id, false));
            }
        }
        for level in 1..self.nodes.level_bound() {
            let mut queue = std::mem::take(&mut queues[level]);
            for &id in &queue {
                let node = *self.nodes.get(id);
                let result = self.evaluate(&node, operands[id.index()], operands, signature);
                operands[id.index()].result = result;
                if result == Some(true) {
                    self.nodes.append_subscriptions(node.subscriptions, matches);
                }
                let Some(result) = result else { continue };
                if !result && self.optimizations.zero_suppression {
                    continue;
                }
                for &parent in &self.nodes.links.get(node.parents)[..node.propagated as usize] {
                    let operand = &mut operands[parent.index()];
                    if operand.signature != signature {
                        *operand = Operands { signature, ..Operands::default() };
                        queues[self.nodes.get(parent).level as usize].push(parent);
                    }
                    operand.satisfied += u32::from(result);
                    operand.unsatisfied += u32::from(!result);
                }
            }
            queue.clear();
            queues[level] = queue;
        }
    }

    /// The result of a node by the results of its child nodes (the paper's Table 2); `None` is undefined.
    fn evaluate(&self, node: &TreeNode, own: Operands, all: &[Operands], signature: u32) -> Option<bool> {
        let children = self.nodes.links.get(node.children);
        let (mut satisfied, mut unsatisfied) = (own.satisfied as usize, own.unsatisfied as usize);
        match node.kind {
            NodeKind::Free => return None,
            NodeKind::Predicate => return own.result,
            NodeKind::And if self.optimizations.propagation_on_demand => {
                let results = children.iter().filter_map(|child| {
                    let operand = all[child.index()];
                    if operand.signature == signature { operand.result } else { None }
                });
                (satisfied, unsatisfied) = (0, 0);
                results.for_each(|result| if result { satisfied += 1 } else { unsatisfied += 1 });
            }
            NodeKind::And | NodeKind::Or => {}
        }
        let (decisive, others) =
            if node.kind == NodeKind::And { (unsatisfied, satisfied) } else { (satisfied, unsatisfied) };
        match (decisive, others) {
            (1.., _) => Some(node.kind == NodeKind::Or),
            (0, others) if others == children.len() => Some(node.kind == NodeKind::And),
            _ => None,
        }
    }
}
