//! The table of complex tests: sets of spaces, quantified predicates, predicates evaluated directly, subexpressions.
//!
//! An entry is four words; intervals, bitmaps and the tests of subexpressions are in arrays of their own. Entries of
//! subexpressions refer to earlier entries only, so evaluation ends.

use crate::compiled::arena::test_encoding::{ResidualTest, TestEncoding};
use crate::compiled::values::spaces::ValueSpacesView;
use crate::storage::{Array, Sections, SectionsWriter};

/// An entry of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compiled) enum ComplexTest {
    /// The space is in one of `len` intervals.
    InIntervals { dimension: u32, start: u32, len: u32 },
    /// The bit of the space is set.
    InBitmap { dimension: u32, start: u32 },
    /// The space of some list element is in one of the intervals.
    AnyElementIn { dimension: u32, start: u32, len: u32 },
    /// The value is a list, and the spaces of all its elements are in the intervals.
    AllElementsIn { dimension: u32, start: u32, len: u32 },
    /// An interval that the encoding of tests has no bits for.
    Interval { dimension: u32, low: u32, high: u32 },
    /// Present and outside such an interval.
    OutsideInterval { dimension: u32, low: u32, high: u32 },
    /// A predicate on strings that no space decides: evaluated on the event.
    Direct { predicate: u32 },
    /// All, or some, of `len` encoded tests hold. `memo` is the slot of the result, or [`NO_MEMO`].
    Subexpression { start: u32, len: u32, memo: u32, all: bool },
}

/// The memo of a subexpression that is referred to once: its result is not kept.
pub(in crate::compiled) const NO_MEMO: u32 = u32::MAX;

impl ComplexTest {
    /// Whether the test needs each event by itself. Missing list elements have no bit in an event mask, so a test that
    /// accepts them needs the list.
    pub fn is_per_event(&self, intervals: &[[u32; 2]]) -> bool {
        match self {
            ComplexTest::AllElementsIn { .. } | ComplexTest::Direct { .. } => true,
            ComplexTest::AnyElementIn { start, len, .. } => {
                *len > 0 && intervals.get(*start as usize).is_some_and(|[low, _]| *low == 0)
            }
            _ => false,
        }
    }

    pub fn pack(self) -> [u32; 4] {
        match self {
            ComplexTest::InIntervals { dimension, start, len } => [0, dimension, start, len],
            ComplexTest::InBitmap { dimension, start } => [1, dimension, start, 0],
            ComplexTest::AnyElementIn { dimension, start, len } => [2, dimension, start, len],
            ComplexTest::AllElementsIn { dimension, start, len } => [3, dimension, start, len],
            ComplexTest::Interval { dimension, low, high } => [4, dimension, low, high],
            ComplexTest::OutsideInterval { dimension, low, high } => [5, dimension, low, high],
            ComplexTest::Direct { predicate } => [6, predicate, 0, 0],
            ComplexTest::Subexpression { start, len, memo, all } => [7 + u32::from(all), start, len, memo],
        }
    }

    pub fn unpack([kind, a, b, c]: [u32; 4]) -> ComplexTest {
        match kind {
            0 => ComplexTest::InIntervals { dimension: a, start: b, len: c },
            1 => ComplexTest::InBitmap { dimension: a, start: b },
            2 => ComplexTest::AnyElementIn { dimension: a, start: b, len: c },
            3 => ComplexTest::AllElementsIn { dimension: a, start: b, len: c },
            4 => ComplexTest::Interval { dimension: a, low: b, high: c },
            5 => ComplexTest::OutsideInterval { dimension: a, low: b, high: c },
            6 => ComplexTest::Direct { predicate: a },
            kind => ComplexTest::Subexpression { start: a, len: b, memo: c, all: kind == 8 },
        }
    }
}

/// Maximum nesting of subexpressions in a file. Evaluation recurses once per level; a stack of 2 MiB holds more. Rules of
/// 1,000 levels nest up to twice as deep, because XOR becomes AND and OR.
const MAX_NESTING: u16 = 5_000;

/// The table and the arrays of its entries.
#[derive(Clone, Debug, Default)]
pub(in crate::compiled) struct ComplexTests {
    /// Packed [`ComplexTest`]s.
    pub entries: Array<[u32; 4]>,
    /// First and last space of each interval; those of one entry ascend and do not touch.
    pub intervals: Array<[u32; 2]>,
    /// Words of all bitmaps, one bit per space.
    pub bits: Array<u64>,
    /// Encoded tests of all subexpressions, 8 bytes each.
    pub subexpression_tests: Array<u64>,
    /// Number of memo slots.
    pub memos: u32,
}

impl ComplexTests {
    pub fn memory(&self) -> usize {
        self.entries.memory()
            + self.intervals.memory()
            + self.bits.memory()
            + self.subexpression_tests.memory()
    }

    /// Writes four sections from a tag on.
    pub fn write(&self, out: &mut SectionsWriter, tags: u32) {
        out.put(tags, &self.entries);
        out.put(tags + 1, &self.intervals);
        out.put(tags + 2, &self.bits);
        out.put(tags + 3, &self.subexpression_tests);
    }

    /// What [`ComplexTests::write`] wrote; the number of memo slots is stored elsewhere.
    pub fn open(sections: &Sections, tags: u32, memos: u32) -> Result<ComplexTests, String> {
        let table = ComplexTests {
            entries: sections.take(tags)?,
            intervals: sections.take(tags + 1)?,
            bits: sections.take(tags + 2)?,
            subexpression_tests: sections.take(tags + 3)?,
            memos,
        };
        // Each slot belongs to an entry; scratch memory is allocated for all of them.
        if memos as usize > table.entries.len() {
            return Err("more memo slots than a segment has subexpressions".into());
        }
        Ok(table)
    }

