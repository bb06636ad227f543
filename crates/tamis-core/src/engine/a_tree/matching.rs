//! Which expressions does an event satisfy? (Algorithm 6 and its optimizations.)
//!
//! Results flow from the predicates up, level by level, so that whatever a node asks of its children is known by
//! then. The usual way is [`ATree::match_on_demand`]: only satisfied nodes say so (zero suppression filter), and an
//! AND is looked at only when its access child is satisfied (propagation on demand). [`ATree::match_by_counting`] does
//! without one of these or both, for comparison.
//!
//! Nodes lie all over memory, and waiting for them is nearly all there is to matching. So the parents of many
//! satisfied nodes are collected first and then read side by side. An OR is satisfied as soon as one child is, so only
//! ANDs wait for their level.

use super::ATree;
use super::nodes::{FREE, Node, NodeId, Part};
use super::truths::TruthScratch;
use crate::engine::SubId;
use crate::engine::shared::list_pool::ListRef;
use crate::event::Event;

/// How many nodes are read side by side.
const ABREAST: usize = 16;

/// What a thread needs to match.
#[derive(Debug, Default)]
pub(in crate::engine) struct MatchScratch {
    satisfied: NodeSet,
    /// Links to the parents of satisfied nodes that are to be told.
    telling: Vec<(ListRef, u32)>,
    /// Those parents.
    told: Vec<NodeId>,
    /// By level: nodes to look at. With propagation on demand, ANDs whose access child is satisfied.
    queues: Vec<Vec<NodeId>>,
    truths: TruthScratch,
    /// Of the current event, for counting: what has another one is of an earlier event and counts for nothing.
    signature: u32,
    /// By node, for counting.
    operands: Vec<Operands>,
}

/// A set of nodes that is emptied in the time it took to fill.
#[derive(Debug, Default)]
struct NodeSet {
    words: Vec<u64>,
    /// Which words are not zero.
    used: Vec<u32>,
}

impl NodeSet {
    /// Empties the set and makes room for `nodes`.
    fn begin(&mut self, nodes: usize) {
        self.used.drain(..).for_each(|word| self.words[word as usize] = 0);
        if self.words.len() * 64 < nodes {
            self.words.resize(nodes.next_power_of_two().div_ceil(64), 0);
        }
    }

    #[inline]
    fn has(&self, id: NodeId) -> bool {
        self.words[id.index() / 64] >> (id.0 % 64) & 1 != 0
    }

    /// Whether the node was not there yet.
    #[inline]
    fn insert(&mut self, id: NodeId) -> bool {
        let word = &mut self.words[id.index() / 64];
        let bit = 1 << (id.0 % 64);
        if *word & bit != 0 {
            return false;
        }
        if *word == 0 {
            self.used.push(id.0 / 64);
        }
        *word |= bit;
        true
    }
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
    /// Makes room for all levels.
    fn begin(&mut self, tree: &ATree) {
        if self.queues.len() < tree.nodes.levels() {
            self.queues.resize_with(tree.nodes.levels(), Vec::new);
        }
    }

    /// Makes room for all nodes, and starts a new event.
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
    pub(super) fn match_on_demand(
        &self,
        event: &Event<'_>,
        scratch: &mut MatchScratch,
        matches: &mut Vec<SubId>,
    ) {
        scratch.begin(self);
        let MatchScratch { satisfied, telling, told, queues, truths, .. } = scratch;
        satisfied.begin(self.nodes.bound());
        let mut satisfy =
            |id: NodeId, node: &Node, satisfied: &mut NodeSet, telling: &mut Vec<(ListRef, u32)>| {
                if satisfied.insert(id) {
                    self.nodes.append_subs(node.subs, matches);
                    if node.active > 0 {
                        telling.push((node.parents, node.active));
                    }
                }
            };
        self.truths.find(event, &self.predicates, &self.nodes, truths, |id| {
            satisfy(id, self.nodes.get(id), satisfied, telling);
        });
        for level in 1..self.nodes.levels() {
            for id in queues[level].drain(..) {
                let node = self.nodes.get(id);
                if self.others_hold(node, satisfied) {
                    satisfy(id, node, satisfied, telling);
                }
            }
            while !telling.is_empty() {
                told.clear();
                for (parents, active) in telling.drain(..) {
                    let active = &self.nodes.links.get(parents)[..active as usize];
                    told.extend(active.iter().filter(|parent| !satisfied.has(**parent)));
                }
                for ids in told.chunks(ABREAST) {
                    let mut nodes = [FREE; ABREAST];
                    nodes.iter_mut().zip(ids).for_each(|(node, id)| *node = *self.nodes.get(*id));
                    for (node, id) in nodes.iter().zip(ids) {
                        // Of predicates everything is known, so an AND of predicates need not wait.
                        if node.part == Part::Or || node.level == 2 && self.others_hold(node, satisfied) {
                            satisfy(*id, node, satisfied, telling);
                        } else if node.level > 2 {
                            queues[usize::from(node.level)].push(*id);
                        }
                    }
                }
            }
        }
    }

    /// Whether all children of an AND but its access child are satisfied.
    #[inline]
    fn others_hold(&self, node: &Node, satisfied: &NodeSet) -> bool {
        self.nodes.links.get(node.children)[1..].iter().all(|child| satisfied.has(*child))
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
        scratch.begin_counting(self);
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
