//! Predicate matching: which predicates does an event satisfy? The first of the paper's two phases; the paper leaves the
//! algorithm open and names PS-Tree as one.
//!
//! Idea: a PS-Tree per attribute cuts its values into spaces, and each leaf lists the predicates that cover it. String
//! patterns, which have no order, share automata: one pass over a string finds all that match. The rest is tested one by
//! one: networks, list quantifiers, and predicates that cover more than `max_spaces` spaces, which would have to be
//! listed in all of them. Predicates that hold for missing values are listed by attribute, for events without it.
//!
//! Later splits spread a predicate over more leaves. At `2 * max_spaces` leaves it is unlisted and tested instead.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `placement` | how is a predicate added and removed? |
//! | `probability` | how likely is a predicate satisfied? |
//! | `check` | do the invariants hold? |
//!
//! Invariants: a predicate that accepts a region is listed in exactly the leaves it covers, or in none and tested; every
//! other is in the one list or automaton that finds it.

mod check;
mod placement;
mod probability;

use super::nodes::{NodeStore, TreeNodeId};
use crate::engine::shared::list_pool::{ListPool, ListRef, shrink};
use crate::engine::shared::patterns::{PatternScratch, Patterns};
use crate::engine::shared::predicates::Predicates;
use crate::event::{Event, Slot};
use crate::expr::{Over, Predicate, Test, TextPattern};
use crate::schema::AttrId;
use crate::space::{Dimension, LeafId, LeafMerge, LeafSplit, Leaves, Reach, Region};
use crate::value::Value;
use std::sync::Arc;

/// The predicates on one attribute, by how they are found.
#[derive(Debug)]
struct AttributePredicates {
    /// Values to leaves; the lists of the leaves are in [`PredicateMatching::lists`].
    dimension: Dimension,
    /// Hold for every present value.
    if_present: Vec<TreeNodeId>,
    /// Tested one by one for every present value.
    tested: Vec<TreeNodeId>,
    /// Hold if the value is missing.
    if_missing: Vec<TreeNodeId>,
    /// String patterns, numbered by node.
    patterns: Patterns,
    /// Negated string patterns: they hold for strings that do not match.
    negated_patterns: Vec<TreeNodeId>,
    /// Every predicate on the attribute; empty unless [`PredicateMatching::lists_all`].
    all: Vec<TreeNodeId>,
}

/// See the module's head.
#[derive(Debug)]
pub(super) struct PredicateMatching {
    /// By attribute; `None` before the first predicate on it.
    attributes: Vec<Option<AttributePredicates>>,
    /// The leaves of all dimensions.
    leaves: Leaves,
    /// By leaf: the list of the predicates that cover it.
    lists: Vec<ListRef>,
    /// The items of `lists`.
    listed: ListPool<TreeNodeId, 4>,
    /// Attributes with a predicate that holds if the value is missing.
    may_be_missing: Vec<AttrId>,
    /// Predicates that splits have spread over `2 * max_spaces` leaves; the caller unlists them.
    pub too_wide: Vec<TreeNodeId>,
    /// Buffer of [`Dimension::place`].
    splits: Vec<LeafSplit>,
    /// Buffer of [`Dimension::unplace`].
    merges: Vec<LeafMerge>,
    /// Number of observed events; saturating.
    observed: u32,
    /// Maximum leaves that list a predicate when it is inserted.
    max_spaces: usize,
    /// Whether [`PredicateMatching::on_attribute`] is needed: without the zero suppression filter.
    lists_all: bool,
}

/// How a predicate is found for a present value.
enum FoundBy<'p> {
    /// By the leaves of a region, or tested if these are too many.
    Region(Region),
    /// By the presence of the value.
    Presence,
    /// By the automata; negated or not.
    Pattern(&'p Arc<TextPattern>, bool),
    /// By testing it.
    Test,
}

impl FoundBy<'_> {
    fn of(predicate: &Predicate) -> FoundBy<'_> {
        if predicate.over != Over::Value {
            return FoundBy::Test;
        }
        match &predicate.test {
            Test::Pattern { pattern, negated, .. } => FoundBy::Pattern(pattern, *negated),
            Test::Cidr { .. } => FoundBy::Test,
            test => match Reach::if_present(test) {
                Reach::Region(region) => FoundBy::Region(region),
                _ => FoundBy::Presence,
            },
        }
    }
}

/// The buffers of predicate matching.
#[derive(Debug, Default)]
pub(super) struct PredicateScratch {
    patterns: PatternScratch,
    /// The negated patterns that match the string.
    matched: Vec<TreeNodeId>,
}

