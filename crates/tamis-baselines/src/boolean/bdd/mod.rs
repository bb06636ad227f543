//! BDD: all expressions in one ordered binary decision diagram, a variable for each distinct predicate.
//!
//! Papers: A. Campailla, S. Chaki, E. Clarke, S. Jha and H. Veith, Efficient Filtering in Publish-Subscribe Systems Using
//! Binary Decision Diagrams, ICSE 2001; R. Bryant, Graph-Based Algorithms for Boolean Function Manipulation, IEEE
//! Transactions on Computers 1986. Arbitrary expressions as in the A-Tree paper (SIGMOD 2021), section 2.
//!
//! Idea: a node tests one predicate and leads to one node if it is satisfied and to another if not, down to TRUE or FALSE.
//! On every path the predicates come in one order, and no two nodes are equal, so equal functions are one node, whatever
//! their text, and expressions share what they have in common at the end of the order. Matching finds the satisfied
//! predicates, then follows one path from every distinct root.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `diagram` | which nodes are there, who refers to them, and in which order are variables? |
//! | `apply` | what is the diagram of an AND, of an OR, of an expression? |
//! | `roots` | which subscriptions have which root? |
//! | `check` | do the invariants hold? |
//!
//! Invariants: variables ascend in the order along every path; no two nodes have the same variable and successors; no node
//! has two equal successors; a node's reference count is the number of nodes and roots that refer to it, never 0; a
//! predicate's uses are the nodes that test it.
//!
//! Cost: matching O(distinct roots x path), at most the predicates of the expression each; a node has 12 bytes, its
//! count 4 and its entry in the table of nodes about 9. Insertion is O(product of the sizes of operands) per connective:
//! exponential in the worst case. `max_steps` bounds the steps of one insertion and `max_nodes` the diagram; past either,
//! the expression is refused and the diagram is as it was.
//!
//! By hand, because no library fits: biodivine-lib-bdd gives every diagram memory of its own, so nothing is shared; rsdd
//! never frees a node; boolean_expression has neither reference counts nor bounds; oxidd shares and collects, but reserves
//! all nodes when it is made, orders variables by levels that cannot be removed, and lets nodes be read only under a lock.
//!
//! Deviations from the papers:
//! - Every root is followed by itself, without marks on visited nodes: a path is short, since most predicates are not
//!   satisfied, and a mark would be one more random write per node.
//! - Nodes are freed by reference counts at once, so removed expressions leave nothing behind.
//! - Normalization has removed NOT: a predicate and its negation are two variables, which also keeps missing values right.

mod apply;
mod check;
mod diagram;
mod roots;

use super::predicate_index::{MAX_SPACES, PredicateIndex, SatisfiedPredicates};
use apply::Apply;
use diagram::{Bound, Diagram, VariableOrder};
use roots::Roots;
use tamis_core::engine::registry::{
    Construction, EngineInfo, Family, OptionInfo, OptionKind, OptionValues, Takes,
};
use tamis_core::engine::{Engine, SubId};
use tamis_core::event::Event;
use tamis_core::expr::{Normal, Root};
use tamis_core::{Error, Result};

const MAX_NODES: &str = "max_nodes";
const MAX_STEPS: &str = "max_steps";

/// Its entry in the registry.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "bdd",
    description: "BDD: all expressions in one ordered decision diagram over the predicates",
    family: Family::Baseline,
    takes: Takes::Bounded,
    exact: true,
    options: &[
        OptionInfo {
            name: "order",
            description: "order of the variables: by first use, by attribute and first use, or the last used first",
            kind: OptionKind::Choice { default: "arrival", words: &["arrival", "attribute", "reverse"] },
        },
        OptionInfo {
            name: MAX_NODES,
            description: "maximum nodes of the diagram; expressions that take more are refused",
            kind: OptionKind::WholeNumber { default: 1 << 25, range: 2..=1 << 31 },
        },
        OptionInfo {
            name: MAX_STEPS,
            description: "maximum steps to insert an expression, each of which makes at most one node",
            kind: OptionKind::WholeNumber { default: 100_000, range: 1..=1 << 30 },
        },
        MAX_SPACES,
    ],
    construction: Construction::InPlace(|options, _| Box::new(Bdd::new(options))),
};

