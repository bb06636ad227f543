//! Sets of values: which values of one attribute satisfy a predicate.
//!
//! Because only TRUE matters once NOT is pushed to the predicates, a predicate on an attribute *is* the set of
//! values that make it TRUE. Conjunction is intersection, disjunction is union, and both are exact.

use super::ast::Comparison;
use crate::number::Number;
use crate::value::{Kind, Literal, Value};
use smol_str::SmolStr;
use std::cmp::Ordering;

/// A place between two values: just before `at`, or just after it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cut<T> {
    /// The value it lies beside.
    pub at: T,
    /// Behind the value, not before it.
    pub after: bool,
}

impl Cut<Number> {
    /// One form for each cut: behind an integer rather than before the float that follows it, and the other way round.
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
    /// The first instant behind the cut; `None` if there is none.
    pub fn instant_behind(&self) -> Option<i64> {
        if self.after { self.at.checked_add(1) } else { Some(self.at) }
    }
}

/// A set over an ordered domain, as the places where membership changes.
///
/// Invariant: `cuts` is strictly ascending. One binary search answers membership, one merge computes any Boolean
/// combination, and a complement flips one bit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OrderedSet<T> {
    /// Whether the values below the first cut belong to the set.
    below: bool,
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

    /// The values between two cuts; `None` is open.
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
        let both_sides = |at: T| [Cut { at: at.clone(), after: false }, Cut { at, after: true }];
        OrderedSet { below: false, cuts: values.into_iter().flat_map(both_sides).collect() }
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

    /// Membership, given how a cut's value compares with the value looked for.
    #[inline]
    pub fn contains_by(&self, compare: impl Fn(&T) -> Ordering) -> bool {
        let passed = self.cuts.partition_point(|cut| match compare(&cut.at) {
            Ordering::Less => true,
            Ordering::Equal => !cut.after,
            Ordering::Greater => false,
        });
        self.below != (passed % 2 == 1)
    }

    /// The places where membership changes, ascending.
    pub fn cuts(&self) -> &[Cut<T>] {
        &self.cuts
    }

    /// Whether all ranges are single values.
    pub fn is_points(&self) -> bool {
        self.ranges().all(|ends| matches!(ends, (Some(low), Some(high)) if low.at == high.at))
    }

    /// The maximal ranges of the set, in ascending order; `None` is open.
    pub fn ranges(&self) -> impl Iterator<Item = (Option<&Cut<T>>, Option<&Cut<T>>)> {
        let skip = usize::from(self.below);
        let first = self.below.then(|| (None, self.cuts.first()));
        let rest =
            self.cuts.get(skip..).unwrap_or_default().chunks(2).map(|pair| (pair.first(), pair.get(1)));
        first.into_iter().chain(rest)
    }

    fn heap(&self) -> usize {
        self.cuts.capacity() * size_of::<Cut<T>>()
    }
}

/// A set of values of any kind, the missing value among them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ValueSet {
    /// The attribute is absent.
    pub missing: bool,
    /// Present values that no other field covers: lists, nested objects.
    pub other: bool,
    /// `FALSE` and `TRUE`.
    pub bools: [bool; 2],
    /// Integers and floats.
    pub numbers: OrderedSet<Number>,
    /// Dates and timestamps, in microseconds.
    pub times: OrderedSet<i64>,
    /// Strings.
    pub texts: OrderedSet<SmolStr>,
}

impl ValueSet {
    /// No value, not even a missing one.
    pub fn empty() -> ValueSet {
        ValueSet {
            missing: false,
            other: false,
            bools: [false, false],
            numbers: OrderedSet::empty(),
            times: OrderedSet::empty(),
            texts: OrderedSet::empty(),
        }
    }

    /// Only the missing value: `IS NULL`.
    pub fn missing() -> ValueSet {
        ValueSet { missing: true, ..ValueSet::empty() }
    }

    /// Every value that is not missing: `IS NOT NULL`.
    pub fn present() -> ValueSet {
        ValueSet {
            missing: false,
            other: true,
            bools: [true, true],
            numbers: OrderedSet::full(),
            times: OrderedSet::full(),
            texts: OrderedSet::full(),
        }
    }

    /// The values for which a comparison is TRUE: of the literal's kind, and in the right order to it.
    pub fn compared(comparison: Comparison, literal: &Literal) -> ValueSet {
        let mut set = ValueSet::empty();
        match literal {
            Literal::Bool(b) => set.bools = [false, true].map(|value| comparison.accepts(value.cmp(b))),
            Literal::Number(number) => set.numbers = OrderedSet::compared(comparison, *number),
            Literal::Text(text) => set.texts = OrderedSet::compared(comparison, text.clone()),
            Literal::Date(_) | Literal::Timestamp(_) => {
                set.times = literal
                    .micros()
                    .map_or_else(OrderedSet::empty, |at| OrderedSet::compared(comparison, at));
            }
        }
        set
    }

