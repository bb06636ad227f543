//! One state of the index. Immutable: an update makes the next snapshot, which shares segments and recent subscriptions
//! with this one.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `tombstones` | which members of a segment are removed? |
//! | `validate` | do all parts of a snapshot agree? |

mod tombstones;
mod validate;

pub(super) use tombstones::Tombstones;

use super::segment::{NewMember, Segment};
use crate::engine::scoring::WeightedPredicates;
use crate::error::Result;
use crate::expr::{Expr, Missing, Normal, Normalizer};
use crate::index::Id;
use crate::schema::Schema;
use std::sync::Arc;

/// See the module's head.
#[derive(Clone, Default)]
pub(super) struct Snapshot {
    /// The attributes of all expressions, and of those removed since the last compaction.
    pub schema: Arc<Schema>,
    /// Whether an expression was removed since the schema was made of those present: only then may attributes be unused.
    pub may_have_unused: bool,
    /// Number of attributes after the last compaction.
    pub compacted_attributes: usize,
    /// Segments with live members, unordered.
    pub segments: Vec<LiveSegment>,
    /// Subscriptions that are in no segment yet, unordered; at most the option `recent`.
    pub recent: Arc<Vec<Arc<RecentSubscription>>>,
    /// Number of live subscriptions.
    pub len: usize,
    /// How many of them have a string as id.
    pub text_ids: usize,
    /// Position of the next addition in insertion order; greater than all present ones.
    pub next_sequence: u64,
}

/// A segment without its removed members.
#[derive(Clone)]
pub(super) struct LiveSegment {
    pub segment: Arc<Segment>,
    /// The removed members, by local number.
    pub tombstones: Tombstones,
}

/// A subscription that is in no segment yet.
pub(super) struct RecentSubscription {
    pub id: Id,
    /// The expression as given.
    pub text: Box<str>,
    /// Position in insertion order; a replacement keeps it.
    pub sequence: u64,
    /// What is evaluated for each event.
    pub normal: Normal,
    /// Its predicates as written: what matches are scored with.
    pub weighted: WeightedPredicates,
}

/// Where a live subscription is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Location {
    /// Position in [`Snapshot::recent`].
    Recent(usize),
    /// Position in [`Snapshot::segments`], and local number.
    Segment(usize, u32),
}

impl RecentSubscription {
    /// Normalizes an expression; the schema gains the attributes that it does not have.
    pub fn new(
        (id, text, sequence): (Id, Box<str>, u64),
        expr: &Expr,
        schema: &mut Arc<Schema>,
        missing: Missing,
    ) -> Result<RecentSubscription> {
        let normal = Normalizer::default().normalize(expr, schema, missing).clone();
        let weighted = WeightedPredicates::new(expr, schema, missing)?;
        Ok(RecentSubscription { id, text, sequence, normal, weighted })
    }

    /// As a member of the segment that it becomes part of.
    pub fn as_member(&self) -> NewMember<'_> {
        let RecentSubscription { id, text, sequence, normal, weighted } = self;
        NewMember { id, text, sequence: *sequence, normal, weighted }
    }
}

impl LiveSegment {
    pub fn new(segment: Arc<Segment>) -> LiveSegment {
        LiveSegment { segment, tombstones: Tombstones::default() }
    }

    /// Number of live members.
    pub fn live(&self) -> usize {
        self.segment.len().saturating_sub(self.tombstones.count())
    }

    /// Local numbers of the live members, ascending.
    pub fn live_members(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.segment.len() as u32).filter(|local| !self.tombstones.contains(*local))
    }
}

impl Snapshot {
    pub fn find(&self, id: &Id) -> Option<Location> {
        if let Some(at) = self.recent.iter().position(|recent| recent.id == *id) {
            return Some(Location::Recent(at));
        }
        self.segments.iter().enumerate().find_map(|(at, live)| {
            let local = live.segment.ids.find(id).filter(|local| !live.tombstones.contains(*local))?;
            Some(Location::Segment(at, local))
        })
    }

    /// The text of a subscription; `None` where a damaged file has none.
    pub fn text(&self, location: Location) -> Option<&str> {
        match location {
            Location::Recent(at) => self.recent.get(at).map(|recent| &*recent.text),
            Location::Segment(at, local) => self.segments.get(at)?.segment.texts.get(local as usize),
        }
    }

    pub fn id(&self, location: Location) -> Id {
        match location {
            Location::Recent(at) => self.recent[at].id.clone(),
            Location::Segment(at, local) => self.segments[at].segment.ids.get(local as usize),
        }
    }

    pub fn sequence(&self, location: Location) -> u64 {
        match location {
            Location::Recent(at) => self.recent[at].sequence,
            Location::Segment(at, local) => self.segments[at].segment.sequence(local),
        }
    }

    /// Every live subscription, unordered.
    pub fn locations(&self) -> impl Iterator<Item = Location> + '_ {
        let recent = (0..self.recent.len()).map(Location::Recent);
        let members = self
            .segments
            .iter()
            .enumerate()
            .flat_map(|(at, live)| live.live_members().map(move |local| Location::Segment(at, local)));
        recent.chain(members)
    }

    /// Every live subscription, in insertion order.
    pub fn in_order(&self) -> Vec<Location> {
        let mut locations: Vec<Location> = self.locations().collect();
        locations.sort_by_cached_key(|location| self.sequence(*location));
        locations
    }

    /// Removes a subscription: sets its tombstone, and drops the segment if it was the last live member.
    pub fn remove(&mut self, location: Location) {
        self.len -= 1;
        self.may_have_unused = true;
        self.text_ids -= usize::from(matches!(self.id(location), Id::Text(_)));
        match location {
            Location::Recent(at) => drop(Arc::make_mut(&mut self.recent).swap_remove(at)),
            Location::Segment(at, local) => {
                self.segments[at].tombstones.insert(local);
                if self.segments[at].live() == 0 {
                    self.segments.remove(at);
                }
            }
        }
    }

    /// Adds a subscription whose id is not present.
    pub fn push(&mut self, added: RecentSubscription) {
        self.len += 1;
        self.text_ids += usize::from(matches!(added.id, Id::Text(_)));
        self.next_sequence = self.next_sequence.max(added.sequence.saturating_add(1));
        Arc::make_mut(&mut self.recent).push(Arc::new(added));
    }
}
