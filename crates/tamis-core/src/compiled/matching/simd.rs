//! Many intervals against one value at once.
//!
//! Intervals stand in blocks of sixteen: first the sixteen low ends, then the sixteen high ends, each in one, two or
//! four bytes, whichever the number of spaces needs. Sixteen comparisons are a handful of vector instructions, which
//! every 64-bit processor of the x86 family has; elsewhere a plain loop does the same.

use crate::compiled::arena::test_encoding::{COMPLEX, DISTANCE};

/// How many intervals a block has.
pub(in crate::compiled) const BLOCK: usize = 16;

/// How many bytes an end takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::compiled) enum Lane {
    One,
    Two,
    Four,
}

impl Lane {
    /// The narrowest one for so many spaces.
    pub fn for_spaces(count: u32) -> Lane {
        match count {
            0..=0x100 => Lane::One,
            0x101..=0x1_0000 => Lane::Two,
            _ => Lane::Four,
        }
    }

    pub fn from_bits(bits: u32) -> Lane {
        match bits & 3 {
            0 => Lane::One,
            1 => Lane::Two,
            _ => Lane::Four,
        }
    }

    pub fn bits(self) -> u32 {
        self as u32
    }

    /// How many 32-bit words a block of intervals takes.
    pub const fn words(self) -> usize {
        match self {
            Lane::One => 8,
            Lane::Two => 16,
            Lane::Four => 32,
        }
    }

    /// Appends a block; places without an interval get one that nothing is inside.
    pub fn write(self, intervals: &[(u32, u32)], out: &mut Vec<u32>) {
        let end = |at: usize, high: bool| match intervals.get(at) {
            Some((low, _)) if !high => *low,
            Some((_, top)) => *top,
            // Beginning behind its end. Values are at least 1.
            None if high => 0,
            None => u32::MAX,
        };
        for high in [false, true] {
            let ends = (0..BLOCK).map(|at| end(at, high));
            match self {
                Lane::One => {
                    let bytes: Vec<u8> = ends.map(|end| end.min(0xff) as u8).collect();
                    out.extend(bytes.chunks_exact(4).map(|four| word([four[0], four[1], four[2], four[3]])));
                }
                Lane::Two => {
                    let halves: Vec<u8> =
                        ends.flat_map(|end| (end.min(0xffff) as u16).to_le_bytes()).collect();
                    out.extend(halves.chunks_exact(4).map(|four| word([four[0], four[1], four[2], four[3]])));
                }
                Lane::Four => out.extend(ends),
            }
        }
    }

    /// The interval at a place of a block.
    pub fn interval(self, block: &[u32], at: usize) -> (u32, u32) {
        let end = |at: usize| match self {
            Lane::One => block[at / 4] >> (8 * (at % 4)) & 0xff,
            Lane::Two => block[at / 2] >> (16 * (at % 2)) & 0xffff,
            Lane::Four => block[at],
        };
        (end(at), end(BLOCK + at))
    }

    /// One bit for each interval of a block that contains the value.
    #[inline(always)]
    pub fn containing(self, block: &[u32], value: u32) -> u32 {
        match self {
            Lane::One => bytes_containing(block, value as u8),
            Lane::Two => halves_containing(block, value as u16),
            Lane::Four => words_containing(block, value),
        }
    }
}

/// Arrays are little-endian.
fn word(bytes: [u8; 4]) -> u32 {
    u32::from_le_bytes(bytes)
}

#[cfg(target_arch = "x86_64")]
#[expect(
    unsafe_code,
    reason = "vector instructions count as unsafe; these are part of every x86-64 processor"
)]
mod vector {
    use super::{COMPLEX, DISTANCE};
    use std::arch::x86_64::*;

    #[inline(always)]
    fn load(words: &[u32], at: usize) -> __m128i {
        let four: [u32; 4] = words[at..at + 4].try_into().unwrap_or_default();
        bytemuck::cast(four)
    }

    /// Asks for a cache line that will be read soon.
    #[inline(always)]
    pub fn prefetch(words: &[u32], at: usize) {
        if let Some(word) = words.get(at) {
            // SAFETY: an address inside the slice, and a prefetch reads nothing anyway.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(word).cast()) }
        }
    }

