//! Subscriptions in immutable segments, so that readers never block.
//!
//! | file or folder | question it answers |
//! | --- | --- |
//! | `snapshot` | what is one state of the index? |
//! | `segment` | what is a segment, and how is one built? |
//! | `members` | how does a segment store ids and texts in arrays? |
//! | `update` | how are subscriptions added, replaced and removed, all or none? |
//! | `merging` | which segments are merged, and how, without blocking updates? |
//! | `compaction` | how does one segment of all subscriptions drop unused attributes? |
//! | `background` | which thread does that, and when? |
//! | `sample` | which observed events are segments built with? |
//! | `matching` | which subscriptions does an event satisfy? |
//! | `planning` | how is a subscription found? |
//! | `file` | how is a snapshot written and mapped? |
//!
//! The design is that of log-structured merge trees. An update publishes a new [`Snapshot`]; a reader takes the current one
//! and keeps it as long as needed. Additions go to a short list whose expressions are all evaluated for each event; a full
//! list is frozen into a small segment; a background thread merges small segments into larger ones. A removal sets a
//! tombstone. A segment is rewritten once a third of its members are removed.

mod background;
mod compaction;
mod file;
mod matching;
mod members;
mod merging;
mod planning;
mod sample;
mod segment;
mod snapshot;
mod update;

use super::backend::{Backend, PinnedBackend};
use super::parsing::Parsed;
use super::sync::{Inside, Mutex, RwLock};
use super::{Change, Id, MatchPlan, MemoryUsage, Settings, Source, Stale};
use crate::compiled::CompiledOptions;
use crate::engine::registry::OptionValues;
use crate::error::{Error, Result};
use crate::event::Rows;
use crate::expr::{Expr, Limits, Missing};
use crate::schema::Schema;
use crate::storage::Target;
use crate::value::ARC_COUNTERS;
use background::Background;
use compaction::AttributeNumbers;
use matching::{PinnedSnapshot, SnapshotScratch};
use sample::Sample;
use snapshot::{LiveSegment, RecentSubscription, Snapshot};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use update::WriterState;

/// The backend. Its state is shared with the merging thread, which reads no segment after this is dropped.
pub(super) struct Segmented(Arc<Shared>);

/// The state that the index and its merging thread share.
struct Shared {
    missing: Missing,
    limits: Limits,
    options: SegmentedOptions,
    /// The published snapshot. The lock is held only while the pointer is copied or replaced.
    current: RwLock<Arc<Snapshot>>,
    /// The writers' lock: held while the next snapshot is made and published.
    writing: Mutex<WriterState>,
    /// The observed events that segments are built with.
    sample: Mutex<Sample>,
    /// The merging thread.
    background: Background,
    /// Whether the index is dropped or closed: the merging thread stops. Set under the lock of the thread's state.
    stopped: AtomicBool,
    /// Scratches not in use: as many in all as threads have ever matched at once.
    idle: Mutex<Vec<SnapshotScratch>>,
    /// Number of times the recent subscriptions became a segment.
    freezes: AtomicU64,
    /// Number of merges in the background or by [`Backend::compact`].
    compactions: AtomicU64,
}

/// The engine's options.
struct SegmentedOptions {
    /// Maximum length of the list of recent subscriptions.
    recent: usize,
    /// Ratio between the sizes of one class of segments and the class below.
    fanout: usize,
    compiled: CompiledOptions,
}

impl SegmentedOptions {
    fn new(options: &OptionValues) -> SegmentedOptions {
        SegmentedOptions {
            recent: options.whole_number("recent"),
            fanout: options.whole_number("fanout"),
            compiled: CompiledOptions::new(options),
        }
    }
}

impl Segmented {
    pub fn new(settings: &Settings, options: &OptionValues) -> Segmented {
        Segmented::with(settings, options, Snapshot::default())
    }

    fn with(settings: &Settings, options: &OptionValues, snapshot: Snapshot) -> Segmented {
        Segmented(Arc::new(Shared {
            missing: settings.missing,
            limits: settings.limits,
            options: SegmentedOptions::new(options),
            current: RwLock::new(Arc::new(snapshot)),
            writing: Mutex::default(),
            sample: Mutex::default(),
            background: Background::default(),
            stopped: AtomicBool::new(false),
            idle: Mutex::default(),
            freezes: AtomicU64::new(0),
            compactions: AtomicU64::new(0),
        }))
    }

