//! Tests in four or eight bytes.
//!
//! ```text
//! bytes   dimension   outside   low space   how far up
//! 4       15 bits     1 bit     8 bits      8 bits
//! 8       31 bits     1 bit     16 bits     16 bits
//! ```
//!
//! A dimension of all ones marks a complex test: the low 16 or 32 bits are its place in the table. What does not fit
//! goes through the table, too. One dimension more than there are is missing in every event, so that a test for that
//! always holds: it fills up rows to the same length.

use super::conditions::{Check, Complex};
use super::lanes::eight_holding;
use super::located::{ShortSpaces, SpacesByDimension};

/// The mark of complex tests in four bytes, in the place of the dimension.
pub(super) const COMPLEX: u32 = (1 << 15) - 1;

/// How tests are written: in four bytes, or in eight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Narrow,
    Wide,
}

impl Format {
    pub fn is_wide(self) -> bool {
        self == Format::Wide
    }

    pub fn to_word(self) -> u32 {
        u32::from(self.is_wide())
    }

    pub fn from_word(word: u32) -> Result<Format, String> {
        match word {
            0 => Ok(Format::Narrow),
            1 => Ok(Format::Wide),
            other => Err(format!("unknown form of tests: {other}")),
        }
    }

    /// How many 32-bit words a test takes.
    pub fn size(self) -> usize {
        1 + usize::from(self.is_wide())
    }

    /// Bits of a space.
    const fn bits(self) -> u32 {
        if let Format::Wide = self { 16 } else { 8 }
    }

    /// The mark of complex tests, in the place of the dimension.
    const fn mark(self) -> u32 {
        if let Format::Wide = self { (1 << 31) - 1 } else { COMPLEX }
    }

    /// A test that always holds, in four bytes.
    pub fn always(dimensions: usize) -> u32 {
        (dimensions as u32) << 17
    }

    /// A test that never holds, in four bytes.
    pub fn never(dimensions: usize) -> u32 {
        Format::always(dimensions) | 1 << 8
    }

    /// Whether an interval of spaces fits into a word.
    pub fn holds(self, dimension: u32, high: u32) -> bool {
        dimension < self.mark() && high < 1 << self.bits()
    }

    /// Whether the table's entry can be referred to.
    pub fn holds_entry(self, entry: u32) -> bool {
        self.is_wide() || entry < 1 << 16
    }

    pub fn encode(self, check: Check) -> u64 {
        let s = self.bits();
        match check {
            Check::Interval { dimension, low, high, outside } => {
                u64::from(dimension << 1 | u32::from(outside)) << (2 * s)
                    | u64::from(low) << s
                    | u64::from(high - low)
            }
            Check::Complex(entry) => u64::from(self.mark() << 1) << (2 * s) | u64::from(entry),
        }
    }

    #[inline(always)]
    pub fn decode(self, word: u64) -> Check {
        let s = self.bits();
        let dimension = (word >> (2 * s)) as u32 >> 1;
        let mask = (1 << s) - 1;
        if dimension == self.mark() {
            return Check::Complex((word & ((1 << (2 * s)) - 1)) as u32);
        }
        Check::Interval {
            dimension,
            low: (word >> s) as u32 & mask,
            high: ((word >> s) as u32 & mask) + (word as u32 & mask),
            outside: word >> (2 * s) & 1 == 1,
        }
    }
}

/// Which of eight tests in four bytes hold: one bit each, without a branch. Of complex tests it says anything.
#[inline(always)]
pub(super) fn holding(spaces: ShortSpaces<'_>, words: &[u32; 8]) -> u32 {
    let [a, b, c, d, e, f, g, h] = *words;
    let of = |word: u32| spaces.of(word >> 16);
    eight_holding(words, [of(a), of(b), of(c), of(d), of(e), of(f), of(g), of(h)])
}

/// Whether a test in eight bytes holds, or may hold if it is complex.
#[inline(always)]
pub(super) fn may_hold_wide(spaces: SpacesByDimension<'_>, word: u64) -> bool {
    let dimension = (word >> 33) as u32;
    let space = spaces.of(dimension);
    let inside = space.wrapping_sub((word >> 16) as u32 & 0xffff) <= word as u32 & 0xffff;
    let holds = if word & 1 << 32 == 0 { inside } else { !inside && space != 0 };
    holds | (dimension == Format::Wide.mark())
}

/// Whether a test in four bytes is complex.
#[inline(always)]
pub(super) fn is_complex(word: u32) -> bool {
    word >> 17 == Format::Narrow.mark()
}

/// The format of a walk, known when it is compiled.
pub(super) const fn format<const WIDE: bool>() -> Format {
    if WIDE { Format::Wide } else { Format::Narrow }
}

/// An interval that no word holds, as an entry of the table.
pub(super) fn as_complex(check: Check) -> Option<Complex> {
    match check {
        Check::Interval { dimension, low, high, outside: false } => {
            Some(Complex::Between { dimension, low, high })
        }
        Check::Interval { dimension, low, high, outside: true } => {
            Some(Complex::Outside { dimension, low, high })
        }
        Check::Complex(_) => None,
    }
}
