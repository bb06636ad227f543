//! Interval-Tree: a search tree ordered by low end; each node stores the largest high end of its subtree.
//!
//! Source: Cormen, Leiserson, Rivest, Stein, "Introduction to Algorithms", section 14.3 (third edition). The PS-Tree
//! paper compares with it in section 7.5.
//!
//! Idea: one node per interval, ordered by low end. A query skips a subtree whose largest high end is below the point,
//! and the right subtree of a node whose low end is above the point.
//!
//! Invariants: keys (low, high, number) are in ascending order from left to right; `max` is the largest high end of the
//! subtree; `height` is 1 more than that of the higher child, and the heights of two siblings differ by at most 1;
//! every slot of `nodes` is either reachable from the root along one path or listed once in `free`.
//!
//! Cost, for n intervals of which k contain the point: O(log n) for an update, O(min(n, (k + 1) log n)) for a query,
//! O(n log n) for building, 40 bytes per interval. Counting costs as much as enumerating: `max` says whether a subtree
//! may contain an answer, not how many. Memory of removed intervals is reused, but not released.
//!
//! Deviations from the source:
//! - An AVL tree instead of a red-black tree: fewer cases, lower height.
//! - A query finds all intervals that contain a point; the book's finds one that overlaps an interval.
//! - Equal low ends are ordered by high end and number, so that removal finds its node without a link to it.
//! - `build` sorts and bisects instead of inserting one by one, so nodes are in memory in key order.
//!
//! Functions recurse once per level; the height is at most 46 for 2^32 intervals.

use std::cmp::Ordering;
use tamis_core::space::{DynamicStabbing, Stabbing};

/// No node.
const NONE: u32 = u32::MAX;
const LEFT: usize = 0;
const RIGHT: usize = 1;

/// Low end, high end, number.
type Key = (i64, i64, u32);

/// An interval and its place in the tree.
#[derive(Clone, Debug)]
struct Node {
    low: i64,
    high: i64,
    /// The largest high end of the subtree.
    max: i64,
    /// Slots of the left and the right child; `NONE` where there is none.
    children: [u32; 2],
    /// The number of the interval.
    number: u32,
    /// Levels of the subtree; 1 for a leaf.
    height: u8,
}

impl Node {
    fn leaf((low, high): (i64, i64), number: u32) -> Node {
        Node { low, high, max: high, children: [NONE; 2], number, height: 1 }
    }

    fn key(&self) -> Key {
        (self.low, self.high, self.number)
    }
}

/// See the module's head.
#[derive(Clone, Debug)]
pub struct IntervalTree {
    /// Nodes by slot; slots in `free` are stale.
    nodes: Vec<Node>,
    /// The slot of the root; `NONE` if there are no intervals.
    root: u32,
    /// Unused slots of `nodes`.
    free: Vec<u32>,
}

impl Stabbing for IntervalTree {
    fn build(intervals: &[(i64, i64)]) -> IntervalTree {
        let mut nodes: Vec<Node> =
            intervals.iter().zip(0..).map(|(interval, number)| Node::leaf(*interval, number)).collect();
        nodes.sort_unstable_by_key(Node::key);
        let mut tree = IntervalTree { nodes, root: NONE, free: Vec::new() };
        tree.root = tree.link(0, tree.nodes.len());
        tree
    }

    fn stab(&self, point: i64, found: &mut Vec<u32>) {
        self.visit(self.root, point, &mut |number| found.push(number));
    }

    fn count(&self, point: i64) -> usize {
        let mut count = 0;
        self.visit(self.root, point, &mut |_| count += 1);
        count
    }

    fn memory(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + self.free.capacity() * size_of::<u32>()
    }

    fn validate(&self) -> Result<(), String> {
        let mut visited = vec![false; self.nodes.len()];
        let mut visit = |slot: u32| match visited.get_mut(slot as usize) {
            None => Err(format!("interval tree: slot {slot} does not exist")),
            Some(true) => Err(format!("interval tree: slot {slot} is used twice")),
            Some(visited) => {
                *visited = true;
                Ok(())
            }
        };
        self.free.iter().try_for_each(|slot| visit(*slot))?;
        // An explicit stack: a broken tree may have any height.
        let mut open: Vec<(u32, Option<Key>, Option<Key>)> = vec![(self.root, None, None)];
        while let Some((at, after, before)) = open.pop() {
            if at == NONE {
                continue;
            }
            visit(at)?;
            let node = &self.nodes[at as usize];
            let key = node.key();
            if after.is_some_and(|after| key <= after) || before.is_some_and(|before| before <= key) {
                return Err(format!("interval tree: {key:?} is out of order"));
            }
            let below = |side: usize| self.nodes.get(node.children[side] as usize);
            let height = |side: usize| below(side).map_or(0, |child| child.height);
            let (left, right) = (height(LEFT), height(RIGHT));
            if left.abs_diff(right) > 1 {
                return Err(format!("interval tree: {key:?} has children of heights {left} and {right}"));
            }
            if node.height != 1 + left.max(right) {
                return Err(format!("interval tree: {key:?} stores height {}", node.height));
            }
            let max = [LEFT, RIGHT].into_iter().filter_map(|side| below(side).map(|child| child.max)).max();
            if node.max != max.map_or(node.high, |max| max.max(node.high)) {
                return Err(format!("interval tree: {key:?} stores {} as the largest high end", node.max));
            }
            open.push((node.children[LEFT], after, Some(key)));
            open.push((node.children[RIGHT], Some(key), before));
        }
        match visited.iter().position(|visited| !visited) {
            Some(slot) => Err(format!("interval tree: slot {slot} is neither reachable nor free")),
            None => Ok(()),
        }
    }
}

