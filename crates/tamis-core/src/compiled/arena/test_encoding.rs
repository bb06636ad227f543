//! Residual tests in 4 or 8 bytes.
//!
//! ```text
//! bytes   dimension   outside   first space   extent (last space - first space)
//! 4       16 bits     -         8 bits        8 bits
//! 8       31 bits     1 bit     16 bits       16 bits
//! ```
//!
//! Four bytes use arithmetic modulo 256: a test holds iff the dimension is present and (space - first) mod 256 <= extent.
//! The complement of an interval is then an interval too: it begins behind the end and wraps to the beginning. Space 0,
//! a missing value, is excluded by a flag bit of [`NarrowSpace`], so that every test is the same few instructions.
//!
//! A dimension of all ones marks a complex test: the lowest 16 or 32 bits are its entry in the table of
//! [complex tests](crate::compiled::arena::complex_test). A test that does not fit goes through that table too. The
//! dimension behind the last one has space 1 in every event: tests there pad rows to equal length.

use crate::compiled::arena::complex_test::ComplexTest;
use crate::compiled::matching::simd::{eight_tests, four_tests};
use crate::compiled::values::event_spaces::SpaceByDimension;
use crate::compiled::values::narrow_spaces::EventNarrowSpaces;

/// A test that is left after the place of an alternative was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compiled) enum ResidualTest {
    /// The space is in the interval, or, if `outside`, present and not in it.
    Interval { dimension: u32, low: u32, high: u32, outside: bool },
    /// An entry of the table of complex tests.
    Complex(u32),
}

impl ResidualTest {
    /// An interval as an entry of the table, for an encoding that is too narrow; `None` if it is one already.
    pub fn as_complex(self) -> Option<ComplexTest> {
        match self {
            ResidualTest::Interval { dimension, low, high, outside: false } => {
                Some(ComplexTest::Interval { dimension, low, high })
            }
            ResidualTest::Interval { dimension, low, high, outside: true } => {
                Some(ComplexTest::OutsideInterval { dimension, low, high })
            }
            ResidualTest::Complex(_) => None,
        }
    }
}

/// The mark of complex tests in 4 bytes, in place of the dimension.
pub(in crate::compiled) const NARROW_COMPLEX: u32 = 0xffff;

/// The last space that tests of 4 bytes distinguish from those above it.
const MAX_NARROW_SPACE: u32 = 0xfe;

/// A space as tests of 4 bytes see it: bits 0..8 the space, at most 255; bit 8 set, so that subtracting the first space
/// of a test borrows nothing from the upper byte; bit 15 set if the dimension is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compiled) struct NarrowSpace(pub u16);

impl NarrowSpace {
    pub const ABSENT: NarrowSpace = NarrowSpace(0x8100);

    pub fn new(space: u32) -> NarrowSpace {
        if space == 0 {
            NarrowSpace::ABSENT
        } else {
            NarrowSpace(0x100 | space.min(MAX_NARROW_SPACE + 1) as u16)
        }
    }
}

/// Selects what matters of (space - first): the distance modulo 256, and the flag of an absent dimension.
pub(in crate::compiled) const DISTANCE_MASK: u16 = 0x80ff;

/// How all tests of a segment's arena are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compiled) enum TestEncoding {
    /// 4 bytes.
    Narrow,
    /// 8 bytes.
    Wide,
}

impl TestEncoding {
    pub fn is_wide(self) -> bool {
        self == TestEncoding::Wide
    }

    /// The number that stands for it in a file.
    pub fn to_number(self) -> u32 {
        match self {
            TestEncoding::Wide => 1,
            TestEncoding::Narrow => 2,
        }
    }

    pub fn from_number(number: u32) -> Result<TestEncoding, String> {
        match number {
            1 => Ok(TestEncoding::Wide),
            2 => Ok(TestEncoding::Narrow),
            other => Err(format!("unknown encoding of tests: {other}")),
        }
    }

    /// 32-bit words of a test.
    pub fn test_words(self) -> usize {
        1 + usize::from(self.is_wide())
    }

    /// The mark of complex tests, in place of the dimension.
    const fn complex_mark(self) -> u32 {
        if let TestEncoding::Wide = self { (1 << 31) - 1 } else { NARROW_COMPLEX }
    }

    /// A test of 4 bytes that always holds, in a segment with this many dimensions.
    pub fn always(dimensions: usize) -> u32 {
        (dimensions as u32) << 16 | 1 << 8
    }

