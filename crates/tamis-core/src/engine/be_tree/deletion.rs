//! How is a conjunction removed? (Paper, sections IV-B and IV-C.)
//!
//! Boxes have an interval for every partition of their path, so a removal recomputes only boxes whose end the removed one
//! was, from the leaf upwards: of the leaf's bucket from its conjunctions, of those above from the boxes right below them.
//! Nothing below changes (no cascading update).
//!
//! Merge rule: an open bucket without sides, a half empty leaf together with its parent's, is merged with the parent, if
//! that is open. Empty clusters and partitions are freed; a cluster with nothing but one side is replaced by the side.

use super::BeTree;
use super::directory::Cutting;
use super::insertion::Dimensions;
use super::interval::Interval;
use super::nodes::{ClusterId, Parent, PartitionId};
use crate::engine::shared::conjunctions::ConjId;
use crate::engine::shared::records::{self, Records};
use crate::schema::AttrId;

impl BeTree {
    /// Removes a conjunction from the tree; its number and its predicates stay.
    pub(super) fn withdraw(&mut self, id: ConjId) {
        let state = *self.conjunctions.state(id);
        let home = state.cluster;
        let dimensions = self.dimensions(id);
        let mut path = Vec::new();
        self.nodes.path(home, &mut path);
        let mut leaf = self.nodes.cluster(home).leaf;
        records::remove(&mut self.nodes.records, &mut leaf, id);
        self.nodes.cluster_mut(home).leaf = leaf;
        let info = self.nodes.info_mut(home);
        info.count -= 1;
        if info.count <= self.leaf_size {
            info.capacity = self.leaf_size;
        }
        self.tighten(home, &path, Self::box_of(&dimensions, &path));
        self.lower_bounds(home, state.total);
        self.uncount(home);
        self.prune(home);
    }

    /// Counts one conjunction less in the partitions of a path, and recomputes weight summaries that are half stale.
    fn uncount(&mut self, home: ClusterId) {
        let mut partition = self.nodes.info(home).partition;
        while partition != PartitionId::NONE {
            let node = self.nodes.partition_mut(partition);
            node.size -= 1;
            node.removed += 1;
            if node.removed > node.size {
                self.rebuild_summary(partition);
            }
            partition = self.nodes.info(self.nodes.partition(partition).parent).partition;
        }
    }

    /// Recomputes boxes from a cluster upwards after the removal of a conjunction from its leaf, whose box is `removed`.
    fn tighten(&mut self, home: ClusterId, path: &[AttrId], mut removed: Vec<Interval>) {
        if self.cutting == Cutting::Rigid {
            return;
        }
        let (mut at, mut levels, mut is_side) = (home, path.len(), false);
        while levels > 0 {
            removed.truncate(levels);
            let (own_box, whole_box) = (self.nodes.info(at).own_box, self.nodes.info(at).whole_box);
            if !is_side {
                let old = self.nodes.boxes.get(own_box);
                if !removed.iter().zip(old).any(|(removed, old)| removed.touches(*old)) {
                    return;
                }
                let own = self.own_box(at, &path[..levels], old);
                self.nodes.boxes.get_mut(own_box).copy_from_slice(&own);
                self.nodes.cluster_mut(at).own = own[levels - 1];
            }
            let whole = self.whole_box(at);
            if whole == self.nodes.boxes.get(whole_box) {
                return;
            }
            removed.copy_from_slice(self.nodes.boxes.get(whole_box));
            self.nodes.boxes.get_mut(whole_box).copy_from_slice(&whole);
            let range = whole[levels - 1];
            is_side = false;
            match self.nodes.info(at).parent {
                Parent::None => return,
                Parent::Side(above) => {
                    self.set_side_range(above, at, range);
                    (at, is_side) = (above, true);
                }
                Parent::Partition(partition) => {
                    self.nodes.entry_mut(partition).range = range;
                    (at, levels) = (self.nodes.partition(partition).parent, levels - 1);
                }
            }
        }
    }

    /// The box of a cluster's leaf and partitions; the search ends when it is as large as `limit`.
    pub(super) fn own_box(&self, id: ClusterId, path: &[AttrId], limit: &[Interval]) -> Vec<Interval> {
        let mut own = vec![Interval::EMPTY; path.len()];
        let add = |own: &mut Vec<Interval>, more: &[Interval]| {
            own.iter_mut().zip(more).for_each(|(own, more)| *own = own.union(*more));
            own == limit
        };
        for record in Records(self.nodes.records.get(self.nodes.cluster(id).leaf)) {
            if add(&mut own, &Self::box_of(&self.dimensions(record.conjunction), path)) {
                return own;
            }
        }
        for entry in self.nodes.directory(id) {
            if add(&mut own, self.nodes.boxes.get(self.nodes.info(ClusterId(entry.root)).whole_box)) {
                return own;
            }
        }
        own
    }

