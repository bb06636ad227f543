//! Which predicates are worth looking for first (the paper's section 3.3).
//!
//! With a history of events: the fewer of them satisfied the predicate, the better. Without one: by the shape of
//! the predicate, `=` before IN before ranges with two ends before ranges with one before NOT IN before `!=`, and
//! within a shape the narrower one first.
//!
//! Deviations: a predicate on a Boolean counts as a range with one end, since it accepts one of only two values,
//! whatever its operator; NOT BETWEEN, which the paper does not rank, goes with NOT IN. Among equals, the predicate in
//! the dimension with more bounds comes first: there a value is one of more.

use crate::expr::{Cut, OrderedSet, Predicate, Test, ValueSet};
use crate::number::Number;
use smol_str::SmolStr;
use std::cmp::Ordering;

/// How selective a predicate is; less is more selective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Selectivity {
    /// The share of observed events that satisfied it; the same for all if there are none.
    pub share: f64,
    pub shape: Shape,
    /// How many bounds its dimension has.
    pub spaces: usize,
}

impl Selectivity {
    pub fn cmp(&self, other: &Selectivity) -> Ordering {
        self.share
            .total_cmp(&other.share)
            .then(self.shape.rank.cmp(&other.shape.rank))
            .then(self.shape.width.total_cmp(&other.shape.width))
            .then(other.spaces.cmp(&self.spaces))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Equal,
    OneOf,
    Between,
    OneEnd,
    NoneOf,
    NotEqual,
    /// Patterns, quantifiers, mixtures of kinds, mere presence.
    Other,
}

/// What can be said of a predicate without events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::engine) struct Shape {
    rank: Rank,
    /// How many values, or how far apart the ends.
    width: f64,
}

impl Shape {
    /// How many single values are accepted, if no ranges are.
    pub fn points(self) -> Option<usize> {
        match self.rank {
            Rank::Equal => Some(1),
            Rank::OneOf => Some(self.width as usize),
            _ => None,
        }
    }

    /// A guess at the share of events that satisfy such a predicate.
    pub fn likelihood(self) -> f32 {
        match self.rank {
            Rank::Equal => 0.02,
            Rank::OneOf => (0.02 * self.width as f32).min(0.4),
            Rank::Between => 0.2,
            Rank::OneEnd => 0.4,
            Rank::NoneOf => 0.8,
            Rank::NotEqual => 0.95,
            Rank::Other => 0.3,
        }
    }

    pub fn of(predicate: &Predicate) -> Shape {
        let shape = |rank, width| Shape { rank, width };
        if predicate.over != crate::expr::Over::Value {
            return shape(Rank::Other, 0.0);
        }
        match &predicate.test {
            Test::Number { low, high } if low == high => shape(Rank::Equal, 0.0),
            Test::Number { low, high } => match number(high) - number(low) {
                width if width.is_finite() => shape(Rank::Between, width),
                _ => shape(Rank::OneEnd, 0.0),
            },
            Test::Outside { low, high } if low == high => shape(Rank::NotEqual, 0.0),
            Test::Outside { low, high } => shape(Rank::NoneOf, -(number(high) - number(low))),
            Test::Time { low, high } if low == high => shape(Rank::Equal, 0.0),
            Test::Time { low: i64::MIN, .. } | Test::Time { high: i64::MAX, .. } => shape(Rank::OneEnd, 0.0),
            Test::Time { low, high } => shape(Rank::Between, *high as f64 - *low as f64),
            Test::Text(_) => shape(Rank::Equal, 0.0),
            Test::Set(set) => Shape::of_set(set),
            Test::Pattern { .. } | Test::Cidr { .. } => shape(Rank::Other, 0.0),
        }
    }

    /// Of several kinds of values the least selective decides.
    fn of_set(set: &ValueSet) -> Shape {
        if set.other || set.missing {
            return Shape { rank: Rank::Other, width: 0.0 };
        }
        let bools = set.bools.iter().filter(|b| **b).count();
        let bools = (bools > 0).then_some(Shape { rank: Rank::OneEnd, width: bools as f64 });
        let shapes = [
            bools,
            Shape::of_ranges(&set.numbers, number),
            Shape::of_ranges(&set.times, |t| *t as f64),
            Shape::of_ranges(&set.texts, text_position),
        ];
        let worst = |a: Shape, b: Shape| Shape { rank: a.rank.max(b.rank), width: a.width + b.width };
        shapes.into_iter().flatten().reduce(worst).unwrap_or(Shape { rank: Rank::Equal, width: 0.0 })
    }

    fn of_ranges<T: Ord + Clone>(set: &OrderedSet<T>, position: impl Fn(&T) -> f64) -> Option<Shape> {
        if set.is_empty() {
            return None;
        }
        let is_point = |low: &Cut<T>, high: &Cut<T>| low.at == high.at;
        let (mut points, mut ranges, mut ends, mut width) = (0, 0, 0, 0.0);
        for range in set.ranges() {
            match range {
                (Some(low), Some(high)) if is_point(low, high) => points += 1,
                (Some(low), Some(high)) => {
                    ranges += 1;
                    width += position(&high.at) - position(&low.at);
                }
                _ => ends += 1,
            }
        }
        Some(match (points, ranges, ends) {
            (1, 0, 0) => Shape { rank: Rank::Equal, width: 0.0 },
            (_, 0, 0) => Shape { rank: Rank::OneOf, width: f64::from(points) },
            (_, _, 0) => Shape { rank: Rank::Between, width: width + f64::from(points) },
            (_, _, 1) => Shape { rank: Rank::OneEnd, width: f64::from(points + ranges) },
            (0, 0, _) => Shape { rank: Rank::NotEqual, width: 0.0 },
            // The more gaps, the more values are excluded.
            _ => Shape { rank: Rank::NoneOf, width: -f64::from(points + ranges) },
        })
    }
}

fn number(number: &Number) -> f64 {
    match number {
        Number::Int(value) => *value as f64,
        Number::Float(value) => *value,
    }
}

/// Where a string lies between the first and the last, by its first bytes.
fn text_position(text: &SmolStr) -> f64 {
    let bytes = text.as_bytes().iter().chain(std::iter::repeat(&0)).take(6);
    bytes.fold(0.0, |position, byte| position * 256.0 + f64::from(*byte)) / 256f64.powi(6)
}