    /// A test of 4 bytes that never holds.
    pub fn never(dimensions: usize) -> u32 {
        (dimensions as u32) << 16 | 2 << 8
    }

    /// Whether all dimensions, and the one behind them, are below the mark.
    pub fn fits_dimensions(self, dimensions: usize) -> bool {
        dimensions < self.complex_mark() as usize
    }

    /// Whether a test for an interval of spaces, or for its complement, can be encoded.
    pub fn fits(self, dimension: u32, low: u32, high: u32) -> bool {
        dimension < self.complex_mark()
            && match self {
                TestEncoding::Narrow => low > 0 && high <= MAX_NARROW_SPACE,
                TestEncoding::Wide => high < 1 << 16,
            }
    }

    /// Whether a test can refer to an entry of the table.
    pub fn fits_entry(self, entry: u32) -> bool {
        self.is_wide() || entry < 1 << 16
    }

    /// Encodes a test that fits.
    pub fn encode(self, test: ResidualTest) -> u64 {
        match (self, test) {
            (TestEncoding::Narrow, ResidualTest::Interval { dimension, low, high, outside }) => {
                let extent = high - low;
                let (first, extent) =
                    if outside { (high + 1, MAX_NARROW_SPACE - extent) } else { (low, extent) };
                u64::from(dimension << 16 | first << 8 | extent)
            }
            (TestEncoding::Narrow, ResidualTest::Complex(entry)) => u64::from(NARROW_COMPLEX << 16 | entry),
            (TestEncoding::Wide, ResidualTest::Interval { dimension, low, high, outside }) => {
                u64::from(dimension << 1 | u32::from(outside)) << 32 | u64::from(low << 16 | (high - low))
            }
            (TestEncoding::Wide, ResidualTest::Complex(entry)) => {
                u64::from(self.complex_mark() << 1) << 32 | u64::from(entry)
            }
        }
    }

    #[inline(always)]
    pub fn decode(self, encoded: u64) -> ResidualTest {
        let (bits, dimension) = match self {
            TestEncoding::Narrow => (8, (encoded >> 16) as u32),
            TestEncoding::Wide => (16, (encoded >> 33) as u32),
        };
        let field = (1 << bits) - 1;
        let (first, extent) = ((encoded >> bits) as u32 & field, encoded as u32 & field);
        if dimension == self.complex_mark() {
            let entry = if self.is_wide() { encoded as u32 } else { encoded as u32 & 0xffff };
            return ResidualTest::Complex(entry);
        }
        let last = first + extent;
        match self {
            // It wraps, so it is the complement of an interval.
            TestEncoding::Narrow if last > MAX_NARROW_SPACE + 1 => {
                let (low, high) = (last - MAX_NARROW_SPACE - 1, first.max(1) - 1);
                ResidualTest::Interval { dimension, low: low.min(high), high, outside: true }
            }
            TestEncoding::Narrow => {
                ResidualTest::Interval { dimension, low: first, high: last, outside: false }
            }
            TestEncoding::Wide => {
                let outside = encoded >> 32 & 1 == 1;
                ResidualTest::Interval { dimension, low: first, high: last, outside }
            }
        }
    }
}

/// Whether a test of 4 bytes holds, without a branch. The answer to a complex test has no meaning.
#[inline(always)]
pub(in crate::compiled) fn holds_narrow(spaces: EventNarrowSpaces<'_>, encoded: u32) -> bool {
    let first = encoded as u16 >> 8;
    spaces.of(encoded >> 16).wrapping_sub(first) & DISTANCE_MASK <= encoded as u16 & 0xff
}

/// Which of eight tests of 4 bytes hold: one bit each, without a branch; set for complex tests.
#[inline(always)]
pub(in crate::compiled) fn eight_hold(spaces: EventNarrowSpaces<'_>, encoded: &[u32; 8]) -> u32 {
    let [a, b, c, d, e, f, g, h] = *encoded;
    let of = |encoded: u32| spaces.of(encoded >> 16);
    eight_tests(encoded, [of(a), of(b), of(c), of(d), of(e), of(f), of(g), of(h)])
}

/// Which of four tests hold, as [`eight_hold`].
#[inline(always)]
pub(in crate::compiled) fn four_hold(spaces: EventNarrowSpaces<'_>, encoded: &[u32; 4]) -> u32 {
    let [a, b, c, d] = *encoded;
    let of = |encoded: u32| spaces.of(encoded >> 16);
    four_tests(encoded, [of(a), of(b), of(c), of(d)])
}

