//! Tests in four or eight bytes.
//!
//! ```text
//! high bits                       low bits
//! dimension | outside | low space | high space
//! all ones  | place in the table of complex tests
//! ```
//!
//! In eight bytes a dimension has 24 bits and a space 19. In four bytes the dimension gets what the segment's number
//! of dimensions needs, and the spaces share the rest. What does not fit goes through the table.

use super::conditions::{Check, Complex};

/// How words are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Format {
    /// Whether a word has eight bytes, not four.
    pub wide: bool,
    /// Bits of a space.
    pub space_bits: u32,
}

/// Bits of a dimension in eight bytes.
const WIDE_DIMENSION: u32 = 24;

impl Format {
    pub const WIDE: Format = Format { wide: true, space_bits: (64 - 1 - WIDE_DIMENSION) / 2 };

    /// Four bytes for so many dimensions; `None` if no room is left for spaces.
    pub fn narrow(dimensions: usize) -> Option<Format> {
        // One more, for the mark of complex tests.
        let dimension_bits = usize::BITS - dimensions.leading_zeros();
        let space_bits = 31_u32.checked_sub(dimension_bits)? / 2;
        (space_bits >= 4).then_some(Format { wide: false, space_bits })
    }

    pub fn to_word(self) -> u32 {
        u32::from(self.wide) << 8 | self.space_bits
    }

    pub fn from_word(word: u32) -> Result<Format, String> {
        let format = Format { wide: word >> 8 == 1, space_bits: word & 0xff };
        let sound = if format.wide { format == Format::WIDE } else { (4..=15).contains(&format.space_bits) };
        if sound { Ok(format) } else { Err(format!("unknown form of tests: {word}")) }
    }

    /// How many 32-bit words a word takes.
    pub fn size(self) -> usize {
        1 + usize::from(self.wide)
    }

    /// The mark of complex tests, in the place of the dimension.
    fn mark(self) -> u64 {
        let bits = if self.wide { 64 } else { 32 };
        (1 << (bits - 1 - 2 * self.space_bits)) - 1
    }

    /// Whether an interval of spaces fits into a word.
    pub fn holds(self, dimension: u32, high: u32) -> bool {
        u64::from(dimension) < self.mark() && high < 1 << self.space_bits
    }

    /// Whether the table's entry can be referred to.
    pub fn holds_entry(self, entry: u32) -> bool {
        u64::from(entry) < 1 << (1 + 2 * self.space_bits)
    }

    pub fn encode(self, check: Check) -> u64 {
        let s = self.space_bits;
        match check {
            Check::Interval { dimension, low, high, outside } => {
                u64::from(dimension) << (1 + 2 * s) | u64::from(outside) << (2 * s) | u64::from(low) << s | u64::from(high)
            }
            Check::Complex(entry) => self.mark() << (1 + 2 * s) | u64::from(entry),
        }
    }

    #[inline(always)]
    pub fn decode(self, word: u64) -> Check {
        let s = self.space_bits;
        let dimension = word >> (1 + 2 * s);
        if dimension == self.mark() {
            return Check::Complex((word & ((1 << (1 + 2 * s)) - 1)) as u32);
        }
        let mask = (1 << s) - 1;
        Check::Interval {
            dimension: dimension as u32,
            low: (word >> s & mask) as u32,
            high: (word & mask) as u32,
            outside: word >> (2 * s) & 1 == 1,
        }
    }
}

/// An interval that no word holds, as an entry of the table.
pub(super) fn as_complex(check: Check) -> Option<Complex> {
    match check {
        Check::Interval { dimension, low, high, outside: false } => Some(Complex::Between { dimension, low, high }),
        Check::Interval { dimension, low, high, outside: true } => Some(Complex::Outside { dimension, low, high }),
        Check::Complex(_) => None,
    }
}
