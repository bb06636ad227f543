//! Dewey labels: a leaf is the path from the root to it, one component per level: which operand, and whether it is the
//! last of an AND.
//!
//! ANDs and ORs alternate, and a root that is no AND counts as the only operand of one, so components at even levels are
//! operands of ANDs and those at odd levels are operands of ORs:
//!
//! ```text
//! (p1 or p2 or p3) and p4 and (p5 or p6)   p1 1.1   p2 1.2   p3 1.3   p4 2   p5 3*.1   p6 3*.2
//! (a and b) or c                           a 1*.1.1   b 1*.1.2*   c 1*.2
//! ```
//!
//! In sorted order the labels of one operand are adjacent. An AND holds iff its operands 1, 2, ... are all there and hold,
//! up to the one with the mark of the last (`*`); an OR holds iff one of its operands does.
//!
//! Deviation: the paths of a subscription are in one list in the order of the leaves, and a label is the position of its
//! path there. Leaves in the order of the tree are paths in lexicographic order, so labels are sorted as numbers.

use super::Labelling;
use crate::boolean::tree::{TreeNode, TreeWord, operands};
use tamis_core::engine::SubId;
use tamis_core::engine::shared::list_pool::{ListPool, ListRef, shrink};

/// A component of a path: the operand's ordinal from 1 on, shifted by one bit, and the mark of an AND's last operand.
type Component = u16;

/// Ends a path.
const END: Component = 0;

/// See the module's head.
#[derive(Debug, Default)]
pub(in crate::boolean) struct Dewey {
    /// By subscription: the paths of its leaves, each ended by [`END`]; empty for unused numbers.
    paths: Vec<ListRef>,
    /// The items of `paths`.
    components: ListPool<Component, 4>,
}

fn component(ordinal: usize, is_last_of_and: bool) -> Component {
    (ordinal as Component) << 1 | Component::from(is_last_of_and)
}

/// Appends the paths of a tree whose root has the path `prefix`.
fn label(tree: &[TreeWord], prefix: &mut Vec<Component>, paths: &mut Vec<Component>, labels: &mut Vec<u32>) {
    let is_and = match tree[0].node() {
        TreeNode::Leaf(_) => {
            labels.push(paths.len() as u32);
            paths.extend(prefix.iter().copied().chain([END]));
            return;
        }
        TreeNode::And(_) => true,
        TreeNode::Or(_) => false,
    };
    let mut rest = (1..).zip(operands(tree)).peekable();
    while let Some((ordinal, operand)) = rest.next() {
        prefix.push(component(ordinal, is_and && rest.peek().is_none()));
        label(operand, prefix, paths, labels);
        prefix.pop();
    }
}

/// Whether the labels that share their first component with the front one satisfy that operand, and all other labels.
fn first_operand<'l>(
    paths: &[Component],
    labels: &'l [u32],
    level: usize,
    is_held: impl Fn(&[Component], &[u32], usize) -> bool,
) -> (bool, &'l [u32]) {
    let at = |label: &u32| *label as usize + level;
    let first = paths[at(&labels[0])];
    // Labels are few: a scan is faster than a binary search.
    let count = labels.iter().take_while(|label| paths[at(label)] == first).count();
    let (operand, others) = labels.split_at(count);
    let is_leaf = paths[at(&operand[0]) + 1] == END;
    (is_leaf || is_held(paths, operand, level + 1), others)
}

fn and_holds(paths: &[Component], mut labels: &[u32], level: usize) -> bool {
    let mut expected = 1;
    while let Some(label) = labels.first() {
        let first = paths[*label as usize + level];
        if first >> 1 != expected {
            return false;
        }
        let (held, others) = first_operand(paths, labels, level, or_holds);
        if !held || first & 1 != 0 {
            return held;
        }
        (expected, labels) = (expected + 1, others);
    }
    false
}

fn or_holds(paths: &[Component], mut labels: &[u32], level: usize) -> bool {
    while !labels.is_empty() {
        let (held, others) = first_operand(paths, labels, level, and_holds);
        if held {
            return true;
        }
        labels = others;
    }
    false
}

impl Labelling for Dewey {
    /// The position of the leaf's path among the components of its subscription.
    type Label = u32;
    type Buffers = ();
    const NAME: &'static str = "dewey_id";

    fn label(&mut self, subscription: SubId, tree: &[TreeWord], labels: &mut Vec<u32>) {
        if tree.is_empty() {
            return;
        }
        let (mut prefix, mut paths) = (Vec::new(), Vec::new());
        if !matches!(tree[0].node(), TreeNode::And(_)) {
            prefix.push(component(1, true));
        }
        label(tree, &mut prefix, &mut paths, labels);
        if self.paths.len() <= subscription.index() {
            self.paths.resize(subscription.index() + 1, ListRef::EMPTY);
        }
        self.components.extend(&mut self.paths[subscription.index()], &paths);
    }

    fn forget(&mut self, subscription: SubId) {
        let paths = std::mem::take(&mut self.paths[subscription.index()]);
        self.components.release(paths);
    }

    #[inline]
    fn holds(&self, subscription: SubId, labels: &[u32], _: &mut ()) -> bool {
        and_holds(self.components.get(self.paths[subscription.index()]), labels, 0)
    }

    fn defragment(&mut self) {
        shrink(&mut self.paths);
        self.components.defragment(self.paths.iter_mut());
    }

    fn memory(&self) -> usize {
        self.paths.capacity() * size_of::<ListRef>() + self.components.memory()
    }
}
