//! Predicate matching: which predicates does an event satisfy? The first of two phases in engines for arbitrary
//! expressions; the second computes from these predicates which expressions hold.
//!
//! Idea: a PS-Tree per attribute cuts its values into spaces, and each leaf lists the predicates that cover it. String
//! patterns, which have no order, share automata: one pass over a string finds all that match. The rest is tested one by
//! one: networks, list quantifiers, and predicates that cover more than `max_spaces` spaces, which would have to be
//! listed in all of them. Predicates that hold for missing values are listed by attribute, for events without it.
//!
//! Predicates are under keys of the engine's choice: l-nodes in A-Tree, numbers of distinct predicates elsewhere.
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

use crate::engine::shared::list_pool::{ListPool, ListRef, shrink};
use crate::engine::shared::patterns::{PatternScratch, Patterns};
use crate::engine::shared::predicates::PredId;
use crate::event::{Event, Slot};
use crate::expr::{Over, Predicate, Test, TextPattern};
use crate::schema::AttrId;
use crate::space::{Dimension, LeafId, LeafMerge, LeafSplit, Leaves, Reach, Region};
use crate::value::Value;
use std::sync::Arc;

/// What an engine calls a predicate: a number of its own.
pub trait PredicateKey: Copy + Default + Ord {
    /// The key with a number.
    fn from_number(number: u32) -> Self;
    /// Its number.
    fn number(self) -> u32;
}

impl PredicateKey for PredId {
    fn from_number(number: u32) -> PredId {
        PredId(number)
    }

    fn number(self) -> u32 {
        self.0
    }
}

/// Where an engine keeps, by predicate, the number of leaves that list it.
pub trait LeafCounts<K> {
    /// Number of leaves that list a predicate; 0 if it is found in another way.
    fn leaf_count(&self, key: K) -> u32;
    /// The same, to be changed.
    fn leaf_count_mut(&mut self, key: K) -> &mut u32;
}

/// The predicates on one attribute, by how they are found.
#[derive(Debug)]
struct AttributePredicates<K> {
    /// Values to leaves; the lists of the leaves are in [`PredicateMatching::lists`].
    dimension: Dimension,
    /// Hold for every present value.
    if_present: Vec<K>,
    /// Tested one by one for every present value.
    tested: Vec<K>,
    /// Hold if the value is missing.
    if_missing: Vec<K>,
    /// String patterns, numbered by key.
    patterns: Patterns,
    /// Negated string patterns: they hold for strings that do not match.
    negated_patterns: Vec<K>,
    /// Every predicate on the attribute; empty unless [`PredicateMatching::lists_all`].
    all: Vec<K>,
}

/// See the module's head.
#[derive(Debug)]
pub struct PredicateMatching<K> {
    /// By attribute; `None` before the first predicate on it.
    attributes: Vec<Option<AttributePredicates<K>>>,
    /// The leaves of all dimensions.
    leaves: Leaves,
    /// By leaf: the list of the predicates that cover it.
    lists: Vec<ListRef>,
    /// The items of `lists`.
    listed: ListPool<K, 4>,
    /// Attributes with a predicate that holds if the value is missing.
    may_be_missing: Vec<AttrId>,
    /// Predicates that splits have spread over `2 * max_spaces` leaves; see [`PredicateMatching::take_too_wide`].
    too_wide: Vec<K>,
    /// Buffer of [`Dimension::place`].
    splits: Vec<LeafSplit>,
    /// Buffer of [`Dimension::unplace`].
    merges: Vec<LeafMerge>,
    /// Number of observed events; saturating.
    observed: u32,
    /// Maximum leaves that list a predicate when it is inserted.
    max_spaces: usize,
    /// Whether [`PredicateMatching::on_attribute`] is needed.
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
pub struct PredicateScratch<K> {
    patterns: PatternScratch,
    /// The negated patterns that match the string.
    matched: Vec<K>,
}

impl<K: PredicateKey> PredicateMatching<K> {
    /// No predicates. With `lists_all`, [`PredicateMatching::on_attribute`] lists all.
    pub fn new(max_spaces: usize, lists_all: bool) -> PredicateMatching<K> {
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

    /// Visits the predicates that an event satisfies, some possibly twice.
    #[inline]
    pub fn find<'p>(
        &self,
        event: &Event<'_>,
        predicate_of: impl Fn(K) -> &'p Predicate,
        scratch: &mut PredicateScratch<K>,
        mut visit: impl FnMut(K),
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
                    if found.exact || predicate_of(*id).holds(event) {
                        visit(*id);
                    }
                }
            }
            attribute.if_present.iter().for_each(|id| visit(*id));
            for id in &attribute.tested {
                if predicate_of(*id).holds(event) {
                    visit(*id);
                }
            }
            if let Value::Text(text) = value
                && !attribute.patterns.is_empty()
            {
                find_patterns(attribute, text, &predicate_of, scratch, &mut visit);
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

    /// All predicates on an attribute, if they are listed.
    pub fn on_attribute(&self, attribute: AttrId) -> &[K] {
        self.attributes.get(attribute.index()).and_then(Option::as_ref).map_or(&[], |found| &found.all)
    }

    /// A predicate that splits have spread over too many leaves, to be passed to
    /// [`PredicateMatching::unlist_if_too_wide`] if it is still in use.
    pub fn take_too_wide(&mut self) -> Option<K> {
        self.too_wide.pop()
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
        self.attributes.capacity() * size_of::<Option<AttributePredicates<K>>>()
            + self.attributes.iter().flatten().map(AttributePredicates::memory).sum::<usize>()
            + self.leaves.memory()
            + self.lists.capacity() * size_of::<ListRef>()
            + self.listed.memory()
    }
}

impl<K> AttributePredicates<K> {
    /// Bytes in use, without the leaves and their lists.
    fn memory(&self) -> usize {
        let lists = [&self.if_present, &self.tested, &self.if_missing, &self.negated_patterns, &self.all];
        self.dimension.memory()
            + self.patterns.memory()
            + lists.iter().map(|list| list.capacity() * size_of::<K>()).sum::<usize>()
    }
}

/// Visits the patterns that hold for a string: one pass over it finds all that match.
fn find_patterns<'p, K: PredicateKey>(
    attribute: &AttributePredicates<K>,
    text: &str,
    predicate_of: impl Fn(K) -> &'p Predicate,
    scratch: &mut PredicateScratch<K>,
    visit: &mut impl FnMut(K),
) {
    let PredicateScratch { patterns, matched } = scratch;
    matched.clear();
    attribute.patterns.find(text, patterns, &mut |number| {
        let id = K::from_number(number);
        match predicate_of(id).test {
            Test::Pattern { negated: true, .. } => matched.push(id),
            _ => visit(id),
        }
    });
    matched.sort_unstable();
    for id in attribute.negated_patterns.iter().filter(|id| matched.binary_search(id).is_err()) {
        visit(*id);
    }
}
