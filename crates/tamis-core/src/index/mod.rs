//! The index: ids and texts in front of an engine, safe to use from many threads.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `id` | what is an id, and how do many leave at once? |
//! | `subscriptions` | who is in the index, in which order? |
//! | `update` | how do subscriptions come and go, all or none? |
//! | `parsing` | how are many expressions parsed while others are inserted? |
//! | `matching` | which subscriptions does this event satisfy, on one thread or many? |
//! | `observing` | what do past events teach the engine? |
//! | `scoring` | which matches are the best k? |
//! | `file` | how does an index become bytes and back? |
//! | `drawing` | what does the engine's structure look like? |
//!
//! One lock guards the state: matching reads, updates and observations write. Events are read with a copy of
//! the schema taken before; if an update adds an attribute in between, the reader is told to read again (see
//! [`Stale`]), so a match always speaks of one state of the index.

mod drawing;
mod file;
mod id;
mod matching;
mod observing;
mod parsing;
mod scoring;
mod subscriptions;
mod update;

pub use id::{Id, IdColumn};
pub use matching::{Matches, Stale};
pub use scoring::EventWeights;
pub use update::Source;

use crate::engine::registry::{self, EngineInfo, Options};
use crate::engine::{Engine, Scratch};
use crate::error::{Error, Result};
use crate::event::EventSlots;
use crate::expr::{Expr, Limits, Missing, parse};
use crate::schema::Schema;
use parking_lot::{Mutex, RwLock};
use std::sync::Arc;
use subscriptions::Subscriptions;

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
    state: RwLock<State>,
    /// Scratches not in use; as many are made as threads match at once.
    idle: Mutex<Vec<MatchScratch>>,
}

/// Everything that updates and observations change.
struct State {
    schema: Arc<Schema>,
    subscriptions: Subscriptions,
    engine: Box<dyn Engine>,
}

/// What one thread needs to match.
struct MatchScratch {
    slots: EventSlots,
    engine: Scratch,
}

/// Bytes in use, by part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
        let engine = engine_info.create(&settings.options, &settings.limits)?;
        let state = State { schema: Arc::default(), subscriptions: Subscriptions::new(), engine };
        Ok(Index { settings, engine_info, state: RwLock::new(state), idle: Mutex::default() })
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
        self.state.read().schema.clone()
    }

    /// As [`Index::schema`], if that needs no waiting for an update to end.
    pub fn try_schema(&self) -> Option<Arc<Schema>> {
        self.state.try_read().map(|state| state.schema.clone())
    }

    /// Number of subscriptions.
    pub fn len(&self) -> usize {
        self.state.read().subscriptions.len()
    }

    /// Whether there is no subscription.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether an id is present.
    pub fn contains(&self, id: &Id) -> bool {
        self.state.read().subscriptions.find(id).is_some()
    }

    /// The text of a subscription.
    pub fn text(&self, id: &Id) -> Result<String> {
        self.state.read().text(id).map(str::to_owned)
    }

    /// The expression of a subscription.
    pub fn expression(&self, id: &Id) -> Result<Expr> {
        let text = self.text(id)?;
        Ok(parse(&text, &self.settings.limits)?)
    }

    /// All ids, in order of insertion.
    pub fn ids(&self) -> Vec<Id> {
        self.state.read().subscriptions.in_order().into_iter().map(|(_, s)| s.id.clone()).collect()
    }

    /// Bytes in use, near enough.
    pub fn memory(&self) -> MemoryUsage {
        let state = self.state.read();
        let (ids, texts) = state.subscriptions.memory();
        MemoryUsage { ids, texts, attributes: state.schema.memory(), engine: state.engine.memory() }
    }

    /// The engine's figures.
    pub fn engine_stats(&self) -> Vec<(&'static str, u64)> {
        self.state.read().engine.stats()
    }

    /// Checks every invariant; for tests.
    pub fn validate(&self) -> Result<()> {
        let state = self.state.read();
        state.subscriptions.validate().and_then(|()| state.engine.validate()).map_err(Error::Internal)
    }

    fn take_scratch(&self, state: &State) -> MatchScratch {
        let idle = self.idle.lock().pop();
        idle.unwrap_or_else(|| MatchScratch { slots: EventSlots::default(), engine: state.engine.scratch() })
    }

    fn give_back(&self, scratch: MatchScratch) {
        self.idle.lock().push(scratch);
    }
}

impl State {
    fn text(&self, id: &Id) -> Result<&str> {
        let sub = self.subscriptions.find(id).and_then(|sub| self.subscriptions.get(sub));
        sub.map(|subscription| &*subscription.text).ok_or_else(|| Error::UnknownId(id.clone()))
    }
}
