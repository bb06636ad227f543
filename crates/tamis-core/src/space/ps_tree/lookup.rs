//! Look-ups: the leaf of a value, the bound at a value, the leaves of a range.

use super::nodes::{Inner, Link, NONE, PATH, Target};
use super::{LookupStart, PsTree, Range};
use crate::expr::Cut;
use crate::space::elements::{Elements, Key};
use crate::space::leaves::LeafId;
use std::cmp::Ordering;

/// A bound next to a value that is not a bound itself.
pub(super) enum Neighbour {
    /// The tree has no bounds.
    None,
    /// The next bound below.
    Below(u32),
    /// The next bound above.
    Above(u32),
}

/// How a value's elements relate to an inner node.
enum Step {
    /// They continue with this element.
    Down(usize),
    /// The value is below all bounds of the node.
    Below,
    /// The value is above all bounds of the node.
    Above,
    /// They end at the node, as do those of a bound.
    Here,
}

impl<K: Key> PsTree<K> {
    /// The space of a value (the paper's MatchPair).
    #[inline]
    pub fn locate(&self, value: &K::Query) -> LeafId {
        let (packed, known) = value.packed();
        let LookupStart { mut link, depth, path } = self.start;
        if known <= depth as usize || packed >> 4 >> (60 - 4 * depth) != path {
            return self.locate_by_elements(value, self.root, 0);
        }
        let mut ahead = packed << (4 * depth);
        let mut left = known - depth as usize;
        loop {
            while left > 0
                && let Some(node) = link.as_direct()
            {
                link = self.children[node].0[(ahead >> 60) as usize];
                ahead <<= 4;
                left -= 1;
            }
            match link.target() {
                Target::Leaf(leaf) => return leaf,
                Target::Bound(id) => return self.bounds[id as usize].leaf_of(value),
                Target::Inner(id) => {
                    let node = &self.inner[id as usize];
                    let skipped = (node.depth as usize).wrapping_sub(known - left);
                    if skipped >= left || skipped > PATH {
                        return self.locate_by_elements(value, link, known - left);
                    }
                    // The elements between two inner nodes, compared at once.
                    let own = ahead >> 4 >> (60 - 4 * skipped);
                    let path = u64::from(node.path) & ((1 << (4 * skipped)) - 1);
                    match own.cmp(&path) {
                        Ordering::Less => return self.bounds[node.lowest as usize].l,
                        Ordering::Greater => return self.bounds[node.highest as usize].g,
                        Ordering::Equal => {}
                    }
                    ahead <<= 4 * skipped;
                    link = self.children[id as usize].0[(ahead >> 60) as usize];
                    ahead <<= 4;
                    left -= skipped + 1;
                }
            }
        }
    }

    /// [`PsTree::locate`] from a link on, one element at a time: for values whose elements end inside the tree or do
    /// not fit into a u64.
    #[cold]
    fn locate_by_elements(&self, value: &K::Query, mut link: Link, mut depth: usize) -> LeafId {
        loop {
            match link.target() {
                Target::Leaf(leaf) => return leaf,
                Target::Bound(id) => return self.bounds[id as usize].leaf_of(value),
                Target::Inner(id) => {
                    let node = &self.inner[id as usize];
                    match self.step(node, depth, value) {
                        Step::Down(element) => {
                            link = self.children[id as usize].0[element];
                            depth = node.depth as usize + 1;
                        }
                        Step::Below => return self.bounds[node.lowest as usize].l,
                        Step::Above => return self.bounds[node.highest as usize].g,
                        Step::Here => return self.bounds[node.end as usize].e,
                    }
                }
            }
        }
    }

    /// How a value continues from an inner node, given that it has the elements of the path before `depth`.
    fn step(&self, node: &Inner, depth: usize, value: &K::Query) -> Step {
        for depth in depth..node.depth as usize {
            match value.element(depth).cmp(&self.path_element(node, depth)) {
                Ordering::Less => return Step::Below,
                Ordering::Greater => return Step::Above,
                Ordering::Equal => {}
            }
        }
        match value.element(node.depth as usize) {
            Some(element) => Step::Down(element as usize),
            None if node.end == NONE => Step::Below,
            None => Step::Here,
        }
    }

