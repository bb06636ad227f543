//! Records: what a list holds of a conjunction, so that rejecting it needs no look elsewhere.
//!
//! A record is a run of words: the conjunction, the length, the attributes it needs as a filter of 64 bits, and a term
//! for each predicate that the list itself does not guarantee. The filter alone dismisses most; it is the same test
//! for all, which processors foresee, where the terms of each fail in their own way. A term is the attribute with a
//! code, and what to compare with. Ranges of small integers, the common case, take two words.
//!
//! Numbers are compared in half steps: the integer n is 2n, whatever lies between n and n + 1 is 2n + 1. So ends at
//! integers are exact, open or closed, for integers and fractions alike; other ends are left to the predicate itself.

use super::conjunctions::ConjId;
use crate::engine::shared::predicates::{PredId, Predicates};
use crate::event::Event;
use crate::expr::{Over, Predicate, Test};
use crate::number::Number;
use crate::schema::AttrId;
use crate::value::Value;

/// Some attributes, as a Bloom filter of 64 bits: never denies one that is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Attributes(u64);

impl Attributes {
    pub fn add(&mut self, attribute: AttrId) {
        self.0 |= 1 << (attribute.0.wrapping_mul(0x9E37_79B9) >> 26);
    }

    /// Whether all of these may be among others.
    #[inline]
    pub fn may_be_within(self, others: Attributes) -> bool {
        self.0 & !others.0 == 0
    }
}

/// Words before the terms.
pub(super) const HEAD: usize = 4;
/// In the length: the subscription has other conjunctions, too.
const SEVERAL: u32 = 1 << 31;

/// Terms: the code above, the attribute below.
const CODE: u32 = 28;
const ATTRIBUTE: u32 = (1 << CODE) - 1;
/// The leaves of the predicate sign for the conjunction.
const SIGNED: u32 = 8;
/// Inside `low..=high`, both in one word.
const NEAR: u32 = 0;
/// Inside, a word each.
const FAR: u32 = 1;
/// Outside, a number all the same.
const NOT_NEAR: u32 = 2;
const NOT_FAR: u32 = 3;
/// What the predicate with this number says.
const PREDICATE: u32 = 4;

/// In half steps: no number, or none at all.
const NO_NUMBER: i32 = i32::MIN;
/// Below and above all bounds that are written down.
const LOWEST: i32 = i32::MIN + 1;
const HIGHEST: i32 = i32::MAX;

/// A record in a list.
#[derive(Clone, Copy)]
pub(super) struct Record<'l> {
    pub conjunction: ConjId,
    /// Whether its subscription may match through another conjunction, too.
    pub several: bool,
    /// The attributes without which no term holds.
    pub needs: Attributes,
    pub terms: &'l [u32],
}

/// The records of a list.
#[derive(Clone, Copy)]
pub(super) struct Records<'l>(pub &'l [u32]);

impl<'l> Iterator for Records<'l> {
    type Item = Record<'l>;

    #[inline]
    fn next(&mut self) -> Option<Record<'l>> {
        let [conjunction, length, low, high, ..] = *self.0 else { return None };
        let (record, rest) = self.0.split_at((length & !SEVERAL) as usize);
        self.0 = rest;
        Some(Record {
            conjunction: ConjId(conjunction),
            several: length & SEVERAL != 0,
            needs: Attributes(u64::from(low) | u64::from(high) << 32),
            terms: &record[HEAD..],
        })
    }
}

/// Where in a list the record of a conjunction is, and its length.
pub(super) fn find(list: &[u32], id: ConjId) -> Option<(usize, usize)> {
    let mut at = 0;
    while let [conjunction, length, ..] = list[at..] {
        let length = (length & !SEVERAL) as usize;
        if conjunction == id.0 {
            return Some((at, length));
        }
        at += length;
    }
    None
}

/// Begins a record.
pub(super) fn begin(record: &mut Vec<u32>, id: ConjId, several: bool) {
    record.clear();
    record.extend([id.0, if several { SEVERAL } else { 0 }, 0, 0]);
}

/// Appends a term.
pub(super) fn add_term(record: &mut Vec<u32>, id: PredId, predicate: &Predicate, signed: bool) {
    if !predicate.test.accepts_missing() || predicate.over != Over::Value {
        let mut needs = Attributes(u64::from(record[2]) | u64::from(record[3]) << 32);
        needs.add(predicate.attribute);
        (record[2], record[3]) = (needs.0 as u32, (needs.0 >> 32) as u32);
    }
    let head = |code: u32| (code | if signed { SIGNED } else { 0 }) << CODE | predicate.attribute.0;
    let Some((low, high, inside)) = half_steps(predicate) else {
        return record.extend([head(PREDICATE), id.0]);
    };
    match (i16::try_from(low), i16::try_from(high)) {
        (Ok(low), Ok(high)) => {
            let both = u32::from(low as u16) | u32::from(high as u16) << 16;
            record.extend([head(if inside { NEAR } else { NOT_NEAR }), both]);
        }
        _ => record.extend([head(if inside { FAR } else { NOT_FAR }), low as u32, high as u32]),
    }
}

