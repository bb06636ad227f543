//! Matching one event or many against one snapshot.
//!
//! What matches comes from several sources: each segment and the recent ones. Most of the time only one of them has
//! something to say, and its local numbers become ids without another copy.

use super::Shared;
use super::ascending::Ascending;
use super::columns::Column;
use super::snapshot::{Part, Place, Snapshot};
use crate::engine::compiled::{Batch, Compiled, CompiledScratch};
use crate::error::Result;
use crate::event::{Event, EventSlots, Rows};
use crate::expr::Context;
use crate::index::backing::Pinned;
use crate::index::matches::in_chunks;
use crate::index::near::Missed;
use crate::index::scoring::best;
use crate::index::{EventWeights, Id, Matches, NearMiss, Stale};
use crate::schema::Schema;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

/// Events that are matched at a time: enough for bit-parallel structures, few enough to share evenly.
const CHUNK: usize = 256;

/// What one thread needs to match.
pub(super) struct MatchScratch {
    slots: EventSlots,
    compiled: CompiledScratch,
    memo: Vec<Option<bool>>,
    locals: Vec<u32>,
    /// One per segment and one for the recent ones.
    batches: Vec<Batch>,
    /// What a row matched, with its place in the order of insertion.
    places: Vec<(u64, Place)>,
    ascending: Ascending,
}

impl MatchScratch {
    fn new() -> MatchScratch {
        MatchScratch {
            slots: EventSlots::default(),
            compiled: Compiled::scratch(),
            memo: Vec::new(),
            locals: Vec::new(),
            batches: Vec::new(),
            places: Vec::new(),
            ascending: Ascending::default(),
        }
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

    fn match_row(&self, rows: &Rows, row: usize) -> Result<Vec<Id>, Stale> {
        Ok(self.with_scratch(|scratch| {
            self.snapshot.match_row(rows, row, scratch);
            scratch.places.iter().map(|(_, place)| self.snapshot.id(*place)).collect()
        }))
    }

    fn match_rows(
        &self,
        rows: &Rows,
        threads: Option<NonZeroUsize>,
        ordered: bool,
    ) -> Result<Matches, Stale> {
        let chunks = in_chunks(rows.len(), CHUNK, threads, |range| {
            self.with_scratch(|scratch| self.snapshot.match_range(rows, range, ordered, scratch))
        });
        let mut chunks = chunks.into_iter();
        let none = || Matches { offsets: vec![0], ids: Column::new(&self.snapshot).finish() };
        let mut matches = chunks.next().unwrap_or_else(none);
        chunks.for_each(|chunk| matches.append(chunk));
        Ok(matches)
    }

    fn top_k(
        &self,
        rows: &Rows,
        row: usize,
        k: usize,
        weights: &EventWeights,
    ) -> Result<Result<Vec<(Id, f64)>>, Stale> {
        let Snapshot { schema, .. } = &*self.snapshot;
        let mut slots = EventSlots::default();
        let event = slots.load(rows, row, schema.len());
        let context = Context { schema, event: &event, missing: self.shared.missing };
        Ok(self.with_scratch(|scratch| {
            self.snapshot.match_row(rows, row, scratch);
            let places = scratch.places.iter().map(|(_, place)| *place);
            let matches = places.filter_map(|at| Some((self.snapshot.id(at), self.snapshot.text(at)?)));
            best(matches, k, weights, context, &self.shared.limits)
        }))
    }

    fn near_misses(&self, rows: &Rows, row: usize, limit: usize) -> Result<Result<Vec<NearMiss>>, Stale> {
        let (snapshot, Shared { missing, limits, .. }) = (&*self.snapshot, self.shared);
        let places = snapshot.in_order();
        let missed = Missed { schema: &snapshot.schema, missing: *missing, limits, rows, row };
        let text = |at: usize| snapshot.text(places[at]);
        Ok(missed.find(places.len(), limit, text, |at| snapshot.id(places[at])))
    }
}

impl SnapshotView<'_> {
    fn with_scratch<T>(&self, work: impl FnOnce(&mut MatchScratch) -> T) -> T {
        let idle = self.shared.idle.lock().pop();
        let mut scratch = idle.unwrap_or_else(MatchScratch::new);
        let result = work(&mut scratch);
        self.shared.idle.lock().push(scratch);
        result
    }
}

