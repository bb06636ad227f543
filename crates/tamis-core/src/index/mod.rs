//! The index: ids and texts in front of an engine, safe to use from many threads.
//!
//! A facade over two backends:
//!
//! | folder | question it answers |
//! | --- | --- |
//! | `locked` | how are subscriptions stored in an engine that changes in place, behind one lock? |
//! | `segmented` | how are they stored in immutable segments, so that readers never block? |
//!
//! Both share:
//!
//! | file or folder | question it answers |
//! | --- | --- |
//! | `backend` | what does the facade require of a backend? |
//! | `changes` | what is the net effect of several changes at once? |
//! | `id` | what is an id, and what is a column of ids? |
//! | `parsing` | how does text become an expression, one or many? |
//! | `matching` | how are events read and matched against one state of the index? |
//! | `ranking` | which matches have the k highest scores? |
//! | `explaining` | which expressions fail by one predicate, and how is one found? |
//! | `file` | how does an index become bytes and back? |
//! | `sync` | how do threads and forks of a process share an index? |

mod backend;
mod changes;
mod explaining;
mod file;
mod id;
mod locked;
mod matching;
mod parsing;
mod ranking;
mod segmented;
mod sync;

pub use changes::Change;
pub use explaining::{MatchPlan, NearMiss, PlanStorage};
pub use file::LoadOptions;
pub use id::{Id, IdColumn};
pub use matching::{Matches, PinnedIndex, Stale};
pub use parsing::Source;
pub use ranking::{EventWeights, Groups, RankedMatches, TopK, Weighting};
pub use sync::{after_fork_in_child, after_fork_in_parent, before_fork};

use crate::engine::registry::{Construction, EngineInfo, Options, Registry};
use crate::error::{Error, Result};
use crate::event::Rows;
use crate::expr::{Expr, Limits, Missing, Normalizer, Root, parse};
use crate::schema::Schema;
use backend::Backend;
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
    /// As given: the engine may be `auto`.
    settings: Settings,
    /// The engines there were to choose from.
    registry: &'static Registry,
    /// The engine in use.
    engine_info: &'static EngineInfo,
    /// The subscriptions.
    backend: Box<dyn Backend>,
}

/// Bytes in use, by part; mapped bytes included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUsage {
    /// Ids and their hash table.
    pub ids: usize,
    /// Expression texts.
    pub texts: usize,
    /// Attribute names.
    pub attributes: usize,
    /// The engine's structure.
    pub engine: usize,
}

impl Index {
    /// An empty index with an engine of this crate.
    pub fn new(settings: Settings) -> Result<Index> {
        Index::with_registry(Registry::CORE, settings)
    }

    /// An empty index with an engine of a registry.
    pub fn with_registry(registry: &'static Registry, settings: Settings) -> Result<Index> {
        settings.limits.check()?;
        let engine_info = registry.find(&settings.engine)?;
        let options = engine_info.resolve(&settings.options)?;
        let backend: Box<dyn Backend> = match engine_info.construction {
            Construction::InPlace(make) => Box::new(Locked::new(make(&options, &settings.limits), &settings)),
            Construction::Ranking(make) => {
                Box::new(Locked::ranking(make(&options, &settings.limits), &settings))
            }
            Construction::Segments => Box::new(Segmented::new(&settings, &options)),
        };
        Ok(Index { settings, registry, engine_info, backend })
    }

