//! Under which keys is a predicate listed, and which keys does a value have?
//!
//! The domain of the paper is a set of discrete values. Here it is the integers from 0 to `domain - 1`: each has a key of
//! its own, and a range is enumerated over it. The numbers outside have three keys together: below the domain, above it,
//! and fractions within. Under these a range is listed if it accepts any such number, so an event with one of them finds
//! a superset, which is tested. Other single values (texts, times, Booleans, other numbers) have a key of their own.
//!
//! Invariant: a value that a predicate accepts has exactly one key that lists the predicate.

use super::super::points::{self, Point};
use tamis_core::Number;
use tamis_core::expr::{Cut, OrderedSet, Over, Predicate, Test};

/// A key of an attribute, or a range of keys.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// The integers of the domain from the first to the second, both included.
    Integers(u32, u32),
    /// Numbers below the domain.
    Below,
    /// Fractions within the domain.
    Fraction,
    /// Numbers above the domain.
    Above,
    /// A value outside the domain.
    Point(Point),
}

impl Key {
    /// Number of keys.
    pub fn count(&self) -> usize {
        match self {
            Key::Integers(first, last) => (last - first) as usize + 1,
            _ => 1,
        }
    }

    fn of_point(point: Point, domain: u32) -> Key {
        match integer_of_domain(&point, domain) {
            Some(value) => Key::Integers(value, value),
            None => Key::Point(point),
        }
    }
}

fn integer_of_domain(point: &Point, domain: u32) -> Option<u32> {
    match point {
        Point::Number(Number::Int(value)) => within(*value, domain),
        _ => None,
    }
}

/// An integer as a position in the domain.
pub(super) fn within(value: i64, domain: u32) -> Option<u32> {
    u32::try_from(value).ok().filter(|value| *value < domain)
}

/// How a predicate is listed.
pub(super) enum Keying {
    /// IN: holds for a value under one of the keys.
    In(Vec<Key>),
    /// NOT IN: does not hold for a value under one of the keys. `exact`: holds for all others, missing ones included.
    NotIn { keys: Vec<Key>, exact: bool },
    /// Not listed: tested at the end.
    Unkeyed,
}

/// How a predicate is listed, under at most `max_keys` keys.
pub(super) fn keying(predicate: &Predicate, domain: u32, max_keys: usize) -> Keying {
    let of_points = |points: Vec<Point>| -> Vec<Key> {
        points.into_iter().map(|point| Key::of_point(point, domain)).collect()
    };
    let keying = if let Some(accepted) = points::accepted(predicate) {
        Keying::In(of_points(accepted))
    } else if let Some(excluded) = points::excluded(predicate) {
        Keying::NotIn { keys: of_points(excluded.points), exact: excluded.all_others }
    } else if let Some(keys) = enumerated(predicate, domain) {
        Keying::In(keys)
    } else {
        Keying::Unkeyed
    };
    let keys = match &keying {
        Keying::In(keys) | Keying::NotIn { keys, .. } => keys.iter().map(Key::count).sum(),
        Keying::Unkeyed => 0,
    };
    if keys > max_keys { Keying::Unkeyed } else { keying }
}

/// The keys of ranges of numbers, with single values of other kinds; `None` if the predicate accepts anything else.
fn enumerated(predicate: &Predicate, domain: u32) -> Option<Vec<Key>> {
    if predicate.over != Over::Value {
        return None;
    }
    let set = match &predicate.test {
        Test::Number { .. } | Test::Outside { .. } | Test::Set(_) => predicate.test.to_set()?,
        _ => return None,
    };
    if set.missing || set.other || set.numbers.is_empty() {
        return None;
    }
    let mut keys = Vec::new();
    enumerate(&set.numbers, domain, &mut keys);
    let mut others = set;
    others.numbers = OrderedSet::empty();
    if !others.is_empty() {
        let others = Predicate { test: Test::Set(Box::new(others)), ..predicate.clone() };
        keys.extend(points::accepted(&others)?.into_iter().map(Key::Point));
    }
    Some(keys)
}

fn enumerate(numbers: &OrderedSet<Number>, domain: u32, keys: &mut Vec<Key>) {
    let (least, greatest) = (Number::Int(0), Number::Int(i64::from(domain) - 1));
    let (mut below, mut fraction, mut above) = (false, false, false);
    for (low, high) in numbers.ranges() {
        let low = low.map_or(Number::MIN, |Cut { at, after }| if *after { at.next_up() } else { *at });
        let high = high.map_or(Number::MAX, |Cut { at, after }| if *after { *at } else { at.next_down() });
        below |= low < least;
        above |= high > greatest;
        let (low, high) = (low.max(least), high.min(greatest));
        if low > high {
            continue;
        }
        fraction |= low < high || matches!(low, Number::Float(_));
        let (first, last) = (rounded(low, f64::ceil), rounded(high, f64::floor));
        if first <= last {
            keys.push(Key::Integers(first, last));
        }
    }
    let shared = [(below, Key::Below), (fraction, Key::Fraction), (above, Key::Above)];
    keys.extend(shared.into_iter().filter(|(listed, _)| *listed).map(|(_, key)| key));
}

/// A number of the domain as an integer.
fn rounded(number: Number, round: fn(f64) -> f64) -> u32 {
    match number {
        Number::Int(value) => value as u32,
        Number::Float(value) => round(value) as u32,
    }
}
