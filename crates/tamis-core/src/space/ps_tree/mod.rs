//! PS-Tree: which predicate space does a value belong to?
//!
//! Paper: S. Ji and H.-A. Jacobsen, PS-Tree-based Efficient Boolean Expression Matching for High-Dimensional and
//! Dense Workloads, PVLDB 12(3), 2018, section 4.
//!
//! Idea: the bounds of all predicates of a dimension cut its values into disjoint spaces, the leaves. A bound's value
//! is spelled by the path that leads to it, element by element, and holds three links: to the leaf less than the
//! value, to the one that holds it, to the one greater (`l`, `e`, `g`; they may be the same leaf). Looking a value up
//! ([`PsTree::locate`], the paper's MatchPair) walks its elements until they end or fit no further; either way a bound
//! next to it is at hand, and one of its three links is the answer. The cost depends on the length of the value, not
//! on how many predicates there are.
//!
//! Invariants: leaves form a list in ascending order that covers all values; two neighbours are separated by exactly
//! one cut (before or after a bound's value) that at least one predicate needs; inner nodes have at least two links;
//! each knows its lowest and highest bound.
//!
//! Cost: look-up and cut O(elements); covering a predicate O(spaces covered). An inner node takes 88 bytes, a bound
//! about 48.
//!
//! Deviations from the paper:
//! - A node keeps the lowest and highest bound below it, which replaces the climbs of GetRNode and GetLNode.
//! - Paths without branches are not spelled out (as in a radix tree): fewer nodes, fewer steps.
//! - Neighbours merge when no predicate needs the cut between them, counted per cut. The paper merges neighbours with
//!   equal predicate counters, which is wrong when different predicates of equal number cover them.
//! - A split shares the observed events evenly between both parts; copying the counter would count them twice.

mod branches;
mod check;

use super::elements::{Elements, FANOUT, Key, PACKED};
use super::leaves::{LeafId, Leaves, Spare};
use crate::expr::Cut;
use std::cmp::Ordering;

/// A place in one of the arrays: nothing, an inner node or a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Link(u32);

enum Target {
    Nothing,
    Inner(u32),
    Bound(u32),
}

impl Link {
    const NOTHING: Link = Link(u32::MAX);
    const BOUND: u32 = 1 << 31;
    /// At a link to an inner node: it branches at the very next element, so that its depth need not be read.
    const DIRECT: u32 = 1 << 30;

    fn inner(id: u32) -> Link {
        Link(id)
    }

    fn bound(id: u32) -> Link {
        Link(id | Link::BOUND)
    }

    #[inline]
    fn target(self) -> Target {
        match self {
            Link::NOTHING => Target::Nothing,
            Link(id) if id & Link::BOUND != 0 => Target::Bound(id & !Link::BOUND),
            Link(id) => Target::Inner(id & !Link::DIRECT),
        }
    }

    fn is_direct(self) -> bool {
        self.0 & (Link::BOUND | Link::DIRECT) == Link::DIRECT
    }
}

const NONE: u32 = u32::MAX;
/// How many elements of its path a node keeps.
const PATH: usize = 8;

/// A branch: the bounds below agree in all elements before `depth` and differ there.
#[derive(Clone, Debug)]
struct Inner {
    children: [Link; FANOUT],
    /// Which children there are, one bit each.
    present: u16,
    depth: u32,
    /// The last elements before `depth`, the very last lowest: to compare with, as far as they reach, without a
    /// look at a bound.
    path: u32,
    /// The bound whose elements end here.
    end: u32,
    lowest: u32,
    highest: u32,
}

/// A value beside which spaces are cut.
#[derive(Clone, Debug)]
struct Bound<K> {
    value: K,
    /// The leaves less than, equal to and greater than the value.
    l: LeafId,
    e: LeafId,
    g: LeafId,
    /// How many predicates need the cut before and the cut after the value.
    before: u32,
    after: u32,
    previous: u32,
    next: u32,
}

impl<K> Bound<K> {
    /// The leaf right above the cut before or after the value.
    fn above(&self, after: bool) -> LeafId {
        if after { self.g } else { self.e }
    }

    /// The leaf right below the cut before or after the value.
    fn below(&self, after: bool) -> LeafId {
        if after { self.e } else { self.l }
    }
}

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