    /// The box of a cluster with its sides.
    pub(super) fn whole_box(&self, id: ClusterId) -> Vec<Interval> {
        let mut whole = self.nodes.boxes.get(self.nodes.info(id).own_box).to_vec();
        for side in self.nodes.cluster(id).sides.into_iter().filter(|side| *side != ClusterId::NONE) {
            let side = self.nodes.boxes.get(self.nodes.info(side).whole_box);
            whole.iter_mut().zip(side).for_each(|(whole, side)| *whole = whole.union(*side));
        }
        whole
    }

    /// Recomputes totals from a leaf upwards after the removal of a conjunction with this total.
    pub(super) fn lower_bounds(&mut self, home: ClusterId, total: f32) {
        let old = self.nodes.cluster(home).leaf_bound;
        if total < old {
            return;
        }
        self.nodes.cluster_mut(home).leaf_bound = self.leaf_total(home, old);
        let mut at = home;
        while total >= self.nodes.cluster(at).bound {
            let bound = self.cluster_total(at);
            if bound >= self.nodes.cluster(at).bound {
                return;
            }
            self.nodes.cluster_mut(at).bound = bound;
            match self.nodes.info(at).parent {
                Parent::None => return,
                Parent::Side(above) => at = above,
                Parent::Partition(partition) => at = self.nodes.partition(partition).parent,
            }
        }
    }

    /// Frees and merges clusters from one upwards.
    fn prune(&mut self, mut at: ClusterId) {
        loop {
            let cluster = self.nodes.cluster(at);
            let parent = self.nodes.info(at).parent;
            let is_empty = self.nodes.info(at).count == 0 && cluster.directory.is_empty();
            let above = match parent {
                Parent::None => return,
                Parent::Side(above) => above,
                Parent::Partition(partition) => self.nodes.partition(partition).parent,
            };
            match cluster.sides {
                [ClusterId::NONE, ClusterId::NONE] if is_empty || self.merges(at, above, parent) => {
                    let contents = self.take_leaf(at);
                    self.unlink(at, parent);
                    for (conjunction, record) in contents {
                        let dimensions: Dimensions = self.dimensions(conjunction);
                        self.store(above, conjunction, &dimensions, &record);
                    }
                    at = above;
                }
                [side, ClusterId::NONE] | [ClusterId::NONE, side]
                    if is_empty && self.cutting != Cutting::Rigid =>
                {
                    self.nodes.relink(at, side);
                    self.nodes.free_cluster(at);
                    return;
                }
                _ => return,
            }
        }
    }

    /// Whether an open bucket without sides is merged with the one above it: its parent in the directory, or the cluster
    /// that its partition divides.
    fn merges(&self, id: ClusterId, above: ClusterId, parent: Parent) -> bool {
        let counts = [id, above].map(|id| self.nodes.info(id).count);
        let is_open =
            self.nodes.cluster(above).directory.is_empty() || matches!(parent, Parent::Partition(_));
        // In a rigid directory the first cluster keeps only intervals without finite ends, unless it is the only one.
        self.nodes.is_open_leaf(id) && is_open && counts[0] + counts[1] <= self.leaf_size / 2
    }

    /// Removes an empty cluster from what leads to it.
    fn unlink(&mut self, id: ClusterId, parent: Parent) {
        match parent {
            Parent::None => {}
            Parent::Side(above) => {
                let cluster = self.nodes.cluster_mut(above);
                let side = usize::from(cluster.sides[1] == id);
                (cluster.sides[side], cluster.side_ranges[side]) = (ClusterId::NONE, Interval::EMPTY);
                self.nodes.free_cluster(id);
            }
            Parent::Partition(partition) => {
                self.nodes.free_cluster(id);
                self.nodes.free_partition(partition);
            }
        }
    }

    /// Every conjunction below a partition.
    pub(super) fn conjunctions_below(&self, id: PartitionId) -> Vec<ConjId> {
        let (mut found, mut stack) = (Vec::new(), vec![self.nodes.partition(id).root]);
        while let Some(at) = stack.pop() {
            let records = Records(self.nodes.records.get(self.nodes.cluster(at).leaf));
            found.extend(records.map(|record| record.conjunction));
            stack.extend(self.nodes.directory(at).iter().map(|entry| ClusterId(entry.root)));
            stack.extend(self.nodes.cluster(at).sides.into_iter().filter(|side| *side != ClusterId::NONE));
        }
        found
    }
}