impl PredicateMatching {
    /// No predicates. With `lists_all`, [`PredicateMatching::on_attribute`] lists all.
    pub fn new(max_spaces: usize, lists_all: bool) -> PredicateMatching {
        PredicateMatching {
            attributes: Vec::new(),
            leaves: Leaves::default(),
            lists: Vec::new(),
            listed: ListPool::default(),
            may_be_missing: Vec::new(),
            too_wide: Vec::new(),
            splits: Vec::new(),
            merges: Vec::new(),
            observed: 0,
            max_spaces,
            lists_all,
        }
    }

    /// Visits the l-nodes that an event satisfies, some possibly twice.
    #[inline]
    pub fn find(
        &self,
        event: &Event<'_>,
        predicates: &Predicates,
        nodes: &NodeStore,
        scratch: &mut PredicateScratch,
        mut visit: impl FnMut(TreeNodeId),
    ) {
        for cell in event.cells() {
            let Some(Some(attribute)) = self.attributes.get(cell.attribute.index()) else { continue };
            let value = event.resolve(cell.slot);
            let found = attribute.dimension.locate(value);
            for leaf in [found.leaf, found.next_integer] {
                if leaf == LeafId::NONE {
                    continue;
                }
                // A leaf without predicates may have no list.
                let list = self.lists.get(leaf.index()).copied().unwrap_or_default();
                for id in self.listed.get(list) {
                    if found.exact || predicates.get(nodes.predicate(*id)).holds(event) {
                        visit(*id);
                    }
                }
            }
            attribute.if_present.iter().for_each(|id| visit(*id));
            for id in &attribute.tested {
                if predicates.get(nodes.predicate(*id)).holds(event) {
                    visit(*id);
                }
            }
            if let Value::Text(text) = value
                && !attribute.patterns.is_empty()
            {
                find_patterns(attribute, text, predicates, nodes, scratch, &mut visit);
            }
        }
        for attribute in &self.may_be_missing {
            if event.slot(*attribute) == Slot::Missing
                && let Some(Some(attribute)) = self.attributes.get(attribute.index())
            {
                attribute.if_missing.iter().for_each(|id| visit(*id));
            }
        }
    }

    /// All l-nodes on an attribute, if they are listed.
    pub fn on_attribute(&self, attribute: AttrId) -> &[TreeNodeId] {
        self.attributes.get(attribute.index()).and_then(Option::as_ref).map_or(&[], |found| &found.all)
    }

    /// Moves lists together and frees memory reserved for growth.
    pub fn defragment(&mut self) {
        shrink(&mut self.lists);
        self.listed.defragment(self.lists.iter_mut());
    }

    /// Numbers of leaves and of bounds of the PS-Trees.
    pub fn size(&self) -> (usize, usize) {
        let bounds = self.attributes.iter().flatten().map(|attribute| attribute.dimension.size().1).sum();
        (self.leaves.count(), bounds)
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        self.attributes.capacity() * size_of::<Option<AttributePredicates>>()
            + self.attributes.iter().flatten().map(AttributePredicates::memory).sum::<usize>()
            + self.leaves.memory()
            + self.lists.capacity() * size_of::<ListRef>()
            + self.listed.memory()
    }
}

impl AttributePredicates {
    /// Bytes in use, without the leaves and their lists.
    fn memory(&self) -> usize {
        let lists = [&self.if_present, &self.tested, &self.if_missing, &self.negated_patterns, &self.all];
        self.dimension.memory()
            + self.patterns.memory()
            + lists.iter().map(|list| list.capacity() * size_of::<TreeNodeId>()).sum::<usize>()
    }
}

/// Visits the patterns that hold for a string: one pass over it finds all that match.
fn find_patterns(
    attribute: &AttributePredicates,
    text: &str,
    predicates: &Predicates,
    nodes: &NodeStore,
    scratch: &mut PredicateScratch,
    visit: &mut impl FnMut(TreeNodeId),
) {
    let PredicateScratch { patterns, matched } = scratch;
    matched.clear();
    attribute.patterns.find(text, patterns, &mut |number| {
        let id = TreeNodeId(number);
        match predicates.get(nodes.predicate(id)).test {
            Test::Pattern { negated: true, .. } => matched.push(id),
            _ => visit(id),
        }
    });
    matched.sort_unstable();
    for id in attribute.negated_patterns.iter().filter(|id| matched.binary_search(id).is_err()) {
        visit(*id);
    }
}
