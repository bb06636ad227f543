//! Segment-Tree: a static tree over the elementary intervals between all ends.
//!
//! Source: de Berg, van Kreveld, Overmars, Schwarzkopf, "Computational Geometry", section 10.3 (second edition). The
//! PS-Tree paper compares with it in section 7.5. As the paper says, the tree is static: another end would be another
//! leaf and shift all others. So it implements [`Stabbing`] but not updates.
//!
//! Idea: the ends cut the line into elementary intervals, the leaves of a complete binary tree. An interval is stored
//! at its canonical nodes: those that it covers while it does not cover their parents. The intervals stored at a node
//! are its canonical subset. A point is in one leaf; the answer is the union of the subsets from the root to that leaf.
//!
//! Invariants: the number of leaves is a power of two; node 1 is the root, the children of k are 2k and 2k + 1, and
//! the leaves come last, from left to right. `splits` holds for every inner node the first value of its right half;
//! these are in ascending order from left to right. `members[starts[k]..starts[k + 1]]` is the canonical subset of
//! node k. The nodes of one interval are adjacent, without gap or overlap, and no two of them are siblings.
//!
//! Cost, for n intervals of which k contain the point: O(log n) for counting, O(log n + k) for a query, O(n log n)
//! for building; an interval is in at most 2 log n subsets, so memory is O(n log n). `starts` counts members in 32
//! bits, enough for any 60 million intervals.
//!
//! Deviations from the source:
//! - Values are integers, so `low..=high` is cut before `low` and before `high + 1`, and the ends need no leaves of
//!   their own: at most 2n + 1 leaves instead of 4n + 1.
//! - The number of leaves is rounded up to a power of two, so the tree needs no links. The leaves beyond the last
//!   one begin at the largest value. An interval that ends at the largest value extends to the last leaf, which is the
//!   leaf of that value.

use tamis_core::space::Stabbing;

/// See the module's head.
#[derive(Clone, Debug)]
pub struct SegmentTree {
    /// By inner node, from 1: the first value of its right half. The length is the number of leaves.
    splits: Vec<i64>,
    /// By node, from 1: the start of its subset in `members`; one more for the end of the last.
    starts: Vec<u32>,
    /// Numbers of the intervals in the canonical subsets, node by node.
    members: Vec<u32>,
    /// Number of intervals.
    intervals: usize,
}

