//! Matching one event or many, on one thread or many.

use super::{Id, IdColumn, Index, MatchScratch, State};
use crate::engine::SubId;
use crate::error::Result;
use crate::event::{JsonReader, Rows};
use crate::schema::Schema;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The schema grew since the events were read: an attribute they left out may matter now. Read them again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stale;

/// The matches of many events.
#[derive(Clone, Debug)]
pub struct Matches {
    /// Event `i` matched `ids[offsets[i]..offsets[i + 1]]`; begins with 0.
    pub offsets: Vec<i64>,
    /// The ids, event by event.
    pub ids: IdColumn,
}

impl Default for Matches {
    fn default() -> Matches {
        Matches { offsets: vec![0], ids: IdColumn::default() }
    }
}

impl Matches {
    /// Appends the matches of further events.
    pub fn append(&mut self, other: Matches) {
        let base = self.ids.len() as i64;
        self.offsets.extend(other.offsets.iter().skip(1).map(|offset| base + offset));
        self.ids.append(other.ids);
    }
}

/// Events a worker takes at a time: enough to make the hand-over cheap, few enough to share evenly.
const CHUNK: usize = 64;

/// What a stretch of rows matched.
#[derive(Default)]
struct Found {
    /// Where each row's matches end in `subs`.
    ends: Vec<usize>,
    subs: Vec<SubId>,
}

impl Index {
    /// The ids a row of events matches, in order of insertion.
    pub fn match_row(&self, schema: &Schema, rows: &Rows, row: usize) -> Result<Vec<Id>, Stale> {
        let state = self.state.read();
        state.check(schema)?;
        let subs = self.match_subs(&state, rows, row);
        Ok(subs.iter().filter_map(|sub| state.subscriptions.get(*sub)).map(|s| s.id.clone()).collect())
    }

    /// The subscriptions a row matches, in order of insertion.
    pub(super) fn match_subs(&self, state: &State, rows: &Rows, row: usize) -> Vec<SubId> {
        let mut scratch = self.take_scratch(state);
        let mut subs = Vec::new();
        state.match_into(rows, row, &mut scratch, &mut subs);
        self.give_back(scratch);
        state.subscriptions.sort(&mut subs);
        subs
    }

    /// The matches of all rows; `threads` is the number of workers, by default one per core. Each event's ids are
    /// in order of insertion if `ordered`, in any order otherwise.
    pub fn match_rows(
        &self,
        schema: &Schema,
        rows: &Rows,
        threads: Option<NonZeroUsize>,
        ordered: bool,
    ) -> Result<Matches, Stale> {
        let state = self.state.read();
        state.check(schema)?;
        let chunks = rows.len().div_ceil(CHUNK);
        let workers =
            threads.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
        let found = match workers.min(chunks) {
            0 | 1 => vec![self.match_range(&state, rows, 0..rows.len(), ordered)],
            workers => self.match_in_parallel(&state, rows, chunks, workers, ordered),
        };
        Ok(state.gather(found, rows.len()))
    }

    fn match_range(&self, state: &State, rows: &Rows, range: std::ops::Range<usize>, ordered: bool) -> Found {
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

    /// Workers take chunks in turn; the results come back in the order of the rows.
    fn match_in_parallel(
        &self,
        state: &State,
        rows: &Rows,
        chunks: usize,
        workers: usize,
        ordered: bool,
    ) -> Vec<Found> {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            loop {
                let chunk = next.fetch_add(1, Ordering::Relaxed);
                if chunk >= chunks {
                    return done;
                }
                let range = chunk * CHUNK..rows.len().min((chunk + 1) * CHUNK);
                done.push((chunk, self.match_range(state, rows, range, ordered)));
            }
        };
        let mut done = std::thread::scope(|scope| {
            let others: Vec<_> = (1..workers).map(|_| scope.spawn(work)).collect();
            let mut done = work();
            for other in others {
                match other.join() {
                    Ok(more) => done.extend(more),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            done
        });
        done.sort_unstable_by_key(|(chunk, _)| *chunk);
        done.into_iter().map(|(_, found)| found).collect()
    }

    /// Matches one JSON object; ids in order of insertion.
    pub fn match_json(&self, json: &[u8]) -> Result<Vec<Id>> {
        let (mut reader, mut rows) = (JsonReader::default(), Rows::default());
        loop {
            let schema = self.schema();
            rows.clear();
            reader.read(json, &schema, &mut rows)?;
            if let Ok(ids) = self.match_row(&schema, &rows, 0) {
                return Ok(ids);
            }
        }
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
