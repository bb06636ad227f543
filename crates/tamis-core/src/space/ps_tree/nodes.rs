//! The parts of a PS-Tree: inner nodes, the links between them, and bounds.

use crate::space::elements::{FANOUT, Key};
use crate::space::leaves::LeafId;
use std::cmp::Ordering;

/// What follows an element: an inner node, a bound or, where no bound follows, a leaf. 2 bits of kind, 30 of number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link(u32);

/// A [`Link`], decoded.
pub(super) enum Target {
    Leaf(LeafId),
    Inner(u32),
    Bound(u32),
}

impl Link {
    const NUMBER: u32 = (1 << 30) - 1;
    const INNER: u32 = 0;
    /// To an inner node that branches at the very next element, so that its depth need not be read.
    const DIRECT: u32 = 1 << 30;
    const LEAF: u32 = 2 << 30;
    const BOUND: u32 = 3 << 30;

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

    /// The inner node, if it branches at the very next element.
    #[inline]
    pub fn as_direct(self) -> Option<usize> {
        (self.0 & !Link::NUMBER == Link::DIRECT).then_some((self.0 & Link::NUMBER) as usize)
    }

    pub fn is_leaf(self) -> bool {
        self.0 & !Link::NUMBER == Link::LEAF
    }
}

/// No bound.
pub(super) const NONE: u32 = u32::MAX;

/// Maximum elements of its path that an inner node stores: 4 bits of a u32 each.
pub(super) const PATH: usize = 8;

/// The links of an inner node, by the element at its depth. One cache line, because most look-ups read nothing else.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Children(pub [Link; FANOUT]);

/// An inner node: all bounds below have the same elements before `depth`, and differ at `depth`.
#[derive(Clone, Debug)]
pub(super) struct Inner {
    /// Position of the element at which the node branches, from 0.
    pub depth: u32,
    /// The last [`PATH`] elements before `depth`, the last in the lowest bits: compared without reading a bound.
    pub path: u32,
    /// The bound whose elements end at `depth`; [`NONE`] if there is none.
    pub end: u32,
    /// The lowest bound below.
    pub lowest: u32,
    /// The highest bound below.
    pub highest: u32,
}

/// A value at which spaces are cut: what look-ups read of it.
#[derive(Clone, Debug)]
pub(super) struct Bound<K> {
    pub value: K,
    /// The leaf of the values just below `value`.
    pub l: LeafId,
    /// The leaf of `value`; equal to `l` without a cut before the value, to `g` without a cut after it.
    pub e: LeafId,
    /// The leaf of the values just above `value`.
    pub g: LeafId,
}

/// The rest of a bound: what only updates read.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoundUpdate {
    /// Number of predicates with an end just before the value; with 0 there is no cut.
    pub before: u32,
    /// Number of predicates with an end just after the value; with 0 there is no cut.
    pub after: u32,
    /// The next bound below; [`NONE`] for the lowest.
    pub previous: u32,
    /// The next bound above; [`NONE`] for the highest.
    pub next: u32,
}

impl BoundUpdate {
    /// Number of predicates that need the cut after the value, or the cut before it.
    pub fn predicates(&mut self, after: bool) -> &mut u32 {
        if after { &mut self.after } else { &mut self.before }
    }
}

impl<K: Key> Bound<K> {
    /// The leaf of a value with no other bound between it and this one.
    #[inline]
    pub fn leaf_of(&self, value: &K::Query) -> LeafId {
        match value.cmp(self.value.query()) {
            Ordering::Less => self.l,
            Ordering::Equal => self.e,
            Ordering::Greater => self.g,
        }
    }

    /// The leaf just above the cut after the value, or the cut before it.
    pub fn above(&self, after: bool) -> LeafId {
        if after { self.g } else { self.e }
    }

    /// The leaf just below the cut after the value, or the cut before it.
    pub fn below(&self, after: bool) -> LeafId {
        if after { self.e } else { self.l }
    }
}
