//! Reports an expression once per event, however many of its rows match.

use crate::compiled::arena::header::RowTarget;

/// Which expressions were reported for the event in hand, of those that may be found repeatedly: one bit each. All bits
/// are 0 between events.
#[derive(Debug, Default)]
pub(in crate::compiled) struct Dedup {
    bits: Vec<u64>,
    /// The expressions whose bits [`Dedup::insert_once`] has set.
    inserted: Vec<u32>,
}

impl Dedup {
    /// Replaces the targets from `start` on by expression numbers, each once. The segment has `expressions` of them.
    /// Costs one pass over the targets; bits are cleared one by one, or all at once if that is quicker.
    pub fn retain_first(&mut self, expressions: usize, found: &mut Vec<u32>, start: usize) {
        let words = expressions.div_ceil(64);
        if self.bits.len() < words {
            self.bits.resize(words, 0);
        }
        let mut kept = start;
        for at in start..found.len() {
            let target = RowTarget::from_word(found[at]);
            let number = target.number();
            found[kept] = number;
            kept += usize::from(!target.is_repeated() || self.insert(number));
        }
        found.truncate(kept);
        if kept - start > words / 4 {
            self.bits[..words].fill(0);
        } else {
            found[start..].iter().for_each(|number| self.bits[*number as usize / 64] = 0);
        }
    }

    /// Whether an expression was not inserted before; the segment has `expressions` of them. Ends with [`Dedup::clear`].
    pub fn insert_once(&mut self, expressions: usize, number: u32) -> bool {
        let words = expressions.div_ceil(64).max(number as usize / 64 + 1);
        if self.bits.len() < words {
            self.bits.resize(words, 0);
        }
        let first = self.insert(number);
        if first {
            self.inserted.push(number);
        }
        first
    }

    /// Removes all that were inserted.
    pub fn clear(&mut self) {
        self.inserted.drain(..).for_each(|number| self.bits[number as usize / 64] = 0);
    }

    /// Sets the bit of an expression; returns whether it was 0.
    #[inline(always)]
    fn insert(&mut self, number: u32) -> bool {
        let (word, bit) = (&mut self.bits[number as usize / 64], 1 << (number % 64));
        let first = *word & bit == 0;
        *word |= bit;
        first
    }
}
