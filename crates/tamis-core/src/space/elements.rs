//! Values as sequences of 4-bit elements. Sequences compare as their values do.
//!
//! | value | elements |
//! | --- | --- |
//! | integer, instant | sign, number of digits, hexadecimal digits; complemented below zero |
//! | float | the elements of the largest integer below, then its bits: sign, exponent, mantissa |
//! | string | its UTF-8 bytes, high half first; bytes sort as code points do |
//!
//! Integers and floats share one order, so a fraction follows the integer below it: 7, 7.25, 7.5, 8.

use crate::number::Number;
use smol_str::SmolStr;

/// Number of different elements.
pub const FANOUT: usize = 16;

/// A value as a sequence of elements. Compares as its elements do; a prefix is less.
pub trait Elements: Ord {
    /// The element at this depth, less than [`FANOUT`]; `None` past the last one.
    fn element(&self, depth: usize) -> Option<u8>;

    /// The first elements, at most [`PACKED`], from the highest bits down, and their number. Unused bits are 0.
    fn packed(&self) -> (u64, usize);
}

/// Maximum elements in a u64.
pub const PACKED: usize = 16;

/// A value type stored in a PS-Tree, and its borrowed form for look-ups.
pub trait Key: Clone {
    /// The borrowed form.
    type Query: Elements + ?Sized;
    /// The value, borrowed.
    fn query(&self) -> &Self::Query;
    /// Frees the memory of a value that is not used any more.
    fn release(&mut self) {}
}

impl Key for Number {
    type Query = Number;
    fn query(&self) -> &Number {
        self
    }
}

impl Key for i64 {
    type Query = i64;
    fn query(&self) -> &i64 {
        self
    }
}

impl Key for SmolStr {
    type Query = str;
    fn query(&self) -> &str {
        self
    }
    fn release(&mut self) {
        *self = SmolStr::default();
    }
}

/// First elements: floats below all 64-bit integers, negative and other integers, floats above all integers.
const BELOW_INTEGERS: u8 = 6;
const NEGATIVE: u8 = 7;
const POSITIVE: u8 = 8;
const ABOVE_INTEGERS: u8 = 9;

/// 2^63, the first float above every integer.
const TWO_63: f64 = 9_223_372_036_854_775_808.0;

/// Number of elements of an integer.
#[inline]
fn integer_length(value: i64) -> usize {
    2 + digits(magnitude(value))
}

/// The distance from zero, or from -1 below it.
#[inline]
fn magnitude(value: i64) -> u64 {
    (if value < 0 { !value } else { value }) as u64
}

#[inline]
fn digits(magnitude: u64) -> usize {
    (67 - (magnitude | 1).leading_zeros() as usize) / 4
}

impl Elements for i64 {
    #[inline]
    fn element(&self, depth: usize) -> Option<u8> {
        let (magnitude, negative) = (magnitude(*self), *self < 0);
        let digits = digits(magnitude);
        let element = match depth {
            0 => return Some(if negative { NEGATIVE } else { POSITIVE }),
            1 => digits as u8 - 1,
            _ if depth < 2 + digits => (magnitude >> (4 * (digits + 1 - depth))) as u8 & 15,
            _ => return None,
        };
        Some(if negative { 15 - element } else { element })
    }

    #[inline]
    fn packed(&self) -> (u64, usize) {
        let (magnitude, negative) = (magnitude(*self), *self < 0);
        let digits = digits(magnitude);
        let left = (magnitude << (64 - 4 * digits)) >> 8 | (digits as u64 - 1) << 56;
        let known = (2 + digits).min(PACKED);
        let used = u64::MAX << (64 - 4 * known);
        let (sign, rest) = if negative { (NEGATIVE, !left) } else { (POSITIVE, left) };
        (u64::from(sign) << 60 | rest & used & (u64::MAX >> 4), known)
    }
}

/// [`Elements::packed`], one element at a time.
fn pack(value: &Number) -> (u64, usize) {
    let mut packed = 0;
    for depth in 0..PACKED {
        match value.element(depth) {
            Some(element) => packed |= u64::from(element) << (60 - 4 * depth),
            None => return (packed, depth),
        }
    }
    (packed, PACKED)
}

/// The bits of a float, rearranged to sort as the floats do.
pub(crate) fn ordered_bits(value: f64) -> u64 {
    let bits = value.to_bits();
    if value.is_sign_negative() { !bits } else { bits | 1 << 63 }
}

