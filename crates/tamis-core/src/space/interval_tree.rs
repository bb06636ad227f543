//! Interval-Tree: a search tree by low end that knows the largest high end below each node.
//!
//! Source: Cormen, Leiserson, Rivest, Stein, "Introduction to Algorithms", section 14.3 (third edition). The PS-Tree
//! paper compares itself with it in section 7.5.
//!
//! Idea: one node for each interval, ordered by low end. A subtree whose largest high end lies before the point
//! holds no answer and is skipped; at a node whose low end lies after the point, so is everything to the right.
//!
//! Invariants: keys (low, high, number) ascend from left to right; `max` is the largest high end of the node and all
//! below; `height` is 1 more than that of the higher child, and the heights of two siblings differ by at most 1;
//! every slot of `nodes` is reached from the root once or listed in `free` once.
//!
//! Cost, for n intervals of which k contain the point: O(log n) for an update, O(min(n, (k + 1) log n)) for a query,
//! O(n log n) for building, 40 bytes an interval. Counting is no cheaper than enumerating: `max` tells that a subtree
//! holds some answer, never how many. Memory of removed intervals is used again, but not given back.
//!
//! Where this leaves the book:
//! - An AVL tree instead of a red-black tree: there are fewer cases, and the tree is flatter.
//! - All intervals that contain the point are found, where the book searches for one that overlaps another interval.
//! - Equal low ends are ordered by high end and number, so that removal finds its node without a link to it.
//! - `build` sorts and halves instead of inserting one by one. Nodes then lie in memory in the order of their keys.
//!
//! Functions recurse over the height, which is at most 46 for as many intervals as there are numbers.

use super::{DynamicStabbing, Stabbing};
use std::cmp::Ordering;

const NONE: u32 = u32::MAX;
const LEFT: usize = 0;
const RIGHT: usize = 1;

type Key = (i64, i64, u32);

#[derive(Clone, Debug)]
struct Node {
    low: i64,
    high: i64,
    /// The largest high end here and below.
    max: i64,
    /// Left and right, or `NONE`.
    children: [u32; 2],
    number: u32,
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
    nodes: Vec<Node>,
    root: u32,
    /// Slots of `nodes` that removed intervals left.
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
        let mut seen = vec![false; self.nodes.len()];
        let mut see = |slot: u32| match seen.get_mut(slot as usize) {
            None => Err(format!("interval tree: slot {slot} is not there")),
            Some(true) => Err(format!("interval tree: slot {slot} is used twice")),
            Some(seen) => {
                *seen = true;
                Ok(())
            }
        };
        self.free.iter().try_for_each(|slot| see(*slot))?;
        // A stack rather than recursion: a broken tree may have any height.
        let mut open: Vec<(u32, Option<Key>, Option<Key>)> = vec![(self.root, None, None)];
        while let Some((at, after, before)) = open.pop() {
            if at == NONE {
                continue;
            }
            see(at)?;
            let node = &self.nodes[at as usize];
            let key = node.key();
            if after.is_some_and(|after| key <= after) || before.is_some_and(|before| before <= key) {
                return Err(format!("interval tree: {key:?} is out of order"));
            }
            let below = |side: usize| self.nodes.get(node.children[side] as usize);
            let height = |side: usize| below(side).map_or(0, |child| child.height);
            let (left, right) = (height(LEFT), height(RIGHT));
            if left.abs_diff(right) > 1 {
                return Err(format!("interval tree: {key:?} has heights {left} and {right} below"));
            }
            if node.height != 1 + left.max(right) {
                return Err(format!("interval tree: {key:?} says its height is {}", node.height));
            }
            let max = [LEFT, RIGHT].into_iter().filter_map(|side| below(side).map(|child| child.max)).max();
            if node.max != max.map_or(node.high, |max| max.max(node.high)) {
                return Err(format!("interval tree: {key:?} says {} is the largest high end", node.max));
            }
            open.push((node.children[LEFT], after, Some(key)));
            open.push((node.children[RIGHT], Some(key), before));
        }
        match seen.iter().position(|seen| !seen) {
            Some(slot) => Err(format!("interval tree: nothing leads to slot {slot}")),
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
    /// Calls `found` for every interval at and below a node that contains the point.
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

    /// Makes a tree of the nodes in these slots, which are sorted, and returns its root.
    fn link(&mut self, from: usize, to: usize) -> u32 {
        if from == to {
            return NONE;
        }
        let middle = from + (to - from) / 2;
        self.nodes[middle].children = [self.link(from, middle), self.link(middle + 1, to)];
        self.refresh(middle as u32);
        middle as u32
    }

    /// Puts a new node below `at`. Like the functions that follow, takes the root of a subtree, changes the subtree
    /// and returns the root it has then.
    fn insert_below(&mut self, at: u32, new: u32) -> u32 {
        if at == NONE {
            return new;
        }
        let side = if self.nodes[new as usize].key() < self.nodes[at as usize].key() { LEFT } else { RIGHT };
        let child = self.insert_below(self.nodes[at as usize].children[side], new);
        self.nodes[at as usize].children[side] = child;
        self.balance(at)
    }

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

    /// Takes out the leftmost node, and returns it too.
    fn take_first(&mut self, at: u32) -> (u32, u32) {
        let [left, right] = self.nodes[at as usize].children;
        if left == NONE {
            return (at, right);
        }
        let (first, rest) = self.take_first(left);
        self.nodes[at as usize].children[LEFT] = rest;
        (first, self.balance(at))
    }

    /// Makes the invariants hold again after one child gained or lost a level.
    fn balance(&mut self, at: u32) -> u32 {
        for side in [LEFT, RIGHT] {
            let children = self.nodes[at as usize].children;
            let (high, low) = (children[side], children[1 - side]);
            if self.height(high) > self.height(low) + 1 {
                // What lies between the two keys changes sides in the rotation, so it must not be the higher part.
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

    /// The child on this side takes the place of its parent.
    fn rotate(&mut self, at: u32, side: usize) -> u32 {
        let up = self.nodes[at as usize].children[side];
        self.nodes[at as usize].children[side] = self.nodes[up as usize].children[1 - side];
        self.nodes[up as usize].children[1 - side] = at;
        self.refresh(at);
        self.refresh(up);
        up
    }

    /// Computes anew what a node says about those below it.
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
