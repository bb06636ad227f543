//! Matching one event or many against one snapshot.
//!
//! What matches comes from several sources: each segment and the recent ones. Most of the time only one of them has
//! something to say, and its local numbers become ids without another copy.

use super::Shared;
use super::ascending::Ascending;
use super::columns::Column;
use super::snapshot::{Part, Place, Snapshot};
use crate::compiled::{Batch, Compiled, CompiledScratch};
use crate::error::Result;
use crate::event::{Event, EventSlots, Rows};
use crate::index::backing::Pinned;
use crate::index::holding::Holding;
use crate::index::matches::{in_chunks, workers};
use crate::index::ranking::{RankedMatches, Ranker, Wanted};
use crate::index::{IdColumn, Matches, NearMiss, Stale};
use crate::schema::Schema;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Arc, Weak};

/// Events that are matched at a time: enough for bit-parallel structures.
const CHUNK: usize = 512;

/// Several workers share events evenly, but take at least so many at a time: a thread has to be worth its start.
const LEAST: usize = 256;

/// How many events a worker takes at a time. Alone, it puts everything into one place; otherwise stretches are put
/// together in the end.
fn stretch(events: usize, threads: Option<NonZeroUsize>) -> usize {
    match workers(threads) {
        1 => events.max(1),
        workers => events.div_ceil(workers).clamp(LEAST, CHUNK),
    }
}

/// What one thread needs to match.
pub(super) struct MatchScratch {
    slots: EventSlots,
    compiled: CompiledScratch,
    memo: Vec<Option<bool>>,
    /// What the sources found: one per segment and one for the recent ones.
    batches: Vec<Batch>,
    /// What a row matched, with its place in the order of insertion.
    places: Vec<(u64, Place)>,
    ascending: Ascending,
    ranker: Ranker<Place>,
    /// What the ranker was used for last; its places mean nothing elsewhere.
    ranked: Weak<Snapshot>,
}

impl MatchScratch {
    fn new() -> MatchScratch {
        MatchScratch {
            slots: EventSlots::default(),
            compiled: Compiled::scratch(),
            memo: Vec::new(),
            batches: Vec::new(),
            places: Vec::new(),
            ascending: Ascending::default(),
            ranker: Ranker::default(),
            ranked: Weak::new(),
        }
    }

    /// Makes the ranker ready for a snapshot. The weak reference keeps its address from being used again.
    fn rank_in(&mut self, snapshot: &Arc<Snapshot>) {
        if !std::ptr::eq(self.ranked.as_ptr(), Arc::as_ptr(snapshot)) {
            self.ranker.forget();
            self.ranked = Arc::downgrade(snapshot);
        }
    }
}

/// Matches of rows, on their way out.
struct Answers {
    /// As [`Matches::offsets`].
    offsets: Vec<i64>,
    ids: Column,
}

impl Answers {
    fn new(snapshot: &Snapshot) -> Answers {
        Answers { offsets: vec![0], ids: Column::new(snapshot) }
    }

    fn finish(self) -> Matches {
        Matches { offsets: self.offsets, ids: self.ids.finish() }
    }
}

/// A snapshot and where scratches come from.
pub(super) struct SnapshotView<'s> {
    pub shared: &'s Shared,
    pub snapshot: Arc<Snapshot>,
}

