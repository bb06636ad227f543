//! Which are the best k matches? (Paper, section VI, Algorithms 6 and 7.)
//!
//! Partitions that the event reaches are in a max-heap by the upper bound of their scores; the best k matches so far give
//! the floor. The partition with the greatest bound is visited next; if its bound is below the floor, matching ends (p-node
//! pruning). Within a partition, clusters and leaves whose bound is below the floor are skipped (l-node pruning). A bound
//! that equals the floor is not pruned: an earlier subscription wins a tie.

use super::BeTree;
use super::matching::{EventValues, TreeScratch, next_side};
use super::nodes::{ClusterId, PartitionId};
use super::weights::ROUNDING;
use crate::engine::SubId;
use crate::engine::scoring::{BestK, TopKQuery};
use crate::engine::shared::conjunctions::ConjId;
use crate::engine::shared::dedup::SubscriptionDedup;
use crate::engine::shared::list_pool::ListRef;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Minimum conjunctions of a partition for its weight summary to be added up once there is a floor: a smaller one is visited
/// in less time.
const PRUNED_BY_SUMMARY: u32 = 2_048;
/// As [`PRUNED_BY_SUMMARY`], as long as there is no floor and the bound only decides the order.
const ORDERED_BY_SUMMARY: u32 = 2_048;

/// Leaves that are scanned together, so that their cache misses overlap. The floor rises only after that.
const TOGETHER: usize = 8;

/// The buffers of ranking.
#[derive(Default)]
pub(super) struct TopKBuffers {
    /// The partitions to visit.
    heap: BinaryHeap<Reached>,
    /// Leaves to scan, with an upper bound of their scores.
    leaves: Vec<(ListRef, f64)>,
    best: BestK<SubId>,
}

/// A partition that the event reaches.
struct Reached {
    /// At least the score of every match below.
    bound: f64,
    /// The root of its clustering directory.
    root: ClusterId,
}

impl Ord for Reached {
    fn cmp(&self, other: &Reached) -> Ordering {
        self.bound.total_cmp(&other.bound)
    }
}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Reached) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Reached {
    fn eq(&self, other: &Reached) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Reached {}

/// Times a maximum total: an upper bound of scores.
#[derive(Clone, Copy)]
struct TotalBound(f64);

impl TotalBound {
    #[inline]
    fn of(self, total: f32) -> f64 {
        let bound = f64::from(total) * self.0;
        // Infinity times 0.
        if bound.is_nan() { f64::INFINITY } else { bound }
    }
}

impl BeTree {
    pub(super) fn find_best(
        &self,
        query: &TopKQuery<'_>,
        scratch: &mut TreeScratch,
        found: &mut Vec<(SubId, f64)>,
    ) {
        let TreeScratch { values, dedup, top_k: TopKBuffers { heap, leaves, best }, .. } = scratch;
        values.load(query.event);
        dedup.begin_event();
        best.begin(query.k);
        heap.clear();
        let totals = TotalBound(query.weights.greatest() * ROUNDING);
        heap.push(Reached { bound: f64::INFINITY, root: ClusterId::ROOT });
        while let Some(Reached { bound, root }) = heap.pop() {
            if bound < query.floor.max(best.floor()) {
                break;
            }
            let mut id = root;
            loop {
                let cluster = self.nodes.cluster(id);
                let floor = query.floor.max(best.floor());
                if totals.of(cluster.bound) < floor {
                    break;
                }
                let at = values.coordinate(cluster.attribute);
                if cluster.own.contains(at) {
                    let leaf_bound = totals.of(cluster.leaf_bound);
                    if !cluster.leaf.is_empty() && leaf_bound >= floor {
                        leaves.push((cluster.leaf, leaf_bound));
                    }
                    self.visit_partitions(id, cluster, values, |root, partition| {
                        let mut bound = totals.of(self.nodes.cluster(root).bound);
                        if bound < floor {
                            return;
                        }
                        let partition = match partition {
                            PartitionId::NONE => self.nodes.info(root).partition,
                            known => known,
                        };
                        let least = if floor > 0.0 { PRUNED_BY_SUMMARY } else { ORDERED_BY_SUMMARY };
                        if self.nodes.partition(partition).size >= least {
                            let (present, coordinates) = (&values.present, &values.coordinates);
                            let summary = self.summary_bound(partition, present, coordinates, query.weights);
                            bound = bound.min(summary);
                        }
                        if bound >= floor {
                            heap.push(Reached { bound, root });
                        }
                    });
                }
                match next_side(cluster, at) {
                    Some(side) => id = side,
                    None => break,
                }
            }
            if leaves.len() >= TOGETHER {
                self.score_leaves(query, totals, values, leaves, dedup, best);
            }
        }
        self.score_leaves(query, totals, values, leaves, dedup, best);
        best.drain(|sub, score| found.push((sub, score)));
    }

    /// Scans the leaves whose bound is not below the floor, and offers their matches.
    fn score_leaves(
        &self,
        query: &TopKQuery<'_>,
        totals: TotalBound,
        values: &EventValues,
        leaves: &mut Vec<(ListRef, f64)>,
        dedup: &mut SubscriptionDedup,
        best: &mut BestK<SubId>,
    ) {
        let read = leaves.iter().fold(0, |read, (leaf, _)| read ^ self.nodes.records.get(*leaf)[0]);
        std::hint::black_box(read);
        for (leaf, bound) in leaves.drain(..) {
            if bound < query.floor.max(best.floor()) {
                continue;
            }
            self.scan_leaf(leaf, query.event, values, |id, several| {
                let sub = self.conjunctions.owner(id);
                if !several || dedup.insert(sub) {
                    self.offer(query, totals, id, sub, best);
                }
            });
        }
    }

    /// Offers a match, unless its total weight is too low.
    #[inline]
    fn offer(
        &self,
        query: &TopKQuery<'_>,
        totals: TotalBound,
        id: ConjId,
        sub: SubId,
        best: &mut BestK<SubId>,
    ) {
        let state = self.conjunctions.state(id);
        let floor = query.floor.max(best.floor());
        if totals.of(state.total) < floor {
            return;
        }
        let sequence = || self.weights.get(sub).map_or(0, |scored| scored.sequence);
        if query.weights.is_empty() && !state.constant_score.is_nan() {
            if state.constant_score >= query.floor {
                best.offer(state.constant_score, sequence, sub);
            }
            return;
        }
        let score =
            self.weights.get(sub).map_or(0.0, |scored| scored.predicates.score(query.event, query.weights));
        if score >= query.floor {
            best.offer(score, sequence, sub);
        }
    }
}
