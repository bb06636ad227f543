//! Witness cover: which predicates must an event satisfy, one at least, to satisfy an expression?
//!
//! The cover of a conjunction is that of its cheapest operand; the cover of a disjunction is the union of its operands'
//! covers. Each predicate of the cover, a *witness*, stands for an *alternative*: the conjunction of the witness and of
//! everything beside the path to it. The expression is TRUE iff one of its alternatives is. Nothing is multiplied out:
//! what is beside the path stays a subexpression, stored once for all expressions that share it.
//!
//! This generalizes the access predicate of PSTHash, the pivot of OpIndex and A-Tree's propagation on demand.
//!
//! Cost: linear in the nodes of an expression and the operands of its alternatives.

use crate::compiled::arena::header::RowTarget;
use crate::compiled::build::alternatives::{Alternatives, Operand, Subexpressions};
use crate::compiled::build::conditions::SpaceCondition;
use crate::compiled::build::expressions::{ExpressionForm, ExpressionTokens, NodeToken, NodeTokens};
use crate::compiled::limits::{ExpressionNumber, SegmentLimits, SegmentOverflow};
use std::ops::Range;

/// Alternatives of one expression that are always stored; more only up to twice its predicates.
const FEW_ALTERNATIVES: usize = 16;

/// Finds the alternatives of expressions, one after another.
pub(in crate::compiled) struct Cover<'c> {
    /// By predicate.
    conditions: &'c [SpaceCondition],
    limits: &'c SegmentLimits,
    pub alternatives: Alternatives,
    pub subexpressions: Subexpressions,
    /// Nodes of the expression in hand, children before parents; reused.
    nodes: Vec<CoverNode>,
    /// Children of all nodes; reused.
    children: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NodeKind {
    Leaf {
        predicate: u32,
    },
    /// All children must hold; the cover is that of the child `best`.
    All {
        best: u32,
    },
    Any,
}

/// A node of the expression in hand.
#[derive(Clone, Copy)]
struct CoverNode {
    kind: NodeKind,
    /// Where its children begin in [`Cover::children`], and how many there are.
    start: u32,
    len: u32,
    /// Expected cost of its cover: the share of events that satisfy a witness, summed up. Infinite without a cover.
    cost: f32,
    /// Number of its alternatives, saturating.
    alternatives: usize,
    /// The node as an operand, once it is known.
    operand: Option<Operand>,
    /// Whether [`Cover::witnesses`] visited it.
    visited: bool,
}

