//! How is a conjunction inserted, and how is an overflowing leaf divided? (Paper, Algorithms 1, 3, 4 and 5.)
//!
//! A conjunction follows, from the root, the partition of highest rank among those on its attributes, and in each
//! partition's directory the way to its home bucket; without a partition it is at home in the leaf. An overflowing leaf is
//! split on the active dimension first (clustering); a bucket that is split, or cannot be, is partitioned by another
//! attribute. A leaf that neither divides gets a larger capacity.

use super::BeTree;
use super::directory::{Cutting, first_cell};
use super::interval::Interval;
use super::nodes::{ClusterId, Parent, PartitionId};
use super::splitting::{Bucket, halves, split};
use crate::engine::shared::conjunctions::ConjId;
use crate::engine::shared::list_pool::ListRef;
use crate::engine::shared::records::{self, Records};
use crate::schema::AttrId;

/// The intervals of a conjunction by attribute, in ascending order. Predicates that accept missing values have none.
pub(super) type Dimensions = Vec<(AttrId, Interval)>;

/// Partitions on a path, at most: equal conjunctions of many predicates would otherwise make a path of one partition for
/// each.
pub(super) const MAX_LEVELS: usize = 16;

impl BeTree {
    /// The intervals of a conjunction; several predicates on one attribute are intersected.
    pub(super) fn dimensions(&self, id: ConjId) -> Dimensions {
        let predicates = self.conjunctions.predicates(id).map(|predicate| self.predicates.get(predicate));
        let intervals =
            predicates.filter_map(|predicate| Some((predicate.attribute, Interval::of(predicate)?)));
        let mut dimensions: Dimensions = intervals.collect();
        dimensions.sort_by_key(|(attribute, _)| *attribute);
        dimensions.dedup_by(|(attribute, later), (other, first)| {
            if attribute != other {
                return false;
            }
            let both = first.intersection(*later);
            // No value satisfies both: either is right.
            *first = if both.is_empty() { *first } else { both };
            true
        });
        dimensions
    }

    /// The interval of a conjunction on one attribute.
    fn interval_on(dimensions: &Dimensions, attribute: AttrId) -> Interval {
        let found = dimensions.binary_search_by_key(&attribute, |(attribute, _)| *attribute);
        found.map_or(Interval::ALL, |at| dimensions[at].1)
    }

    /// The box of a conjunction on the attributes of a path.
    pub(super) fn box_of(dimensions: &Dimensions, path: &[AttrId]) -> Vec<Interval> {
        path.iter().map(|attribute| Self::interval_on(dimensions, *attribute)).collect()
    }

    /// Inserts a conjunction into the tree.
    pub(super) fn place(&mut self, id: ConjId) {
        let dimensions = self.dimensions(id);
        self.ranking.extend_domains(&dimensions);
        let record = self.record(id, &dimensions);
        let (mut home, mut path) = (ClusterId::ROOT, Vec::new());
        while let Some((partition, interval)) = self.choose_partition(home, &dimensions, &path) {
            path.push(self.nodes.partition(partition).attribute);
            home = self.find_bucket(partition, interval);
        }
        self.store(home, id, &dimensions, &record);
        self.count_in(home, ClusterId::ROOT, id);
        self.divide_overflowing(vec![home]);
    }

    /// The record of a conjunction, the most selective predicate first.
    fn record(&self, id: ConjId, dimensions: &Dimensions) -> Vec<u32> {
        let loss = |attribute: AttrId| self.ranking.loss(attribute, Self::interval_on(dimensions, attribute));
        let mut order: Vec<_> = self
            .conjunctions
            .predicates(id)
            .map(|id| (self.predicates.get(id), id))
            .map(|(predicate, id)| (loss(predicate.attribute), predicate, id))
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut record = records::begin(id, self.conjunctions.is_one_of_several(id));
        order.iter().for_each(|(_, predicate, id)| records::add_term(&mut record, *id, predicate, false));
        records::finish(&mut record);
        record
    }

    /// Adds a conjunction to a leaf.
    pub(super) fn store(&mut self, home: ClusterId, id: ConjId, dimensions: &Dimensions, record: &[u32]) {
        let mut leaf = self.nodes.cluster(home).leaf;
        self.nodes.records.extend(&mut leaf, record);
        self.nodes.cluster_mut(home).leaf = leaf;
        self.nodes.info_mut(home).count += 1;
        let state = self.conjunctions.state_mut(id);
        state.cluster = home;
        let total = state.total;
        let mut path = Vec::new();
        self.nodes.path(home, &mut path);
        self.expand(home, &Self::box_of(dimensions, &path));
        self.raise_bounds(home, total);
    }