/// Ends a record.
pub(super) fn finish(record: &mut [u32]) {
    record[1] |= record.len() as u32;
}

/// A range with integer ends, in half steps, and whether inside or outside is accepted.
fn half_steps(predicate: &Predicate) -> Option<(i32, i32, bool)> {
    if predicate.over != Over::Value {
        return None;
    }
    match predicate.test {
        Test::Number { low, high } => Some((lower(low)?, upper(high)?, true)),
        Test::Outside { low, high } => Some((lower(low)?, upper(high)?, false)),
        _ => None,
    }
}

fn lower(low: Number) -> Option<i32> {
    match (low, low.next_down()) {
        _ if low == Number::MIN => Some(LOWEST),
        (Number::Int(at), _) => doubled(at),
        (_, Number::Int(below)) => doubled(below).map(|at| at + 1),
        _ => None,
    }
}

fn upper(high: Number) -> Option<i32> {
    match (high, high.next_up()) {
        _ if high == Number::MAX => Some(HIGHEST),
        (Number::Int(at), _) => doubled(at),
        (_, Number::Int(above)) => doubled(above).map(|at| at - 1),
        _ => None,
    }
}

/// Twice an integer that is not too large.
fn doubled(at: i64) -> Option<i32> {
    const BOUND: i64 = 1 << 30;
    (-BOUND + 1 < at && at < BOUND - 1).then_some(2 * at as i32)
}

/// A value in half steps; whatever is beyond the bounds that records hold stays beyond them.
fn steps_of(value: Value<'_>) -> i32 {
    match value {
        Value::Int(value) => (value.saturating_mul(2)).clamp(i64::from(LOWEST), i64::from(HIGHEST)) as i32,
        Value::Float(value) => {
            let floor = value.floor();
            let steps = 2.0 * floor + if floor < value { 1.0 } else { 0.0 };
            steps.clamp(f64::from(LOWEST), f64::from(HIGHEST)) as i32
        }
        _ => NO_NUMBER,
    }
}

/// An event's numbers, by attribute. Reused from event to event; clears only what it filled.
#[derive(Debug, Default)]
pub(super) struct HalfSteps {
    steps: Vec<i32>,
    filled: Vec<AttrId>,
}

impl HalfSteps {
    /// Makes room for the attributes below a number.
    pub fn begin(&mut self, attributes: usize) {
        for attribute in self.filled.drain(..) {
            self.steps[attribute.index()] = NO_NUMBER;
        }
        if self.steps.len() < attributes {
            self.steps.resize(attributes, NO_NUMBER);
        }
    }

    pub fn set(&mut self, attribute: AttrId, value: Value<'_>) {
        self.steps[attribute.index()] = steps_of(value);
        self.filled.push(attribute);
    }

    #[inline]
    fn get(&self, attribute: u32) -> i32 {
        self.steps.get(attribute as usize).copied().unwrap_or(NO_NUMBER)
    }
}

/// Whether an event satisfies all terms. `signed` is asked first about the attributes of signed terms.
#[inline(always)]
pub(super) fn holds(
    mut terms: &[u32],
    steps: &HalfSteps,
    event: &Event<'_>,
    predicates: &Predicates,
    signed: impl Fn(u32) -> bool,
) -> bool {
    while let [head, what, rest @ ..] = terms {
        let attribute = head & ATTRIBUTE;
        let code = head >> CODE;
        if code & SIGNED != 0 && !signed(attribute) {
            return false;
        }
        terms = rest;
        let held = match code & !SIGNED {
            code @ (NEAR | NOT_NEAR) => {
                let value = steps.get(attribute);
                let inside = i32::from(*what as i16) <= value && value <= i32::from((*what >> 16) as i16);
                inside == (code == NEAR) && value != NO_NUMBER
            }
            code @ (FAR | NOT_FAR) => {
                let [high, rest @ ..] = rest else { return false };
                terms = rest;
                let value = steps.get(attribute);
                let inside = *what as i32 <= value && value <= *high as i32;
                inside == (code == FAR) && value != NO_NUMBER
            }
            _ => predicates.get(PredId(*what)).holds(event),
        };
        if !held {
            return false;
        }
    }
    true
}