/// See the module's head.
#[derive(Debug)]
struct Bdd {
    predicates: PredicateIndex,
    diagram: Diagram,
    roots: Roots,
    /// Buffers of an insertion.
    apply: Apply,
    /// The option [`MAX_NODES`].
    max_nodes: usize,
    /// The option [`MAX_STEPS`].
    max_steps: usize,
    /// The number that was removed last.
    removed: Option<SubId>,
    /// The number that was removed last, if an insertion under it was refused since: a replacement that puts the old
    /// expression back.
    restoring: Option<SubId>,
}

/// How much more than the bounds an expression may take that a failed replacement puts back.
const RESTORING: usize = 1_024;

impl Bdd {
    fn new(options: &OptionValues) -> Bdd {
        let order = match options.choice("order") {
            "attribute" => VariableOrder::Attribute,
            "reverse" => VariableOrder::Reverse,
            _ => VariableOrder::Arrival,
        };
        Bdd {
            predicates: PredicateIndex::new(options.whole_number(MAX_SPACES.name)),
            diagram: Diagram::new(order),
            roots: Roots::default(),
            apply: Apply::default(),
            max_nodes: options.whole_number(MAX_NODES),
            max_steps: options.whole_number(MAX_STEPS),
            removed: None,
            restoring: None,
        }
    }

    fn too_large(&self, bound: Bound) -> Error {
        let (what, option, limit) = match bound {
            Bound::Nodes => ("nodes of the decision diagram or more", MAX_NODES, self.max_nodes),
            Bound::Steps => ("steps to insert into the decision diagram or more", MAX_STEPS, self.max_steps),
        };
        let limit = limit as u64;
        Error::ExpressionTooLarge { what, size: limit + 1, option, limit }
    }
}

impl Engine for Bdd {
    type Scratch = SatisfiedPredicates;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn insert(&mut self, id: SubId, expression: &Normal) -> Result<()> {
        let Root::Node(root) = expression.root() else { return Ok(()) };
        let Bdd { predicates, diagram, apply, .. } = self;
        let variables: Vec<_> =
            expression.predicates().iter().map(|predicate| predicates.acquire(predicate)).collect();
        variables.iter().for_each(|id| diagram.place_variable(*id, predicates));
        // What was accepted before is accepted again, also if the order of the variables has changed meanwhile.
        let margin = if self.restoring == Some(id) { RESTORING } else { 1 };
        let bounds = [self.max_nodes, self.max_steps].map(|bound| bound.saturating_mul(margin));
        let built = apply.build(expression, &variables, diagram, predicates, bounds);
        if built.is_ok() {
            self.roots.insert(id, apply.node_of(root), diagram);
            (self.removed, self.restoring) = (None, None);
        } else {
            self.restoring = self.removed.filter(|removed| *removed == id);
        }
        apply.clear();
        diagram.free_unused(predicates);
        variables.iter().for_each(|id| diagram.release_variable(*id, predicates));
        built.map_err(|bound| self.too_large(bound))
    }

    fn remove(&mut self, id: SubId) {
        (self.removed, self.restoring) = (Some(id), None);
        let root = self.roots.remove(id);
        self.diagram.release(root, &mut self.predicates);
    }

    fn match_event(&self, event: &Event<'_>, satisfied: &mut SatisfiedPredicates, matches: &mut Vec<SubId>) {
        self.predicates.find(event, satisfied);
        for (position, &root) in self.roots.nodes().iter().enumerate() {
            if self.diagram.evaluate(root, |variable| satisfied.contains(variable)) {
                matches.extend(self.roots.subscriptions(position));
            }
        }
    }

    fn defragment(&mut self) {
        self.predicates.defragment();
        let numbers = self.diagram.defragment(self.roots.nodes());
        self.roots.renumber(&numbers);
        self.roots.defragment();
    }

    fn validate(&self) -> Result<(), String> {
        self.check().map_err(|broken| format!("bdd: {broken}"))
    }

    fn memory(&self) -> usize {
        self.predicates.memory() + self.diagram.memory() + self.roots.memory()
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        let mut stats = vec![("nodes", self.diagram.len() as u64), ("roots", self.roots.len() as u64)];
        stats.extend(self.predicates.stats());
        stats
    }
}