    /// The values equal to one of the literals.
    pub fn one_of(literals: &[Literal]) -> ValueSet {
        let (mut numbers, mut times, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        let mut set = ValueSet::empty();
        for literal in literals {
            match literal {
                Literal::Bool(b) => set.bools[usize::from(*b)] = true,
                Literal::Number(number) => numbers.push(*number),
                Literal::Text(text) => texts.push(text.clone()),
                Literal::Date(_) | Literal::Timestamp(_) => times.extend(literal.micros()),
            }
        }
        set.numbers = OrderedSet::points(numbers);
        set.times = OrderedSet::points(times);
        set.texts = OrderedSet::points(texts);
        set
    }

    /// The values for which `NOT IN` is TRUE: unequal to every literal, hence of every literal's kind.
    pub fn none_of(literals: &[Literal]) -> ValueSet {
        let Some(kind) = literals.first().map(Literal::kind) else {
            return ValueSet::present();
        };
        if literals.iter().any(|literal| literal.kind() != kind) {
            return ValueSet::empty();
        }
        let listed = ValueSet::one_of(literals);
        let mut set = ValueSet::empty();
        match kind {
            Kind::Bool => set.bools = listed.bools.map(|b| !b),
            Kind::Number => set.numbers = listed.numbers.complement(),
            Kind::Text => set.texts = listed.texts.complement(),
            Kind::Time => set.times = listed.times.complement(),
        }
        set
    }

    /// The values in both sets.
    pub fn intersection(&self, other: &ValueSet) -> ValueSet {
        self.combine(other, |a, b| a && b)
    }

    /// The values in one set or the other.
    pub fn union(&self, other: &ValueSet) -> ValueSet {
        self.combine(other, |a, b| a || b)
    }

    fn combine(&self, other: &ValueSet, keep: impl Fn(bool, bool) -> bool + Copy) -> ValueSet {
        ValueSet {
            missing: keep(self.missing, other.missing),
            other: keep(self.other, other.other),
            bools: [keep(self.bools[0], other.bools[0]), keep(self.bools[1], other.bools[1])],
            numbers: self.numbers.combine(&other.numbers, keep),
            times: self.times.combine(&other.times, keep),
            texts: self.texts.combine(&other.texts, keep),
        }
    }

    /// Whether no value belongs.
    pub fn is_empty(&self) -> bool {
        !self.missing && !self.other && self.kinds().next().is_none()
    }

    /// The one kind that all values of the set are of; `None` if there are several, or others.
    pub fn only_kind(&self) -> Option<Kind> {
        let mut kinds = self.kinds();
        match (self.missing || self.other, kinds.next(), kinds.next()) {
            (false, kind, None) => kind,
            _ => None,
        }
    }

    /// The kinds of which some value belongs.
    fn kinds(&self) -> impl Iterator<Item = Kind> {
        let occupied = [
            (Kind::Bool, self.bools != [false, false]),
            (Kind::Number, !self.numbers.is_empty()),
            (Kind::Time, !self.times.is_empty()),
            (Kind::Text, !self.texts.is_empty()),
        ];
        occupied.into_iter().filter_map(|(kind, any)| any.then_some(kind))
    }

    /// Whether every value belongs, the missing one included.
    pub fn is_everything(&self) -> bool {
        let full = self.numbers.is_full() && self.times.is_full() && self.texts.is_full();
        self.missing && self.other && self.bools == [true, true] && full
    }

    /// Whether a value belongs.
    pub fn contains(&self, value: Value<'_>) -> bool {
        match value {
            Value::Missing => self.missing,
            Value::Bool(b) => self.bools[usize::from(b)],
            Value::Int(i) => self.numbers.contains_by(|at| at.cmp(&Number::Int(i))),
            Value::Float(f) => self.numbers.contains_by(|at| at.cmp(&Number::Float(f))),
            Value::Time(t) => self.times.contains_by(|at| at.cmp(&t)),
            Value::Text(text) => self.texts.contains_by(|at| at.as_str().cmp(text)),
            Value::List(_) | Value::Other => self.other,
        }
    }

    /// Bytes on the heap, near enough.
    pub fn heap(&self) -> usize {
        let text: usize =
            self.texts.cuts.iter().filter(|c| c.at.is_heap_allocated()).map(|c| c.at.len()).sum();
        self.numbers.heap() + self.times.heap() + self.texts.heap() + text
    }
}
