//! Which of many string patterns match a text?
//!
//! Idea: almost every pattern has a *needle*, a short string without which no text matches it. One Aho-Corasick
//! automaton finds the needles of all patterns in one pass over the text, and only the patterns whose needle occurs
//! are tested. Needles and text are compared in ASCII lower case, so that ILIKE shares the automaton without a needle for
//! every spelling. A pattern without a needle (`\d+`, `_%`) is tested on every text. These are not compiled into a set of
//! regexes: where its DFA outgrows the cache, as it does with large classes and several `%`, a set takes up to ten times
//! as long as its members one by one.
//!
//! An automaton is immutable, so patterns are in segments of growing sizes, each with an automaton of its own, and the
//! most recent ones in a short list without one. A full list becomes a segment, merged with those that are at most twice
//! as large. Removed patterns leave gaps; a segment with more gaps than patterns is rebuilt.
//!
//! Invariants: a number is in one segment or in the list; a segment's numbers ascend; each pattern of a segment is
//! reached through all needles of one of its choices, or is in the segment's list of patterns without a needle.
//!
//! Cost: a pass over the text for each of O(log n) segments, and one test for each pattern whose needle occurs. A pattern
//! takes part in O(log n) builds.

mod needles;

use crate::engine::shared::keyed_hash::KeyedMap;
use crate::expr::{Matcher, TextPattern};
use aho_corasick::AhoCorasick;
use needles::{Needles, choices};
use std::sync::Arc;

/// Maximum patterns in the list without an automaton. Few, since a regex is slow.
const MAX_RECENT: usize = 8;

/// Maximum estimated occurrences of a choice of needles per text; no single needle exceeds it. Patterns with more are tested
/// on every text.
const MAX_RISK: f64 = 2.0;

/// See the module's head.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    /// The most recent patterns, at most [`MAX_RECENT`].
    recent: Vec<PatternEntry>,
    segments: Vec<PatternSegment>,
    /// Number of patterns.
    len: usize,
}

/// A pattern in the set.
#[derive(Debug)]
struct PatternEntry {
    /// The caller's number.
    number: u32,
    pattern: Arc<TextPattern>,
    /// Alternative sets of needles; empty if the pattern has none.
    choices: Vec<Needles>,
}

/// Patterns with their automaton.
#[derive(Debug)]
struct PatternSegment {
    /// Ascending; those of removed patterns included.
    numbers: Vec<u32>,
    /// In the order of `numbers`; `None` where one was removed.
    entries: Vec<Option<PatternEntry>>,
    /// Number of patterns that are not removed.
    live: usize,
    /// Finds all needles; `None` if they are too many for one automaton, so that every pattern is unfiltered.
    automaton: Option<AhoCorasick>,
    /// By needle: where its patterns begin in `members`; one element more than there are needles.
    starts: Vec<u32>,
    /// Patterns by needle, as positions in `entries`.
    members: Vec<u32>,
    /// Patterns without a needle, as positions in `entries`.
    unfiltered: Vec<u32>,
}

/// The buffers of [`Patterns::find`]. Serves any set, also after updates.
#[derive(Debug, Default)]
pub(crate) struct PatternScratch {
    /// Number of the pass over a text, from 1 on.
    pass: u32,
    /// By needle: the last pass in which it occurred.
    needles: Vec<u32>,
    /// By position in a segment: the last pass in which the pattern was tested.
    entries: Vec<u32>,
    /// The text in ASCII lower case.
    lower: Vec<u8>,
}

impl Patterns {
    /// A set of patterns with distinct numbers.
    pub fn of(patterns: impl IntoIterator<Item = (u32, Arc<TextPattern>)>) -> Patterns {
        let entry = |(number, pattern): (u32, Arc<TextPattern>)| {
            let choices = choices(&pattern);
            PatternEntry { number, pattern, choices }
        };
        let entries: Vec<PatternEntry> = patterns.into_iter().map(entry).collect();
        let mut set = Patterns { len: entries.len(), ..Patterns::default() };
        set.build(entries);
        set
    }

    /// Inserts a pattern under a number that is not in the set.
    pub fn insert(&mut self, number: u32, pattern: &Arc<TextPattern>) {
        self.recent.push(PatternEntry { number, pattern: Arc::clone(pattern), choices: choices(pattern) });
        self.len += 1;
        if self.recent.len() > MAX_RECENT {
            let entries = std::mem::take(&mut self.recent);
            self.build(entries);
        }
    }

