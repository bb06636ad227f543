//! Normalized predicates: an attribute and the values it accepts.

use super::ordered_set::{Cut, OrderedSet, highest_number, highest_time, lowest_number, lowest_time};
use super::value_set::ValueSet;
use crate::event::{Event, Slot};
use crate::expr::evaluation::in_networks;
use crate::expr::pattern::TextPattern;
use crate::number::Number;
use crate::schema::AttrId;
use crate::value::{ARC_COUNTERS, Kind, Value, heap_of};
use ipnet::IpNet;
use smol_str::SmolStr;
use std::sync::Arc;

/// Which part of an attribute's value a predicate tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Over {
    /// The value itself.
    Value,
    /// Some element of the list.
    AnyElement,
    /// Every element of the list.
    AllElements,
}

/// A positive predicate: TRUE for the values its test accepts, not TRUE for all others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Predicate {
    /// The attribute it tests.
    pub attribute: AttrId,
    /// Which part of the value.
    pub over: Over,
    /// The accepted values.
    pub test: Test,
}

/// The accepted values. The first four are the most frequent sets, stored inline.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    /// One range of numbers, both ends included. An excluded bound is stored as the adjacent number, which is exact
    /// because values of events are representable numbers too.
    Number {
        /// Lowest accepted.
        low: Number,
        /// Highest accepted.
        high: Number,
    },
    /// All numbers outside `low..=high`: `!=` and `NOT BETWEEN`.
    Outside {
        /// Numbers below are accepted.
        low: Number,
        /// Numbers above are accepted.
        high: Number,
    },
    /// One range of instants, both ends included.
    Time {
        /// Lowest accepted.
        low: i64,
        /// Highest accepted.
        high: i64,
    },
    /// One string.
    Text(SmolStr),
    /// Any other set of values.
    Set(Box<ValueSet>),
    /// Strings a pattern matches, or does not match.
    Pattern {
        /// The pattern; an equality or a prefix is a set of strings instead.
        pattern: Arc<TextPattern>,
        /// Accepts the strings that do not match.
        negated: bool,
        /// Accepts a missing value, too (closed world).
        or_missing: bool,
    },
    /// Addresses inside the networks, or outside.
    Cidr {
        /// The networks.
        networks: Arc<[IpNet]>,
        /// Accepts the addresses outside all of them.
        negated: bool,
        /// Accepts a missing value, too (closed world).
        or_missing: bool,
    },
}

impl Predicate {
    /// Whether the event satisfies the predicate.
    #[inline]
    pub fn holds(&self, event: &Event<'_>) -> bool {
        let slot = event.slot(self.attribute);
        match (self.over, slot) {
            (Over::Value, slot) => self.test.accepts(slot, event),
            (Over::AnyElement, Slot::List(list)) => {
                event.elements(list).any(|value| self.test.accepts_value(value))
            }
            (Over::AllElements, Slot::List(list)) => {
                event.elements(list).all(|value| self.test.accepts_value(value))
            }
            _ => false,
        }
    }

    /// Whether an event without the attribute satisfies the predicate.
    pub fn accepts_missing(&self) -> bool {
        self.over == Over::Value && self.test.accepts_missing()
    }

    /// Approximate bytes on the heap.
    pub fn heap(&self) -> usize {
        match &self.test {
            Test::Text(text) => heap_of(text),
            Test::Set(set) => size_of::<ValueSet>() + set.heap(),
            Test::Pattern { pattern, .. } => ARC_COUNTERS + size_of::<TextPattern>() + pattern.heap(),
            Test::Cidr { networks, .. } => ARC_COUNTERS + size_of_val(&**networks),
            _ => 0,
        }
    }
}

impl Test {
    /// Whether a slot of the event is accepted. The most frequent comparisons do not resolve the slot to a value.
    #[inline]
    pub fn accepts(&self, slot: Slot, event: &Event<'_>) -> bool {
        match (self, slot) {
            (Test::Number { low: Number::Int(low), high: Number::Int(high) }, Slot::Int(value)) => {
                *low <= value && value <= *high
            }
            (Test::Outside { low: Number::Int(low), high: Number::Int(high) }, Slot::Int(value)) => {
                value < *low || *high < value
            }
            (Test::Number { .. } | Test::Outside { .. } | Test::Text(_), Slot::Missing) => false,
            _ => self.accepts_value(event.resolve(slot)),
        }
    }

