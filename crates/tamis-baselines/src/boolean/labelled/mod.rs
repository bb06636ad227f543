//! Interval ID and Dewey ID: every leaf of an expression's tree gets a label, and an expression is evaluated from the
//! labels of its satisfied leaves alone.
//!
//! Paper: M. Fontoura, S. Sadanandan, J. Shanmugasundaram, S. Vassilvitski, E. Vee, S. Venkatesan and J. Zien, Efficiently
//! Evaluating Complex Boolean Expressions, SIGMOD 2010.
//!
//! Idea: an inverted index has, by predicate, the subscriptions it stands in, each with the label of the leaf. An event's
//! satisfied predicates lead to labels; these are grouped by subscription and sorted. One pass over the sorted labels of a
//! subscription says whether its expression holds; the tree itself is not stored. Only subscriptions with a satisfied
//! leaf are evaluated, but all of those are, each by itself: nothing is shared and nothing is pruned.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `interval` | is there a chain of intervals from the first position to the last? |
//! | `dewey` | are all children of some AND there, down to the leaves? |
//! | `check` | do the invariants hold? |
//!
//! Invariants: every leaf has one posting, in the list of its predicate; all labels of a subscription together satisfy its
//! expression; labels are within the positions or components of their subscription.
//!
//! Cost: insertion O(leaves), and a move of memory if its number is reused; matching O(postings of satisfied predicates),
//! one random access to the array of subscriptions for each; 8 bytes per leaf for the posting, 4 for its removal.
//!
//! Deviations from the paper:
//! - Leaves are single predicates, found by PS-Trees and automata; the paper's leaves are conjunctions found by an index of
//!   its own. A conjunction of predicates is an AND here. So compares the A-Tree paper, too.
//! - NOT is pushed to the predicates by normalization, so all leaves are positive.
//! - Labels are grouped by a chain per subscription, not by merging posting lists: an event with thousands of satisfied
//!   predicates would merge thousands of lists.
//! - Operands of XOR are repeated, because labels need a tree; an expression with more than `max_leaves` is refused.

mod check;
mod dewey;
mod interval;

use super::postings::Postings;
use super::predicate_index::{MAX_SPACES, PredicateIndex, SatisfiedPredicates};
use super::tree::{MAX_LEAVES, TreeBuilder, TreeWord, leaves};
pub(super) use dewey::Dewey;
pub(super) use interval::Interval;
use tamis_core::Result;
use tamis_core::engine::registry::{Construction, EngineInfo, Family, OptionInfo, OptionValues, Takes};
use tamis_core::engine::shared::list_pool::{ListPool, ListRef, shrink};
use tamis_core::engine::shared::predicates::PredId;
use tamis_core::engine::{Engine, SubId};
use tamis_core::event::Event;
use tamis_core::expr::Normal;

const OPTIONS: &[OptionInfo] = &[MAX_LEAVES, MAX_SPACES];

pub(crate) const INTERVAL_INFO: EngineInfo = EngineInfo {
    name: "interval_id",
    description: "Interval ID: leaves are intervals; an expression holds if satisfied ones form a chain",
    family: Family::Baseline,
    takes: Takes::Bounded,
    exact: true,
    options: OPTIONS,
    construction: Construction::InPlace(|options, _| Box::new(Labelled::<Interval>::new(options))),
};

pub(crate) const DEWEY_INFO: EngineInfo = EngineInfo {
    name: "dewey_id",
    description: "Dewey ID: leaves are paths; an expression holds if satisfied ones complete an AND at every level",
    family: Family::Baseline,
    takes: Takes::Bounded,
    exact: true,
    options: OPTIONS,
    construction: Construction::InPlace(|options, _| Box::new(Labelled::<Dewey>::new(options))),
};

/// A way to label leaves and to evaluate labels.
pub(in crate::boolean) trait Labelling: Default + Send + Sync + 'static {
    /// The label of a leaf; sorts in the order of evaluation.
    type Label: Copy + Default + Ord + Send + Sync;
    /// Buffers of evaluation.
    type Buffers: Default + Send;
    /// The engine's name.
    const NAME: &'static str;

    /// Labels the leaves of a subscription's tree, in order.
    fn label(&mut self, subscription: SubId, tree: &[TreeWord], labels: &mut Vec<Self::Label>);
    /// Forgets a subscription.
    fn forget(&mut self, subscription: SubId);
    /// Whether sorted labels of a subscription satisfy its expression.
    fn holds(&self, subscription: SubId, labels: &[Self::Label], buffers: &mut Self::Buffers) -> bool;
    /// Moves lists together and frees memory reserved for growth.
    fn defragment(&mut self);
    /// Bytes in use.
    fn memory(&self) -> usize;
}

