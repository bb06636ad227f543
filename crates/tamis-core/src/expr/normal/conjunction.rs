//! A conjunction as an expression of its own: what a translation to DNF hands to an engine for conjunctions.

use super::{Node, Normal, Predicate, Root};

impl Normal {
    /// The expression that holds iff all of these predicates do: TRUE if there are none.
    pub fn of_conjunction(predicates: Vec<Predicate>) -> Normal {
        let count = predicates.len() as u32;
        let mut nodes: Vec<Node> = (0..count).map(Node::Leaf).collect();
        let (children, root) = match count {
            0 => (Vec::new(), Root::Always),
            1 => (Vec::new(), Root::Node(0)),
            _ => {
                nodes.push(Node::And { start: 0, len: count });
                ((0..count).collect(), Root::Node(count))
            }
        };
        Normal { predicates, nodes, children, root }
    }
}
