//! A-Tree: arbitrary Boolean expressions that share predicates and subexpressions.
//!
//! Paper: S. Ji and H.-A. Jacobsen, A-Tree: A Dynamic Data Structure for Efficiently Indexing Arbitrary Boolean
//! Expressions, SIGMOD 2021, sections 4 and 5.
//!
//! Idea: every distinct predicate, subexpression and expression is one node (l-node, i-node, r-node), whoever uses
//! it, so all expressions together are a tree with many roots. A new expression is put together from nodes there are,
//! and existing ones take a new node in where it fits. An event satisfies some predicates, found by PS-Trees and
//! automata; from there results flow up, level by level, and only where a node is satisfied.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `nodes` | what is a node, and what is it linked to? |
//! | `build` | how do expressions get into the tree and out of it? (Algorithms 1 to 5) |
//! | `truths` | which predicates does an event satisfy? |
//! | `matching` | which expressions does it satisfy? (Algorithm 6) |
//! | `check` | is the tree what it should be? |
//!
//! Invariants: no two nodes mean the same (with `unique_ids`); links agree on both sides; a node's level is one more
//! than the highest of its children; every node is used as a member or as a whole expression, as often as it counts.
//!
//! Cost: inserting what is there O(predicates); a new node adds a look at the few nodes kept with its members, and at
//! the parents of its rarest child; taking a link from a child looks through the child's other parents. Matching
//! O(satisfied predicates + predicates to be checked + links from satisfied nodes).
//!
//! Deviations from the paper:
//! - Identity: nodes are found by a hash of their members and confirmed member by member. The paper computes an id by
//!   arithmetic over the ids of predicates; two expressions may get the same.
//! - Normalization, shared by all engines, has already rewritten NOT, XOR and XNOR and joined an AND inside an AND.
//!   `zero_suppression=false` has FALSE results computed and told to parents again, on the same tree.
//! - A use is counted for each member of an expression, not for the nodes it happens to be put together from: these may
//!   go whenever nobody means them (paper, 4.2.4), and the counts do not depend on the order of arrival.
//! - Candidates for reorganization are found with one of their members, the one with fewest such nodes, and for
//!   self-adjustment among the parents of the rarest child, at most 256 of each: lists of parents may be very long.
//! - A node is put together from others only below level 64, which bounds nesting.
//! - Access children are chosen by how likely they are satisfied; `access="random"` is the paper's way.
//! - Predicates covering more than `max_spaces` spaces are checked one by one.

mod build;
mod check;
mod info;
mod matching;
mod nodes;
#[cfg(test)]
mod tests;
mod truths;

use super::graph::{self, Graph, GraphNode};
use super::registry::OptionValues;
use super::shared::predicates::Predicates;
use super::{Engine, SubId};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::expr::Normal;
pub(super) use info::INFO;
use matching::MatchScratch;
use nodes::{MOST_SUBSCRIPTIONS, NodeId, Nodes, Part};
use truths::Truths;

/// How access children are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Selective,
    Random,
}

/// What the paper's experiments switch on and off.
#[derive(Clone, Copy, Debug)]
struct Switches {
    zero_suppression: bool,
    propagation_on_demand: bool,
    unique_ids: bool,
    reorganize: bool,
    self_adjust: bool,
    access: Access,
}

/// See the module's head.
#[derive(Debug)]
pub(super) struct ATree {
    nodes: Nodes,
    predicates: Predicates,
    /// By predicate: its node, one of them without unique ids.
    node_of: Vec<NodeId>,
    truths: Truths,
    /// By subscription: the node of its expression.
    root_of: Vec<NodeId>,
    switches: Switches,
    /// All ones; tests clear bits to make hashes collide.
    hash_mask: u32,
    // Buffers of an insertion, kept to be used again.
    placed: Vec<(NodeId, Part)>,
    created: Vec<NodeId>,
    members: Vec<NodeId>,
    children: Vec<NodeId>,
    candidates: Vec<NodeId>,
}

