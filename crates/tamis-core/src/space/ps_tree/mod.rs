//! PS-Tree: which predicate space does a value belong to?
//!
//! Paper: S. Ji and H.-A. Jacobsen, PS-Tree-based Efficient Boolean Expression Matching for High-Dimensional and
//! Dense Workloads, PVLDB 12(3), 2018, section 4.
//!
//! Idea: the bounds of all predicates of a dimension cut its values into disjoint spaces, the leaves. The elements of
//! a bound's value are the path to the bound. A bound has three links: to the leaf less than the value, to the one
//! that contains it, to the one greater (`l`, `e`, `g`; they may be the same leaf). A look-up ([`PsTree::locate`], the
//! paper's MatchPair) follows the elements of a value until the path ends at a bound, one of whose three links is the
//! answer, or leaves the paths of all bounds, where the tree links the leaf itself. The cost depends on the length of
//! the value, not on the number of predicates.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `nodes` | what are inner nodes, links and bounds? |
//! | `lookup` | which leaf contains a value, which leaves does a range cover? |
//! | `partition` | how are spaces cut for a predicate, and merged after its removal? |
//! | `paths` | how is the path to a bound added and removed? |
//! | `check` | do the invariants hold? |
//!
//! Invariants: leaves form a list in ascending order that covers all values; two neighbours are separated by exactly
//! one cut (before or after a bound's value) that at least one predicate needs; an inner node leads to at least two
//! bounds, stores the lowest and the highest, and where it leads to none, links the leaf between the bounds on either
//! side.
//!
//! Cost: look-up and cut O(elements); covering a predicate O(spaces covered). An inner node takes 84 bytes, a bound
//! about 48.
//!
//! Deviations from the paper:
//! - Where no bound follows, a node links the leaf itself, and it stores the lowest and highest bound below it. This
//!   replaces the climbs of GetRNode and GetLNode, and most look-ups never read a bound.
//! - Elements that all bounds below a node share get no nodes (as in a radix tree): fewer nodes, fewer steps.
//! - Neighbours merge when no predicate needs the cut between them, counted per cut. The paper merges neighbours with
//!   equal predicate counters, which is wrong when different predicates of equal number cover them.
//! - A split shares the observed events evenly between both parts; copying the counter would count them twice.

mod check;
mod lookup;
mod nodes;
mod partition;
mod paths;

use super::elements::Key;
use super::leaves::{LeafId, LeafNumberPool, Leaves};
use crate::expr::Cut;
use nodes::{Bound, BoundUpdate, Children, Inner, Link};

/// A leaf was cut in two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafSplit {
    /// The lower part, which keeps the number.
    pub kept: LeafId,
    /// The upper part, with a number of its own.
    pub made: LeafId,
}

/// Two adjacent leaves became one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafMerge {
    /// The lower leaf, extended by the upper one.
    pub kept: LeafId,
    /// The number of the upper leaf, free for reuse.
    pub gone: LeafId,
}

/// The values between two cuts; `None` is an open end.
pub type Range<K> = (Option<Cut<K>>, Option<Cut<K>>);

/// Where look-ups begin: past the elements that all bounds share, compared at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LookupStart {
    /// The link to follow if the first `depth` elements are `path`.
    link: Link,
    /// Number of shared elements; 0 if they are more than [`nodes::PATH`].
    depth: u32,
    /// The shared elements, 4 bits each, the last in the lowest bits.
    path: u64,
}

/// See the module's head.
#[derive(Clone, Debug)]
pub struct PsTree<K> {
    /// The link at depth 0.
    root: Link,
    /// Derived from `root`.
    start: LookupStart,
    /// Inner nodes by number.
    inner: Vec<Inner>,
    /// By inner node.
    children: Vec<Children>,
    /// Bounds by number.
    bounds: Vec<Bound<K>>,
    /// By bound.
    bound_updates: Vec<BoundUpdate>,
    /// Unused numbers of inner nodes.
    free_inner: Vec<u32>,
    /// Unused numbers of bounds.
    free_bounds: Vec<u32>,
    /// The lowest leaf.
    first: LeafId,
    /// The highest leaf.
    last: LeafId,
    /// Leaf numbers reserved for this tree.
    leaf_numbers: LeafNumberPool,
    /// Number of leaves.
    spaces: usize,
}

impl<K: Key> PsTree<K> {
    /// A tree with one space that contains all values.
    pub fn new(leaves: &mut Leaves) -> PsTree<K> {
        let mut leaf_numbers = LeafNumberPool::default();
        let leaf = leaves.make_in(&mut leaf_numbers);
        PsTree {
            root: Link::leaf(leaf),
            start: LookupStart { link: Link::leaf(leaf), depth: 0, path: 0 },
            inner: Vec::new(),
            children: Vec::new(),
            bounds: Vec::new(),
            bound_updates: Vec::new(),
            free_inner: Vec::new(),
            free_bounds: Vec::new(),
            first: leaf,
            last: leaf,
            leaf_numbers,
            spaces: 1,
        }
    }

    /// Number of spaces.
    pub fn spaces(&self) -> usize {
        self.spaces
    }

    /// Numbers of inner nodes and of bounds.
    pub fn size(&self) -> (usize, usize) {
        (self.inner.len() - self.free_inner.len(), self.bounds.len() - self.free_bounds.len())
    }

    /// Bytes in use, without the leaves.
    pub fn memory(&self) -> usize {
        self.inner.capacity() * size_of::<Inner>()
            + self.children.capacity() * size_of::<Children>()
            + self.bounds.capacity() * size_of::<Bound<K>>()
            + self.bound_updates.capacity() * size_of::<BoundUpdate>()
            + (self.free_inner.capacity() + self.free_bounds.capacity()) * size_of::<u32>()
            + self.leaf_numbers.memory()
    }
}
