//! One state of the index, held on to while events are read and matched.

use super::backing::Pinned;
use super::ranking::Wanted;
use super::{EventWeights, Id, IdColumn, Index, Matches, NearMiss, RankedMatches, Stale, Weighting};
use crate::error::{Error, Result};
use crate::event::{JsonReader, Rows};
use crate::schema::Schema;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// What an index holds at one moment. Events are read with its [`schema`](View::schema) and matched against it.
///
/// With the engine `compiled` a view stays what it is, whatever happens to the index, and nothing is ever [`Stale`].
/// Other engines change in place; there a view is stale once the schema grew, and the events are to be read again with
/// a fresh one.
///
/// What a file holds is checked against its checksums when it is opened, not for its meaning. Damage under checksums
/// that fit, which does not happen by itself, shows when events are matched: with wrong answers or a panic, from which
/// nothing is left half done.
/// [`Error::catch`] makes an error of it.
pub struct View<'i>(pub(super) Box<dyn Pinned + 'i>);

impl View<'_> {
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
    pub fn top_k(
        &self,
        rows: &Rows,
        row: usize,
        k: usize,
        weights: &EventWeights,
    ) -> Result<Result<Vec<(Id, f64)>>, Stale> {
        let wanted = Wanted { k, weights: Weighting::Same(weights), threads: Some(NonZeroUsize::MIN) };
        let ranked = self.0.top_k(rows, row..row + 1, &wanted)?;
        Ok(ranked.map(|ranked| ranked.matches.ids.iter().zip(ranked.scores).collect()))
    }

    /// As [`View::top_k`], for all rows; `threads` is the number of workers, by default one per core.
    pub fn top_k_rows(
        &self,
        rows: &Rows,
        k: usize,
        weights: Weighting<'_>,
        threads: Option<NonZeroUsize>,
    ) -> Result<Result<RankedMatches>, Stale> {
        match weights.check(rows.len()) {
            Ok(()) => self.0.top_k(rows, 0..rows.len(), &Wanted { k, weights, threads }),
            Err(error) => Ok(Err(error)),
        }
    }

    /// The first `limit` subscriptions, in order of insertion, that a row does not match but would if one predicate
    /// were TRUE, with all such predicates.
    ///
    /// A predicate is one of the normalized form: NOT is inside it, and neighbours on one attribute are merged.
    /// Contradictions are left out. Every expression is evaluated, on all cores, until there are enough; updates
    /// go on meanwhile.
    pub fn near_misses(&self, rows: &Rows, row: usize, limit: usize) -> Result<Result<Vec<NearMiss>>, Stale> {
        self.0.near_misses(rows, row, limit)
    }

    /// Whether rows read with this schema can be matched here.
    fn check(&self, schema: &Schema) -> Result<(), Stale> {
        // Schemas only grow, so the length tells them apart.
        if schema.len() == self.schema().len() { Ok(()) } else { Err(Stale) }
    }
}

impl Index {
    /// What the index holds now.
    pub fn pin(&self) -> View<'_> {
        View(self.backing.pin())
    }

    /// As [`Index::pin`], if that needs no waiting for an update to end.
    pub fn try_pin(&self) -> Option<View<'_>> {
        self.backing.try_pin().map(View)
    }

    /// As [`View::match_row`], for rows read with a schema taken before.
    pub fn match_row(&self, schema: &Schema, rows: &Rows, row: usize) -> Result<IdColumn, Stale> {
        let view = self.pin();
        view.check(schema)?;
        view.match_row(rows, row)
    }

    /// As [`View::match_rows`], for rows read with a schema taken before.
    pub fn match_rows(
        &self,
        schema: &Schema,
        rows: &Rows,
        threads: Option<NonZeroUsize>,
        ordered: bool,
    ) -> Result<Matches, Stale> {
        let view = self.pin();
        view.check(schema)?;
        view.match_rows(rows, threads, ordered)
    }

    /// As [`View::top_k`], for rows read with a schema taken before.
    pub fn top_k(
        &self,
        schema: &Schema,
        rows: &Rows,
        row: usize,
        k: usize,
        weights: &EventWeights,
    ) -> Result<Result<Vec<(Id, f64)>>, Stale> {
        let view = self.pin();
        view.check(schema)?;
        view.top_k(rows, row, k, weights)
    }

    /// As [`View::top_k_rows`], for rows read with a schema taken before.
    pub fn top_k_rows(
        &self,
        schema: &Schema,
        rows: &Rows,
        k: usize,
        weights: Weighting<'_>,
        threads: Option<NonZeroUsize>,
    ) -> Result<Result<RankedMatches>, Stale> {
        let view = self.pin();
        view.check(schema)?;
        view.top_k_rows(rows, k, weights, threads)
    }

    /// Matches one JSON object; ids in order of insertion.
    pub fn match_json(&self, json: &[u8]) -> Result<IdColumn> {
        let (mut reader, mut rows) = (JsonReader::default(), Rows::default());
        loop {
            let view = self.pin();
            rows.clear();
            reader.read(json, view.schema(), &mut rows)?;
            if let Ok(ids) = Error::catch(|| view.match_row(&rows, 0))? {
                return Ok(ids);
            }
        }
    }
}