    /// Removes the pattern under a number that is in the set.
    pub fn remove(&mut self, number: u32) {
        self.len -= 1;
        if let Some(at) = self.recent.iter().position(|entry| entry.number == number) {
            self.recent.swap_remove(at);
            return;
        }
        let Some(at) = self.segments.iter_mut().position(|segment| segment.remove(number)) else {
            unreachable!("pattern {number} is in the set");
        };
        if self.segments[at].is_sparse() {
            let segment = self.segments.swap_remove(at);
            self.build(segment.entries.into_iter().flatten().collect());
        }
    }

    /// Number of patterns.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no pattern.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Calls `visit` once for every pattern that matches the text, in any order.
    pub fn find(&self, text: &str, scratch: &mut PatternScratch, mut visit: impl FnMut(u32)) {
        self.recent.iter().filter(|entry| entry.pattern.matches(text)).for_each(|entry| visit(entry.number));
        scratch.lower.clear();
        scratch.lower.extend_from_slice(text.as_bytes());
        scratch.lower.make_ascii_lowercase();
        self.segments.iter().for_each(|segment| segment.find(text, scratch, &mut visit));
    }

    /// Builds a segment of entries, merged with all segments that are at most twice as large.
    fn build(&mut self, mut entries: Vec<PatternEntry>) {
        // A merge may make the next segment small enough in comparison.
        while let Some(at) = self.segments.iter().position(|segment| segment.live <= 2 * entries.len()) {
            entries.extend(self.segments.swap_remove(at).entries.into_iter().flatten());
        }
        if !entries.is_empty() {
            self.segments.push(PatternSegment::new(entries));
        }
    }

    /// Checks the invariants.
    pub fn validate(&self) -> Result<(), String> {
        let built = self.segments.iter().flat_map(|segment| segment.entries.iter().flatten());
        let mut numbers: Vec<u32> = self.recent.iter().chain(built).map(|entry| entry.number).collect();
        numbers.sort_unstable();
        if !numbers.is_sorted_by(|a, b| a < b) {
            return Err("patterns: a number is in two by_needle".into());
        }
        if numbers.len() != self.len || self.recent.len() > MAX_RECENT {
            let recent = self.recent.len();
            return Err(format!("patterns: {} live, {} counted, {recent} recent", numbers.len(), self.len));
        }
        self.segments.iter().try_for_each(PatternSegment::validate)
    }

    /// Bytes in use, approximately, without the patterns, which are shared.
    pub fn memory(&self) -> usize {
        let recent: usize = self.recent.iter().map(PatternEntry::heap).sum();
        let segments: usize = self.segments.iter().map(PatternSegment::heap).sum();
        self.recent.capacity() * size_of::<PatternEntry>()
            + self.segments.capacity() * size_of::<PatternSegment>()
            + recent
            + segments
    }
}

impl PatternScratch {
    /// Begins a pass: no needle has occurred, no pattern is tested.
    fn begin(&mut self, needles: usize, entries: usize) {
        self.pass = self.pass.wrapping_add(1);
        if self.pass == 0 {
            self.needles.fill(0);
            self.entries.fill(0);
            self.pass = 1;
        }
        self.needles.resize(self.needles.len().max(needles), 0);
        self.entries.resize(self.entries.len().max(entries), 0);
    }
}

/// Marks a position in a pass; false if it was marked before.
fn mark(marks: &mut [u32], position: usize, pass: u32) -> bool {
    std::mem::replace(&mut marks[position], pass) != pass
}

impl PatternSegment {
    /// Chooses the needles and builds the automaton.
    fn new(mut entries: Vec<PatternEntry>) -> PatternSegment {
        entries.sort_unstable_by_key(|entry| entry.number);
        let mut shared: KeyedMap<&[u8], u32> = KeyedMap::default();
        for needle in entries.iter().flat_map(|entry| entry.choices.iter().flatten()) {
            *shared.entry(needle).or_default() += 1;
        }
        // A needle occurs by chance, the longer the less often; and needles that many patterns share occur in many texts,
        // since texts and patterns have topics in common.
        let risk = |needle: &Vec<u8>| {
            f64::from(shared[needle.as_slice()] - 1) / entries.len() as f64
                + 0.125_f64.powi(needle.len() as i32 - 1)
        };
        let (mut by_needle, mut unfiltered) = (Vec::new(), Vec::new());
        for (position, entry) in (0_u32..).zip(&entries) {
            let choices =
                entry.choices.iter().map(|needles| (needles.iter().map(risk).sum::<f64>(), needles));
            match choices.min_by(|a, b| a.0.total_cmp(&b.0)) {
                Some((risk, needles)) if risk <= MAX_RISK => {
                    by_needle.extend(needles.iter().map(|needle| (needle.as_slice(), position)));
                }
                _ => unfiltered.push(position),
            }
        }
        by_needle.sort_unstable();

        let (mut needles, mut starts, mut members) = (Vec::new(), vec![0], Vec::new());
        for of_needle in by_needle.chunk_by(|a, b| a.0 == b.0) {
            needles.push(of_needle[0].0);
            members.extend(of_needle.iter().map(|(_, position)| *position));
            starts.push(members.len() as u32);
        }
        let automaton = AhoCorasick::new(&needles).ok();
        if automaton.is_none() {
            // It would have more states than it can number.
            unfiltered = (0..entries.len() as u32).collect();
        }
        let numbers = entries.iter().map(|entry| entry.number).collect();
        let live = entries.len();
        let entries = entries.into_iter().map(Some).collect();
        PatternSegment { numbers, entries, live, automaton, starts, members, unfiltered }
    }

