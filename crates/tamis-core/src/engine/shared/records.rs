//! Records: what a posting list stores of a conjunction, so that rejecting a candidate is one sequential read.
//!
//! | words of 4 bytes | content |
//! | --- | --- |
//! | 1 | the conjunction's number |
//! | 1 | the record's length in words; bit 31: the subscription has other conjunctions |
//! | 2 | Bloom filter of 64 bits of the attributes it needs |
//! | 2 or 3 per term | residual test of a predicate that the list does not guarantee: code and attribute, then operands |
//!
//! The filter rejects most candidates; its branch is predictable, where terms fail at different positions. A range whose
//! ends are small integers, the common term, has 2 words.
//!
//! Numbers are compared in half steps: the integer n is 2n, a number between n and n + 1 is 2n + 1. So ends at integers
//! are exact, open or closed, for integers and fractions alike; a predicate with other ends is evaluated itself.

use super::conjunctions::ConjId;
use super::list_pool::{ListPool, ListRef};
use crate::engine::shared::predicates::{PredId, Predicates};
use crate::event::Event;
use crate::expr::{Over, Predicate, Test};
use crate::number::Number;
use crate::schema::AttrId;
use crate::value::Value;

/// A set of attributes as a Bloom filter of 64 bits with one hash function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AttributeFilter(u64);

impl AttributeFilter {
    /// Every attribute.
    pub const ALL: AttributeFilter = AttributeFilter(u64::MAX);

    /// Adds an attribute.
    pub fn add(&mut self, attribute: AttrId) {
        self.0 |= 1 << (attribute.0.wrapping_mul(0x9E37_79B9) >> 26);
    }

    /// Whether all attributes of this set may be in another; false is certain.
    #[inline]
    pub fn may_be_within(self, others: AttributeFilter) -> bool {
        self.0 & !others.0 == 0
    }
}

/// Words before the terms.
pub(crate) const HEAD: usize = 4;
/// In the length: the subscription has other conjunctions.
const SEVERAL: u32 = 1 << 31;

/// First word of a term: code in the upper 4 bits, attribute in the lower 28.
const CODE: u32 = 28;
const ATTRIBUTE: u32 = (1 << CODE) - 1;
/// Flag of a code: the engine may know the result, see [`Known`].
const FLAGGED: u32 = 8;
/// A number in `low..=high`, both in one word as `i16`.
const INSIDE_SHORT: u32 = 0;
/// A number in `low..=high`, a word each.
const INSIDE_LONG: u32 = 1;
/// A number not in `low..=high`, both in one word.
const OUTSIDE_SHORT: u32 = 2;
/// A number not in `low..=high`, a word each.
const OUTSIDE_LONG: u32 = 3;
/// Evaluate the predicate with the number in the next word.
const PREDICATE: u32 = 4;

/// In half steps: the value is missing or no number.
pub(crate) const NO_NUMBER: i32 = i32::MIN;
/// In half steps: below and above all ends that records store.
pub(crate) const LOWEST: i32 = i32::MIN + 1;
pub(crate) const HIGHEST: i32 = i32::MAX;

/// A record of a list.
#[derive(Clone, Copy)]
pub(crate) struct Record<'l> {
    pub conjunction: ConjId,
    /// Whether its subscription has other conjunctions, so that it may match several times.
    pub several: bool,
    /// Attributes without which some term fails.
    pub needs: AttributeFilter,
    /// The residual tests.
    pub terms: &'l [u32],
}

/// Iterates over the records of a list.
#[derive(Clone, Copy)]
pub(crate) struct Records<'l>(pub &'l [u32]);

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
            needs: AttributeFilter(u64::from(low) | u64::from(high) << 32),
            terms: &record[HEAD..],
        })
    }
}

