//! Symbols: the predicates whose truth is found once per event, whatever the number of pivots that list them.
//!
//! Strings, patterns, networks and list quantifiers have no small operands. Each distinct predicate on them is a symbol, a
//! number; predicate lists have it as an operand of `=`, in the field of its attribute. For each value of an event the
//! symbols that it satisfies are found here, and each is searched in the lists of a pivot as a number would be.
//!
//! | predicate | found by |
//! | --- | --- |
//! | `= 'text'`, IN of texts | a hash table of texts |
//! | prefix | a hash table of prefixes, probed once per distinct length of the attribute's prefixes |
//! | suffix, contains, LIKE, regular expressions | automata that all patterns of the attribute share |
//! | their negations | the patterns that were not found |
//! | networks, quantifiers, presence, ranges of long strings | testing each |
//!
//! Invariants: a predicate is in exactly one structure while some record uses it as a symbol; `uses` counts these.

use crate::engine::shared::keyed_hash::keyed_hash;
use crate::engine::shared::patterns::{PatternScratch, Patterns};
use crate::engine::shared::predicates::{PredId, Predicates};
use crate::event::{Cell, Event};
use crate::expr::{Cut, OrderedSet, Over, Predicate, Test, TextPattern, after_prefix};
use crate::schema::AttrId;
use crate::value::{Kind, Value};
use hashbrown::HashTable;
use smol_str::SmolStr;
use std::sync::Arc;

/// How a symbol is found.
enum FoundBy<'p> {
    Text(&'p str),
    Prefix(&'p str),
    Pattern(&'p Arc<TextPattern>, bool),
    Testing,
}

impl FoundBy<'_> {
    fn of(predicate: &Predicate) -> FoundBy<'_> {
        match &predicate.test {
            _ if predicate.over != Over::Value => FoundBy::Testing,
            Test::Text(text) => FoundBy::Text(text),
            Test::Pattern { pattern, negated, .. } => FoundBy::Pattern(pattern, *negated),
            Test::Set(set) if set.only_kind() == Some(Kind::Text) => match prefix_of(&set.texts) {
                Some(prefix) => FoundBy::Prefix(prefix),
                None => FoundBy::Testing,
            },
            _ => FoundBy::Testing,
        }
    }
}

/// The prefix of all strings in a set, if the set has all strings with that prefix.
pub(super) fn prefix_of(texts: &OrderedSet<SmolStr>) -> Option<&str> {
    let mut ranges = texts.ranges();
    match (ranges.next(), ranges.next()) {
        (Some((Some(low), Some(high))), None) => is_prefix(low, high).then_some(low.at.as_str()),
        _ => None,
    }
}

/// Whether the strings between two cuts are those with a prefix.
pub(super) fn is_prefix(low: &Cut<SmolStr>, high: &Cut<SmolStr>) -> bool {
    !low.after && !high.after && after_prefix(&low.at).as_ref() == Some(&high.at)
}

/// The symbols of one attribute, without the hash tables.
#[derive(Debug, Default)]
struct AttributeSymbols {
    /// Number of texts.
    texts: usize,
    /// The lengths of its prefixes in bytes, ascending, with the number of prefixes.
    prefixes: Vec<(u32, u32)>,
    /// String patterns, negated ones included.
    patterns: Patterns,
    /// Negated patterns.
    negated: Vec<PredId>,
    /// Tested for every value.
    tested: Vec<PredId>,
}

/// See the module's head.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    /// The predicates of symbols, and those that records have for other reasons.
    pub predicates: Predicates,
    /// By predicate: number of uses as a symbol.
    uses: Vec<u32>,
    /// By attribute; `None` if it has no symbol.
    attributes: Vec<Option<Box<AttributeSymbols>>>,
    /// Texts by attribute and text.
    texts: HashTable<PredId>,
    /// Prefixes by attribute and prefix.
    prefixes: HashTable<PredId>,
}

/// The buffers of finding symbols.
#[derive(Debug, Default)]
pub(super) struct SymbolScratch {
    patterns: PatternScratch,
    /// The negated patterns that match the value.
    matched: Vec<PredId>,
}

