//! Which partition takes a conjunction, and which attribute does an overflowing leaf partition by? (Paper, section V-B.)
//!
//! `rank = gain - loss`. The gain of a partition is the number of its conjunctions: each has a predicate on the attribute,
//! which is evaluated once for all. Its loss is the mean number of discarded predicate evaluations per observed event that
//! reached it, over a window of events. A partition whose rank falls below 0 is recycled: its conjunctions are inserted again.
//!
//! Of an attribute that is no partition yet, the loss is an estimate, by the option `ranking`:
//! - `popularity`: 0, unless a partition by it was recycled. The attribute of most conjunctions wins, and takes all of them (the paper's choice).
//! - `selectivity`: the share of events that would reach the conjunction: the share of observed events that have the
//!   attribute, times the share of the attribute's domain that its interval covers. A conjunction goes only to attributes
//!   whose loss is close to the least of its attributes.

use super::BeTree;
use super::insertion::Dimensions;
use super::interval::Interval;
use super::nodes::{ClusterId, PartitionId};
use crate::engine::shared::list_pool::shrink;
use crate::event::Event;
use crate::schema::AttrId;

/// How losses are estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LossEstimate {
    Popularity,
    Selectivity,
}

/// What is known of attributes.
#[derive(Debug)]
pub(super) struct Ranking {
    estimate: LossEstimate,
    /// Observed events that a partition's loss is the mean of, at most.
    window: u32,
    /// By attribute: the hull of all finite ends that were inserted.
    domains: Vec<Interval>,
    /// By attribute: observed events that have it.
    present: Vec<u32>,
    /// Observed events.
    observed: u32,
    /// By attribute: the loss of its recycled partitions per conjunction; 0.0 if none was recycled.
    recycled: Vec<f32>,
}

/// The loss of an equality: less than that of every interval with a length.
const LEAST_LOSS: f64 = 1e-3;
/// A conjunction may go to an attribute whose loss is at most this many times its least.
const NEAR: f64 = 2.0;

impl Ranking {
    pub fn new(estimate: LossEstimate, window: u32) -> Ranking {
        Ranking {
            estimate,
            window,
            domains: Vec::new(),
            present: Vec::new(),
            observed: 0,
            recycled: Vec::new(),
        }
    }

    /// Extends the domains by a conjunction.
    pub fn extend_domains(&mut self, dimensions: &Dimensions) {
        for (attribute, interval) in dimensions {
            if self.domains.len() <= attribute.index() {
                self.domains.resize(attribute.index() + 1, Interval::EMPTY);
            }
            let domain = &mut self.domains[attribute.index()];
            for end in [interval.low, interval.high] {
                if end.is_finite() {
                    *domain = domain.union(Interval { low: end, high: end });
                }
            }
        }
    }

    /// Counts an event's attributes.
    pub fn observe(&mut self, event: &Event<'_>) {
        if self.observed == u32::MAX {
            return;
        }
        self.observed += 1;
        for cell in event.cells() {
            let at = cell.attribute.index();
            if self.present.len() <= at {
                self.present.resize(at + 1, 0);
            }
            self.present[at] += 1;
        }
    }

    /// The loss of a conjunction in a partition by an attribute.
    fn estimated_loss(&self, attribute: AttrId, interval: Interval) -> f64 {
        match self.estimate {
            LossEstimate::Popularity => {
                f64::from(self.recycled.get(attribute.index()).copied().unwrap_or(0.0))
            }
            LossEstimate::Selectivity => self.loss(attribute, interval),
        }
    }

    /// The estimated share of events that reach a conjunction through an attribute.
    pub fn loss(&self, attribute: AttrId, interval: Interval) -> f64 {
        let domain = self.domains.get(attribute.index()).copied().unwrap_or_default();
        let covered = match interval.intersection(domain).length() / domain.length() {
            share if share.is_finite() => share,
            // A single value, or none, is known of the attribute.
            _ => f64::from(u8::from(interval == Interval::ALL)),
        };
        let covered = if interval == Interval::ALL { 1.0 } else { covered.max(LEAST_LOSS) };
        let recycled = self.recycled.get(attribute.index()).copied().unwrap_or(0.0);
        let present = self.present.get(attribute.index()).copied().unwrap_or(0);
        let share = f64::from(present + 1) / f64::from(self.observed.saturating_add(1));
        covered.max(f64::from(recycled).min(1.0)) * share.min(1.0)
    }

    /// Whether a conjunction with this least loss may go to an attribute with this loss.
    fn is_near(loss: f64, least: f64) -> bool {
        loss <= NEAR * least
    }

    pub fn defragment(&mut self) {
        shrink(&mut self.domains);
    }

    pub fn memory(&self) -> usize {
        self.domains.capacity() * size_of::<Interval>()
            + (self.present.capacity() + self.recycled.capacity()) * size_of::<u32>()
    }
}

