//! A uniform sample of all observed events: reservoir sampling (Vitter's algorithm R).

use super::Shared;
use crate::event::Rows;
use crate::index::Stale;
use crate::schema::{AttrId, Schema};
use std::sync::Arc;

/// Size of the reservoir in events.
const RESERVOIR: usize = 4_096;

/// See the module's head.
pub(super) struct Sample {
    /// Sampled events, and replaced ones until [`RESERVOIR`] of them are dropped at once.
    rows: Rows,
    /// The rows of the sampled events; at most [`RESERVOIR`].
    sampled: Vec<usize>,
    /// Number of events observed so far.
    observed: u64,
    /// `observed` at the last request for a compaction.
    observed_at_compaction: u64,
    /// State of the random generator. Its seed is fixed: the same events give the same sample.
    random: u64,
    /// A copy of the sampled rows; `None` if the sample has changed since.
    copy: Option<Arc<Rows>>,
    /// The generation of the schema whose numbers the rows have.
    generation: u64,
}

impl Default for Sample {
    fn default() -> Sample {
        Sample {
            rows: Rows::default(),
            sampled: Vec::new(),
            observed: 0,
            observed_at_compaction: 0,
            random: 1,
            copy: None,
            generation: 0,
        }
    }
}

impl Sample {
    /// Number of events observed so far.
    pub fn observed(&self) -> u64 {
        self.observed
    }

    fn observe(&mut self, rows: &Rows, row: usize) {
        self.observed += 1;
        let at = if self.sampled.len() < RESERVOIR {
            self.sampled.push(0);
            self.sampled.len() - 1
        } else {
            match usize::try_from(self.below(self.observed)) {
                Ok(at) if at < RESERVOIR => at,
                _ => return,
            }
        };
        // Copying fails only past 4 GiB of text; the event is then left out.
        if self.rows.copy_row(rows, row).is_ok() {
            self.sampled[at] = self.rows.len() - 1;
            self.copy = None;
        }
        if self.rows.len() > 2 * RESERVOIR {
            self.rows = self.sampled_rows();
            self.sampled = (0..self.rows.len()).collect();
        }
    }

    /// The sampled rows without replaced ones.
    fn sampled_rows(&self) -> Rows {
        let mut sampled = Rows::default();
        for &row in &self.sampled {
            // Cannot fail: the texts of these rows and more fit before.
            let _ = sampled.copy_row(&self.rows, row);
        }
        sampled
    }

    /// Numbers the attributes of the sampled events as another schema does. Attributes that it does not have are dropped.
    pub fn renumber(&mut self, before: &Schema, after: &Schema) {
        self.rows = renumbered(&self.sampled_rows(), before, after);
        self.sampled = (0..self.rows.len()).collect();
        self.copy = None;
        self.generation = after.generation();
    }

    /// A random number below the bound (xorshift64*).
    fn below(&mut self, bound: u64) -> u64 {
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        let random = self.random.wrapping_mul(0x2545_F491_4F6C_DD1D);
        ((u128::from(random) * u128::from(bound)) >> 64) as u64
    }

    /// The sample; `None` if nothing was observed.
    fn shared(&mut self) -> Option<Arc<Rows>> {
        if self.copy.is_none() && self.observed > 0 {
            self.copy = Some(Arc::new(self.sampled_rows()));
        }
        self.copy.clone()
    }
}

/// Rows that were read with one schema, as if they were read with another.
pub(super) fn renumbered(rows: &Rows, before: &Schema, after: &Schema) -> Rows {
    let numbers: Vec<Option<AttrId>> = before.names().map(|name| after.get(name)).collect();
    let mut copy = Rows::default();
    for row in 0..rows.len() {
        let number = |attribute: AttrId| numbers.get(attribute.index()).copied().flatten();
        // Cannot fail: the texts of these rows fit before.
        let _ = copy.copy_row_numbered(rows, row, number);
    }
    copy
}

impl Shared {
    /// Adds events, which were read with this schema of the index, to the sample. Once their number has doubled since the
    /// last time, all segments are rebuilt with it in the background. [`Stale`] if a compaction has numbered the attributes
    /// anew since.
    pub fn observe(self: &Arc<Shared>, schema: &Schema, rows: &Rows) -> Result<(), Stale> {
        let rebuild = {
            let mut sample = self.sample.lock();
            if sample.generation != schema.generation() {
                return Err(Stale);
            }
            (0..rows.len()).for_each(|row| sample.observe(rows, row));
            let doubled = sample.observed >= 2 * sample.observed_at_compaction.max(1);
            let rebuild = doubled && !self.snapshot().segments.is_empty();
            if rebuild {
                sample.observed_at_compaction = sample.observed;
            }
            rebuild
        };
        if rebuild {
            self.wake_for_observed();
        }
        Ok(())
    }

    /// The sample to build a segment of `members` with, and the number of events observed. No sample for small segments:
    /// they are merged soon, which builds them again.
    pub fn sample_for(&self, members: usize) -> (Option<Arc<Rows>>, u64) {
        let mut sample = self.sample.lock();
        let large = members >= self.options.recent * 4;
        (if large { sample.shared() } else { None }, sample.observed)
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
        let many = 20 * RESERVOIR as i64;
        for n in 0..many {
            rows.set(AttrId(0), Slot::Int(n));
            rows.finish_row();
        }
        let mut sample = Sample::default();
        (0..rows.len()).for_each(|row| sample.observe(&rows, row));
        let sampled = sample.shared().expect("a sample");
        assert_eq!(sampled.len(), RESERVOIR);
        let mut numbers: Vec<i64> = (0..sampled.len())
            .map(|row| if let Slot::Int(n) = sampled.row(row)[0].slot { n } else { -1 })
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), RESERVOIR, "each event at most once");
        let early = numbers.iter().filter(|n| **n < many / 2).count();
        assert!((RESERVOIR * 9 / 20..RESERVOIR * 11 / 20).contains(&early), "{early} of the first half");
    }
}