    /// Whether a value is accepted.
    pub fn accepts_value(&self, value: Value<'_>) -> bool {
        match (self, value) {
            (Test::Number { low, high }, Value::Int(i)) => (*low..=*high).contains(&Number::Int(i)),
            (Test::Number { low, high }, Value::Float(f)) => (*low..=*high).contains(&Number::Float(f)),
            (Test::Outside { low, high }, Value::Int(i)) => !(*low..=*high).contains(&Number::Int(i)),
            (Test::Outside { low, high }, Value::Float(f)) => !(*low..=*high).contains(&Number::Float(f)),
            (Test::Time { low, high }, Value::Time(t)) => (*low..=*high).contains(&t),
            (Test::Text(accepted), Value::Text(text)) => accepted == text,
            (Test::Set(set), value) => set.contains(value),
            (Test::Pattern { pattern, negated, .. }, Value::Text(text)) => pattern.matches(text) != *negated,
            (Test::Cidr { networks, negated, .. }, Value::Text(text)) => {
                in_networks(text, networks).is_some_and(|inside| inside != *negated)
            }
            (Test::Pattern { or_missing, .. } | Test::Cidr { or_missing, .. }, Value::Missing) => *or_missing,
            _ => false,
        }
    }

    /// Whether an event without the attribute satisfies the test.
    pub fn accepts_missing(&self) -> bool {
        self.accepts_value(Value::Missing)
    }

    /// The accepted values as a set; `None` for patterns and networks.
    pub fn to_set(&self) -> Option<ValueSet> {
        let mut set = ValueSet::empty();
        match self {
            Test::Number { low, high } => set.numbers = inclusive(*low, *high, Number::MIN, Number::MAX),
            Test::Outside { low, high } => {
                set.numbers = inclusive(*low, *high, Number::MIN, Number::MAX).complement();
            }
            Test::Time { low, high } => set.times = inclusive(*low, *high, i64::MIN, i64::MAX),
            Test::Text(text) => set.texts = OrderedSet::points(vec![text.clone()]),
            Test::Set(inner) => return Some((**inner).clone()),
            Test::Pattern { .. } | Test::Cidr { .. } => return None,
        }
        Some(set)
    }
}

/// The values from `low` to `high`; an end of the domain needs no cut.
fn inclusive<T: Ord + Clone>(low: T, high: T, min: T, max: T) -> OrderedSet<T> {
    let low = (low != min).then_some(Cut { at: low, after: false });
    let high = (high != max).then_some(Cut { at: high, after: true });
    OrderedSet::between(low, high)
}

impl From<ValueSet> for Test {
    /// The most compact form of a set that is neither empty nor full.
    fn from(set: ValueSet) -> Test {
        match set.only_kind() {
            Some(Kind::Number) => match first_two(set.numbers.ranges()) {
                (Some((low, high)), None) => {
                    return Test::Number { low: lowest_number(low), high: highest_number(high) };
                }
                (Some((None, Some(low))), Some((Some(high), None))) => {
                    return Test::Outside { low: lowest_number(Some(low)), high: highest_number(Some(high)) };
                }
                _ => {}
            },
            Some(Kind::Time) => {
                if let (Some((low, high)), None) = first_two(set.times.ranges()) {
                    return Test::Time { low: lowest_time(low), high: highest_time(high) };
                }
            }
            Some(Kind::Text) => {
                if let (Some((Some(low), Some(high))), None) = first_two(set.texts.ranges())
                    && low.at == high.at
                {
                    return Test::Text(low.at.clone());
                }
            }
            Some(Kind::Bool) | None => {}
        }
        Test::Set(Box::new(set))
    }
}

fn first_two<T>(mut items: impl Iterator<Item = T>) -> (Option<T>, Option<T>) {
    (items.next(), items.next())
}
