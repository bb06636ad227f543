//! Sets of values: which values of one attribute satisfy a predicate.
//!
//! Once NOT is pushed to the predicates only TRUE matters, so a predicate on an attribute *is* the set of values that
//! make it TRUE. Conjunction is intersection, disjunction is union, and both are exact.

use super::ordered_set::OrderedSet;
use crate::expr::syntax::Comparison;
use crate::number::Number;
use crate::value::{Kind, Literal, Value, heap_of};
use smol_str::SmolStr;

/// A set of values of any kind; the missing value is a value, too.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ValueSet {
    /// The missing value.
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
    /// No value.
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

    /// The values for which a comparison is TRUE: of the literal's kind, and in that order to it.
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

    /// Whether the set has no value.
    pub fn is_empty(&self) -> bool {
        !self.missing && !self.other && self.kinds().next().is_none()
    }

    /// The kind of all values of the set; `None` if they are of several kinds, missing or other.
    pub fn only_kind(&self) -> Option<Kind> {
        let mut kinds = self.kinds();
        match (self.missing || self.other, kinds.next(), kinds.next()) {
            (false, kind, None) => kind,
            _ => None,
        }
    }

    /// The kinds with at least one value in the set.
    fn kinds(&self) -> impl Iterator<Item = Kind> {
        let nonempty = [
            (Kind::Bool, self.bools != [false, false]),
            (Kind::Number, !self.numbers.is_empty()),
            (Kind::Time, !self.times.is_empty()),
            (Kind::Text, !self.texts.is_empty()),
        ];
        nonempty.into_iter().filter_map(|(kind, any)| any.then_some(kind))
    }

    /// Whether the set has every value, the missing one included.
    pub fn is_everything(&self) -> bool {
        let full = self.numbers.is_full() && self.times.is_full() && self.texts.is_full();
        self.missing && self.other && self.bools == [true, true] && full
    }

    /// Whether a value belongs to the set.
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

    /// Approximate bytes on the heap.
    pub fn heap(&self) -> usize {
        // The two cuts around one string share it.
        let cuts = self.texts.cuts();
        let shared = |at: usize| at > 0 && std::ptr::eq(cuts[at - 1].at.as_ptr(), cuts[at].at.as_ptr());
        let text: usize = (0..cuts.len()).filter(|at| !shared(*at)).map(|at| heap_of(&cuts[at].at)).sum();
        self.numbers.heap() + self.times.heap() + self.texts.heap() + text
    }
}
