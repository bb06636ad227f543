//! Subscriptions in immutable segments, so that readers never wait.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `snapshot` | what is one state of the index? |
//! | `segment` | what is a segment, and how is one built? |
//! | `ids`, `strings` | how does a segment hold ids and texts in arrays? |
//! | `dead` | which members of a segment are gone? |
//! | `update` | how do subscriptions come and go, all or none? |
//! | `merging` | which segments become one, and how, while updates go on? |
//! | `background` | which thread does that, and when? |
//! | `sample` | which observed events does it keep in mind? |
//! | `matching` | which subscriptions does this event satisfy? |
//! | `ascending` | how do they come into order? |
//! | `columns` | how do their ids leave? |
//! | `planning` | what was laid out for a subscription? |
//! | `file` | how is all of it written as it is, and mapped? |
//! | `checking` | does everything fit together? |
//!
//! The idea is that of log-structured merge trees. An update makes a new [`Snapshot`] and puts it in the place of the
//! current one; a reader takes the current one and keeps it for as long as it likes. Additions go to a short list whose
//! expressions are evaluated one by one; a full list is frozen into a small segment; small segments are merged into
//! larger ones by a thread of their own. A removal sets a bit. Segments are rewritten once a third of them is gone.

mod ascending;
mod background;
mod checking;
mod columns;
mod dead;
mod file;
mod ids;
mod matching;
mod merging;
mod planning;
mod sample;
mod segment;
mod snapshot;
mod strings;
mod update;

use super::backing::{Backing, Pinned};
use super::parsing::Parsed;
use super::{Id, MemoryUsage, Plan, Settings, Source, Stale};
use crate::compiled::CompiledOptions;
use crate::engine::registry::whole_number;
use crate::error::{Error, Result};
use crate::event::Rows;
use crate::expr::{Expr, Limits, Missing};
use crate::schema::Schema;
use crate::storage::Target;
use background::Background;
use matching::{MatchScratch, SnapshotView};
use parking_lot::{Mutex, RwLock};
use sample::Sample;
use snapshot::Snapshot;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use update::Writing;

/// The handle. The thread in the background shares what is in it, and ends when it is dropped.
pub(super) struct Segmented(Arc<Shared>);

/// What threads share.
struct Shared {
    missing: Missing,
    limits: Limits,
    options: StoreOptions,
    /// Locked for the copy of a pointer only.
    current: RwLock<Arc<Snapshot>>,
    /// Held by whoever makes the next snapshot.
    writing: Mutex<Writing>,
    sample: Mutex<Sample>,
    background: Background,
    /// The index is dropped: nobody needs what is under way.
    stopped: AtomicBool,
    /// Scratches not in use; as many are made as threads match at once.
    idle: Mutex<Vec<MatchScratch>>,
    freezes: AtomicU64,
    compactions: AtomicU64,
}

/// What users choose.
struct StoreOptions {
    /// How long the list of recent subscriptions gets.
    recent: usize,
    /// How many times larger each class of segments is than the one before.
    fanout: usize,
    compiled: CompiledOptions,
}

impl StoreOptions {
    fn new(settings: &Settings) -> Result<StoreOptions> {
        let options = &settings.options;
        Ok(StoreOptions {
            recent: whole_number(options, "recent", 64, 1..=65_536)?,
            fanout: whole_number(options, "fanout", 8, 2..=1_024)?,
            compiled: CompiledOptions::new(options)?,
        })
    }
}

impl Segmented {
    pub fn new(settings: &Settings) -> Result<Segmented> {
        Segmented::with(settings, Snapshot::default())
    }

    fn with(settings: &Settings, snapshot: Snapshot) -> Result<Segmented> {
        Ok(Segmented(Arc::new(Shared {
            missing: settings.missing,
            limits: settings.limits,
            options: StoreOptions::new(settings)?,
            current: RwLock::new(Arc::new(snapshot)),
            writing: Mutex::default(),
            sample: Mutex::default(),
            background: Background::default(),
            stopped: AtomicBool::new(false),
            idle: Mutex::default(),
            freezes: AtomicU64::new(0),
            compactions: AtomicU64::new(0),
        })))
    }

    fn view(&self) -> SnapshotView<'_> {
        SnapshotView { shared: &self.0, snapshot: self.0.snapshot() }
    }
}

impl Drop for Segmented {
    fn drop(&mut self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }
}

