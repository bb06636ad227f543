//! Normalized expressions, as engines receive them: AND and OR over positive predicates, in a small graph.
//!
//! There is no NOT, and no third truth value: a predicate is TRUE or not TRUE, and since AND and OR are monotone, the
//! root is TRUE iff the three-valued evaluation of the syntax tree is.
//!
//! | file or folder | question it answers |
//! | --- | --- |
//! | `ordered_set` | which values of an ordered domain belong to a set? |
//! | `value_set` | which values of any kind belong to a set? |
//! | `accepted` | for which values is this operator TRUE? |
//! | `normalize` | how does a syntax tree become a normalized expression? |
//! | `predicate` | which values does a normalized predicate accept? |
//! | `conjunction` | how does a conjunction become an expression? |
//! | `render` | what is the text of a normalized predicate in the language? |

mod accepted;
mod conjunction;
mod normalize;
mod ordered_set;
mod predicate;
mod render;
mod value_set;

pub(crate) use accepted::after_prefix;
pub use normalize::{Missing, Normalizer};
pub use ordered_set::{Cut, OrderedSet};
pub use predicate::{Over, Predicate, Test};
pub use value_set::ValueSet;

use crate::event::Event;

/// A node's position in [`Normal::nodes`].
pub type NodeId = u32;

/// What decides an expression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Root {
    /// A contradiction: no event matches.
    #[default]
    Never,
    /// A tautology: every event matches.
    Always,
    /// The expression holds iff this node does.
    Node(NodeId),
}

/// A node of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A predicate, by its position in [`Normal::predicates`].
    Leaf(u32),
    /// Holds iff all children do; at least two.
    And {
        /// Position of the first child in the array of children.
        start: u32,
        /// Number of children.
        len: u32,
    },
    /// Holds iff some child does; at least two.
    Or {
        /// Position of the first child in the array of children.
        start: u32,
        /// Number of children.
        len: u32,
    },
}

/// A normalized expression.
///
/// Invariants: children precede their parents; every node is reachable from the root and may have several parents; no
/// child of an AND is an AND, no child of an OR an OR.
#[derive(Clone, Debug, Default)]
pub struct Normal {
    predicates: Vec<Predicate>,
    nodes: Vec<Node>,
    /// The children of all nodes, node by node.
    children: Vec<NodeId>,
    root: Root,
}

impl Normal {
    /// What decides the expression.
    pub fn root(&self) -> Root {
        self.root
    }

    /// All nodes, children before parents.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The predicates of the leaves.
    pub fn predicates(&self) -> &[Predicate] {
        &self.predicates
    }

    /// The children of a node; none for a leaf.
    pub fn children(&self, node: Node) -> &[NodeId] {
        match node {
            Node::Leaf(_) => &[],
            Node::And { start, len } | Node::Or { start, len } => {
                &self.children[start as usize..start as usize + len as usize]
            }
        }
    }
}

/// Evaluation of one expression outside an engine.
impl Normal {
    /// Whether the event satisfies the expression. `memo` is a buffer that is reused across calls.
    pub fn holds(&self, event: &Event<'_>, memo: &mut Vec<Option<bool>>) -> bool {
        memo.clear();
        memo.resize(self.nodes.len(), None);
        match self.root {
            Root::Never => false,
            Root::Always => true,
            Root::Node(root) => self.node_holds(root, event, memo),
        }
    }

    /// Evaluates a node with several parents once: otherwise nested XORs would take exponential time.
    fn node_holds(&self, id: NodeId, event: &Event<'_>, memo: &mut [Option<bool>]) -> bool {
        if let Some(known) = memo[id as usize] {
            return known;
        }
        let node = self.nodes[id as usize];
        let holds = match node {
            Node::Leaf(predicate) => self.predicates[predicate as usize].holds(event),
            Node::And { .. } => self.children(node).iter().all(|child| self.node_holds(*child, event, memo)),
            Node::Or { .. } => self.children(node).iter().any(|child| self.node_holds(*child, event, memo)),
        };
        memo[id as usize] = Some(holds);
        holds
    }

    /// Approximate bytes in use.
    pub fn memory(&self) -> usize {
        self.predicates.iter().map(Predicate::heap).sum::<usize>()
            + self.predicates.capacity() * size_of::<Predicate>()
            + self.nodes.capacity() * size_of::<Node>()
            + self.children.capacity() * size_of::<NodeId>()
    }
}
