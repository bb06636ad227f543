//! Weight summaries: how much can an event's matches below a partition score at most? (Paper, section III-C and VI.)
//!
//! A partition has, per attribute, the maximum weight that a subscription below it gives to the attribute: the paper's
//! summary. The sum over the event's attributes is an upper bound of every score below. Clusters and leaves have one number:
//! the maximum total weight of a subscription; times the greatest weight of the event it is an upper bound, too. The lesser
//! of both counts.
//!
//! A subscription may weigh several predicates on one attribute, which count together, and predicates that a missing value
//! satisfies, which count for events without the attribute; other weights do not. Every conjunction of a subscription has
//! the weights of all its predicates, since a match through one conjunction scores all satisfied predicates.
//!
//! Weights are rounded up to `f32`, sums are enlarged by more than their rounding error: bounds are never too low.

use super::BeTree;
use super::interval::Interval;
use super::nodes::{ClusterId, Parent, PartitionId};
use crate::engine::SubId;
use crate::engine::scoring::{AttributeWeights, WeightedPredicates};
use crate::engine::shared::conjunctions::ConjId;
use crate::engine::shared::list_pool::{ListPool, ListRef, shrink};
use crate::engine::shared::records::Records;
use crate::schema::AttrId;

/// The maximum weight of an attribute in a set of subscriptions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct AttributeBound {
    pub attribute: u32,
    /// If the event has the attribute.
    pub present: f32,
    /// If it has not.
    pub missing: f32,
}

/// What a subscription's matches are scored with.
#[derive(Debug)]
pub(super) struct Scored {
    /// Position in the order of insertion.
    pub sequence: u64,
    pub predicates: WeightedPredicates,
}

/// The weights of all subscriptions.
#[derive(Debug, Default)]
pub(super) struct Weights {
    /// By subscription; `None` until its weights are set.
    pub scored: Vec<Option<Scored>>,
}

/// More than the relative rounding error of a sum of 2^20 terms.
pub(super) const ROUNDING: f64 = 1.0 + 1e-9;

/// The least `f32` that is not less; infinity beyond the range.
fn round_up(weight: f64) -> f32 {
    let near = weight as f32;
    if f64::from(near) < weight { near.next_up() } else { near }
}

impl Weights {
    pub fn get(&self, sub: SubId) -> Option<&Scored> {
        self.scored.get(sub.index())?.as_ref()
    }

    /// The weights of a subscription by attribute, in ascending order.
    pub fn by_attribute(&self, sub: SubId) -> Vec<AttributeBound> {
        let Some(scored) = self.get(sub) else { return Vec::new() };
        let mut sums: Vec<(u32, f64, f64)> = Vec::new();
        for predicate in scored.predicates.iter() {
            let missing = if predicate.is_satisfied_if_missing() { predicate.weight } else { 0.0 };
            sums.push((predicate.attribute.0, predicate.weight, missing));
        }
        sums.sort_unstable_by_key(|(attribute, ..)| *attribute);
        sums.dedup_by(|later, first| {
            let same = later.0 == first.0;
            if same {
                (first.1, first.2) = (first.1 + later.1, first.2 + later.2);
            }
            same
        });
        let bound = |&(attribute, present, missing): &(u32, f64, f64)| AttributeBound {
            attribute,
            present: round_up(present * ROUNDING),
            missing: round_up(missing * ROUNDING),
        };
        sums.iter().filter(|(_, present, _)| *present > 0.0).map(bound).collect()
    }

    /// The sum of all weights of a subscription.
    pub fn total(&self, sub: SubId) -> f32 {
        let Some(scored) = self.get(sub) else { return 0.0 };
        round_up(scored.predicates.iter().map(|predicate| predicate.weight).sum::<f64>() * ROUNDING)
    }

    pub fn defragment(&mut self) {
        shrink(&mut self.scored);
    }

    pub fn memory(&self) -> usize {
        // The struct itself is in the vector.
        let heap = |scored: &Scored| scored.predicates.memory() - size_of::<WeightedPredicates>();
        self.scored.capacity() * size_of::<Option<Scored>>()
            + self.scored.iter().flatten().map(heap).sum::<usize>()
    }
}

/// Raises a summary to that of one more subscription; whether it changed.
fn raise(
    summaries: &mut ListPool<AttributeBound, 1>,
    summary: &mut ListRef,
    weights: &[AttributeBound],
) -> bool {
    let mut changed = false;
    for weight in weights {
        let list = summaries.get_mut(*summary);
        match list.binary_search_by_key(&weight.attribute, |bound| bound.attribute) {
            Ok(at) => {
                let bound = &mut list[at];
                changed |= weight.present > bound.present || weight.missing > bound.missing;
                bound.present = bound.present.max(weight.present);
                bound.missing = bound.missing.max(weight.missing);
            }
            Err(at) => {
                changed = true;
                summaries.extend(summary, &[*weight]);
                summaries.get_mut(*summary)[at..].rotate_right(1);
            }
        }
    }
    changed
}