    /// The engines there were to choose from.
    pub fn registry(&self) -> &'static Registry {
        self.registry
    }

    /// What the index was made with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The name of the engine in use; never `auto`.
    pub fn engine_name(&self) -> &'static str {
        self.engine_info.name
    }

    /// The attributes that expressions refer to.
    pub fn schema(&self) -> Arc<Schema> {
        self.pin().schema().clone()
    }

    /// Number of subscriptions.
    pub fn len(&self) -> usize {
        self.backend.len()
    }

    /// Whether there is no subscription.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether an id is present.
    pub fn contains(&self, id: &Id) -> bool {
        self.backend.contains(id)
    }

    /// The text of a subscription.
    pub fn text(&self, id: &Id) -> Result<String> {
        self.backend.text(id)
    }

    /// The expression of a subscription.
    pub fn expression(&self, id: &Id) -> Result<Expr> {
        let text = self.text(id)?;
        Ok(parse(&text, &self.settings.limits)?)
    }

    /// All ids, in order of insertion.
    pub fn ids(&self) -> Vec<Id> {
        self.backend.ids()
    }

    /// Adds a subscription. Returns whether some event could match it: `false` for a contradiction.
    pub fn add(&self, id: Id, source: Source) -> Result<bool> {
        self.backend.add(id, source.parsed(&self.settings.limits)?)
    }

    /// Whether some event could match an expression: `false` for a contradiction. Changes nothing.
    pub fn can_match(&self, source: Source) -> Result<bool> {
        let (_, expr) = source.parsed(&self.settings.limits)?;
        let mut normalizer = Normalizer::default();
        let normal = normalizer.normalize(&expr, &mut Schema::default(), self.settings.missing);
        Ok(normal.root() != Root::Never)
    }

    /// Adds many subscriptions, or none if one fails; the error names the row. Returns the rows that can never
    /// match.
    pub fn add_many(&self, batch: impl IntoIterator<Item = (Id, Source)>) -> Result<Vec<usize>> {
        // An interrupted call unwinds before anything is published.
        Error::catch(|| self.backend.add_many(&mut batch.into_iter()))?
    }

    /// Replaces the expression of an id, which keeps its position in insertion order. Returns as [`Index::add`] does.
    pub fn replace(&self, id: &Id, source: Source) -> Result<bool> {
        self.backend.replace(id, source.parsed(&self.settings.limits)?)
    }

    /// Removes a subscription.
    pub fn remove(&self, id: &Id) -> Result<()> {
        self.backend.remove(id)
    }

    /// Applies several changes, or none if one fails; the error names the row. Readers see none of them or all. Returns the
    /// rows whose expression can never match.
    pub fn apply(&self, changes: impl IntoIterator<Item = Change>) -> Result<Vec<usize>> {
        // An interrupted call unwinds before anything is published.
        Error::catch(|| self.backend.apply(&mut changes.into_iter()))?
    }

    /// Counts the rows of past events, all or (if they are stale) none, and lets the engine adapt its choices to them.
    /// Matches stay the same.
    pub fn observe_rows(&self, schema: &Schema, rows: &Rows) -> Result<(), Stale> {
        self.backend.observe_rows(schema, rows)
    }

    /// Merges everything into one segment and returns when that is done; matching and updates are not blocked meanwhile.
    /// Engines that change in place have no segments: nothing happens.
    pub fn compact(&self) -> Result<()> {
        // An interrupted call unwinds before anything is published.
        Error::catch(|| self.backend.compact())?
    }

    /// Ends the background thread for good, and returns when it has ended: no thread but those of callers reads the index
    /// then. Answers and updates go on; segments are merged by writers only.
    pub fn stop(&self) {
        self.backend.stop();
    }

    /// Estimated bytes in use.
    pub fn memory(&self) -> MemoryUsage {
        self.backend.memory()
    }

    /// The engine's statistics: name and value.
    pub fn engine_stats(&self) -> Vec<(&'static str, u64)> {
        self.backend.stats()
    }

    /// The engine's structure as a graph in DOT, the language of Graphviz. An error if the engine has none.
    pub fn dot(&self) -> Result<String> {
        let name = self.engine_name();
        self.backend.dot(name).ok_or_else(|| {
            Error::Option(format!(
                "engine {name} has no graph to draw; a_tree, be_star_tree, be_tree and gem_tree have one"
            ))
        })
    }

    /// How a subscription is found. An error if the engine has no plans.
    pub fn plan_of(&self, id: &Id) -> Result<MatchPlan> {
        self.backend.plan_of(id).unwrap_or_else(|| Err(self.without_plans()))
    }

    /// How an expression would be found. An error if the engine has no plans.
    pub fn plan_for(&self, source: Source) -> Result<MatchPlan> {
        let (_, expr) = source.parsed(&self.settings.limits)?;
        self.backend.plan_for(&expr).ok_or_else(|| self.without_plans())
    }

    fn without_plans(&self) -> Error {
        Error::Option(format!("engine {} has no plan to explain; compiled has one", self.engine_name()))
    }

    /// Checks every invariant; for tests.
    pub fn validate(&self) -> Result<()> {
        Error::catch(|| self.backend.validate())?.map_err(Error::Internal)
    }
}
