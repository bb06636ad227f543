//! The interface between the facade and the stores of subscriptions.

use super::parsing::Parsed;
use super::ranking::{RankedMatches, RankingRequest};
use super::{Change, Id, IdColumn, MatchPlan, Matches, MemoryUsage, NearMiss, Settings, Source, Stale};
use crate::error::Result;
use crate::event::Rows;
use crate::expr::Expr;
use crate::schema::Schema;
use crate::storage::Target;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

/// Stores subscriptions and matches events; safe to use from many threads. Methods are documented where
/// [`Index`](super::Index) and [`PinnedIndex`](super::PinnedIndex) have them under the same name.
pub(super) trait Backend: Send + Sync {
    fn pin(&self) -> Box<dyn PinnedBackend + '_>;
    /// `None` if an update holds the lock or a fork is under way.
    fn try_pin(&self) -> Option<Box<dyn PinnedBackend + '_>>;

    fn len(&self) -> usize;
    fn contains(&self, id: &Id) -> bool;
    fn text(&self, id: &Id) -> Result<String>;
    fn ids(&self) -> Vec<Id>;

    fn add(&self, id: Id, parsed: Parsed) -> Result<bool>;
    fn add_many(&self, batch: &mut dyn Iterator<Item = (Id, Source)>) -> Result<Vec<usize>>;
    fn replace(&self, id: &Id, parsed: Parsed) -> Result<bool>;
    fn remove(&self, id: &Id) -> Result<()>;
    fn apply(&self, changes: &mut dyn Iterator<Item = Change>) -> Result<Vec<usize>>;
    fn observe_rows(&self, schema: &Schema, rows: &Rows) -> Result<(), Stale>;
    fn compact(&self) -> Result<()>;
    /// Backends without a thread have nothing to stop.
    fn stop(&self) {}

    /// Writes a file that [`Index::load`](super::Index::load) reads.
    fn write(&self, settings: &Settings, target: &mut dyn Target) -> std::io::Result<()>;

    fn memory(&self) -> MemoryUsage;
    fn stats(&self) -> Vec<(&'static str, u64)>;
    fn validate(&self) -> Result<(), String>;
    /// `None` if the engine has no plans.
    fn plan_of(&self, _id: &Id) -> Option<Result<MatchPlan>> {
        None
    }
    fn plan_for(&self, _expr: &Expr) -> Option<MatchPlan> {
        None
    }
    /// `None` if the engine has no graph.
    fn dot(&self, title: &str) -> Option<String>;
}

/// One state of the subscriptions.
pub(super) trait PinnedBackend: Send + Sync {
    fn schema(&self) -> &Arc<Schema>;
    fn match_row(&self, rows: &Rows, row: usize) -> Result<IdColumn, Stale>;
    fn match_rows(&self, rows: &Rows, threads: Option<NonZeroUsize>, ordered: bool)
    -> Result<Matches, Stale>;
    fn top_k(
        &self,
        rows: &Rows,
        range: Range<usize>,
        request: &RankingRequest<'_>,
    ) -> Result<Result<RankedMatches>, Stale>;
    fn near_misses(&self, rows: &Rows, row: usize, limit: usize) -> Result<Result<Vec<NearMiss>>, Stale>;
}