    /// The element that all bounds below a node share at a depth before the node's.
    #[inline]
    pub(super) fn path_element(&self, node: &Inner, depth: usize) -> Option<u8> {
        match node.depth as usize - depth {
            back @ 1..=PATH => Some((node.path >> (4 * (back - 1))) as u8 & 15),
            _ => self.bounds[node.lowest as usize].value.query().element(depth),
        }
    }

    /// The lowest and the highest bound below a link; `None` for a leaf.
    pub(super) fn extremes(&self, link: Link) -> Option<(u32, u32)> {
        match link.target() {
            Target::Leaf(_) => None,
            Target::Bound(id) => Some((id, id)),
            Target::Inner(id) => Some((self.inner[id as usize].lowest, self.inner[id as usize].highest)),
        }
    }

    /// The bound with this value, or one adjacent to it.
    pub(super) fn find(&self, value: &K::Query) -> Result<u32, Neighbour> {
        let mut link = self.root;
        let mut depth = 0;
        loop {
            match link.target() {
                Target::Leaf(_) => return Err(Neighbour::None),
                Target::Bound(id) => {
                    return match value.cmp(self.bounds[id as usize].value.query()) {
                        Ordering::Less => Err(Neighbour::Above(id)),
                        Ordering::Equal => Ok(id),
                        Ordering::Greater => Err(Neighbour::Below(id)),
                    };
                }
                Target::Inner(id) => {
                    let node = &self.inner[id as usize];
                    match self.step(node, depth, value) {
                        Step::Down(element) => {
                            let children = &self.children[id as usize].0;
                            link = children[element];
                            if link.is_leaf() {
                                let above = children[element + 1..].iter().find_map(|l| self.extremes(*l));
                                return Err(above.map_or(Neighbour::Below(node.highest), |(lowest, _)| {
                                    Neighbour::Above(lowest)
                                }));
                            }
                            depth = node.depth as usize + 1;
                        }
                        Step::Below => return Err(Neighbour::Above(node.lowest)),
                        Step::Above => return Err(Neighbour::Below(node.highest)),
                        Step::Here => return Ok(node.end),
                    }
                }
            }
        }
    }

    /// The first and the last leaf of a placed range.
    pub fn ends(&self, (low, high): &Range<K>) -> (LeafId, LeafId) {
        let bound = |cut: &Cut<K>| self.find(cut.at.query()).ok().map(|id| &self.bounds[id as usize]);
        let first = low.as_ref().and_then(|cut| bound(cut).map(|bound| bound.above(cut.after)));
        let last = high.as_ref().and_then(|cut| bound(cut).map(|bound| bound.below(cut.after)));
        (first.unwrap_or(self.first), last.unwrap_or(self.last))
    }

    /// The leaves that contain the ends of a range, placed or not, and for each whether it lies within the range as far
    /// as this end is concerned.
    pub fn hull(&self, (low, high): &Range<K>) -> [(LeafId, bool); 2] {
        let end = |cut: &Option<Cut<K>>, open: LeafId, below: bool| {
            let Some(cut) = cut else { return (open, true) };
            match self.find(cut.at.query()) {
                Ok(id) => {
                    let bound = &self.bounds[id as usize];
                    let update = self.bound_updates[id as usize];
                    let made = if cut.after { update.after > 0 } else { update.before > 0 };
                    (if below { bound.above(cut.after) } else { bound.below(cut.after) }, made)
                }
                Err(Neighbour::Below(id)) => (self.bounds[id as usize].g, false),
                Err(Neighbour::Above(id)) => (self.bounds[id as usize].l, false),
                Err(Neighbour::None) => (self.first, false),
            }
        };
        [end(low, self.first, true), end(high, self.last, false)]
    }
}
