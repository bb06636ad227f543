//! Reading events of any source and using them with one state of the index: pin, read, use, and again if stale.

use crate::error::{Error, Result};
use crate::event::{BadEvent, EventSource, JsonSource, Rows};
use crate::expr::Explanation;
use crate::index::{
    EventWeights, Id, IdColumn, Index, Matches, NearMiss, PinnedIndex, RankedMatches, Stale, TopK, Weighting,
};
use std::num::NonZeroUsize;

impl Index {
    /// Reads a source portion by portion and applies `work` to each, with the number of rows before it. Returns the result
    /// of the first portion with those of all others appended.
    ///
    /// A portion is read with the schema of a pinned state and used with that state. If `work` reports [`Stale`], the
    /// portion is read and used again. A panic in either becomes [`Error::Internal`]. Waiting for an update to end, and
    /// `work`, run [`unlocked`](EventSource::unlocked).
    pub fn with_events<S: EventSource, T: Send>(
        &self,
        source: &mut S,
        work: impl Fn(&PinnedIndex<'_>, &Rows, usize) -> Result<Result<T>, Stale> + Sync,
        append: impl Fn(&mut T, T),
    ) -> Result<T, S::Error> {
        self.with_events_in(Rows::default(), source, work, append)
    }

    /// As [`Index::with_events`], with rows to read into.
    fn with_events_in<S: EventSource, T: Send>(
        &self,
        mut rows: Rows,
        source: &mut S,
        work: impl Fn(&PinnedIndex<'_>, &Rows, usize) -> Result<Result<T>, Stale> + Sync,
        append: impl Fn(&mut T, T),
    ) -> Result<T, S::Error> {
        let mut total = self.with_portion(source, &mut rows, |pinned, rows| work(pinned, rows, 0))?;
        let mut rows_before = rows.len();
        while source.advance()? {
            let more =
                self.with_portion(source, &mut rows, |pinned, rows| work(pinned, rows, rows_before))?;
            append(&mut total, more);
            rows_before += rows.len();
        }
        Ok(total)
    }

    fn with_portion<S: EventSource, T: Send>(
        &self,
        source: &mut S,
        rows: &mut Rows,
        work: impl Fn(&PinnedIndex<'_>, &Rows) -> Result<Result<T>, Stale> + Sync,
    ) -> Result<T, S::Error> {
        loop {
            let pinned = match self.try_pin() {
                Some(pinned) => pinned,
                None => source.unlocked(|| self.pin()),
            };
            rows.clear();
            Error::catch(|| source.read(pinned.schema(), rows))??;
            if let Ok(result) = source.unlocked(|| Error::catch(|| work(&pinned, rows)))? {
                return Ok(result?);
            }
        }
    }

    /// The ids that the one event of a source matches, in order of insertion.
    pub fn match_event<S: EventSource>(&self, source: &mut S) -> Result<IdColumn, S::Error> {
        self.with_events(source, |pinned, rows, _| pinned.match_row(rows, 0).map(Ok), IdColumn::append)
    }

    /// As [`Index::match_event`], for one JSON object.
    pub fn match_json(&self, json: &[u8]) -> Result<IdColumn> {
        self.match_event(&mut JsonSource::one(json))
    }

    /// The matches of every event of a source; see [`PinnedIndex::match_rows`].
    pub fn match_events<S: EventSource>(
        &self,
        source: &mut S,
        threads: Option<NonZeroUsize>,
        ordered: bool,
    ) -> Result<Matches, S::Error> {
        let work =
            |pinned: &PinnedIndex<'_>, rows: &Rows, _| pinned.match_rows(rows, threads, ordered).map(Ok);
        self.with_events(source, work, Matches::append)
    }

    /// As [`Index::match_events`]; an event that cannot be read has no matches and is listed beside them.
    pub fn match_readable_events<S: EventSource>(
        &self,
        source: &mut S,
        threads: Option<NonZeroUsize>,
        ordered: bool,
    ) -> Result<(Matches, Vec<BadEvent>), S::Error> {
        let work = |pinned: &PinnedIndex<'_>, rows: &Rows, _| {
            let mut matches = pinned.match_rows(rows, threads, ordered)?;
            matches.clear_events(rows.bad().iter().map(|(row, _)| *row));
            Ok(Ok((matches, rows.bad().iter().map(|(_, bad)| bad.clone()).collect::<Vec<_>>())))
        };
        self.with_events_in(Rows::tolerant(), source, work, |total, more| {
            total.0.append(more.0);
            total.1.extend(more.1);
        })
    }

    /// The `k` best matches of the one event of a source; see [`PinnedIndex::top_k`].
    pub fn top_k_event<'k, S: EventSource>(
        &self,
        source: &mut S,
        k: impl Into<TopK<'k>>,
        weights: &EventWeights,
    ) -> Result<Vec<(Id, f64)>, S::Error> {
        let top_k = k.into();
        self.with_events(source, |pinned, rows, _| pinned.top_k(rows, 0, top_k, weights), Vec::extend)
    }

    /// The `k` best matches of every event of a source; see [`PinnedIndex::top_k_rows`]. An error if there are not as many
    /// weights as events.
    pub fn top_k_events<'k, S: EventSource>(
        &self,
        source: &mut S,
        k: impl Into<TopK<'k>>,
        weights: Weighting<'_>,
        threads: Option<NonZeroUsize>,
    ) -> Result<RankedMatches, S::Error> {
        let top_k = k.into();
        let work = |pinned: &PinnedIndex<'_>, rows: &Rows, rows_before: usize| match weights
            .portion(rows_before..rows_before + rows.len())
        {
            Ok(weights) => pinned.top_k_rows(rows, top_k, weights, threads),
            Err(error) => Ok(Err(error)),
        };
        let ranked = self.with_events(source, work, RankedMatches::append)?;
        weights.check(ranked.matches.len())?;
        Ok(ranked)
    }

    /// The first `limit` near misses of the one event of a source; see [`PinnedIndex::near_misses`].
    pub fn near_misses<S: EventSource>(
        &self,
        source: &mut S,
        limit: usize,
    ) -> Result<Vec<NearMiss>, S::Error> {
        self.with_events(source, |pinned, rows, _| pinned.near_misses(rows, 0, limit), Vec::extend)
    }

    /// Counts the events of each portion of a source, so that the engine can choose by how often predicates hold. If
    /// reading fails, that portion and those behind it do not count. Matches stay the same.
    pub fn observe<S: EventSource>(&self, source: &mut S) -> Result<(), S::Error> {
        let work =
            |pinned: &PinnedIndex<'_>, rows: &Rows, _| self.observe_rows(pinned.schema(), rows).map(Ok);
        self.with_events(source, work, |(), ()| ())
    }

    /// Every node of a subscription's expression with its truth for the one event of a source.
    pub fn explain<S: EventSource>(&self, id: &Id, source: &mut S) -> Result<Explanation, S::Error> {
        let expr = source.unlocked(|| self.expression(id))?;
        let (schema, mut rows) = (expr.schema(), Rows::default());
        source.read(&schema, &mut rows)?;
        Ok(expr.explain_row(&schema, &rows, 0, self.settings.missing))
    }
}
