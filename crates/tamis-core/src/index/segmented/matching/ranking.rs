//! The best matches of an event in all segments and among the recent subscriptions, under one floor.
//!
//! The recent subscriptions come first: all of them are evaluated anyway, and their scores raise the floor. Each segment then
//! offers the matches that can exceed it. A segment of a file of format 2 has no scores: all its matches are found, and their
//! texts parsed.

use super::PinnedSnapshot;
use crate::compiled::{Batch, CompiledScratch, RankFloor, RankedEvent, RankingSink};
use crate::engine::scoring::AttributeWeights;
use crate::error::Result;
use crate::event::{EventSlots, Rows};
use crate::index::Id;
use crate::index::matching::EventContext;
use crate::index::ranking::{BestMatches, ExpressionTexts, RankingRequest, ScorerCache, TopK};
use crate::index::segmented::snapshot::{LiveSegment, Location, Snapshot};

/// What ranking reuses from event to event.
#[derive(Default)]
pub(super) struct SnapshotRanker {
    /// The event being ranked.
    slots: EventSlots,
    /// Its attribute weights.
    weights: AttributeWeights,
    /// The best matches so far. Empty between events.
    best: BestMatches<Location>,
    /// Truth of the nodes of a recent subscription.
    memo: Vec<Option<bool>>,
    /// Matches in a segment without scores.
    unscored: Batch,
    /// Scorers of the members of such segments.
    cache: ScorerCache,
}

impl SnapshotRanker {
    /// Empties the cache. Required when locations may have another meaning.
    pub fn clear_cache(&mut self) {
        // Dropped, not cleared: the next calls may need far less memory.
        self.cache = ScorerCache::default();
    }
}

impl PinnedSnapshot<'_> {
    /// Calls `emit` with the best matches of a row and their scores, best first. After an error it was not called.
    pub(super) fn rank_row(
        &self,
        (rows, row): (&Rows, usize),
        request: &RankingRequest<'_>,
        compiled: &mut CompiledScratch,
        ranker: &mut SnapshotRanker,
        emit: impl FnMut(Location, f64),
    ) -> Result<()> {
        let (snapshot, top_k) = (&*self.snapshot, request.top_k);
        if top_k.k == 0 {
            return Ok(());
        }
        let SnapshotRanker { slots, weights, best, memo, unscored, cache } = ranker;
        best.begin(top_k);
        weights.load(request.weights.of(row).iter(), &snapshot.schema);
        let event = slots.load(rows, row, snapshot.schema.len());
        for (at, recent) in snapshot.recent.iter().enumerate() {
            if recent.normal.holds(&event, memo) {
                best.offer(top_k, recent.weighted.score(&event, weights), snapshot, Location::Recent(at));
            }
        }
        for (at, live) in snapshot.segments.iter().enumerate() {
            if live.segment.compiled.can_rank() {
                let ranked = RankedEvent { event: &event, weights, k: top_k.k };
                let mut sink = SegmentSink { snapshot, live, at, top_k, best };
                live.segment.compiled.rank_event(ranked, &live.segment.always, compiled, &mut sink);
                continue;
            }
            let attributes = snapshot.schema.len();
            live.segment.compiled.match_rows(rows, row..row + 1, attributes, compiled, unscored);
            live.finish_batch(unscored);
            let context: EventContext<'_> = self.context(rows, row);
            for location in unscored.subs.iter().map(|local| Location::Segment(at, *local)) {
                let score = cache.score(&context, snapshot, location, &event, weights)?;
                best.offer(top_k, score, snapshot, location);
            }
        }
        best.drain(top_k, emit);
        Ok(())
    }
}

/// Takes the matches of one segment.
struct SegmentSink<'s> {
    snapshot: &'s Snapshot,
    live: &'s LiveSegment,
    /// Its position in the snapshot.
    at: usize,
    top_k: TopK<'s>,
    best: &'s mut BestMatches<Location>,
}

impl RankingSink for SegmentSink<'_> {
    #[inline]
    fn is_live(&self, number: u32) -> bool {
        self.live.tombstones.count() == 0 || !self.live.tombstones.contains(number)
    }

    fn offer(&mut self, number: u32, score: f64) {
        self.best.offer(self.top_k, score, self.snapshot, Location::Segment(self.at, number));
    }

    fn floor(&mut self) -> Option<RankFloor> {
        let worst = self.best.worst(self.top_k)?;
        Some(RankFloor { score: worst.score, ties_before: self.live.segment.members_before(worst.sequence) })
    }
}

impl ExpressionTexts for Snapshot {
    type Location = Location;

    fn key(&self, location: Location) -> u64 {
        match location {
            // There are fewer than 2^32 - 1 segments.
            Location::Recent(at) => (u64::from(u32::MAX) << 32) | at as u64,
            Location::Segment(at, local) => ((at as u64) << 32) | u64::from(local),
        }
    }

    fn text(&self, location: Location) -> Option<&str> {
        self.text(location)
    }

    fn sequence(&self, location: Location) -> u64 {
        self.sequence(location)
    }

    fn id(&self, location: Location) -> Id {
        self.id(location)
    }
}
