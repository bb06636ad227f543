//! SIMD comparisons: 16 intervals with one space, or 8 tests of 4 bytes with 8 spaces.
//!
//! Each is a handful of SSE2 instructions, which every x86-64 processor has; elsewhere a plain loop does the same.

use crate::compiled::arena::interval_block::EndWidth;
use crate::compiled::arena::test_encoding::{DISTANCE_MASK, NARROW_COMPLEX};

/// One bit for each of the 16 intervals of a block that contains a space.
#[inline(always)]
pub(in crate::compiled) fn containing(width: EndWidth, block: &[u32], space: u32) -> u32 {
    match width {
        EndWidth::One => bytes_containing(block, space as u8),
        EndWidth::Two => halves_containing(block, space as u16),
        EndWidth::Four => words_containing(block, space),
    }
}

#[cfg(target_arch = "x86_64")]
#[expect(
    unsafe_code,
    reason = "vector instructions count as unsafe; these are part of every x86-64 processor"
)]
mod vector {
    use super::{DISTANCE_MASK, NARROW_COMPLEX};
    use std::arch::x86_64::*;

    #[inline(always)]
    fn load(words: &[u32], at: usize) -> __m128i {
        let four: [u32; 4] = words[at..at + 4].try_into().unwrap_or_default();
        bytemuck::cast(four)
    }

    /// Prefetches the cache line of a word.
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
            // Saturating differences: both are zero iff the value is inside.
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

    /// Which of eight tests hold: one bit each; set for complex tests.
    #[inline(always)]
    pub fn eight_tests(words: &[u32; 8], spaces: [u16; 8]) -> u32 {
        let spaces: __m128i = bytemuck::cast(spaces);
        let (first, second) = (load(words, 0), load(words, 4));
        // SAFETY: as above.
        unsafe {
            // The lower half of each word: first space and extent.
            let lower = |words| _mm_srai_epi32::<16>(_mm_slli_epi32::<16>(words));
            let intervals = _mm_packs_epi32(lower(first), lower(second));
            let distance = _mm_sub_epi16(spaces, _mm_srli_epi16::<8>(intervals));
            let distance = _mm_and_si128(distance, _mm_set1_epi16(DISTANCE_MASK as i16));
            let beyond = _mm_subs_epu16(distance, _mm_and_si128(intervals, _mm_set1_epi16(0xff)));
            let zero = _mm_setzero_si128();
            // The upper half of each word: the dimension, or the mark of complex tests.
            let upper = |words| _mm_srai_epi32::<16>(words);
            let dimensions = _mm_packs_epi32(upper(first), upper(second));
            let complex = _mm_cmpeq_epi16(dimensions, _mm_set1_epi16(NARROW_COMPLEX as i16));
            let passing = _mm_or_si128(_mm_cmpeq_epi16(beyond, zero), complex);
            _mm_movemask_epi8(_mm_packs_epi16(passing, zero)) as u32
        }
    }

    /// As [`eight_tests`], for four.
    #[inline(always)]
    pub fn four_tests(words: &[u32; 4], spaces: [u16; 4]) -> u32 {
        let words = load(words, 0);
        // SAFETY: as above.
        unsafe {
            let [a, b, c, d] = spaces.map(i32::from);
            let spaces = _mm_insert_epi16::<2>(_mm_cvtsi32_si128(a), b);
            let spaces = _mm_insert_epi16::<6>(_mm_insert_epi16::<4>(spaces, c), d);
            let byte = _mm_set1_epi32(0xff);
            let distance = _mm_sub_epi32(spaces, _mm_and_si128(_mm_srli_epi32::<8>(words), byte));
            let distance = _mm_and_si128(distance, _mm_set1_epi32(i32::from(DISTANCE_MASK)));
            let beyond = _mm_subs_epu16(distance, _mm_and_si128(words, byte));
            let complex = _mm_cmpeq_epi32(_mm_srli_epi32::<16>(words), _mm_set1_epi32(NARROW_COMPLEX as i32));
            let passing = _mm_or_si128(_mm_cmpeq_epi32(beyond, _mm_setzero_si128()), complex);
            _mm_movemask_ps(_mm_castsi128_ps(passing)) as u32
        }
    }

