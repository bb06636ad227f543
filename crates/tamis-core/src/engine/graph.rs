//! What an engine has built, for people to look at.

use super::SubId;
use crate::expr::Predicate;

/// An engine's structure as a graph.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Children come before parents.
    pub nodes: Vec<GraphNode>,
}

/// A predicate or a connective, with the expressions it stands for.
#[derive(Clone, Debug)]
pub struct GraphNode {
    /// What it is.
    pub part: Part,
    /// 1 for predicates, more for what is built on them; drawn side by side.
    pub level: u32,
    /// What it joins, as places in [`Graph::nodes`].
    pub children: Vec<usize>,
    /// The child that alone leads here while matching, as a place in [`Graph::nodes`]; `None` if every one does.
    pub access: Option<usize>,
    /// The subscriptions whose whole expression this is.
    pub subscriptions: Vec<SubId>,
}

/// What a node of a [`Graph`] is.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// A predicate.
    Predicate(Predicate),
    /// All children hold.
    And,
    /// Some child holds.
    Or,
}
