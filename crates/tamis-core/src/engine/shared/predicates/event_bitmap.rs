//! A bitmap of one event: which predicates or nodes has it satisfied so far?
//!
//! Invariant: `nonzero` lists every word that is not 0, once.
//! Cost: cleared between events in time proportional to the nonzero words, not to the size.

/// See the module's head.
#[derive(Debug, Default)]
pub struct EventBitmap {
    words: Vec<u64>,
    /// Positions of the nonzero words.
    nonzero: Vec<u32>,
}

impl EventBitmap {
    /// Clears the bitmap and extends it to `numbers` bits.
    pub fn begin(&mut self, numbers: usize) {
        self.nonzero.drain(..).for_each(|word| self.words[word as usize] = 0);
        if self.words.len() * 64 < numbers {
            self.words.resize(numbers.next_power_of_two().div_ceil(64), 0);
        }
    }

    /// Whether a number is in the set.
    #[inline]
    pub fn contains(&self, number: u32) -> bool {
        self.words[number as usize / 64] >> (number % 64) & 1 != 0
    }

    /// Adds a number; returns whether it was not in the set.
    #[inline]
    pub fn insert(&mut self, number: u32) -> bool {
        let word = &mut self.words[number as usize / 64];
        let bit = 1 << (number % 64);
        if *word & bit != 0 {
            return false;
        }
        if *word == 0 {
            self.nonzero.push(number / 64);
        }
        *word |= bit;
        true
    }
}
