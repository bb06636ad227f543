//! Operands as integers in the order of the values, and the sort key of a predicate list: field, then operand.
//!
//! A narrow operand has 32 bits: a number in half steps (see [`records`](crate::engine::shared::records)), a Boolean, or
//! the number of a symbol. A wide operand has 96 bits: any number, instant or short string. Both are exact: of two values
//! of one kind, the lesser has the lesser operand.

use crate::engine::shared::records::{NO_NUMBER, steps_of};
use crate::number::{Number, compare_int_float};
use crate::schema::AttrId;
use crate::value::Value;
use std::cmp::Ordering;
use std::fmt::Debug;

/// What an operand stands for. Operands of different kinds are in different fields, so they are never compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperandKind {
    /// Narrow: a number in half steps.
    Steps = 0,
    /// Narrow: a Boolean.
    Bool = 1,
    /// Narrow: a symbol.
    Symbol = 2,
    /// Wide: a number.
    Number = 3,
    /// Wide: an instant.
    Time = 4,
    /// Wide: a string.
    Text = 5,
}

impl OperandKind {
    /// The kind with a number below 6.
    pub fn from_number(number: u32) -> OperandKind {
        use OperandKind::{Bool, Number, Steps, Symbol, Text, Time};
        [Steps, Bool, Symbol, Number, Time, Text][number as usize]
    }
}

/// An attribute and a kind of operand, as predicate lists are sorted by it: multiplied by an odd constant, so that
/// neighbouring attributes fall into different segments and no two fields coincide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Field(pub u32);

impl Field {
    /// Number of attributes that fields can tell apart.
    pub const ATTRIBUTES: u32 = 1 << 27;

    /// The field of an attribute. The predicates on the pivot attribute that lead to a subscription have a field of their
    /// own (`access`).
    #[inline]
    pub fn new(attribute: AttrId, kind: OperandKind, access: bool) -> Field {
        Field((attribute.0 << 4 | (kind as u32) << 1 | u32::from(access)).wrapping_mul(0x9E37_79B1))
    }
}

/// An integer that stands for a value.
pub(super) trait Operand: Copy + Ord + Debug + Send + Sync + 'static {
    /// A field and an operand in it; ordered by field, then by operand.
    type Key: Copy + Ord + Debug + Send + Sync + 'static;
    const MIN: Self;
    const MAX: Self;

    fn key(field: Field, operand: Self) -> Self::Key;

    /// The field of a key.
    fn field(key: Self::Key) -> Field;

    /// A hash of field and operand.
    fn hash(key: Self::Key) -> u32;
}