    #[inline(always)]
    pub fn bytes_containing(block: &[u32], value: u8) -> u32 {
        let block = &block[..8];
        // SAFETY: SSE2 is part of x86-64, and nothing here touches memory.
        unsafe {
            let value = _mm_set1_epi8(value as i8);
            // Differences that stop at zero: both are zero exactly inside.
            let below = _mm_subs_epu8(load(block, 0), value);
            let above = _mm_subs_epu8(value, load(block, 4));
            let inside = _mm_cmpeq_epi8(_mm_or_si128(below, above), _mm_setzero_si128());
            _mm_movemask_epi8(inside) as u32
        }
    }

    #[inline(always)]
    pub fn halves_containing(block: &[u32], value: u16) -> u32 {
        let block = &block[..16];
        // SAFETY: as above.
        unsafe {
            let value = _mm_set1_epi16(value as i16);
            let inside = |half: usize| {
                let below = _mm_subs_epu16(load(block, 4 * half), value);
                let above = _mm_subs_epu16(value, load(block, 8 + 4 * half));
                _mm_cmpeq_epi16(_mm_or_si128(below, above), _mm_setzero_si128())
            };
            _mm_movemask_epi8(_mm_packs_epi16(inside(0), inside(1))) as u32
        }
    }

    #[inline(always)]
    pub fn eight_holding(words: &[u32; 8], spaces: [u16; 8]) -> u32 {
        let spaces: __m128i = bytemuck::cast(spaces);
        let (first, second) = (load(words, 0), load(words, 4));
        // SAFETY: as above.
        unsafe {
            // The lower half of each word: first space and how far up.
            let lower = |words| _mm_srai_epi32::<16>(_mm_slli_epi32::<16>(words));
            let intervals = _mm_packs_epi32(lower(first), lower(second));
            let far = _mm_sub_epi16(spaces, _mm_srli_epi16::<8>(intervals));
            let far = _mm_and_si128(far, _mm_set1_epi16(DISTANCE as i16));
            let beyond = _mm_subs_epu16(far, _mm_and_si128(intervals, _mm_set1_epi16(0xff)));
            let zero = _mm_setzero_si128();
            // The upper half of each word: the dimension, or the mark.
            let upper = |words| _mm_srai_epi32::<16>(words);
            let dimensions = _mm_packs_epi32(upper(first), upper(second));
            let complex = _mm_cmpeq_epi16(dimensions, _mm_set1_epi16(COMPLEX as i16));
            let holding = _mm_or_si128(_mm_cmpeq_epi16(beyond, zero), complex);
            _mm_movemask_epi8(_mm_packs_epi16(holding, zero)) as u32
        }
    }

    /// As [`eight_holding`], for four.
    #[inline(always)]
    pub fn four_holding(words: &[u32; 4], spaces: [u16; 4]) -> u32 {
        let words = load(words, 0);
        // SAFETY: as above.
        unsafe {
            let [a, b, c, d] = spaces.map(i32::from);
            let spaces = _mm_insert_epi16::<2>(_mm_cvtsi32_si128(a), b);
            let spaces = _mm_insert_epi16::<6>(_mm_insert_epi16::<4>(spaces, c), d);
            let byte = _mm_set1_epi32(0xff);
            let far = _mm_sub_epi32(spaces, _mm_and_si128(_mm_srli_epi32::<8>(words), byte));
            let far = _mm_and_si128(far, _mm_set1_epi32(i32::from(DISTANCE)));
            let beyond = _mm_subs_epu16(far, _mm_and_si128(words, byte));
            let complex = _mm_cmpeq_epi32(_mm_srli_epi32::<16>(words), _mm_set1_epi32(COMPLEX as i32));
            let holding = _mm_or_si128(_mm_cmpeq_epi32(beyond, _mm_setzero_si128()), complex);
            _mm_movemask_ps(_mm_castsi128_ps(holding)) as u32
        }
    }

    #[inline(always)]
    pub fn words_containing(block: &[u32], value: u32) -> u32 {
        let block = &block[..32];
        // SAFETY: as above.
        unsafe {
            // Without unsigned comparisons: both sides moved down by half the range.
            let bias = _mm_set1_epi32(i32::MIN);
            let value = _mm_xor_si128(_mm_set1_epi32(value as i32), bias);
            let mut inside = 0;
            for quarter in 0..4 {
                let low = _mm_xor_si128(load(block, 4 * quarter), bias);
                let high = _mm_xor_si128(load(block, 16 + 4 * quarter), bias);
                let outside = _mm_or_si128(_mm_cmpgt_epi32(low, value), _mm_cmpgt_epi32(value, high));
                inside |= (!_mm_movemask_ps(_mm_castsi128_ps(outside)) as u32 & 15) << (4 * quarter);
            }
            inside
        }
    }
}