impl ATree {
    /// An empty engine.
    pub fn new(options: &OptionValues) -> ATree {
        let access = match options.choice("access") {
            "random" => Access::Random,
            _ => Access::Selective,
        };
        let switches = Switches {
            zero_suppression: options.switch("zero_suppression"),
            propagation_on_demand: options.switch("propagation_on_demand"),
            unique_ids: options.switch("unique_ids"),
            reorganize: options.switch("reorganize"),
            self_adjust: options.switch("self_adjust"),
            access,
        };
        let max_spaces = options.whole_number("max_spaces");
        ATree {
            nodes: Nodes::default(),
            predicates: Predicates::default(),
            node_of: Vec::new(),
            truths: Truths::new(max_spaces, !switches.zero_suppression),
            root_of: Vec::new(),
            switches,
            hash_mask: u32::MAX,
            placed: Vec::new(),
            created: Vec::new(),
            members: Vec::new(),
            children: Vec::new(),
            candidates: Vec::new(),
        }
    }

    /// How likely an AND or OR of nodes is satisfied, as if they had nothing to do with one another.
    fn weight_of(&self, part: Part, members: &[NodeId]) -> f32 {
        let weights = members.iter().map(|member| self.nodes.making(*member).weight);
        match part {
            Part::And => weights.product(),
            _ => 1.0 - weights.map(|weight| 1.0 - weight).product::<f32>(),
        }
    }
}

impl Engine for ATree {
    type Scratch = MatchScratch;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn insert(&mut self, id: SubId, expression: &Normal) -> Result<()> {
        if id.0 >= MOST_SUBSCRIPTIONS {
            return Err(Error::Expression("a_tree is full: 2^31 subscriptions".into()));
        }
        self.insert_expression(id, expression);
        Ok(())
    }

    fn remove(&mut self, id: SubId) {
        self.remove_expression(id);
    }

    fn match_event(&self, event: &Event<'_>, scratch: &mut MatchScratch, matches: &mut Vec<SubId>) {
        if self.switches.zero_suppression && self.switches.propagation_on_demand {
            self.match_on_demand(event, scratch, matches);
        } else {
            self.match_by_counting(event, scratch, matches);
        }
    }

    fn observe(&mut self, event: &Event<'_>) {
        self.truths.observe(event);
    }

    fn adapt(&mut self) {
        self.choose_anew();
    }

    fn defragment(&mut self) {
        self.nodes.defragment();
        self.truths.defragment();
    }

    fn validate(&self) -> Result<(), String> {
        self.check()
    }

    fn memory(&self) -> usize {
        let lists = [&self.node_of, &self.root_of];
        self.nodes.memory()
            + self.predicates.memory()
            + self.truths.memory()
            + lists.iter().map(|list| list.capacity() * size_of::<NodeId>()).sum::<usize>()
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        let (leaves, bounds) = self.truths.size();
        let l_nodes = self.nodes.iter().filter(|(_, node)| node.part == Part::Predicate).count();
        let roots = self.nodes.iter().filter(|(_, node)| !node.subs.is_none()).count();
        vec![
            ("predicates", l_nodes as u64),
            ("inner_nodes", (self.nodes.len() - l_nodes) as u64),
            ("roots", roots as u64),
            ("links", self.nodes.link_count as u64),
            ("levels", self.nodes.levels().saturating_sub(1) as u64),
            ("spaces", leaves as u64),
            ("bounds", bounds as u64),
        ]
    }

    fn graph(&self) -> Option<Graph> {
        let mut order: Vec<(u16, NodeId)> = self.nodes.iter().map(|(id, node)| (node.level, id)).collect();
        order.sort_unstable();
        let mut places = vec![0; self.nodes.bound()];
        order.iter().enumerate().for_each(|(place, (_, id))| places[id.index()] = place);
        let drawn = |(level, id): (u16, NodeId)| {
            let node = self.nodes.get(id);
            let children: Vec<usize> =
                self.nodes.children(id).iter().map(|child| places[child.index()]).collect();
            let mut subscriptions = Vec::new();
            self.nodes.append_subs(node.subs, &mut subscriptions);
            GraphNode {
                part: match node.part {
                    Part::And => graph::Part::And,
                    Part::Or => graph::Part::Or,
                    _ => graph::Part::Predicate(self.predicates.get(self.nodes.predicate(id)).clone()),
                },
                level: u32::from(level),
                access: self.on_demand(id).then(|| children[0]),
                children,
                subscriptions,
            }
        };
        Some(Graph { nodes: order.into_iter().map(drawn).collect() })
    }
}
