//! Matching events against one snapshot.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `search` | which members match each event, and what are their ids? |
//! | `ranking` | which matches of an event are the best? |
//! | `insertion_order` | how are an event's matches sorted? |
//! | `id_column_builder` | how are ids collected for the result? |
//!
//! Each segment and the list of recent subscriptions is searched by itself. If only one segment has matches, its local
//! numbers are converted to ids without a merge.

mod id_column_builder;
mod insertion_order;
mod ranking;
mod search;

use super::Shared;
use super::snapshot::{Location, Snapshot};
use crate::compiled::{Batch, CompiledScratch, CompiledSegment};
use crate::error::{Interruption, Result};
use crate::event::{EventSlots, Rows};
use crate::index::backend::PinnedBackend;
use crate::index::matching::{EventContext, in_chunks, workers};
use crate::index::ranking::{RankedMatches, RankingRequest};
use crate::index::{IdColumn, Matches, NearMiss, Stale};
use crate::schema::Schema;
use id_column_builder::IdColumnBuilder;
use insertion_order::InsertionOrder;
use ranking::SnapshotRanker;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Arc, Weak};

/// Maximum events per search: the width of the bit-parallel structures.
const CHUNK: usize = 512;

/// Minimum events per unit of work with several workers, which makes up for starting a thread.
const MIN_SHARE: usize = 256;

/// Events per unit of work. A single worker takes all events, so that nothing has to be concatenated.
fn share(events: usize, threads: Option<NonZeroUsize>) -> usize {
    match workers(threads) {
        1 => events.max(1),
        workers => events.div_ceil(workers).clamp(MIN_SHARE, CHUNK),
    }
}

/// The buffers of one matching thread.
pub(super) struct SnapshotScratch {
    /// The event that recent subscriptions are evaluated for.
    slots: EventSlots,
    compiled: CompiledScratch,
    /// Truth of the nodes of a recent subscription; `None` if not evaluated yet.
    memo: Vec<Option<bool>>,
    /// The local numbers that each search found, by row: one batch per segment, then one for the recent subscriptions.
    batches: Vec<Batch>,
    /// The matches of one row with their position in insertion order.
    row_matches: Vec<(u64, Location)>,
    insertion_order: InsertionOrder,
    ranker: SnapshotRanker,
    /// The snapshot that the ranker's cache is valid for: locations have no meaning in another.
    ranked: Weak<Snapshot>,
}

impl SnapshotScratch {
    fn new() -> SnapshotScratch {
        SnapshotScratch {
            slots: EventSlots::default(),
            compiled: CompiledSegment::scratch(),
            memo: Vec::new(),
            batches: Vec::new(),
            row_matches: Vec::new(),
            insertion_order: InsertionOrder::default(),
            ranker: SnapshotRanker::default(),
            ranked: Weak::new(),
        }
    }

    /// Empties the ranker's cache if it belongs to another snapshot. Comparing addresses is safe because the weak
    /// reference keeps the allocation.
    fn rank_in(&mut self, snapshot: &Arc<Snapshot>) {
        if !std::ptr::eq(self.ranked.as_ptr(), Arc::as_ptr(snapshot)) {
            self.ranker.clear_cache();
            self.ranked = Arc::downgrade(snapshot);
        }
    }
}

/// [`Matches`] being filled.
struct MatchesBuilder {
    /// As [`Matches::offsets`].
    offsets: Vec<i64>,
    ids: IdColumnBuilder,
}

impl MatchesBuilder {
    fn new(snapshot: &Snapshot) -> MatchesBuilder {
        MatchesBuilder { offsets: vec![0], ids: IdColumnBuilder::new(snapshot) }
    }

    fn finish(self) -> Matches {
        Matches { offsets: self.offsets, ids: self.ids.finish() }
    }
}

/// A pinned snapshot.
pub(super) struct PinnedSnapshot<'s> {
    /// Settings and scratches.
    pub shared: &'s Shared,
    pub snapshot: Arc<Snapshot>,
}