/// The upper half of a product with an odd constant.
#[inline]
fn mix(word: u64) -> u32 {
    (word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32
}

/// A hash of a field.
#[inline]
pub(super) fn hash_field(field: Field) -> u32 {
    mix(u64::from(field.0))
}

impl Operand for u32 {
    type Key = u64;
    const MIN: u32 = u32::MIN;
    const MAX: u32 = u32::MAX;

    #[inline]
    fn key(field: Field, operand: u32) -> u64 {
        u64::from(field.0) << 32 | u64::from(operand)
    }

    #[inline]
    fn field(key: u64) -> Field {
        Field((key >> 32) as u32)
    }

    #[inline]
    fn hash(key: u64) -> u32 {
        mix(key ^ key >> 32)
    }
}

/// 96 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wide(u128);

const WIDE_BITS: u32 = 96;

impl Operand for Wide {
    type Key = u128;
    const MIN: Wide = Wide(0);
    const MAX: Wide = Wide((1 << WIDE_BITS) - 1);

    #[inline]
    fn key(field: Field, operand: Wide) -> u128 {
        u128::from(field.0) << WIDE_BITS | operand.0
    }

    #[inline]
    fn field(key: u128) -> Field {
        Field((key >> WIDE_BITS) as u32)
    }

    #[inline]
    fn hash(key: u128) -> u32 {
        mix((key >> 64) as u64 ^ mix(key as u64) as u64)
    }
}

impl Wide {
    /// Most bytes of a string that an end of a range may have. Of a longer string, order among strings with the same first
    /// bytes is not known.
    pub const TEXT: usize = 11;

    /// A number: the greatest float that is not above it, and its distance from that float, less than 2^11.
    pub fn of_number(number: Number) -> Wide {
        let (float, distance) = match number {
            Number::Float(float) => (float, 0),
            Number::Int(int) => {
                let rounded = int as f64;
                let below = match compare_int_float(int, rounded) {
                    Ordering::Less => rounded.next_down(),
                    _ => rounded,
                };
                // Both are within the range of i64, where the float is an integer.
                (below, int.wrapping_sub(below as i64) as u128)
            }
        };
        Wide(u128::from(ordered_bits(float)) << 32 | distance)
    }

    /// An instant.
    pub fn of_time(micros: i64) -> Wide {
        Wide(u128::from(micros as u64 ^ 1 << 63) << 32)
    }

    /// A string: its first 11 bytes, and its length if that is at most 11, else 12.
    pub fn of_text(text: &str) -> Wide {
        let mut bytes = [0; 16];
        let length = text.len().min(Wide::TEXT);
        bytes[4..4 + length].copy_from_slice(&text.as_bytes()[..length]);
        bytes[15] = text.len().min(Wide::TEXT + 1) as u8;
        Wide(u128::from_be_bytes(bytes))
    }

    /// The next operand; `None` after the last.
    pub fn next(self) -> Option<Wide> {
        (self < Wide::MAX).then(|| Wide(self.0 + 1))
    }

    /// The operand before; `None` before the first.
    pub fn previous(self) -> Option<Wide> {
        (self > Wide::MIN).then(|| Wide(self.0 - 1))
    }

    /// As three words, for records.
    pub fn to_words(self) -> [u32; 3] {
        [(self.0 >> 64) as u32, (self.0 >> 32) as u32, self.0 as u32]
    }

    /// From three words.
    pub fn from_words(words: [u32; 3]) -> Wide {
        Wide(u128::from(words[0]) << 64 | u128::from(words[1]) << 32 | u128::from(words[2]))
    }
}

/// The bits of a float as an unsigned integer in the order of floats; both zeros are the same.
fn ordered_bits(float: f64) -> u64 {
    let bits = (float + 0.0).to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

/// Half steps as an unsigned integer in the same order.
pub(super) fn from_steps(steps: i32) -> u32 {
    steps as u32 ^ 1 << 31
}

/// The narrow operand of a number or a Boolean.
pub(super) fn narrow_of(value: Value<'_>) -> Option<(OperandKind, u32)> {
    match value {
        Value::Bool(value) => Some((OperandKind::Bool, u32::from(value))),
        value => match steps_of(value) {
            NO_NUMBER => None,
            steps => Some((OperandKind::Steps, from_steps(steps))),
        },
    }
}

/// The wide operand of a number, an instant or a string.
pub(super) fn wide_of(value: Value<'_>) -> Option<(OperandKind, Wide)> {
    match value {
        Value::Int(value) => Some((OperandKind::Number, Wide::of_number(Number::Int(value)))),
        Value::Float(value) => Some((OperandKind::Number, Wide::of_number(Number::from_f64(value)?))),
        Value::Time(value) => Some((OperandKind::Time, Wide::of_time(value))),
        Value::Text(value) => Some((OperandKind::Text, Wide::of_text(value))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = Number> {
        let edges = vec![0, 1, -1, 1 << 53, (1 << 53) + 1, i64::MAX, i64::MAX - 1, i64::MIN, i64::MIN + 1];
        prop_oneof![
            any::<i64>().prop_map(Number::Int),
            prop::sample::select(edges).prop_map(Number::Int),
            any::<f64>().prop_filter_map("NaN", Number::from_f64),
            Just(Number::MIN),
            Just(Number::MAX),
        ]
    }

    proptest! {
        #[test]
        fn wide_numbers_have_the_order_of_numbers(a in number(), b in number()) {
            prop_assert_eq!(Wide::of_number(a).cmp(&Wide::of_number(b)), a.cmp(&b));
            let next = a.next_up();
            prop_assert_eq!(Wide::of_number(a) < Wide::of_number(next), a < next);
            prop_assert_eq!(Wide::from_words(Wide::of_number(a).to_words()), Wide::of_number(a));
        }

        #[test]
        fn short_strings_have_their_place_among_all(a in "[ab\u{0}é]{0,11}", b in "[ab\u{0}é]{0,20}") {
            prop_assume!(a.len() <= Wide::TEXT);
            prop_assert_eq!(Wide::of_text(&a).cmp(&Wide::of_text(&b)), a.cmp(&b));
        }

        #[test]
        fn instants_have_their_order(a in any::<i64>(), b in any::<i64>()) {
            prop_assert_eq!(Wide::of_time(a).cmp(&Wide::of_time(b)), a.cmp(&b));
        }
    }
}
