//! Which conjunctions does an event satisfy?
//!
//! The event's values become coordinates. From the root, matching visits every partition on an attribute of the event whose
//! range contains the coordinate, and in its directory the buckets that contain it: at most one side of each cluster. The
//! leaves of visited buckets are collected first and scanned then, so that their cache misses overlap.

use super::BeTree;
use super::interval::coordinate_of;
use super::nodes::{Cluster, ClusterId, NO_ATTRIBUTE, PartitionId};
use super::top_k::TopKBuffers;
use crate::engine::SubId;
use crate::engine::shared::conjunctions::ConjId;
use crate::engine::shared::dedup::SubscriptionDedup;
use crate::engine::shared::list_pool::ListRef;
use crate::engine::shared::records::{self, AttributeFilter, HalfSteps, Known, Records};
use crate::event::Event;
use crate::schema::AttrId;

/// The buffers of one matching thread.
#[derive(Default)]
pub(super) struct TreeScratch {
    pub values: EventValues,
    /// Clusters to visit.
    pub stack: Vec<ClusterId>,
    /// Leaves to scan, with the first word of each, read ahead.
    leaves: Vec<(ListRef, u32)>,
    pub dedup: SubscriptionDedup,
    pub top_k: TopKBuffers,
}

/// An event as the tree reads it. Reused from event to event; resets only the attributes of the last event.
#[derive(Default)]
pub(super) struct EventValues {
    /// By attribute; NaN if the event has none.
    pub coordinates: Vec<f64>,
    /// The event's attributes and coordinates.
    pub present: Vec<(AttrId, f64)>,
    /// The event's attributes.
    pub filter: AttributeFilter,
    steps: HalfSteps,
}

impl EventValues {
    pub fn load(&mut self, event: &Event<'_>) {
        for (attribute, _) in self.present.drain(..) {
            self.coordinates[attribute.index()] = f64::NAN;
        }
        if self.coordinates.len() < event.attributes() {
            self.coordinates.resize(event.attributes(), f64::NAN);
        }
        self.steps.begin(event.attributes());
        self.filter = AttributeFilter::default();
        for cell in event.cells() {
            let value = event.resolve(cell.slot);
            let Some(at) = coordinate_of(value) else { continue };
            self.coordinates[cell.attribute.index()] = at;
            self.present.push((cell.attribute, at));
            self.filter.add(cell.attribute);
            self.steps.set(cell.attribute, value);
        }
    }

    /// The coordinate on a cluster's active dimension; of the root, which has none, some coordinate.
    #[inline]
    pub fn coordinate(&self, attribute: AttrId) -> f64 {
        let outside = if attribute == NO_ATTRIBUTE { 0.0 } else { f64::NAN };
        self.coordinates.get(attribute.index()).copied().unwrap_or(outside)
    }
}

impl BeTree {
    pub(super) fn find_matches(
        &self,
        event: &Event<'_>,
        scratch: &mut TreeScratch,
        matches: &mut Vec<SubId>,
    ) {
        let TreeScratch { values, stack, leaves, dedup, .. } = scratch;
        values.load(event);
        dedup.begin_event();
        leaves.clear();
        stack.push(ClusterId::ROOT);
        while let Some(mut id) = stack.pop() {
            loop {
                let cluster = self.nodes.cluster(id);
                let at = values.coordinate(cluster.attribute);
                if cluster.own.contains(at) {
                    if !cluster.leaf.is_empty() {
                        leaves.push((cluster.leaf, 0));
                    }
                    self.visit_partitions(id, cluster, values, |root, _| stack.push(root));
                }
                match next_side(cluster, at) {
                    Some(side) => id = side,
                    None => break,
                }
            }
        }
        for (leaf, first) in leaves.iter_mut() {
            *first = self.nodes.records.get(*leaf)[0];
        }
        for (leaf, _) in leaves.iter() {
            self.scan_leaf(*leaf, event, values, |id, several| {
                let sub = self.conjunctions.owner(id);
                if !several || dedup.insert(sub) {
                    matches.push(sub);
                }
            });
        }
    }