/// Never returns [`Stale`]: events are read with the schema of the snapshot that they are matched against.
impl PinnedBackend for PinnedSnapshot<'_> {
    fn schema(&self) -> &Arc<Schema> {
        &self.snapshot.schema
    }

    fn match_row(&self, rows: &Rows, row: usize) -> Result<IdColumn, Stale> {
        Ok(self.with_scratch(|scratch| {
            let mut matches = MatchesBuilder::new(&self.snapshot);
            self.snapshot.match_range(rows, row..row + 1, true, scratch, &mut matches);
            matches.ids.finish()
        }))
    }

    fn match_rows(
        &self,
        rows: &Rows,
        threads: Option<NonZeroUsize>,
        ordered: bool,
    ) -> Result<Matches, Stale> {
        let mut shares = in_chunks(rows.len(), share(rows.len(), threads), threads, |share| {
            self.with_scratch(|scratch| {
                let mut matches = MatchesBuilder::new(&self.snapshot);
                for start in share.clone().step_by(CHUNK) {
                    Interruption::unwind_if_requested();
                    let chunk = start..share.end.min(start + CHUNK);
                    self.snapshot.match_range(rows, chunk, ordered, scratch, &mut matches);
                }
                matches.finish()
            })
        })
        .into_iter();
        let mut matches = shares.next().unwrap_or_else(|| MatchesBuilder::new(&self.snapshot).finish());
        shares.for_each(|share| matches.append(share));
        Ok(matches)
    }

    fn top_k(
        &self,
        rows: &Rows,
        range: Range<usize>,
        request: &RankingRequest<'_>,
    ) -> Result<Result<RankedMatches>, Stale> {
        let share = share(range.len(), request.threads);
        let shares = in_chunks(range.len(), share, request.threads, |share| {
            let share = range.start + share.start..range.start + share.end;
            self.with_scratch(|scratch| self.rank_share(rows, share, request, scratch))
        });
        let matches = MatchesBuilder::new(&self.snapshot).finish();
        let mut ranked = RankedMatches { matches, scores: Vec::new() };
        Ok(shares.into_iter().try_for_each(|share| share.map(|more| ranked.append(more))).map(|()| ranked))
    }

    fn near_misses(&self, rows: &Rows, row: usize, limit: usize) -> Result<Result<Vec<NearMiss>>, Stale> {
        let (snapshot, locations) = (&*self.snapshot, self.snapshot.in_order());
        let text = |at: usize| snapshot.text(locations[at]);
        let id = |at: usize| snapshot.id(locations[at]);
        Ok(self.context(rows, row).near_misses(locations.len(), limit, text, id))
    }
}

impl PinnedSnapshot<'_> {
    fn context<'c>(&'c self, rows: &'c Rows, row: usize) -> EventContext<'c> {
        let Shared { missing, limits, .. } = self.shared;
        EventContext { schema: &self.snapshot.schema, missing: *missing, limits, rows, row }
    }

    /// The best matches of some rows.
    fn rank_share(
        &self,
        rows: &Rows,
        share: Range<usize>,
        request: &RankingRequest<'_>,
        scratch: &mut SnapshotScratch,
    ) -> Result<RankedMatches> {
        let snapshot = &*self.snapshot;
        scratch.rank_in(&self.snapshot);
        let (mut matches, mut scores) = (MatchesBuilder::new(snapshot), Vec::new());
        for start in share.clone().step_by(CHUNK) {
            Interruption::unwind_if_requested();
            let SnapshotScratch { compiled, ranker, .. } = &mut *scratch;
            for row in start..share.end.min(start + CHUNK) {
                self.rank_row((rows, row), request, compiled, ranker, |location, score| {
                    matches.ids.push(snapshot, location);
                    scores.push(score);
                })?;
                matches.offsets.push(matches.ids.len() as i64);
            }
        }
        Ok(RankedMatches { matches: matches.finish(), scores })
    }

    fn with_scratch<T>(&self, work: impl FnOnce(&mut SnapshotScratch) -> T) -> T {
        let idle = self.shared.idle.lock().pop();
        let mut scratch = idle.unwrap_or_else(SnapshotScratch::new);
        let result = work(&mut scratch);
        self.shared.idle.lock().push(scratch);
        result
    }
}