fn hash_of(attribute: AttrId, text: &str) -> u64 {
    keyed_hash(&(attribute.0, text))
}

impl Symbols {
    /// The symbol of a predicate, with one more use.
    pub fn acquire(&mut self, predicate: Predicate) -> PredId {
        let id = self.predicates.acquire(predicate);
        if self.uses.len() <= id.index() {
            self.uses.resize(id.index() + 1, 0);
        }
        self.uses[id.index()] += 1;
        if self.uses[id.index()] == 1 {
            self.add(id);
        }
        id
    }

    /// Counts one use less; after the last, the symbol is gone.
    pub fn release(&mut self, id: PredId) {
        self.uses[id.index()] -= 1;
        if self.uses[id.index()] == 0 {
            self.remove(id);
        }
        self.predicates.release(id);
    }

    fn add(&mut self, id: PredId) {
        let predicate = self.predicates.get(id);
        let at = predicate.attribute.index();
        if self.attributes.len() <= at {
            self.attributes.resize_with(at + 1, || None);
        }
        let found = self.attributes[at].get_or_insert_default();
        let predicates = &self.predicates;
        match FoundBy::of(predicate) {
            FoundBy::Text(text) => {
                found.texts += 1;
                let hash = hash_of(predicate.attribute, text);
                self.texts.insert_unique(hash, id, |id| table_hash(predicates, *id));
            }
            FoundBy::Prefix(prefix) => {
                let length = prefix.len() as u32;
                match found.prefixes.binary_search_by_key(&length, |entry| entry.0) {
                    Ok(at) => found.prefixes[at].1 += 1,
                    Err(at) => found.prefixes.insert(at, (length, 1)),
                }
                let hash = hash_of(predicate.attribute, prefix);
                self.prefixes.insert_unique(hash, id, |id| table_hash(predicates, *id));
            }
            FoundBy::Pattern(pattern, negated) => {
                found.patterns.insert(id.0, pattern);
                if negated {
                    found.negated.push(id);
                }
            }
            FoundBy::Testing => found.tested.push(id),
        }
    }

    fn remove(&mut self, id: PredId) {
        let predicate = self.predicates.get(id);
        let Some(found) = &mut self.attributes[predicate.attribute.index()] else { return };
        let take = |table: &mut HashTable<PredId>, text: &str| {
            if let Ok(entry) = table.find_entry(hash_of(predicate.attribute, text), |other| *other == id) {
                entry.remove();
            }
        };
        match FoundBy::of(predicate) {
            FoundBy::Text(text) => {
                found.texts -= 1;
                take(&mut self.texts, text);
            }
            FoundBy::Prefix(prefix) => {
                let length = prefix.len() as u32;
                if let Ok(at) = found.prefixes.binary_search_by_key(&length, |entry| entry.0) {
                    found.prefixes[at].1 -= 1;
                    found.prefixes.retain(|entry| entry.1 > 0);
                }
                take(&mut self.prefixes, prefix);
            }
            FoundBy::Pattern(_, negated) => {
                found.patterns.remove(id.0);
                if negated {
                    found.negated.retain(|other| *other != id);
                }
            }
            FoundBy::Testing => found.tested.retain(|other| *other != id),
        }
        if found.len() == 0 {
            self.attributes[predicate.attribute.index()] = None;
        }
    }

    /// Visits the symbols that a value of an event satisfies.
    #[inline]
    pub fn find(
        &self,
        event: &Event<'_>,
        cell: &Cell,
        scratch: &mut SymbolScratch,
        mut visit: impl FnMut(PredId),
    ) {
        let Some(Some(found)) = self.attributes.get(cell.attribute.index()) else { return };
        if let Value::Text(text) = event.resolve(cell.slot) {
            self.find_text(found, cell.attribute, text, scratch, &mut visit);
        }
        found.tested.iter().filter(|id| self.predicates.get(**id).holds(event)).for_each(|id| visit(*id));
    }

