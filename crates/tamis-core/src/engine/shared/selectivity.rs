//! Which predicate of a conjunction is the most selective? (PS-Tree paper, section 3.3.)
//!
//! With a history of events: the one that the smallest share of them satisfied. Without one: by shape, `=` before IN
//! before ranges with two ends before ranges with one end before NOT IN before `!=`, and within a shape the narrower one
//! first.
//!
//! Deviations: a predicate on a Boolean ranks as a range with one end, since it accepts one of only two values, whatever
//! its operator; NOT BETWEEN, which the paper does not rank, ranks as NOT IN. Among equals, the predicate in the
//! dimension with more bounds comes first: its values are divided among more spaces.

use crate::expr::{Cut, OrderedSet, Predicate, Test, ValueSet};
use crate::number::Number;
use smol_str::SmolStr;
use std::cmp::Ordering;

/// How selective a predicate is; less is more selective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Selectivity {
    /// The share of observed events that satisfied it, 0.0 to 1.0; 0.0 for all predicates if no event was observed.
    pub share: f64,
    /// Decides between equal shares.
    pub shape: Shape,
    /// Number of bounds in its dimension; decides between equal shapes.
    pub bounds: usize,
}

impl Selectivity {
    pub fn cmp(&self, other: &Selectivity) -> Ordering {
        self.share
            .total_cmp(&other.share)
            .then(self.shape.rank.cmp(&other.shape.rank))
            .then(self.shape.width.total_cmp(&other.shape.width))
            .then(other.bounds.cmp(&self.bounds))
    }
}

/// Shapes, the most selective first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ShapeRank {
    Equal,
    OneOf,
    Between,
    OneEnd,
    NoneOf,
    NotEqual,
    /// Patterns, quantifiers, mixtures of kinds, presence.
    Other,
}

/// What is known of a predicate's selectivity without events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    rank: ShapeRank,
    /// Number of values, or distance of the ends; negative where more excluded values make it more selective.
    width: f64,
}

impl Shape {
    /// Number of accepted values if no range is accepted.
    pub fn points(self) -> Option<usize> {
        match self.rank {
            ShapeRank::Equal => Some(1),
            ShapeRank::OneOf => Some(self.width as usize),
            _ => None,
        }
    }

    /// An estimate of the share of events that satisfy such a predicate.
    pub fn likelihood(self) -> f32 {
        match self.rank {
            ShapeRank::Equal => 0.02,
            ShapeRank::OneOf => (0.02 * self.width as f32).min(0.4),
            ShapeRank::Between => 0.2,
            ShapeRank::OneEnd => 0.4,
            ShapeRank::NoneOf => 0.8,
            ShapeRank::NotEqual => 0.95,
            ShapeRank::Other => 0.3,
        }
    }

    /// The shape of a predicate.
    pub fn of(predicate: &Predicate) -> Shape {
        let shape = |rank, width| Shape { rank, width };
        if predicate.over != crate::expr::Over::Value {
            return shape(ShapeRank::Other, 0.0);
        }
        match &predicate.test {
            Test::Number { low, high } if low == high => shape(ShapeRank::Equal, 0.0),
            Test::Number { low, high } => match number(high) - number(low) {
                width if width.is_finite() => shape(ShapeRank::Between, width),
                _ => shape(ShapeRank::OneEnd, 0.0),
            },
            Test::Outside { low, high } if low == high => shape(ShapeRank::NotEqual, 0.0),
            Test::Outside { low, high } => shape(ShapeRank::NoneOf, -(number(high) - number(low))),
            Test::Time { low, high } if low == high => shape(ShapeRank::Equal, 0.0),
            Test::Time { low: i64::MIN, .. } | Test::Time { high: i64::MAX, .. } => {
                shape(ShapeRank::OneEnd, 0.0)
            }
            Test::Time { low, high } => shape(ShapeRank::Between, *high as f64 - *low as f64),
            Test::Text(_) => shape(ShapeRank::Equal, 0.0),
            Test::Set(set) => Shape::of_set(set),
            Test::Pattern { .. } | Test::Cidr { .. } => shape(ShapeRank::Other, 0.0),
        }
    }

    /// Of several kinds of values, the least selective decides.
    fn of_set(set: &ValueSet) -> Shape {
        if set.other || set.missing {
            return Shape { rank: ShapeRank::Other, width: 0.0 };
        }
        let bools = set.bools.iter().filter(|b| **b).count();
        let bools = (bools > 0).then_some(Shape { rank: ShapeRank::OneEnd, width: bools as f64 });
        let shapes = [
            bools,
            Shape::of_ranges(&set.numbers, number),
            Shape::of_ranges(&set.times, |t| *t as f64),
            Shape::of_ranges(&set.texts, text_position),
        ];
        let worst = |a: Shape, b: Shape| Shape { rank: a.rank.max(b.rank), width: a.width + b.width };
        shapes.into_iter().flatten().reduce(worst).unwrap_or(Shape { rank: ShapeRank::Equal, width: 0.0 })
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
            (1, 0, 0) => Shape { rank: ShapeRank::Equal, width: 0.0 },
            (_, 0, 0) => Shape { rank: ShapeRank::OneOf, width: f64::from(points) },
            (_, _, 0) => Shape { rank: ShapeRank::Between, width: width + f64::from(points) },
            (_, _, 1) => Shape { rank: ShapeRank::OneEnd, width: f64::from(points + ranges) },
            (0, 0, _) => Shape { rank: ShapeRank::NotEqual, width: 0.0 },
            // The more gaps, the more values are excluded.
            _ => Shape { rank: ShapeRank::NoneOf, width: -f64::from(points + ranges) },
        })
    }
}

fn number(number: &Number) -> f64 {
    match number {
        Number::Int(value) => *value as f64,
        Number::Float(value) => *value,
    }
}

/// The position of a string between the least and the greatest, 0.0 to 1.0, by its first 6 bytes.
fn text_position(text: &SmolStr) -> f64 {
    let bytes = text.as_bytes().iter().chain(std::iter::repeat(&0)).take(6);
    bytes.fold(0.0, |position, byte| position * 256.0 + f64::from(*byte)) / 256f64.powi(6)
}
