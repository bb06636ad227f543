//! Many numbers in ascending order, sooner than by sorting.
//!
//! The matches of an event are a few of very many numbers. Each sets its bit, each word with a bit set sets one in a
//! summary, and reading both in order gives the numbers in order. That takes time for the numbers and for one bit in
//! 4,096 of all there are; sorting a thousand takes several times as long.

/// What this needs, reused from event to event. All bits are zero in between.
#[derive(Default)]
pub(super) struct Ascending {
    bits: Vec<u64>,
    summary: Vec<u64>,
}

/// As few are sorted as they are.
const FEW: usize = 48;

impl Ascending {
    /// Puts numbers below a bound into order. Each occurs once.
    pub fn sort(&mut self, numbers: &mut [u32], bound: usize) {
        // Numbers beyond the bound come from damaged files only.
        let few = numbers.len() <= FEW || bound / 4096 > 8 * numbers.len();
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
        let mut places = numbers.iter_mut();
        for (at, summary) in self.summary[..words.div_ceil(64)].iter_mut().enumerate() {
            while *summary != 0 {
                let word = 64 * at + summary.trailing_zeros() as usize;
                *summary &= *summary - 1;
                let mut bits = std::mem::take(&mut self.bits[word]);
                while bits != 0 {
                    if let Some(place) = places.next() {
                        *place = (64 * word) as u32 + bits.trailing_zeros();
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
            let mut ascending = Ascending::default();
            for shift in [0, 7] {
                let mut given: Vec<u32> = numbers.iter().map(|number| number + shift).collect();
                let mut expected = given.clone();
                expected.sort_unstable();
                ascending.sort(&mut given, if small { 20_007 } else { 4_000_000 });
                prop_assert_eq!(given, expected);
            }
        }
    }
}