#[cfg(target_arch = "x86_64")]
use vector::{bytes_containing, halves_containing, words_containing};
#[cfg(target_arch = "x86_64")]
pub(in crate::compiled) use vector::{eight_holding, four_holding, prefetch};

#[cfg_attr(target_arch = "x86_64", allow(dead_code, reason = "elsewhere, and for comparison in the test"))]
mod plain {
    use super::{BLOCK, COMPLEX, DISTANCE, Lane};

    fn containing(lane: Lane, block: &[u32], value: u32) -> u32 {
        (0..BLOCK).fold(0, |bits, at| {
            let (low, high) = lane.interval(block, at);
            bits | u32::from(low <= value && value <= high) << at
        })
    }

    pub fn prefetch(_words: &[u32], _at: usize) {}

    fn holds(word: u32, space: u16) -> bool {
        word >> 16 == COMPLEX || space.wrapping_sub(word as u16 >> 8) & DISTANCE <= word as u16 & 0xff
    }

    pub fn eight_holding(words: &[u32; 8], spaces: [u16; 8]) -> u32 {
        (0..8).fold(0, |bits, at| bits | u32::from(holds(words[at], spaces[at])) << at)
    }

    pub fn four_holding(words: &[u32; 4], spaces: [u16; 4]) -> u32 {
        (0..4).fold(0, |bits, at| bits | u32::from(holds(words[at], spaces[at])) << at)
    }

    pub fn bytes_containing(block: &[u32], value: u8) -> u32 {
        containing(Lane::One, block, u32::from(value))
    }

    pub fn halves_containing(block: &[u32], value: u16) -> u32 {
        containing(Lane::Two, block, u32::from(value))
    }

    pub fn words_containing(block: &[u32], value: u32) -> u32 {
        containing(Lane::Four, block, value)
    }
}

#[cfg(not(target_arch = "x86_64"))]
use plain::{bytes_containing, halves_containing, words_containing};
#[cfg(not(target_arch = "x86_64"))]
pub(in crate::compiled) use plain::{eight_holding, four_holding, prefetch};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiled::arena::test_encoding::Short;
    use proptest::prelude::*;

    proptest! {
        /// All the ways to test, with every test and every space.
        #[test]
        fn several_tests_at_once(
            tests in prop::array::uniform8((any::<u16>(), prop_oneof![Just(0), 1_u32..300, any::<u32>()])),
            dimensions in prop::array::uniform8(prop_oneof![any::<u16>(), Just(COMPLEX as u16)]),
        ) {
            let mut dimensions = dimensions.into_iter();
            let words = tests.map(|(interval, _)| {
                u32::from(dimensions.next().unwrap_or_default()) << 16 | u32::from(interval)
            });
            let spaces = tests.map(|(_, space)| Short::new(space).0);
            prop_assert_eq!(eight_holding(&words, spaces), plain::eight_holding(&words, spaces));
            let ([words @ .., _, _, _, _], [spaces @ .., _, _, _, _]) = (words, spaces);
            prop_assert_eq!(four_holding(&words, spaces), plain::four_holding(&words, spaces));
        }

        #[test]
        fn every_width_finds_what_contains_the_value(
            ends in prop::collection::vec((any::<u32>(), any::<u32>()), 0..=BLOCK),
            value in any::<u32>(),
            bits in 0_u32..32,
        ) {
            for (lane, most) in [(Lane::One, 0xff), (Lane::Two, 0xffff), (Lane::Four, u32::MAX - 1)] {
                let fit = |end: u32| (end >> bits) % most;
                let (value, ends): (u32, Vec<_>) = (fit(value).max(1), ends.iter().map(|(a, b)| (fit(*a), fit(*b))).collect());
                let mut block = Vec::new();
                lane.write(&ends, &mut block);
                prop_assert_eq!(block.len(), lane.words());
                let expected = (0..).zip(&ends).fold(0, |bits, (at, (low, high))| {
                    bits | u32::from((*low..=*high).contains(&value)) << at
                });
                prop_assert_eq!(lane.containing(&block, value), expected);
                let plain = match lane {
                    Lane::One => plain::bytes_containing(&block, value as u8),
                    Lane::Two => plain::halves_containing(&block, value as u16),
                    Lane::Four => plain::words_containing(&block, value),
                };
                prop_assert_eq!(plain, expected);
                for (at, interval) in ends.iter().enumerate() {
                    prop_assert_eq!(lane.interval(&block, at), *interval);
                }
            }
        }
    }
}
