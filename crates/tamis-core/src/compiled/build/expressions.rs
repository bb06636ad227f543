//! Expressions in a compact form, until all predicates are known and can be compared.
//!
//! One token stream for all. A conjunction of predicates, the common case, is their number and the predicates; any other
//! expression is its nodes, children before parents:
//!
//! ```text
//! conjunction   n, predicate * n                           n >= 1
//! graph         GRAPH | nodes, node * nodes
//!   leaf          LEAF, predicate
//!   inner node    children << 2 | ALL or ANY, child * children
//! none          0
//! ```

use crate::compiled::limits::{SegmentLimits, SegmentOverflow};
use crate::engine::shared::predicates::Predicates;
use crate::expr::{Node, Normal, Root};

/// Expressions as they were added, with numbers for their predicates.
#[derive(Debug, Default)]
pub(in crate::compiled) struct ExpressionTokens {
    /// Where each expression begins in `tokens`.
    starts: Vec<usize>,
    tokens: Vec<u32>,
}

const GRAPH: u32 = 1 << 31;
const NO_EXPRESSION: u32 = 0;

/// Kinds of nodes: the lowest 2 bits of a node's first token.
const LEAF: u32 = 0;
const ALL: u32 = 1;
const ANY: u32 = 2;

/// An expression, as it was added.
pub(in crate::compiled) enum ExpressionForm<'e> {
    /// A number without an expression.
    None,
    /// Predicates that must all hold.
    Conjunction(&'e [u32]),
    /// Nodes, children before parents; the root is last.
    Graph(NodeTokens<'e>),
}

/// Nodes of an expression.
pub(in crate::compiled) struct NodeTokens<'e>(&'e [u32]);

/// A node of an expression.
pub(in crate::compiled) enum NodeToken<'e> {
    Leaf { predicate: u32 },
    All(&'e [u32]),
    Any(&'e [u32]),
}

impl<'e> Iterator for NodeTokens<'e> {
    type Item = NodeToken<'e>;

    fn next(&mut self) -> Option<NodeToken<'e>> {
        let (first, rest) = self.0.split_first()?;
        if first & 3 == LEAF {
            let (predicate, rest) = rest.split_first()?;
            self.0 = rest;
            return Some(NodeToken::Leaf { predicate: *predicate });
        }
        let (children, rest) = rest.split_at((first >> 2) as usize);
        self.0 = rest;
        Some(if first & 3 == ALL { NodeToken::All(children) } else { NodeToken::Any(children) })
    }
}

impl ExpressionTokens {
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// A number without an expression.
    pub fn skip(&mut self) {
        self.starts.push(self.tokens.len());
        self.tokens.push(NO_EXPRESSION);
    }

    /// Adds an expression; fails if it alone has more nodes than a token can say.
    pub fn add(
        &mut self,
        expression: &Normal,
        predicates: &mut Predicates,
        limits: &SegmentLimits,
    ) -> Result<(), SegmentOverflow> {
        let Root::Node(root) = expression.root() else {
            self.skip();
            return Ok(());
        };
        let nodes = expression.nodes();
        // Children are counted in 30 bits, nodes in 31.
        let limits = SegmentLimits { array_items: limits.array_items.min(1 << 29), ..*limits };
        limits.items_of_one(nodes.len(), "operators and predicates of one rule")?;
        self.starts.push(self.tokens.len());
        let mut number =
            |predicate: u32| predicates.acquire_ref(&expression.predicates()[predicate as usize]).0;
        let leaf = |node: Node| if let Node::Leaf(predicate) = node { Some(predicate) } else { None };
        let root = nodes[root as usize];
        if let Some(predicate) = leaf(root) {
            self.tokens.push(1);
            self.tokens.push(number(predicate));
            return Ok(());
        }
        let children = expression.children(root);
        if let Node::And { .. } = root
            && children.iter().all(|child| leaf(nodes[*child as usize]).is_some())
        {
            self.tokens.push(children.len() as u32);
            self.tokens.extend(children.iter().filter_map(|child| leaf(nodes[*child as usize])).map(number));
            return Ok(());
        }
        self.tokens.push(GRAPH | nodes.len() as u32);
        for node in nodes {
            let children = expression.children(*node);
            let first = |kind: u32| (children.len() as u32) << 2 | kind;
            match node {
                Node::Leaf(predicate) => self.tokens.extend([LEAF, number(*predicate)]),
                Node::And { .. } => self.tokens.push(first(ALL)),
                Node::Or { .. } => self.tokens.push(first(ANY)),
            }
            self.tokens.extend(children);
        }
        Ok(())
    }

    /// The expression with a number.
    pub fn get(&self, number: usize) -> ExpressionForm<'_> {
        let end = self.starts.get(number + 1).copied().unwrap_or(self.tokens.len());
        let tokens = &self.tokens[self.starts[number]..end];
        match tokens[0] {
            NO_EXPRESSION => ExpressionForm::None,
            first if first & GRAPH == 0 => ExpressionForm::Conjunction(&tokens[1..]),
            _ => ExpressionForm::Graph(NodeTokens(&tokens[1..])),
        }
    }
}
