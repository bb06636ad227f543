//! Which bucket of a clustering directory is the home of an interval? (Paper, Algorithm 2; section V-A2.)
//!
//! Non-rigid: an interval goes down to the side it intersects, or whose range it enlarges the least; an interval that
//! intersects both sides is at home in the overlapping bucket. Bottom-up expansion: a split or partitioned bucket whose
//! length would grow by more than beta gets a new parent bucket, which takes the interval.
//!
//! Rigid (BE-Tree): the first cluster of a directory has the intervals without finite ends, and one side, whose cell is the
//! domain. An interval goes down to the smallest half that encloses it. A domain that does not enclose an interval is doubled
//! towards it until it does: each doubling makes a new parent cell with the old one as a half.

use super::BeTree;
use super::interval::Interval;
use super::nodes::{ClusterId, Parent, PartitionId};
use super::splitting::halves;

/// How space is cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cutting {
    /// BE*-Tree: buckets are the hulls of their conjunctions.
    NonRigid {
        /// Maximum growth of a closed bucket before a parent bucket is injected.
        beta: f64,
    },
    /// BE-Tree: cells are halves of halves of a domain.
    Rigid,
}

impl BeTree {
    /// The home of an interval in the clustering directory of a partition.
    pub(super) fn find_bucket(&mut self, partition: PartitionId, interval: Interval) -> ClusterId {
        let root = self.nodes.partition(partition).root;
        match self.cutting {
            _ if self.nodes.is_open_leaf(root) => root,
            Cutting::NonRigid { beta } => self.find_hull(root, interval, beta),
            Cutting::Rigid => self.find_cell(root, interval),
        }
    }

    fn find_hull(&mut self, root: ClusterId, interval: Interval, beta: f64) -> ClusterId {
        let exceeds = |bucket: Interval| bucket.union(interval).length() > beta * bucket.length();
        if exceeds(self.whole(root)) {
            return self.inject(root);
        }
        let mut at = root;
        loop {
            let cluster = self.nodes.cluster(at);
            let ranges = cluster.side_ranges;
            let side = match ranges.map(|range| range.intersects(interval)) {
                [true, true] => return at,
                [true, false] => 0,
                [false, true] => 1,
                // Without sides it is a partitioned bucket that could not be split.
                [false, false] if cluster.sides == [ClusterId::NONE; 2] => return at,
                [false, false] => nearest(ranges, interval),
            };
            let below = cluster.sides[side];
            if below == ClusterId::NONE {
                return self.add_side(at, side, None);
            }
            if self.nodes.is_open_leaf(below) {
                return below;
            }
            if exceeds(ranges[side]) {
                let cluster = self.nodes.cluster(at);
                // The overlapping bucket takes it if that is open, or grows by less than beta. Otherwise intervals with one
                // end would inject a bucket each.
                let is_open = cluster.directory.is_empty();
                return if is_open || !exceeds(cluster.own) { at } else { self.inject(below) };
            }
            at = below;
        }
    }

    /// Encloses all of a cluster and its sides on the active dimension.
    pub(super) fn whole(&self, id: ClusterId) -> Interval {
        let cluster = self.nodes.cluster(id);
        cluster.own.union(cluster.side_ranges[0]).union(cluster.side_ranges[1])
    }

    /// A cluster between another one and what leads to it.
    fn inject(&mut self, below: ClusterId) -> ClusterId {
        let attribute = self.nodes.cluster(below).attribute;
        let partition = self.nodes.info(below).partition;
        let id = self.nodes.add_cluster(attribute, Parent::None, partition, self.leaf_size);
        self.nodes.relink(below, id);
        self.nodes.info_mut(below).parent = Parent::Side(id);
        let (range, bound) = (self.whole(below), self.nodes.cluster(below).bound);
        let cluster = self.nodes.cluster_mut(id);
        (cluster.sides[0], cluster.side_ranges[0], cluster.bound) = (below, range, bound);
        let whole = self.nodes.info(below).whole_box;
        let copy = self.nodes.boxes.copy(whole);
        self.nodes.info_mut(id).whole_box = copy;
        let own = self.nodes.boxes.allocate_default(whole.len());
        self.nodes.info_mut(id).own_box = own;
        id
    }

    /// An empty side of a cluster; with rigid cutting, with its cell.
    pub(super) fn add_side(&mut self, above: ClusterId, side: usize, cell: Option<Interval>) -> ClusterId {
        let attribute = self.nodes.cluster(above).attribute;
        let partition = self.nodes.info(above).partition;
        let id = self.nodes.add_cluster(attribute, Parent::Side(above), partition, self.leaf_size);
        self.nodes.cluster_mut(above).sides[side] = id;
        self.allocate_boxes(id);
        if let Some(cell) = cell {
            self.set_cell(id, cell);
            self.nodes.cluster_mut(above).side_ranges[side] = cell;
        }
        id
    }

