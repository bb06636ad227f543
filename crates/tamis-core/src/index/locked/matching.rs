//! Matching one event or many, on one thread or many.

use super::{Locked, MatchScratch, State};
use crate::engine::SubId;
use crate::error::Result;
use crate::event::Rows;
use crate::index::backing::Pinned;
use crate::index::holding::Holding;
use crate::index::matches::in_chunks;
use crate::index::ranking::{RankedMatches, Wanted};
use crate::index::{Id, IdColumn, Matches, NearMiss, Stale};
use crate::schema::Schema;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

/// Events a worker takes at a time: enough to make the hand-over cheap, few enough to share evenly.
const CHUNK: usize = 64;

/// What a stretch of rows matched.
#[derive(Default)]
struct Found {
    /// Where each row's matches end in `subs`.
    ends: Vec<usize>,
    subs: Vec<SubId>,
}

/// The schema of one moment; stale once it grew.
pub(super) struct LockedView<'l> {
    pub locked: &'l Locked,
    pub schema: Arc<Schema>,
}

impl Pinned for LockedView<'_> {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn match_row(&self, rows: &Rows, row: usize) -> Result<IdColumn, Stale> {
        let state = self.locked.state.read();
        state.check(&self.schema)?;
        Ok(state.subscriptions.ids(&self.locked.match_subs(&state, rows, row)))
    }

    fn match_rows(
        &self,
        rows: &Rows,
        threads: Option<NonZeroUsize>,
        ordered: bool,
    ) -> Result<Matches, Stale> {
        let state = self.locked.state.read();
        state.check(&self.schema)?;
        let found = in_chunks(rows.len(), CHUNK, threads, |range| {
            self.locked.match_range(&state, rows, range, ordered)
        });
        Ok(state.gather(found, rows.len()))
    }

    fn top_k(
        &self,
        rows: &Rows,
        range: Range<usize>,
        wanted: &Wanted<'_>,
    ) -> Result<Result<RankedMatches>, Stale> {
        let state = self.locked.state.read();
        state.check(&self.schema)?;
        let found = in_chunks(range.len(), CHUNK, wanted.threads, |chunk| {
            self.rank_range(&state, rows, range.start + chunk.start..range.start + chunk.end, wanted)
        });
        let mut scores = Vec::new();
        let found: Result<Vec<Found>> = found
            .into_iter()
            .map(|chunk| {
                let (found, more) = chunk?;
                scores.extend(more);
                Ok(found)
            })
            .collect();
        Ok(found.map(|found| RankedMatches { matches: state.gather(found, range.len()), scores }))
    }

    /// Updates wait for a copy of the texts only.
    fn near_misses(&self, rows: &Rows, row: usize, limit: usize) -> Result<Result<Vec<NearMiss>>, Stale> {
        let copied: Vec<(Id, Box<str>)> = {
            let state = self.locked.state.read();
            state.check(&self.schema)?;
            let subscriptions = state.subscriptions.in_order();
            subscriptions.into_iter().map(|(_, s)| (s.id.clone(), s.text.clone())).collect()
        };
        let text = |at: usize| Some(&*copied[at].1);
        Ok(self.holding(rows, row).near_misses(copied.len(), limit, text, |at| copied[at].0.clone()))
    }
}

impl LockedView<'_> {
    fn holding<'h>(&'h self, rows: &'h Rows, row: usize) -> Holding<'h> {
        let Locked { missing, limits, .. } = self.locked;
        Holding { schema: &self.schema, missing: *missing, limits, rows, row }
    }

    /// The best matches of some rows, and their scores.
    fn rank_range(
        &self,
        state: &State,
        rows: &Rows,
        range: Range<usize>,
        wanted: &Wanted<'_>,
    ) -> Result<(Found, Vec<f64>)> {
        let mut scratch = self.locked.take_scratch(state);
        if scratch.ranked_at != state.subscriptions.changes() {
            scratch.ranked_at = state.subscriptions.changes();
            scratch.ranker.forget();
        }
        let (mut found, mut scores, mut subs) = (Found::default(), Vec::new(), Vec::new());
        for row in range {
            subs.clear();
            state.match_into(rows, row, &mut scratch, &mut subs);
            let (holding, matches) = (self.holding(rows, row), subs.iter().copied());
            scratch.ranker.rank(&holding, &state.subscriptions, matches, wanted, |sub, score| {
                found.subs.push(sub);
                scores.push(score);
            })?;
            found.ends.push(found.subs.len());
        }
        self.locked.give_back(scratch);
        Ok((found, scores))
    }
}

impl Locked {
    /// The subscriptions a row matches, in order of insertion.
    fn match_subs(&self, state: &State, rows: &Rows, row: usize) -> Vec<SubId> {
        let mut scratch = self.take_scratch(state);
        let mut subs = Vec::new();
        state.match_into(rows, row, &mut scratch, &mut subs);
        self.give_back(scratch);
        state.subscriptions.sort(&mut subs);
        subs
    }

    fn match_range(&self, state: &State, rows: &Rows, range: Range<usize>, ordered: bool) -> Found {
        let mut scratch = self.take_scratch(state);
        let mut found = Found::default();
        for row in range {
            let start = found.subs.len();
            state.match_into(rows, row, &mut scratch, &mut found.subs);
            if ordered {
                state.subscriptions.sort(&mut found.subs[start..]);
            }
            found.ends.push(found.subs.len());
        }
        self.give_back(scratch);
        found
    }
}

impl State {
    /// Whether events read with this schema can be used now.
    pub(super) fn check(&self, schema: &Schema) -> Result<(), Stale> {
        if schema.len() == self.schema.len() { Ok(()) } else { Err(Stale) }
    }

    fn match_into(&self, rows: &Rows, row: usize, scratch: &mut MatchScratch, subs: &mut Vec<SubId>) {
        let event = scratch.slots.load(rows, row, self.schema.len());
        self.engine.match_event(&event, &mut scratch.engine, subs);
        subs.extend(self.subscriptions.always());
    }

    fn gather(&self, found: Vec<Found>, rows: usize) -> Matches {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        let mut subs = Vec::new();
        for Found { ends, subs: more } in found {
            let base = subs.len();
            offsets.extend(ends.iter().map(|end| (base + end) as i64));
            if subs.is_empty() {
                subs = more;
            } else {
                subs.extend(more);
            }
        }
        Matches { offsets, ids: self.subscriptions.ids(&subs) }
    }
}