impl Stabbing for SegmentTree {
    fn build(intervals: &[(i64, i64)]) -> SegmentTree {
        let splits = splits(cuts(intervals));
        // Sizes of all subsets, each stored one position past its node; their prefix sums are the starts.
        let mut starts = vec![0; 2 * splits.len() + 1];
        for interval in intervals {
            canonical_nodes(&splits, *interval, |node| starts[node + 1] += 1);
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        // Members. `starts` is the position of the next member, so afterwards it is one node off.
        let mut members = vec![0; sum as usize];
        for (interval, number) in intervals.iter().zip(0..) {
            canonical_nodes(&splits, *interval, |node| {
                members[starts[node] as usize] = number;
                starts[node] += 1;
            });
        }
        starts.rotate_right(1);
        starts[0] = 0;
        SegmentTree { splits, starts, members, intervals: intervals.len() }
    }

    fn stab(&self, point: i64, found: &mut Vec<u32>) {
        descend(&self.splits, point, |node| found.extend_from_slice(self.subset(node)));
    }

    fn count(&self, point: i64) -> usize {
        let mut count = 0;
        descend(&self.splits, point, |node| count += self.subset(node).len());
        count
    }

    fn memory(&self) -> usize {
        self.splits.capacity() * size_of::<i64>()
            + (self.starts.capacity() + self.members.capacity()) * size_of::<u32>()
    }

    fn validate(&self) -> Result<(), String> {
        let leaves = self.splits.len();
        if !leaves.is_power_of_two() || self.starts.len() != 2 * leaves + 1 {
            return Err(format!("segment tree: {leaves} leaves with {} starts", self.starts.len()));
        }
        if let Some(leaf) = (2..leaves).find(|&leaf| {
            let [before, here] = [leaf - 1, leaf].map(|leaf| self.splits[node_before(leaf, leaves)]);
            here < before || here == before && here != i64::MAX
        }) {
            return Err(format!("segment tree: leaf {leaf} does not begin after its predecessor"));
        }
        let in_order = self.starts.windows(2).all(|pair| pair[0] <= pair[1]);
        if !in_order || self.starts[..2] != [0, 0] || self.starts[2 * leaves] as usize != self.members.len() {
            return Err("segment tree: the subsets are not contiguous".into());
        }
        self.validate_members()
    }
}

impl SegmentTree {
    fn subset(&self, node: usize) -> &[u32] {
        &self.members[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    /// Checks that every interval is stored, at its canonical nodes.
    fn validate_members(&self) -> Result<(), String> {
        let leaves = self.splits.len();
        // Number of the interval, first leaf of the node, first leaf past the node, node.
        let mut stored = Vec::with_capacity(self.members.len());
        for node in 1..2 * leaves {
            let width = leaves >> node.ilog2();
            let first = node * width - leaves;
            stored.extend(self.subset(node).iter().map(|number| (*number, first, first + width, node)));
        }
        stored.sort_unstable();
        for pair in stored.windows(2) {
            let ((number, _, end, node), (next_number, start, _, next)) = (pair[0], pair[1]);
            if number == next_number && end != start {
                return Err(format!("segment tree: interval {number} has a gap or overlaps at leaf {end}"));
            }
            if number == next_number && node ^ 1 == next {
                return Err(format!("segment tree: interval {number} covers the parent of node {node}"));
            }
        }
        stored.dedup_by_key(|(number, ..)| *number);
        if !stored.iter().map(|(number, ..)| *number as usize).eq(0..self.intervals) {
            return Err(format!("segment tree: {} of {} intervals are stored", stored.len(), self.intervals));
        }
        Ok(())
    }
}

/// The first values of all elementary intervals but the leftmost, in ascending order.
fn cuts(intervals: &[(i64, i64)]) -> Vec<i64> {
    let mut cuts = Vec::with_capacity(2 * intervals.len());
    for (low, high) in intervals {
        cuts.push(*low);
        // No cut after the largest value.
        cuts.extend(high.checked_add(1));
    }
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// The first value of the right half, by inner node.
fn splits(cuts: Vec<i64>) -> Vec<i64> {
    let leaves = (cuts.len() + 1).next_power_of_two();
    let mut splits = vec![i64::MAX; leaves];
    for (leaf, cut) in (1..).zip(cuts) {
        splits[node_before(leaf, leaves)] = cut;
    }
    splits
}

/// The inner node whose right half begins with this leaf. Every leaf but 0 has one.
fn node_before(leaf: usize, leaves: usize) -> usize {
    // Up while the leaf is first in a left half, then one level more.
    (leaves + leaf) >> (leaf.trailing_zeros() + 1)
}

/// Visits the nodes from the root to the leaf of a point; returns that leaf.
fn descend(splits: &[i64], point: i64, mut visit: impl FnMut(usize)) -> usize {
    let mut node = 1;
    while node < splits.len() {
        visit(node);
        node = 2 * node + usize::from(splits[node] <= point);
    }
    visit(node);
    node
}

/// Visits the canonical nodes of an interval, at most two per level.
fn canonical_nodes(splits: &[i64], (low, high): (i64, i64), mut visit: impl FnMut(usize)) {
    let mut first = descend(splits, low, |_| {});
    let mut end = descend(splits, high, |_| {}) + 1;
    // From the leaves up: a node is canonical if its parent is not within the interval.
    while first < end {
        if first % 2 == 1 {
            visit(first);
            first += 1;
        }
        if end % 2 == 1 {
            end -= 1;
            visit(end);
        }
        first /= 2;
        end /= 2;
    }
}
