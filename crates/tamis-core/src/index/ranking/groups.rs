//! Which group does an id belong to? For rankings with at most some matches of each group.

use super::ranker::ExpressionTexts;
use crate::engine::scoring::{BestK, BestOfGroups, WorstOfBest};
use crate::engine::shared::keyed_hash::KeyedMap;
use crate::index::Id;
use std::num::NonZeroUsize;

/// Groups of ids, such as the campaign of each advertisement. An id that is not in it is a group of its own.
///
/// It belongs to no index: several indexes can use one, and an index several. Cost: about 50 bytes per id, and one lookup
/// per match that is good enough to be among the best.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    /// Position in `names` by id.
    numbers: KeyedMap<Id, u32>,
    /// Distinct groups.
    names: Vec<Id>,
}

impl Groups {
    /// Groups by id; of several pairs with the same id, the last counts.
    pub fn new(pairs: impl IntoIterator<Item = (Id, Id)>) -> Groups {
        let (mut groups, mut positions) = (Groups::default(), KeyedMap::<Id, u32>::default());
        for (id, group) in pairs {
            let next = groups.names.len() as u32;
            let number = *positions.entry(group).or_insert_with_key(|group| {
                groups.names.push(group.clone());
                next
            });
            groups.numbers.insert(id, number);
        }
        groups
    }

    /// Number of ids.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether no id has a group.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The group of an id.
    pub fn get(&self, id: &Id) -> Option<&Id> {
        self.names.get(*self.numbers.get(id)? as usize)
    }

    /// Ids and their groups, in any order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Id, &Id)> {
        self.numbers.iter().map(|(id, number)| (id, &self.names[*number as usize]))
    }

    /// The number of an id's group; beyond all of them, one of its own for an id at a position in insertion order.
    fn number(&self, id: &Id, sequence: u64) -> u64 {
        self.numbers.get(id).map_or(sequence | 1 << 63, |number| u64::from(*number))
    }
}

/// How many matches are wanted.
#[derive(Clone, Copy, Debug)]
pub struct TopK<'g> {
    /// Maximum matches per event.
    pub k: usize,
    /// Maximum matches of each group, and the groups; `None` without such a maximum.
    pub groups: Option<(&'g Groups, NonZeroUsize)>,
}

impl From<usize> for TopK<'static> {
    fn from(k: usize) -> TopK<'static> {
        TopK { k, groups: None }
    }
}

/// The best matches of an event so far, with or without groups. Reused from event to event.
pub(in crate::index) struct BestMatches<L> {
    plain: BestK<L>,
    grouped: BestOfGroups<L>,
}

impl<L> Default for BestMatches<L> {
    fn default() -> BestMatches<L> {
        BestMatches { plain: BestK::default(), grouped: BestOfGroups::default() }
    }
}

impl<L: Copy> BestMatches<L> {
    /// Drops all matches and begins a ranking, which is passed to all other calls.
    pub fn begin(&mut self, top_k: TopK<'_>) {
        match top_k.groups {
            None => self.plain.begin(top_k.k),
            Some((_, per_group)) => self.grouped.begin(top_k.k, per_group.get()),
        }
    }

    /// Takes a match if it is among the best so far.
    pub fn offer(
        &mut self,
        top_k: TopK<'_>,
        score: f64,
        texts: &impl ExpressionTexts<Location = L>,
        location: L,
    ) {
        match top_k.groups {
            None => self.plain.offer(score, || texts.sequence(location), location),
            Some((groups, _)) => {
                let sequence = texts.sequence(location);
                let group = || groups.number(&texts.id(location), sequence);
                self.grouped.offer(score, sequence, group, location);
            }
        }
    }

    /// The worst of the best k, once there are k.
    pub fn worst(&mut self, top_k: TopK<'_>) -> Option<WorstOfBest> {
        if top_k.groups.is_none() { self.plain.worst() } else { self.grouped.worst() }
    }

    /// Takes out all matches, best first, with their scores.
    pub fn drain(&mut self, top_k: TopK<'_>, each: impl FnMut(L, f64)) {
        if top_k.groups.is_none() { self.plain.drain(each) } else { self.grouped.drain(each) }
    }
}
