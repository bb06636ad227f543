//! Predicates on strings that are no ranges: which of them does a string satisfy?
//!
//! Patterns share automata, one set per attribute; each distinct pattern is a dimension whose space 1 means that it was
//! found. Patterns that must not match, patterns under `all(...)` and networks are evaluated directly, one by one.

use crate::compiled::values::event_spaces::EventSpaces;
use crate::compiled::values::pattern_budget::PatternBudget;
use crate::engine::shared::patterns::{PatternScratch, Patterns};
use crate::event::{Event, Slot};
use crate::expr::{Limits, Over, PatternKind, Predicate, Test, TextPattern};
use crate::schema::{AttrId, Schema};
use crate::storage::{Array, Sections, SectionsWriter};
use crate::value::Value;
use ipnet::IpNet;
use std::sync::Arc;

/// A predicate on strings that is no range.
#[derive(Clone, Debug)]
pub(in crate::compiled) struct StringPredicate {
    pub predicate: Predicate,
    /// The dimension that has space 1 where the pattern is found; `None` if the predicate is evaluated directly.
    pub dimension: Option<u32>,
}

/// All such predicates of a segment.
#[derive(Debug, Default)]
pub(in crate::compiled) struct StringPredicates {
    /// By the number that [`ComplexTest::Direct`](crate::compiled::arena::complex_test::ComplexTest) refers to.
    all: Vec<StringPredicate>,
    /// Ascending by attribute; only attributes with patterns.
    searches: Vec<PatternSearch>,
}

/// The patterns that are searched in the strings of one attribute.
#[derive(Debug)]
struct PatternSearch {
    attribute: AttrId,
    /// The value, or some element.
    over: Over,
    /// By number of their dimension.
    patterns: Patterns,
}

impl StringPredicates {
    pub fn new(all: Vec<StringPredicate>) -> StringPredicates {
        let mut searches: Vec<PatternSearch> = Vec::new();
        let mut searched: Vec<(&StringPredicate, u32)> =
            all.iter().filter_map(|it| Some((it, it.dimension?))).collect();
        let key = |predicate: &Predicate| (predicate.attribute, predicate.over == Over::AnyElement);
        searched.sort_by_key(|(string, _)| key(&string.predicate));
        for of_attribute in searched.chunk_by(|a, b| key(&a.0.predicate) == key(&b.0.predicate)) {
            let Predicate { attribute, over, .. } = of_attribute[0].0.predicate;
            let patterns =
                of_attribute.iter().filter_map(|(string, dimension)| match &string.predicate.test {
                    Test::Pattern { pattern, .. } => Some((*dimension, pattern.clone())),
                    _ => None,
                });
            searches.push(PatternSearch { attribute, over, patterns: Patterns::of(patterns) });
        }
        StringPredicates { all, searches }
    }

    /// Evaluates the predicate with this number.
    pub fn holds(&self, number: usize, event: &Event<'_>) -> bool {
        self.all[number].predicate.holds(event)
    }

    /// Attributes and dimensions of the patterns that are searched.
    pub fn dimensions(&self) -> impl Iterator<Item = (AttrId, u32)> {
        self.all.iter().filter_map(|string| Some((string.predicate.attribute, string.dimension?)))
    }

    /// The dimension that has space 1 where the predicate holds, if there is one.
    pub fn dimension(&self, predicate: &Predicate) -> Option<u32> {
        self.all.iter().find(|string| string.predicate == *predicate)?.dimension
    }

    /// The text of the predicate with this number.
    pub fn text(&self, number: usize, schema: &Schema) -> String {
        let name = |predicate: &Predicate| schema.names().nth(predicate.attribute.index()).map(str::to_owned);
        let predicate = self.all.get(number).map(|string| &string.predicate);
        predicate.map_or_else(String::new, |it| it.text(&name(it).unwrap_or_default()))
    }

