//! Which of many string patterns match a text?
//!
//! Idea: almost every pattern has a *needle*, a short string without which no text matches it. One Aho-Corasick
//! automaton finds the needles of all patterns in one pass over the text, and only the patterns whose needle occurs
//! are asked themselves. Needles and text are compared in lower case as far as ASCII goes, so that ILIKE shares the
//! automaton without writing out every spelling. A pattern from which no needle can be read (`\d+`, `_%`) is asked
//! about every text. These are not put into a set of regexes: where its DFA outgrows the cache, as it does with
//! large classes and several `%`, a set takes up to ten times as long as its members one by one.
//!
//! An automaton cannot be changed, so patterns live in segments of growing sizes, each with an automaton of its
//! own, and the newest ones on a short list that is asked one by one. A full list becomes a segment, merged with
//! those that are not much larger. Removed patterns leave gaps, and a segment with more gaps than patterns is built
//! anew.
//!
//! Invariants: a number is live in one place only; a segment's numbers ascend; each live pattern of a segment is
//! reached through all needles of one of its choices, or listed as one without.
//!
//! Cost: a pass over the text for each of O(log n) segments, and one question for each pattern whose needle occurs.
//! A pattern takes part in O(log n) builds.

mod needles;

use crate::expr::{Matcher, TextPattern};
use aho_corasick::AhoCorasick;
use needles::{Needles, choices};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// How many patterns are asked one by one before they become a segment. Few, since regexes take long.
const RECENT: usize = 8;

/// Needles likelier than this to occur are not worth looking for. No single needle is.
const HIGHEST_RISK: f64 = 2.0;

/// See the module's head.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    recent: Vec<Entry>,
    segments: Vec<Segment>,
    len: usize,
}

/// A pattern in the set.
#[derive(Debug)]
struct Entry {
    number: u32,
    pattern: Arc<TextPattern>,
    /// The needles to choose from. None, if every text may match.
    choices: Vec<Needles>,
}

/// Patterns with their automaton. A pattern's place is its position in `entries`.
#[derive(Debug)]
struct Segment {
    /// Ascending; with those of removed patterns.
    numbers: Vec<u32>,
    /// In the order of `numbers`; `None` where one was removed.
    entries: Vec<Option<Entry>>,
    live: usize,
    /// Finds all needles; `None` where they are too many for one, so that every pattern is unfiltered.
    automaton: Option<AhoCorasick>,
    /// By needle: where its places in `members` begin. One more than there are needles.
    starts: Vec<u32>,
    /// The places of the patterns that have a needle.
    members: Vec<u32>,
    /// The places of the patterns without one.
    unfiltered: Vec<u32>,
}

/// What [`Patterns::find`] writes, for reuse. Serves any set, also after any change.
#[derive(Debug, Default)]
pub(crate) struct PatternScratch {
    /// Counts passes: what is marked with another number was not yet seen in this one.
    pass: u32,
    needles: Vec<u32>,
    entries: Vec<u32>,
    /// The text in lower case, as needles are.
    lower: Vec<u8>,
}

impl Patterns {
    /// A set of many patterns at once, under different numbers.
    pub fn of(patterns: impl IntoIterator<Item = (u32, Arc<TextPattern>)>) -> Patterns {
        let entry = |(number, pattern): (u32, Arc<TextPattern>)| {
            let choices = choices(&pattern);
            Entry { number, pattern, choices }
        };
        let entries: Vec<Entry> = patterns.into_iter().map(entry).collect();
        let mut set = Patterns { len: entries.len(), ..Patterns::default() };
        set.build(entries);
        set
    }

    /// Takes a pattern under a number that is not in the set.
    pub fn insert(&mut self, number: u32, pattern: &Arc<TextPattern>) {
        self.recent.push(Entry { number, pattern: Arc::clone(pattern), choices: choices(pattern) });
        self.len += 1;
        if self.recent.len() > RECENT {
            let entries = std::mem::take(&mut self.recent);
            self.build(entries);
        }
    }

    /// Forgets the pattern under a number that is in the set.
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

    /// How many patterns there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Calls `each` once for every pattern that matches the text, in any order.
    pub fn find(&self, text: &str, scratch: &mut PatternScratch, mut each: impl FnMut(u32)) {
        self.recent.iter().filter(|entry| entry.pattern.matches(text)).for_each(|entry| each(entry.number));
        scratch.lower.clear();
        scratch.lower.extend_from_slice(text.as_bytes());
        scratch.lower.make_ascii_lowercase();
        self.segments.iter().for_each(|segment| segment.find(text, scratch, &mut each));
    }

    /// Makes entries a segment, merged with all that are not more than twice as large.
    fn build(&mut self, mut entries: Vec<Entry>) {
        // What is merged may make the new one large enough for the next.
        while let Some(at) = self.segments.iter().position(|segment| segment.live <= 2 * entries.len()) {
            entries.extend(self.segments.swap_remove(at).entries.into_iter().flatten());
        }
        if !entries.is_empty() {
            self.segments.push(Segment::new(entries));
        }
    }

    /// Checks the invariants.
    pub fn validate(&self) -> Result<(), String> {
        let built = self.segments.iter().flat_map(|segment| segment.entries.iter().flatten());
        let mut numbers: Vec<u32> = self.recent.iter().chain(built).map(|entry| entry.number).collect();
        numbers.sort_unstable();
        if !numbers.is_sorted_by(|a, b| a < b) {
            return Err("patterns: a number lives in two places".into());
        }
        if numbers.len() != self.len || self.recent.len() > RECENT {
            let recent = self.recent.len();
            return Err(format!("patterns: {} live, {} counted, {recent} recent", numbers.len(), self.len));
        }
        self.segments.iter().try_for_each(Segment::validate)
    }