    fn pinned(&self) -> PinnedSnapshot<'_> {
        PinnedSnapshot { shared: &self.0, snapshot: self.0.snapshot() }
    }
}

impl Drop for Segmented {
    fn drop(&mut self) {
        self.0.stop_reading();
    }
}

impl Shared {
    fn snapshot(&self) -> Arc<Snapshot> {
        self.current.read().clone()
    }

    /// Replaces the current snapshot. The caller holds `writing`.
    fn publish(&self, next: Snapshot) {
        let next = Arc::new(next);
        let last = std::mem::replace(&mut *self.current.write(), next);
        // After the lock is released: it may free a large segment.
        drop(last);
    }
}

impl Backend for Segmented {
    fn pin(&self) -> Box<dyn PinnedBackend + '_> {
        Box::new(self.pinned())
    }

    fn try_pin(&self) -> Option<Box<dyn PinnedBackend + '_>> {
        let _inside = Inside::try_enter()?;
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
        let location = snapshot.find(id).ok_or_else(|| Error::UnknownId(id.clone()))?;
        let text = snapshot.text(location).map(str::to_owned);
        text.ok_or_else(|| Error::Internal(format!("the text of {id} is damaged")))
    }

    fn ids(&self) -> Vec<Id> {
        let snapshot = self.0.snapshot();
        snapshot.in_order().into_iter().map(|location| snapshot.id(location)).collect()
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

    fn apply(&self, changes: &mut dyn Iterator<Item = Change>) -> Result<Vec<usize>> {
        self.0.apply(changes)
    }

    fn observe_rows(&self, schema: &Schema, rows: &Rows) -> Result<(), Stale> {
        if !self.0.snapshot().schema.is_same(schema) {
            return Err(Stale);
        }
        self.0.observe(schema, rows)
    }

    fn compact(&self) -> Result<()> {
        self.0.compact(AttributeNumbers::Anew)
    }

    fn stop(&self) {
        self.0.stop_thread();
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

    fn plan_of(&self, id: &Id) -> Option<Result<MatchPlan>> {
        Some(self.plan_of_id(id))
    }

    fn plan_for(&self, expr: &Expr) -> Option<MatchPlan> {
        Some(self.plan_for_expr(expr))
    }

    fn dot(&self, _title: &str) -> Option<String> {
        None
    }
}

impl Snapshot {
    fn memory(&self) -> MemoryUsage {
        let mut memory = MemoryUsage { attributes: self.schema.memory(), ..MemoryUsage::default() };
        for LiveSegment { segment, tombstones } in &self.segments {
            let (ids, texts) = segment.memory();
            memory.ids += ids + tombstones.memory();
            memory.texts += texts;
            memory.engine += segment.compiled.memory() + segment.always.memory();
        }
        for recent in self.recent.iter() {
            memory.ids += size_of::<Arc<RecentSubscription>>() + ARC_COUNTERS;
            memory.ids += size_of::<RecentSubscription>() + recent.id.heap();
            memory.texts += recent.text.len();
            memory.engine += recent.normal.memory() + recent.weighted.memory();
        }
        memory
    }
}

impl Shared {
    /// The statistics of the store, and the sums of those of all segments.
    fn stats(&self) -> Vec<(&'static str, u64)> {
        let snapshot = self.snapshot();
        let removed: usize = snapshot.segments.iter().map(|live| live.tombstones.count()).sum();
        let mut stats = vec![
            ("segments", snapshot.segments.len() as u64),
            ("recent", snapshot.recent.len() as u64),
            ("dead", removed as u64),
            ("freezes", self.freezes.load(Ordering::Relaxed)),
            ("compactions", self.compactions.load(Ordering::Relaxed)),
        ];
        for (name, value) in snapshot.segments.iter().flat_map(|live| live.segment.compiled.stats()) {
            match stats.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += value,
                None => stats.push((name, value)),
            }
        }
        stats
    }
}
