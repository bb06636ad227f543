//! What engines see: AND and OR over positive predicates, as a small graph.
//!
//! There is no NOT, and no third truth value either: a predicate is TRUE or it is not, and since AND and OR are
//! monotone, the root is TRUE exactly if the three-valued evaluation of what the user wrote is.

use super::eval::in_networks;
use super::pattern::TextPattern;
use super::set::{Cut, OrderedSet, ValueSet};
use crate::event::{Event, Slot};
use crate::number::Number;
use crate::schema::AttrId;
use crate::value::{Kind, Value};
use ipnet::IpNet;
use smol_str::SmolStr;
use std::sync::Arc;

/// A node's place in [`Normal`].
pub type NodeId = u32;

/// What an expression comes down to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Root {
    /// A contradiction.
    #[default]
    Never,
    /// A tautology: every event matches.
    Always,
    /// Decided by this node.
    Node(NodeId),
}

/// A node of the graph. Children come before parents; a node may have several parents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A predicate, by its place in [`Normal::predicates`].
    Leaf(u32),
    /// All children hold. At least two.
    And {
        /// Place of the first child in the list of children.
        start: u32,
        /// Number of children.
        len: u32,
    },
    /// Some child holds. At least two.
    Or {
        /// Place of the first child in the list of children.
        start: u32,
        /// Number of children.
        len: u32,
    },
}

/// A normalized expression.
#[derive(Clone, Debug, Default)]
pub struct Normal {
    pub(super) predicates: Vec<Predicate>,
    pub(super) nodes: Vec<Node>,
    pub(super) children: Vec<NodeId>,
    pub(super) root: Root,
}

impl Normal {
    /// What decides the expression.
    pub fn root(&self) -> Root {
        self.root
    }

    /// All nodes, children before parents; every one is reachable from the root.
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

/// Evaluation of one expression by itself, for those that are not in an engine.
impl Normal {
    /// Whether the event satisfies it. `memo` is a buffer, reused from call to call.
    pub fn holds(&self, event: &Event<'_>, memo: &mut Vec<Option<bool>>) -> bool {
        memo.clear();
        memo.resize(self.nodes.len(), None);
        match self.root {
            Root::Never => false,
            Root::Always => true,
            Root::Node(root) => self.node_holds(root, event, memo),
        }
    }

    /// A node with several parents is evaluated once: without that, nested XORs would take exponential time.
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

    /// Bytes in use, near enough.
    pub fn memory(&self) -> usize {
        self.predicates.iter().map(Predicate::heap).sum::<usize>()
            + self.predicates.capacity() * size_of::<Predicate>()
            + self.nodes.capacity() * size_of::<Node>()
            + self.children.capacity() * size_of::<NodeId>()
    }
}

/// What of an attribute's value a predicate looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Over {
    /// The value itself.
    Value,
    /// Some element of the list.
    AnyElement,
    /// Every element of the list.
    AllElements,
}

/// A positive predicate: TRUE for the values its test accepts, not TRUE for all others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Predicate {
    /// The attribute it looks at.
    pub attribute: AttrId,
    /// What of the value.
    pub over: Over,
    /// What is accepted.
    pub test: Test,
}

/// The accepted values. The first four are the common shapes of a set, kept inline.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    /// One range of numbers, both ends included. Open bounds became their neighbours, which is exact because
    /// event values are representable numbers too.
    Number {
        /// Lowest accepted.
        low: Number,
        /// Highest accepted.
        high: Number,
    },
    /// All numbers but one range, whose ends belong to it: `!=` and `NOT BETWEEN`.
    Outside {
        /// Numbers below are accepted.
        low: Number,
        /// Numbers above are accepted.
        high: Number,
    },
    /// One range of instants, both ends included.
    Time {
        /// Lowest accepted.
        low: i64,
        /// Highest accepted.
        high: i64,
    },
    /// One string.
    Text(SmolStr),
    /// Any other set of values.
    Set(Box<ValueSet>),
    /// Strings a pattern matches, or does not match.
    Pattern {
        /// The pattern; never one that is a range of strings.
        pattern: Arc<TextPattern>,
        /// Accepts the strings that do not match.
        negated: bool,
        /// Accepts a missing value too (closed world).
        or_missing: bool,
    },
    /// Addresses inside the networks, or outside.
    Cidr {
        /// The networks.
        networks: Arc<[IpNet]>,
        /// Accepts the addresses outside all of them.
        negated: bool,
        /// Accepts a missing value too (closed world).
        or_missing: bool,
    },
}

impl Predicate {
    /// Whether the event satisfies the predicate.
    #[inline]
    pub fn holds(&self, event: &Event<'_>) -> bool {
        let slot = event.slot(self.attribute);
        match (self.over, slot) {
            (Over::Value, slot) => self.test.accepts(slot, event),
            (Over::AnyElement, Slot::List(list)) => {
                event.elements(list).any(|value| self.test.accepts_value(value))
            }
            (Over::AllElements, Slot::List(list)) => {
                event.elements(list).all(|value| self.test.accepts_value(value))
            }
            _ => false,
        }
    }

    /// Whether an event without the attribute satisfies the predicate.
    pub fn accepts_missing(&self) -> bool {
        self.over == Over::Value && self.test.accepts_missing()
    }

    /// Bytes on the heap, near enough.
    pub fn heap(&self) -> usize {
        match &self.test {
            Test::Text(text) if text.is_heap_allocated() => text.len(),
            Test::Set(set) => size_of::<ValueSet>() + set.heap(),
            Test::Pattern { pattern, .. } => size_of::<TextPattern>() + pattern.source().len(),
            Test::Cidr { networks, .. } => size_of_val(&**networks),
            _ => 0,
        }
    }
}