fn float_element(value: f64, depth: usize) -> Option<u8> {
    let bits = ordered_bits(value);
    // Trailing zeros are dropped, except below zero: there a shorter sequence would compare less than it should.
    let length = if value > 0.0 { 16 - bits.trailing_zeros() as usize / 4 } else { 16 };
    (depth < length).then(|| (bits >> (60 - 4 * depth)) as u8 & 15)
}

impl Elements for Number {
    #[inline]
    fn element(&self, depth: usize) -> Option<u8> {
        match *self {
            Number::Int(value) => value.element(depth),
            Number::Float(value) if value >= TWO_63 => match depth {
                0 => Some(ABOVE_INTEGERS),
                _ => float_element(value, depth - 1),
            },
            Number::Float(value) if value < -TWO_63 => match depth {
                0 => Some(BELOW_INTEGERS),
                _ => float_element(value, depth - 1),
            },
            Number::Float(value) => {
                let below = value.floor() as i64;
                let length = integer_length(below);
                if depth < length { below.element(depth) } else { float_element(value, depth - length) }
            }
        }
    }

    #[inline]
    fn packed(&self) -> (u64, usize) {
        match self {
            Number::Int(value) => value.packed(),
            Number::Float(_) => pack(self),
        }
    }
}

impl Elements for str {
    #[inline]
    fn packed(&self) -> (u64, usize) {
        let bytes = self.as_bytes();
        let known = bytes.len().min(PACKED / 2);
        let mut first = [0; PACKED / 2];
        first[..known].copy_from_slice(&bytes[..known]);
        (u64::from_be_bytes(first), 2 * known)
    }

    #[inline]
    fn element(&self, depth: usize) -> Option<u8> {
        let byte = self.as_bytes().get(depth / 2)?;
        Some(if depth.is_multiple_of(2) { byte >> 4 } else { byte & 15 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all<E: Elements + ?Sized>(value: &E) -> Vec<u8> {
        (0..).map_while(|depth| value.element(depth)).collect()
    }

    fn number() -> impl Strategy<Value = Number> {
        let edges = prop::sample::select(vec![
            0,
            1,
            -1,
            15,
            16,
            -16,
            -17,
            1 << 53,
            (1 << 53) + 1,
            i64::MAX,
            i64::MIN,
        ]);
        let float = |f| Number::from_f64(f).unwrap_or(Number::Int(0));
        prop_oneof![
            edges.prop_map(Number::Int),
            any::<i64>().prop_map(Number::Int),
            (-100i64..100).prop_map(Number::Int),
            (-400i32..400).prop_map(move |n| float(f64::from(n) / 4.0)),
            any::<f64>().prop_map(float),
            Just(Number::MIN),
            Just(Number::MAX),
            Just(Number::Float(TWO_63)),
        ]
    }

    #[test]
    fn small_integers_are_short() {
        assert_eq!(all(&7i64), [8, 0, 7]);
        assert_eq!(all(&0x63i64), [8, 1, 6, 3]);
        assert_eq!(all(&-1i64), [7, 15, 15]);
        assert_eq!(all(&Number::Float(7.5)), [8, 0, 7, 12, 0, 1, 14]);
        assert_eq!(all("é"), [12, 3, 10, 9]);
    }

    proptest! {
        #[test]
        fn packed_elements_are_the_first(a in number(), text in ".{0,12}") {
            let check = |elements: Vec<u8>, (packed, known): (u64, usize)| {
                assert_eq!(known, elements.len().min(PACKED));
                let unpacked: Vec<u8> = (0..known).map(|d| (packed >> (60 - 4 * d)) as u8 & 15).collect();
                assert_eq!(unpacked, elements[..known]);
                assert!(known == PACKED || packed << (4 * known) == 0);
            };
            check(all(&a), a.packed());
            check(all(text.as_str()), text.as_str().packed());
        }

        #[test]
        fn numbers_sort_as_their_elements(a in number(), b in number()) {
            prop_assert_eq!(a.cmp(&b), all(&a).cmp(&all(&b)), "{:?} {:?}", a, b);
            prop_assert!(all(&a).iter().all(|element| (*element as usize) < FANOUT));
        }

        #[test]
        fn strings_sort_as_their_elements(a in ".{0,4}", b in ".{0,4}") {
            prop_assert_eq!(a.cmp(&b), all(a.as_str()).cmp(&all(b.as_str())));
        }
    }
}
