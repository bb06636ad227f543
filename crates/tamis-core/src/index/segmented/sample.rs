//! Which observed events are kept in mind: a reservoir, in which every event ever observed is as likely as any other.

use super::Shared;
use crate::event::Rows;
use std::sync::Arc;

/// Events that are kept.
const KEPT: usize = 4_096;

/// See the module's head.
pub(super) struct Sample {
    /// Kept events and those they replaced.
    rows: Rows,
    /// The rows that are kept.
    kept: Vec<usize>,
    seen: u64,
    /// How many were seen when a compaction was last asked for.
    used: u64,
    /// State of the generator; the same events give the same sample.
    random: u64,
    /// The kept rows by themselves, until another event is kept.
    gathered: Option<Arc<Rows>>,
}

impl Default for Sample {
    fn default() -> Sample {
        Sample { rows: Rows::default(), kept: Vec::new(), seen: 0, used: 0, random: 1, gathered: None }
    }
}

impl Sample {
    /// How many events were observed.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    fn observe(&mut self, rows: &Rows, row: usize) {
        self.seen += 1;
        let place = if self.kept.len() < KEPT {
            self.kept.push(0);
            self.kept.len() - 1
        } else {
            match usize::try_from(self.below(self.seen)) {
                Ok(place) if place < KEPT => place,
                _ => return,
            }
        };
        // A batch without room for its texts: this one is not kept.
        if self.rows.copy_row(rows, row).is_ok() {
            self.kept[place] = self.rows.len() - 1;
            self.gathered = None;
        }
        if self.rows.len() > 2 * KEPT {
            self.rows = self.alone();
            self.kept = (0..self.rows.len()).collect();
        }
    }

    /// The kept rows by themselves.
    fn alone(&self) -> Rows {
        let mut alone = Rows::default();
        for &row in &self.kept {
            // There was room for all of them and more.
            let _ = alone.copy_row(&self.rows, row);
        }
        alone
    }

    /// A number below the bound, by xorshift64*.
    fn below(&mut self, bound: u64) -> u64 {
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        let random = self.random.wrapping_mul(0x2545_F491_4F6C_DD1D);
        ((u128::from(random) * u128::from(bound)) >> 64) as u64
    }

    fn gathered(&mut self) -> Option<Arc<Rows>> {
        if self.gathered.is_none() && self.seen > 0 {
            self.gathered = Some(Arc::new(self.alone()));
        }
        self.gathered.clone()
    }
}

impl Shared {
    /// Takes events into account, which were read with the schema of this index, and has everything built anew with
    /// them once twice as many were observed as before.
    pub fn observe(self: &Arc<Shared>, rows: &Rows) {
        let worth_it = {
            let mut sample = self.sample.lock();
            (0..rows.len()).for_each(|row| sample.observe(rows, row));
            let worth_it = sample.seen >= 2 * sample.used.max(1) && !self.snapshot().parts.is_empty();
            if worth_it {
                sample.used = sample.seen;
            }
            worth_it
        };
        if worth_it {
            self.wake_for_observed();
        }
    }

    /// The sample to build a segment of this many members with, and how many events were observed in all. Small
    /// segments are built again soon: there it would not pay.
    pub fn sample_for(&self, members: usize) -> (Option<Arc<Rows>>, u64) {
        let mut sample = self.sample.lock();
        let pays = members >= self.options.recent * 4;
        (if pays { sample.gathered() } else { None }, sample.seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Slot;
    use crate::schema::AttrId;

    #[test]
    fn every_event_is_as_likely_as_any_other() {
        let mut rows = Rows::default();
        let many = 20 * KEPT as i64;
        for n in 0..many {
            rows.set(AttrId(0), Slot::Int(n));
            rows.finish_row();
        }
        let mut sample = Sample::default();
        (0..rows.len()).for_each(|row| sample.observe(&rows, row));
        let kept = sample.gathered().expect("a sample");
        assert_eq!(kept.len(), KEPT);
        let mut numbers: Vec<i64> = (0..kept.len())
            .map(|row| if let Slot::Int(n) = kept.row(row)[0].slot { n } else { -1 })
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), KEPT, "each event at most once");
        let early = numbers.iter().filter(|n| **n < many / 2).count();
        assert!((KEPT * 9 / 20..KEPT * 11 / 20).contains(&early), "{early} of the first half");
    }
}