/// Nothing here is ever stale: events are read with the schema of the snapshot they are matched against.
impl Pinned for SnapshotView<'_> {
    fn schema(&self) -> &Arc<Schema> {
        &self.snapshot.schema
    }

    fn match_row(&self, rows: &Rows, row: usize) -> Result<IdColumn, Stale> {
        Ok(self.with_scratch(|scratch| {
            let mut answers = Answers::new(&self.snapshot);
            self.snapshot.match_range(rows, row..row + 1, true, scratch, &mut answers);
            answers.ids.finish()
        }))
    }

    fn match_rows(
        &self,
        rows: &Rows,
        threads: Option<NonZeroUsize>,
        ordered: bool,
    ) -> Result<Matches, Stale> {
        let mut stretches = in_chunks(rows.len(), stretch(rows.len(), threads), threads, |stretch| {
            self.with_scratch(|scratch| {
                let mut answers = Answers::new(&self.snapshot);
                for start in stretch.clone().step_by(CHUNK) {
                    let chunk = start..stretch.end.min(start + CHUNK);
                    self.snapshot.match_range(rows, chunk, ordered, scratch, &mut answers);
                }
                answers.finish()
            })
        })
        .into_iter();
        let mut matches = stretches.next().unwrap_or_else(|| Answers::new(&self.snapshot).finish());
        stretches.for_each(|stretch| matches.append(stretch));
        Ok(matches)
    }

    fn top_k(
        &self,
        rows: &Rows,
        range: Range<usize>,
        wanted: &Wanted<'_>,
    ) -> Result<Result<RankedMatches>, Stale> {
        let stretch = stretch(range.len(), wanted.threads);
        let stretches = in_chunks(range.len(), stretch, wanted.threads, |stretch| {
            let stretch = range.start + stretch.start..range.start + stretch.end;
            self.with_scratch(|scratch| self.rank_stretch(rows, stretch, wanted, scratch))
        });
        let matches = Answers::new(&self.snapshot).finish();
        let mut ranked = RankedMatches { matches, scores: Vec::new() };
        Ok(stretches.into_iter().try_for_each(|stretch| stretch.map(|it| ranked.append(it))).map(|()| ranked))
    }

    fn near_misses(&self, rows: &Rows, row: usize, limit: usize) -> Result<Result<Vec<NearMiss>>, Stale> {
        let (snapshot, places) = (&*self.snapshot, self.snapshot.in_order());
        let text = |at: usize| snapshot.text(places[at]);
        Ok(self.holding(rows, row).near_misses(places.len(), limit, text, |at| snapshot.id(places[at])))
    }
}

impl SnapshotView<'_> {
    fn holding<'h>(&'h self, rows: &'h Rows, row: usize) -> Holding<'h> {
        let Shared { missing, limits, .. } = self.shared;
        Holding { schema: &self.snapshot.schema, missing: *missing, limits, rows, row }
    }

    /// The best matches of some rows.
    fn rank_stretch(
        &self,
        rows: &Rows,
        stretch: Range<usize>,
        wanted: &Wanted<'_>,
        scratch: &mut MatchScratch,
    ) -> Result<RankedMatches> {
        let snapshot = &*self.snapshot;
        scratch.rank_in(&self.snapshot);
        let (mut answers, mut scores) = (Answers::new(snapshot), Vec::new());
        for start in stretch.clone().step_by(CHUNK) {
            let chunk = start..stretch.end.min(start + CHUNK);
            snapshot.search(rows, chunk.clone(), scratch);
            let MatchScratch { batches, ranker, .. } = &mut *scratch;
            for (at, row) in chunk.enumerate() {
                let matches = snapshot.found(batches, at);
                ranker.rank(&self.holding(rows, row), snapshot, matches, wanted, |place, score| {
                    answers.ids.push(snapshot, place);
                    scores.push(score);
                })?;
                answers.offsets.push(answers.ids.len() as i64);
            }
        }
        Ok(RankedMatches { matches: answers.finish(), scores })
    }

    fn with_scratch<T>(&self, work: impl FnOnce(&mut MatchScratch) -> T) -> T {
        let idle = self.shared.idle.lock().pop();
        let mut scratch = idle.unwrap_or_else(MatchScratch::new);
        let result = work(&mut scratch);
        self.shared.idle.lock().push(scratch);
        result
    }
}

impl Snapshot {
    /// Appends the matches of some rows.
    fn match_range(
        &self,
        rows: &Rows,
        range: Range<usize>,
        ordered: bool,
        scratch: &mut MatchScratch,
        answers: &mut Answers,
    ) {
        self.search(rows, range.clone(), scratch);
        let MatchScratch { batches, places, ascending, .. } = scratch;
        let mut speaking = (0..batches.len()).filter(|source| !batches[*source].subs.is_empty());
        match (speaking.next(), speaking.next()) {
            (Some(only), None) if only < self.parts.len() => {
                let batch = &mut batches[only];
                if ordered {
                    batch.rows_mut().for_each(|row| ascending.sort(row, self.parts[only].segment.len()));
                }
                self.ids_of_one(only, batch, answers);
            }
            _ if ordered => {
                for row in 0..range.len() {
                    self.places_of_row(batches, row, places);
                    places.iter().for_each(|(_, place)| answers.ids.push(self, *place));
                    answers.offsets.push(answers.ids.len() as i64);
                }
            }
            _ => self.ids_of_many(batches, range.len(), answers),
        }
    }

