//! A dimension: all values of one attribute, cut into predicate spaces.
//!
//! Values of different kinds do not compare, so numbers, times and strings have one PS-Tree each; FALSE, TRUE and
//! "present, but of no comparable kind" are one leaf each. One more leaf stands for the whole dimension: for predicates
//! that test only that the attribute is present, or that cover too many spaces.
//!
//! Invariant: the predicate counter of a leaf is the number of placed regions that cover it.
//! Cost: a look-up costs one PS-Tree look-up, two for a float that is not an integer.

use super::elements::Key;
use super::leaves::{LeafId, Leaves};
use super::ps_tree::{LeafMerge, LeafSplit, PsTree, Range};
use super::region::Region;
use crate::number::Number;
use crate::value::Value;
use smol_str::SmolStr;

/// The leaves whose predicates a value may satisfy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafLookup {
    /// The leaf that contains the value; [`LeafId::NONE`] if no predicate was placed on values of its kind.
    pub leaf: LeafId,
    /// The leaf of the next integer, for a fraction in a dimension with rounded ends; [`LeafId::NONE`] if it is `leaf`.
    pub next_integer: LeafId,
    /// True: the value satisfies exactly the predicates that cover `leaf`. False: it satisfies a subset of the
    /// predicates that cover one of the two leaves, so each candidate has to be tested.
    pub exact: bool,
}

impl LeafLookup {
    const NONE: LeafLookup = LeafLookup { leaf: LeafId::NONE, next_integer: LeafId::NONE, exact: true };
}

/// See the module's head.
#[derive(Clone, Debug)]
pub struct Dimension {
    /// The leaf of all present values. Not among the neighbours of any other leaf.
    whole: LeafId,
    /// The leaves of FALSE and TRUE; [`LeafId::NONE`] until a region with the value is placed.
    bools: [LeafId; 2],
    /// The leaf of lists and nested objects; [`LeafId::NONE`] until a region with them is placed.
    other: LeafId,
    /// `None` until a region with numbers is placed; likewise below.
    numbers: Option<PsTree<Number>>,
    /// Dates and timestamps, in microseconds.
    times: Option<PsTree<i64>>,
    texts: Option<PsTree<SmolStr>>,
    /// Number of placed regions with a rounded end (see [`Region::rounded`]); with 0 every look-up is exact.
    rounded: u32,
}

impl Dimension {
    /// A dimension without predicates.
    pub fn new(leaves: &mut Leaves) -> Dimension {
        Dimension {
            whole: leaves.make(),
            bools: [LeafId::NONE; 2],
            other: LeafId::NONE,
            numbers: None,
            times: None,
            texts: None,
            rounded: 0,
        }
    }

    /// The leaf of all present values.
    pub fn whole(&self) -> LeafId {
        self.whole
    }

    /// Looks a present value up (the paper's MatchPair).
    #[inline]
    pub fn locate(&self, value: Value<'_>) -> LeafLookup {
        let leaf = match value {
            Value::Int(value) => match &self.numbers {
                Some(tree) => tree.locate(&Number::Int(value)),
                None => LeafId::NONE,
            },
            Value::Float(value) => return self.locate_float(value),
            Value::Text(text) => self.texts.as_ref().map_or(LeafId::NONE, |tree| tree.locate(text)),
            Value::Time(instant) => self.times.as_ref().map_or(LeafId::NONE, |tree| tree.locate(&instant)),
            Value::Bool(value) => self.bools[usize::from(value)],
            Value::List(_) | Value::Other => self.other,
            Value::Missing => LeafId::NONE,
        };
        LeafLookup { leaf, ..LeafLookup::NONE }
    }

    /// Counts a value of an observed event in its leaf and in the leaf of the whole dimension.
    pub fn observe(&self, value: Value<'_>, leaves: &mut Leaves) {
        for leaf in [self.locate(value).leaf, self.whole] {
            if leaf != LeafId::NONE {
                let events = &mut leaves.get_mut(leaf).events;
                *events = events.saturating_add(1);
            }
        }
    }

