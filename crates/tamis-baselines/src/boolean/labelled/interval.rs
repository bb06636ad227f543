//! Interval labels: a leaf is an interval of positions, and an expression holds iff satisfied leaves form a chain of
//! adjacent intervals from the first position to the last.
//!
//! An expression has the positions 0 to n. An AND divides its interval among its operands, side by side; the operands of
//! an OR all have the interval of the OR. Every AND divides at positions of its own, so a chain cannot change from one
//! operand of an OR to another on the way:
//!
//! ```text
//! (p1 or p2 or p3) and p4 and (p5 or p6)        (a and b) or (c and d)
//! 0 ─── p1 ───▶ 1 ─ p4 ─▶ 2 ─── p5 ───▶ 3       0 ── a ──▶ 1 ──────── b ───▶ 3
//! 0 ─── p2 ───▶ 1         2 ─── p6 ───▶ 3       0 ──────── c ──▶ 2 ── d ───▶ 3
//! 0 ─── p3 ───▶ 1
//! ```
//!
//! Positions ascend along every chain, so one pass over the labels, sorted by start, finds all positions that are reached.
//!
//! Deviation: the paper numbers positions by leaves; here only the points at which an AND divides are numbered, so labels
//! are smaller and most expressions have at most 64 positions, which fit a word.

use super::Labelling;
use crate::boolean::tree::{TreeNode, TreeWord, operands};
use tamis_core::engine::SubId;
use tamis_core::engine::shared::list_pool::shrink;

/// A label: from a position, exclusive, to a later one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::boolean) struct PositionInterval {
    from: u16,
    to: u16,
}

/// See the module's head.
#[derive(Debug, Default)]
pub(in crate::boolean) struct Interval {
    /// By subscription: its last position; 0 for unused numbers.
    last: Vec<u16>,
}

/// Points at which the ANDs of a tree divide.
fn divisions(tree: &[TreeWord]) -> u16 {
    let inner = operands(tree).map(divisions).sum();
    match tree[0].node() {
        TreeNode::And(_) => operands(tree).count() as u16 - 1 + inner,
        TreeNode::Leaf(_) | TreeNode::Or(_) => inner,
    }
}

/// Appends the labels of a tree that has the interval `within`; its divisions are numbered from `next` on.
fn label(tree: &[TreeWord], within: PositionInterval, mut next: u16, labels: &mut Vec<PositionInterval>) {
    match tree[0].node() {
        TreeNode::Leaf(_) => labels.push(within),
        TreeNode::Or(_) => {
            for operand in operands(tree) {
                label(operand, within, next, labels);
                next += divisions(operand);
            }
        }
        TreeNode::And(_) => {
            let mut from = within.from;
            let mut rest = operands(tree).peekable();
            while let Some(operand) = rest.next() {
                let end = next + divisions(operand);
                let to = if rest.peek().is_some() { end } else { within.to };
                label(operand, PositionInterval { from, to }, next, labels);
                (from, next) = (to, end + 1);
            }
        }
    }
}

impl Labelling for Interval {
    type Label = PositionInterval;
    /// Positions reached, one bit each, for expressions with more than 64.
    type Buffers = Vec<u64>;
    const NAME: &'static str = "interval_id";

    fn label(&mut self, subscription: SubId, tree: &[TreeWord], labels: &mut Vec<PositionInterval>) {
        if tree.is_empty() {
            return;
        }
        let to = divisions(tree) + 1;
        label(tree, PositionInterval { from: 0, to }, 1, labels);
        if self.last.len() <= subscription.index() {
            self.last.resize(subscription.index() + 1, 0);
        }
        self.last[subscription.index()] = to;
    }

    fn forget(&mut self, subscription: SubId) {
        self.last[subscription.index()] = 0;
    }

    #[inline]
    fn holds(&self, subscription: SubId, labels: &[PositionInterval], reached: &mut Vec<u64>) -> bool {
        let last = self.last[subscription.index()];
        if last < 64 {
            let mut reached = 1_u64;
            for label in labels {
                reached |= (reached >> label.from & 1) << label.to;
            }
            return reached >> last & 1 != 0;
        }
        reached.clear();
        reached.resize(usize::from(last) / 64 + 1, 0);
        reached[0] = 1;
        for label in labels {
            let bit = reached[usize::from(label.from) / 64] >> (label.from % 64) & 1;
            reached[usize::from(label.to) / 64] |= bit << (label.to % 64);
        }
        reached[usize::from(last) / 64] >> (last % 64) & 1 != 0
    }

    fn defragment(&mut self) {
        shrink(&mut self.last);
    }

    fn memory(&self) -> usize {
        self.last.capacity() * size_of::<u16>()
    }
}
