//! Predicates on strings that are no ranges: patterns, which one automaton an attribute looks for in passing, and those
//! that have to be asked one by one (patterns that must not match, networks).

use crate::compiled::build::conditions::Textual;
use crate::compiled::values::event_spaces::Located;
use crate::engine::shared::patterns::{PatternScratch, Patterns};
use crate::event::{Event, Slot};
use crate::expr::{Limits, Over, PatternKind, Predicate, Test, TextPattern};
use crate::schema::{AttrId, Schema};
use crate::storage::{Array, Sections, SectionsWriter};
use crate::value::Value;
use ipnet::IpNet;
use std::sync::Arc;

/// See the module's head.
#[derive(Debug, Default)]
pub(in crate::compiled) struct Textuals {
    all: Vec<Textual>,
    /// By attribute, ascending; only those with patterns.
    searches: Vec<Search>,
}

/// The patterns that are looked for in one attribute's texts.
#[derive(Debug)]
struct Search {
    attribute: AttrId,
    over: Over,
    /// Under the number of their dimension.
    patterns: Patterns,
}

impl Textuals {
    pub fn new(all: Vec<Textual>) -> Textuals {
        let mut searches: Vec<Search> = Vec::new();
        let mut flagged: Vec<(&Textual, u32)> = all.iter().filter_map(|it| Some((it, it.flag?))).collect();
        let key = |predicate: &Predicate| (predicate.attribute, predicate.over == Over::AnyElement);
        flagged.sort_by_key(|(textual, _)| key(&textual.predicate));
        for of_attribute in flagged.chunk_by(|a, b| key(&a.0.predicate) == key(&b.0.predicate)) {
            let Predicate { attribute, over, .. } = of_attribute[0].0.predicate;
            let patterns = of_attribute.iter().filter_map(|(textual, flag)| match &textual.predicate.test {
                Test::Pattern { pattern, .. } => Some((*flag, pattern.clone())),
                _ => None,
            });
            searches.push(Search { attribute, over, patterns: Patterns::of(patterns) });
        }
        Textuals { all, searches }
    }

    /// Whether the predicate with this number holds.
    pub fn holds(&self, number: usize, event: &Event<'_>) -> bool {
        self.all[number].predicate.holds(event)
    }

    /// The attributes of the patterns that are looked for, and their dimensions.
    pub fn flags(&self) -> impl Iterator<Item = (AttrId, u32)> {
        self.all.iter().filter_map(|textual| Some((textual.predicate.attribute, textual.flag?)))
    }

    /// The dimension that is TRUE where the predicate holds, if there is one.
    pub fn flag(&self, predicate: &Predicate) -> Option<u32> {
        self.all.iter().find(|textual| textual.predicate == *predicate)?.flag
    }

    /// The predicate with this number, for people.
    pub fn text(&self, number: usize, schema: &Schema) -> String {
        let name = |predicate: &Predicate| schema.names().nth(predicate.attribute.index()).map(str::to_owned);
        let predicate = self.all.get(number).map(|textual| &textual.predicate);
        predicate.map_or_else(String::new, |it| it.text(&name(it).unwrap_or_default()))
    }

    /// Sets the dimensions of all patterns that are found.
    pub fn find(&self, event: &Event<'_>, located: &mut Located, scratch: &mut PatternScratch) {
        for search in &self.searches {
            match (search.over, event.slot(search.attribute)) {
                (Over::AnyElement, Slot::List(list)) => {
                    for element in event.elements(list) {
                        if let Value::Text(text) = element {
                            search.patterns.find(text, scratch, |flag| located.set_once(flag));
                        }
                    }
                }
                (Over::Value, slot @ Slot::Text { .. }) => {
                    if let Value::Text(text) = event.resolve(slot) {
                        search.patterns.find(text, scratch, |flag| located.set(flag, 1));
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
        let heap: usize = self.all.iter().map(|textual| textual.predicate.heap()).sum();
        let searches: usize = self.searches.iter().map(|search| search.patterns.memory()).sum();
        self.all.capacity() * size_of::<Textual>() + heap + searches
    }

    /// Each as five numbers (attribute, what of it, kind, flags, dimension) and a text; networks are separated by spaces.
    pub fn write(&self, out: &mut SectionsWriter, tags: u32) {
        let (mut records, mut text, mut ends) = (Vec::<u32>::new(), Vec::<u8>::new(), Vec::<u64>::new());
        for Textual { predicate, flag } in &self.all {
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
            records.extend([predicate.attribute.0, over, kind, flags, flag.unwrap_or(u32::MAX)]);
            ends.push(text.len() as u64);
        }
        out.put(tags, &records);
        out.put(tags + 1, &ends);
        out.put(tags + 2, &text);
    }

    pub fn open(
        sections: &Sections,
        tags: u32,
        limits: &Limits,
        dimensions: usize,
    ) -> Result<Textuals, String> {
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
                Test::Pattern { pattern: Arc::new(pattern), negated, or_missing }
            };
            let over = match record[1] {
                0 => Over::Value,
                1 => Over::AnyElement,
                2 => Over::AllElements,
                other => return Err(format!("a pattern over an unknown part of the value: {other}")),
            };
            let predicate = Predicate { attribute: AttrId(record[0]), over, test };
            let flag = (record[4] != u32::MAX).then_some(record[4]);
            if flag.is_some_and(|flag| flag as usize >= dimensions) {
                return Err("a pattern in a dimension that does not exist".into());
            }
            all.push(Textual { predicate, flag });
        }
        Ok(Textuals::new(all))
    }
}

/// The kind of [`Test::Cidr`], behind those of patterns.
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