impl Snapshot {
    /// Leaves in `places` what the row matches, in order of insertion.
    fn match_row(&self, rows: &Rows, row: usize, scratch: &mut MatchScratch) {
        let MatchScratch { slots, compiled, memo, locals, places, ascending, .. } = scratch;
        let event = slots.load(rows, row, self.schema.len());
        places.clear();
        for (at, part) in self.parts.iter().enumerate() {
            locals.clear();
            part.segment.compiled.match_event(&event, compiled, locals);
            part.without_dead(locals);
            part.add_always(locals);
            ascending.sort(locals, part.segment.len());
            places
                .extend(locals.iter().map(|local| (part.segment.sequence(*local), Place::Part(at, *local))));
        }
        for (at, entry) in self.recent.iter().enumerate() {
            if entry.normal.holds(&event, memo) {
                places.push((entry.sequence, Place::Recent(at)));
            }
        }
        if !places.is_sorted_by_key(|(sequence, _)| *sequence) {
            places.sort_unstable_by_key(|(sequence, _)| *sequence);
        }
    }

    fn match_range(
        &self,
        rows: &Rows,
        range: Range<usize>,
        ordered: bool,
        scratch: &mut MatchScratch,
    ) -> Matches {
        let MatchScratch { slots, compiled, memo, batches, places, ascending, .. } = scratch;
        batches.resize_with(self.parts.len() + 1, Batch::default);
        for (part, batch) in self.parts.iter().zip(&mut *batches) {
            part.segment.compiled.match_rows(rows, range.clone(), self.schema.len(), compiled, batch);
            part.finish_batch(batch);
        }
        let recent = &mut batches[self.parts.len()];
        recent.ends.clear();
        recent.subs.clear();
        for row in range.clone() {
            if !self.recent.is_empty() {
                self.match_recent(&slots.load(rows, row, self.schema.len()), memo, &mut recent.subs);
            }
            recent.ends.push(recent.subs.len());
        }
        let mut speaking = (0..batches.len()).filter(|source| !batches[*source].subs.is_empty());
        match (speaking.next(), speaking.next()) {
            (Some(only), None) if only < self.parts.len() => {
                self.ids_of_one(only, &mut batches[only], ordered.then_some(ascending))
            }
            _ => self.ids_of_many(batches, range.len(), ordered, places),
        }
    }

    fn match_recent(&self, event: &Event<'_>, memo: &mut Vec<Option<bool>>, found: &mut Vec<u32>) {
        for (at, entry) in self.recent.iter().enumerate() {
            if entry.normal.holds(event, memo) {
                found.push(at as u32);
            }
        }
    }

    /// All matches are of one segment, whose local numbers are in order of insertion.
    fn ids_of_one(&self, part: usize, batch: &mut Batch, mut ordered: Option<&mut Ascending>) -> Matches {
        let mut offsets = Vec::with_capacity(batch.ends.len() + 1);
        offsets.push(0);
        let mut start = 0;
        for &end in &batch.ends {
            if let Some(ascending) = &mut ordered {
                ascending.sort(&mut batch.subs[start..end], self.parts[part].segment.len());
            }
            offsets.push(end as i64);
            start = end;
        }
        let mut ids = Column::new(self);
        ids.extend(&self.parts[part].segment.ids, &batch.subs);
        Matches { offsets, ids: ids.finish() }
    }

    fn ids_of_many(
        &self,
        batches: &[Batch],
        rows: usize,
        ordered: bool,
        places: &mut Vec<(u64, Place)>,
    ) -> Matches {
        let mut ids = Column::new(self);
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        let mut count = 0;
        for row in 0..rows {
            places.clear();
            for (source, batch) in batches.iter().enumerate() {
                let start = if row == 0 { 0 } else { batch.ends[row - 1] };
                let found = &batch.subs[start..batch.ends[row]];
                count += found.len();
                match self.parts.get(source) {
                    Some(part) if !ordered => ids.extend(&part.segment.ids, found),
                    Some(part) => places.extend(
                        found.iter().map(|at| (part.segment.sequence(*at), Place::Part(source, *at))),
                    ),
                    None => places.extend(
                        found
                            .iter()
                            .map(|at| (self.recent[*at as usize].sequence, Place::Recent(*at as usize))),
                    ),
                }
            }
            if ordered {
                places.sort_unstable_by_key(|(sequence, _)| *sequence);
            }
            places.iter().for_each(|(_, place)| ids.push(self, *place));
            offsets.push(count as i64);
        }
        Matches { offsets, ids: ids.finish() }
    }
}

impl Part {
    fn without_dead(&self, locals: &mut Vec<u32>) {
        if self.dead.count() > 0 {
            locals.retain(|local| !self.dead.contains(*local));
        }
    }

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