    /// Calls `visit` with the root of every partition of a cluster that the event reaches. A short directory is read; in a
    /// long one the event's attributes are looked up.
    #[inline]
    pub(super) fn visit_partitions(
        &self,
        id: ClusterId,
        cluster: &Cluster,
        values: &EventValues,
        mut visit: impl FnMut(ClusterId, PartitionId),
    ) {
        let entries = self.nodes.entries.get(cluster.directory);
        if entries.len() <= 4 * values.present.len() {
            for entry in entries {
                if entry.range.contains(values.coordinate(AttrId(entry.attribute))) {
                    visit(ClusterId(entry.root), PartitionId::NONE);
                }
            }
            return;
        }
        for &(attribute, at) in &values.present {
            if let Some(partition) = self.nodes.find_partition(id, attribute) {
                let position = self.nodes.partition(partition).position;
                let entry = entries[position as usize];
                if entry.range.contains(at) {
                    visit(ClusterId(entry.root), partition);
                }
            }
        }
    }

    /// Calls `matched` with every conjunction of a leaf that the event satisfies, and whether its subscription has others.
    #[inline]
    pub(super) fn scan_leaf(
        &self,
        leaf: ListRef,
        event: &Event<'_>,
        values: &EventValues,
        mut matched: impl FnMut(ConjId, bool),
    ) {
        for record in Records(self.nodes.records.get(leaf)) {
            if record.needs.may_be_within(values.filter)
                && records::holds(record.terms, &values.steps, event, &self.predicates, |_| Known::Nothing)
            {
                matched(record.conjunction, record.several);
            }
        }
    }

    /// The position of the first predicate of a conjunction that the event does not satisfy.
    fn first_failure(&self, id: ConjId, event: &Event<'_>) -> Option<usize> {
        self.conjunctions.predicates(id).position(|predicate| !self.predicates.get(predicate).holds(event))
    }

    /// Counts the discarded predicate evaluations of an event in every partition that it reaches (the matching feedback).
    pub(super) fn observe_losses(&mut self, event: &Event<'_>) {
        let mut values = EventValues::default();
        values.load(event);
        // Partition, and the discarded evaluations of leaves below it.
        let mut discarded: Vec<(PartitionId, u32)> = Vec::new();
        // A cluster, with the position of its partition in `discarded`.
        let mut stack = vec![(ClusterId::ROOT, usize::MAX)];
        // By position in `discarded`: that of the partition above.
        let mut above: Vec<usize> = Vec::new();
        while let Some((id, mut position)) = stack.pop() {
            let cluster = self.nodes.cluster(id);
            let at = values.coordinate(cluster.attribute);
            if cluster.own.contains(at) {
                let mut evaluations = 0;
                for record in Records(self.nodes.records.get(cluster.leaf)) {
                    let id = record.conjunction;
                    if !record.needs.may_be_within(values.filter) {
                        evaluations += 1;
                    } else if let Some(at) = self.first_failure(id, event) {
                        evaluations += 1 + at as u32;
                    }
                }
                let parent = position;
                while position != usize::MAX {
                    discarded[position].1 += evaluations;
                    position = above[position];
                }
                position = parent;
                self.visit_partitions(id, cluster, &values, |root, _| {
                    stack.push((root, discarded.len()));
                    discarded.push((self.nodes.info(root).partition, 0));
                    above.push(parent);
                });
            }
            if let Some(side) = next_side(cluster, at) {
                stack.push((side, position));
            }
        }
        for (partition, discarded) in discarded {
            self.add_loss(partition, discarded);
        }
    }
}

/// The side of a cluster that contains a coordinate.
#[inline]
pub(super) fn next_side(cluster: &Cluster, at: f64) -> Option<ClusterId> {
    let [left, right] = cluster.side_ranges;
    if left.contains(at) {
        Some(cluster.sides[0])
    } else if right.contains(at) {
        Some(cluster.sides[1])
    } else {
        None
    }
}
