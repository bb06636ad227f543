//! An engine's structure as a graph, for drawings.

use super::SubId;
use crate::expr::Predicate;

/// An engine's structure as a graph.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Children before parents.
    pub nodes: Vec<GraphNode>,
}

/// A predicate or a connective.
#[derive(Clone, Debug)]
pub struct GraphNode {
    /// Predicate or connective.
    pub kind: GraphNodeKind,
    /// 1 for predicates, more for connectives; nodes of one level are drawn side by side.
    pub level: u32,
    /// Its operands, as positions in [`Graph::nodes`].
    pub children: Vec<usize>,
    /// The only child whose result is propagated to this node, as a position in [`Graph::nodes`]; `None` if every child's
    /// is.
    pub access: Option<usize>,
    /// The subscriptions whose whole expression this node is.
    pub subscriptions: Vec<SubId>,
}

/// The kind of a graph node.
#[derive(Clone, Debug, PartialEq)]
pub enum GraphNodeKind {
    /// A predicate.
    Predicate(Predicate),
    /// All children hold.
    And,
    /// Some child holds.
    Or,
}
