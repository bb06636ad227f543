//! A dimension: all values of one attribute, cut into predicate spaces.
//!
//! Kinds of values do not compare, so each ordered kind has a PS-Tree of its own; the two Booleans and "present, but
//! none of these" are spaces by themselves. One more leaf stands for the dimension as a whole, for predicates that
//! say no more than that the attribute is present, or that cover too many spaces.

use super::elements::Key;
use super::leaves::{LeafId, Leaves};
use super::ps_tree::{Merge, PsTree, Range, Split};
use super::region::Region;
use crate::number::Number;
use crate::value::Value;
use smol_str::SmolStr;

/// The spaces a value belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located {
    /// Its own space.
    pub leaf: LeafId,
    /// For a fraction, the space of the next integer, if another.
    pub second: LeafId,
    /// Whether exactly the predicates that cover the leaf are satisfied; otherwise a few more are listed there, and
    /// in `second`.
    pub exact: bool,
}

impl Located {
    const NOWHERE: Located = Located { leaf: LeafId::NONE, second: LeafId::NONE, exact: true };
}

/// See the module's head.
#[derive(Clone, Debug)]
pub struct Dimension {
    whole: LeafId,
    bools: [LeafId; 2],
    other: LeafId,
    numbers: Option<PsTree<Number>>,
    times: Option<PsTree<i64>>,
    texts: Option<PsTree<SmolStr>>,
    /// How many placed regions have ends that were moved to the next integer.
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

    /// The space of a present value; [`LeafId::NONE`] where no predicate was placed.
    #[inline]
    pub fn locate(&self, value: Value<'_>) -> Located {
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
        Located { leaf, ..Located::NOWHERE }
    }

    /// Counts a value of an observed event, in its space and in the whole dimension.
    pub fn observe(&self, value: Value<'_>, leaves: &mut Leaves) {
        for leaf in [self.locate(value).leaf, self.whole] {
            if leaf != LeafId::NONE {
                let events = &mut leaves.get_mut(leaf).events;
                *events = events.saturating_add(1);
            }
        }
    }

    fn locate_float(&self, value: f64) -> Located {
        let (Some(tree), Some(number)) = (&self.numbers, Number::from_f64(value)) else {
            return Located::NOWHERE;
        };
        let leaf = tree.locate(&number);
        match number {
            Number::Float(fraction) if self.rounded > 0 => {
                let next = Number::from_f64(fraction.ceil()).map_or(leaf, |next| tree.locate(&next));
                let second = if next == leaf { LeafId::NONE } else { next };
                Located { leaf, second, exact: false }
            }
            _ => Located { leaf, ..Located::NOWHERE },
        }
    }

    /// Cuts the spaces so that the region is a union of them, and counts one more predicate in each (the paper's
    /// InsertPredicate). The splits are appended in the order they happened.
    pub fn place(&mut self, region: &Region, leaves: &mut Leaves, splits: &mut Vec<Split>) {
        place_ranges(&mut self.numbers, &region.numbers, leaves, splits);
        place_ranges(&mut self.times, &region.times, leaves, splits);
        place_ranges(&mut self.texts, &region.texts, leaves, splits);
        for (leaf, wanted) in self.bools.iter_mut().zip(region.bools).chain([(&mut self.other, region.other)])
        {
            if wanted {
                if *leaf == LeafId::NONE {
                    *leaf = leaves.make();
                }
                leaves.cover(*leaf);
            }
        }
        self.rounded += u32::from(region.rounded);
    }

    /// Takes a placed region back (the paper's DeletePredicate). The merges are appended in the order they happened.
    pub fn unplace(&mut self, region: &Region, leaves: &mut Leaves, merges: &mut Vec<Merge>) {
        unplace_ranges(&mut self.numbers, &region.numbers, leaves, merges);
        unplace_ranges(&mut self.times, &region.times, leaves, merges);
        unplace_ranges(&mut self.texts, &region.texts, leaves, merges);
        for (leaf, wanted) in self.bools.iter().zip(region.bools).chain([(&self.other, region.other)]) {
            if wanted {
                leaves.uncover(*leaf);
            }
        }
        self.rounded -= u32::from(region.rounded);
    }

    /// The leaves of a placed region, each once.
    pub fn cover(&self, region: &Region, leaves: &Leaves, mut each: impl FnMut(LeafId)) {
        cover_ranges(&self.numbers, &region.numbers, leaves, &mut each);
        cover_ranges(&self.times, &region.times, leaves, &mut each);
        cover_ranges(&self.texts, &region.texts, leaves, &mut each);
        let singles = self.bools.iter().zip(region.bools).chain([(&self.other, region.other)]);
        singles.filter(|(_, wanted)| *wanted).for_each(|(leaf, _)| each(*leaf));
    }

    /// Every leaf but that of the whole dimension.
    pub fn each_leaf(&self, leaves: &Leaves, mut each: impl FnMut(LeafId)) {
        cover_ranges(&self.numbers, &[(None, None)], leaves, &mut each);
        cover_ranges(&self.times, &[(None, None)], leaves, &mut each);
        cover_ranges(&self.texts, &[(None, None)], leaves, &mut each);
        self.bools
            .iter()
            .chain([&self.other])
            .filter(|leaf| **leaf != LeafId::NONE)
            .for_each(|leaf| each(*leaf));
    }

    /// The leaves of a region, placed or not, each with whether the region has all of it; stops when `each` says so.
    pub fn hull(&self, region: &Region, leaves: &Leaves, mut each: impl FnMut(LeafId, bool) -> bool) {
        let singles = self.bools.iter().zip(region.bools).chain([(&self.other, region.other)]);
        for (leaf, wanted) in singles {
            if wanted && *leaf != LeafId::NONE && !each(*leaf, true) {
                return;
            }
        }
        let _ = hull_ranges(&self.numbers, &region.numbers, leaves, &mut each)
            && hull_ranges(&self.times, &region.times, leaves, &mut each)
            && hull_ranges(&self.texts, &region.texts, leaves, &mut each);
    }

    /// How many spaces there are.
    pub fn spaces(&self) -> usize {
        let trees = [
            self.numbers.as_ref().map(PsTree::spaces),
            self.times.as_ref().map(PsTree::spaces),
            self.texts.as_ref().map(PsTree::spaces),
        ];
        let singles = self.bools.iter().chain([&self.other]).filter(|leaf| **leaf != LeafId::NONE).count();
        singles + trees.into_iter().flatten().sum::<usize>()
    }

    /// Inner nodes, bounds.
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
    splits: &mut Vec<Split>,
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
    merges: &mut Vec<Merge>,
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
    each: &mut impl FnMut(LeafId),
) {
    let Some(tree) = tree else { return };
    ranges.iter().for_each(|range| leaves.between(tree.ends(range), &mut *each));
}

fn hull_ranges<K: Key>(
    tree: &Option<PsTree<K>>,
    ranges: &[Range<K>],
    leaves: &Leaves,
    each: &mut impl FnMut(LeafId, bool) -> bool,
) -> bool {
    let Some(tree) = tree else { return true };
    for range in ranges {
        let [(mut at, whole_first), (last, whole_last)] = tree.hull(range);
        let mut whole = whole_first;
        loop {
            let is_last = at == last;
            if !each(at, if is_last { whole && whole_last } else { whole }) {
                return false;
            }
            if is_last {
                break;
            }
            whole = true;
            at = leaves.get(at).next;
        }
    }
    true
}
