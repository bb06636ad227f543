//! Intervals on the line of an attribute's values: the paper's predicate mapping (Table I).
//!
//! Every present value has a coordinate, a float; a predicate that needs a present value has an interval that contains the
//! coordinates of all values it accepts. The interval may contain others: conjunctions are tested in the leaf.
//!
//! | value | coordinate |
//! | --- | --- |
//! | integer, float, time in microseconds | the nearest float; rounding preserves the order |
//! | boolean | 0 or 1 |
//! | string | its first 3 bytes in the upper 24 bits, 28 bits of its hash in the lower ones: ranges and prefixes are in order, and equal strings alone share a coordinate, but for collisions |
//! | list, nested object | +infinity: only predicates with the interval of all values accept one |
//!
//! Lines of different kinds overlap, which costs candidates, not answers: attributes with values of several kinds are rare.

use crate::expr::{Over, Predicate, Test, ValueSet};
use crate::number::Number;
use crate::value::Value;
use smol_str::SmolStr;
use xxhash_rust::xxh3::xxh3_64;

/// A closed interval of coordinates. The default is empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    /// The least coordinate; above `high` if the interval is empty.
    pub low: f64,
    /// The greatest coordinate.
    pub high: f64,
}

impl Default for Interval {
    fn default() -> Interval {
        Interval::EMPTY
    }
}

impl Interval {
    pub const EMPTY: Interval = Interval { low: f64::INFINITY, high: f64::NEG_INFINITY };
    pub const ALL: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };

    pub fn is_empty(self) -> bool {
        self.low > self.high
    }

    /// Whether a coordinate is inside; false for NaN, the coordinate of missing values.
    #[inline]
    pub fn contains(self, at: f64) -> bool {
        self.low <= at && at <= self.high
    }

    /// Whether all of another interval, which is not empty, is inside.
    pub fn encloses(self, other: Interval) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    pub fn intersects(self, other: Interval) -> bool {
        self.low.max(other.low) <= self.high.min(other.high)
    }

    /// The smallest interval that encloses both.
    pub fn union(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    pub fn intersection(self, other: Interval) -> Interval {
        Interval { low: self.low.max(other.low), high: self.high.min(other.high) }
    }

    /// Whether one of its ends is an end of an interval that encloses it.
    pub fn touches(self, outer: Interval) -> bool {
        self.low == outer.low || self.high == outer.high
    }

    /// The paper's lambda; 0 for points and empty intervals.
    pub fn length(self) -> f64 {
        if self.low < self.high { self.high - self.low } else { 0.0 }
    }

    /// The values that a predicate accepts; `None` if it accepts missing ones, too.
    pub fn of(predicate: &Predicate) -> Option<Interval> {
        if predicate.over != Over::Value {
            return Some(Interval::ALL);
        }
        Some(match &predicate.test {
            Test::Number { low, high } => Interval { low: coordinate(low), high: coordinate(high) },
            Test::Time { low, high } => Interval { low: instant(low), high: instant(high) },
            Test::Text(text) => Interval::point(text_coordinate(text)),
            Test::Outside { .. } => Interval::ALL,
            Test::Pattern { or_missing: true, .. } | Test::Cidr { or_missing: true, .. } => return None,
            Test::Pattern { .. } | Test::Cidr { .. } => TEXTS,
            Test::Set(set) if set.missing => return None,
            Test::Set(set) => Interval::of_set(set),
        })
    }

    fn point(at: f64) -> Interval {
        Interval { low: at, high: at }
    }

    fn of_set(set: &ValueSet) -> Interval {
        if set.other {
            return Interval::ALL;
        }
        let mut hull = Interval::EMPTY;
        for (value, accepted) in [0.0, 1.0].into_iter().zip(set.bools) {
            hull = if accepted { hull.union(Interval::point(value)) } else { hull };
        }
        for (low, high) in set.numbers.ranges() {
            let low = low.map_or(f64::NEG_INFINITY, |cut| coordinate(&cut.at));
            hull = hull.union(Interval { low, high: high.map_or(f64::INFINITY, |cut| coordinate(&cut.at)) });
        }
        for (low, high) in set.times.ranges() {
            let low = low.map_or(f64::NEG_INFINITY, |cut| instant(&cut.at));
            hull = hull.union(Interval { low, high: high.map_or(f64::INFINITY, |cut| instant(&cut.at)) });
        }
        for (low, high) in set.texts.ranges() {
            hull = hull.union(match (low, high) {
                (Some(low), Some(high)) if low.at == high.at => Interval::point(text_coordinate(&low.at)),
                _ => Interval {
                    low: low.map_or(TEXTS.low, |cut| first_bytes(&cut.at)),
                    high: high.map_or(TEXTS.high, |cut| first_bytes(&cut.at) + HASHES - 1.0),
                },
            });
        }
        hull
    }
}

