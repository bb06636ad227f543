//! BE*-Tree and BE-Tree: conjunctions found by cutting space, one attribute at a time; the best k without scoring all.
//!
//! Paper: M. Sadoghi and H.-A. Jacobsen, Relevance Matters: Capitalizing on Less, ICDE 2012 (BE*-Tree). BE-Tree is its
//! predecessor (SIGMOD 2011) as that paper describes it: the same tree with rigid cutting.
//!
//! Idea: space is cut in two phases. Partitioning picks an attribute; conjunctions with a predicate on it move below it.
//! Clustering groups these by the interval of that predicate into left, overlapping and right buckets, recursively; left and
//! right never overlap, so a value visits at most one of them. A bucket that cannot be split is partitioned by the next
//! attribute. Buckets are hulls of their conjunctions (BE*-Tree) or halves of a domain (BE-Tree). Weight summaries in the
//! same tree bound the scores below.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `interval` | which interval of the line does a predicate accept, and where is a value? |
//! | `nodes` | how are clusters and partitions stored? |
//! | `directory` | which bucket is the home of an interval? Bottom-up expansion, growth of a rigid domain |
//! | `splitting` | how is a bucket divided? The exhaustive and the approximate algorithm |
//! | `insertion` | how is a conjunction inserted, and an overflowing leaf divided? |
//! | `deletion` | how is a conjunction removed, with tight boxes and without a cascade? |
//! | `ranking` | which attribute is the best to partition by? |
//! | `matching`, `top_k` | which conjunctions match, and which are the best k? |
//! | `weights` | how much can the matches below a node score at most? |
//! | `check` | are the invariants kept? |
//! | `drawing` | what does the tree look like? |
//!
//! Invariants: a conjunction is in one leaf, below partitions on attributes it needs, none used twice. Boxes are the hulls of
//! what is below, on every attribute of the path. The two sides of a cluster are disjoint. No subscription weighs more than
//! the bounds and summaries above it. A leaf has at most `leaf_size` conjunctions unless neither phase divides them.
//!
//! Cost: matching visits, per attribute of the event and level, one path of a directory, and scans the leaves of buckets that
//! contain its value. Insertion: O(levels * (attributes + directory depth)), and a division per `leaf_size` insertions.
//! Removal: as insertion, plus O(leaf).
//!
//! Deviations from the paper:
//! - Records of a leaf have all residual tests and a filter of the attributes (see [`records`](crate::engine::shared::records)).
//! - Bottom-up expansion: the overlapping bucket above takes an interval that would inject a bucket, if it is open or grows by
//!   less than beta. As written, every range with one end would inject a bucket of its own above a finite one.
//! - `ranking=selectivity`, the default, ranks by the expected share of events that reach a conjunction, and moves it only to
//!   attributes near its best. `ranking=popularity` is the paper's.
//! - Gains of all attributes are computed once per overflow, and the exhaustive algorithm compares at most 64 divisions per
//!   direction: a large leaf is divided in O(n log n).
//! - A leaf that cannot be divided doubles its capacity. A path has at most 16 partitions.
//! - One max-heap for the whole tree instead of one per c-node. Leaves and clusters have one number, the maximum total weight,
//!   instead of a summary by attribute: a leaf is scanned in less time than its summary is added up. Partitions have both.
//! - Summaries are recomputed once half of what they were computed from is removed: they are upper bounds, not tight.
//! - The matching feedback comes from observed events: matching itself changes nothing.
//! - Values of all kinds share a line of floats; patterns, networks and lists have wide intervals. What they accept is decided
//!   by the residual test.

mod check;
mod deletion;
mod directory;
mod drawing;
mod insertion;
mod interval;
mod matching;
mod nodes;
mod ranking;
mod splitting;
mod top_k;
mod weights;

use super::registry::{Construction, EngineInfo, Family, OptionInfo, OptionKind, OptionValues, Takes};
use super::scoring::{TopKQuery, WeightedPredicates};
use super::shared::conjunctions::Conjunctions;
use super::shared::predicates::Predicates;
use super::{Engine, Graph, RankingEngine, SubId};
use crate::error::Result;
use crate::event::Event;
use crate::expr::{Limits, Normal};
use directory::Cutting;
use matching::TreeScratch;
use nodes::{ClusterId, Nodes};
use ranking::{LossEstimate, Ranking};
use splitting::SplitAlgorithm;
use weights::{Scored, Weights};

