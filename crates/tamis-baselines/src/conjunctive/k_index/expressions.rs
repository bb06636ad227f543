//! The indexed expressions, each once, with the subscriptions that have it.
//!
//! An indexed expression is a conjunction of some subscription's DNF or, with `form="cnf"`, a whole CNF. Subscriptions
//! that share a conjunction share its entries, as in the paper.
//!
//! Invariants: expressions with equal words are one; `owners` and `members` refer to each other's positions.

use super::clauses::ListedExpression;
use hashbrown::HashTable;
use tamis_core::engine::SubId;
use tamis_core::engine::shared::keyed_hash::keyed_hash;
use tamis_core::engine::shared::list_pool::{ListPool, ListRef, shrink};

/// An indexed expression.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IndexedExpression {
    /// Its predicates, in `words` of [`Expressions`].
    words: ListRef,
    /// Its subscriptions, in `links`: each with its position among the expressions of that subscription.
    owners: ListRef,
    /// By clause: initial counters, in `counters`; empty without choices.
    counters: ListRef,
    /// Number of words of the clauses that are tested at the end.
    tested: u32,
    /// The paper's K.
    pub size: u16,
}

/// See the module's head.
#[derive(Debug, Default)]
pub(super) struct Expressions {
    /// By number.
    entries: Vec<IndexedExpression>,
    /// Free numbers.
    free: Vec<u32>,
    /// Numbers by the hash of the words.
    table: HashTable<u32>,
    /// By subscription: its expressions, in `links`: each with its position among the owners of that expression.
    members: Vec<ListRef>,
    /// Pairs of a number and a position.
    links: ListPool<[u32; 2], 1>,
    words: ListPool<u32, 1>,
    counters: ListPool<i32, 1>,
}

impl Expressions {
    #[inline]
    pub fn get(&self, number: u32) -> &IndexedExpression {
        &self.entries[number as usize]
    }

    /// All clauses.
    pub fn words(&self, number: u32) -> &[u32] {
        self.words.get(self.get(number).words)
    }

    /// The clauses that are tested at the end.
    #[inline]
    pub fn tested_words(&self, number: u32) -> &[u32] {
        let entry = self.get(number);
        if entry.tested == 0 { &[] } else { &self.words.get(entry.words)[..entry.tested as usize] }
    }

    /// The initial counters; empty without choices.
    #[inline]
    pub fn counters(&self, number: u32) -> &[i32] {
        self.counters.get(self.get(number).counters)
    }

    /// The subscriptions that have an expression.
    #[inline]
    pub fn owners(&self, number: u32) -> impl Iterator<Item = SubId> + '_ {
        self.links.get(self.get(number).owners).iter().map(|[sub, _]| SubId(*sub))
    }

    /// The number of an expression with these words.
    pub fn find(&self, words: &[u32]) -> Option<u32> {
        self.table.find(keyed_hash(words), |number| self.words(*number) == words).copied()
    }

    /// Adds an expression that is not stored, without owners.
    pub fn add(&mut self, listed: &ListedExpression) -> u32 {
        let mut entry =
            IndexedExpression { size: listed.size, tested: listed.tested, ..IndexedExpression::default() };
        self.words.extend(&mut entry.words, &listed.words);
        self.counters.extend(&mut entry.counters, &listed.counters);
        let number = match self.free.pop() {
            Some(number) => {
                self.entries[number as usize] = entry;
                number
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        };
        let Expressions { entries, table, words, .. } = self;
        let hash = |number: &u32| keyed_hash(words.get(entries[*number as usize].words));
        table.insert_unique(keyed_hash(&listed.words[..]), number, hash);
        number
    }

    /// Adds an owner.
    pub fn link(&mut self, number: u32, sub: SubId) {
        if self.members.len() <= sub.index() {
            self.members.resize(sub.index() + 1, ListRef::EMPTY);
        }
        let Expressions { entries, members, links, .. } = self;
        let (owners, members) = (&mut entries[number as usize].owners, &mut members[sub.index()]);
        let (owner, member) = ([sub.0, members.len() as u32], [number, owners.len() as u32]);
        links.extend(owners, &[owner]);
        links.extend(members, &[member]);
    }

    /// Removes the last expression of a subscription; its number, and whether no other subscription has it.
    pub fn unlink_last(&mut self, sub: SubId) -> Option<(u32, bool)> {
        let Expressions { entries, members, links, .. } = self;
        let of_sub = members.get_mut(sub.index())?;
        let [number, position] = *links.get(*of_sub).last()?;
        links.remove_range(of_sub, of_sub.len() - 1, 1);
        let owners = &mut entries[number as usize].owners;
        links.swap_remove(owners, position as usize);
        // The last owner took the position.
        if let Some([moved, slot]) = links.get(*owners).get(position as usize).copied() {
            links.get_mut(members[moved as usize])[slot as usize][1] = position;
        }
        Some((number, entries[number as usize].owners.is_empty()))
    }

    /// Removes an expression without owners.
    pub fn remove(&mut self, number: u32) {
        let hash = keyed_hash(self.words(number));
        if let Ok(found) = self.table.find_entry(hash, |other| *other == number) {
            found.remove();
        }
        let entry = std::mem::take(&mut self.entries[number as usize]);
        self.words.release(entry.words);
        self.counters.release(entry.counters);
        self.free.push(number);
    }

    /// Every expression.
    pub fn all(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.entries.len() as u32).filter(|number| !self.get(*number).owners.is_empty())
    }

    /// Number of expressions.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Number of pairs of an expression and a subscription.
    pub fn link_count(&self) -> usize {
        self.all().map(|number| self.get(number).owners.len()).sum()
    }

    /// Whether the stored form is this one.
    pub fn is_stored_as(&self, number: u32, listed: &ListedExpression) -> bool {
        let entry = self.get(number);
        (entry.size, entry.tested) == (listed.size, listed.tested)
            && self.words(number) == listed.words
            && self.counters(number) == listed.counters
    }

    /// Moves lists together and frees memory reserved for growth.
    pub fn defragment(&mut self) {
        let Expressions { entries, members, links, words, counters, .. } = self;
        shrink(entries);
        shrink(members);
        words.defragment(entries.iter_mut().map(|entry| &mut entry.words));
        counters.defragment(entries.iter_mut().map(|entry| &mut entry.counters));
        links.defragment(entries.iter_mut().map(|entry| &mut entry.owners).chain(members));
    }

    /// Checks the invariants.
    pub fn validate(&self) -> Result<(), String> {
        for number in self.all() {
            if self.find(self.words(number)) != Some(number) {
                return Err(format!("k_index: expression {number} is not found, or twice"));
            }
            for (position, [sub, slot]) in (0..).zip(self.links.get(self.get(number).owners)) {
                let member = self.links.get(self.members[*sub as usize]).get(*slot as usize);
                if member != Some(&[number, position]) {
                    return Err(format!("k_index: subscription {sub} does not refer to expression {number}"));
                }
            }
        }
        let members: usize = self.members.iter().map(|list| list.len()).sum();
        if members != self.link_count() || self.table.len() != self.len() {
            return Err(format!("k_index: {members} expressions of subscriptions, counted otherwise"));
        }
        Ok(())
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        self.entries.capacity() * size_of::<IndexedExpression>()
            + self.free.capacity() * size_of::<u32>()
            + self.table.allocation_size()
            + self.members.capacity() * size_of::<ListRef>()
            + self.links.memory()
            + self.words.memory()
            + self.counters.memory()
    }
}