    fn locate_float(&self, value: f64) -> LeafLookup {
        let (Some(tree), Some(number)) = (&self.numbers, Number::from_f64(value)) else {
            return LeafLookup::NONE;
        };
        let leaf = tree.locate(&number);
        match number {
            Number::Float(fraction) if self.rounded > 0 => {
                let next = Number::from_f64(fraction.ceil()).map_or(leaf, |next| tree.locate(&next));
                let next_integer = if next == leaf { LeafId::NONE } else { next };
                LeafLookup { leaf, next_integer, exact: false }
            }
            _ => LeafLookup { leaf, ..LeafLookup::NONE },
        }
    }

    /// Cuts the spaces so that the region is a union of spaces, and counts one more predicate in each of them (the
    /// paper's InsertPredicate). Appends the splits in order.
    pub fn place(&mut self, region: &Region, leaves: &mut Leaves, splits: &mut Vec<LeafSplit>) {
        place_ranges(&mut self.numbers, &region.numbers, leaves, splits);
        place_ranges(&mut self.times, &region.times, leaves, splits);
        place_ranges(&mut self.texts, &region.texts, leaves, splits);
        for (leaf, accepted) in
            self.bools.iter_mut().zip(region.bools).chain([(&mut self.other, region.other)])
        {
            if accepted {
                if *leaf == LeafId::NONE {
                    *leaf = leaves.make();
                }
                leaves.cover(*leaf);
            }
        }
        self.rounded += u32::from(region.rounded);
    }

    /// Reverts [`Dimension::place`] (the paper's DeletePredicate). Appends the merges in order.
    pub fn unplace(&mut self, region: &Region, leaves: &mut Leaves, merges: &mut Vec<LeafMerge>) {
        unplace_ranges(&mut self.numbers, &region.numbers, leaves, merges);
        unplace_ranges(&mut self.times, &region.times, leaves, merges);
        unplace_ranges(&mut self.texts, &region.texts, leaves, merges);
        for (leaf, accepted) in self.bools.iter().zip(region.bools).chain([(&self.other, region.other)]) {
            if accepted {
                leaves.uncover(*leaf);
            }
        }
        self.rounded -= u32::from(region.rounded);
    }

    /// Visits the leaves of a placed region, each once.
    pub fn cover(&self, region: &Region, leaves: &Leaves, mut visit: impl FnMut(LeafId)) {
        cover_ranges(&self.numbers, &region.numbers, leaves, &mut visit);
        cover_ranges(&self.times, &region.times, leaves, &mut visit);
        cover_ranges(&self.texts, &region.texts, leaves, &mut visit);
        let singles = self.bools.iter().zip(region.bools).chain([(&self.other, region.other)]);
        singles.filter(|(_, accepted)| *accepted).for_each(|(leaf, _)| visit(*leaf));
    }

    /// Visits every leaf but that of the whole dimension.
    pub fn each_leaf(&self, leaves: &Leaves, mut visit: impl FnMut(LeafId)) {
        cover_ranges(&self.numbers, &[(None, None)], leaves, &mut visit);
        cover_ranges(&self.times, &[(None, None)], leaves, &mut visit);
        cover_ranges(&self.texts, &[(None, None)], leaves, &mut visit);
        self.bools
            .iter()
            .chain([&self.other])
            .filter(|leaf| **leaf != LeafId::NONE)
            .for_each(|leaf| visit(*leaf));
    }

    /// Visits the leaves that overlap a region, placed or not, each with whether it lies within the region. Stops when
    /// `visit` returns false.
    pub fn hull(&self, region: &Region, leaves: &Leaves, mut visit: impl FnMut(LeafId, bool) -> bool) {
        let singles = self.bools.iter().zip(region.bools).chain([(&self.other, region.other)]);
        for (leaf, accepted) in singles {
            if accepted && *leaf != LeafId::NONE && !visit(*leaf, true) {
                return;
            }
        }
        let _ = hull_ranges(&self.numbers, &region.numbers, leaves, &mut visit)
            && hull_ranges(&self.times, &region.times, leaves, &mut visit)
            && hull_ranges(&self.texts, &region.texts, leaves, &mut visit);
    }