    /// Allocates the empty boxes of a cluster.
    pub(super) fn allocate_boxes(&mut self, id: ClusterId) {
        let dimensions = match self.cutting {
            Cutting::Rigid => return,
            Cutting::NonRigid { .. } => self.nodes.partition(self.nodes.info(id).partition).level as usize,
        };
        let boxes = [0; 2].map(|_| self.nodes.boxes.allocate_default(dimensions));
        let info = self.nodes.info_mut(id);
        [info.own_box, info.whole_box] = boxes;
    }

    /// Sets the cell of a cluster that is not the root of a rigid directory.
    fn set_cell(&mut self, id: ClusterId, cell: Interval) {
        let mut list = self.nodes.info(id).whole_box;
        if list.is_empty() {
            self.nodes.boxes.extend(&mut list, &[cell]);
            self.nodes.info_mut(id).whole_box = list;
        }
        self.nodes.boxes.get_mut(list)[0] = cell;
        self.nodes.cluster_mut(id).own = cell;
    }

    /// The cell of a cluster that is not the root of a rigid directory.
    pub(super) fn cell(&self, id: ClusterId) -> Interval {
        self.nodes.boxes.get(self.nodes.info(id).whole_box).first().copied().unwrap_or_default()
    }

    fn find_cell(&mut self, root: ClusterId, interval: Interval) -> ClusterId {
        let Some(first) = first_cell(interval) else { return root };
        let domain = self.nodes.cluster(root).sides[0];
        if domain == ClusterId::NONE {
            return self.add_side(root, 0, Some(first));
        }
        let Some(mut at) = self.grow(root, domain, interval) else { return root };
        loop {
            if self.nodes.is_open_leaf(at) {
                return at;
            }
            let Some(cells) = halves(self.cell(at)) else { return at };
            let Some(side) = cells.iter().position(|half| half.encloses(interval)) else { return at };
            let below = self.nodes.cluster(at).sides[side];
            if below == ClusterId::NONE {
                return self.add_side(at, side, Some(cells[side]));
            }
            // After growth, rounding may have left a half larger than its cell.
            if !self.cell(below).encloses(interval) {
                return at;
            }
            at = below;
        }
    }

    /// Doubles the domain of a directory until it encloses an interval; `None` if it would become infinite.
    fn grow(&mut self, root: ClusterId, domain: ClusterId, interval: Interval) -> Option<ClusterId> {
        let mut top = domain;
        loop {
            let cell = self.cell(top);
            if cell.encloses(interval) {
                return Some(top);
            }
            let (side, end) = (usize::from(interval.low < cell.low), cell.high.next_up());
            let doubled = match side {
                0 => Interval { low: cell.low, high: (end + (end - cell.low)).next_down() },
                _ => Interval { low: cell.low - (end - cell.low), high: cell.high },
            };
            if !doubled.length().is_finite() || !halves(doubled)?[side].encloses(cell) {
                return None;
            }
            if self.nodes.is_open_leaf(top) {
                self.set_cell(top, doubled);
            } else {
                let partition = self.nodes.info(root).partition;
                let attribute = self.nodes.cluster(root).attribute;
                let above = self.nodes.add_cluster(attribute, Parent::Side(root), partition, self.leaf_size);
                self.nodes.info_mut(top).parent = Parent::Side(above);
                self.set_cell(above, doubled);
                let bound = self.nodes.cluster(top).bound;
                let cluster = self.nodes.cluster_mut(above);
                (cluster.sides[side], cluster.side_ranges[side], cluster.bound) = (top, cell, bound);
                top = above;
            }
            let cell = self.cell(top);
            let cluster = self.nodes.cluster_mut(root);
            (cluster.sides[0], cluster.side_ranges[0]) = (top, cell);
        }
    }
}

/// The side that an interval, which intersects neither, can enlarge without reaching the other; an empty one if there is.
/// Of an interval between both, the one that it enlarges less.
fn nearest(ranges: [Interval; 2], interval: Interval) -> usize {
    let [first, second] = ranges;
    if let Some(empty) = ranges.iter().position(|range| range.is_empty()) {
        return empty;
    }
    let is_second = match (interval.high < first.low, interval.high < second.low) {
        (true, true) => second.low < first.low,
        (false, false) => second.high > first.high,
        (true, false) => interval.low - second.high < first.low - interval.high,
        (false, true) => second.low - interval.high < interval.low - first.high,
    };
    usize::from(is_second)
}

/// The domain of a directory whose first interval this is: from its lower end, a power of two long; `None` if an end is
/// infinite.
pub(super) fn first_cell(interval: Interval) -> Option<Interval> {
    let low = interval.low.floor();
    let least = (interval.high - low).max(interval.low.abs() * f64::EPSILON * 1024.0).max(1.0);
    let length = least.log2().floor().exp2() * 2.0;
    let cell = Interval { low, high: (low + length).next_down() };
    (cell.length().is_finite() && cell.encloses(interval)).then_some(cell)
}
