//! Which are the best k matches? (Paper, section VI, Algorithms 6 and 7.)
//!
//! Partitions that the event reaches are in a max-heap by the upper bound of their scores; the best k matches so far give
//! the floor. The partition with the greatest bound is visited next; if its bound is below the floor, matching ends (p-node
//! pruning). Within a partition, clusters and leaves whose bound is below the floor are skipped (l-node pruning). A bound
//! that equals the floor is not pruned: an earlier subscription wins a tie.

use super::BeTree;
use super::matching::{TreeScratch, next_side};
use super::nodes::{ClusterId, PartitionId};
use super::weights::ROUNDING;
use crate::engine::SubId;
use crate::engine::scoring::{BestK, TopKQuery};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Minimum conjunctions of a partition for its weight summary to be added up once there is a floor: a smaller one is visited
/// in less time.
const PRUNED_BY_SUMMARY: u32 = 64;
/// As [`PRUNED_BY_SUMMARY`], as long as there is no floor and the bound only decides the order.
const ORDERED_BY_SUMMARY: u32 = 512;

/// The buffers of ranking.
#[derive(Default)]
pub(super) struct TopKBuffers {
    /// The partitions to visit.
    heap: BinaryHeap<Reached>,
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

impl BeTree {
    pub(super) fn find_best(
        &self,
        query: &TopKQuery<'_>,
        scratch: &mut TreeScratch,
        found: &mut Vec<(SubId, f64)>,
    ) {
        let TreeScratch { values, dedup, top_k: TopKBuffers { heap, best }, .. } = scratch;
        values.load(query.event);
        dedup.begin_event();
        best.begin(query.k);
        heap.clear();
        // Times a maximum total: an upper bound of scores.
        let greatest = query.weights.greatest() * ROUNDING;
        let total_bound = |total: f32| match f64::from(total) * greatest {
            bound if bound.is_nan() => f64::INFINITY,
            bound => bound,
        };
        heap.push(Reached { bound: f64::INFINITY, root: ClusterId::ROOT });
        while let Some(Reached { bound, root }) = heap.pop() {
            if bound < query.floor.max(best.floor()) {
                break;
            }
            let mut id = root;
            loop {
                let cluster = self.nodes.cluster(id);
                let floor = query.floor.max(best.floor());
                if total_bound(cluster.bound) < floor {
                    break;
                }
                let at = values.coordinate(cluster.attribute);
                if cluster.own.contains(at) {
                    if !cluster.leaf.is_empty() && total_bound(cluster.leaf_bound) >= floor {
                        self.scan_leaf(cluster.leaf, query.event, values, |id, several| {
                            let sub = self.conjunctions.owner(id);
                            if several && !dedup.insert(sub) {
                                return;
                            }
                            let floor = query.floor.max(best.floor());
                            if total_bound(self.conjunctions.state(id).total) < floor {
                                return;
                            }
                            let Some(scored) = self.weights.get(sub) else {
                                if floor <= 0.0 {
                                    best.offer(0.0, || 0, sub);
                                }
                                return;
                            };
                            let score = scored.predicates.score(query.event, query.weights);
                            if score >= query.floor {
                                best.offer(score, || scored.sequence, sub);
                            }
                        });
                    }
                    let floor = query.floor.max(best.floor());
                    self.visit_partitions(id, cluster, values, |root, partition| {
                        let mut bound = total_bound(self.nodes.cluster(root).bound);
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
        }
        best.drain(|sub, score| found.push((sub, score)));
    }
}