    /// Counts a conjunction in the partitions from a leaf upwards, below the cluster `until`, and adds its weights.
    fn count_in(&mut self, home: ClusterId, until: ClusterId, id: ConjId) {
        self.raise_summaries(home, until, id);
        let mut at = home;
        while at != until {
            let partition = self.nodes.info(at).partition;
            let partition = self.nodes.partition_mut(partition);
            partition.size += 1;
            at = partition.parent;
        }
    }

    /// Enlarges the boxes from a cluster upwards by that of one more conjunction of its leaf (Algorithm 3).
    pub(super) fn expand(&mut self, home: ClusterId, intervals: &[Interval]) {
        if self.cutting == Cutting::Rigid {
            return;
        }
        let (mut at, mut levels, mut is_side) = (home, intervals.len(), false);
        while levels > 0 {
            let (own_box, whole_box) = (self.nodes.info(at).own_box, self.nodes.info(at).whole_box);
            if !is_side {
                let own = self.nodes.boxes.get_mut(own_box);
                own.iter_mut().zip(intervals).for_each(|(own, more)| *own = own.union(*more));
                let active = own[levels - 1];
                self.nodes.cluster_mut(at).own = active;
            }
            let whole = self.nodes.boxes.get_mut(whole_box);
            let is_enclosed = whole.iter().zip(intervals).all(|(whole, more)| whole.encloses(*more));
            if is_enclosed {
                return;
            }
            whole.iter_mut().zip(intervals).for_each(|(whole, more)| *whole = whole.union(*more));
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

    pub(super) fn set_side_range(&mut self, above: ClusterId, side: ClusterId, range: Interval) {
        let cluster = self.nodes.cluster_mut(above);
        cluster.side_ranges[usize::from(cluster.sides[1] == side)] = range;
    }

    /// Divides leaves with more conjunctions than their capacity (Algorithms 4 and 5).
    fn divide_overflowing(&mut self, mut leaves: Vec<ClusterId>) {
        while let Some(id) = leaves.pop() {
            let info = self.nodes.info(id);
            if info.count <= info.capacity {
                continue;
            }
            let is_split =
                id != ClusterId::ROOT && self.nodes.is_open_leaf(id) && self.cluster(id, &mut leaves);
            if !is_split || self.nodes.info(id).count > self.leaf_size {
                self.partition(id, &mut leaves);
            }
            let info = self.nodes.info_mut(id);
            info.capacity = if info.count > self.leaf_size { 2 * info.count } else { self.leaf_size };
        }
    }

    /// Takes the conjunctions out of a leaf, with their records.
    pub(super) fn take_leaf(&mut self, id: ClusterId) -> Vec<(ConjId, Vec<u32>)> {
        let leaf = self.nodes.cluster(id).leaf;
        let list = self.nodes.records.get(leaf);
        let (mut at, mut contents) = (0, Vec::new());
        for record in Records(list) {
            let length = records::HEAD + record.terms.len();
            contents.push((record.conjunction, list[at..at + length].to_vec()));
            at += length;
        }
        self.nodes.records.release(leaf);
        let cluster = self.nodes.cluster_mut(id);
        (cluster.leaf, cluster.leaf_bound) = (ListRef::EMPTY, 0.0);
        self.nodes.info_mut(id).count = 0;
        contents
    }

    fn dimensions_of_leaf(&self, id: ClusterId) -> Vec<Dimensions> {
        let records = Records(self.nodes.records.get(self.nodes.cluster(id).leaf));
        records.map(|record| self.dimensions(record.conjunction)).collect()
    }

    /// Splits an open bucket into left, overlapping and right (Algorithm 5); false if no division exists.
    fn cluster(&mut self, id: ClusterId, leaves: &mut Vec<ClusterId>) -> bool {
        let attribute = self.nodes.cluster(id).attribute;
        let dimensions = self.dimensions_of_leaf(id);
        let intervals: Vec<Interval> =
            dimensions.iter().map(|dimensions| Self::interval_on(dimensions, attribute)).collect();
        let division = match self.cutting {
            Cutting::NonRigid { .. } => {
                split(&intervals, self.split, self.alpha).map(|buckets| (buckets, [None; 2]))
            }
            Cutting::Rigid => self.split_cell(id, &intervals),
        };
        let Some((buckets, cells)) = division else { return false };
        let contents = self.take_leaf(id);
        if self.cutting != Cutting::Rigid {
            let own_box = self.nodes.info(id).own_box;
            self.nodes.boxes.get_mut(own_box).fill(Interval::EMPTY);
            self.nodes.cluster_mut(id).own = Interval::EMPTY;
        }
        for ((conjunction, record), (dimensions, bucket)) in
            contents.into_iter().zip(dimensions.iter().zip(buckets))
        {
            let side = match bucket {
                Bucket::Overlap => None,
                Bucket::Left => Some(0),
                Bucket::Right => Some(1),
            };
            let home = match side.map(|side| (side, self.nodes.cluster(id).sides[side])) {
                None => id,
                Some((side, ClusterId::NONE)) => self.add_side(id, side, cells[side]),
                Some((_, home)) => home,
            };
            self.store(home, conjunction, dimensions, &record);
        }
        leaves.extend(self.nodes.cluster(id).sides.into_iter().filter(|side| *side != ClusterId::NONE));
        true
    }

    /// The division of a rigid cell, with the cells of both sides. The first cluster of a directory keeps the intervals
    /// without finite ends; its left side is the domain.
    fn split_cell(
        &self,
        id: ClusterId,
        intervals: &[Interval],
    ) -> Option<(Vec<Bucket>, [Option<Interval>; 2])> {
        let hull = |intervals: &mut dyn Iterator<Item = &Interval>| {
            intervals.fold(Interval::EMPTY, |hull, interval| hull.union(*interval))
        };
        let cells = match self.nodes.info(id).parent {
            Parent::Partition(_) => {
                let finite = |interval: &&Interval| first_cell(**interval).is_some();
                let finite = hull(&mut intervals.iter().filter(finite));
                [first_cell(finite), None]
            }
            // A single value is not divided.
            _ if hull(&mut intervals.iter()).length() == 0.0 => return None,
            _ => halves(self.cell(id))?.map(Some),
        };
        let bucket = |interval: &Interval| match cells.map(|cell| cell.is_some_and(|c| c.encloses(*interval)))
        {
            [true, _] => Bucket::Left,
            [false, true] => Bucket::Right,
            [false, false] => Bucket::Overlap,
        };
        let buckets: Vec<Bucket> = intervals.iter().map(bucket).collect();
        buckets.iter().any(|bucket| *bucket != Bucket::Overlap).then_some((buckets, cells))
    }

    /// Moves conjunctions of an overflowing leaf to partitions by the attributes of highest rank (Algorithm 4).
    fn partition(&mut self, id: ClusterId, leaves: &mut Vec<ClusterId>) {
        let mut path = Vec::new();
        self.nodes.path(id, &mut path);
        if path.len() >= MAX_LEVELS {
            return;
        }
        let dimensions = self.dimensions_of_leaf(id);
        let mut targets = vec![None; dimensions.len()];
        let mut left = dimensions.len();
        for candidate in self.candidates(&dimensions, &path) {
            if left <= self.leaf_size as usize {
                break;
            }
            for &mover in candidate.movers.iter() {
                let target = &mut targets[mover as usize];
                left -= usize::from(target.is_none());
                target.get_or_insert(candidate.attribute);
            }
        }
        for (((conjunction, record), dimensions), target) in
            self.take_leaf(id).into_iter().zip(&dimensions).zip(targets)
        {
            let Some(attribute) = target else {
                self.store(id, conjunction, dimensions, &record);
                continue;
            };
            let found = self.nodes.find_partition(id, attribute);
            let partition = found.unwrap_or_else(|| self.add_partition(id, attribute));
            let home = self.find_bucket(partition, Self::interval_on(dimensions, attribute));
            self.store(home, conjunction, dimensions, &record);
            self.count_in(home, id, conjunction);
            if leaves.last() != Some(&home) {
                leaves.push(home);
            }
        }
    }

    fn add_partition(&mut self, parent: ClusterId, attribute: AttrId) -> PartitionId {
        let id = self.nodes.add_partition(parent, attribute, self.leaf_size);
        let root = self.nodes.partition(id).root;
        self.allocate_boxes(root);
        if self.cutting == Cutting::Rigid {
            // Events with any value reach the intervals without finite ends.
            self.nodes.cluster_mut(root).own = Interval::ALL;
            self.nodes.entry_mut(id).range = Interval::ALL;
        }
        id
    }
}
