//! Tests in four or eight bytes.
//!
//! ```text
//! bytes   dimension   outside   first space   how far up
//! 4       16 bits     -         8 bits        8 bits
//! 8       31 bits     1 bit     16 bits       16 bits
//! ```
//!
//! In four bytes spaces go round: behind 255 comes 0, the space of nothing, which no test reaches, and then 1. What is
//! outside an interval is an interval, too, that begins behind its end and goes round to its beginning. So every test is
//! the same few instructions: how far is the space from the first one?
//!
//! A dimension of all ones marks a complex test: the low 16 or 32 bits are its place in the table. What does not fit
//! goes through the table, too. One dimension more than there are has the space 1 in every event, so that a test for that
//! always holds: it fills up rows to the same length.

use crate::compiled::build::conditions::{Check, Complex};
use crate::compiled::matching::simd::{eight_holding, four_holding};
use crate::compiled::values::event_spaces::SpacesByDimension;
use crate::compiled::values::short_spaces::ShortSpaces;

/// The mark of complex tests in four bytes, in the place of the dimension.
pub(in crate::compiled) const COMPLEX: u32 = 0xffff;

/// The last space that tests in four bytes tell from those above it.
const LAST: u32 = 0xfe;

/// A space as tests in four bytes see it. One is added to the upper byte, so that nothing is borrowed from there when the
/// first space of a test is subtracted; in its highest bit it says whether there is nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compiled) struct Short(pub u16);

impl Short {
    pub const NOTHING: Short = Short(0x8100);

    pub fn new(space: u32) -> Short {
        if space == 0 { Short::NOTHING } else { Short(0x100 | space.min(LAST + 1) as u16) }
    }
}

/// What remains of the difference of a space and the first one of a test: how far it is, and whether there is nothing.
pub(in crate::compiled) const DISTANCE: u16 = 0x80ff;

/// How tests are written: in four bytes, or in eight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compiled) enum Format {
    Narrow,
    Wide,
}

impl Format {
    pub fn is_wide(self) -> bool {
        self == Format::Wide
    }

    pub fn to_word(self) -> u32 {
        match self {
            Format::Wide => 1,
            Format::Narrow => 2,
        }
    }

    pub fn from_word(word: u32) -> Result<Format, String> {
        match word {
            1 => Ok(Format::Wide),
            2 => Ok(Format::Narrow),
            other => Err(format!("unknown form of tests: {other}")),
        }
    }

    /// How many 32-bit words a test takes.
    pub fn size(self) -> usize {
        1 + usize::from(self.is_wide())
    }

    /// The mark of complex tests, in the place of the dimension.
    const fn mark(self) -> u32 {
        if let Format::Wide = self { (1 << 31) - 1 } else { COMPLEX }
    }

    /// A test that always holds, in four bytes.
    pub fn always(dimensions: usize) -> u32 {
        (dimensions as u32) << 16 | 1 << 8
    }

    /// A test that never holds, in four bytes.
    pub fn never(dimensions: usize) -> u32 {
        (dimensions as u32) << 16 | 2 << 8
    }

    /// Whether there may be so many dimensions.
    pub fn holds_dimensions(self, dimensions: usize) -> bool {
        dimensions < self.mark() as usize
    }

    /// Whether an interval of spaces fits into a word.
    pub fn holds(self, dimension: u32, low: u32, high: u32) -> bool {
        dimension < self.mark()
            && match self {
                Format::Narrow => low > 0 && high <= LAST,
                Format::Wide => high < 1 << 16,
            }
    }

    /// Whether the table's entry can be referred to.
    pub fn holds_entry(self, entry: u32) -> bool {
        self.is_wide() || entry < 1 << 16
    }

    pub fn encode(self, check: Check) -> u64 {
        match (self, check) {
            (Format::Narrow, Check::Interval { dimension, low, high, outside }) => {
                let up = high - low;
                let (first, up) = if outside { (high + 1, LAST - up) } else { (low, up) };
                u64::from(dimension << 16 | first << 8 | up)
            }
            (Format::Narrow, Check::Complex(entry)) => u64::from(COMPLEX << 16 | entry),
            (Format::Wide, Check::Interval { dimension, low, high, outside }) => {
                u64::from(dimension << 1 | u32::from(outside)) << 32 | u64::from(low << 16 | (high - low))
            }
            (Format::Wide, Check::Complex(entry)) => u64::from(self.mark() << 1) << 32 | u64::from(entry),
        }
    }

