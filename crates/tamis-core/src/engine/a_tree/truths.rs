//! Which predicates does an event satisfy? (The paper's predicate matching.)
//!
//! Idea: each attribute's values are cut into spaces by a PS-Tree, and a space lists the predicates that hold in it.
//! String patterns, which have no order, share automata: one pass over the value finds all that match. What neither can
//! find is checked one by one: networks, list quantifiers, and predicates that cover more than `max_spaces` spaces,
//! which would have to be listed in all of them. Predicates that hold for missing values are kept by attribute, for
//! the events without it.
//!
//! Splits may spread a predicate further than that. Over twice as many spaces it is taken out of them all and
//! checked from then on.
//!
//! Invariants: a predicate with spaces is listed in exactly the leaves it covers, or in no leaf and checked; every other
//! is in the one list or automaton where it is found.

use super::nodes::{NodeId, Nodes};
use crate::engine::shared::list_pool::{ListPool, ListRef, shrink};
use crate::engine::shared::patterns::{PatternScratch, Patterns};
use crate::engine::shared::predicates::Predicates;
use crate::engine::shared::selectivity::Shape;
use crate::event::{Event, Slot};
use crate::expr::{Over, Predicate, Test, TextPattern};
use crate::schema::AttrId;
use crate::space::{Dimension, LeafId, LeafMerge, LeafSplit, Leaves, Reach, Region};
use crate::value::Value;
use std::sync::Arc;

/// All predicates on one attribute.
#[derive(Debug)]
struct Field {
    dimension: Dimension,
    /// Hold for every present value.
    present: Vec<NodeId>,
    /// Checked whenever there is a value.
    checked: Vec<NodeId>,
    /// Hold when there is none.
    absent: Vec<NodeId>,
    /// String patterns, by the numbers of their nodes.
    patterns: Patterns,
    /// Those that hold for strings their pattern does not match.
    negated: Vec<NodeId>,
    /// Every predicate; kept only if those that do not hold are asked for.
    all: Vec<NodeId>,
}

/// See the module's head.
#[derive(Debug)]
pub(super) struct Truths {
    /// By attribute; there once a predicate refers to it.
    fields: Vec<Option<Field>>,
    leaves: Leaves,
    /// By leaf: the predicates that cover it.
    lists: Vec<ListRef>,
    items: ListPool<NodeId, 4>,
    /// Attributes without which some predicate holds.
    absent: Vec<AttrId>,
    /// Predicates that splits have spread too far.
    pub crowded: Vec<NodeId>,
    splits: Vec<LeafSplit>,
    merges: Vec<LeafMerge>,
    /// How many events were observed.
    observed: u32,
    max_spaces: usize,
    keep_all: bool,
}

/// How the values are found for which a predicate holds.
enum Home<'p> {
    Region(Region),
    Present,
    Pattern(&'p Arc<TextPattern>, bool),
    Checked,
}

impl Home<'_> {
    fn of(predicate: &Predicate) -> Home<'_> {
        if predicate.over != Over::Value {
            return Home::Checked;
        }
        match &predicate.test {
            Test::Pattern { pattern, negated, .. } => Home::Pattern(pattern, *negated),
            Test::Cidr { .. } => Home::Checked,
            test => match Reach::if_present(test) {
                Reach::Region(region) => Home::Region(region),
                _ => Home::Present,
            },
        }
    }
}

/// What a thread needs to find predicates.
#[derive(Debug, Default)]
pub(super) struct TruthScratch {
    patterns: PatternScratch,
    /// The negated patterns that matched.
    matched: Vec<NodeId>,
}

fn remove_from(list: &mut Vec<NodeId>, id: NodeId) {
    if let Some(at) = list.iter().position(|other| *other == id) {
        list.swap_remove(at);
    }
}

impl Truths {
    /// No predicates. With `keep_all`, [`Truths::on`] knows them all.
    pub fn new(max_spaces: usize, keep_all: bool) -> Truths {
        Truths {
            fields: Vec::new(),
            leaves: Leaves::default(),
            lists: Vec::new(),
            items: ListPool::default(),
            absent: Vec::new(),
            crowded: Vec::new(),
            splits: Vec::new(),
            merges: Vec::new(),
            observed: 0,
            max_spaces,
            keep_all,
        }
    }