/// An attribute that a leaf can be partitioned by.
pub(super) struct Candidate {
    pub attribute: AttrId,
    /// The conjunctions that would move, as positions in the leaf.
    pub movers: Vec<u32>,
    /// Gain minus loss.
    rank: f64,
}

impl BeTree {
    fn rank(&self, id: PartitionId) -> f64 {
        let partition = self.nodes.partition(id);
        f64::from(partition.size) - f64::from(partition.loss)
    }

    /// The partition of a cluster that takes a conjunction, and the conjunction's interval there; `None` if it stays in the
    /// cluster's leaf. `path` has the attributes that are used.
    pub(super) fn choose_partition(
        &self,
        cluster: ClusterId,
        dimensions: &Dimensions,
        path: &[AttrId],
    ) -> Option<(PartitionId, Interval)> {
        if self.nodes.cluster(cluster).directory.is_empty() {
            return None;
        }
        let unused = dimensions.iter().filter(|(attribute, _)| !path.contains(attribute));
        // The least loss of all attributes; the partition with its loss and rank.
        let mut least = f64::INFINITY;
        let mut best: Option<(PartitionId, Interval, f64, f64)> = None;
        for &(attribute, interval) in unused {
            let loss = self.ranking.estimated_loss(attribute, interval);
            least = least.min(loss);
            let Some(id) = self.nodes.find_partition(cluster, attribute) else { continue };
            let rank = self.rank(id);
            let is_better = |(.., least, greatest): &(PartitionId, Interval, f64, f64)| {
                loss < *least || loss == *least && rank > *greatest
            };
            if best.as_ref().is_none_or(is_better) {
                best = Some((id, interval, loss, rank));
            }
        }
        let (id, interval, loss, _) = best?;
        Ranking::is_near(loss, least).then_some((id, interval))
    }

    /// The attributes that a leaf with these conjunctions can be partitioned by, the highest rank first.
    pub(super) fn candidates(&self, conjunctions: &[Dimensions], path: &[AttrId]) -> Vec<Candidate> {
        // Attribute, position of the conjunction, loss.
        let mut uses: Vec<(AttrId, u32, f64)> = Vec::new();
        for (at, dimensions) in (0..).zip(conjunctions) {
            let from = uses.len();
            for &(attribute, interval) in dimensions.iter().filter(|(used, _)| !path.contains(used)) {
                let loss = self.ranking.estimated_loss(attribute, interval);
                uses.push((attribute, at, loss));
            }
            let least = uses[from..].iter().map(|(.., loss)| *loss).fold(f64::INFINITY, f64::min);
            let mut kept = from;
            for at in from..uses.len() {
                if Ranking::is_near(uses[at].2, least) {
                    uses[kept] = uses[at];
                    kept += 1;
                }
            }
            uses.truncate(kept);
        }
        uses.sort_unstable_by_key(|(attribute, at, _)| (*attribute, *at));
        let mut candidates: Vec<Candidate> = uses
            .chunk_by(|a, b| a.0 == b.0)
            .map(|uses| Candidate {
                attribute: uses[0].0,
                movers: uses.iter().map(|(_, at, _)| *at).collect(),
                rank: uses.iter().map(|(.., loss)| 1.0 - loss).sum(),
            })
            .collect();
        candidates.sort_by(|a, b| b.rank.total_cmp(&a.rank).then(a.attribute.cmp(&b.attribute)));
        candidates
    }

    /// Adds an observed event's discarded predicate evaluations to a partition's loss.
    pub(super) fn add_loss(&mut self, id: PartitionId, discarded: u32) {
        let window = self.ranking.window;
        let partition = self.nodes.partition_mut(id);
        partition.visits = (partition.visits + 1).min(window);
        partition.loss += (discarded as f32 - partition.loss) / partition.visits as f32;
    }

    /// Inserts the conjunctions of partitions with a negative rank again. Their attributes have the observed loss from
    /// here on, so that a partition with the same conjunctions is made only if nothing else is better.
    pub(super) fn recycle(&mut self) {
        let negative: Vec<PartitionId> = self
            .nodes
            .live_partitions()
            .filter(|id| self.nodes.partition(*id).visits > 0 && self.rank(*id) < 0.0)
            .collect();
        for id in negative {
            let partition = self.nodes.partition(id);
            // Recycling another one may have removed it or changed it.
            if partition.parent == ClusterId::NONE || self.rank(id) >= 0.0 {
                continue;
            }
            let (at, loss) = (partition.attribute.index(), partition.loss / partition.size.max(1) as f32);
            if self.ranking.recycled.len() <= at {
                self.ranking.recycled.resize(at + 1, 0.0);
            }
            self.ranking.recycled[at] = self.ranking.recycled[at].max(loss);
            self.nodes.partition_mut(id).loss = 0.0;
            for conjunction in self.conjunctions_below(id) {
                self.withdraw(conjunction);
                self.place(conjunction);
            }
        }
    }
}