/// See the module's head.
#[derive(Clone, Debug)]
pub struct PsTree<K> {
    root: Link,
    inner: Vec<Inner>,
    bounds: Vec<Bound<K>>,
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
            root: Link::NOTHING,
            inner: Vec::new(),
            bounds: Vec::new(),
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
        let value = Query::new(value);
        let mut link = self.root;
        let mut depth = 0;
        loop {
            match link.target() {
                Target::Nothing => return self.first,
                Target::Bound(id) => {
                    let bound = &self.bounds[id as usize];
                    return match value.value.cmp(bound.value.query()) {
                        Ordering::Less => bound.l,
                        Ordering::Equal => bound.e,
                        Ordering::Greater => bound.g,
                    };
                }
                Target::Inner(id) => {
                    let node = &self.inner[id as usize];
                    let end = if link.is_direct() { depth } else { node.depth as usize };
                    match self.step(node, depth, end, &value) {
                        Step::Down(next) => (link, depth) = (next, end + 1),
                        Step::Here(id) => return self.bounds[id as usize].e,
                        Step::Beside(Neighbour::Below(id)) => return self.bounds[id as usize].g,
                        Step::Beside(Neighbour::Above(id)) => return self.bounds[id as usize].l,
                        Step::Beside(Neighbour::Nobody) => return self.first,
                    }
                }
            }
        }
    }

    /// Where a value goes from an inner node that branches at `end`, given that it agrees with the path in all elements
    /// before `depth`.
    #[inline(always)]
    fn step(&self, node: &Inner, depth: usize, end: usize, value: &Query<'_, K::Query>) -> Step {
        let element = if end < value.known && end - depth <= PATH {
            // The elements between the branches, compared all at once.
            let skipped = (1u64 << (4 * (end - depth))) - 1;
            let (own, path) =
                ((value.packed >> 4 >> (60 - 4 * end)) & skipped, u64::from(node.path) & skipped);
            if own != path {
                return Step::Beside(match own < path {
                    true => Neighbour::Above(node.lowest),
                    false => Neighbour::Below(node.highest),
                });
            }
            (value.packed >> (60 - 4 * end)) as u8 & 15
        } else {
            for depth in depth..end {
                match value.value.element(depth).cmp(&self.path_element(node, depth)) {
                    Ordering::Less => return Step::Beside(Neighbour::Above(node.lowest)),
                    Ordering::Greater => return Step::Beside(Neighbour::Below(node.highest)),
                    Ordering::Equal => {}
                }
            }
            let Some(element) = value.value.element(end) else {
                return if node.end == NONE {
                    Step::Beside(Neighbour::Above(node.lowest))
                } else {
                    Step::Here(node.end)
                };
            };
            element
        };
        let child = node.children[element as usize];
        if child != Link::NOTHING {
            return Step::Down(child);
        }
        let above = u32::from(node.present) >> (element + 1);
        if above == 0 {
            return Step::Beside(Neighbour::Below(node.highest));
        }
        let next = node.children[element as usize + 1 + above.trailing_zeros() as usize];
        Step::Beside(self.lowest(next).map_or(Neighbour::Nobody, Neighbour::Above))
    }

    /// The element that all bounds below a node have at a depth before its own.
    #[inline]
    fn path_element(&self, node: &Inner, depth: usize) -> Option<u8> {
        match node.depth as usize - depth {
            back @ 1..=PATH => Some((node.path >> (4 * (back - 1))) as u8 & 15),
            _ => self.bounds[node.lowest as usize].value.query().element(depth),
        }
    }

    fn lowest(&self, link: Link) -> Option<u32> {
        match link.target() {
            Target::Nothing => None,
            Target::Bound(id) => Some(id),
            Target::Inner(id) => Some(self.inner[id as usize].lowest),
        }
    }

    /// The bound with this value, or one beside it.
    fn find(&self, value: &K::Query) -> Result<u32, Neighbour> {
        let value = Query::new(value);
        let mut link = self.root;
        let mut depth = 0;
        loop {
            match link.target() {
                Target::Nothing => return Err(Neighbour::Nobody),
                Target::Bound(id) => {
                    return match value.value.cmp(self.bounds[id as usize].value.query()) {
                        Ordering::Less => Err(Neighbour::Above(id)),
                        Ordering::Equal => Ok(id),
                        Ordering::Greater => Err(Neighbour::Below(id)),
                    };
                }
                Target::Inner(id) => {
                    let node = &self.inner[id as usize];
                    let end = node.depth as usize;
                    match self.step(node, depth, end, &value) {
                        Step::Down(next) => (link, depth) = (next, end + 1),
                        Step::Here(id) => return Ok(id),
                        Step::Beside(neighbour) => return Err(neighbour),
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
        let needed = if cut.after { &mut bound.after } else { &mut bound.before };
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
            if bound.after == 0 {
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
        let needed = if cut.after { &mut bound.after } else { &mut bound.before };
        *needed -= 1;
        if *needed > 0 {
            return None;
        }
        let merge = if cut.after {
            Merge { kept: bound.e, gone: bound.g }
        } else {
            Merge { kept: bound.l, gone: bound.e }
        };
        let alone = bound.before == 0 && bound.after == 0;
        if cut.after {
            self.set_above(id, merge.kept);
        } else {
            bound.e = merge.kept;
            if bound.after == 0 {
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
        let bound = &mut self.bounds[id as usize];
        bound.g = leaf;
        match bound.next {
            NONE => self.last = leaf,
            next => {
                let next = &mut self.bounds[next as usize];
                next.l = leaf;
                if next.before == 0 {
                    next.e = leaf;
                }
            }
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
                    let made = if cut.after { bound.after > 0 } else { bound.before > 0 };
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
            + self.bounds.capacity() * size_of::<Bound<K>>()
            + (self.free_inner.capacity() + self.free_bounds.capacity()) * size_of::<u32>()
            + self.spare.memory()
    }
}

/// A value on its way through the branches, its first elements at hand.
struct Query<'q, Q: ?Sized> {
    value: &'q Q,
    packed: u64,
    /// How many elements are packed.
    known: usize,
}

impl<'q, Q: Elements + ?Sized> Query<'q, Q> {
    #[inline]
    fn new(value: &'q Q) -> Query<'q, Q> {
        let (packed, known) = value.packed();
        debug_assert!(known <= PACKED);
        Query { value, packed, known }
    }
}

enum Step {
    Down(Link),
    Here(u32),
    Beside(Neighbour),
}
