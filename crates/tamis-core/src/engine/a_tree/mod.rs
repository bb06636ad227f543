//! A-Tree: arbitrary Boolean expressions that share predicates and subexpressions.
//!
//! Paper: S. Ji and H.-A. Jacobsen, A-Tree: A Dynamic Data Structure for Efficiently Indexing Arbitrary Boolean
//! Expressions, SIGMOD 2021, sections 4 and 5.
//!
//! Idea: every distinct predicate, subexpression and expression is one node (l-node, i-node, r-node), however many
//! expressions use it, so all expressions together are a directed acyclic graph with many roots. A new expression reuses
//! existing nodes (reorganization), and existing nodes reuse the new one (self-adjustment). Matching an event has two
//! phases: predicate matching finds the satisfied predicates, with PS-Trees and automata; expression matching propagates
//! results from there to the parents, level by level, and only from satisfied nodes.
//!
//! | file or folder | question it answers |
//! | --- | --- |
//! | `nodes` | what is a node, and which nodes is it linked to? |
//! | `insertion` | how is an expression inserted? (Algorithms 1 and 4) |
//! | `reorganization` | which existing nodes does a new node reuse? (Algorithm 2) |
//! | `self_adjustment` | which existing nodes reuse a new node? (Algorithm 3) |
//! | `deletion` | how is an expression deleted? (Algorithm 5) |
//! | `linking` | how are the child nodes of a node replaced? |
//! | `access_child` | which child node of an AND is evaluated first? |
//! | `expression_matching` | which expressions does it satisfy? (Algorithm 6) |
//! | `check` | do the invariants hold? |
//! | `info` | which options does the engine have? |
//!
//! Invariants: no two nodes have the same expression (with `unique_ids`); links agree in both directions; the level of a
//! node is one more than the highest of its child nodes; every node has a use count of at least 1, the number of
//! subscriptions with its expression and of nodes with its expression as a child expression.
//!
//! Cost: inserting an existing expression O(predicates); a new node examines at most 256 candidates per child
//! expression for reorganization and 256 for self-adjustment; unlinking a child node is O(its parents). Matching
//! O(satisfied predicates + predicates tested one by one + links from satisfied nodes).
//!
//! Deviations from the paper:
//! - Node uniqueness: nodes are found by a hash of their child expressions and confirmed one by one. The paper computes
//!   an id by arithmetic over the ids of predicates, so different expressions may get the same id.
//! - Normalization, shared by all engines, has already rewritten NOT, XOR and XNOR and flattened nested ANDs and ORs.
//!   `zero_suppression=false` computes and propagates FALSE results on the same tree.
//! - The use count is by child expressions, not by child nodes: a node that is only a child node is removed as soon as no
//!   expression has it (paper, 4.2.4), and use counts do not depend on the order of insertion.
//! - A candidate for reorganization is listed with one of its child expressions, the one with the shortest list, and
//!   candidates for self-adjustment are the parents of the child node with fewest parents; at most 256 of a
//!   list are examined, because lists may be very long.
//! - Nodes are reused only below level 64, which bounds nesting.
//! - Access children are chosen by probability; `access="random"` is the paper's choice.
//! - Predicates that cover more than `max_spaces` spaces are tested one by one.

mod access_child;
mod check;
mod deletion;
mod expression_matching;
mod info;
mod insertion;
mod linking;
mod nodes;
mod reorganization;
mod self_adjustment;
#[cfg(test)]
mod tests;

use super::graph::{Graph, GraphNode, GraphNodeKind};
use super::registry::OptionValues;
use super::shared::predicates::{PredicateMatching, Predicates};
use super::{Engine, SubId};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::expr::{Normal, Predicate};
use expression_matching::ATreeScratch;
pub(super) use info::INFO;
use nodes::{MAX_SUBSCRIPTIONS, NodeKind, NodeStore, TreeNodeId};

/// The choice of access children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AccessChoice {
    /// The child node least likely to be satisfied.
    Selective,
    /// A pseudo-random one, as in the paper.
    Random,
}

/// The optimizations that the paper's experiments switch on and off.
#[derive(Clone, Copy, Debug)]
struct Optimizations {
    /// Only satisfied nodes propagate their result.
    zero_suppression: bool,
    /// An AND is evaluated only when its access child is satisfied.
    propagation_on_demand: bool,
    /// Equal expressions are one node.
    unique_ids: bool,
    /// New nodes reuse existing ones.
    reorganize: bool,
    /// Existing nodes reuse new ones.
    self_adjust: bool,
    access: AccessChoice,
}

/// See the module's head.
#[derive(Debug)]
pub(super) struct ATree {
    nodes: NodeStore,
    /// The distinct predicates; without `unique_ids` several l-nodes may share one.
    predicates: Predicates,
    /// By predicate: its l-node, the latest without `unique_ids`.
    node_of: Vec<TreeNodeId>,
    predicate_matching: PredicateMatching<TreeNodeId>,
    /// By subscription: the node of its expression; [`TreeNodeId::NONE`] for unused numbers.
    root_of: Vec<TreeNodeId>,
    optimizations: Optimizations,
    /// All ones; tests clear bits to make hashes collide.
    hash_mask: u32,
    /// Buffer of an insertion, by node of the expression: its node and kind.
    inserted: Vec<(TreeNodeId, NodeKind)>,
    /// Buffer of an insertion: the nodes it created.
    created: Vec<TreeNodeId>,
    /// Buffer of an insertion: child expressions of one node.
    child_exprs: Vec<TreeNodeId>,
    /// Buffer of an insertion: child nodes of one node.
    children: Vec<TreeNodeId>,
    /// Buffer of a reorganization.
    candidates: Vec<TreeNodeId>,
}