/// Where in a list the record of a conjunction begins, and its length in words.
pub(crate) fn find(list: &[u32], id: ConjId) -> Option<(usize, usize)> {
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

/// Removes the record of a conjunction from a list.
pub(crate) fn remove(records: &mut ListPool<u32, 4>, list: &mut ListRef, id: ConjId) {
    if let Some((at, length)) = find(records.get(*list), id) {
        records.remove_range(list, at, length);
    }
}

/// The conjunctions with a record in a list, in ascending order.
pub(crate) fn conjunctions(list: &[u32]) -> Vec<ConjId> {
    let mut ids: Vec<_> = Records(list).map(|record| record.conjunction).collect();
    ids.sort_unstable();
    ids
}

/// Begins a record.
pub(crate) fn begin(id: ConjId, several: bool) -> Vec<u32> {
    let mut record = Vec::with_capacity(16);
    record.extend([id.0, if several { SEVERAL } else { 0 }, 0, 0]);
    record
}

/// Appends the residual test of a predicate.
pub(crate) fn add_term(record: &mut Vec<u32>, id: PredId, predicate: &Predicate, flagged: bool) {
    if !predicate.test.accepts_missing() || predicate.over != Over::Value {
        let mut needs = AttributeFilter(u64::from(record[2]) | u64::from(record[3]) << 32);
        needs.add(predicate.attribute);
        (record[2], record[3]) = (needs.0 as u32, (needs.0 >> 32) as u32);
    }
    let head = |code: u32| (code | if flagged { FLAGGED } else { 0 }) << CODE | predicate.attribute.0;
    let Some((low, high, inside)) = half_steps(predicate) else {
        return record.extend([head(PREDICATE), id.0]);
    };
    match (i16::try_from(low), i16::try_from(high)) {
        (Ok(low), Ok(high)) => {
            let both = u32::from(low as u16) | u32::from(high as u16) << 16;
            record.extend([head(if inside { INSIDE_SHORT } else { OUTSIDE_SHORT }), both]);
        }
        _ => record.extend([head(if inside { INSIDE_LONG } else { OUTSIDE_LONG }), low as u32, high as u32]),
    }
}

/// Ends a record.
pub(crate) fn finish(record: &mut [u32]) {
    record[1] |= record.len() as u32;
}

/// The ends of a range in half steps, and whether values inside are accepted; `None` if an end is no integer.
fn half_steps(predicate: &Predicate) -> Option<(i32, i32, bool)> {
    if predicate.over != Over::Value {
        return None;
    }
    match predicate.test {
        Test::Number { low, high } => half_steps_between(low, high).map(|(low, high)| (low, high, true)),
        Test::Outside { low, high } => half_steps_between(low, high).map(|(low, high)| (low, high, false)),
        _ => None,
    }
}

/// The ends of a range in half steps, both included; `None` if an end is neither an integer nor next to one.
pub(crate) fn half_steps_between(low: Number, high: Number) -> Option<(i32, i32)> {
    Some((lower(low)?, upper(high)?))
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

/// Twice an integer, if that is within the ends that records store.
fn doubled(at: i64) -> Option<i32> {
    const BOUND: i64 = 1 << 30;
    (-BOUND + 1 < at && at < BOUND - 1).then(|| 2 * at as i32)
}

/// A value in half steps; a value beyond the ends that records store stays beyond them.
pub(crate) fn steps_of(value: Value<'_>) -> i32 {
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

/// An event's numbers in half steps. Reused from event to event; resets only the attributes of the last event.
#[derive(Debug, Default)]
pub(crate) struct HalfSteps {
    /// By attribute; [`NO_NUMBER`] if the event has no number.
    steps: Vec<i32>,
    /// Attributes of the current event.
    present: Vec<AttrId>,
}

impl HalfSteps {
    /// Begins an event with attributes below a number.
    pub fn begin(&mut self, attributes: usize) {
        for attribute in self.present.drain(..) {
            self.steps[attribute.index()] = NO_NUMBER;
        }
        if self.steps.len() < attributes {
            self.steps.resize(attributes, NO_NUMBER);
        }
    }

    /// Adds a value of the event.
    pub fn set(&mut self, attribute: AttrId, value: Value<'_>) {
        self.steps[attribute.index()] = steps_of(value);
        self.present.push(attribute);
    }

    #[inline]
    fn get(&self, attribute: u32) -> i32 {
        self.steps.get(attribute as usize).copied().unwrap_or(NO_NUMBER)
    }
}

/// What an engine knows of a flagged term before it is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// The term fails.
    False,
    /// The term holds.
    True,
    /// The term has to be tested.
    Nothing,
}

/// Whether an event satisfies all terms. Of a flagged term, `known` is called with the attribute first.
#[inline(always)]
pub(crate) fn holds(
    mut terms: &[u32],
    steps: &HalfSteps,
    event: &Event<'_>,
    predicates: &Predicates,
    known: impl Fn(u32) -> Known,
) -> bool {
    while let [head, operand, rest @ ..] = terms {
        let attribute = head & ATTRIBUTE;
        let code = head >> CODE;
        let known = if code & FLAGGED == 0 { Known::Nothing } else { known(attribute) };
        if known == Known::False {
            return false;
        }
        terms = rest;
        let held = match code & !FLAGGED {
            code @ (INSIDE_SHORT | OUTSIDE_SHORT) => {
                let value = steps.get(attribute);
                let (low, high) = (i32::from(*operand as i16), i32::from((*operand >> 16) as i16));
                (low <= value && value <= high) == (code == INSIDE_SHORT) && value != NO_NUMBER
            }
            code @ (INSIDE_LONG | OUTSIDE_LONG) => {
                let [high, rest @ ..] = rest else { return false };
                terms = rest;
                let value = steps.get(attribute);
                let (low, high) = (*operand as i32, *high as i32);
                (low <= value && value <= high) == (code == INSIDE_LONG) && value != NO_NUMBER
            }
            _ => known == Known::True || predicates.get(PredId(*operand)).holds(event),
        };
        if !held && known != Known::True {
            return false;
        }
    }
    true
}
