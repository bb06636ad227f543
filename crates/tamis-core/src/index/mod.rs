//! The index: ids and texts in front of an engine, safe to use from many threads.
//!
//! A facade with two backings behind it:
//!
//! | folder | question it answers |
//! | --- | --- |
//! | `locked` | how are subscriptions kept in an engine that changes in place, behind one lock? |
//! | `segmented` | how are they kept in immutable segments, so that readers never wait? |
//!
//! and what both share:
//!
//! | file | question it answers |
//! | --- | --- |
//! | `backing` | what does the facade ask of a backing? |
//! | `id` | what is an id, and how do many leave at once? |
//! | `source`, `parsing` | how does text become an expression, and how do many at once? |
//! | `view` | how is an event read and matched against one state of the index? |
//! | `matches` | what does matching return, and how do threads share the rows? |
//! | `holding` | what are texts held against, to score them or to tell what is missing? |
//! | `scoring` | how much does a match count? |
//! | `ranking` | which matches are the best k? |
//! | `plan` | how is an expression found? |
//! | `near` | which expressions fail by one predicate only? |
//! | `file` | how does an index become bytes and back? |

mod backing;
mod file;
mod holding;
mod id;
mod locked;
mod matches;
mod near;
mod parsing;
mod plan;
mod ranking;
mod scoring;
mod segmented;
mod source;
mod view;

pub use id::{Id, IdColumn};
pub use matches::{Matches, Stale};
pub use near::NearMiss;
pub use plan::{Plan, Standing};
pub use ranking::RankedMatches;
pub use scoring::{EventWeights, Weighting};
pub use source::Source;
pub use view::View;

use crate::engine::registry::{self, EngineInfo, Kept, Options};
use crate::error::{Error, Result};
use crate::event::Rows;
use crate::expr::{Expr, Limits, Missing, parse};
use crate::schema::Schema;
use backing::Backing;
use locked::Locked;
use segmented::Segmented;
use std::sync::Arc;

/// What an index is made with.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// An engine's name, or `auto`.
    pub engine: String,
    /// The engine's options.
    pub options: Options,
    /// What a predicate on a missing attribute is.
    pub missing: Missing,
    /// What expressions are accepted.
    pub limits: Limits,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            engine: "auto".into(),
            options: Options::new(),
            missing: Missing::default(),
            limits: Limits::default(),
        }
    }
}

/// A collection of Boolean expressions that finds those an event satisfies.
pub struct Index {
    settings: Settings,
    engine_info: &'static EngineInfo,
    backing: Box<dyn Backing>,
}

/// Bytes in use, by part. What is mapped from a file counts where it belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUsage {
    /// Ids and the table that finds them.
    pub ids: usize,
    /// Expression texts.
    pub texts: usize,
    /// Attribute names.
    pub attributes: usize,
    /// The engine's structure.
    pub engine: usize,
}

impl Index {
    /// An empty index.
    pub fn new(settings: Settings) -> Result<Index> {
        settings.limits.check()?;
        let engine_info = registry::find(&settings.engine)?;
        engine_info.check(&settings.options)?;
        let backing: Box<dyn Backing> = match engine_info.kept {
            Kept::Locked(make) => {
                Box::new(Locked::new(make(&settings.options, &settings.limits)?, &settings))
            }
            Kept::Segmented => Box::new(Segmented::new(&settings)?),
        };
        Ok(Index { settings, engine_info, backing })
    }

    /// What the index was made with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The name of the engine in use; never `auto`.
    pub fn engine_name(&self) -> &'static str {
        self.engine_info.name
    }

    /// The attributes expressions refer to, as of now.
    pub fn schema(&self) -> Arc<Schema> {
        self.pin().schema().clone()
    }

    /// As [`Index::schema`], if that needs no waiting for an update to end.
    pub fn try_schema(&self) -> Option<Arc<Schema>> {
        self.try_pin().map(|view| view.schema().clone())
    }

    /// Number of subscriptions.
    pub fn len(&self) -> usize {
        self.backing.len()
    }

    /// Whether there is no subscription.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether an id is present.
    pub fn contains(&self, id: &Id) -> bool {
        self.backing.contains(id)
    }

    /// The text of a subscription.
    pub fn text(&self, id: &Id) -> Result<String> {
        self.backing.text(id)
    }

    /// The expression of a subscription.
    pub fn expression(&self, id: &Id) -> Result<Expr> {
        let text = self.text(id)?;
        Ok(parse(&text, &self.settings.limits)?)
    }

    /// All ids, in order of insertion.
    pub fn ids(&self) -> Vec<Id> {
        self.backing.ids()
    }

    /// Adds a subscription. Returns whether some event could match it: `false` for a contradiction.
    pub fn add(&self, id: Id, source: Source) -> Result<bool> {
        self.backing.add(id, source.parsed(&self.settings.limits)?)
    }

    /// Adds many subscriptions, or none if one fails; the error names the row. Returns the rows that can never
    /// match.
    pub fn add_many(&self, batch: impl IntoIterator<Item = (Id, Source)>) -> Result<Vec<usize>> {
        self.backing.add_many(&mut batch.into_iter())
    }

    /// Gives an id another expression; its place in the order of insertion stays. Returns as [`Index::add`] does.
    pub fn replace(&self, id: &Id, source: Source) -> Result<bool> {
        self.backing.replace(id, source.parsed(&self.settings.limits)?)
    }

    /// Removes a subscription.
    pub fn remove(&self, id: &Id) -> Result<()> {
        self.backing.remove(id)
    }

    /// What past events teach: the engine counts all rows and reconsiders its choices, or counts none if they are
    /// stale. Answers stay as they are.
    pub fn observe_rows(&self, schema: &Schema, rows: &Rows) -> Result<(), Stale> {
        self.backing.observe_rows(schema, rows)
    }

    /// Brings everything into the form that matches fastest, and waits for it; matching and updates go on meanwhile.
    /// For engines that change in place there is nothing to do.
    pub fn compact(&self) -> Result<()> {
        self.backing.compact()
    }

    /// Bytes in use, near enough.
    pub fn memory(&self) -> MemoryUsage {
        self.backing.memory()
    }

    /// The engine's figures.
    pub fn engine_stats(&self) -> Vec<(&'static str, u64)> {
        self.backing.stats()
    }

    /// The engine's structure as a graph in DOT, which Graphviz draws. An error if the engine has none.
    pub fn dot(&self) -> Result<String> {
        let name = self.engine_name();
        self.backing
            .dot(name)
            .ok_or_else(|| Error::Option(format!("engine {name} has no graph to draw; a_tree has one")))
    }

    /// How a subscription is found. An error if the engine does not lay out plans.
    pub fn plan_of(&self, id: &Id) -> Result<Plan> {
        self.backing.plan_of(id).unwrap_or_else(|| Err(self.without_plans()))
    }

    /// How an expression would be found. An error if the engine does not lay out plans.
    pub fn plan_for(&self, source: Source) -> Result<Plan> {
        let (_, expr) = source.parsed(&self.settings.limits)?;
        self.backing.plan_for(&expr).ok_or_else(|| self.without_plans())
    }

    fn without_plans(&self) -> Error {
        Error::Option(format!("engine {} has no plan to explain; compiled has one", self.engine_name()))
    }

    /// Checks every invariant; for tests.
    pub fn validate(&self) -> Result<()> {
        Error::catch(|| self.backing.validate())?.map_err(Error::Internal)
    }
}