    fn find_text(
        &self,
        found: &AttributeSymbols,
        attribute: AttrId,
        text: &str,
        scratch: &mut SymbolScratch,
        visit: &mut impl FnMut(PredId),
    ) {
        let look_up = |table: &HashTable<PredId>, text: &str| {
            let is_same = |id: &PredId| {
                let predicate = self.predicates.get(*id);
                predicate.attribute == attribute && table_text(predicate) == text
            };
            table.find(hash_of(attribute, text), is_same).copied()
        };
        if found.texts > 0 {
            look_up(&self.texts, text).into_iter().for_each(&mut *visit);
        }
        for (length, _) in &found.prefixes {
            match text.get(..*length as usize) {
                Some(prefix) => look_up(&self.prefixes, prefix).into_iter().for_each(&mut *visit),
                None if *length as usize > text.len() => break,
                // In the middle of a character.
                None => {}
            }
        }
        if found.patterns.is_empty() {
            return;
        }
        let SymbolScratch { patterns, matched } = scratch;
        matched.clear();
        found.patterns.find(text, patterns, |number| match self.predicates.get(PredId(number)).test {
            Test::Pattern { negated: true, .. } => matched.push(PredId(number)),
            _ => visit(PredId(number)),
        });
        matched.sort_unstable();
        found.negated.iter().filter(|id| matched.binary_search(id).is_err()).for_each(|id| visit(*id));
    }

    /// Number of symbols.
    pub fn len(&self) -> usize {
        self.attributes.iter().flatten().map(|found| found.len()).sum()
    }

    /// Checks the parts; `uses` are the symbols of all records, in any order.
    pub fn validate(&self, uses: impl Iterator<Item = PredId>) -> Result<(), String> {
        self.predicates.validate()?;
        let mut counted = vec![0; self.uses.len()];
        uses.for_each(|id| counted[id.index()] += 1);
        if counted != self.uses {
            return Err("a symbol is used more or less often than counted".into());
        }
        let distinct = counted.iter().filter(|uses| **uses > 0).count();
        let texts: usize = self.attributes.iter().flatten().map(|found| found.texts).sum();
        let prefixes = self.attributes.iter().flatten().flat_map(|found| &found.prefixes);
        let prefixes: u32 = prefixes.map(|(_, count)| count).sum();
        if distinct != self.len() || (texts, prefixes as usize) != (self.texts.len(), self.prefixes.len()) {
            return Err(format!("{distinct} symbols are used, {} are found by values", self.len()));
        }
        self.attributes.iter().flatten().try_for_each(|found| found.patterns.validate())
    }

    /// Frees memory reserved for growth.
    pub fn defragment(&mut self) {
        self.predicates.defragment();
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        let attributes = self.attributes.iter().flatten();
        self.predicates.memory()
            + self.uses.capacity() * size_of::<u32>()
            + self.attributes.capacity() * size_of::<Option<Box<AttributeSymbols>>>()
            + attributes.map(|found| found.memory()).sum::<usize>()
            + self.texts.allocation_size()
            + self.prefixes.allocation_size()
    }
}

/// The text that a table has a symbol under. Called for every value of an event: allocates nothing.
fn table_text(predicate: &Predicate) -> &str {
    match &predicate.test {
        Test::Text(text) => text,
        Test::Set(set) => set.texts.cuts().first().map_or("", |low| low.at.as_str()),
        _ => "",
    }
}

fn table_hash(predicates: &Predicates, id: PredId) -> u64 {
    let predicate = predicates.get(id);
    hash_of(predicate.attribute, table_text(predicate))
}

impl AttributeSymbols {
    /// Number of symbols.
    fn len(&self) -> usize {
        let prefixes: u32 = self.prefixes.iter().map(|(_, count)| count).sum();
        self.texts + prefixes as usize + self.patterns.len() + self.tested.len()
    }

    fn memory(&self) -> usize {
        size_of::<AttributeSymbols>()
            + self.prefixes.capacity() * size_of::<(u32, u32)>()
            + self.patterns.memory()
            + (self.negated.capacity() + self.tested.capacity()) * size_of::<PredId>()
    }
}