/// See the module's head.
#[derive(Debug)]
pub(in crate::boolean) struct Labelled<S: Labelling> {
    predicates: PredicateIndex,
    /// By predicate: the labelled leaves it stands in.
    postings: Postings<S::Label>,
    scheme: S,
    /// By subscription: the predicates of its leaves; empty for unused numbers.
    leaf_lists: Vec<ListRef>,
    /// The items of `leaf_lists`.
    leaf_predicates: ListPool<u32, 2>,
    max_leaves: usize,
    /// Buffer of an insertion.
    builder: TreeBuilder,
    /// Buffer of an insertion.
    labels: Vec<S::Label>,
    /// Buffer of an insertion.
    leaf_buffer: Vec<u32>,
}

/// The buffers of matching.
pub(in crate::boolean) struct LabelledScratch<S: Labelling> {
    satisfied: SatisfiedPredicates,
    /// By subscription: its satisfied label found last, as a position in `found` plus 1; 0 for none.
    heads: Vec<u32>,
    /// Satisfied labels, each with the one of the same subscription found before it, in the form of `heads`.
    found: Vec<(S::Label, u32)>,
    /// Subscriptions with a satisfied label.
    touched: Vec<SubId>,
    /// The labels of one subscription.
    labels: Vec<S::Label>,
    buffers: S::Buffers,
}

impl<S: Labelling> Default for LabelledScratch<S> {
    fn default() -> Self {
        LabelledScratch {
            satisfied: SatisfiedPredicates::default(),
            heads: Vec::new(),
            found: Vec::new(),
            touched: Vec::new(),
            labels: Vec::new(),
            buffers: S::Buffers::default(),
        }
    }
}

impl<S: Labelling> Labelled<S> {
    fn new(options: &OptionValues) -> Labelled<S> {
        Labelled {
            predicates: PredicateIndex::new(options.whole_number(MAX_SPACES.name)),
            postings: Postings::default(),
            scheme: S::default(),
            leaf_lists: Vec::new(),
            leaf_predicates: ListPool::default(),
            max_leaves: options.whole_number(MAX_LEAVES.name),
            builder: TreeBuilder::default(),
            labels: Vec::new(),
            leaf_buffer: Vec::new(),
        }
    }
}

impl<S: Labelling> Engine for Labelled<S> {
    type Scratch = LabelledScratch<S>;

    fn name(&self) -> &'static str {
        S::NAME
    }

    fn insert(&mut self, id: SubId, expression: &Normal) -> Result<()> {
        self.builder.build(expression, self.max_leaves, &mut self.predicates)?;
        if self.leaf_lists.len() <= id.index() {
            self.leaf_lists.resize(id.index() + 1, ListRef::EMPTY);
        }
        self.labels.clear();
        self.scheme.label(id, &self.builder.words, &mut self.labels);
        self.leaf_buffer.clear();
        for (predicate, label) in leaves(&self.builder.words).zip(&self.labels) {
            self.postings.insert(predicate.index(), id, *label);
            self.leaf_buffer.push(predicate.0);
        }
        self.leaf_predicates.extend(&mut self.leaf_lists[id.index()], &self.leaf_buffer);
        Ok(())
    }

    fn remove(&mut self, id: SubId) {
        let list = std::mem::take(&mut self.leaf_lists[id.index()]);
        for &predicate in self.leaf_predicates.get(list) {
            self.postings.remove(predicate as usize, id);
            self.predicates.release(PredId(predicate));
        }
        self.leaf_predicates.release(list);
        self.scheme.forget(id);
    }

    fn match_event(&self, event: &Event<'_>, scratch: &mut LabelledScratch<S>, matches: &mut Vec<SubId>) {
        let LabelledScratch { satisfied, heads, found, touched, labels, buffers } = scratch;
        self.predicates.find(event, satisfied);
        if heads.len() < self.leaf_lists.len() {
            heads.resize(self.leaf_lists.len().next_power_of_two(), 0);
        }
        found.clear();
        for predicate in satisfied.iter() {
            for posting in self.postings.get(predicate.index()) {
                let head = &mut heads[posting.subscription().index()];
                if *head == 0 {
                    touched.push(posting.subscription());
                }
                found.push((posting.leaf, *head));
                *head = found.len() as u32;
            }
        }
        for subscription in touched.drain(..) {
            let mut next = std::mem::take(&mut heads[subscription.index()]);
            labels.clear();
            while next != 0 {
                let (label, before) = found[next as usize - 1];
                labels.push(label);
                next = before;
            }
            labels.sort_unstable();
            if self.scheme.holds(subscription, labels, buffers) {
                matches.push(subscription);
            }
        }
    }

    fn defragment(&mut self) {
        self.predicates.defragment();
        self.postings.defragment();
        shrink(&mut self.leaf_lists);
        self.leaf_predicates.defragment(self.leaf_lists.iter_mut());
        self.scheme.defragment();
    }

    fn validate(&self) -> Result<(), String> {
        self.check().map_err(|broken| format!("{}: {broken}", S::NAME))
    }

    fn memory(&self) -> usize {
        self.predicates.memory()
            + self.postings.memory()
            + self.scheme.memory()
            + self.leaf_lists.capacity() * size_of::<ListRef>()
            + self.leaf_predicates.memory()
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        let mut stats = vec![("labels", self.postings.len() as u64)];
        stats.extend(self.predicates.stats());
        stats
    }
}
