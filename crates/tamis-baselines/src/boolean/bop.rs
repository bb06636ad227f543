//! BoP: count the satisfied predicates of each expression, and evaluate those with enough of them.
//!
//! Papers: S. Bittner and A. Hinze, On the Benefits of Non-Canonical Filtering in Publish/Subscribe Systems, ICDCS
//! Workshops 2005; A Detailed Investigation of Memory Requirements for Publish/Subscribe Filtering Algorithms, CoopIS 2005.
//!
//! Idea: for every expression there is a least number of predicates that must be satisfied, *pmin*: 1 for a predicate, the
//! sum over the operands of an AND, the least over those of an OR. A table leads from each predicate to its
//! subscriptions. The satisfied predicates of an event increment a counter per subscription (the hit vector); those whose
//! counter reaches pmin are candidates, whose encoded tree is evaluated with the set of satisfied predicates.
//!
//! Invariants: every leaf of a tree has one posting in the list of its predicate; `pmin` is that of the tree, at most 255.
//!
//! Cost: matching O(postings of satisfied predicates + trees of candidates); 4 bytes per node of a tree, 4 per posting,
//! 1 for pmin and 1 for the counter.
//!
//! Deviations from the papers:
//! - A predicate in several leaves of an expression counts once for each: counted once, `(a or b) and (a or c)` would be
//!   missed with `a` alone.
//! - The encoding has 4 bytes per node, and a connective stores the length of its operands instead of their number, so
//!   that evaluation skips operands that no longer matter.
//! - Counters have 8 bits and saturate; a greater pmin counts as 255, which admits more candidates and misses none.
//! - Operands of XOR are repeated in the tree; an expression with more than `max_leaves` is refused.

use super::postings::Postings;
use super::predicate_index::{MAX_SPACES, PredicateIndex, SatisfiedPredicates};
use super::tree::{MAX_LEAVES, TreeBuilder, TreeNode, TreeWord, leaves, operands};
use tamis_core::Result;
use tamis_core::engine::registry::{Construction, EngineInfo, Family, OptionValues, Takes};
use tamis_core::engine::shared::list_pool::{ListPool, ListRef, shrink};
use tamis_core::engine::{Engine, SubId};
use tamis_core::event::Event;
use tamis_core::expr::Normal;

/// Its entry in the registry.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "bop",
    description: "BoP: expressions with enough satisfied predicates are evaluated",
    family: Family::Baseline,
    takes: Takes::Bounded,
    exact: true,
    options: &[MAX_LEAVES, MAX_SPACES],
    construction: Construction::InPlace(|options, _| Box::new(Bop::new(options))),
};

/// See the module's head.
#[derive(Debug)]
struct Bop {
    predicates: PredicateIndex,
    /// By predicate: the subscriptions it stands in.
    postings: Postings<()>,
    /// By subscription: its encoded tree; empty for unused numbers.
    trees: Vec<ListRef>,
    /// The items of `trees`.
    words: ListPool<TreeWord, 2>,
    /// By subscription: the least number of satisfied leaves, at most 255; 0 for unused numbers.
    pmin: Vec<u8>,
    max_leaves: usize,
    /// Buffer of an insertion.
    builder: TreeBuilder,
}

/// The buffers of matching.
#[derive(Debug, Default)]
struct BopScratch {
    satisfied: SatisfiedPredicates,
    /// By subscription: number of satisfied leaves so far; saturating. All 0 between events.
    hits: Vec<u8>,
    /// Subscriptions with a satisfied leaf.
    touched: Vec<SubId>,
}

/// The least number of satisfied leaves of a tree that holds; saturating.
fn least_satisfied(tree: &[TreeWord]) -> u32 {
    let least = operands(tree).map(least_satisfied);
    match tree[0].node() {
        TreeNode::Leaf(_) => 1,
        TreeNode::And(_) => least.sum(),
        TreeNode::Or(_) => least.min().unwrap_or(0),
    }
}

fn pmin_of(tree: &[TreeWord]) -> u8 {
    u8::try_from(least_satisfied(tree)).unwrap_or(u8::MAX)
}

/// Whether a tree holds.
fn holds(tree: &[TreeWord], satisfied: &SatisfiedPredicates) -> bool {
    match tree[0].node() {
        TreeNode::Leaf(id) => satisfied.contains(id),
        TreeNode::And(_) => operands(tree).all(|operand| holds(operand, satisfied)),
        TreeNode::Or(_) => operands(tree).any(|operand| holds(operand, satisfied)),
    }
}