    /// Takes a predicate under the number of its node.
    pub fn insert(&mut self, id: NodeId, predicate: &Predicate, nodes: &mut Nodes) {
        let at = predicate.attribute.index();
        if self.fields.len() <= at {
            self.fields.resize_with(at + 1, || None);
        }
        let field = self.fields[at].get_or_insert_with(|| Field {
            dimension: Dimension::new(&mut self.leaves),
            present: Vec::new(),
            checked: Vec::new(),
            absent: Vec::new(),
            patterns: Patterns::default(),
            negated: Vec::new(),
            all: Vec::new(),
        });
        if self.keep_all {
            field.all.push(id);
        }
        if predicate.accepts_missing() {
            if field.absent.is_empty() {
                self.absent.push(predicate.attribute);
            }
            field.absent.push(id);
        }
        match Home::of(predicate) {
            Home::Present => field.present.push(id),
            Home::Checked => field.checked.push(id),
            Home::Pattern(pattern, negated) => {
                field.patterns.insert(id.0, pattern);
                if negated {
                    field.negated.push(id);
                }
            }
            Home::Region(region) => {
                let mut covered = 0;
                field.dimension.hull(&region, &self.leaves, |_, _| {
                    covered += 1;
                    covered <= self.max_spaces
                });
                if covered.max(region.parts()) > self.max_spaces {
                    field.checked.push(id);
                } else {
                    self.list(id, predicate.attribute, &region, nodes);
                }
            }
        }
    }

    /// Lists a predicate in the leaves it covers.
    fn list(&mut self, id: NodeId, attribute: AttrId, region: &Region, nodes: &mut Nodes) {
        let Truths { leaves, lists, items, splits, .. } = self;
        let Some(Some(field)) = self.fields.get_mut(attribute.index()) else { return };
        splits.clear();
        field.dimension.place(region, leaves, splits);
        lists.resize(leaves.bound(), ListRef::EMPTY);
        for split in splits.iter() {
            lists[split.made.index()] = items.copy(lists[split.kept.index()]);
            for other in items.get(lists[split.made.index()]) {
                let size = &mut nodes.making_mut(*other).size;
                *size += 1;
                if *size as usize == 2 * self.max_spaces {
                    self.crowded.push(*other);
                }
            }
        }
        let mut covered = 0;
        field.dimension.cover(region, leaves, |leaf| {
            items.extend(&mut lists[leaf.index()], &[id]);
            covered += 1;
        });
        nodes.making_mut(id).size = covered;
    }

    /// Takes a predicate out of the leaves it covers.
    fn unlist(&mut self, id: NodeId, attribute: AttrId, region: &Region, nodes: &mut Nodes) {
        let Truths { leaves, lists, items, merges, .. } = self;
        let Some(Some(field)) = self.fields.get_mut(attribute.index()) else { return };
        field.dimension.cover(region, leaves, |leaf| {
            let list = &mut lists[leaf.index()];
            if let Some(at) = items.get(*list).iter().position(|other| *other == id) {
                items.swap_remove(list, at);
            }
        });
        merges.clear();
        field.dimension.unplace(region, leaves, merges);
        for merge in merges.iter() {
            let gone = std::mem::take(&mut lists[merge.gone.index()]);
            items.get(gone).iter().for_each(|other| nodes.making_mut(*other).size -= 1);
            items.release(gone);
        }
        nodes.making_mut(id).size = 0;
    }

    /// Forgets a predicate.
    pub fn remove(&mut self, id: NodeId, predicate: &Predicate, nodes: &mut Nodes) {
        let Some(Some(field)) = self.fields.get_mut(predicate.attribute.index()) else { return };
        if self.keep_all {
            remove_from(&mut field.all, id);
        }
        if predicate.accepts_missing() {
            remove_from(&mut field.absent, id);
            if field.absent.is_empty() {
                self.absent.retain(|attribute| *attribute != predicate.attribute);
            }
        }
        match Home::of(predicate) {
            Home::Present => remove_from(&mut field.present, id),
            Home::Checked => remove_from(&mut field.checked, id),
            Home::Pattern(_, negated) => {
                field.patterns.remove(id.0);
                if negated {
                    remove_from(&mut field.negated, id);
                }
            }
            Home::Region(region) if nodes.making(id).size > 0 => {
                self.unlist(id, predicate.attribute, &region, nodes);
            }
            Home::Region(_) => remove_from(&mut field.checked, id),
        }
    }

