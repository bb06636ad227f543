//! What a PS-Tree is made of: branches, their links, and the bounds they lead to.

use crate::space::elements::{FANOUT, Key};
use crate::space::leaves::LeafId;
use std::cmp::Ordering;

/// Where a branch leads: to another branch, to a bound or, between bounds, to the leaf there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link(u32);

pub(super) enum Target {
    Leaf(LeafId),
    Inner(u32),
    Bound(u32),
}

impl Link {
    pub const NUMBER: u32 = (1 << 30) - 1;
    pub const INNER: u32 = 0;
    /// To an inner node that branches at the very next element, so that its depth need not be read.
    pub const DIRECT: u32 = 1 << 30;
    pub const LEAF: u32 = 2 << 30;
    pub const BOUND: u32 = 3 << 30;

    pub fn inner(id: u32) -> Link {
        Link(id | Link::INNER)
    }

    pub fn direct(id: u32) -> Link {
        Link(id | Link::DIRECT)
    }

    pub fn bound(id: u32) -> Link {
        Link(id | Link::BOUND)
    }

    pub fn leaf(id: LeafId) -> Link {
        debug_assert!(id.0 <= Link::NUMBER);
        Link(id.0 | Link::LEAF)
    }

    #[inline]
    pub fn target(self) -> Target {
        let id = self.0 & Link::NUMBER;
        match self.0 & !Link::NUMBER {
            Link::LEAF => Target::Leaf(LeafId(id)),
            Link::BOUND => Target::Bound(id),
            _ => Target::Inner(id),
        }
    }

    /// The node, if it branches at the very next element.
    #[inline]
    pub fn as_direct(self) -> Option<usize> {
        (self.0 & !Link::NUMBER == Link::DIRECT).then_some((self.0 & Link::NUMBER) as usize)
    }

    pub fn is_leaf(self) -> bool {
        self.0 & !Link::NUMBER == Link::LEAF
    }
}

pub(super) const NONE: u32 = u32::MAX;
/// How many elements of its path a node keeps.
pub(super) const PATH: usize = 8;

/// The links of a branch, by the next element.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Children(pub [Link; FANOUT]);

/// A branch: the bounds below agree in all elements before `depth` and differ there. Its links lie aside, one cache
/// line each, because most look-ups need nothing else.
#[derive(Clone, Debug)]
pub(super) struct Inner {
    pub depth: u32,
    /// The last elements before `depth`, the very last lowest: to compare with, as far as they reach, without a
    /// look at a bound.
    pub path: u32,
    /// The bound whose elements end here.
    pub end: u32,
    pub lowest: u32,
    pub highest: u32,
}

/// A value beside which spaces are cut.
#[derive(Clone, Debug)]
pub(super) struct Bound<K> {
    pub value: K,
    /// The leaves less than, equal to and greater than the value.
    pub l: LeafId,
    pub e: LeafId,
    pub g: LeafId,
}

/// What only changes need to know of a bound.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cuts {
    /// How many predicates need the cut before and the cut after the value.
    pub before: u32,
    pub after: u32,
    /// The next bounds below and above.
    pub previous: u32,
    pub next: u32,
}

impl Cuts {
    pub fn needed(&mut self, after: bool) -> &mut u32 {
        if after { &mut self.after } else { &mut self.before }
    }
}

impl<K: Key> Bound<K> {
    /// The leaf of a value that no other bound is closer to.
    #[inline]
    pub fn leaf_of(&self, value: &K::Query) -> LeafId {
        match value.cmp(self.value.query()) {
            Ordering::Less => self.l,
            Ordering::Equal => self.e,
            Ordering::Greater => self.g,
        }
    }

    /// The leaf right above the cut before or after the value.
    pub fn above(&self, after: bool) -> LeafId {
        if after { self.g } else { self.e }
    }

    /// The leaf right below the cut before or after the value.
    pub fn below(&self, after: bool) -> LeafId {
        if after { self.e } else { self.l }
    }
}