    #[inline(always)]
    pub fn decode(self, word: u64) -> Check {
        let (bits, dimension) = match self {
            Format::Narrow => (8, (word >> 16) as u32),
            Format::Wide => (16, (word >> 33) as u32),
        };
        let below = (1 << bits) - 1;
        let (first, up) = ((word >> bits) as u32 & below, word as u32 & below);
        if dimension == self.mark() {
            return Check::Complex(if self.is_wide() { word as u32 } else { word as u32 & 0xffff });
        }
        let last = first + up;
        match self {
            // It goes round.
            Format::Narrow if last > LAST + 1 => {
                let (low, high) = (last - LAST - 1, first.max(1) - 1);
                Check::Interval { dimension, low: low.min(high), high, outside: true }
            }
            Format::Narrow => Check::Interval { dimension, low: first, high: last, outside: false },
            Format::Wide => {
                Check::Interval { dimension, low: first, high: last, outside: word >> 32 & 1 == 1 }
            }
        }
    }
}

/// Whether a test in four bytes holds, without a branch. Of complex tests it says anything.
#[inline(always)]
pub(in crate::compiled) fn holds_narrow(spaces: ShortSpaces<'_>, word: u32) -> bool {
    let first = word as u16 >> 8;
    spaces.of(word >> 16).wrapping_sub(first) & DISTANCE <= word as u16 & 0xff
}

/// Which of eight tests in four bytes hold: one bit each, without a branch. Of complex tests it says that they do.
#[inline(always)]
pub(in crate::compiled) fn holding(spaces: ShortSpaces<'_>, words: &[u32; 8]) -> u32 {
    let [a, b, c, d, e, f, g, h] = *words;
    let of = |word: u32| spaces.of(word >> 16);
    eight_holding(words, [of(a), of(b), of(c), of(d), of(e), of(f), of(g), of(h)])
}

/// Which of four tests hold, as [`holding`].
#[inline(always)]
pub(in crate::compiled) fn holding_four(spaces: ShortSpaces<'_>, words: &[u32; 4]) -> u32 {
    let [a, b, c, d] = *words;
    let of = |word: u32| spaces.of(word >> 16);
    four_holding(words, [of(a), of(b), of(c), of(d)])
}

/// Whether a test in eight bytes holds, or may hold if it is complex.
#[inline(always)]
pub(in crate::compiled) fn may_hold_wide(spaces: SpacesByDimension<'_>, word: u64) -> bool {
    let dimension = (word >> 33) as u32;
    let space = spaces.of(dimension);
    let inside = space.wrapping_sub((word >> 16) as u32 & 0xffff) <= word as u32 & 0xffff;
    let holds = if word & 1 << 32 == 0 { inside } else { !inside && space != 0 };
    holds | (dimension == Format::Wide.mark())
}

/// Whether a test in four bytes is complex.
#[inline(always)]
pub(in crate::compiled) fn is_complex(word: u32) -> bool {
    word >> 16 == COMPLEX
}

/// The format of a walk, known when it is compiled.
pub(in crate::compiled) const fn format<const WIDE: bool>() -> Format {
    if WIDE { Format::Wide } else { Format::Narrow }
}

/// An interval that no word holds, as an entry of the table.
pub(in crate::compiled) fn as_complex(check: Check) -> Option<Complex> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Every interval of spaces that fits into four bytes, and every space.
    #[test]
    fn four_bytes_say_what_they_were_given() {
        for low in 1..=LAST {
            for high in low..=LAST {
                for outside in [false, true] {
                    let check = Check::Interval { dimension: 7, low, high, outside };
                    let word = Format::Narrow.encode(check);
                    assert_eq!(Format::Narrow.decode(word), check);
                    for space in [0, 1, low - 1, low, high, high + 1, 254, 255, 256, 300, u32::MAX] {
                        let inside = (low..=high).contains(&space);
                        let distance = Short::new(space).0.wrapping_sub(word as u16 >> 8) & DISTANCE;
                        let holds = distance <= word as u16 & 0xff;
                        assert_eq!(holds, space > 0 && inside != outside, "{check:?} {space}");
                    }
                }
            }
        }
    }

    #[test]
    fn eight_bytes_say_what_they_were_given() {
        for (low, high) in [(0, 0), (0, 9), (3, 3), (5, 700), (1, 65_535)] {
            for outside in [false, true] {
                let check = Check::Interval { dimension: 1_000_000, low, high, outside };
                assert_eq!(Format::Wide.decode(Format::Wide.encode(check)), check);
            }
        }
    }

    #[test]
    fn complex_ones_are_told_from_others() {
        for (format, entry) in [(Format::Narrow, 0xffff), (Format::Wide, u32::MAX)] {
            for entry in [0, 9, entry] {
                assert_eq!(format.decode(format.encode(Check::Complex(entry))), Check::Complex(entry));
            }
        }
        assert!(is_complex(Format::Narrow.encode(Check::Complex(3)) as u32));
        assert!(!is_complex(Format::always(0xfffe)) && !is_complex(Format::never(0xfffe)));
    }
}