    /// Removes a pattern; whether it was here.
    fn remove(&mut self, number: u32) -> bool {
        let removed = self.numbers.binary_search(&number).is_ok_and(|at| self.entries[at].take().is_some());
        self.live -= usize::from(removed);
        removed
    }

    /// Whether most of its patterns were removed.
    fn is_sparse(&self) -> bool {
        2 * self.live < self.entries.len()
    }

    /// As [`Patterns::find`]; the scratch has the text in lower case.
    fn find(&self, text: &str, scratch: &mut PatternScratch, visit: &mut impl FnMut(u32)) {
        for entry in self.unfiltered.iter().filter_map(|position| self.entries[*position as usize].as_ref()) {
            if entry.pattern.matches(text) {
                visit(entry.number);
            }
        }
        let Some(automaton) = self.automaton.as_ref().filter(|_| !self.members.is_empty()) else { return };
        scratch.begin(self.starts.len(), self.entries.len());
        for found in automaton.find_overlapping_iter(&scratch.lower) {
            let needle = found.pattern().as_usize();
            if !mark(&mut scratch.needles, needle, scratch.pass) {
                continue;
            }
            for &position in self.members_of(needle) {
                if let Some(entry) = &self.entries[position as usize]
                    && mark(&mut scratch.entries, position as usize, scratch.pass)
                    && entry.matches_with_needle_at(found.start(), text)
                {
                    visit(entry.number);
                }
            }
        }
    }

    /// The patterns with this needle, as positions in `entries`.
    fn members_of(&self, needle: usize) -> &[u32] {
        &self.members[self.starts[needle] as usize..self.starts[needle + 1] as usize]
    }

    fn validate(&self) -> Result<(), String> {
        let live = self.entries.iter().flatten().count();
        if live != self.live || self.is_sparse() || self.numbers.len() != self.entries.len() {
            return Err(format!("patterns: {live} live, {} counted of {}", self.live, self.entries.len()));
        }
        if !self.numbers.is_sorted_by(|a, b| a < b) {
            return Err("patterns: the numbers of a segment do not ascend".into());
        }
        let leads_to = |needle: &Vec<u8>, position: u32| {
            self.automaton.iter().flat_map(|automaton| automaton.find_overlapping_iter(needle)).any(|found| {
                found.len() == needle.len() && self.members_of(found.pattern().as_usize()).contains(&position)
            })
        };
        for (position, entry) in self.entries.iter().enumerate() {
            let Some(entry) = entry else { continue };
            let position = position as u32;
            let reached = self.unfiltered.contains(&position)
                || entry
                    .choices
                    .iter()
                    .any(|needles| needles.iter().all(|needle| leads_to(needle, position)));
            if !reached || self.numbers[position as usize] != entry.number {
                return Err(format!("patterns: pattern {} is not reached", entry.number));
            }
        }
        Ok(())
    }

    fn heap(&self) -> usize {
        self.entries.iter().flatten().map(PatternEntry::heap).sum::<usize>()
            + self.entries.capacity() * size_of::<Option<PatternEntry>>()
            + (self.numbers.capacity()
                + self.starts.capacity()
                + self.members.capacity()
                + self.unfiltered.capacity())
                * size_of::<u32>()
            + self.automaton.as_ref().map_or(0, AhoCorasick::memory_usage)
    }
}

impl PatternEntry {
    /// Whether the pattern matches a text in which one of its needles begins at `start`.
    fn matches_with_needle_at(&self, start: usize, text: &str) -> bool {
        // The needle of `contains` is mostly the whole pattern: no search is needed.
        let here = matches!(self.pattern.matcher(), Matcher::Contains(finder)
            if text.as_bytes()[start..].starts_with(finder.needle()));
        here || self.pattern.matches(text)
    }

    fn heap(&self) -> usize {
        let needles = self.choices.iter().flatten().map(|needle| needle.capacity() + size_of::<Vec<u8>>());
        self.choices.capacity() * size_of::<Needles>() + needles.sum::<usize>()
    }
}

#[cfg(test)]
mod tests;
