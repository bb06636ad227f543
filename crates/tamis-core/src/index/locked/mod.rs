//! Subscriptions in an engine that changes in place.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `subscriptions` | which subscriptions are in the index, in which order? |
//! | `update` | how are subscriptions added, replaced and removed, all or none? |
//! | `matching` | which subscriptions does an event satisfy? |
//! | `drawing` | what does the engine's structure look like as a graph? |
//!
//! A reader-writer lock guards the state: matching reads, updates and observations write. Events are read with a copy of
//! the schema and without the lock. If an update adds an attribute before they are matched, matching returns [`Stale`], so
//! every result reflects one state of the index.

mod drawing;
mod matching;
mod subscriptions;
mod update;

use super::backend::{Backend, PinnedBackend};
use super::file::first_format;
use super::parsing::Parsed;
use super::ranking::Ranker;
use super::sync::{Mutex, RwLock};
use super::{Change, Id, MemoryUsage, Settings, Source, Stale};
use crate::engine::scoring::{AttributeWeights, BestK};
use crate::engine::{DynEngine, DynRankingEngine, Scratch, SubId};
use crate::error::{Error, Result};
use crate::event::{EventSlots, Rows};
use crate::expr::{Limits, Missing};
use crate::schema::Schema;
use crate::storage::Target;
use matching::PinnedLocked;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use subscriptions::Subscriptions;

/// See the module's head.
pub(super) struct Locked {
    missing: Missing,
    limits: Limits,
    state: RwLock<LockedState>,
    /// Scratches not in use: as many in all as threads have ever matched at once.
    idle: Mutex<Vec<LockedScratch>>,
}

/// What updates and observations change.
struct LockedState {
    /// The attributes of all expressions that were ever added.
    schema: Arc<Schema>,
    /// Ids and texts.
    subscriptions: Subscriptions,
    /// Expressions that are neither always nor never TRUE.
    engine: InPlaceEngine,
}

/// An engine that is updated in place.
enum InPlaceEngine {
    /// The index scores all matches to find the best k.
    Plain(Box<dyn DynEngine>),
    /// The engine finds the best k.
    Ranking(Box<dyn DynRankingEngine>),
}

impl Deref for InPlaceEngine {
    type Target = dyn DynEngine;

    fn deref(&self) -> &Self::Target {
        match self {
            InPlaceEngine::Plain(engine) => &**engine,
            InPlaceEngine::Ranking(engine) => &**engine,
        }
    }
}

impl DerefMut for InPlaceEngine {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            InPlaceEngine::Plain(engine) => &mut **engine,
            InPlaceEngine::Ranking(engine) => &mut **engine,
        }
    }
}

/// The buffers of one matching thread.
struct LockedScratch {
    /// The event being matched.
    slots: EventSlots,
    engine: Scratch,
    ranker: Ranker<SubId>,
    /// An event's attribute weights, for an engine that ranks.
    weights: AttributeWeights,
    /// The best matches of an event, of the engine and of the subscriptions that match every event.
    best: BestK<SubId>,
    /// The best matches of an event that a ranking engine has found.
    engine_best: Vec<(SubId, f64)>,
    /// [`Subscriptions::changes`] when the ranker's cache was last valid.
    ranked_at: u64,
}

impl Locked {
    pub fn new(engine: Box<dyn DynEngine>, settings: &Settings) -> Locked {
        Locked::with(InPlaceEngine::Plain(engine), settings)
    }

    pub fn ranking(engine: Box<dyn DynRankingEngine>, settings: &Settings) -> Locked {
        Locked::with(InPlaceEngine::Ranking(engine), settings)
    }

    fn with(engine: InPlaceEngine, settings: &Settings) -> Locked {
        let state = LockedState { schema: Arc::default(), subscriptions: Subscriptions::new(), engine };
        Locked {
            missing: settings.missing,
            limits: settings.limits,
            state: RwLock::new(state),
            idle: Mutex::default(),
        }
    }

    fn take_scratch(&self, state: &LockedState) -> LockedScratch {
        let idle = self.idle.lock().pop();
        idle.unwrap_or_else(|| LockedScratch {
            slots: EventSlots::default(),
            engine: state.engine.scratch(),
            ranker: Ranker::default(),
            weights: AttributeWeights::default(),
            best: BestK::default(),
            engine_best: Vec::new(),
            ranked_at: 0,
        })
    }

    fn give_back(&self, scratch: LockedScratch) {
        self.idle.lock().push(scratch);
    }
}

