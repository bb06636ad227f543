//! Where a conjunction is stored: InsertSub and MoveSubs (Algorithms 1 and 2), and the choice of split attributes.
//!
//! A conjunction is led by the attributes it needs: from the root along the directory, as far as directories have one of
//! them. A bucket that overflows is split: its most popular attribute gets a value node, and the conjunctions with the
//! attribute move there. If no attribute off the path is popular enough, an attribute on the path is divided again, by cuts
//! of its own, provided that this separates the conjunctions; otherwise the bucket's capacity doubles.

use super::GemTree;
use super::nodes::{BucketChange, Nodes, ROOT};
use super::triangle::{self, Cell};
use crate::engine::shared::conjunctions::ConjId;
use crate::engine::shared::list_pool::ListRef;
use crate::engine::shared::ordinals::{Ordinals, Span, choose_cuts, ends_of, shared_prefix};
use crate::engine::shared::predicates::PredId;
use crate::engine::shared::records;
use crate::schema::AttrId;

/// A predicate that can lead to a conjunction: an event without its attribute does not satisfy it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Locator {
    pub attribute: AttrId,
    pub predicate: PredId,
    pub span: Span,
}

/// A new value node.
pub(super) struct SplitPlan<'p> {
    pub attribute: AttrId,
    prefix: &'p str,
    cuts: Vec<u128>,
    /// By conjunction of the population: its cell.
    cells: Vec<Cell>,
}

impl SplitPlan<'_> {
    /// Whether no cell gets more than three quarters of the population.
    fn separates(&self) -> bool {
        let mut counts = vec![0; triangle::cell_count(self.cuts.len() + 1)];
        self.cells.iter().for_each(|cell| counts[cell.index()] += 1);
        counts.into_iter().max().unwrap_or(0) <= self.cells.len() * 3 / 4
    }
}

/// The locator of an attribute.
pub(super) fn find(locators: &[Locator], attribute: AttrId) -> Option<&Locator> {
    let at = locators.binary_search_by_key(&attribute, |locator| locator.attribute).ok()?;
    Some(&locators[at])
}

/// Maximum value nodes on a path: beyond, a bucket grows instead. So conjunctions of thousands of predicates, all alike, do
/// not make paths of thousands of nodes.
const MAX_DEPTH: usize = 32;

impl GemTree {
    /// One locator per attribute, by ascending attribute. Of several predicates on an attribute, a range is preferred.
    pub(super) fn locators(&self, id: ConjId) -> Vec<Locator> {
        let locator = |predicate: PredId| {
            let test = self.predicates.get(predicate);
            let span = Ordinals::default().span(test)?;
            Some(Locator { attribute: test.attribute, predicate, span })
        };
        let mut locators: Vec<Locator> = self.conjunctions.predicates(id).filter_map(locator).collect();
        locators.sort_by_key(|locator| (locator.attribute, !locator.span.interval));
        locators.dedup_by_key(|locator| locator.attribute);
        locators
    }

    /// Inserts a conjunction below a node (Algorithm 1), and splits the bucket it comes to if that overflows.
    pub(super) fn insert_below(&mut self, node: u32, id: ConjId) {
        let locators = self.locators(id);
        let mut at = node;
        while let Some((value_node, locator)) = self.best_value_node(at, &locators) {
            let node = self.nodes.value_node(value_node);
            let cell = triangle::locate(self.nodes.cuts_of(node), self.span_in(node, locator));
            at = self.nodes.cell_node(value_node, cell, self.capacity);
        }
        self.store(at, &[id]);
        self.split_overflowing(vec![at]);
    }

