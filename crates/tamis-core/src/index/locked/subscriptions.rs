//! The subscriptions of an index: ids, texts, dense numbers, and insertion order.

use crate::engine::SubId;
use crate::engine::shared::keyed_hash::keyed_hash;
use crate::expr::Root;
use crate::index::id::{Id, IdColumn};
use crate::index::ranking::ExpressionTexts;
use hashbrown::HashTable;

/// One subscription.
#[derive(Clone, Debug)]
pub struct Subscription {
    /// The user's id.
    pub id: Id,
    /// The expression as given, or in canonical form if it was built in code.
    pub text: Box<str>,
    /// Whether the engine holds it, or why not.
    pub decision: Decision,
    /// Position in the order of insertion; a replacement keeps it.
    pub sequence: u64,
}

/// What decides whether an event matches a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The engine, which holds the expression.
    ByEngine,
    /// The expression is always TRUE: every event matches. Not in the engine.
    Always,
    /// The expression is never TRUE: no event matches. Not in the engine.
    Never,
}

impl From<Root> for Decision {
    fn from(root: Root) -> Decision {
        match root {
            Root::Never => Decision::Never,
            Root::Always => Decision::Always,
            Root::Node(_) => Decision::ByEngine,
        }
    }
}

/// The subscriptions of an index, by number and by id.
#[derive(Debug, Default)]
pub struct Subscriptions {
    /// By number; `None` where a number is free.
    slots: Vec<Option<Subscription>>,
    /// By number: the id if it is an integer, 0 otherwise. Lists of integer ids are made from these 8 bytes each.
    int_ids: Vec<i64>,
    /// Numbers to use again, last freed first.
    free: Vec<SubId>,
    /// Numbers by the hash of their id.
    by_id: HashTable<SubId>,
    /// Subscriptions that match every event, unordered.
    always: Vec<SubId>,
    /// Number of ids that are strings.
    text_ids: usize,
    /// Position of the next addition in insertion order.
    next_sequence: u64,
    /// Number of replacements and removals: caches keyed by number are valid while it stays the same.
    changes: u64,
    /// Whether ascending numbers are in insertion order: true until a freed number is used again.
    numbers_in_order: bool,
}

impl Subscriptions {
    pub fn new() -> Subscriptions {
        Subscriptions { numbers_in_order: true, ..Subscriptions::default() }
    }

    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    pub fn find(&self, id: &Id) -> Option<SubId> {
        self.by_id.find(keyed_hash(id), |sub| self.get(*sub).is_some_and(|s| s.id == *id)).copied()
    }

    pub fn get(&self, sub: SubId) -> Option<&Subscription> {
        self.slots.get(sub.index())?.as_ref()
    }

    /// Reserves memory for further subscriptions.
    pub fn reserve(&mut self, additional: usize) {
        self.slots.reserve(additional);
        self.int_ids.reserve(additional);
        let slots = &self.slots;
        self.by_id.reserve(additional, |sub| slots[sub.index()].as_ref().map_or(0, |s| keyed_hash(&s.id)));
    }

    /// The number the next insertion gets; `None` when all 2^32 are in use.
    pub fn next_number(&self) -> Option<SubId> {
        match self.free.last() {
            Some(free) => Some(*free),
            None => u32::try_from(self.slots.len()).ok().filter(|n| *n < u32::MAX).map(SubId),
        }
    }

    /// The position in the order of insertion that the next insertion gets.
    pub fn next_sequence(&self) -> u64 {
        self.next_sequence
    }

    /// Adds a subscription whose id is not present, under [`Subscriptions::next_number`].
    pub fn insert(&mut self, id: Id, text: Box<str>, decision: Decision) {
        let hashed = keyed_hash(&id);
        self.text_ids += usize::from(matches!(id, Id::Text(_)));
        let int_id = if let Id::Int(id) = id { id } else { 0 };
        let subscription = Subscription { id, text, decision, sequence: self.next_sequence };
        self.next_sequence += 1;
        let sub = match self.free.pop() {
            Some(sub) => {
                self.slots[sub.index()] = Some(subscription);
                self.int_ids[sub.index()] = int_id;
                self.numbers_in_order = false;
                sub
            }
            None => {
                self.slots.push(Some(subscription));
                self.int_ids.push(int_id);
                SubId(self.slots.len() as u32 - 1)
            }
        };
        if decision == Decision::Always {
            self.always.push(sub);
        }
        let slots = &self.slots;
        self.by_id
            .insert_unique(hashed, sub, |sub| slots[sub.index()].as_ref().map_or(0, |s| keyed_hash(&s.id)));
    }

    /// Removes a subscription that is present.
    pub fn remove(&mut self, sub: SubId) {
        let Some(removed) = self.slots[sub.index()].take() else {
            return;
        };
        self.changes += 1;
        if let Ok(entry) = self.by_id.find_entry(keyed_hash(&removed.id), |other| *other == sub) {
            entry.remove();
        }
        self.text_ids -= usize::from(matches!(removed.id, Id::Text(_)));
        self.always.retain(|other| *other != sub);
        if sub.index() + 1 == self.slots.len() {
            // Not freed but dropped, so that undoing a failed batch restores the state before it.
            self.slots.pop();
            self.int_ids.pop();
        } else {
            self.free.push(sub);
        }
    }