impl<'c> Cover<'c> {
    pub fn new(conditions: &'c [SpaceCondition], limits: &'c SegmentLimits) -> Cover<'c> {
        Cover {
            conditions,
            limits,
            alternatives: Alternatives::default(),
            subexpressions: Subexpressions::default(),
            nodes: Vec::new(),
            children: Vec::new(),
        }
    }

    /// Adds the alternatives of an expression.
    pub fn add(&mut self, expressions: &ExpressionTokens, number: usize) -> Result<(), SegmentOverflow> {
        let expression = ExpressionNumber::new(number, self.limits)?;
        match expressions.get(number) {
            ExpressionForm::None => Ok(()),
            ExpressionForm::Conjunction(predicates) => {
                let operands = predicates.iter().map(|predicate| Operand::of_predicate(*predicate));
                self.alternatives.push(RowTarget::new(expression, false), operands, self.limits)
            }
            ExpressionForm::Graph(nodes) => {
                self.read(nodes);
                self.add_graph(expression)
            }
        }
    }

    /// Adds the alternatives of the expression in hand.
    fn add_graph(&mut self, expression: ExpressionNumber) -> Result<(), SegmentOverflow> {
        let root = self.nodes.len() - 1;
        let is_leaf = |node: &&CoverNode| matches!(node.kind, NodeKind::Leaf { .. });
        let leaves = self.nodes.iter().filter(is_leaf).count();
        let CoverNode { alternatives, .. } = self.nodes[root];
        if alternatives <= FEW_ALTERNATIVES.max(2 * leaves) {
            let target = RowTarget::new(expression, alternatives > 1);
            return self.collect(root, &mut Vec::new(), target);
        }
        // Shared subexpressions multiply the paths. The whole expression becomes one subexpression, beside each witness.
        let whole = self.operand(root)?;
        let mut witnesses = Vec::new();
        self.witnesses(root, &mut witnesses);
        for witness in witnesses {
            self.subexpressions.count_uses(&[whole]);
            self.alternatives.push(RowTarget::new(expression, true), [witness, whole], self.limits)?;
        }
        Ok(())
    }

    /// Reads the nodes of an expression and the costs of their covers.
    fn read(&mut self, tokens: NodeTokens<'_>) {
        self.nodes.clear();
        self.children.clear();
        for token in tokens {
            let start = self.children.len() as u32;
            let of = |child: &u32| &self.nodes[*child as usize];
            let (kind, cost, alternatives) = match token {
                NodeToken::Leaf { predicate } => {
                    let condition = &self.conditions[predicate as usize];
                    let cost = if condition.can_witness() { condition.selectivity } else { f32::INFINITY };
                    (NodeKind::Leaf { predicate }, cost, 1)
                }
                NodeToken::All(children) => {
                    let cheapest = children.iter().min_by(|a, b| of(a).cost.total_cmp(&of(b).cost));
                    let best = cheapest.copied().unwrap_or(0);
                    let cover = of(&best);
                    (NodeKind::All { best }, cover.cost, cover.alternatives)
                }
                NodeToken::Any(children) => {
                    let cost = children.iter().map(|child| of(child).cost).sum();
                    let counts = children.iter().map(|child| of(child).alternatives);
                    (NodeKind::Any, cost, counts.fold(0, usize::saturating_add))
                }
            };
            if let NodeToken::All(children) | NodeToken::Any(children) = token {
                self.children.extend(children);
            }
            let len = self.children.len() as u32 - start;
            let operand = None;
            self.nodes.push(CoverNode { kind, start, len, cost, alternatives, operand, visited: false });
        }
    }

    fn children(&self, node: CoverNode) -> Range<usize> {
        node.start as usize..(node.start + node.len) as usize
    }

    /// Adds an alternative for every witness below a node; `beside` holds the operands beside the path to the node.
    fn collect(
        &mut self,
        node: usize,
        beside: &mut Vec<Operand>,
        target: RowTarget,
    ) -> Result<(), SegmentOverflow> {
        let node = self.nodes[node];
        match node.kind {
            NodeKind::Leaf { predicate } => {
                self.subexpressions.count_uses(beside);
                let operands =
                    std::iter::once(Operand::of_predicate(predicate)).chain(beside.iter().copied());
                self.alternatives.push(target, operands, self.limits)
            }
            NodeKind::All { best } => {
                let before = beside.len();
                for at in self.children(node) {
                    let child = self.children[at];
                    if child != best {
                        beside.push(self.operand(child as usize)?);
                    }
                }
                self.collect(best as usize, beside, target)?;
                beside.truncate(before);
                Ok(())
            }
            NodeKind::Any => self
                .children(node)
                .try_for_each(|at| self.collect(self.children[at] as usize, beside, target)),
        }
    }

    /// A node as an operand: its predicate, or a subexpression.
    fn operand(&mut self, at: usize) -> Result<Operand, SegmentOverflow> {
        let node = self.nodes[at];
        if let NodeKind::Leaf { predicate } = node.kind {
            return Ok(Operand::of_predicate(predicate));
        }
        if let Some(operand) = node.operand {
            return Ok(operand);
        }
        let mut operands: Vec<Operand> = Vec::with_capacity(node.len as usize);
        for at in self.children(node) {
            operands.push(self.operand(self.children[at] as usize)?);
        }
        // What decides first comes first: the least likely operand of ALL, the likeliest of ANY, subexpressions last.
        // A total order makes equal subexpressions look alike.
        let selectivity = |operand: &Operand| {
            operand.predicate().map_or(2.0, |predicate| self.conditions[predicate].selectivity)
        };
        let all = node.kind != NodeKind::Any;
        operands.sort_by(|a, b| {
            let order = selectivity(a).total_cmp(&selectivity(b));
            let ascending = all || selectivity(a) > 1.0 || selectivity(b) > 1.0;
            let order = if ascending { order } else { order.reverse() };
            order.then(a.cmp(b))
        });
        let operand = self.subexpressions.intern(all, &operands, self.limits)?;
        self.nodes[at].operand = Some(operand);
        Ok(operand)
    }

    /// The witnesses below a node, each once.
    fn witnesses(&mut self, at: usize, found: &mut Vec<Operand>) {
        if std::mem::replace(&mut self.nodes[at].visited, true) {
            return;
        }
        let node = self.nodes[at];
        match node.kind {
            NodeKind::Leaf { predicate } => found.push(Operand::of_predicate(predicate)),
            NodeKind::All { best } => self.witnesses(best as usize, found),
            NodeKind::Any => {
                self.children(node).for_each(|at| self.witnesses(self.children[at] as usize, found));
            }
        }
    }
}
