//! The diagram of an expression, from its predicates up: Bryant's Apply for AND and OR.
//!
//! Without recursion: a path may test thousands of predicates. Results are remembered for the time of one insertion, so
//! that every pair of nodes is combined once; a pair is one step.

use super::diagram::{BddId, BddNode, Bound, Diagram};
use crate::boolean::predicate_index::PredicateIndex;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use tamis_core::engine::shared::predicates::PredId;
use tamis_core::expr::{Node, NodeId, Normal};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Connective {
    And,
    Or,
}

impl Connective {
    /// The result if it is known without looking at nodes.
    fn known(self, f: BddId, g: BddId) -> Option<BddId> {
        let (absorbing, neutral) = match self {
            Connective::And => (BddId::FALSE, BddId::TRUE),
            Connective::Or => (BddId::TRUE, BddId::FALSE),
        };
        match (f, g) {
            (f, g) if f == absorbing || g == absorbing => Some(absorbing),
            (f, g) if f == neutral || f == g => Some(g),
            (f, g) if g == neutral => Some(f),
            _ => None,
        }
    }
}

/// What is left to do.
#[derive(Clone, Copy, Debug)]
enum Task {
    /// Combine two nodes.
    Combine(BddId, BddId),
    /// Make the node of two combined ones, whose low and high results are the last two.
    Make { pair: (BddId, BddId), variable: PredId },
}

/// Entries of [`Apply::results`] that are kept allocated between insertions.
const KEPT_RESULTS: usize = 1 << 10;

/// The buffers of an insertion.
#[derive(Debug, Default)]
pub(super) struct Apply {
    /// By node of the expression: its node of the diagram.
    built: Vec<BddId>,
    /// Pairs combined in this insertion.
    results: FxHashMap<(Connective, BddId, BddId), BddId>,
    tasks: Vec<Task>,
    /// Results of tasks that no task has taken yet.
    values: Vec<BddId>,
    /// The operands of one connective.
    operands: Vec<BddId>,
    /// Steps of this insertion.
    steps: usize,
}

/// What the methods of [`Apply`] work on.
struct Target<'t> {
    diagram: &'t mut Diagram,
    predicates: &'t mut PredicateIndex,
    max_nodes: usize,
    max_steps: usize,
}

impl Apply {
    /// Builds the diagrams of all nodes of an expression; `variables` are its predicates. The nodes have no reference yet.
    pub fn build(
        &mut self,
        expression: &Normal,
        variables: &[PredId],
        diagram: &mut Diagram,
        predicates: &mut PredicateIndex,
        [max_nodes, max_steps]: [usize; 2],
    ) -> Result<(), Bound> {
        let mut target = Target { diagram, predicates, max_nodes, max_steps };
        for &node in expression.nodes() {
            let connective = match node {
                Node::Leaf(at) => {
                    let variable = variables[at as usize];
                    let test = BddNode { variable, low: BddId::FALSE, high: BddId::TRUE };
                    self.built.push(target.make(test)?);
                    continue;
                }
                Node::And { .. } => Connective::And,
                Node::Or { .. } => Connective::Or,
            };
            let mut operands = std::mem::take(&mut self.operands);
            operands.clear();
            operands.extend(expression.children(node).iter().map(|child| self.built[*child as usize]));
            // From the end of the order: a predicate above all that is combined so far takes one step.
            operands.sort_by_key(|operand| Reverse(target.diagram.place(*operand)));
            let mut combined = operands[0];
            for &operand in &operands[1..] {
                combined = self.combine(connective, operand, combined, &mut target)?;
            }
            self.operands = operands;
            self.built.push(combined);
        }
        Ok(())
    }

    /// The node of the diagram for a node of the expression built last.
    pub fn node_of(&self, node: NodeId) -> BddId {
        self.built[node as usize]
    }

    /// Forgets the insertion.
    pub fn clear(&mut self) {
        self.built.clear();
        self.tasks.clear();
        self.values.clear();
        self.steps = 0;
        // Clearing takes time proportional to the capacity, which one large expression may have made large.
        if self.results.capacity() > KEPT_RESULTS {
            self.results = FxHashMap::default();
        }
        self.results.clear();
        self.built.shrink_to(KEPT_RESULTS);
        self.tasks.shrink_to(KEPT_RESULTS);
        self.values.shrink_to(KEPT_RESULTS);
        self.operands.shrink_to(KEPT_RESULTS);
    }

    fn combine(
        &mut self,
        connective: Connective,
        f: BddId,
        g: BddId,
        target: &mut Target<'_>,
    ) -> Result<BddId, Bound> {
        self.tasks.push(Task::Combine(f, g));
        while let Some(task) = self.tasks.pop() {
            let value = match task {
                Task::Combine(f, g) => {
                    let (f, g) = if f <= g { (f, g) } else { (g, f) };
                    let known = connective.known(f, g);
                    match known.or_else(|| self.results.get(&(connective, f, g)).copied()) {
                        Some(value) => value,
                        None => {
                            self.divide(f, g, target)?;
                            continue;
                        }
                    }
                }
                Task::Make { pair, variable } => {
                    let (high, low) = (self.take_value(), self.take_value());
                    let value = target.make(BddNode { variable, low, high })?;
                    self.results.insert((connective, pair.0, pair.1), value);
                    value
                }
            };
            self.values.push(value);
        }
        Ok(self.take_value())
    }

    fn take_value(&mut self) -> BddId {
        match self.values.pop() {
            Some(value) => value,
            None => unreachable!("every task leaves a value"),
        }
    }

    /// Leaves the combination of two nodes to those of their successors by the first variable of both.
    fn divide(&mut self, f: BddId, g: BddId, target: &mut Target<'_>) -> Result<(), Bound> {
        self.steps += 1;
        if self.steps > target.max_steps {
            return Err(Bound::Steps);
        }
        let diagram = &target.diagram;
        let (f_place, g_place) = (diagram.place(f), diagram.place(g));
        let variable = diagram.node(if f_place <= g_place { f } else { g }).variable;
        let successors = |id: BddId, place: u64| {
            let node = diagram.node(id);
            if place == f_place.min(g_place) { (node.low, node.high) } else { (id, id) }
        };
        let ((f_low, f_high), (g_low, g_high)) = (successors(f, f_place), successors(g, g_place));
        self.tasks.push(Task::Make { pair: (f, g), variable });
        self.tasks.push(Task::Combine(f_high, g_high));
        self.tasks.push(Task::Combine(f_low, g_low));
        Ok(())
    }
}

impl Target<'_> {
    fn make(&mut self, node: BddNode) -> Result<BddId, Bound> {
        self.diagram.make(node, self.predicates, self.max_nodes)
    }
}
