//! GEM-Tree: attributes and triangles of intervals, in turn, lead to subscriptions.
//!
//! Paper: W. Fan, P. Xiong, F. Wu and Y. Liu, GEM-Tree: Tree-Based Analytic Geometrical Multi-Dimensional Content-Based Event
//! Matching, IEEE Access 7, 2019.
//!
//! Idea: an attribute node has a bucket of subscriptions; if it overflows, the most popular attribute gets a value node. The
//! value node maps the interval of a subscription to a point, low end by high end, in a triangle of cells; each cell is an
//! attribute node again. An event visits the cells around its value: left of it and above. Intervals of cells that lie
//! strictly left and above contain the value and are not tested again; those of intersected cells are.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `triangle` | which cell does an interval belong to, and which cells does a value lead to? |
//! | `nodes` | what are attribute nodes and value nodes, and what do they cost? |
//! | `insertion` | where is a subscription stored, and how is a bucket split? |
//! | `deletion` | how do nodes collapse? |
//! | `statistics` | in which order do attributes lead, after a global adjustment? |
//! | `matching` | which subscriptions does an event satisfy? |
//! | `drawing` | what does the tree look like? |
//! | `check` | do the invariants hold? |
//!
//! Values of all kinds are in one order: see [`ordinals`](crate::engine::shared::ordinals).
//!
//! Invariants: a conjunction has one record, in the bucket of the node that its state names; each cell on the path to it is
//! the cell of its predicate on the value node's attribute; no directory of its node has an attribute it needs. Counts and
//! costs of a node are those of its subtree. Every node but the root has a subscription below it.
//!
//! Cost: matching O(nodes and records in the cells that the event leads to); insertion O(predicates x depth), and amortized
//! one split per bucket; a global adjustment O(predicates x depth) per conjunction, and it runs after as many changes as
//! there are conjunctions. A value node has at most `lambda` (`lambda` + 1) / 2 cells, and stores those that are not empty.
//!
//! Deviations from the paper:
//! - Columns are not equal parts of a value range that is known in advance: a value node cuts at ends of the intervals it is
//!   made for, so that columns have about equal numbers of ends. So any domain has at most `lambda` columns, and with fewer
//!   distinct ends every interval is exactly the columns of its cell, and needs no test.
//! - An attribute may occur again on a path, with cuts of its own, if no other attribute can split the bucket and no cell gets
//!   more than three quarters of it. So a domain of millions of values is divided as deep as the subscriptions need, and
//!   equal intervals end the division.
//! - Algorithm 3 visits the intersected cells of row `i` and column `i` but not, in its first loops, cells with column `i`;
//!   [`triangle`] visits every cell with column <= i <= row once.
//! - A split attribute needs `capacity` / 4 conjunctions, a threshold that the paper leaves open. Without one, the bucket's
//!   capacity doubles, so that attempts are rare.
//! - The match rate of a triangle is computed from its cells: number of columns that lead to a cell. The paper assumes
//!   uniform intervals.
//! - Deletion, on which the paper is silent: see `deletion`.
//! - The global adjustment builds the tree from the root down instead of inserting one subscription after the other: the same
//!   order of attributes, and triangles cut by the whole population of a node. Observed events weight the order by measured
//!   match rates. They are counted by `observe`, not while matching: matching writes nothing that threads share.
//! - Predicates that are no interval (IN, `!=`, patterns, quantifiers) are placed by the smallest interval around what they
//!   accept, and are always tested. Predicates that missing values satisfy lead nowhere and are tested.
//! - Residual tests lie in the bucket (see [`records`](crate::engine::shared::records)), with a filter of the attributes.

mod check;
mod deletion;
mod drawing;
mod insertion;
mod matching;
mod nodes;
mod statistics;
mod triangle;

use crate::engine::registry::{
    Construction, EngineInfo, Family, OptionInfo, OptionKind, OptionValues, Takes,
};
use crate::engine::shared::conjunctions::{ConjId, Conjunctions};
use crate::engine::shared::predicates::{PredId, Predicates};
use crate::engine::shared::selectivity::{Selectivity, Shape};
use crate::engine::{Engine, Graph, SubId};
use crate::error::Result;
use crate::event::Event;
use crate::expr::{Limits, Normal};
use matching::GemScratch;
use nodes::{Nodes, ROOT};
use statistics::Statistics;

/// Its entry in the registry.
pub(in crate::engine) const INFO: EngineInfo = EngineInfo {
    name: "gem_tree",
    description: "GEM-Tree: attribute nodes and right triangles of intervals, in turn",
    family: Family::Paper,
    takes: Takes::Conjunctions,
    exact: true,
    options: &[
        OptionInfo {
            name: "lambda",
            description: "maximum columns of a triangle",
            kind: OptionKind::WholeNumber { default: 8, range: 2..=32 },
        },
        OptionInfo {
            name: "capacity",
            description: "maximum subscriptions of a bucket before it is split",
            kind: OptionKind::WholeNumber { default: 64, range: 1..=1 << 20 },
        },
        OptionInfo {
            name: "global_adjustment",
            description: "orders attributes by statistics of all subscriptions and of observed events",
            kind: OptionKind::Switch { default: true },
        },
        OptionInfo {
            name: "adjustment_period",
            description: "changes between global adjustments, in percent of the subscriptions",
            kind: OptionKind::WholeNumber { default: 100, range: 1..=1_000_000 },
        },
    ],
    construction: Construction::InPlace(|options, limits| Box::new(GemTree::new(options, limits))),
};

