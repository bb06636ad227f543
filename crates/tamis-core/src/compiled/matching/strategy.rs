//! Chooses per-event or batched matching by a moving average of ns/event; retries the loser every 200 calls.

use crate::compiled::matching::batch::Batch;
use crate::compiled::matching::bitmaps::MAX_BATCH;
use crate::compiled::matching::scratch::CompiledScratch;
use crate::compiled::segment::SegmentView;
use crate::event::Rows;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Minimum events of a batch: fewer do not pay for ranking their spaces.
const MIN_BATCH: usize = 32;

/// Maximum spaces of all events of a batch, 4 bytes each: 2 MiB stay in the cache.
const MAX_BATCH_SPACES: usize = 1 << 19;

/// Calls after which the slower way is measured again.
const RETRY_CALLS: u64 = 200;

/// How many events traverse the arena at a time: one, or a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compiled) enum MatchMode {
    PerEvent,
    Batched,
}

/// Chooses between both modes for one segment. Shared by all threads: lost updates of an average do no harm.
#[derive(Debug, Default)]
pub(in crate::compiled) struct ModeChooser {
    per_event: MeanCost,
    batched: MeanCost,
    /// Choices made since both modes were measured.
    calls: AtomicU64,
    /// The only mode, if the user chose one.
    forced: Option<MatchMode>,
}

/// A moving average of the time an event takes.
#[derive(Debug, Default)]
struct MeanCost {
    /// Nanoseconds; 0 if nothing was measured.
    nanoseconds: AtomicU64,
    /// Events measured.
    events: AtomicU64,
}

impl MeanCost {
    fn record(&self, started: Instant, events: usize) {
        let cost = (started.elapsed().as_nanos() as u64 / events as u64).max(1);
        let before = self.nanoseconds.load(Ordering::Relaxed);
        let mean = if before == 0 { cost } else { (7 * before + cost) / 8 };
        self.nanoseconds.store(mean.max(1), Ordering::Relaxed);
        self.events.fetch_add(events as u64, Ordering::Relaxed);
    }

    fn nanoseconds(&self) -> u64 {
        self.nanoseconds.load(Ordering::Relaxed)
    }

    fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }
}

impl ModeChooser {
    /// With a mode for all calls, or with a choice.
    pub fn new(forced: Option<MatchMode>) -> ModeChooser {
        ModeChooser { forced, ..ModeChooser::default() }
    }

    /// The mode of the next events; a batch holds at most `max_batch`.
    fn choose(&self, view: &SegmentView<'_>, events: usize, max_batch: usize) -> MatchMode {
        match self.forced {
            _ if !view.batchable => return MatchMode::PerEvent,
            Some(mode) => return mode,
            _ if events < MIN_BATCH || max_batch < MIN_BATCH => return MatchMode::PerEvent,
            _ => {}
        }
        let (per_event, batched) = (self.per_event.nanoseconds(), self.batched.nanoseconds());
        // Per event the first time, batched the second time.
        if per_event == 0 {
            return MatchMode::PerEvent;
        }
        if batched == 0 {
            return MatchMode::Batched;
        }
        let retry = self.calls.fetch_add(1, Ordering::Relaxed) % RETRY_CALLS == RETRY_CALLS - 1;
        if (batched < per_event) != retry { MatchMode::Batched } else { MatchMode::PerEvent }
    }

    /// Appends the matches of a range of rows.
    pub fn match_rows(
        &self,
        view: &SegmentView<'_>,
        rows: &Rows,
        range: Range<usize>,
        attributes: usize,
        scratch: &mut CompiledScratch,
        found: &mut Batch,
    ) {
        if range.len() == 1 {
            return view.match_per_event(rows, range, attributes, scratch, found);
        }
        let max_batch = (MAX_BATCH_SPACES / view.dimensions.len().max(1)).min(MAX_BATCH);
        let step = if max_batch < MIN_BATCH { MAX_BATCH } else { max_batch };
        let mut start = range.start;
        while start < range.end {
            let end = range.end.min(start + step);
            let started = Instant::now();
            match self.choose(view, end - start, max_batch) {
                MatchMode::Batched => {
                    view.match_batched(rows, start..end, attributes, scratch, found);
                    self.batched.record(started, end - start);
                }
                MatchMode::PerEvent => {
                    view.match_per_event(rows, start..end, attributes, scratch, found);
                    self.per_event.record(started, end - start);
                }
            }
            start = end;
        }
    }

    /// Events matched and nanoseconds per event, by mode.
    pub fn stats(&self) -> [(&'static str, u64); 4] {
        [
            ("events_one_by_one", self.per_event.events()),
            ("nanoseconds_one_by_one", self.per_event.nanoseconds()),
            ("events_together", self.batched.events()),
            ("nanoseconds_together", self.batched.nanoseconds()),
        ]
    }
}
