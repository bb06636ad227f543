//! Searching the segments and the recent subscriptions, and converting what they found to ids.

use super::{MatchesBuilder, SnapshotScratch};
use crate::compiled::Batch;
use crate::event::{Event, Rows};
use crate::index::segmented::snapshot::{LiveSegment, Location, Snapshot};
use std::ops::Range;

impl Snapshot {
    /// Appends the matches of some rows.
    pub(super) fn match_range(
        &self,
        rows: &Rows,
        range: Range<usize>,
        ordered: bool,
        scratch: &mut SnapshotScratch,
        matches: &mut MatchesBuilder,
    ) {
        self.search(rows, range.clone(), scratch);
        let SnapshotScratch { batches, row_matches, insertion_order, .. } = scratch;
        let mut with_matches = (0..batches.len()).filter(|at| !batches[*at].subs.is_empty());
        match (with_matches.next(), with_matches.next()) {
            (Some(only), None) if only < self.segments.len() => {
                let batch = &mut batches[only];
                if ordered {
                    let members = self.segments[only].segment.len();
                    batch.rows_mut().for_each(|row| insertion_order.restore(row, members));
                }
                self.push_segment_ids(only, batch, matches);
            }
            _ if ordered => {
                for row in 0..range.len() {
                    self.sort_row_matches(batches, row, row_matches);
                    row_matches.iter().for_each(|(_, location)| matches.ids.push(self, *location));
                    matches.offsets.push(matches.ids.len() as i64);
                }
            }
            _ => self.push_ids(batches, range.len(), matches),
        }
    }

    /// Fills the batches of the scratch with the matches of each row, without removed members.
    fn search(&self, rows: &Rows, range: Range<usize>, scratch: &mut SnapshotScratch) {
        let SnapshotScratch { slots, compiled, memo, batches, .. } = scratch;
        batches.resize_with(self.segments.len() + 1, Batch::default);
        for (live, batch) in self.segments.iter().zip(&mut *batches) {
            live.segment.compiled.match_rows(rows, range.clone(), self.schema.len(), compiled, batch);
            live.finish_batch(batch);
        }
        let recent = &mut batches[self.segments.len()];
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
        for (at, recent) in self.recent.iter().enumerate() {
            if recent.normal.holds(event, memo) {
                found.push(at as u32);
            }
        }
    }

    /// Appends the matches of all rows, which are all of one segment.
    fn push_segment_ids(&self, at: usize, batch: &Batch, matches: &mut MatchesBuilder) {
        let before = matches.ids.len();
        matches.ids.extend(&self.segments[at].segment.ids, &batch.subs);
        matches.offsets.extend(batch.ends.iter().map(|end| (before + end) as i64));
    }

    /// Appends the matches of all rows, for each row segment by segment.
    fn push_ids(&self, batches: &[Batch], rows: usize, matches: &mut MatchesBuilder) {
        for row in 0..rows {
            for (at, batch) in batches.iter().enumerate() {
                let found = batch.row(row);
                match self.segments.get(at) {
                    Some(live) => matches.ids.extend(&live.segment.ids, found),
                    None => {
                        found.iter().for_each(|at| matches.ids.push(self, Location::Recent(*at as usize)))
                    }
                }
            }
            matches.offsets.push(matches.ids.len() as i64);
        }
    }

    /// The matches of one row of the batches, segment by segment.
    fn row_matches<'b>(&self, batches: &'b [Batch], row: usize) -> impl Iterator<Item = Location> + use<'b> {
        let segments = self.segments.len();
        batches.iter().enumerate().flat_map(move |(at, batch)| {
            let location = move |number: &u32| match at < segments {
                true => Location::Segment(at, *number),
                false => Location::Recent(*number as usize),
            };
            batch.row(row).iter().map(location)
        })
    }

    /// Fills `sorted` with the matches of one row of the batches, in insertion order.
    fn sort_row_matches(&self, batches: &[Batch], row: usize, sorted: &mut Vec<(u64, Location)>) {
        sorted.clear();
        let matches = self.row_matches(batches, row);
        sorted.extend(matches.map(|location| (self.sequence(location), location)));
        sorted.sort_unstable_by_key(|(sequence, _)| *sequence);
    }
}

impl LiveSegment {
    /// Appends the live members that match every event.
    fn add_always(&self, locals: &mut Vec<u32>) {
        locals.extend(self.segment.always.iter().filter(|local| !self.tombstones.contains(**local)));
    }

    /// Removes the matches with a tombstone from a batch, and adds the members that match every event.
    pub(super) fn finish_batch(&self, batch: &mut Batch) {
        let always = self.segment.always.as_slice();
        if self.tombstones.count() > 0 {
            let (mut start, mut kept) = (0, 0);
            for end in &mut batch.ends {
                for at in start..*end {
                    if !self.tombstones.contains(batch.subs[at]) {
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