    /// Has a predicate checked that was listed.
    pub fn demote(&mut self, id: NodeId, predicate: &Predicate, nodes: &mut Nodes) {
        if let Home::Region(region) = Home::of(predicate)
            && nodes.making(id).size as usize >= 2 * self.max_spaces
        {
            self.unlist(id, predicate.attribute, &region, nodes);
            if let Some(Some(field)) = self.fields.get_mut(predicate.attribute.index()) {
                field.checked.push(id);
            }
        }
    }

    /// Visits the predicates that an event satisfies, some perhaps twice.
    #[inline]
    pub fn find(
        &self,
        event: &Event<'_>,
        predicates: &Predicates,
        nodes: &Nodes,
        scratch: &mut TruthScratch,
        mut each: impl FnMut(NodeId),
    ) {
        for cell in event.cells() {
            let Some(Some(field)) = self.fields.get(cell.attribute.index()) else { continue };
            let value = event.resolve(cell.slot);
            let located = field.dimension.locate(value);
            for leaf in [located.leaf, located.next_integer] {
                if leaf == LeafId::NONE {
                    continue;
                }
                // A leaf without predicates may have no list yet.
                let list = self.lists.get(leaf.index()).copied().unwrap_or_default();
                for id in self.items.get(list) {
                    if located.exact || predicates.get(nodes.predicate(*id)).holds(event) {
                        each(*id);
                    }
                }
            }
            field.present.iter().for_each(|id| each(*id));
            for id in &field.checked {
                if predicates.get(nodes.predicate(*id)).holds(event) {
                    each(*id);
                }
            }
            if let Value::Text(text) = value
                && !field.patterns.is_empty()
            {
                find_patterns(field, text, predicates, nodes, scratch, &mut each);
            }
        }
        for attribute in &self.absent {
            if event.slot(*attribute) == Slot::Missing
                && let Some(Some(field)) = self.fields.get(attribute.index())
            {
                field.absent.iter().for_each(|id| each(*id));
            }
        }
    }

    /// All predicates on an attribute, if they are kept.
    pub fn on(&self, attribute: AttrId) -> &[NodeId] {
        self.fields.get(attribute.index()).and_then(Option::as_ref).map_or(&[], |field| &field.all)
    }

    /// How likely a predicate holds: by the events observed, else by its shape and the spaces it covers.
    pub fn weight(&self, id: NodeId, predicate: &Predicate, nodes: &Nodes) -> f32 {
        let Some(Some(field)) = self.fields.get(predicate.attribute.index()) else { return 1.0 };
        let absent = predicate.accepts_missing();
        let prior = Shape::of(predicate).likelihood();
        let covered = nodes.making(id).size;
        let present = f64::from(self.leaves.get(field.dimension.whole()).events);
        if self.observed == 0 {
            return match covered {
                _ if absent => 0.99,
                0 => prior,
                covered => prior.min((covered as f32 + 1.0) / (field.dimension.spaces() as f32 + 2.0)),
            };
        }
        let held = match Home::of(predicate) {
            Home::Region(region) if covered > 0 => {
                let mut events = 0.0;
                field.dimension.cover(&region, &self.leaves, |leaf| {
                    events += f64::from(self.leaves.get(leaf).events);
                });
                events
            }
            Home::Present => present,
            _ => present * f64::from(prior),
        };
        let missing = if absent { f64::from(self.observed) - present } else { 0.0 };
        // What was never seen may still come.
        ((held + missing + 0.5) / (f64::from(self.observed) + 1.0)).min(1.0) as f32
    }

    /// Counts an event in the spaces of its values.
    pub fn observe(&mut self, event: &Event<'_>) {
        self.observed = self.observed.saturating_add(1);
        for cell in event.cells() {
            let Some(Some(field)) = self.fields.get(cell.attribute.index()) else { continue };
            field.dimension.observe(event.resolve(cell.slot), &mut self.leaves);
        }
    }

    /// Moves lists together and frees memory reserved for growth.
    pub fn defragment(&mut self) {
        shrink(&mut self.lists);
        self.items.defragment(self.lists.iter_mut());
    }

