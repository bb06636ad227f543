//! One by one, or together? By what both have cost so far.

use crate::compiled::matching::batch::Batch;
use crate::compiled::matching::bitmaps::MOST;
use crate::compiled::matching::single::CompiledScratch;
use crate::compiled::view::View;
use crate::event::Rows;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Fewer events are not worth a batch.
const FEWEST: usize = 32;

/// The events of a batch have so many spaces together: 2 MiB.
const MOST_SPACES: usize = 1 << 19;

/// So seldom is the slower way tried again.
const TRIED_AGAIN: u64 = 200;

/// The two ways to match many events, and what an event has cost on each.
#[derive(Debug, Default)]
pub(in crate::compiled) struct Paths {
    one_by_one: Cost,
    together: Cost,
    calls: AtomicU64,
    /// Whether there is no choice.
    forced: Option<bool>,
}

/// A running mean of nanoseconds an event.
#[derive(Debug, Default)]
struct Cost {
    nanoseconds: AtomicU64,
    events: AtomicU64,
}

impl Cost {
    fn record(&self, started: Instant, events: usize) {
        let cost = (started.elapsed().as_nanos() as u64 / events as u64).max(1);
        let before = self.nanoseconds.load(Ordering::Relaxed);
        let mean = if before == 0 { cost } else { (7 * before + cost) / 8 };
        // Lost updates do no harm.
        self.nanoseconds.store(mean.max(1), Ordering::Relaxed);
        self.events.fetch_add(events as u64, Ordering::Relaxed);
    }

    fn nanoseconds(&self) -> u64 {
        self.nanoseconds.load(Ordering::Relaxed)
    }
}

impl Paths {
    /// Without a choice, or with one.
    pub fn new(forced: Option<bool>) -> Paths {
        Paths { forced, ..Paths::default() }
    }

    /// Whether the next events go together.
    fn choose(&self, view: &View<'_>, events: usize, most: usize) -> bool {
        match self.forced {
            _ if !view.together => return false,
            Some(together) => return together,
            _ if events < FEWEST || most < FEWEST => return false,
            _ => {}
        }
        let (one_by_one, together) = (self.one_by_one.nanoseconds(), self.together.nanoseconds());
        if one_by_one == 0 || together == 0 {
            // The first time one way, the second time the other.
            return one_by_one > 0;
        }
        let try_the_other = self.calls.fetch_add(1, Ordering::Relaxed) % TRIED_AGAIN == TRIED_AGAIN - 1;
        (together < one_by_one) != try_the_other
    }

    pub fn match_rows(
        &self,
        view: &View<'_>,
        rows: &Rows,
        range: Range<usize>,
        attributes: usize,
        scratch: &mut CompiledScratch,
        found: &mut Batch,
    ) {
        if range.len() == 1 {
            return view.match_one_by_one(rows, range, attributes, scratch, found);
        }
        // The spaces of all events should stay in the cache.
        let most = (MOST_SPACES / view.dimensions.len().max(1)).min(MOST);
        let step = if most < FEWEST { MOST } else { most };
        let mut start = range.start;
        while start < range.end {
            let end = range.end.min(start + step);
            let started = Instant::now();
            if self.choose(view, end - start, most) {
                view.match_together(rows, start..end, attributes, scratch, found);
                self.together.record(started, end - start);
            } else {
                view.match_one_by_one(rows, start..end, attributes, scratch, found);
                self.one_by_one.record(started, end - start);
            }
            start = end;
        }
    }

    pub fn stats(&self) -> [(&'static str, u64); 4] {
        let events = |cost: &Cost| cost.events.load(Ordering::Relaxed);
        [
            ("events_one_by_one", events(&self.one_by_one)),
            ("nanoseconds_one_by_one", self.one_by_one.nanoseconds()),
            ("events_together", events(&self.together)),
            ("nanoseconds_together", self.together.nanoseconds()),
        ]
    }
}