impl ATree {
    /// An empty engine.
    pub fn new(options: &OptionValues) -> ATree {
        let access = match options.choice("access") {
            "random" => AccessChoice::Random,
            _ => AccessChoice::Selective,
        };
        let optimizations = Optimizations {
            zero_suppression: options.switch("zero_suppression"),
            propagation_on_demand: options.switch("propagation_on_demand"),
            unique_ids: options.switch("unique_ids"),
            reorganize: options.switch("reorganize"),
            self_adjust: options.switch("self_adjust"),
            access,
        };
        let max_spaces = options.whole_number("max_spaces");
        ATree {
            nodes: NodeStore::default(),
            predicates: Predicates::default(),
            node_of: Vec::new(),
            predicate_matching: PredicateMatching::new(max_spaces, !optimizations.zero_suppression),
            root_of: Vec::new(),
            optimizations,
            hash_mask: u32::MAX,
            inserted: Vec::new(),
            created: Vec::new(),
            child_exprs: Vec::new(),
            children: Vec::new(),
            candidates: Vec::new(),
        }
    }

    /// The predicate of an l-node.
    #[inline]
    fn predicate_of(&self, id: TreeNodeId) -> &Predicate {
        self.predicates.get(self.nodes.predicate(id))
    }
}

impl Engine for ATree {
    type Scratch = ATreeScratch;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn insert(&mut self, id: SubId, expression: &Normal) -> Result<()> {
        if id.0 >= MAX_SUBSCRIPTIONS {
            return Err(Error::Expression("a_tree is full: 2^31 subscriptions".into()));
        }
        self.insert_expression(id, expression);
        Ok(())
    }

    fn remove(&mut self, id: SubId) {
        self.delete_expression(id);
    }

    fn match_event(&self, event: &Event<'_>, scratch: &mut ATreeScratch, matches: &mut Vec<SubId>) {
        if self.optimizations.zero_suppression && self.optimizations.propagation_on_demand {
            self.match_on_demand(event, scratch, matches);
        } else {
            self.match_by_counting(event, scratch, matches);
        }
    }

    fn observe(&mut self, event: &Event<'_>) {
        self.predicate_matching.observe(event);
    }

    fn adapt(&mut self) {
        self.choose_access_children();
    }

    fn defragment(&mut self) {
        self.nodes.defragment();
        self.predicate_matching.defragment();
    }

    fn validate(&self) -> Result<(), String> {
        self.check()
    }

    fn memory(&self) -> usize {
        let lists = [&self.node_of, &self.root_of];
        self.nodes.memory()
            + self.predicates.memory()
            + self.predicate_matching.memory()
            + lists.iter().map(|list| list.capacity() * size_of::<TreeNodeId>()).sum::<usize>()
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        let (leaves, bounds) = self.predicate_matching.size();
        let l_nodes = self.nodes.iter().filter(|(_, node)| node.kind == NodeKind::Predicate).count();
        let roots = self.nodes.iter().filter(|(_, node)| !node.subscriptions.is_none()).count();
        vec![
            ("predicates", l_nodes as u64),
            ("inner_nodes", (self.nodes.len() - l_nodes) as u64),
            ("roots", roots as u64),
            ("links", self.nodes.link_count as u64),
            ("levels", self.nodes.level_bound().saturating_sub(1) as u64),
            ("spaces", leaves as u64),
            ("bounds", bounds as u64),
        ]
    }

    fn graph(&self) -> Option<Graph> {
        let mut order: Vec<(u16, TreeNodeId)> =
            self.nodes.iter().map(|(id, node)| (node.level, id)).collect();
        order.sort_unstable();
        let mut positions = vec![0; self.nodes.bound()];
        order.iter().enumerate().for_each(|(position, (_, id))| positions[id.index()] = position);
        let drawn = |(level, id): (u16, TreeNodeId)| {
            let node = self.nodes.get(id);
            let children: Vec<usize> =
                self.nodes.children(id).iter().map(|child| positions[child.index()]).collect();
            let mut subscriptions = Vec::new();
            self.nodes.append_subscriptions(node.subscriptions, &mut subscriptions);
            GraphNode {
                kind: match node.kind {
                    NodeKind::And => GraphNodeKind::And,
                    NodeKind::Or => GraphNodeKind::Or,
                    _ => GraphNodeKind::Predicate(self.predicates.get(self.nodes.predicate(id)).clone()),
                },
                level: u32::from(level),
                access: self.is_on_demand(id).then(|| children[0]),
                children,
                subscriptions,
            }
        };
        Some(Graph { nodes: order.into_iter().map(drawn).collect() })
    }
}