impl Backend for Locked {
    fn pin(&self) -> Box<dyn PinnedBackend + '_> {
        Box::new(PinnedLocked { locked: self, schema: self.state.read().schema.clone() })
    }

    fn try_pin(&self) -> Option<Box<dyn PinnedBackend + '_>> {
        let schema = self.state.try_read()?.schema.clone();
        Some(Box::new(PinnedLocked { locked: self, schema }))
    }

    fn len(&self) -> usize {
        self.state.read().subscriptions.len()
    }

    fn contains(&self, id: &Id) -> bool {
        self.state.read().subscriptions.find(id).is_some()
    }

    fn text(&self, id: &Id) -> Result<String> {
        self.state.read().text(id).map(str::to_owned)
    }

    fn ids(&self) -> Vec<Id> {
        self.state.read().subscriptions.in_order().into_iter().map(|(_, s)| s.id.clone()).collect()
    }

    fn add(&self, id: Id, parsed: Parsed) -> Result<bool> {
        self.add_parsed(id, parsed)
    }

    fn add_many(&self, batch: &mut dyn Iterator<Item = (Id, Source)>) -> Result<Vec<usize>> {
        self.add_batch(batch)
    }

    fn replace(&self, id: &Id, parsed: Parsed) -> Result<bool> {
        self.replace_parsed(id, parsed)
    }

    fn remove(&self, id: &Id) -> Result<()> {
        self.remove_id(id)
    }

    fn apply(&self, changes: &mut dyn Iterator<Item = Change>) -> Result<Vec<usize>> {
        self.apply_batch(changes)
    }

    /// Blocks matching until all rows are counted.
    fn observe_rows(&self, schema: &Schema, rows: &Rows) -> Result<(), Stale> {
        let mut state = self.state.write();
        state.check(schema)?;
        let LockedState { schema, engine, .. } = &mut *state;
        let mut slots = EventSlots::default();
        for row in 0..rows.len() {
            engine.observe(&slots.load(rows, row, schema.len()));
        }
        engine.adapt();
        Ok(())
    }

    fn compact(&self) -> Result<()> {
        Ok(())
    }

    fn write(&self, settings: &Settings, target: &mut dyn Target) -> std::io::Result<()> {
        let state = self.state.read();
        let subscriptions = state.subscriptions.in_order();
        let entries = subscriptions.iter().map(|(_, subscription)| (&subscription.id, &*subscription.text));
        target.write_all(&first_format::to_bytes(settings, subscriptions.len(), entries))
    }

    fn memory(&self) -> MemoryUsage {
        let state = self.state.read();
        let (ids, texts) = state.subscriptions.memory();
        MemoryUsage { ids, texts, attributes: state.schema.memory(), engine: state.engine.memory() }
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        self.state.read().engine.stats()
    }

    fn validate(&self) -> Result<(), String> {
        let state = self.state.read();
        state.subscriptions.validate().and_then(|()| state.engine.validate())
    }

    fn dot(&self, title: &str) -> Option<String> {
        let state = self.state.read();
        let graph = state.engine.graph()?;
        Some(state.dot(title, &graph))
    }
}

impl LockedState {
    fn text(&self, id: &Id) -> Result<&str> {
        let sub = self.subscriptions.find(id).and_then(|sub| self.subscriptions.get(sub));
        sub.map(|subscription| &*subscription.text).ok_or_else(|| Error::UnknownId(id.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::Locked;
    use crate::engine::{Engine, SubId};
    use crate::error::Result;
    use crate::event::{Event, JsonReader, Rows};
    use crate::expr::{Limits, Normal};
    use crate::index::backend::Backend;
    use crate::index::{Id, Settings, Source, Stale};
    use crate::schema::{AttrId, Schema};
    use crate::value::Value;

    /// Reports in its statistics the calls it received: events, the sum of attribute 0 (`a`), and adaptations.
    #[derive(Default)]
    struct RecordingEngine {
        events: u64,
        sum: u64,
        adapted: u64,
    }

    impl Engine for RecordingEngine {
        type Scratch = ();

        fn name(&self) -> &'static str {
            "recording"
        }

        fn insert(&mut self, _id: SubId, _expression: &Normal) -> Result<()> {
            Ok(())
        }

        fn remove(&mut self, _id: SubId) {}

        fn match_event(&self, _event: &Event<'_>, _scratch: &mut (), _matches: &mut Vec<SubId>) {}

        fn observe(&mut self, event: &Event<'_>) {
            self.events += 1;
            if let Value::Int(a) = event.value(AttrId(0)) {
                self.sum += a as u64;
            }
        }

        fn adapt(&mut self) {
            self.adapted += 1;
        }

        fn validate(&self) -> Result<(), String> {
            Ok(())
        }

        fn memory(&self) -> usize {
            0
        }

        fn stats(&self) -> Vec<(&'static str, u64)> {
            vec![("events", self.events), ("sum", self.sum), ("adapted", self.adapted)]
        }
    }

    fn add(index: &Locked, id: i64, text: &str) {
        let parsed = Source::from(text).parsed(&Limits::default()).expect("an expression");
        index.add(Id::from(id), parsed).expect("added");
    }

    fn recorded() -> Locked {
        let index = Locked::new(Box::new(RecordingEngine::default()), &Settings::default());
        add(&index, 1, "a > 1");
        index
    }

    fn recorded_calls(index: &Locked) -> Vec<u64> {
        index.stats().into_iter().map(|(_, figure)| figure).collect()
    }

    fn read(events: &[&str], schema: &Schema) -> Rows {
        let (mut reader, mut rows) = (JsonReader::default(), Rows::default());
        for event in events {
            reader.read(event.as_bytes(), schema, &mut rows).expect("valid JSON");
        }
        rows
    }

    #[test]
    fn the_engine_sees_every_event_and_adapts_once_a_batch() {
        let index = recorded();
        let schema = index.pin().schema().clone();
        let rows = read(&[r#"{"a": 5}"#, r#"{"b": 7}"#, r#"{"a": 30}"#], &schema);
        index.observe_rows(&schema, &rows).expect("a fresh schema");
        assert_eq!(recorded_calls(&index), [3, 35, 1]);
        index.observe_rows(&schema, &rows).expect("a fresh schema");
        assert_eq!(recorded_calls(&index), [6, 70, 2]);
    }

    #[test]
    fn stale_rows_are_not_counted() {
        let index = recorded();
        let old = index.pin().schema().clone();
        let rows = read(&[r#"{"a": 5, "b": 7}"#], &old);
        add(&index, 2, "b > 1");
        assert_eq!(index.observe_rows(&old, &rows), Err(Stale));
        assert_eq!(recorded_calls(&index), [0, 0, 0]);
    }
}
