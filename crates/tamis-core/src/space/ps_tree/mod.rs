//! PS-Tree: which predicate space does a value belong to?
//!
//! Paper: S. Ji and H.-A. Jacobsen, PS-Tree-based Efficient Boolean Expression Matching for High-Dimensional and
//! Dense Workloads, PVLDB 12(3), 2018, section 4.
//!
//! Idea: the bounds of all predicates of a dimension cut its values into disjoint spaces, the leaves. A bound's value
//! is spelled by the path that leads to it, element by element, and holds three links: to the leaf less than the
//! value, to the one that holds it, to the one greater (`l`, `e`, `g`; they may be the same leaf). Looking a value up
//! ([`PsTree::locate`], the paper's MatchPair) walks its elements until they lead to a bound, one of whose three links
//! is the answer, or leave the paths of all bounds, which leads to a leaf at once. The cost depends on the length of
//! the value, not on how many predicates there are.
//!
//! Invariants: leaves form a list in ascending order that covers all values; two neighbours are separated by exactly
//! one cut (before or after a bound's value) that at least one predicate needs; inner nodes lead to at least two
//! bounds, know the lowest and the highest, and where they lead to none, to the leaf between those beside it.
//!
//! Cost: look-up and cut O(elements); covering a predicate O(spaces covered). An inner node takes 84 bytes, a bound
//! about 48.
//!
//! Deviations from the paper:
//! - Where no bound follows, a node links the leaf itself, and it keeps the lowest and highest bound below it. This
//!   replaces the climbs of GetRNode and GetLNode, and most look-ups never read a bound.
//! - Paths without branches are not spelled out (as in a radix tree): fewer nodes, fewer steps.
//! - Neighbours merge when no predicate needs the cut between them, counted per cut. The paper merges neighbours with
//!   equal predicate counters, which is wrong when different predicates of equal number cover them.
//! - A split shares the observed events evenly between both parts; copying the counter would count them twice.

mod branches;
mod check;
mod nodes;

use super::elements::{Elements, Key};
use super::leaves::{LeafId, Leaves, Spare};
use crate::expr::Cut;
use nodes::{Bound, Children, Cuts, Inner, Link, NONE, PATH, Target};
use std::cmp::Ordering;

/// A leaf was cut in two: `kept` is what remains below, `made` the part above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// The part that keeps its number.
    pub kept: LeafId,
    /// The new part.
    pub made: LeafId,
}

/// Two leaves became one: `kept` now covers `gone`, too, whose number is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merge {
    /// The leaf that grew.
    pub kept: LeafId,
    /// The leaf that is no more.
    pub gone: LeafId,
}

/// Two ends of a range of values; `None` is open.
pub type Range<K> = (Option<Cut<K>>, Option<Cut<K>>);

/// Where nearly all look-ups begin: behind the elements that all bounds share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Start {
    link: Link,
    depth: u32,
    path: u64,
}

/// See the module's head.
#[derive(Clone, Debug)]
pub struct PsTree<K> {
    root: Link,
    start: Start,
    inner: Vec<Inner>,
    /// By inner node.
    children: Vec<Children>,
    bounds: Vec<Bound<K>>,
    /// By bound.
    cuts: Vec<Cuts>,
    free_inner: Vec<u32>,
    free_bounds: Vec<u32>,
    first: LeafId,
    last: LeafId,
    spare: Spare,
    /// How many leaves there are.
    spaces: usize,
}

/// A bound beside a value that is none.
enum Neighbour {
    Nobody,
    Below(u32),
    Above(u32),
}

impl<K: Key> PsTree<K> {
    /// A tree with one space that holds all values.
    pub fn new(leaves: &mut Leaves) -> PsTree<K> {
        let mut spare = Spare::default();
        let leaf = leaves.make_in(&mut spare);
        PsTree {
            root: Link::leaf(leaf),
            start: Start { link: Link::leaf(leaf), depth: 0, path: 0 },
            inner: Vec::new(),
            children: Vec::new(),
            bounds: Vec::new(),
            cuts: Vec::new(),
            free_inner: Vec::new(),
            free_bounds: Vec::new(),
            first: leaf,
            last: leaf,
            spare,
            spaces: 1,
        }
    }

