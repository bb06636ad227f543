//! One state of the index. Does not change: an update makes the next one, which shares all it can with this.

use super::dead::Dead;
use super::segment::Segment;
use crate::expr::Normal;
use crate::index::Id;
use crate::index::ranking::Written;
use crate::schema::Schema;
use std::sync::Arc;

/// See the module's head.
#[derive(Clone, Default)]
pub(super) struct Snapshot {
    pub schema: Arc<Schema>,
    /// Segments with live members, in no particular order.
    pub parts: Vec<Part>,
    /// Subscriptions that are in no segment yet, in no particular order; few.
    pub recent: Arc<Vec<Arc<Entry>>>,
    /// Live subscriptions in all.
    pub len: usize,
    /// How many of them have a string for an id.
    pub text_ids: usize,
    /// The place of the next addition in the order of insertion; greater than all there are.
    pub next_sequence: u64,
}

/// A segment and who of it is gone.
#[derive(Clone)]
pub(super) struct Part {
    pub segment: Arc<Segment>,
    pub dead: Dead,
}

/// A subscription that is in no segment yet.
pub(super) struct Entry {
    pub id: Id,
    pub text: Box<str>,
    /// Place in the order of insertion; a replacement keeps it.
    pub sequence: u64,
    pub normal: Normal,
}

/// Where a live subscription is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Position in `recent`.
    Recent(usize),
    /// Position in `parts`, and local number.
    Part(usize, u32),
}

impl Part {
    pub fn new(segment: Arc<Segment>) -> Part {
        Part { segment, dead: Dead::default() }
    }

    /// Live members.
    pub fn live(&self) -> usize {
        self.segment.len().saturating_sub(self.dead.count())
    }

    pub fn live_members(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.segment.len() as u32).filter(|local| !self.dead.contains(*local))
    }
}

impl Snapshot {
    pub fn find(&self, id: &Id) -> Option<Place> {
        if let Some(at) = self.recent.iter().position(|entry| entry.id == *id) {
            return Some(Place::Recent(at));
        }
        self.parts.iter().enumerate().find_map(|(at, part)| {
            let local = part.segment.ids.find(id).filter(|local| !part.dead.contains(*local))?;
            Some(Place::Part(at, local))
        })
    }

    /// The text at a place; `None` if a damaged file has none.
    pub fn text(&self, place: Place) -> Option<&str> {
        match place {
            Place::Recent(at) => self.recent.get(at).map(|entry| &*entry.text),
            Place::Part(part, local) => self.parts.get(part)?.segment.texts.get(local as usize),
        }
    }

    pub fn id(&self, place: Place) -> Id {
        match place {
            Place::Recent(at) => self.recent[at].id.clone(),
            Place::Part(part, local) => self.parts[part].segment.ids.get(local as usize),
        }
    }

    pub fn sequence(&self, place: Place) -> u64 {
        match place {
            Place::Recent(at) => self.recent[at].sequence,
            Place::Part(part, local) => self.parts[part].segment.sequence(local),
        }
    }

    /// Every live subscription, in no particular order.
    pub fn places(&self) -> impl Iterator<Item = Place> + '_ {
        let recent = (0..self.recent.len()).map(Place::Recent);
        let parts = self.parts.iter().enumerate();
        recent
            .chain(parts.flat_map(|(at, part)| part.live_members().map(move |local| Place::Part(at, local))))
    }

    /// Every live subscription, in order of insertion.
    pub fn in_order(&self) -> Vec<Place> {
        let mut places: Vec<Place> = self.places().collect();
        places.sort_by_cached_key(|place| self.sequence(*place));
        places
    }

    /// Takes a subscription out. Its segment stays, unless it was the last of it.
    pub fn kill(&mut self, place: Place) {
        self.len -= 1;
        self.text_ids -= usize::from(matches!(self.id(place), Id::Text(_)));
        match place {
            Place::Recent(at) => drop(Arc::make_mut(&mut self.recent).swap_remove(at)),
            Place::Part(at, local) => {
                self.parts[at].dead.insert(local);
                if self.parts[at].live() == 0 {
                    self.parts.remove(at);
                }
            }
        }
    }

    /// Puts in a subscription whose id is not there.
    pub fn push(&mut self, entry: Entry) {
        self.len += 1;
        self.text_ids += usize::from(matches!(entry.id, Id::Text(_)));
        self.next_sequence = self.next_sequence.max(entry.sequence.saturating_add(1));
        Arc::make_mut(&mut self.recent).push(Arc::new(entry));
    }
}

impl Written for Snapshot {
    type Place = Place;

    fn key(&self, place: Place) -> u64 {
        match place {
            // Segments are never that many.
            Place::Recent(at) => (u64::from(u32::MAX) << 32) | at as u64,
            Place::Part(part, local) => ((part as u64) << 32) | u64::from(local),
        }
    }

    fn text(&self, place: Place) -> Option<&str> {
        self.text(place)
    }

    fn sequence(&self, place: Place) -> u64 {
        self.sequence(place)
    }
}