impl DynamicStabbing for IntervalTree {
    fn insert(&mut self, number: u32, interval: (i64, i64)) {
        let node = Node::leaf(interval, number);
        let slot = match self.free.pop() {
            Some(slot) => {
                self.nodes[slot as usize] = node;
                slot
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        };
        self.root = self.insert_below(self.root, slot);
    }

    fn remove(&mut self, number: u32, (low, high): (i64, i64)) {
        self.root = self.remove_below(self.root, (low, high, number));
    }
}

impl IntervalTree {
    /// Calls `found` for every interval of a subtree that contains the point.
    fn visit(&self, mut at: u32, point: i64, found: &mut impl FnMut(u32)) {
        while at != NONE {
            let node = &self.nodes[at as usize];
            if node.max < point {
                return;
            }
            if point < node.low {
                at = node.children[LEFT];
                continue;
            }
            self.visit(node.children[LEFT], point, found);
            if point <= node.high {
                found(node.number);
            }
            at = node.children[RIGHT];
        }
    }

    /// Links the nodes in these slots, sorted by key, to a balanced tree; returns its root.
    fn link(&mut self, from: usize, to: usize) -> u32 {
        if from == to {
            return NONE;
        }
        let middle = from + (to - from) / 2;
        self.nodes[middle].children = [self.link(from, middle), self.link(middle + 1, to)];
        self.refresh(middle as u32);
        middle as u32
    }

    /// Inserts a new node into the subtree of `at`. As the functions that follow, returns the root of the changed
    /// subtree.
    fn insert_below(&mut self, at: u32, new: u32) -> u32 {
        if at == NONE {
            return new;
        }
        let side = if self.nodes[new as usize].key() < self.nodes[at as usize].key() { LEFT } else { RIGHT };
        let child = self.insert_below(self.nodes[at as usize].children[side], new);
        self.nodes[at as usize].children[side] = child;
        self.balance(at)
    }

    /// Removes the node with this key from the subtree of `at`, if it is there.
    fn remove_below(&mut self, at: u32, key: Key) -> u32 {
        if at == NONE {
            return NONE;
        }
        let [left, right] = self.nodes[at as usize].children;
        match key.cmp(&self.nodes[at as usize].key()) {
            Ordering::Less => self.nodes[at as usize].children[LEFT] = self.remove_below(left, key),
            Ordering::Greater => self.nodes[at as usize].children[RIGHT] = self.remove_below(right, key),
            Ordering::Equal => {
                self.free.push(at);
                if right == NONE {
                    return left;
                }
                let (next, rest) = self.take_first(right);
                self.nodes[next as usize].children = [left, rest];
                return self.balance(next);
            }
        }
        self.balance(at)
    }

    /// Removes the leftmost node of a subtree; returns it and the root of the rest.
    fn take_first(&mut self, at: u32) -> (u32, u32) {
        let [left, right] = self.nodes[at as usize].children;
        if left == NONE {
            return (at, right);
        }
        let (first, rest) = self.take_first(left);
        self.nodes[at as usize].children[LEFT] = rest;
        (first, self.balance(at))
    }

    /// Restores the invariants after one child gained or lost a level.
    fn balance(&mut self, at: u32) -> u32 {
        for side in [LEFT, RIGHT] {
            let children = self.nodes[at as usize].children;
            let (high, low) = (children[side], children[1 - side]);
            if self.height(high) > self.height(low) + 1 {
                // The rotation moves the inner grandchild to the other side, so it must not be the higher one.
                let [outer, inner] = [side, 1 - side].map(|side| self.nodes[high as usize].children[side]);
                if self.height(inner) > self.height(outer) {
                    self.nodes[at as usize].children[side] = self.rotate(high, 1 - side);
                }
                return self.rotate(at, side);
            }
        }
        self.refresh(at);
        at
    }

    /// Rotates: the child on this side becomes the parent of `at`.
    fn rotate(&mut self, at: u32, side: usize) -> u32 {
        let up = self.nodes[at as usize].children[side];
        self.nodes[at as usize].children[side] = self.nodes[up as usize].children[1 - side];
        self.nodes[up as usize].children[1 - side] = at;
        self.refresh(at);
        self.refresh(up);
        up
    }

    /// Recomputes `height` and `max` of a node from its children.
    fn refresh(&mut self, at: u32) {
        let Node { high, children, .. } = self.nodes[at as usize];
        let (mut height, mut max) = (0, high);
        for child in children.into_iter().filter(|child| *child != NONE) {
            let child = &self.nodes[child as usize];
            height = child.height.max(height);
            max = child.max.max(max);
        }
        let node = &mut self.nodes[at as usize];
        (node.height, node.max) = (height + 1, max);
    }

    fn height(&self, at: u32) -> u8 {
        if at == NONE { 0 } else { self.nodes[at as usize].height }
    }
}