impl Bop {
    fn new(options: &OptionValues) -> Bop {
        Bop {
            predicates: PredicateIndex::new(options.whole_number(MAX_SPACES.name)),
            postings: Postings::default(),
            trees: Vec::new(),
            words: ListPool::default(),
            pmin: Vec::new(),
            max_leaves: options.whole_number(MAX_LEAVES.name),
            builder: TreeBuilder::default(),
        }
    }

    fn tree(&self, id: SubId) -> &[TreeWord] {
        self.words.get(self.trees[id.index()])
    }

    fn check(&self) -> Result<(), String> {
        self.postings.validate()?;
        let ids = || (0..self.trees.len() as u32).map(SubId);
        self.predicates.validate(ids().flat_map(|id| leaves(self.tree(id))))?;
        let mut expected: Vec<(usize, u32)> =
            ids().flat_map(|id| leaves(self.tree(id)).map(move |leaf| (leaf.index(), id.0))).collect();
        expected.sort_unstable();
        let found = self.postings.iter().map(|(leaf, posting)| (leaf, posting.subscription().0));
        if !found.eq(expected) {
            return Err("the postings are not the leaves of all trees".into());
        }
        let is_right = |id: &SubId| {
            let tree = self.tree(*id);
            self.pmin[id.index()] == if tree.is_empty() { 0 } else { pmin_of(tree) }
        };
        match ids().find(|id| !is_right(id)) {
            Some(id) => Err(format!("pmin of subscription {} is wrong", id.0)),
            None => Ok(()),
        }
    }
}

impl Engine for Bop {
    type Scratch = BopScratch;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn insert(&mut self, id: SubId, expression: &Normal) -> Result<()> {
        self.builder.build(expression, self.max_leaves, &mut self.predicates)?;
        if self.trees.len() <= id.index() {
            self.trees.resize(id.index() + 1, ListRef::EMPTY);
            self.pmin.resize(id.index() + 1, 0);
        }
        let tree = &self.builder.words;
        if tree.is_empty() {
            return Ok(());
        }
        self.pmin[id.index()] = pmin_of(tree);
        leaves(tree).for_each(|predicate| self.postings.insert(predicate.index(), id, ()));
        self.words.extend(&mut self.trees[id.index()], tree);
        Ok(())
    }

    fn remove(&mut self, id: SubId) {
        let tree = std::mem::take(&mut self.trees[id.index()]);
        for predicate in leaves(self.words.get(tree)) {
            self.postings.remove(predicate.index(), id);
            self.predicates.release(predicate);
        }
        self.words.release(tree);
        self.pmin[id.index()] = 0;
    }

    fn match_event(&self, event: &Event<'_>, scratch: &mut BopScratch, matches: &mut Vec<SubId>) {
        let BopScratch { satisfied, hits, touched } = scratch;
        self.predicates.find(event, satisfied);
        if hits.len() < self.trees.len() {
            hits.resize(self.trees.len().next_power_of_two(), 0);
        }
        for predicate in satisfied.iter() {
            for posting in self.postings.get(predicate.index()) {
                let hit = &mut hits[posting.subscription().index()];
                if *hit == 0 {
                    touched.push(posting.subscription());
                }
                *hit = hit.saturating_add(1);
            }
        }
        for id in touched.drain(..) {
            let found = std::mem::take(&mut hits[id.index()]);
            if found >= self.pmin[id.index()] && holds(self.tree(id), satisfied) {
                matches.push(id);
            }
        }
    }

    fn defragment(&mut self) {
        self.predicates.defragment();
        self.postings.defragment();
        shrink(&mut self.pmin);
        shrink(&mut self.trees);
        self.words.defragment(self.trees.iter_mut());
    }

    fn validate(&self) -> Result<(), String> {
        self.check().map_err(|broken| format!("bop: {broken}"))
    }

    fn memory(&self) -> usize {
        self.predicates.memory()
            + self.postings.memory()
            + self.trees.capacity() * size_of::<ListRef>()
            + self.words.memory()
            + self.pmin.capacity()
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        let words: usize = self.trees.iter().map(|tree| tree.len()).sum();
        let mut stats = vec![("tree_nodes", words as u64), ("postings", self.postings.len() as u64)];
        stats.extend(self.predicates.stats());
        stats
    }
}
