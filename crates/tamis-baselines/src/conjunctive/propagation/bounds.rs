//! Ordered predicates: which ranges contain a value?
//!
//! A range is stored by one end: by its low end, or by its high end if it has no low one. A value satisfies the ranges
//! whose low end is not above it (up to their high end), and those whose high end is not below it.
//!
//! Blocks of at most [`MAX_BLOCK`] entries in ascending order: a B-tree of two levels.
//!
//! Invariant: entries ascend by end and number, over all blocks; no block is empty.
//! Cost: inserting O(block + blocks / block); a value visits every range on its side, satisfied or not.

use tamis_core::engine::shared::predicates::PredId;

/// Maximum entries of a block.
const MAX_BLOCK: usize = 128;

/// A range by one of its ends.
#[derive(Clone, Copy, Debug)]
struct Bound<T> {
    /// The end that it is ordered by.
    end: T,
    /// The other end.
    other: T,
    id: PredId,
}

impl<T: Ord + Copy> Bound<T> {
    fn order(&self) -> (T, PredId) {
        (self.end, self.id)
    }
}

/// Ranges in the order of one end.
#[derive(Debug)]
struct Bounds<T> {
    blocks: Vec<Vec<Bound<T>>>,
}

impl<T: Ord + Copy> Bounds<T> {
    /// The block that an entry belongs to; the number of blocks if it is above all.
    fn block(&self, order: (T, PredId)) -> usize {
        self.blocks.partition_point(|block| block.last().is_some_and(|last| last.order() < order))
    }

    fn insert(&mut self, bound: Bound<T>) {
        let at = self.block(bound.order()).min(self.blocks.len().saturating_sub(1));
        let Some(block) = self.blocks.get_mut(at) else {
            return self.blocks.push(vec![bound]);
        };
        let place = block.partition_point(|other| other.order() < bound.order());
        block.insert(place, bound);
        if block.len() > MAX_BLOCK {
            let upper = block.split_off(MAX_BLOCK / 2);
            self.blocks.insert(at + 1, upper);
        }
    }

    fn position(&self, order: (T, PredId)) -> Option<(usize, usize)> {
        let at = self.block(order);
        let place = self.blocks.get(at)?.binary_search_by(|other| other.order().cmp(&order)).ok()?;
        Some((at, place))
    }

    fn remove(&mut self, order: (T, PredId)) {
        let Some((at, place)) = self.position(order) else { return };
        self.blocks[at].remove(place);
        if self.blocks[at].is_empty() {
            self.blocks.remove(at);
        }
    }

    fn len(&self) -> usize {
        self.blocks.iter().map(Vec::len).sum()
    }

    fn is_sorted(&self) -> bool {
        let all = self.blocks.iter().flatten().map(Bound::order);
        all.is_sorted() && self.blocks.iter().all(|block| !block.is_empty())
    }

    fn memory(&self) -> usize {
        let entries: usize = self.blocks.iter().map(Vec::capacity).sum();
        self.blocks.capacity() * size_of::<Vec<Bound<T>>>() + entries * size_of::<Bound<T>>()
    }
}

/// The ranges of one kind of values of an attribute.
#[derive(Debug)]
pub(super) struct Ranges<T> {
    /// Ranges with a low end, by it.
    at_least: Bounds<T>,
    /// Ranges without a low end, by their high end.
    at_most: Bounds<T>,
}

impl<T> Default for Ranges<T> {
    fn default() -> Ranges<T> {
        Ranges { at_least: Bounds { blocks: Vec::new() }, at_most: Bounds { blocks: Vec::new() } }
    }
}

/// A range, both ends included; `is_open`: it has no low end.
#[derive(Clone, Copy, Debug)]
pub(super) struct RangeEnds<T> {
    pub low: T,
    pub high: T,
    pub is_open: bool,
}

impl<T: Ord + Copy> Ranges<T> {
    pub fn insert(&mut self, RangeEnds { low, high, is_open }: RangeEnds<T>, id: PredId) {
        match is_open {
            true => self.at_most.insert(Bound { end: high, other: low, id }),
            false => self.at_least.insert(Bound { end: low, other: high, id }),
        }
    }

    pub fn remove(&mut self, RangeEnds { low, high, is_open }: RangeEnds<T>, id: PredId) {
        match is_open {
            true => self.at_most.remove((high, id)),
            false => self.at_least.remove((low, id)),
        }
    }

    pub fn contains(&self, RangeEnds { low, high, is_open }: RangeEnds<T>, id: PredId) -> bool {
        match is_open {
            true => self.at_most.position((high, id)).is_some(),
            false => self.at_least.position((low, id)).is_some(),
        }
    }

    /// Visits the ranges that contain a value.
    #[inline]
    pub fn stab(&self, value: T, mut visit: impl FnMut(PredId)) {
        for bound in self.at_least.blocks.iter().flatten() {
            if bound.end > value {
                break;
            }
            if value <= bound.other {
                visit(bound.id);
            }
        }
        let from =
            self.at_most.blocks.partition_point(|block| block.last().is_some_and(|last| last.end < value));
        for bound in self.at_most.blocks[from..].iter().flatten() {
            if bound.end >= value {
                visit(bound.id);
            }
        }
    }

    pub fn len(&self) -> usize {
        self.at_least.len() + self.at_most.len()
    }

    pub fn is_sorted(&self) -> bool {
        self.at_least.is_sorted() && self.at_most.is_sorted()
    }

    /// Frees memory reserved for growth.
    pub fn defragment(&mut self) {
        for bounds in [&mut self.at_least, &mut self.at_most] {
            bounds.blocks.iter_mut().for_each(Vec::shrink_to_fit);
            bounds.blocks.shrink_to_fit();
        }
    }

    pub fn memory(&self) -> usize {
        self.at_least.memory() + self.at_most.memory()
    }
}
