//! Regions: the values that a predicate accepts, as ranges whose ends PS-Trees cut at.
//!
//! Rounded ends: `a <= 7` and `a >= 8` leave a gap that contains only fractions. A space for every such gap would double
//! the number of spaces, nearly all of them empty. So an end next to an integer is rounded up to the next integer where
//! that changes the answer for no integer: `a <= 7` becomes `a < 8`, and `a > 7` becomes `a >= 8`. Look-ups of integers
//! stay exact. A fraction is looked up in its own space and in that of the next integer; together they are covered by a
//! superset of the predicates it satisfies, and each of these candidates is tested (see [`Region::rounded`]).

use super::ps_tree::Range;
use crate::expr::{Cut, OrderedSet, Over, Predicate, Test, ValueSet};
use crate::number::Number;
use smol_str::SmolStr;

/// For which events a predicate may hold, as far as an index can use it.
#[derive(Clone, Debug)]
pub enum Reach {
    /// Exactly for these values.
    Region(Region),
    /// For some or all present values: not representable as a region, or not worth it.
    Present,
    /// Also for events without the attribute.
    Everywhere,
}

impl Reach {
    /// The reach of a predicate.
    pub fn of(predicate: &Predicate) -> Reach {
        if predicate.over != Over::Value {
            return Reach::Present;
        }
        match &predicate.test {
            Test::Number { .. } | Test::Text(_) => Reach::if_present(&predicate.test),
            test if test.accepts_missing() => Reach::Everywhere,
            test => Reach::if_present(test),
        }
    }

    /// The reach of a test among present values: a region, or [`Reach::Present`].
    pub fn if_present(test: &Test) -> Reach {
        let mut region = Region::default();
        match test {
            Test::Number { low, high } => {
                let low = (*low != Number::MIN).then_some(Cut { at: *low, after: false });
                let high = (*high != Number::MAX).then_some(Cut { at: *high, after: true });
                region.add_numbers((low, high));
            }
            Test::Text(text) => {
                let cut = |after| Some(Cut { at: text.clone(), after });
                region.texts.push((cut(false), cut(true)));
            }
            test => match test.to_set() {
                Some(set) if !accepts_all_present(&set) => region.add_set(&set),
                _ => return Reach::Present,
            },
        }
        Reach::Region(region)
    }
}

fn accepts_all_present(set: &ValueSet) -> bool {
    set.other
        && set.bools == [true, true]
        && set.numbers.is_full()
        && set.times.is_full()
        && set.texts.is_full()
}

/// A set of present values.
#[derive(Clone, Debug, Default)]
pub struct Region {
    /// `FALSE` and `TRUE`.
    pub bools: [bool; 2],
    /// Lists and objects.
    pub other: bool,
    /// Disjoint ranges in ascending order.
    pub numbers: Vec<Range<Number>>,
    /// Disjoint ranges in ascending order, in microseconds; every cut is before its instant.
    pub times: Vec<Range<i64>>,
    /// Disjoint ranges in ascending order.
    pub texts: Vec<Range<SmolStr>>,
    /// Whether an end was rounded up to the next integer: then look-ups of fractions are not exact.
    pub rounded: bool,
}

impl Region {
    fn add_set(&mut self, set: &ValueSet) {
        self.bools = set.bools;
        self.other = set.other;
        for range in ranges(&set.numbers) {
            self.add_numbers(range);
        }
        for (low, high) in ranges(&set.times) {
            let before = |cut: Cut<i64>| Some(Cut { at: cut.instant_above()?, after: false });
            let low = low.map(before);
            // No instant is above the last one.
            if let Some(None) = low {
                continue;
            }
            let (low, high) = (low.flatten(), high.and_then(before));
            if !is_empty(&low, &high) {
                self.times.push((low, high));
            }
        }
        self.texts = ranges(&set.texts).collect();
    }

    /// Appends a range above all others, with rounded ends.
    fn add_numbers(&mut self, (low, high): Range<Number>) {
        let mut low = low.map(Cut::canonical);
        if let Some(Cut { at: Number::Int(below), after: true }) = low
            && let Some(next) = below.checked_add(1)
        {
            let next = Cut { at: Number::Int(next), after: false };
            // A range without integers is not rounded.
            if high.as_ref().is_none_or(|high| next < *high) {
                low = Some(next);
                self.rounded = true;
            }
        }
        let mut high = high.map(Cut::canonical);
        if let Some(Cut { at: Number::Int(last), after: true }) = high
            && let Some(next) = last.checked_add(1)
        {
            high = Some(Cut { at: Number::Int(next), after: false });
            self.rounded = true;
        }
        if is_empty(&low, &high) {
            return;
        }
        // Rounding up may have moved the end of the previous range to the start of this one.
        if let Some(previous) = self.numbers.last_mut()
            && let (Some(end), Some(start)) = (&previous.1, &low)
            && start <= end
        {
            previous.1 = high.zip(previous.1.take()).map(|(a, b)| a.max(b));
            return;
        }
        self.numbers.push((low, high));
    }

    /// Number of ranges and single values.
    pub fn parts(&self) -> usize {
        let bools = self.bools.iter().filter(|b| **b).count();
        bools + usize::from(self.other) + self.numbers.len() + self.times.len() + self.texts.len()
    }
}

/// Whether no value is between two cuts, such as between two adjacent numbers.
fn is_empty<T: Ord>(low: &Option<Cut<T>>, high: &Option<Cut<T>>) -> bool {
    matches!((low, high), (Some(low), Some(high)) if low >= high)
}

fn ranges<T: Ord + Clone>(set: &OrderedSet<T>) -> impl Iterator<Item = Range<T>> + use<'_, T> {
    set.ranges().map(|(low, high)| (low.cloned(), high.cloned()))
}