    /// Leaves in the batches what each source has found for each row.
    fn search(&self, rows: &Rows, range: Range<usize>, scratch: &mut MatchScratch) {
        let MatchScratch { slots, compiled, memo, batches, .. } = scratch;
        batches.resize_with(self.parts.len() + 1, Batch::default);
        for (part, batch) in self.parts.iter().zip(&mut *batches) {
            part.segment.compiled.match_rows(rows, range.clone(), self.schema.len(), compiled, batch);
            part.finish_batch(batch);
        }
        let recent = &mut batches[self.parts.len()];
        recent.ends.clear();
        recent.subs.clear();
        for row in range {
            if !self.recent.is_empty() {
                self.match_recent(&slots.load(rows, row, self.schema.len()), memo, &mut recent.subs);
            }
            recent.ends.push(recent.subs.len());
        }
    }

    fn match_recent(&self, event: &Event<'_>, memo: &mut Vec<Option<bool>>, found: &mut Vec<u32>) {
        for (at, entry) in self.recent.iter().enumerate() {
            if entry.normal.holds(event, memo) {
                found.push(at as u32);
            }
        }
    }

    /// All matches are of one segment.
    fn ids_of_one(&self, part: usize, batch: &Batch, answers: &mut Answers) {
        let before = answers.ids.len();
        answers.ids.extend(&self.parts[part].segment.ids, &batch.subs);
        answers.offsets.extend(batch.ends.iter().map(|end| (before + end) as i64));
    }

    /// Whatever the sources found, source by source.
    fn ids_of_many(&self, batches: &[Batch], rows: usize, answers: &mut Answers) {
        for row in 0..rows {
            for (source, batch) in batches.iter().enumerate() {
                let found = batch.row(row);
                match self.parts.get(source) {
                    Some(part) => answers.ids.extend(&part.segment.ids, found),
                    None => found.iter().for_each(|at| answers.ids.push(self, Place::Recent(*at as usize))),
                }
            }
            answers.offsets.push(answers.ids.len() as i64);
        }
    }

    /// What one row of the batches matches, source by source.
    fn found<'b>(&self, batches: &'b [Batch], row: usize) -> impl Iterator<Item = Place> + use<'b> {
        let parts = self.parts.len();
        batches.iter().enumerate().flat_map(move |(source, batch)| {
            let place = move |at: &u32| match source < parts {
                true => Place::Part(source, *at),
                false => Place::Recent(*at as usize),
            };
            batch.row(row).iter().map(place)
        })
    }

    /// Leaves in `places` what one row of the batches matches, in order of insertion.
    fn places_of_row(&self, batches: &[Batch], row: usize, places: &mut Vec<(u64, Place)>) {
        places.clear();
        places.extend(self.found(batches, row).map(|place| (self.sequence(place), place)));
        places.sort_unstable_by_key(|(sequence, _)| *sequence);
    }
}

impl Part {
    fn add_always(&self, locals: &mut Vec<u32>) {
        locals.extend(self.segment.always.iter().filter(|local| !self.dead.contains(**local)));
    }

    /// Takes out who is gone and puts in who always matches.
    fn finish_batch(&self, batch: &mut Batch) {
        let always = self.segment.always.as_slice();
        if self.dead.count() > 0 {
            let (mut start, mut kept) = (0, 0);
            for end in &mut batch.ends {
                for at in start..*end {
                    if !self.dead.contains(batch.subs[at]) {
                        batch.subs[kept] = batch.subs[at];
                        kept += 1;
                    }
                }
                start = *end;
                *end = kept;
            }
            batch.subs.truncate(kept);
        }
        if !always.is_empty() {
            let mut subs = Vec::with_capacity(batch.subs.len() + always.len() * batch.ends.len());
            let mut start = 0;
            for end in &mut batch.ends {
                subs.extend_from_slice(&batch.subs[start..*end]);
                self.add_always(&mut subs);
                start = *end;
                *end = subs.len();
            }
            batch.subs = subs;
        }
    }
}