    #[inline(always)]
    pub fn words_containing(block: &[u32], value: u32) -> u32 {
        let block = &block[..32];
        // SAFETY: as above.
        unsafe {
            // SSE2 has no unsigned comparison: both sides are moved down by half the range.
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
pub(in crate::compiled) use vector::{eight_tests, four_tests, prefetch};

#[cfg_attr(target_arch = "x86_64", allow(dead_code, reason = "the fallback, and the reference of the tests"))]
mod plain {
    use super::{DISTANCE_MASK, NARROW_COMPLEX};
    use crate::compiled::arena::interval_block::{BLOCK, EndWidth};

    fn containing(width: EndWidth, block: &[u32], value: u32) -> u32 {
        (0..BLOCK).fold(0, |bits, at| {
            let (low, high) = width.interval(block, at);
            bits | u32::from(low <= value && value <= high) << at
        })
    }

    pub fn prefetch(_words: &[u32], _at: usize) {}

    fn holds(word: u32, space: u16) -> bool {
        word >> 16 == NARROW_COMPLEX
            || space.wrapping_sub(word as u16 >> 8) & DISTANCE_MASK <= word as u16 & 0xff
    }

    pub fn eight_tests(words: &[u32; 8], spaces: [u16; 8]) -> u32 {
        (0..8).fold(0, |bits, at| bits | u32::from(holds(words[at], spaces[at])) << at)
    }

    pub fn four_tests(words: &[u32; 4], spaces: [u16; 4]) -> u32 {
        (0..4).fold(0, |bits, at| bits | u32::from(holds(words[at], spaces[at])) << at)
    }

    pub fn bytes_containing(block: &[u32], value: u8) -> u32 {
        containing(EndWidth::One, block, u32::from(value))
    }

    pub fn halves_containing(block: &[u32], value: u16) -> u32 {
        containing(EndWidth::Two, block, u32::from(value))
    }

    pub fn words_containing(block: &[u32], value: u32) -> u32 {
        containing(EndWidth::Four, block, value)
    }
}

#[cfg(not(target_arch = "x86_64"))]
use plain::{bytes_containing, halves_containing, words_containing};
#[cfg(not(target_arch = "x86_64"))]
pub(in crate::compiled) use plain::{eight_tests, four_tests, prefetch};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiled::arena::interval_block::BLOCK;
    use crate::compiled::arena::test_encoding::NarrowSpace;
    use proptest::prelude::*;

    proptest! {
        /// SIMD and the plain loop agree on any test and any space.
        #[test]
        fn several_tests_at_once(
            tests in prop::array::uniform8((any::<u16>(), prop_oneof![Just(0), 1_u32..300, any::<u32>()])),
            dimensions in prop::array::uniform8(prop_oneof![any::<u16>(), Just(NARROW_COMPLEX as u16)]),
        ) {
            let mut dimensions = dimensions.into_iter();
            let words = tests.map(|(interval, _)| {
                u32::from(dimensions.next().unwrap_or_default()) << 16 | u32::from(interval)
            });
            let spaces = tests.map(|(_, space)| NarrowSpace::new(space).0);
            prop_assert_eq!(eight_tests(&words, spaces), plain::eight_tests(&words, spaces));
            let ([words @ .., _, _, _, _], [spaces @ .., _, _, _, _]) = (words, spaces);
            prop_assert_eq!(four_tests(&words, spaces), plain::four_tests(&words, spaces));
        }

        #[test]
        fn every_width_finds_what_contains_the_value(
            ends in prop::collection::vec((any::<u32>(), any::<u32>()), 0..=BLOCK),
            value in any::<u32>(),
            bits in 0_u32..32,
        ) {
            for (width, max) in [(EndWidth::One, 0xff), (EndWidth::Two, 0xffff), (EndWidth::Four, u32::MAX - 1)] {
                let fit = |end: u32| (end >> bits) % max;
                let (value, ends): (u32, Vec<_>) = (fit(value).max(1), ends.iter().map(|(a, b)| (fit(*a), fit(*b))).collect());
                let mut block = Vec::new();
                width.write_block(&ends, &mut block);
                prop_assert_eq!(block.len(), width.block_words());
                let expected = (0..).zip(&ends).fold(0, |bits, (at, (low, high))| {
                    bits | u32::from((*low..=*high).contains(&value)) << at
                });
                prop_assert_eq!(containing(width, &block, value), expected);
                let plain = match width {
                    EndWidth::One => plain::bytes_containing(&block, value as u8),
                    EndWidth::Two => plain::halves_containing(&block, value as u16),
                    EndWidth::Four => plain::words_containing(&block, value),
                };
                prop_assert_eq!(plain, expected);
                for (at, interval) in ends.iter().enumerate() {
                    prop_assert_eq!(width.interval(&block, at), *interval);
                }
            }
        }
    }
}