    /// The best value node of a directory for a conjunction: by the global order, or by rank.
    fn best_value_node<'l>(&self, node: u32, locators: &'l [Locator]) -> Option<(u32, &'l Locator)> {
        let node = self.nodes.node(node);
        if node.directory.is_empty() {
            return None;
        }
        let found = locators
            .iter()
            .filter_map(|locator| Some((self.nodes.find_value_node(node, locator.attribute)?, locator)));
        match self.statistics.is_ordered() {
            true => found.min_by_key(|(_, locator)| self.statistics.priority(locator.attribute)),
            false => {
                let rank = |value_node: u32| self.nodes.value_node(value_node).load.rank();
                found.min_by(|(a, _), (b, _)| rank(*a).total_cmp(&rank(*b)))
            }
        }
    }

    /// The span of a locator in the ordinals of a value node.
    pub(super) fn span_in(&self, node: &super::nodes::ValueNode, locator: &Locator) -> Span {
        if node.prefix.is_empty() {
            return locator.span;
        }
        let span = Nodes::ordinals(node).span(self.predicates.get(locator.predicate));
        span.unwrap_or(locator.span)
    }

    /// Stores conjunctions in the bucket of a node.
    pub(super) fn store(&mut self, node: u32, ids: &[ConjId]) {
        let depth = self.nodes.path(node).count();
        let mut bucket = self.nodes.node(node).bucket;
        let mut residual = 0;
        for &id in ids {
            let record = self.record(node, id);
            self.nodes.records.extend(&mut bucket, &record);
            residual += self.residual(id, depth) as i64;
            self.conjunctions.state_mut(id).node = node;
        }
        let stored = self.nodes.node_mut(node);
        stored.bucket = bucket;
        stored.stored += ids.len() as u32;
        self.nodes.update_ranking(node, BucketChange { conjunctions: ids.len() as i64, residual });
    }

    /// Stores conjunctions that nothing splits: the capacity of the bucket doubles if it has to.
    fn store_all(&mut self, node: u32, ids: &[ConjId]) {
        if ids.len() > self.capacity {
            self.nodes.node_mut(node).capacity = 2 * ids.len() as u32;
        }
        self.store(node, ids);
    }

    /// Number of predicates of a conjunction that a path of this length leaves to test.
    pub(super) fn residual(&self, id: ConjId, depth: usize) -> usize {
        self.conjunctions.predicates(id).len().saturating_sub(depth)
    }

    /// The record of a conjunction in the bucket of a node. A predicate that fills the columns of its cell exactly needs no
    /// test; a range on the path is flagged: it is tested only if the event came through an intersected cell.
    pub(super) fn record(&self, node: u32, id: ConjId) -> Vec<u32> {
        let locators = self.locators(id);
        let (mut implied, mut flagged) = (Vec::new(), Vec::new());
        for value_node in self.nodes.path(node) {
            let Some(locator) = locators.iter().find(|l| l.attribute == value_node.attribute) else {
                continue;
            };
            let span = self.span_in(value_node, locator);
            if span.interval {
                flagged.push(locator.predicate);
                if triangle::is_aligned(self.nodes.cuts_of(value_node), span) {
                    implied.push(locator.predicate);
                }
            }
        }
        let mut record = records::begin(id, self.conjunctions.is_one_of_several(id));
        // Predicates off the path first: those on it hold more often.
        for on_path in [false, true] {
            for predicate in self.conjunctions.predicates(id) {
                if flagged.contains(&predicate) == on_path && !implied.contains(&predicate) {
                    records::add_term(&mut record, predicate, self.predicates.get(predicate), on_path);
                }
            }
        }
        records::finish(&mut record);
        record
    }

    /// Takes all conjunctions out of a bucket.
    pub(super) fn take_bucket(&mut self, node: u32) -> Vec<ConjId> {
        let bucket = std::mem::replace(&mut self.nodes.node_mut(node).bucket, ListRef::EMPTY);
        let ids = records::conjunctions(self.nodes.records.get(bucket));
        self.nodes.records.release(bucket);
        self.nodes.node_mut(node).stored = 0;
        let depth = self.nodes.path(node).count();
        let residual: usize = ids.iter().map(|id| self.residual(*id, depth)).sum();
        let change = BucketChange { conjunctions: -(ids.len() as i64), residual: -(residual as i64) };
        self.nodes.update_ranking(node, change);
        ids
    }

    /// Splits the buckets that overflow, also those that a split makes.
    fn split_overflowing(&mut self, mut work: Vec<u32>) {
        while let Some(at) = work.pop() {
            let node = self.nodes.node(at);
            if node.stored <= node.capacity {
                continue;
            }
            let population = self.take_bucket(at);
            let on_path: Vec<AttrId> = self.nodes.path(at).map(|node| node.attribute).collect();
            let split = match on_path.len() < MAX_DEPTH {
                true => self.split_attribute(&population, &on_path),
                false => None,
            };
            let Some(attribute) = split else {
                self.store_all(at, &population);
                continue;
            };
            let has = |id: &ConjId| find(&self.locators(*id), attribute).is_some();
            let (moved, kept): (Vec<ConjId>, Vec<ConjId>) = population.into_iter().partition(has);
            self.store(at, &kept);
            work.push(at);
            for (cell, members) in self.move_subs(at, attribute, moved, on_path.contains(&attribute)) {
                self.store(cell, &members);
                work.push(cell);
            }
        }
    }

    fn split_attribute(&self, population: &[ConjId], on_path: &[AttrId]) -> Option<AttrId> {
        let popular = self.most_popular_attribute(population, on_path);
        popular.or_else(|| self.attribute_to_divide_again(population, on_path))
    }

    /// The attribute off the path that most of the conjunctions have, if they are enough for a value node.
    fn most_popular_attribute(&self, population: &[ConjId], on_path: &[AttrId]) -> Option<AttrId> {
        let locators = population.iter().flat_map(|id| self.locators(*id));
        let attributes = locators.map(|locator| locator.attribute);
        let mut attributes: Vec<AttrId> = attributes.filter(|a| !on_path.contains(a)).collect();
        attributes.sort_unstable();
        let popular = attributes.chunk_by(AttrId::eq).max_by_key(|chunk| chunk.len())?;
        (popular.len() >= self.split_threshold).then_some(popular[0])
    }

    /// The attribute on the path whose values separate the conjunctions best, if any does.
    pub(super) fn attribute_to_divide_again(
        &self,
        population: &[ConjId],
        on_path: &[AttrId],
    ) -> Option<AttrId> {
        let mut attributes = on_path.to_vec();
        attributes.sort_unstable();
        attributes.dedup();
        let plans = attributes.into_iter().map(|attribute| self.plan(attribute, population));
        let separating = plans.filter(SplitPlan::separates);
        let reach = |plan: &SplitPlan<'_>| {
            let width: u64 = plan.cells.iter().map(|cell| cell.width()).sum();
            width as f64 / (plan.cuts.len() + 1) as f64
        };
        separating.min_by(|a, b| reach(a).total_cmp(&reach(b))).map(|plan| plan.attribute)
    }

    /// The triangle for conjunctions that all have the attribute. Texts that begin alike are told apart by what follows.
    fn plan(&self, attribute: AttrId, population: &[ConjId]) -> SplitPlan<'_> {
        let locators: Vec<Locator> = population
            .iter()
            .flat_map(|id| self.locators(*id))
            .filter(|locator| locator.attribute == attribute)
            .collect();
        let with_prefix = |prefix| {
            let span = |locator: &Locator| {
                Ordinals { prefix }.span(self.predicates.get(locator.predicate)).unwrap_or(locator.span)
            };
            let spans: Vec<Span> = locators.iter().map(span).collect();
            let mut ends: Vec<u128> = spans.iter().flat_map(|span| ends_of(*span)).collect();
            let cuts = choose_cuts(&mut ends, self.lambda);
            let cells = spans.iter().map(|span| triangle::locate(&cuts, *span)).collect();
            SplitPlan { attribute, prefix, cuts, cells }
        };
        let plan = with_prefix("");
        if plan.separates() {
            return plan;
        }
        let prefix = shared_prefix(locators.iter().map(|locator| self.predicates.get(locator.predicate)));
        if prefix.is_empty() { plan } else { with_prefix(prefix) }
    }

    /// Makes a value node for conjunctions that all have its attribute (Algorithm 2); returns those of each cell, which are
    /// to be stored there.
    pub(super) fn move_subs(
        &mut self,
        node: u32,
        attribute: AttrId,
        population: Vec<ConjId>,
        nested: bool,
    ) -> Vec<(u32, Vec<ConjId>)> {
        let SplitPlan { prefix, cuts, cells, .. } = self.plan(attribute, &population);
        let prefix = prefix.to_owned();
        let value_node = self.nodes.make_value_node(node, attribute, &prefix, &cuts, nested);
        let mut by_cell: Vec<(Cell, ConjId)> = cells.into_iter().zip(population).collect();
        by_cell.sort_by_key(|(cell, _)| (cell.column, cell.row));
        by_cell
            .chunk_by(|(a, _), (b, _)| a == b)
            .map(|members| {
                let at = self.nodes.cell_node(value_node, members[0].0, self.capacity);
                (at, members.iter().map(|(_, id)| *id).collect())
            })
            .collect()
    }

    /// Builds the tree of all conjunctions by the global order, from the root down: with the whole population of a node at
    /// hand its triangles divide it evenly, whatever the order of insertion was.
    pub(super) fn rebuild(&mut self) {
        let all: Vec<ConjId> = self.conjunctions.all().collect();
        self.nodes = Nodes::new(self.capacity);
        let mut work = vec![(ROOT, all)];
        while let Some((at, population)) = work.pop() {
            let on_path: Vec<AttrId> = self.nodes.path(at).map(|node| node.attribute).collect();
            if population.len() <= self.capacity || on_path.len() >= MAX_DEPTH {
                self.store_all(at, &population);
                continue;
            }
            let (groups, kept) = self.group_by_priority(population, &on_path);
            for (attribute, members) in groups {
                work.extend(self.move_subs(at, attribute, members, false));
            }
            let again = match kept.len() <= self.capacity {
                true => None,
                false => self.attribute_to_divide_again(&kept, &on_path),
            };
            match again {
                Some(attribute) => work.extend(self.move_subs(at, attribute, kept, true)),
                None => self.store_all(at, &kept),
            }
        }
    }

    /// Divides conjunctions by the attribute that comes first in the global order, among those that enough of them have;
    /// returns the groups, and the conjunctions without such an attribute.
    fn group_by_priority(
        &self,
        population: Vec<ConjId>,
        on_path: &[AttrId],
    ) -> (Vec<(AttrId, Vec<ConjId>)>, Vec<ConjId>) {
        // By conjunction: its attributes off the path, in the global order.
        let ordered = |tree: &GemTree, id: ConjId| {
            let mut attributes: Vec<AttrId> = tree.locators(id).iter().map(|l| l.attribute).collect();
            attributes.retain(|attribute| !on_path.contains(attribute));
            attributes.sort_unstable_by_key(|attribute| tree.statistics.priority(*attribute));
            attributes
        };
        let candidates: Vec<Vec<AttrId>> = population.iter().map(|id| ordered(self, *id)).collect();
        let mut first: Vec<AttrId> = candidates.iter().filter_map(|all| all.first().copied()).collect();
        first.sort_unstable();
        let frequent = first.chunk_by(AttrId::eq).filter(|chunk| chunk.len() >= self.split_threshold);
        let frequent: Vec<AttrId> = frequent.map(|chunk| chunk[0]).collect();
        let enough = |attribute: &&AttrId| frequent.binary_search(attribute).is_ok();
        let mut kept = Vec::new();
        let mut led: Vec<(AttrId, ConjId)> = Vec::with_capacity(population.len());
        for (id, attributes) in population.into_iter().zip(&candidates) {
            match attributes.iter().find(enough) {
                Some(attribute) => led.push((*attribute, id)),
                None => kept.push(id),
            }
        }
        led.sort_by_key(|(attribute, _)| *attribute);
        let groups = led.chunk_by(|(a, _), (b, _)| a == b);
        let groups = groups.map(|group| (group[0].0, group.iter().map(|(_, id)| *id).collect()));
        (groups.collect(), kept)
    }
}