    /// The space of a value (the paper's MatchPair).
    #[inline]
    pub fn locate(&self, value: &K::Query) -> LeafId {
        let (packed, known) = value.packed();
        let Start { mut link, depth, path } = self.start;
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
                    // The elements between the branches, compared all at once.
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

    /// [`PsTree::locate`] from a link on, for values whose elements end or do not fit into a word.
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

    /// Where a value goes from an inner node, given that it agrees with the path in all elements before `depth`.
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

    /// The element that all bounds below a node have at a depth before its own.
    #[inline]
    fn path_element(&self, node: &Inner, depth: usize) -> Option<u8> {
        match node.depth as usize - depth {
            back @ 1..=PATH => Some((node.path >> (4 * (back - 1))) as u8 & 15),
            _ => self.bounds[node.lowest as usize].value.query().element(depth),
        }
    }

    /// The lowest and the highest bound that a link leads to; none for a leaf.
    fn extremes(&self, link: Link) -> Option<(u32, u32)> {
        match link.target() {
            Target::Leaf(_) => None,
            Target::Bound(id) => Some((id, id)),
            Target::Inner(id) => Some((self.inner[id as usize].lowest, self.inner[id as usize].highest)),
        }
    }

    /// The bound with this value, or one beside it.
    fn find(&self, value: &K::Query) -> Result<u32, Neighbour> {
        let mut link = self.root;
        let mut depth = 0;
        loop {
            match link.target() {
                Target::Leaf(_) => return Err(Neighbour::Nobody),
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

    /// Makes sure that spaces end at both ends of a range (the paper's Partition, twice); one more predicate needs
    /// them. The splits are appended. Returns the first and the last leaf of the range.
    pub fn place(
        &mut self,
        (low, high): &Range<K>,
        leaves: &mut Leaves,
        splits: &mut Vec<Split>,
    ) -> (LeafId, LeafId) {
        let low_bound = low.as_ref().map(|cut| self.partition(cut, leaves, splits));
        let high_bound = high.as_ref().map(|cut| self.partition(cut, leaves, splits));
        let first = low.as_ref().zip(low_bound).map(|(cut, id)| self.bounds[id as usize].above(cut.after));
        let last = high.as_ref().zip(high_bound).map(|(cut, id)| self.bounds[id as usize].below(cut.after));
        (first.unwrap_or(self.first), last.unwrap_or(self.last))
    }

    fn partition(&mut self, cut: &Cut<K>, leaves: &mut Leaves, splits: &mut Vec<Split>) -> u32 {
        let id = match self.find(cut.at.query()) {
            Ok(id) => id,
            Err(neighbour) => self.add_bound(&cut.at, neighbour),
        };
        let bound = &mut self.bounds[id as usize];
        let needed = self.cuts[id as usize].needed(cut.after);
        *needed += 1;
        if *needed > 1 {
            return id;
        }
        let kept = if cut.after { bound.e } else { bound.l };
        let made = leaves.split(kept, &mut self.spare);
        if cut.after {
            self.set_above(id, made);
        } else {
            bound.e = made;
            if self.cuts[id as usize].after == 0 {
                self.set_above(id, made);
            }
        }
        self.spaces += 1;
        splits.push(Split { kept, made });
        id
    }

    /// One predicate less needs the ends of a range, which [`PsTree::place`] made; the spaces beside an end merge if
    /// it was the last (the paper's DeletePredicate). The merges are appended.
    pub fn unplace(&mut self, (low, high): &Range<K>, leaves: &mut Leaves, merges: &mut Vec<Merge>) {
        for cut in low.iter().chain(high) {
            merges.extend(self.unpartition(cut, leaves));
        }
    }

    fn unpartition(&mut self, cut: &Cut<K>, leaves: &mut Leaves) -> Option<Merge> {
        let Ok(id) = self.find(cut.at.query()) else {
            debug_assert!(false, "the cut is there");
            return None;
        };
        let bound = &mut self.bounds[id as usize];
        let needed = self.cuts[id as usize].needed(cut.after);
        *needed -= 1;
        if *needed > 0 {
            return None;
        }
        let merge = if cut.after {
            Merge { kept: bound.e, gone: bound.g }
        } else {
            Merge { kept: bound.l, gone: bound.e }
        };
        let Cuts { before, after, .. } = self.cuts[id as usize];
        let alone = before == 0 && after == 0;
        if cut.after {
            self.set_above(id, merge.kept);
        } else {
            bound.e = merge.kept;
            if self.cuts[id as usize].after == 0 {
                self.set_above(id, merge.kept);
            }
        }
        leaves.merge(merge.kept, merge.gone, &mut self.spare);
        self.spaces -= 1;
        if alone {
            self.remove_bound(id);
        }
        Some(merge)
    }

    /// Links the leaf between a bound and the next one.
    fn set_above(&mut self, id: u32, leaf: LeafId) {
        self.bounds[id as usize].g = leaf;
        let next = self.cuts[id as usize].next;
        self.fill_above(id, leaf);
        if next == NONE {
            self.last = leaf;
        } else {
            let bound = &mut self.bounds[next as usize];
            bound.l = leaf;
            if self.cuts[next as usize].before == 0 {
                bound.e = leaf;
            }
            self.fill_below(next, leaf);
        }
    }

    /// The first and the last leaf of a range that was placed.
    pub fn ends(&self, (low, high): &Range<K>) -> (LeafId, LeafId) {
        let bound = |cut: &Cut<K>| self.find(cut.at.query()).ok().map(|id| &self.bounds[id as usize]);
        let first = low.as_ref().and_then(|cut| bound(cut).map(|bound| bound.above(cut.after)));
        let last = high.as_ref().and_then(|cut| bound(cut).map(|bound| bound.below(cut.after)));
        (first.unwrap_or(self.first), last.unwrap_or(self.last))
    }

    /// The leaves that hold the ends of a range, whether or not its cuts have been made, and for each whether the
    /// range has all of it.
    pub fn hull(&self, (low, high): &Range<K>) -> [(LeafId, bool); 2] {
        let end = |cut: &Option<Cut<K>>, open: LeafId, below: bool| {
            let Some(cut) = cut else { return (open, true) };
            match self.find(cut.at.query()) {
                Ok(id) => {
                    let bound = &self.bounds[id as usize];
                    let Cuts { before, after, .. } = self.cuts[id as usize];
                    let made = if cut.after { after > 0 } else { before > 0 };
                    (if below { bound.above(cut.after) } else { bound.below(cut.after) }, made)
                }
                Err(Neighbour::Below(id)) => (self.bounds[id as usize].g, false),
                Err(Neighbour::Above(id)) => (self.bounds[id as usize].l, false),
                Err(Neighbour::Nobody) => (self.first, false),
            }
        };
        [end(low, self.first, true), end(high, self.last, false)]
    }

    /// How many spaces there are.
    pub fn spaces(&self) -> usize {
        self.spaces
    }

    /// How many inner nodes and bounds there are.
    pub fn size(&self) -> (usize, usize) {
        (self.inner.len() - self.free_inner.len(), self.bounds.len() - self.free_bounds.len())
    }

    /// Bytes in use, without the leaves.
    pub fn memory(&self) -> usize {
        self.inner.capacity() * size_of::<Inner>()
            + self.children.capacity() * size_of::<Children>()
            + self.bounds.capacity() * size_of::<Bound<K>>()
            + self.cuts.capacity() * size_of::<Cuts>()
            + (self.free_inner.capacity() + self.free_bounds.capacity()) * size_of::<u32>()
            + self.spare.memory()
    }
}

/// Where a value goes from a node.
enum Step {
    /// On with this element.
    Down(usize),
    /// Below all its bounds.
    Below,
    /// Above all its bounds.
    Above,
    /// Its elements end here, and so do those of a bound.
    Here,
}