const LEAF_SIZE: OptionInfo = OptionInfo {
    name: "leaf_size",
    description: "the paper's A: maximum conjunctions of a leaf before it is divided",
    kind: OptionKind::WholeNumber { default: 20, range: 1..=1 << 20 },
};
const RANKING: OptionInfo = OptionInfo {
    name: "ranking",
    description: "how attributes are ranked: by the conjunctions they have, or by the events that would reach these",
    kind: OptionKind::Choice { default: "selectivity", words: &["selectivity", "popularity"] },
};
const WINDOW: OptionInfo = OptionInfo {
    name: "window",
    description: "the paper's m: observed events over which a partition's loss is averaged",
    kind: OptionKind::WholeNumber { default: 100, range: 1..=1 << 20 },
};

/// The entry of BE*-Tree in the registry.
pub(super) const STAR_INFO: EngineInfo = EngineInfo {
    name: "be_star_tree",
    description: "BE*-Tree: adaptive cuts of space, hierarchical top-k",
    family: Family::Paper,
    takes: Takes::Conjunctions,
    exact: true,
    options: &[
        LEAF_SIZE,
        OptionInfo {
            name: "split",
            description: "how an overflowing bucket is divided",
            kind: OptionKind::Choice { default: "exhaustive", words: &["exhaustive", "approximate"] },
        },
        OptionInfo {
            name: "alpha",
            description: "minimum share of a bucket's conjunctions in its left and in its right part; else it is halved",
            kind: OptionKind::Number { default: 0.1, range: 0.0..=0.5 },
        },
        OptionInfo {
            name: "beta",
            description: "maximum growth of a divided bucket; an interval that exceeds it gets a bucket above",
            kind: OptionKind::Number { default: 4.0, range: 1.0..=1e9 },
        },
        RANKING,
        WINDOW,
    ],
    construction: Construction::Ranking(|options, limits| {
        let split = match options.choice("split") {
            "approximate" => SplitAlgorithm::Approximate,
            _ => SplitAlgorithm::Exhaustive,
        };
        let cutting = Cutting::NonRigid { beta: options.number("beta") };
        let tree = BeTree::new(STAR_INFO.name, cutting, options, limits);
        Box::new(BeTree { split, alpha: options.number("alpha"), ..tree })
    }),
};

/// The entry of BE-Tree in the registry.
pub(super) const INFO: EngineInfo = EngineInfo {
    name: "be_tree",
    description: "BE-Tree: space cut in halves, hierarchical top-k",
    family: Family::Baseline,
    takes: Takes::Conjunctions,
    exact: true,
    options: &[LEAF_SIZE, RANKING, WINDOW],
    construction: Construction::Ranking(|options, limits| {
        Box::new(BeTree::new(INFO.name, Cutting::Rigid, options, limits))
    }),
};

/// See the module's head.
#[derive(Debug)]
struct BeTree {
    /// The name it is registered with.
    name: &'static str,
    predicates: Predicates,
    conjunctions: Conjunctions<Placed>,
    nodes: Nodes,
    weights: Weights,
    ranking: Ranking,
    cutting: Cutting,
    split: SplitAlgorithm,
    /// Minimum share of a side after a split by data.
    alpha: f64,
    /// Maximum conjunctions of a leaf that can be divided.
    leaf_size: u32,
    /// Maximum conjunctions of a subscription.
    max_dnf: usize,
}

/// What the tree knows of a conjunction.
#[derive(Clone, Copy, Debug)]
struct Placed {
    /// The cluster whose leaf has its record.
    cluster: ClusterId,
    /// The weights of its subscription's predicates together; 0.0 until they are set.
    total: f32,
    /// The score of every match of its subscription where no attribute has a weight; NaN if matches differ.
    constant_score: f64,
}