/// Whether a test of 8 bytes holds, or is complex.
#[inline(always)]
pub(in crate::compiled) fn may_hold_wide(spaces: SpaceByDimension<'_>, encoded: u64) -> bool {
    let dimension = (encoded >> 33) as u32;
    let space = spaces.of(dimension);
    let inside = space.wrapping_sub((encoded >> 16) as u32 & 0xffff) <= encoded as u32 & 0xffff;
    let holds = if encoded & 1 << 32 == 0 { inside } else { !inside && space != 0 };
    holds | (dimension == TestEncoding::Wide.complex_mark())
}

/// Whether a test of 4 bytes is complex.
#[inline(always)]
pub(in crate::compiled) fn is_complex_narrow(encoded: u32) -> bool {
    encoded >> 16 == NARROW_COMPLEX
}

/// The table entry that a complex test of 4 bytes refers to.
#[inline(always)]
pub(in crate::compiled) fn complex_entry_narrow(encoded: u32) -> u32 {
    encoded & 0xffff
}

/// The encoding as a constant of a monomorphised function.
pub(in crate::compiled) const fn encoding<const WIDE: bool>() -> TestEncoding {
    if WIDE { TestEncoding::Wide } else { TestEncoding::Narrow }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiled::limits::DimensionId;

    /// Every interval of spaces that fits into 4 bytes, and every space.
    #[test]
    fn narrow_tests_round_trip() {
        for dimension in [0, 7, NARROW_COMPLEX - 1] {
            for low in 1..=MAX_NARROW_SPACE {
                for high in low..=MAX_NARROW_SPACE {
                    for outside in [false, true] {
                        let test = ResidualTest::Interval { dimension, low, high, outside };
                        assert!(TestEncoding::Narrow.fits(dimension, low, high));
                        let encoded = TestEncoding::Narrow.encode(test);
                        assert_eq!(TestEncoding::Narrow.decode(encoded), test);
                        for space in [0, 1, low - 1, low, high, high + 1, 254, 255, 256, 300, u32::MAX] {
                            let inside = (low..=high).contains(&space);
                            let first = encoded as u16 >> 8;
                            let distance = NarrowSpace::new(space).0.wrapping_sub(first) & DISTANCE_MASK;
                            let holds = distance <= encoded as u16 & 0xff;
                            assert_eq!(holds, space > 0 && inside != outside, "{test:?} {space}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn wide_tests_round_trip() {
        for dimension in [0, 1_000_000, DimensionId::MAX, (1 << 31) - 2] {
            for (low, high) in [(0, 0), (0, 9), (3, 3), (5, 700), (1, 65_535), (65_535, 65_535)] {
                for outside in [false, true] {
                    let test = ResidualTest::Interval { dimension, low, high, outside };
                    assert!(TestEncoding::Wide.fits(dimension, low, high));
                    assert_eq!(TestEncoding::Wide.decode(TestEncoding::Wide.encode(test)), test);
                }
            }
        }
    }

    /// What an encoding has no bits for is said not to fit.
    #[test]
    fn tests_beyond_a_field_do_not_fit() {
        let (narrow, wide) = (TestEncoding::Narrow, TestEncoding::Wide);
        assert!(!narrow.fits(NARROW_COMPLEX, 1, 1) && !narrow.fits(1, 1, 255) && !narrow.fits(1, 0, 1));
        assert!(!wide.fits((1 << 31) - 1, 1, 1) && !wide.fits(1, 1, 1 << 16));
        assert!(narrow.fits_entry(0xffff) && !narrow.fits_entry(0x1_0000) && wide.fits_entry(u32::MAX));
        assert!(narrow.fits_dimensions(0xfffe) && !narrow.fits_dimensions(0xffff));
        assert!(wide.fits_dimensions(DimensionId::MAX as usize + 1));
    }

    #[test]
    fn complex_tests_are_distinguished() {
        for (encoding, entry) in [(TestEncoding::Narrow, 0xffff), (TestEncoding::Wide, u32::MAX)] {
            for entry in [0, 9, entry] {
                let test = ResidualTest::Complex(entry);
                assert_eq!(encoding.decode(encoding.encode(test)), test);
            }
        }
        let encoded = TestEncoding::Narrow.encode(ResidualTest::Complex(3)) as u32;
        assert!(is_complex_narrow(encoded) && complex_entry_narrow(encoded) == 3);
        assert!(!is_complex_narrow(TestEncoding::always(0xfffe)));
        assert!(!is_complex_narrow(TestEncoding::never(0xfffe)));
    }
}