    /// Sets space 1 in the dimensions of all patterns that the event's strings match.
    pub fn search(&self, event: &Event<'_>, spaces: &mut EventSpaces, scratch: &mut PatternScratch) {
        for search in &self.searches {
            match (search.over, event.slot(search.attribute)) {
                (Over::AnyElement, Slot::List(list)) => {
                    for element in event.elements(list) {
                        if let Value::Text(text) = element {
                            search.patterns.find(text, scratch, |dimension| spaces.set_once(dimension));
                        }
                    }
                }
                (Over::Value, slot @ Slot::Text { .. }) => {
                    if let Value::Text(text) = event.resolve(slot) {
                        search.patterns.find(text, scratch, |dimension| spaces.set(dimension, 1));
                    }
                }
                _ => {}
            }
        }
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn memory(&self) -> usize {
        let heap: usize = self.all.iter().map(|string| string.predicate.heap()).sum();
        let searches: usize = self.searches.iter().map(|search| search.patterns.memory()).sum();
        self.all.capacity() * size_of::<StringPredicate>() + heap + searches
    }

    /// Writes three sections from a tag on: per predicate five numbers (attribute, quantifier, kind, flags, dimension),
    /// the end of its text, and the texts; networks are separated by spaces.
    pub fn write(&self, out: &mut SectionsWriter, tags: u32) {
        let (mut records, mut text, mut ends) = (Vec::<u32>::new(), Vec::<u8>::new(), Vec::<u64>::new());
        for StringPredicate { predicate, dimension } in &self.all {
            let (kind, negated, or_missing) = match &predicate.test {
                Test::Pattern { pattern, negated, or_missing } => {
                    text.extend(pattern.source().as_bytes());
                    (pattern_number(pattern.kind()), *negated, *or_missing)
                }
                Test::Cidr { networks, negated, or_missing } => {
                    let networks: Vec<String> = networks.iter().map(IpNet::to_string).collect();
                    text.extend(networks.join(" ").as_bytes());
                    (NETWORKS, *negated, *or_missing)
                }
                _ => continue,
            };
            let over = match predicate.over {
                Over::Value => 0,
                Over::AnyElement => 1,
                Over::AllElements => 2,
            };
            let flags = u32::from(negated) | u32::from(or_missing) << 1;
            records.extend([predicate.attribute.0, over, kind, flags, dimension.unwrap_or(u32::MAX)]);
            ends.push(text.len() as u64);
        }
        out.put(tags, &records);
        out.put(tags + 1, &ends);
        out.put(tags + 2, &text);
    }

    /// What [`StringPredicates::write`] wrote. Patterns are compiled again; the caller checks their dimensions.
    pub fn open(
        sections: &Sections,
        tags: u32,
        limits: &Limits,
        budget: &PatternBudget,
    ) -> Result<StringPredicates, String> {
        let (records, ends): (Array<u32>, Array<u64>) = (sections.take(tags)?, sections.take(tags + 1)?);
        let bytes: Array<u8> = sections.take(tags + 2)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| "a pattern that is not UTF-8")?;
        if records.len() != 5 * ends.len() {
            return Err(format!("{} numbers for {} patterns", records.len(), ends.len()));
        }
        let mut all = Vec::with_capacity(ends.len());
        let mut start = 0;
        for (record, end) in records.chunks_exact(5).zip(ends.iter()) {
            let source =
                text.get(start..*end as usize).ok_or("a pattern outside the text of all patterns")?;
            start = *end as usize;
            let (negated, or_missing) = (record[3] & 1 == 1, record[3] & 2 == 2);
            let test = if record[2] == NETWORKS {
                let networks: Result<Vec<IpNet>, _> = source.split(' ').map(str::parse).collect();
                let networks = networks.map_err(|error| format!("a network that is none: {error}"))?;
                Test::Cidr { networks: networks.into(), negated, or_missing }
            } else {
                let kind = pattern_kind(record[2]).ok_or("an unknown kind of pattern")?;
                let pattern =
                    TextPattern::new(kind, source, limits).map_err(|error| format!("not {error}"))?;
                budget.take(&pattern)?;
                Test::Pattern { pattern: Arc::new(pattern), negated, or_missing }
            };
            let over = match record[1] {
                0 => Over::Value,
                1 => Over::AnyElement,
                2 => Over::AllElements,
                other => return Err(format!("a pattern over an unknown part of the value: {other}")),
            };
            let predicate = Predicate { attribute: AttrId(record[0]), over, test };
            let dimension = (record[4] != u32::MAX).then_some(record[4]);
            all.push(StringPredicate { predicate, dimension });
        }
        Ok(StringPredicates::new(all))
    }
}

/// The kind of [`Test::Cidr`]; patterns have smaller numbers.
const NETWORKS: u32 = 6;

const PATTERN_KINDS: [PatternKind; 6] = [
    PatternKind::Like,
    PatternKind::ILike,
    PatternKind::Regex,
    PatternKind::Prefix,
    PatternKind::Suffix,
    PatternKind::Contains,
];

fn pattern_kind(number: u32) -> Option<PatternKind> {
    PATTERN_KINDS.get(number as usize).copied()
}

fn pattern_number(kind: PatternKind) -> u32 {
    PATTERN_KINDS.iter().position(|other| *other == kind).unwrap_or(0) as u32
}
