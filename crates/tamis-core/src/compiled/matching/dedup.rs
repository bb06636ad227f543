//! Expressions with several alternatives are reported once.

use crate::compiled::build::cover::REPEATED;

/// Which numbers were found already, of those that may be found repeatedly.
#[derive(Debug, Default)]
pub(in crate::compiled) struct Seen {
    bits: Vec<u64>,
}

impl Seen {
    /// Leaves each target from `start` on once, as the number it stands for. There are `numbers` of them.
    pub fn once(&mut self, numbers: usize, found: &mut Vec<u32>, start: usize) {
        let words = numbers.div_ceil(64);
        if self.bits.len() < words {
            self.bits.resize(words, 0);
        }
        let mut kept = start;
        for at in start..found.len() {
            let target = found[at];
            let number = target & !REPEATED;
            found[kept] = number;
            kept += usize::from(target & REPEATED == 0 || self.first_time(number));
        }
        found.truncate(kept);
        if kept - start > words / 4 {
            self.bits[..words].fill(0);
        } else {
            found[start..].iter().for_each(|number| self.bits[*number as usize / 64] = 0);
        }
    }

    #[inline(always)]
    fn first_time(&mut self, number: u32) -> bool {
        let (word, bit) = (&mut self.bits[number as usize / 64], 1 << (number % 64));
        let first = *word & bit == 0;
        *word |= bit;
        first
    }
}