    /// Number of spaces, without the whole dimension.
    pub fn spaces(&self) -> usize {
        let trees = [
            self.numbers.as_ref().map(PsTree::spaces),
            self.times.as_ref().map(PsTree::spaces),
            self.texts.as_ref().map(PsTree::spaces),
        ];
        let singles = self.bools.iter().chain([&self.other]).filter(|leaf| **leaf != LeafId::NONE).count();
        singles + trees.into_iter().flatten().sum::<usize>()
    }

    /// Numbers of inner nodes and of bounds.
    pub fn size(&self) -> (usize, usize) {
        let sizes = [
            self.numbers.as_ref().map(|tree| tree.size()),
            self.times.as_ref().map(|tree| tree.size()),
            self.texts.as_ref().map(|tree| tree.size()),
        ];
        sizes.into_iter().flatten().fold((0, 0), |(a, b), (c, d)| (a + c, b + d))
    }

    /// Bytes in use, without the leaves.
    pub fn memory(&self) -> usize {
        let trees = [
            self.numbers.as_ref().map(|tree| tree.memory()),
            self.times.as_ref().map(|tree| tree.memory()),
            self.texts.as_ref().map(|tree| tree.memory()),
        ];
        trees.into_iter().flatten().sum()
    }

    /// Checks the trees; appends every leaf of the dimension.
    pub fn validate(&self, leaves: &Leaves, all: &mut Vec<LeafId>) -> Result<(), String> {
        let singles = self.bools.iter().chain([&self.other, &self.whole]);
        all.extend(singles.filter(|leaf| **leaf != LeafId::NONE));
        self.numbers.as_ref().map_or(Ok(()), |tree| tree.validate(leaves, all))?;
        self.times.as_ref().map_or(Ok(()), |tree| tree.validate(leaves, all))?;
        self.texts.as_ref().map_or(Ok(()), |tree| tree.validate(leaves, all))
    }
}

fn place_ranges<K: Key>(
    tree: &mut Option<PsTree<K>>,
    ranges: &[Range<K>],
    leaves: &mut Leaves,
    splits: &mut Vec<LeafSplit>,
) {
    if ranges.is_empty() {
        return;
    }
    let tree = tree.get_or_insert_with(|| PsTree::new(leaves));
    for range in ranges {
        let ends = tree.place(range, leaves, splits);
        leaves.cover_between(ends, 1);
    }
}

fn unplace_ranges<K: Key>(
    tree: &mut Option<PsTree<K>>,
    ranges: &[Range<K>],
    leaves: &mut Leaves,
    merges: &mut Vec<LeafMerge>,
) {
    let Some(tree) = tree else { return };
    for range in ranges {
        leaves.cover_between(tree.ends(range), -1);
        tree.unplace(range, leaves, merges);
    }
}

fn cover_ranges<K: Key>(
    tree: &Option<PsTree<K>>,
    ranges: &[Range<K>],
    leaves: &Leaves,
    visit: &mut impl FnMut(LeafId),
) {
    let Some(tree) = tree else { return };
    ranges.iter().for_each(|range| leaves.between(tree.ends(range), &mut *visit));
}

fn hull_ranges<K: Key>(
    tree: &Option<PsTree<K>>,
    ranges: &[Range<K>],
    leaves: &Leaves,
    visit: &mut impl FnMut(LeafId, bool) -> bool,
) -> bool {
    let Some(tree) = tree else { return true };
    for range in ranges {
        let [(mut at, first_within), (last, last_within)] = tree.hull(range);
        let mut within = first_within;
        loop {
            let is_last = at == last;
            if !visit(at, if is_last { within && last_within } else { within }) {
                return false;
            }
            if is_last {
                break;
            }
            within = true;
            at = leaves.get(at).next;
        }
    }
    true
}