impl BeTree {
    /// Raises the summaries of the partitions from a cluster upwards, below the cluster `until`, by a conjunction's weights.
    pub(super) fn raise_summaries(&mut self, home: ClusterId, until: ClusterId, id: ConjId) {
        let weights = self.weights.by_attribute(self.conjunctions.owner(id));
        let counts_missing = weights.iter().any(|weight| weight.missing > 0.0);
        let mut at = home;
        while at != until {
            let partition = self.nodes.info(at).partition;
            if weights.is_empty() || partition == PartitionId::NONE {
                return;
            }
            let mut summary = self.nodes.partition(partition).weights;
            let changed = raise(&mut self.nodes.summaries, &mut summary, &weights);
            let partition = self.nodes.partition_mut(partition);
            (partition.weights, at) = (summary, partition.parent);
            partition.counts_missing |= counts_missing;
            if !changed {
                // Summaries above are at least this one.
                return;
            }
        }
    }

    /// Computes the summary of a partition from its leaves and from the partitions below.
    pub(super) fn rebuild_summary(&mut self, id: PartitionId) {
        let root = self.nodes.partition(id).root;
        let old = self.nodes.partition(id).weights;
        self.nodes.summaries.release(old);
        let (mut summary, mut stack) = (ListRef::EMPTY, vec![root]);
        while let Some(at) = stack.pop() {
            let owners = Records(self.nodes.records.get(self.nodes.cluster(at).leaf));
            for sub in owners.map(|record| self.conjunctions.owner(record.conjunction)) {
                raise(&mut self.nodes.summaries, &mut summary, &self.weights.by_attribute(sub));
            }
            let below: Vec<AttributeBound> = self
                .nodes
                .directory(at)
                .iter()
                .flat_map(|entry| {
                    let partition = self.nodes.info(ClusterId(entry.root)).partition;
                    self.nodes.summaries.get(self.nodes.partition(partition).weights).iter().copied()
                })
                .collect();
            raise(&mut self.nodes.summaries, &mut summary, &below);
            stack.extend(self.nodes.cluster(at).sides.into_iter().filter(|side| *side != ClusterId::NONE));
        }
        let counts_missing = self.nodes.summaries.get(summary).iter().any(|bound| bound.missing > 0.0);
        let partition = self.nodes.partition_mut(id);
        (partition.weights, partition.counts_missing, partition.removed) = (summary, counts_missing, 0);
    }

    /// Raises the totals from a leaf upwards.
    pub(super) fn raise_bounds(&mut self, home: ClusterId, total: f32) {
        let cluster = self.nodes.cluster_mut(home);
        cluster.leaf_bound = cluster.leaf_bound.max(total);
        let mut at = home;
        loop {
            let cluster = self.nodes.cluster_mut(at);
            if cluster.bound >= total {
                return;
            }
            cluster.bound = total;
            match self.nodes.info(at).parent {
                Parent::None => return,
                Parent::Side(above) => at = above,
                Parent::Partition(partition) => at = self.nodes.partition(partition).parent,
            }
        }
    }

    /// The maximum total of a leaf's conjunctions, at most `limit`, which ends the search.
    pub(super) fn leaf_total(&self, id: ClusterId, limit: f32) -> f32 {
        let mut greatest = 0f32;
        for record in Records(self.nodes.records.get(self.nodes.cluster(id).leaf)) {
            greatest = greatest.max(self.conjunctions.state(record.conjunction).total);
            if greatest >= limit {
                break;
            }
        }
        greatest
    }

    /// The maximum total of a cluster: of its leaf, its partitions and its sides.
    pub(super) fn cluster_total(&self, id: ClusterId) -> f32 {
        let cluster = self.nodes.cluster(id);
        let partitions = self.nodes.directory(id).iter().map(|entry| ClusterId(entry.root));
        let below = partitions.chain(cluster.sides.into_iter().filter(|side| *side != ClusterId::NONE));
        below.map(|below| self.nodes.cluster(below).bound).fold(cluster.leaf_bound, f32::max)
    }

    /// An upper bound of what matches below a partition score by the weights of single attributes.
    pub(super) fn summary_bound(
        &self,
        id: PartitionId,
        present: &[(AttrId, f64)],
        coordinates: &[f64],
        weights: &AttributeWeights,
    ) -> f64 {
        let partition = self.nodes.partition(id);
        let summary = self.nodes.summaries.get(partition.weights);
        let mut sum = 0.0;
        if partition.counts_missing || summary.len() <= 4 * present.len() {
            for bound in summary {
                let at = coordinates.get(bound.attribute as usize).copied().unwrap_or(f64::NAN);
                let weight = if Interval::ALL.contains(at) { bound.present } else { bound.missing };
                if weight > 0.0 {
                    sum += f64::from(weight) * weights.get(AttrId(bound.attribute));
                }
            }
        } else {
            for (attribute, _) in present {
                let found = summary.binary_search_by_key(&attribute.0, |bound| bound.attribute);
                sum += found.map_or(0.0, |at| f64::from(summary[at].present) * weights.get(*attribute));
            }
        }
        // Infinity times 0.
        if sum.is_nan() { f64::INFINITY } else { sum * ROUNDING }
    }
}
