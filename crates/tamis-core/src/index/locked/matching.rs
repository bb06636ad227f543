//! Matching one event or many, on one thread or many.

use super::{InPlaceEngine, Locked, LockedScratch, LockedState};
use crate::engine::scoring::TopKQuery;
use crate::engine::{DynRankingEngine, SubId};
use crate::error::Result;
use crate::event::Rows;
use crate::index::backend::PinnedBackend;
use crate::index::matching::{EventContext, in_chunks};
use crate::index::ranking::{ExpressionTexts, RankedMatches, RankingRequest};
use crate::index::{Id, IdColumn, Matches, NearMiss, Stale};
use crate::schema::Schema;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

/// Events per unit of work: many enough to amortize its cost, few enough for an even share.
const CHUNK: usize = 64;

/// The matches of a range of rows.
#[derive(Default)]
struct RangeMatches {
    /// By row: the end of its matches in `subs`.
    ends: Vec<usize>,
    /// The matches of all rows, concatenated.
    subs: Vec<SubId>,
}

/// A pinned schema. Matching returns [`Stale`] once the state has more attributes.
pub(super) struct PinnedLocked<'l> {
    pub locked: &'l Locked,
    pub schema: Arc<Schema>,
}

impl PinnedBackend for PinnedLocked<'_> {
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
        request: &RankingRequest<'_>,
    ) -> Result<Result<RankedMatches>, Stale> {
        let state = self.locked.state.read();
        state.check(&self.schema)?;
        let found = in_chunks(range.len(), CHUNK, request.threads, |chunk| {
            self.rank_range(&state, rows, range.start + chunk.start..range.start + chunk.end, request)
        });
        let mut scores = Vec::new();
        let found: Result<Vec<RangeMatches>> = found
            .into_iter()
            .map(|chunk| {
                let (found, more) = chunk?;
                scores.extend(more);
                Ok(found)
            })
            .collect();
        Ok(found.map(|found| RankedMatches { matches: state.gather(found, range.len()), scores }))
    }

    /// Blocks updates only while the texts are copied.
    fn near_misses(&self, rows: &Rows, row: usize, limit: usize) -> Result<Result<Vec<NearMiss>>, Stale> {
        let copied: Vec<(Id, Box<str>)> = {
            let state = self.locked.state.read();
            state.check(&self.schema)?;
            let subscriptions = state.subscriptions.in_order();
            subscriptions.into_iter().map(|(_, s)| (s.id.clone(), s.text.clone())).collect()
        };
        let text = |at: usize| Some(&*copied[at].1);
        Ok(self.context(rows, row).near_misses(copied.len(), limit, text, |at| copied[at].0.clone()))
    }
}

impl PinnedLocked<'_> {
    fn context<'c>(&'c self, rows: &'c Rows, row: usize) -> EventContext<'c> {
        let Locked { missing, limits, .. } = self.locked;
        EventContext { schema: &self.schema, missing: *missing, limits, rows, row }
    }

    /// The best matches of some rows, and their scores.
    fn rank_range(
        &self,
        state: &LockedState,
        rows: &Rows,
        range: Range<usize>,
        request: &RankingRequest<'_>,
    ) -> Result<(RangeMatches, Vec<f64>)> {
        let mut scratch = self.locked.take_scratch(state);
        if scratch.ranked_at != state.subscriptions.changes() {
            scratch.ranked_at = state.subscriptions.changes();
            scratch.ranker.clear_cache();
        }
        let (mut found, mut scores, mut subs) = (RangeMatches::default(), Vec::new(), Vec::new());
        for row in range {
            let context = self.context(rows, row);
            let mut emit = |sub, score| {
                found.subs.push(sub);
                scores.push(score);
            };
            match &state.engine {
                // An engine that ranks by itself knows no groups.
                InPlaceEngine::Ranking(engine) if request.top_k.groups.is_none() => {
                    state.rank_in_engine(&**engine, &context, request, &mut scratch, &mut emit)?;
                }
                _ => {
                    subs.clear();
                    state.match_into(rows, row, &mut scratch, &mut subs);
                    let matches = subs.iter().copied();
                    scratch.ranker.rank(&context, &state.subscriptions, matches, request, emit)?;
                }
            }
            found.ends.push(found.subs.len());
        }
        self.locked.give_back(scratch);
        Ok((found, scores))
    }
}

impl Locked {
    /// The subscriptions that a row matches, in insertion order.
    fn match_subs(&self, state: &LockedState, rows: &Rows, row: usize) -> Vec<SubId> {
        let mut scratch = self.take_scratch(state);
        let mut subs = Vec::new();
        state.match_into(rows, row, &mut scratch, &mut subs);
        self.give_back(scratch);
        state.subscriptions.sort(&mut subs);
        subs
    }

    fn match_range(
        &self,
        state: &LockedState,
        rows: &Rows,
        range: Range<usize>,
        ordered: bool,
    ) -> RangeMatches {
        let mut scratch = self.take_scratch(state);
        let mut found = RangeMatches::default();
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

impl LockedState {
    /// [`Stale`] if the schema has gained attributes since events were read with `schema`.
    pub(super) fn check(&self, schema: &Schema) -> Result<(), Stale> {
        if schema.is_same(&self.schema) { Ok(()) } else { Err(Stale) }
    }

    fn match_into(&self, rows: &Rows, row: usize, scratch: &mut LockedScratch, subs: &mut Vec<SubId>) {
        let event = scratch.slots.load(rows, row, self.schema.len());
        self.engine.match_event(&event, &mut scratch.engine, subs);
        subs.extend(self.subscriptions.always());
    }

    /// Calls `emit` with a row's best matches, best first: those in the engine, and the subscriptions that match every
    /// event, which are not in the engine. The latter are scored first; once there are k of them, the worst score is the
    /// engine's floor.
    fn rank_in_engine(
        &self,
        engine: &dyn DynRankingEngine,
        context: &EventContext<'_>,
        request: &RankingRequest<'_>,
        scratch: &mut LockedScratch,
        emit: &mut impl FnMut(SubId, f64),
    ) -> Result<()> {
        let LockedScratch { slots, engine: engine_scratch, ranker, weights, best, engine_best, .. } = scratch;
        let always = self.subscriptions.always().iter().copied();
        let sequence = |sub| self.subscriptions.sequence(sub);
        best.begin(request.top_k.k);
        ranker.rank(context, &self.subscriptions, always, request, |sub, score| {
            best.offer(score, || sequence(sub), sub);
        })?;
        weights.load(request.weights.of(context.row).iter(), context.schema);
        let event = slots.load(context.rows, context.row, self.schema.len());
        engine_best.clear();
        let query = TopKQuery { event: &event, weights, k: request.top_k.k, floor: best.floor() };
        engine.top_k(&query, engine_scratch, engine_best);
        engine_best.iter().for_each(|(sub, score)| best.offer(*score, || sequence(*sub), *sub));
        best.drain(emit);
        Ok(())
    }

    fn gather(&self, found: Vec<RangeMatches>, rows: usize) -> Matches {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        let mut subs = Vec::new();
        for RangeMatches { ends, subs: more } in found {
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