impl Shared {
    fn snapshot(&self) -> Arc<Snapshot> {
        self.current.read().clone()
    }

    /// Puts a snapshot in the place of the current one. The caller holds `writing`.
    fn publish(&self, next: Snapshot) {
        let next = Arc::new(next);
        let last = std::mem::replace(&mut *self.current.write(), next);
        // Not under the lock: it may be the end of a large segment.
        drop(last);
    }
}

impl Backing for Segmented {
    fn pin(&self) -> Box<dyn Pinned + '_> {
        Box::new(self.view())
    }

    fn try_pin(&self) -> Option<Box<dyn Pinned + '_>> {
        Some(self.pin())
    }

    fn len(&self) -> usize {
        self.0.snapshot().len
    }

    fn contains(&self, id: &Id) -> bool {
        self.0.snapshot().find(id).is_some()
    }

    fn text(&self, id: &Id) -> Result<String> {
        let snapshot = self.0.snapshot();
        let place = snapshot.find(id).ok_or_else(|| Error::UnknownId(id.clone()))?;
        let text = snapshot.text(place).map(str::to_owned);
        text.ok_or_else(|| Error::Internal(format!("the text of {id} is damaged")))
    }

    fn ids(&self) -> Vec<Id> {
        let snapshot = self.0.snapshot();
        snapshot.in_order().into_iter().map(|place| snapshot.id(place)).collect()
    }

    fn add(&self, id: Id, parsed: Parsed) -> Result<bool> {
        self.0.add(id, parsed)
    }

    fn add_many(&self, batch: &mut dyn Iterator<Item = (Id, Source)>) -> Result<Vec<usize>> {
        self.0.add_many(batch)
    }

    fn replace(&self, id: &Id, parsed: Parsed) -> Result<bool> {
        self.0.replace(id, parsed)
    }

    fn remove(&self, id: &Id) -> Result<()> {
        self.0.remove(id)
    }

    fn observe_rows(&self, schema: &Schema, rows: &Rows) -> Result<(), Stale> {
        if self.0.snapshot().schema.len() != schema.len() {
            return Err(Stale);
        }
        self.0.observe(rows);
        Ok(())
    }

    fn compact(&self) -> Result<()> {
        self.0.compact()
    }

    fn write(&self, settings: &Settings, target: &mut dyn Target) -> std::io::Result<()> {
        self.0.snapshot().write(settings, target)
    }

    fn memory(&self) -> MemoryUsage {
        self.0.snapshot().memory()
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        self.0.stats()
    }

    fn validate(&self) -> Result<(), String> {
        self.0.background.fault().map_or(Ok(()), |fault| Err(format!("compaction: {fault}")))?;
        self.0.snapshot().validate()
    }

    fn plan_of(&self, id: &Id) -> Option<Result<Plan>> {
        Some(self.plan_of_id(id))
    }

    fn plan_for(&self, expr: &Expr) -> Option<Plan> {
        Some(self.plan_for_expr(expr))
    }

    fn dot(&self, _title: &str) -> Option<String> {
        None
    }
}

impl Snapshot {
    fn memory(&self) -> MemoryUsage {
        let mut memory = MemoryUsage { attributes: self.schema.memory(), ..MemoryUsage::default() };
        for part in &self.parts {
            let (ids, texts) = part.segment.memory();
            memory.ids += ids + part.dead.memory();
            memory.texts += texts;
            memory.engine += part.segment.compiled.memory() + part.segment.always.memory();
        }
        for entry in self.recent.iter() {
            memory.ids += size_of::<Id>() + size_of::<u64>();
            memory.texts += entry.text.len();
            memory.engine += entry.normal.memory();
        }
        memory
    }
}

impl Shared {
    /// The figures of the store, and those of all segments' structures added up.
    fn stats(&self) -> Vec<(&'static str, u64)> {
        let snapshot = self.snapshot();
        let dead: usize = snapshot.parts.iter().map(|part| part.dead.count()).sum();
        let mut stats = vec![
            ("segments", snapshot.parts.len() as u64),
            ("recent", snapshot.recent.len() as u64),
            ("dead", dead as u64),
            ("freezes", self.freezes.load(Ordering::Relaxed)),
            ("compactions", self.compactions.load(Ordering::Relaxed)),
        ];
        for (name, figure) in snapshot.parts.iter().flat_map(|part| part.segment.compiled.stats()) {
            match stats.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += figure,
                None => stats.push((name, figure)),
            }
        }
        stats
    }
}