/// Coordinates that strings with the same first 3 bytes are spread over.
const HASHES: f64 = (1u64 << 28) as f64;
/// The coordinates of all strings.
const TEXTS: Interval = Interval { low: 0.0, high: (1u64 << 52) as f64 };

/// The coordinate of a present value; `None` for a missing one.
pub(super) fn coordinate_of(value: Value<'_>) -> Option<f64> {
    Some(match value {
        Value::Missing => return None,
        Value::Bool(value) => f64::from(u8::from(value)),
        Value::Int(value) => value as f64,
        Value::Float(value) => value,
        Value::Time(value) => instant(&value),
        Value::Text(text) => first_bytes(text) + (xxh3_64(text.as_bytes()) >> 36) as f64,
        Value::List(_) | Value::Other => f64::INFINITY,
    })
}

fn coordinate(number: &Number) -> f64 {
    match number {
        Number::Int(value) => *value as f64,
        Number::Float(value) => *value,
    }
}

fn instant(micros: &i64) -> f64 {
    *micros as f64
}

fn text_coordinate(text: &SmolStr) -> f64 {
    coordinate_of(Value::Text(text)).unwrap_or(0.0)
}

/// The least coordinate of all strings that begin with the same 3 bytes.
fn first_bytes(text: &str) -> f64 {
    let bytes = text.as_bytes().iter().copied().chain([0; 3]).take(3);
    bytes.fold(0.0, |position, byte| position * 256.0 + f64::from(byte)) * HASHES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Limits, Missing, Normalizer, Root, parse};
    use crate::schema::Schema;

    fn interval(text: &str) -> Option<Interval> {
        let (mut schema, mut normalizer) = (Schema::default(), Normalizer::default());
        let expr = parse(text, &Limits::default()).expect("an expression");
        let normal = normalizer.normalize(&expr, &mut schema, Missing::Unknown);
        assert!(matches!(normal.root(), Root::Node(_)));
        Interval::of(&normal.predicates()[0])
    }

    /// Table I of the paper, and the operators it does not have.
    #[test]
    fn predicates_are_mapped_to_intervals() {
        let between = |low, high| Some(Interval { low, high });
        assert_eq!(interval("a = 3"), between(3.0, 3.0));
        assert_eq!(interval("a between 3 and 7"), between(3.0, 7.0));
        assert_eq!(interval("a <= 3"), between(f64::NEG_INFINITY, 3.0));
        assert_eq!(interval("a >= 3"), between(3.0, f64::INFINITY));
        assert_eq!(interval("a in (9, 3, 5)"), between(3.0, 9.0));
        for all in ["a != 3", "a not in (3, 4)", "a is not null", "any(a) = 3", "all(a) > 1"] {
            assert_eq!(interval(all), Some(Interval::ALL), "{all}");
        }
        assert_eq!(interval("a is null"), None);
    }

    #[test]
    fn accepted_strings_are_inside() {
        let texts = ["", "a", "ab", "abc", "abcd", "abd", "b", "é", "\u{10ffff}"];
        for low in texts {
            for high in texts.iter().filter(|high| low <= **high) {
                let range = interval(&format!("a between '{low}' and '{high}'")).expect("an interval");
                for text in texts.iter().filter(|text| low <= **text && *text <= high) {
                    let at = coordinate_of(Value::Text(text)).expect("a coordinate");
                    assert!(range.contains(at), "{text} between {low} and {high}");
                }
            }
        }
        let point = interval("a = 'abc'").expect("an interval");
        assert_eq!(point.length(), 0.0);
        let prefix = interval("a like 'abc%'").expect("an interval");
        assert!(prefix.encloses(point) && prefix.length() <= 2.0 * HASHES);
    }
}