impl Test {
    /// Whether a slot of the event is accepted; the common comparisons need no look at the text.
    #[inline]
    pub fn accepts(&self, slot: Slot, event: &Event<'_>) -> bool {
        match (self, slot) {
            (Test::Number { low: Number::Int(low), high: Number::Int(high) }, Slot::Int(value)) => {
                *low <= value && value <= *high
            }
            (Test::Outside { low: Number::Int(low), high: Number::Int(high) }, Slot::Int(value)) => {
                value < *low || *high < value
            }
            (Test::Number { .. } | Test::Outside { .. } | Test::Text(_), Slot::Missing) => false,
            _ => self.accepts_value(event.resolve(slot)),
        }
    }

    /// Whether a value is accepted.
    pub fn accepts_value(&self, value: Value<'_>) -> bool {
        match (self, value) {
            (Test::Number { low, high }, Value::Int(i)) => (*low..=*high).contains(&Number::Int(i)),
            (Test::Number { low, high }, Value::Float(f)) => (*low..=*high).contains(&Number::Float(f)),
            (Test::Outside { low, high }, Value::Int(i)) => !(*low..=*high).contains(&Number::Int(i)),
            (Test::Outside { low, high }, Value::Float(f)) => !(*low..=*high).contains(&Number::Float(f)),
            (Test::Time { low, high }, Value::Time(t)) => (*low..=*high).contains(&t),
            (Test::Text(wanted), Value::Text(text)) => wanted == text,
            (Test::Set(set), value) => set.contains(value),
            (Test::Pattern { pattern, negated, .. }, Value::Text(text)) => pattern.matches(text) != *negated,
            (Test::Cidr { networks, negated, .. }, Value::Text(text)) => {
                in_networks(text, networks).is_some_and(|inside| inside != *negated)
            }
            (Test::Pattern { or_missing, .. } | Test::Cidr { or_missing, .. }, Value::Missing) => *or_missing,
            _ => false,
        }
    }

    /// Whether an event without the attribute satisfies the test.
    pub fn accepts_missing(&self) -> bool {
        self.accepts_value(Value::Missing)
    }

    /// The accepted values as a set; `None` for patterns and networks.
    pub fn to_set(&self) -> Option<ValueSet> {
        let mut set = ValueSet::empty();
        match self {
            Test::Number { low, high } => set.numbers = inclusive(*low, *high, Number::MIN, Number::MAX),
            Test::Outside { low, high } => {
                set.numbers = inclusive(*low, *high, Number::MIN, Number::MAX).complement();
            }
            Test::Time { low, high } => set.times = inclusive(*low, *high, i64::MIN, i64::MAX),
            Test::Text(text) => set.texts = OrderedSet::points(vec![text.clone()]),
            Test::Set(inner) => return Some((**inner).clone()),
            Test::Pattern { .. } | Test::Cidr { .. } => return None,
        }
        Some(set)
    }
}

/// The values from `low` to `high`; bounds at the ends of the domain are no cuts.
fn inclusive<T: Ord + Clone>(low: T, high: T, min: T, max: T) -> OrderedSet<T> {
    let low = (low != min).then_some(Cut { at: low, after: false });
    let high = (high != max).then_some(Cut { at: high, after: true });
    OrderedSet::between(low, high)
}

impl From<ValueSet> for Test {
    /// The most compact form of a set that is neither empty nor everything.
    fn from(set: ValueSet) -> Test {
        match set.only_kind() {
            Some(Kind::Number) => match first_two(set.numbers.ranges()) {
                (Some((low, high)), None) => {
                    return Test::Number { low: lowest_number(low), high: highest_number(high) };
                }
                (Some((None, Some(low))), Some((Some(high), None))) => {
                    return Test::Outside { low: lowest_number(Some(low)), high: highest_number(Some(high)) };
                }
                _ => {}
            },
            Some(Kind::Time) => {
                if let (Some((low, high)), None) = first_two(set.times.ranges()) {
                    return Test::Time { low: lowest_time(low), high: highest_time(high) };
                }
            }
            Some(Kind::Text) => {
                if let (Some((Some(low), Some(high))), None) = first_two(set.texts.ranges())
                    && low.at == high.at
                {
                    return Test::Text(low.at.clone());
                }
            }
            Some(Kind::Bool) | None => {}
        }
        Test::Set(Box::new(set))
    }
}

/// The first number behind a cut.
pub(super) fn lowest_number(cut: Option<&Cut<Number>>) -> Number {
    cut.map_or(Number::MIN, |cut| if cut.after { cut.at.next_up() } else { cut.at })
}

/// The last number before a cut.
pub(super) fn highest_number(cut: Option<&Cut<Number>>) -> Number {
    cut.map_or(Number::MAX, |cut| if cut.after { cut.at } else { cut.at.next_down() })
}

/// The first instant behind a cut.
pub(super) fn lowest_time(cut: Option<&Cut<i64>>) -> i64 {
    cut.map_or(i64::MIN, |cut| cut.at.saturating_add(i64::from(cut.after)))
}

/// The last instant before a cut.
pub(super) fn highest_time(cut: Option<&Cut<i64>>) -> i64 {
    cut.map_or(i64::MAX, |cut| cut.at.saturating_sub(i64::from(!cut.after)))
}

fn first_two<T>(mut items: impl Iterator<Item = T>) -> (Option<T>, Option<T>) {
    (items.next(), items.next())
}