/// Where a conjunction is.
#[derive(Clone, Copy, Debug, Default)]
struct Location {
    /// The attribute node whose bucket has its record.
    node: u32,
}

/// See the module's head.
#[derive(Debug)]
struct GemTree {
    predicates: Predicates,
    conjunctions: Conjunctions<Location>,
    nodes: Nodes,
    /// What the global adjustment follows from.
    statistics: Statistics,
    /// Maximum columns of a triangle.
    lambda: usize,
    /// Maximum records of a bucket before it is split, unless nothing splits it.
    capacity: usize,
    /// Minimum conjunctions that a value node is made for.
    split_threshold: usize,
    /// Whether global adjustments are made.
    adjusts: bool,
    /// Changes between global adjustments, in percent of the conjunctions.
    period: usize,
    /// Maximum conjunctions of a subscription.
    max_dnf: usize,
}

impl GemTree {
    fn new(options: &OptionValues, limits: &Limits) -> GemTree {
        let capacity = options.whole_number("capacity");
        GemTree {
            predicates: Predicates::default(),
            conjunctions: Conjunctions::default(),
            nodes: Nodes::new(capacity),
            statistics: Statistics::default(),
            lambda: options.whole_number("lambda"),
            capacity,
            split_threshold: (capacity / 4).max(2),
            adjusts: options.switch("global_adjustment"),
            period: options.whole_number("adjustment_period"),
            max_dnf: limits.max_dnf,
        }
    }

    /// Puts the predicates of a conjunction in the order in which they are tested: the most selective shape first.
    fn order_predicates(&mut self, id: ConjId) {
        let selectivity = |predicate: &PredId| Selectivity {
            share: 0.0,
            shape: Shape::of(self.predicates.get(*predicate)),
            bounds: 0,
        };
        let mut order: Vec<PredId> = self.conjunctions.predicates(id).collect();
        order.sort_by(|a, b| selectivity(a).cmp(&selectivity(b)));
        self.conjunctions.reorder(id, order.into_iter());
    }
}

impl Engine for GemTree {
    type Scratch = GemScratch;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn insert(&mut self, id: SubId, expression: &Normal) -> Result<()> {
        let mut ids = Vec::new();
        self.conjunctions.insert(id, expression, self.max_dnf, &mut self.predicates, &mut ids)?;
        for &id in &ids {
            self.order_predicates(id);
            self.locators(id).iter().for_each(|locator| self.statistics.add(locator));
            self.insert_below(ROOT, id);
        }
        self.statistics.changes += ids.len();
        self.adjust_if_due();
        Ok(())
    }

    fn remove(&mut self, id: SubId) {
        for id in self.conjunctions.of(id) {
            self.locators(id).iter().for_each(|locator| self.statistics.remove(locator));
            self.withdraw(id);
            self.conjunctions.remove(id, &mut self.predicates);
            self.statistics.changes += 1;
        }
    }

    fn match_event(&self, event: &Event<'_>, scratch: &mut GemScratch, matches: &mut Vec<SubId>) {
        self.match_tree(event, scratch, matches);
    }

    fn observe(&mut self, event: &Event<'_>) {
        self.statistics.observe(event);
    }

    fn adapt(&mut self) {
        if self.adjusts {
            self.adjust();
        }
    }

    fn defragment(&mut self) {
        if self.adjusts && self.statistics.changes > 0 {
            self.adjust();
        }
        self.predicates.defragment();
        self.conjunctions.defragment();
        self.nodes.defragment();
    }

    fn validate(&self) -> Result<(), String> {
        self.check()
    }

    fn memory(&self) -> usize {
        self.predicates.memory() + self.conjunctions.memory() + self.nodes.memory() + self.statistics.memory()
    }

    fn graph(&self) -> Option<Graph> {
        Some(self.draw())
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        let used_attributes = self.nodes.attributes.len() - self.nodes.free_attributes.len();
        let used_values = self.nodes.values.len() - self.nodes.free_values.len();
        let depth = (0..self.nodes.attributes.len() as u32).map(|at| self.nodes.path(at).count()).max();
        let cells = self.nodes.values.iter().filter(|node| node.parent != nodes::NONE);
        let cells: usize = cells.map(|node| triangle::cell_count(Nodes::columns(node))).sum();
        vec![
            ("conjunctions", self.conjunctions.len() as u64),
            ("distinct_predicates", self.predicates.len() as u64),
            ("attribute_nodes", used_attributes as u64),
            ("value_nodes", used_values as u64),
            ("cells", cells as u64),
            ("depth", depth.unwrap_or(0) as u64),
            ("bucket_bytes", self.nodes.records.memory() as u64),
        ]
    }
}