    /// Checks that all entries refer to spaces, intervals, bitmaps and predicates that exist, and to parts of the arrays
    /// that are theirs alone, in sum: so checking takes one pass. Returns the deepest nesting of subexpressions.
    pub fn check_bounds(&self, spaces: &ValueSpacesView<'_>, predicates: usize) -> Result<u16, String> {
        let (mut intervals, mut bits, mut tests) = (0_u64, 0_u64, 0_u64);
        let sound = |dimension: u32, low: u32, high: u32| {
            low <= high && spaces.get_count(dimension).is_some_and(|count| high < count)
        };
        for (number, packed) in self.entries.iter().enumerate() {
            let entry = ComplexTest::unpack(*packed);
            let is_sound = match entry {
                ComplexTest::InIntervals { dimension, start, len }
                | ComplexTest::AnyElementIn { dimension, start, len }
                | ComplexTest::AllElementsIn { dimension, start, len } => {
                    intervals += u64::from(len);
                    let own = self.intervals.get(start as usize..start as usize + len as usize);
                    spaces.get_count(dimension).is_some()
                        && intervals <= self.intervals.len() as u64
                        && own.is_some_and(|own| {
                            own.iter().all(|[low, high]| sound(dimension, *low, *high))
                                && own.is_sorted_by(|a, b| a[1] < b[0])
                        })
                }
                ComplexTest::InBitmap { dimension, start } => {
                    let words = spaces.get_count(dimension).map(|count| u64::from(count).div_ceil(64));
                    bits += words.unwrap_or(0);
                    let len = self.bits.len() as u64;
                    words.is_some_and(|words| u64::from(start) + words <= len && bits <= len)
                }
                ComplexTest::Interval { dimension, low, high }
                | ComplexTest::OutsideInterval { dimension, low, high } => sound(dimension, low, high),
                ComplexTest::Direct { predicate } => (predicate as usize) < predicates,
                ComplexTest::Subexpression { start, len, memo, .. } => {
                    tests += u64::from(len);
                    let own = self.subexpression_tests.get(start as usize..start as usize + len as usize);
                    let is_sound = |encoded: &u64| match TestEncoding::Wide.decode(*encoded) {
                        ResidualTest::Interval { dimension, low, high, .. } => sound(dimension, low, high),
                        ResidualTest::Complex(inner) => (inner as usize) < number,
                    };
                    tests <= self.subexpression_tests.len() as u64
                        && own.is_some_and(|own| own.iter().all(is_sound))
                        && (memo == NO_MEMO || memo < self.memos)
                }
            };
            if !is_sound {
                return Err(format!("compiled: the complex test {number} leads outside: {entry:?}"));
            }
        }
        self.check_nesting()
    }

    /// The same tests with a memo for every subexpression.
    pub fn with_memos(&self) -> ComplexTests {
        let mut memos = 0;
        let with_memo = |packed: &[u32; 4]| match ComplexTest::unpack(*packed) {
            ComplexTest::Subexpression { start, len, all, .. } => {
                memos += 1;
                ComplexTest::Subexpression { start, len, memo: memos - 1, all }.pack()
            }
            other => other.pack(),
        };
        let entries: Vec<[u32; 4]> = self.entries.iter().map(with_memo).collect();
        ComplexTests { entries: entries.into(), memos, ..self.clone() }
    }

    /// Checks that subexpressions refer to earlier entries and nest no deeper than the stack allows: evaluation ends.
    /// Returns the deepest nesting.
    fn check_nesting(&self) -> Result<u16, String> {
        let mut depths = vec![0_u16; self.entries.len()];
        for (entry, packed) in self.entries.iter().enumerate() {
            let ComplexTest::Subexpression { start, len, .. } = ComplexTest::unpack(*packed) else {
                continue;
            };
            let tests = self.subexpression_tests.get(start as usize..start as usize + len as usize);
            for encoded in tests.ok_or("a subexpression outside its array")? {
                if let ResidualTest::Complex(inner) = TestEncoding::Wide.decode(*encoded) {
                    let before = depths[..entry].get(inner as usize);
                    let depth = before.ok_or("a subexpression that refers to a later one")? + 1;
                    depths[entry] = depths[entry].max(depth);
                }
            }
            if depths[entry] > MAX_NESTING {
                return Err(format!("subexpressions nest deeper than {MAX_NESTING}"));
            }
        }
        Ok(depths.into_iter().max().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn entries_round_trip(kind in 0_u32..9, a in any::<u32>(), b in any::<u32>(), c in any::<u32>()) {
            let test = ComplexTest::unpack([kind, a, b, c]);
            prop_assert_eq!(ComplexTest::unpack(test.pack()), test);
            prop_assert_eq!(test.pack()[0], kind);
        }
    }

    #[test]
    fn subexpressions_that_refer_to_themselves_are_refused() {
        let itself = TestEncoding::Wide.encode(ResidualTest::Complex(0));
        let entry = ComplexTest::Subexpression { start: 0, len: 1, memo: NO_MEMO, all: true };
        let table = ComplexTests {
            entries: vec![entry.pack()].into(),
            subexpression_tests: vec![itself].into(),
            ..ComplexTests::default()
        };
        assert!(table.check_nesting().is_err());
    }
}
