//! Up to 64 events that look into the same table, one bit each: whose spaces are inside which keys?
//!
//! For each of the two dimensions of a table, and for each space, there is the set of the events below it. So those inside
//! an interval are two look-ups: the events below its end, without those below its beginning. That takes no longer for
//! 64 events than for one.

use crate::compiled::arena::reader::Table;
use crate::compiled::matching::candidates::{Row, Rows};
use crate::compiled::matching::simd::BLOCK;

/// How many events a company has at most.
pub(in crate::compiled) const MOST: usize = 64;

/// Events in one dimension, of which one byte tells the spaces.
#[derive(Debug)]
struct Steps {
    /// By space: the events below it.
    below: [u64; 257],
    spaces: usize,
}

impl Default for Steps {
    fn default() -> Steps {
        Steps { below: [0; 257], spaces: 0 }
    }
}

impl Steps {
    fn begin(&mut self, spaces: u32) {
        self.spaces = spaces.min(256) as usize;
        self.below[..=self.spaces].fill(0);
    }

    /// Takes an event, for now into the place of its own space only.
    fn insert(&mut self, space: u32, bit: usize) {
        self.below[(space as usize).min(255) + 1] |= 1 << bit;
    }

    /// Sums up, when all events are there.
    fn finish(&mut self) {
        let mut below = 0;
        for up_to in &mut self.below[..=self.spaces] {
            below |= *up_to;
            *up_to = below;
        }
    }

    #[inline(always)]
    fn between(&self, low: u8, high: u8) -> u64 {
        self.below[usize::from(high) + 1] & !self.below[usize::from(low)]
    }
}

/// The events that look into a table. Reused from table to table.
#[derive(Debug)]
pub(in crate::compiled) struct Company {
    first: Steps,
    second: Steps,
    /// By event: the first row of the table.
    rows: [Row; MOST],
    len: usize,
}

impl Default for Company {
    fn default() -> Company {
        Company { first: Steps::default(), second: Steps::default(), rows: [Row::default(); MOST], len: 0 }
    }
}

impl Company {
    /// Begins anew, with the number of spaces of both dimensions; 0 if there is no second one.
    pub fn begin(&mut self, first: u32, second: u32) {
        self.first.begin(first);
        self.second.begin(second);
        self.len = 0;
    }

    /// Takes an event with its spaces and its number in the batch.
    pub fn join(&mut self, table: &Table<'_>, (first, second): (u32, u32), event: u32) {
        self.first.insert(first, self.len);
        self.second.insert(second, self.len);
        self.rows[self.len] = Row::new(table.rows.rows, event, table.rows.same);
        self.len += 1;
    }

    /// Compares the keys of a table, which take a byte. Targets without further tests are reported, the rows of others
    /// are read later.
    pub fn compare(&mut self, arena: &[u32], table: &Table<'_>, rows: &mut Rows, found: &mut [Vec<u32>]) {
        self.first.finish();
        self.second.finish();
        let words = table.rows.same;
        // Low ends and high ends of the first key, then those of the second.
        let ends: &[[u8; BLOCK]] = bytemuck::cast_slice(table.blocks);
        let mut behind = 0;
        for block in ends.chunks_exact(if table.pair { 4 } else { 2 }) {
            rows.room(BLOCK * (MOST + 4));
            for at in 0..BLOCK {
                let mut here = self.first.between(block[0][at], block[1][at]);
                if let [_, _, low, high] = block {
                    here &= self.second.between(low[at], high[at]);
                }
                if words > 1 {
                    rows.push_each(&self.rows, behind, here);
                } else {
                    while here != 0 {
                        let row = self.rows[here.trailing_zeros() as usize].behind(behind);
                        found[row.event()].push(arena[row.start()]);
                        here &= here - 1;
                    }
                }
                behind += words;
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
        fn two_look_ups_tell_who_is_inside(
            spaces in prop::collection::vec(1_u32..256, 0..=MOST),
            low in 1_u8..=255,
            high in 1_u8..=255,
        ) {
            let mut steps = Steps::default();
            for _ in 0..2 {
                steps.begin(256);
                spaces.iter().enumerate().for_each(|(bit, space)| steps.insert(*space, bit));
                steps.finish();
            }
            let inside = (0..).zip(&spaces).fold(0_u64, |bits, (bit, space)| {
                bits | u64::from((u32::from(low)..=u32::from(high)).contains(space)) << bit
            });
            prop_assert_eq!(if low <= high { steps.between(low, high) } else { inside }, inside);
        }
    }
}
