//! Up to 64 events that read the same table, one bit each: whose spaces are inside which keys?
//!
//! For each of the table's one or two dimensions, and for each space, there is the set of events below it. The events
//! inside an interval are two lookups: those below its end, without those below its beginning. That costs the same for
//! 64 events as for one.

use crate::compiled::arena::interval_block::BLOCK;
use crate::compiled::arena::reader::IntervalTable;
use crate::compiled::matching::candidates::{Candidate, CandidateRows};

/// Maximum events per probe: one bit of a `u64` each.
pub(in crate::compiled) const MAX_EVENTS: usize = 64;

/// Events by space, in a dimension whose spaces fit into one byte.
#[derive(Debug)]
struct CumulativeBits {
    /// By space: the events below it.
    below: [u64; 257],
    /// Spaces in use.
    spaces: usize,
}

impl Default for CumulativeBits {
    fn default() -> CumulativeBits {
        CumulativeBits { below: [0; 257], spaces: 0 }
    }
}

impl CumulativeBits {
    /// Empties the sets, for a dimension with this many spaces.
    fn begin(&mut self, spaces: u32) {
        self.spaces = spaces.min(256) as usize;
        self.below[..=self.spaces].fill(0);
    }

    /// Adds an event, at first only to the set right above its space.
    fn insert(&mut self, space: u32, bit: usize) {
        self.below[(space as usize).min(255) + 1] |= 1 << bit;
    }

    /// Accumulates the sets, once all events are there.
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

/// The events that read a table. Reused from table to table.
#[derive(Debug)]
pub(in crate::compiled) struct Probe {
    first: CumulativeBits,
    second: CumulativeBits,
    /// By bit: the event with the first row of the table.
    candidates: [Candidate; MAX_EVENTS],
    len: usize,
}

impl Default for Probe {
    fn default() -> Probe {
        Probe {
            first: CumulativeBits::default(),
            second: CumulativeBits::default(),
            candidates: [Candidate::default(); MAX_EVENTS],
            len: 0,
        }
    }
}

impl Probe {
    /// Removes all events. `first` and `second` are the numbers of spaces of the dimensions, 0 without a second one.
    pub fn begin(&mut self, first: u32, second: u32) {
        self.first.begin(first);
        self.second.begin(second);
        self.len = 0;
    }

    /// Adds an event with its spaces and its number in the batch.
    pub fn add(&mut self, table: &IntervalTable<'_>, (first, second): (u32, u32), event: u32) {
        self.first.insert(first, self.len);
        self.second.insert(second, self.len);
        self.candidates[self.len] = Candidate::new(table.rows.first, event, table.rows.uniform);
        self.len += 1;
    }

    /// Compares the keys of a table, whose ends take one byte. Targets without residual tests are reported, other rows
    /// become candidates.
    pub fn compare(
        &mut self,
        arena: &[u32],
        table: &IntervalTable<'_>,
        rows: &mut CandidateRows,
        found: &mut [Vec<u32>],
    ) {
        self.first.finish();
        self.second.finish();
        let words = table.rows.uniform;
        // Low and high ends of the first key, then those of the second.
        let ends: &[[u8; BLOCK]] = bytemuck::cast_slice(table.blocks);
        let mut behind = 0;
        for block in ends.chunks_exact(if table.pair { 4 } else { 2 }) {
            rows.reserve(BLOCK * (MAX_EVENTS + 4));
            for at in 0..BLOCK {
                let mut here = self.first.between(block[0][at], block[1][at]);
                if let [_, _, low, high] = block {
                    here &= self.second.between(low[at], high[at]);
                }
                if words > 1 {
                    rows.push_each(&self.candidates, behind, here);
                } else {
                    while here != 0 {
                        let row = self.candidates[here.trailing_zeros() as usize].behind(behind);
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
        fn two_lookups_find_the_events_inside_an_interval(
            spaces in prop::collection::vec(1_u32..256, 0..=MAX_EVENTS),
            low in 1_u8..=255,
            high in 1_u8..=255,
        ) {
            let mut sets = CumulativeBits::default();
            for _ in 0..2 {
                sets.begin(256);
                spaces.iter().enumerate().for_each(|(bit, space)| sets.insert(*space, bit));
                sets.finish();
            }
            let inside = (0..).zip(&spaces).fold(0_u64, |bits, (bit, space)| {
                bits | u64::from((u32::from(low)..=u32::from(high)).contains(space)) << bit
            });
            prop_assert_eq!(if low <= high { sets.between(low, high) } else { inside }, inside);
        }
    }
}
