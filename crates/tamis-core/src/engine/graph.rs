//! An engine's structure as a graph, for drawings.

use super::SubId;
use crate::expr::Predicate;
use crate::schema::AttrId;

/// An engine's structure as a graph.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Children before parents.
    pub nodes: Vec<GraphNode>,
}

impl Graph {
    /// Adds a node below another, one level further, and returns its position.
    pub(super) fn push(&mut self, kind: GraphNodeKind, above: Option<usize>) -> usize {
        let level = above.map_or(1, |above| self.nodes[above].level + 1);
        let children = above.into_iter().collect();
        self.nodes.push(GraphNode { kind, level, children, access: None, subscriptions: Vec::new() });
        self.nodes.len() - 1
    }
}

/// A node of the structure.
#[derive(Clone, Debug)]
pub struct GraphNode {
    /// What it stands for.
    pub kind: GraphNodeKind,
    /// 1 where matching begins, more for what it reaches; nodes of one level are drawn side by side.
    pub level: u32,
    /// The nodes that matching reaches it from, such as the operands of a connective, as positions in [`Graph::nodes`].
    pub children: Vec<usize>,
    /// The only child whose result is propagated to this node, as a position in [`Graph::nodes`]; `None` if every child's
    /// is.
    pub access: Option<usize>,
    /// The subscriptions whose whole expression this node is, or that are stored there.
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
    /// Divides subscriptions by the values of an attribute.
    Attribute(AttrId),
    /// Has subscriptions that are stored together, and what is below them; the text says which.
    Partition(String),
}
