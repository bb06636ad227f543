//! One state of the index, pinned while events are read and matched.

use crate::error::Result;
use crate::event::Rows;
use crate::index::backend::PinnedBackend;
use crate::index::ranking::RankingRequest;
use crate::index::{
    EventWeights, Id, IdColumn, Index, Matches, NearMiss, RankedMatches, Stale, TopK, Weighting,
};
use crate::schema::Schema;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// One state of an index. Events are read with its [`schema`](PinnedIndex::schema) and matched against it.
///
/// With the engine `compiled` this is a snapshot: later updates do not change it, and nothing is ever [`Stale`]. Other
/// engines change in place; there only the schema is pinned, and events read with it are stale once an update has added
/// an attribute. [`Index::with_events`] reads them again.
///
/// Opening a file compares checksums; it does not check what the content means. Damage under fitting checksums shows
/// when events are matched, as wrong ids or a panic, which leaves the index as it was.
/// [`Error::catch`](crate::Error::catch) turns the panic into an error.
pub struct PinnedIndex<'i>(pub(super) Box<dyn PinnedBackend + 'i>);

impl PinnedIndex<'_> {
    /// The attributes expressions refer to.
    pub fn schema(&self) -> &Arc<Schema> {
        self.0.schema()
    }

    /// The ids a row of events matches, in order of insertion.
    pub fn match_row(&self, rows: &Rows, row: usize) -> Result<IdColumn, Stale> {
        self.0.match_row(rows, row)
    }

    /// The matches of all rows; `threads` is the number of workers, by default one per core. Each event's ids are
    /// in order of insertion if `ordered`, in any order otherwise.
    pub fn match_rows(
        &self,
        rows: &Rows,
        threads: Option<NonZeroUsize>,
        ordered: bool,
    ) -> Result<Matches, Stale> {
        self.0.match_rows(rows, threads, ordered)
    }

    /// The `k` best matches of a row by score, best first; ties in order of insertion.
    pub fn top_k<'k>(
        &self,
        rows: &Rows,
        row: usize,
        k: impl Into<TopK<'k>>,
        weights: &EventWeights,
    ) -> Result<Result<Vec<(Id, f64)>>, Stale> {
        let request = RankingRequest {
            top_k: k.into(),
            weights: Weighting::Same(weights),
            threads: Some(NonZeroUsize::MIN),
        };
        let ranked = self.0.top_k(rows, row..row + 1, &request)?;
        Ok(ranked.map(|ranked| ranked.matches.ids.iter().zip(ranked.scores).collect()))
    }

    /// As [`PinnedIndex::top_k`], for all rows; `threads` is the number of workers, by default one per core.
    pub fn top_k_rows<'k>(
        &self,
        rows: &Rows,
        k: impl Into<TopK<'k>>,
        weights: Weighting<'_>,
        threads: Option<NonZeroUsize>,
    ) -> Result<Result<RankedMatches>, Stale> {
        match weights.check(rows.len()) {
            Ok(()) => {
                self.0.top_k(rows, 0..rows.len(), &RankingRequest { top_k: k.into(), weights, threads })
            }
            Err(error) => Ok(Err(error)),
        }
    }

    /// The first `limit` subscriptions, in order of insertion, that a row does not match but would if one predicate
    /// were TRUE, with all such predicates.
    ///
    /// A predicate is one of the normalized form: NOT is part of it, and predicates on one attribute that AND or OR
    /// joins are merged. Contradictions are left out. Every expression is evaluated, on all cores, until `limit` are
    /// found; updates are not blocked meanwhile.
    pub fn near_misses(&self, rows: &Rows, row: usize, limit: usize) -> Result<Result<Vec<NearMiss>>, Stale> {
        self.0.near_misses(rows, row, limit)
    }

    /// Whether rows read with this schema can be matched against this state.
    fn check(&self, schema: &Schema) -> Result<(), Stale> {
        if schema.is_same(self.schema()) { Ok(()) } else { Err(Stale) }
    }
}

impl Index {
    /// Pins the current state.
    pub fn pin(&self) -> PinnedIndex<'_> {
        PinnedIndex(self.backend.pin())
    }

    /// As [`Index::pin`], unless an update holds the lock or the process is being forked; `None` then.
    pub fn try_pin(&self) -> Option<PinnedIndex<'_>> {
        self.backend.try_pin().map(PinnedIndex)
    }

    /// As [`PinnedIndex::match_row`], for rows read with a schema taken before.
    pub fn match_row(&self, schema: &Schema, rows: &Rows, row: usize) -> Result<IdColumn, Stale> {
        let pinned = self.pin();
        pinned.check(schema)?;
        pinned.match_row(rows, row)
    }

    /// As [`PinnedIndex::match_rows`], for rows read with a schema taken before.
    pub fn match_rows(
        &self,
        schema: &Schema,
        rows: &Rows,
        threads: Option<NonZeroUsize>,
        ordered: bool,
    ) -> Result<Matches, Stale> {
        let pinned = self.pin();
        pinned.check(schema)?;
        pinned.match_rows(rows, threads, ordered)
    }

    /// As [`PinnedIndex::top_k`], for rows read with a schema taken before.
    pub fn top_k<'k>(
        &self,
        schema: &Schema,
        rows: &Rows,
        row: usize,
        k: impl Into<TopK<'k>>,
        weights: &EventWeights,
    ) -> Result<Result<Vec<(Id, f64)>>, Stale> {
        let pinned = self.pin();
        pinned.check(schema)?;
        pinned.top_k(rows, row, k, weights)
    }

    /// As [`PinnedIndex::top_k_rows`], for rows read with a schema taken before.
    pub fn top_k_rows<'k>(
        &self,
        schema: &Schema,
        rows: &Rows,
        k: impl Into<TopK<'k>>,
        weights: Weighting<'_>,
        threads: Option<NonZeroUsize>,
    ) -> Result<Result<RankedMatches>, Stale> {
        let pinned = self.pin();
        pinned.check(schema)?;
        pinned.top_k_rows(rows, k, weights, threads)
    }
}
