//! Restoring insertion order: local numbers ascend in it, so this sorts local numbers with a two-level bitmap.
//!
//! The matches of an event are few of many numbers. Each sets one bit, each 64-bit word with a bit set sets a bit in a
//! summary, and traversing both yields the numbers in order. The cost is linear in the matches plus one summary bit per
//! 4,096 members; comparison sort of a thousand matches takes several times as long.

/// Bitmaps, reused from event to event. All bits are zero between calls.
#[derive(Default)]
pub(super) struct InsertionOrder {
    /// One bit per local number.
    bits: Vec<u64>,
    /// One bit per word of `bits`: whether that word is not zero.
    summary: Vec<u64>,
}

/// Maximum numbers for which comparison sort is faster.
const COMPARISON_SORT: usize = 48;

impl InsertionOrder {
    /// Sorts distinct numbers below `bound`.
    pub fn restore(&mut self, numbers: &mut [u32], bound: usize) {
        let few = numbers.len() <= COMPARISON_SORT || bound / 4096 > 8 * numbers.len();
        // Only a damaged file has numbers beyond the bound.
        if few || numbers.iter().any(|number| *number as usize >= bound) {
            return numbers.sort_unstable();
        }
        let words = bound.div_ceil(64);
        if self.bits.len() < words {
            self.bits.resize(words, 0);
            self.summary.resize(words.div_ceil(64), 0);
        }
        for number in &*numbers {
            let word = *number as usize / 64;
            self.bits[word] |= 1 << (number % 64);
            self.summary[word / 64] |= 1 << (word % 64);
        }
        let mut sorted = numbers.iter_mut();
        for (at, summary) in self.summary[..words.div_ceil(64)].iter_mut().enumerate() {
            while *summary != 0 {
                let word = 64 * at + summary.trailing_zeros() as usize;
                *summary &= *summary - 1;
                let mut bits = std::mem::take(&mut self.bits[word]);
                while bits != 0 {
                    if let Some(number) = sorted.next() {
                        *number = (64 * word) as u32 + bits.trailing_zeros();
                    }
                    bits &= bits - 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts(numbers in prop::collection::hash_set(0_u32..20_000, 0..2_000), small in any::<bool>()) {
            let mut order = InsertionOrder::default();
            for shift in [0, 7] {
                let mut given: Vec<u32> = numbers.iter().map(|number| number + shift).collect();
                let mut expected = given.clone();
                expected.sort_unstable();
                order.restore(&mut given, if small { 20_007 } else { 4_000_000 });
                prop_assert_eq!(given, expected);
            }
        }
    }
}