    /// Replaces the expression of a subscription that is present, and its position in insertion order.
    pub fn replace(&mut self, sub: SubId, text: Box<str>, decision: Decision, sequence: u64) {
        self.changes += 1;
        self.next_sequence = self.next_sequence.max(sequence + 1);
        self.always.retain(|other| *other != sub);
        if decision == Decision::Always {
            self.always.push(sub);
        }
        if let Some(subscription) = &mut self.slots[sub.index()] {
            self.numbers_in_order &= subscription.sequence == sequence;
            (subscription.text, subscription.decision, subscription.sequence) = (text, decision, sequence);
        }
    }

    /// Number of replacements and removals so far.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Subscriptions that match every event.
    pub fn always(&self) -> &[SubId] {
        &self.always
    }

    /// All subscriptions in order of insertion.
    pub fn in_order(&self) -> Vec<(SubId, &Subscription)> {
        let numbered = self.slots.iter().enumerate();
        let mut all: Vec<_> = numbered.filter_map(|(n, s)| Some((SubId(n as u32), s.as_ref()?))).collect();
        if !self.numbers_in_order {
            all.sort_unstable_by_key(|(_, subscription)| subscription.sequence);
        }
        all
    }

    /// Sorts matches into insertion order.
    pub fn sort(&self, matches: &mut [SubId]) {
        if self.numbers_in_order {
            if !matches.is_sorted() {
                matches.sort_unstable();
            }
        } else {
            matches.sort_unstable_by_key(|sub| self.get(*sub).map(|s| s.sequence));
        }
    }

    /// The ids of many matches.
    pub fn ids(&self, matches: &[SubId]) -> IdColumn {
        if self.text_ids == 0 {
            return IdColumn::Ints(matches.iter().map(|sub| self.int_ids[sub.index()]).collect());
        }
        let found = matches.iter().filter_map(|sub| self.get(*sub));
        if self.text_ids < self.len() {
            return IdColumn::Mixed(found.map(|s| s.id.clone()).collect());
        }
        let mut offsets = Vec::with_capacity(matches.len() + 1);
        let mut text = String::new();
        offsets.push(0);
        for subscription in found {
            if let Id::Text(id) = &subscription.id {
                text.push_str(id);
            }
            offsets.push(text.len() as i64);
        }
        IdColumn::Texts { offsets, text }
    }

    /// Bytes in use: for ids and for texts.
    pub fn memory(&self) -> (usize, usize) {
        let subscriptions = self.slots.iter().flatten();
        let (mut ids, mut texts) = (0, 0);
        for subscription in subscriptions {
            texts += subscription.text.len();
            ids += subscription.id.heap();
        }
        let table = self.by_id.allocation_size();
        let column = self.int_ids.capacity() * size_of::<i64>()
            + (self.free.capacity() + self.always.capacity()) * size_of::<SubId>();
        (ids + table + column + self.slots.capacity() * size_of::<Option<Subscription>>(), texts)
    }

    pub fn validate(&self) -> Result<(), String> {
        let live = self.slots.iter().flatten().count();
        if live != self.by_id.len() || live + self.free.len() != self.slots.len() {
            let (ids, free, slots) = (self.by_id.len(), self.free.len(), self.slots.len());
            return Err(format!("subscriptions: {live} live, {ids} ids, {free} free of {slots} numbers"));
        }
        let text_ids = self.slots.iter().flatten().filter(|s| matches!(s.id, Id::Text(_))).count();
        if text_ids != self.text_ids {
            return Err(format!("subscriptions: {text_ids} string ids counted as {}", self.text_ids));
        }
        if self.int_ids.len() != self.slots.len() {
            return Err(format!(
                "subscriptions: {} integer ids for {} numbers",
                self.int_ids.len(),
                self.slots.len()
            ));
        }
        for (sub, subscription) in self.in_order() {
            if let Id::Int(id) = subscription.id
                && self.int_ids[sub.index()] != id
            {
                return Err(format!("subscriptions: integer id {id} is kept as another"));
            }
            if self.find(&subscription.id) != Some(sub) {
                return Err(format!("subscriptions: id {} does not lead to its number", subscription.id));
            }
            if (subscription.decision == Decision::Always) != self.always.contains(&sub) {
                return Err(format!(
                    "subscriptions: the list of tautologies is wrong about {}",
                    subscription.id
                ));
            }
        }
        Ok(())
    }
}

impl ExpressionTexts for Subscriptions {
    type Location = SubId;

    fn key(&self, sub: SubId) -> u64 {
        u64::from(sub.0)
    }

    fn text(&self, sub: SubId) -> Option<&str> {
        self.get(sub).map(|subscription| &*subscription.text)
    }

    fn sequence(&self, sub: SubId) -> u64 {
        self.get(sub).map_or(0, |subscription| subscription.sequence)
    }

    fn id(&self, sub: SubId) -> Id {
        self.get(sub).map_or(Id::Int(0), |subscription| subscription.id.clone())
    }
}
