//! Sets over an ordered domain.

use crate::expr::syntax::Comparison;
use crate::number::Number;
use std::cmp::Ordering;

/// A boundary between two values: just before `at`, or just after it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cut<T> {
    /// The value next to it.
    pub at: T,
    /// After the value; otherwise before it.
    pub after: bool,
}

impl Cut<Number> {
    /// The one form of equal cuts: next to an integer rather than next to the adjacent float.
    pub fn canonical(self) -> Cut<Number> {
        match (self.at, self.after) {
            (Number::Float(_), false) => match self.at.next_down() {
                at @ Number::Int(_) => Cut { at, after: true },
                Number::Float(_) => self,
            },
            (Number::Float(_), true) => match self.at.next_up() {
                at @ Number::Int(_) => Cut { at, after: false },
                Number::Float(_) => self,
            },
            (Number::Int(_), _) => self,
        }
    }
}

impl Cut<i64> {
    /// The first instant above the cut; `None` if there is none.
    pub fn instant_above(&self) -> Option<i64> {
        if self.after { self.at.checked_add(1) } else { Some(self.at) }
    }
}

/// A set over an ordered domain, stored as the boundaries where membership changes.
///
/// Invariant: `cuts` is strictly ascending. Cost, for n cuts: membership O(log n), any Boolean combination of two sets
/// O(n), complement O(1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OrderedSet<T> {
    /// Whether the values below the first cut belong to the set.
    below: bool,
    /// Membership changes at each.
    cuts: Vec<Cut<T>>,
}

impl<T: Ord + Clone> OrderedSet<T> {
    /// No value.
    pub fn empty() -> OrderedSet<T> {
        OrderedSet { below: false, cuts: Vec::new() }
    }

    /// Every value.
    pub fn full() -> OrderedSet<T> {
        OrderedSet { below: true, cuts: Vec::new() }
    }

    /// The values between two cuts; `None` is an open end.
    pub fn between(low: Option<Cut<T>>, high: Option<Cut<T>>) -> OrderedSet<T> {
        if let (Some(low), Some(high)) = (&low, &high)
            && low >= high
        {
            return OrderedSet::empty();
        }
        OrderedSet { below: low.is_none(), cuts: low.into_iter().chain(high).collect() }
    }

    /// The values that satisfy a comparison.
    pub fn compared(comparison: Comparison, at: T) -> OrderedSet<T> {
        let before = Cut { at: at.clone(), after: false };
        let after = Cut { at, after: true };
        match comparison {
            Comparison::Equal => OrderedSet::between(Some(before), Some(after)),
            Comparison::NotEqual => OrderedSet::between(Some(before), Some(after)).complement(),
            Comparison::Less => OrderedSet::between(None, Some(before)),
            Comparison::LessEqual => OrderedSet::between(None, Some(after)),
            Comparison::Greater => OrderedSet::between(Some(after), None),
            Comparison::GreaterEqual => OrderedSet::between(Some(before), None),
        }
    }

    /// The given values and no others.
    pub fn points(mut values: Vec<T>) -> OrderedSet<T> {
        values.sort_unstable();
        values.dedup();
        let around = |at: T| [Cut { at: at.clone(), after: false }, Cut { at, after: true }];
        OrderedSet { below: false, cuts: values.into_iter().flat_map(around).collect() }
    }

    /// All other values.
    pub fn complement(mut self) -> OrderedSet<T> {
        self.below = !self.below;
        self
    }

    /// The values for which `keep(in self, in other)` holds.
    pub fn combine(&self, other: &OrderedSet<T>, keep: impl Fn(bool, bool) -> bool) -> OrderedSet<T> {
        let (mut in_left, mut in_right) = (self.below, other.below);
        let below = keep(in_left, in_right);
        let mut inside = below;
        let mut cuts = Vec::new();
        let (mut left, mut right) = (self.cuts.iter().peekable(), other.cuts.iter().peekable());
        loop {
            let order = match (left.peek(), right.peek()) {
                (Some(a), Some(b)) => a.cmp(b),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return OrderedSet { below, cuts },
            };
            let mut cut = None;
            if order.is_le() {
                in_left = !in_left;
                cut = left.next();
            }
            if order.is_ge() {
                in_right = !in_right;
                cut = right.next();
            }
            if keep(in_left, in_right) != inside {
                inside = !inside;
                cuts.extend(cut.cloned());
            }
        }
    }

    /// Whether the set has no value.
    pub fn is_empty(&self) -> bool {
        !self.below && self.cuts.is_empty()
    }

    /// Whether the set has every value.
    pub fn is_full(&self) -> bool {
        self.below && self.cuts.is_empty()
    }

    /// Whether a value belongs to the set; `compare` compares a cut's value with it.
    #[inline]
    pub fn contains_by(&self, compare: impl Fn(&T) -> Ordering) -> bool {
        let passed = self.cuts.partition_point(|cut| match compare(&cut.at) {
            Ordering::Less => true,
            Ordering::Equal => !cut.after,
            Ordering::Greater => false,
        });
        self.below != (passed % 2 == 1)
    }

    /// The boundaries where membership changes, in ascending order.
    pub fn cuts(&self) -> &[Cut<T>] {
        &self.cuts
    }

    /// Whether every range is a single value.
    pub fn is_points(&self) -> bool {
        self.ranges().all(|ends| matches!(ends, (Some(low), Some(high)) if low.at == high.at))
    }

    /// The maximal ranges of the set, in ascending order; `None` is an open end.
    pub fn ranges(&self) -> impl Iterator<Item = (Option<&Cut<T>>, Option<&Cut<T>>)> {
        let skip = usize::from(self.below);
        let first = self.below.then(|| (None, self.cuts.first()));
        let rest =
            self.cuts.get(skip..).unwrap_or_default().chunks(2).map(|pair| (pair.first(), pair.get(1)));
        first.into_iter().chain(rest)
    }

    /// Bytes on the heap, without those of the values.
    pub(super) fn heap(&self) -> usize {
        self.cuts.capacity() * size_of::<Cut<T>>()
    }
}

/// The lowest number above a cut; without a cut, of all.
pub(super) fn lowest_number(cut: Option<&Cut<Number>>) -> Number {
    cut.map_or(Number::MIN, |cut| if cut.after { cut.at.next_up() } else { cut.at })
}

/// The highest number below a cut; without a cut, of all.
pub(super) fn highest_number(cut: Option<&Cut<Number>>) -> Number {
    cut.map_or(Number::MAX, |cut| if cut.after { cut.at } else { cut.at.next_down() })
}

/// The first instant above a cut; without a cut, of all.
pub(super) fn lowest_time(cut: Option<&Cut<i64>>) -> i64 {
    cut.map_or(i64::MIN, |cut| cut.at.saturating_add(i64::from(cut.after)))
}

/// The last instant below a cut; without a cut, of all.
pub(super) fn highest_time(cut: Option<&Cut<i64>>) -> i64 {
    cut.map_or(i64::MAX, |cut| cut.at.saturating_sub(i64::from(!cut.after)))
}
