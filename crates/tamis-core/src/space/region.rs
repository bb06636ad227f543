//! Which values a predicate accepts, as ranges whose ends PS-Trees can cut at.
//!
//! Integers deserve care. `a <= 7` and `a >= 8` leave a gap between them, which only fractions fall into; with a space
//! for every gap there would be twice the spaces, nearly all empty. So ends at integers are moved to the next integer
//! where no integer notices: `a <= 7` becomes `a < 8`, and `a > 7` becomes `a >= 8`. An integer finds exactly the
//! predicates it satisfies. A fraction looks into its own space and that of the next integer, which together hold at
//! least the predicates it satisfies, and has each one checked again (see [`Region::rounded`]).

use super::ps_tree::Range;
use crate::expr::{Cut, OrderedSet, Over, Predicate, Test, ValueSet};
use crate::number::Number;
use smol_str::SmolStr;

/// Where a predicate may hold.
#[derive(Clone, Debug)]
pub enum Reach {
    /// For these values and no others.
    Region(Region),
    /// For some present values; which ones, only the predicate itself can tell, or nearly all of them.
    Present,
    /// Even if the attribute is missing.
    Everywhere,
}

impl Reach {
    /// Where the predicate may hold.
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

    /// Which present values a test accepts; [`Reach::Present`] where only the test can tell, or nearly all of them.
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
    /// Ranges in ascending order, disjoint.
    pub numbers: Vec<Range<Number>>,
    /// As `numbers`; all cuts lie before their instant.
    pub times: Vec<Range<i64>>,
    /// As `numbers`.
    pub texts: Vec<Range<SmolStr>>,
    /// Whether an end was moved to the next integer, so that a fraction must look twice and check.
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
            let before = |cut: Cut<i64>| Some(Cut { at: cut.instant_behind()?, after: false });
            let low = low.map(before);
            // Behind the last instant there is none.
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

    /// Appends a range above all others, its ends moved where no integer notices.
    fn add_numbers(&mut self, (low, high): Range<Number>) {
        let mut low = low.map(Cut::canonical);
        if let Some(Cut { at: Number::Int(below), after: true }) = low
            && let Some(next) = below.checked_add(1)
        {
            let next = Cut { at: Number::Int(next), after: false };
            // A range without integers stays as it is.
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
        // Moved upwards, the end of the range before may have reached this one.
        if let Some(earlier) = self.numbers.last_mut()
            && let (Some(end), Some(start)) = (&earlier.1, &low)
            && start <= end
        {
            earlier.1 = high.zip(earlier.1.take()).map(|(a, b)| a.max(b));
            return;
        }
        self.numbers.push((low, high));
    }

    /// How many ranges and single values there are.
    pub fn parts(&self) -> usize {
        let bools = self.bools.iter().filter(|b| **b).count();
        bools + usize::from(self.other) + self.numbers.len() + self.times.len() + self.texts.len()
    }
}

/// Whether no value lies between two cuts: between neighbouring numbers, for one.
fn is_empty<T: Ord>(low: &Option<Cut<T>>, high: &Option<Cut<T>>) -> bool {
    matches!((low, high), (Some(low), Some(high)) if low >= high)
}

fn ranges<T: Ord + Clone>(set: &OrderedSet<T>) -> impl Iterator<Item = Range<T>> + use<'_, T> {
    set.ranges().map(|(low, high)| (low.cloned(), high.cloned()))
}