impl Default for Placed {
    fn default() -> Placed {
        Placed { cluster: ClusterId::NONE, total: 0.0, constant_score: f64::NAN }
    }
}

impl BeTree {
    fn new(name: &'static str, cutting: Cutting, options: &OptionValues, limits: &Limits) -> BeTree {
        let leaf_size = options.whole_number("leaf_size") as u32;
        let estimate = match options.choice("ranking") {
            "popularity" => LossEstimate::Popularity,
            _ => LossEstimate::Selectivity,
        };
        BeTree {
            name,
            predicates: Predicates::default(),
            conjunctions: Conjunctions::default(),
            nodes: Nodes::new(leaf_size),
            weights: Weights::default(),
            ranking: Ranking::new(estimate, options.whole_number("window") as u32),
            cutting,
            split: SplitAlgorithm::Exhaustive,
            alpha: 0.0,
            leaf_size,
            max_dnf: limits.max_dnf,
        }
    }
}

impl Engine for BeTree {
    type Scratch = TreeScratch;

    fn name(&self) -> &'static str {
        self.name
    }

    fn insert(&mut self, id: SubId, expression: &Normal) -> Result<()> {
        let mut ids = Vec::new();
        self.conjunctions.insert(id, expression, self.max_dnf, &mut self.predicates, &mut ids)?;
        ids.into_iter().for_each(|id| self.place(id));
        Ok(())
    }

    fn remove(&mut self, id: SubId) {
        for id in self.conjunctions.of(id) {
            self.withdraw(id);
            self.conjunctions.remove(id, &mut self.predicates);
        }
        if let Some(scored) = self.weights.scored.get_mut(id.index()) {
            *scored = None;
        }
    }

    fn match_event(&self, event: &Event<'_>, scratch: &mut TreeScratch, matches: &mut Vec<SubId>) {
        self.find_matches(event, scratch, matches);
    }

    fn observe(&mut self, event: &Event<'_>) {
        self.ranking.observe(event);
        self.observe_losses(event);
    }

    fn adapt(&mut self) {
        self.recycle();
    }

    fn defragment(&mut self) {
        self.predicates.defragment();
        self.conjunctions.defragment();
        self.nodes.defragment();
        self.weights.defragment();
        self.ranking.defragment();
    }

    fn validate(&self) -> Result<(), String> {
        self.check()
    }

    fn memory(&self) -> usize {
        self.predicates.memory()
            + self.conjunctions.memory()
            + self.nodes.memory()
            + self.weights.memory()
            + self.ranking.memory()
    }

    fn graph(&self) -> Option<Graph> {
        Some(self.draw())
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        let (clusters, partitions) = self.nodes.counts();
        let levels = self.nodes.live_partitions().map(|id| self.nodes.partition(id).level).max();
        vec![
            ("conjunctions", self.conjunctions.len() as u64),
            ("distinct_predicates", self.predicates.len() as u64),
            ("partitions", partitions as u64),
            ("clusters", clusters as u64),
            ("levels", u64::from(levels.unwrap_or(0))),
            ("record_bytes", self.nodes.records.memory() as u64),
            ("summary_bytes", self.nodes.summaries.memory() as u64),
        ]
    }
}

impl RankingEngine for BeTree {
    fn set_weights(&mut self, id: SubId, sequence: u64, predicates: WeightedPredicates) {
        if self.weights.scored.len() <= id.index() {
            self.weights.scored.resize_with(id.index() + 1, || None);
        }
        let constant_score = predicates.constant_score().unwrap_or(f64::NAN);
        self.weights.scored[id.index()] = Some(Scored { sequence, predicates });
        let total = self.weights.total(id);
        for conjunction in self.conjunctions.of(id) {
            let state = self.conjunctions.state_mut(conjunction);
            (state.total, state.constant_score) = (total, constant_score);
            let home = state.cluster;
            self.raise_bounds(home, total);
            self.raise_summaries(home, ClusterId::ROOT, conjunction);
        }
    }

    fn top_k(&self, query: &TopKQuery<'_>, scratch: &mut TreeScratch, best: &mut Vec<(SubId, f64)>) {
        self.find_best(query, scratch, best);
    }
}