    /// Checks the trees, and that every predicate is where it belongs and nowhere else.
    pub fn validate(&self, predicates: &Predicates, nodes: &Nodes) -> Result<(), String> {
        let mut all = Vec::new();
        for (at, field) in self.fields.iter().enumerate() {
            let Some(field) = field else { continue };
            field.dimension.validate(&self.leaves, &mut all)?;
            field.patterns.validate()?;
            if field.absent.is_empty() == self.absent.iter().any(|attribute| attribute.index() == at) {
                return Err(format!("truths: attribute {at} is wrongly known to be missed"));
            }
        }
        let mut expected = vec![Vec::new(); self.leaves.bound()];
        // Present, checked, absent, patterns, negated.
        let mut counts = vec![[0; 5]; self.fields.len()];
        for (id, _) in nodes.iter().filter(|(_, node)| node.part == super::nodes::Part::Predicate) {
            let predicate = predicates.get(nodes.predicate(id));
            let Some(Some(field)) = self.fields.get(predicate.attribute.index()) else {
                return Err(format!("truths: nothing is known of the attribute of node {}", id.0));
            };
            let counts = &mut counts[predicate.attribute.index()];
            let in_list = |list: &[NodeId]| list.contains(&id);
            let absent = predicate.accepts_missing();
            counts[2] += usize::from(absent);
            let mut right = absent == in_list(&field.absent) && self.keep_all == in_list(&field.all);
            match Home::of(predicate) {
                Home::Present => {
                    counts[0] += 1;
                    right &= in_list(&field.present);
                }
                Home::Checked => {
                    counts[1] += 1;
                    right &= in_list(&field.checked);
                }
                Home::Pattern(_, negated) => {
                    counts[3] += 1;
                    counts[4] += usize::from(negated);
                    right &= negated == in_list(&field.negated);
                }
                Home::Region(region) if nodes.making(id).size > 0 => {
                    let mut covered = 0;
                    field.dimension.cover(&region, &self.leaves, |leaf| {
                        expected[leaf.index()].push(id);
                        covered += 1;
                    });
                    right &= covered == nodes.making(id).size;
                }
                Home::Region(region) => {
                    counts[1] += usize::from(region.parts() > 0);
                    right &= in_list(&field.checked) == (region.parts() > 0);
                }
            }
            if !right {
                return Err(format!("truths: the predicate of node {} is not where it belongs", id.0));
            }
        }
        for (field, counts) in self.fields.iter().zip(counts) {
            let Some(field) = field else { continue };
            let kept = [
                field.present.len(),
                field.checked.len(),
                field.absent.len(),
                field.patterns.len(),
                field.negated.len(),
            ];
            if kept != counts {
                return Err(format!("truths: an attribute keeps {kept:?} predicates, should {counts:?}"));
            }
        }
        for leaf in all {
            let list = self.lists.get(leaf.index()).copied().unwrap_or_default();
            let mut found = self.items.get(list).to_vec();
            found.sort_unstable();
            if found != expected[leaf.index()] || found.len() != self.leaves.predicates(leaf) as usize {
                return Err(format!("truths: leaf {} lists the wrong predicates", leaf.0));
            }
        }
        Ok(())
    }

    /// Leaves and bounds of the PS-Trees.
    pub fn size(&self) -> (usize, usize) {
        let bounds = self.fields.iter().flatten().map(|field| field.dimension.size().1).sum();
        (self.leaves.count(), bounds)
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        let field = |field: &Field| {
            let lists = [&field.present, &field.checked, &field.absent, &field.negated, &field.all];
            field.dimension.memory()
                + field.patterns.memory()
                + lists.iter().map(|list| list.capacity() * size_of::<NodeId>()).sum::<usize>()
        };
        self.fields.capacity() * size_of::<Option<Field>>()
            + self.fields.iter().flatten().map(field).sum::<usize>()
            + self.leaves.memory()
            + self.lists.capacity() * size_of::<ListRef>()
            + self.items.memory()
    }
}

/// One pass over a string finds all patterns that match it.
fn find_patterns(
    field: &Field,
    text: &str,
    predicates: &Predicates,
    nodes: &Nodes,
    scratch: &mut TruthScratch,
    each: &mut impl FnMut(NodeId),
) {
    let TruthScratch { patterns, matched } = scratch;
    matched.clear();
    field.patterns.find(text, patterns, &mut |number| {
        let id = NodeId(number);
        match predicates.get(nodes.predicate(id)).test {
            Test::Pattern { negated: true, .. } => matched.push(id),
            _ => each(id),
        }
    });
    matched.sort_unstable();
    for id in field.negated.iter().filter(|id| matched.binary_search(id).is_err()) {
        each(*id);
    }
}