    /// Bytes in use, near enough; the patterns themselves belong to those who gave them.
    pub fn memory(&self) -> usize {
        let recent: usize = self.recent.iter().map(Entry::heap).sum();
        let segments: usize = self.segments.iter().map(Segment::heap).sum();
        self.recent.capacity() * size_of::<Entry>()
            + self.segments.capacity() * size_of::<Segment>()
            + recent
            + segments
    }
}

impl PatternScratch {
    /// Forgets all marks and makes room for so many.
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

/// Marks a place; whether it was unmarked.
fn first_time(marks: &mut [u32], place: usize, pass: u32) -> bool {
    std::mem::replace(&mut marks[place], pass) != pass
}

impl Segment {
    /// Chooses the needles and builds the automaton.
    fn new(mut entries: Vec<Entry>) -> Segment {
        entries.sort_unstable_by_key(|entry| entry.number);
        let mut shared: FxHashMap<&[u8], u32> = FxHashMap::default();
        for needle in entries.iter().flat_map(|entry| entry.choices.iter().flatten()) {
            *shared.entry(needle).or_default() += 1;
        }
        // A needle occurs by chance, the less often the longer it is; or because texts and patterns are about the
        // same things, so that what many patterns share is found in many texts.
        let risk = |needle: &Vec<u8>| {
            f64::from(shared[needle.as_slice()] - 1) / entries.len() as f64
                + 0.125_f64.powi(needle.len() as i32 - 1)
        };
        let (mut places, mut unfiltered) = (Vec::new(), Vec::new());
        for (place, entry) in (0_u32..).zip(&entries) {
            let choices =
                entry.choices.iter().map(|needles| (needles.iter().map(risk).sum::<f64>(), needles));
            match choices.min_by(|a, b| a.0.total_cmp(&b.0)) {
                Some((risk, needles)) if risk <= HIGHEST_RISK => {
                    places.extend(needles.iter().map(|needle| (needle.as_slice(), place)));
                }
                _ => unfiltered.push(place),
            }
        }
        places.sort_unstable();

        let (mut needles, mut starts, mut members) = (Vec::new(), vec![0], Vec::new());
        for of_needle in places.chunk_by(|a, b| a.0 == b.0) {
            needles.push(of_needle[0].0);
            members.extend(of_needle.iter().map(|(_, place)| *place));
            starts.push(members.len() as u32);
        }
        let automaton = AhoCorasick::new(&needles).ok();
        if automaton.is_none() {
            // More states than it can number.
            unfiltered = (0..entries.len() as u32).collect();
        }
        let numbers = entries.iter().map(|entry| entry.number).collect();
        let live = entries.len();
        let entries = entries.into_iter().map(Some).collect();
        Segment { numbers, entries, live, automaton, starts, members, unfiltered }
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

    /// As [`Patterns::find`], with the text in lower case in the scratch.
    fn find(&self, text: &str, scratch: &mut PatternScratch, each: &mut impl FnMut(u32)) {
        for entry in self.unfiltered.iter().filter_map(|place| self.entries[*place as usize].as_ref()) {
            if entry.pattern.matches(text) {
                each(entry.number);
            }
        }
        let Some(automaton) = self.automaton.as_ref().filter(|_| !self.members.is_empty()) else { return };
        scratch.begin(self.starts.len(), self.entries.len());
        for found in automaton.find_overlapping_iter(&scratch.lower) {
            let needle = found.pattern().as_usize();
            if !first_time(&mut scratch.needles, needle, scratch.pass) {
                continue;
            }
            for &place in self.members_of(needle) {
                if let Some(entry) = &self.entries[place as usize]
                    && first_time(&mut scratch.entries, place as usize, scratch.pass)
                    && entry.matches_with_needle_at(found.start(), text)
                {
                    each(entry.number);
                }
            }
        }
    }

    /// The places of the patterns with this needle.
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
        let leads_to = |needle: &Vec<u8>, place: u32| {
            self.automaton.iter().flat_map(|automaton| automaton.find_overlapping_iter(needle)).any(|found| {
                found.len() == needle.len() && self.members_of(found.pattern().as_usize()).contains(&place)
            })
        };
        for (place, entry) in self.entries.iter().enumerate() {
            let Some(entry) = entry else { continue };
            let place = place as u32;
            let reached = self.unfiltered.contains(&place)
                || entry.choices.iter().any(|needles| needles.iter().all(|needle| leads_to(needle, place)));
            if !reached || self.numbers[place as usize] != entry.number {
                return Err(format!("patterns: pattern {} is not reached", entry.number));
            }
        }
        Ok(())
    }

    fn heap(&self) -> usize {
        self.entries.iter().flatten().map(Entry::heap).sum::<usize>()
            + self.entries.capacity() * size_of::<Option<Entry>>()
            + (self.numbers.capacity()
                + self.starts.capacity()
                + self.members.capacity()
                + self.unfiltered.capacity())
                * size_of::<u32>()
            + self.automaton.as_ref().map_or(0, AhoCorasick::memory_usage)
    }
}

impl Entry {
    /// Whether the text matches, in which a needle begins at `start`.
    fn matches_with_needle_at(&self, start: usize, text: &str) -> bool {
        // A substring mostly is its needle, so that there is nothing left to search for.
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
