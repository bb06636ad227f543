//! Which expressions does an event satisfy? (Algorithm 6 and its optimizations.)
//!
//! Results flow from the predicates up, level by level, so that whatever a node asks of its children is known by
//! then. The usual way is [`ATree::match_on_demand`]: only satisfied nodes say so (zero suppression filter), and an
//! AND is looked at only when its access child is satisfied (propagation on demand). [`ATree::match_by_counting`] does
//! without one of these or both, for comparison.

use super::ATree;
use super::nodes::{Node, NodeId, Part};
use super::truths::TruthScratch;
use crate::engine::SubId;
use crate::event::Event;

/// What a thread needs to match. Nothing is cleared between events: a result counts only with the signature of the
/// current one.
#[derive(Debug, Default)]
pub(super) struct MatchScratch {
    signature: u32,
    /// By node: the event that last satisfied it.
    results: Vec<u32>,
    /// By level: nodes to look at.
    queues: Vec<Vec<NodeId>>,
    truths: TruthScratch,
    /// By node, for counting.
    operands: Vec<Operands>,
}

/// What the children of a node said about an event.
#[derive(Clone, Copy, Debug, Default)]
struct Operands {
    signature: u32,
    satisfied: u32,
    unsatisfied: u32,
    result: Option<bool>,
}

impl MatchScratch {
    /// Makes room for all nodes and levels, and starts a new event.
    fn begin(&mut self, tree: &ATree, counting: bool) {
        let (nodes, levels) = (tree.nodes.bound(), tree.nodes.levels());
        if self.results.len() < nodes {
            self.results.resize(nodes.next_power_of_two(), 0);
        }
        if self.queues.len() < levels {
            self.queues.resize_with(levels, Vec::new);
        }
        if counting && self.operands.len() < nodes {
            self.operands.resize(nodes.next_power_of_two(), Operands::default());
        }
        if self.signature == u32::MAX {
            self.results.fill(0);
            self.operands.fill(Operands::default());
            self.signature = 0;
        }
        self.signature += 1;
    }
}

impl ATree {
    pub(super) fn match_on_demand(
        &self,
        event: &Event<'_>,
        scratch: &mut MatchScratch,
        matches: &mut Vec<SubId>,
    ) {
        scratch.begin(self, false);
        let MatchScratch { signature, results, queues, truths, .. } = scratch;
        let signature = *signature;
        self.truths.find(event, &self.predicates, &self.nodes, truths, |id| {
            if results[id.index()] != signature {
                results[id.index()] = signature;
                let node = self.nodes.get(id);
                self.nodes.append_subs(node.subs, matches);
                if node.active > 0 {
                    queues[1].push(id);
                }
            }
        });
        for level in 1..self.nodes.levels() {
            let mut queue = std::mem::take(&mut queues[level]);
            for &id in &queue {
                let node = *self.nodes.get(id);
                if node.part == Part::And {
                    if !self.others_hold(&node, results, signature) {
                        continue;
                    }
                    results[id.index()] = signature;
                    self.nodes.append_subs(node.subs, matches);
                }
                for &parent in &self.nodes.links.get(node.parents)[..node.active as usize] {
                    let above = self.nodes.get(parent);
                    if above.part == Part::Or {
                        if results[parent.index()] == signature {
                            continue;
                        }
                        results[parent.index()] = signature;
                        self.nodes.append_subs(above.subs, matches);
                        if above.active == 0 {
                            continue;
                        }
                    } else if level == 1 && above.level == 2 {
                        // Predicates are all known: no need to wait.
                        if !self.others_hold(above, results, signature) {
                            continue;
                        }
                        if above.active == 0 {
                            results[parent.index()] = signature;
                            self.nodes.append_subs(above.subs, matches);
                            continue;
                        }
                    }
                    queues[above.level as usize].push(parent);
                }
            }
            queue.clear();
            queues[level] = queue;
        }
    }

    /// Whether all children of an AND but its access child are satisfied.
    #[inline]
    fn others_hold(&self, node: &Node, results: &[u32], signature: u32) -> bool {
        self.nodes.links.get(node.children)[1..].iter().all(|child| results[child.index()] == signature)
    }

    /// Every child that knows its result tells its parents, who count. Without the zero suppression filter a result
    /// may be FALSE, and is told as well. With propagation on demand an AND waits for its access child alone, then asks
    /// the others.
    pub(super) fn match_by_counting(
        &self,
        event: &Event<'_>,
        scratch: &mut MatchScratch,
        matches: &mut Vec<SubId>,
    ) {
        scratch.begin(self, true);
        let MatchScratch { signature, queues, truths, operands, .. } = scratch;
        let signature = *signature;
        let mut settle = |id: NodeId, result: bool| {
            let operand = &mut operands[id.index()];
            if operand.signature != signature {
                *operand = Operands { signature, result: Some(result), ..Operands::default() };
                queues[1].push(id);
            }
        };
        self.truths.find(event, &self.predicates, &self.nodes, truths, |id| settle(id, true));
        if !self.switches.zero_suppression {
            for cell in event.cells() {
                self.truths.on(cell.attribute).iter().for_each(|id| settle(*id, false));
            }
        }
        for level in 1..self.nodes.levels() {
            let mut queue = std::mem::take(&mut queues[level]);
            for &id in &queue {
                let node = *self.nodes.get(id);
                let result = self.evaluate(&node, operands[id.index()], operands, signature);
                operands[id.index()].result = result;
                if result == Some(true) {
                    self.nodes.append_subs(node.subs, matches);
                }
                let Some(result) = result else { continue };
                if !result && self.switches.zero_suppression {
                    continue;
                }
                for &parent in &self.nodes.links.get(node.parents)[..node.active as usize] {
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

    /// The paper's Table 2: what follows from the results of the children, if anything.
    fn evaluate(&self, node: &Node, own: Operands, all: &[Operands], signature: u32) -> Option<bool> {
        let children = self.nodes.links.get(node.children);
        let (mut satisfied, mut unsatisfied) = (own.satisfied as usize, own.unsatisfied as usize);
        match node.part {
            Part::Free => return None,
            Part::Predicate => return own.result,
            Part::And if self.switches.propagation_on_demand => {
                let known = children.iter().filter_map(|child| {
                    let operand = all[child.index()];
                    if operand.signature == signature { operand.result } else { None }
                });
                (satisfied, unsatisfied) = (0, 0);
                known.for_each(|result| if result { satisfied += 1 } else { unsatisfied += 1 });
            }
            Part::And | Part::Or => {}
        }
        let (decisive, others) =
            if node.part == Part::And { (unsatisfied, satisfied) } else { (satisfied, unsatisfied) };
        match (decisive, others) {
            (1.., _) => Some(node.part == Part::Or),
            (0, others) if others == children.len() => Some(node.part == Part::And),
            _ => None,
        }
    }
}
