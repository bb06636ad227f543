//! Workloads that anyone can make again bit for bit, with their right answers.
//!
//! | file | workload |
//! | --- | --- |
//! | `conj` | conjunctions drawn around events, after BE-Gen: dense in few dimensions, sparse in many |
//! | `abe` | arbitrary expressions with shared parts, after ABE-Gen |
//!
//! Every draw comes from one xorshift generator with one seed, in a fixed order; `tests/workload.rs` pins the result.
//! The answers come from a typed evaluation here, which shares nothing with the library.
#![allow(dead_code, reason = "the benchmark and the test use different parts")]

pub mod abe;
pub mod conj;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

pub struct Random(u64);

impl Random {
    pub const SEED: u64 = 88_172_645_463_325_252;

    pub fn new() -> Random {
        Random(Random::SEED)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 11) % bound
    }

    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// `low <= value <= high`; with `negated`, the value is present and outside.
#[derive(Clone, Copy)]
pub struct Predicate {
    pub attribute: u32,
    pub low: i16,
    pub high: i16,
    pub negated: bool,
}

impl Predicate {
    /// `values` holds -1 where the attribute is missing.
    pub fn holds(&self, values: &[i16]) -> bool {
        let value = values[self.attribute as usize];
        value >= 0 && ((self.low <= value && value <= self.high) != self.negated)
    }

    pub fn write(&self, out: &mut String) {
        let Predicate { attribute, low, high, negated } = self;
        let _ = match (low == high, negated) {
            (true, false) => write!(out, "a{attribute} = {low}"),
            (true, true) => write!(out, "a{attribute} != {low}"),
            (false, false) => write!(out, "a{attribute} between {low} and {high}"),
            (false, true) => write!(out, "a{attribute} not between {low} and {high}"),
        };
    }
}

/// Attributes in ascending order, and their values.
pub type Event = Vec<(u32, i16)>;

/// How many values an attribute can take.
pub const CARDINALITY: u64 = 100;

/// How many subscriptions match an event, and the sum of their numbers.
pub type Answer = (u64, u64);

fn tally(matching: impl Iterator<Item = usize>) -> Answer {
    matching.fold((0, 0), |(count, sum), subscription| (count + 1, sum + subscription as u64))
}

/// Subscriptions, numbered from 0, and events.
pub trait Workload {
    fn dimensions(&self) -> usize;
    fn len(&self) -> usize;
    fn events(&self) -> &[Event];
    /// The text of a subscription.
    fn text(&self, subscription: usize) -> String;
    /// Whether an event, spread over all dimensions, satisfies a subscription.
    fn holds(&self, subscription: usize, values: &[i16]) -> bool;

    /// An event spread over all dimensions; -1 where it has no value.
    fn spread(&self, event: &Event) -> Vec<i16> {
        let mut values = vec![-1; self.dimensions()];
        for &(attribute, value) in event {
            values[attribute as usize] = value;
        }
        values
    }

    /// The right answer for an event.
    fn answer(&self, event: &Event) -> Answer {
        let values = self.spread(event);
        tally((0..self.len()).filter(|&subscription| self.holds(subscription, &values)))
    }

    /// Writes `subscriptions.tsv` (number, expression), `events.jsonl` and `expected.tsv` (event, matches, sum of the
    /// matching numbers), so that other systems can be run on the same data.
    fn dump(&self, folder: &Path) -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let subscriptions: String = (0..self.len()).map(|n| format!("{n}\t{}\n", self.text(n))).collect();
        std::fs::write(folder.join("subscriptions.tsv"), subscriptions)?;
        let events: String = self.events().iter().map(|event| json(event) + "\n").collect();
        std::fs::write(folder.join("events.jsonl"), events)?;
        let answers = self.events().iter().map(|event| self.answer(event)).enumerate();
        let expected: String = answers.map(|(n, (count, sum))| format!("{n}\t{count}\t{sum}\n")).collect();
        std::fs::write(folder.join("expected.tsv"), expected)
    }
}

/// An event as JSON text.
pub fn json(event: &Event) -> String {
    let cells: Vec<String> =
        event.iter().map(|(attribute, value)| format!("\"a{attribute}\":{value}")).collect();
    format!("{{{}}}", cells.join(","))
}

fn draw_events(random: &mut Random, count: usize, dimensions: u64, pairs: usize) -> Vec<Event> {
    let draw = |_| {
        let mut event = BTreeMap::new();
        while event.len() < pairs {
            let attribute = random.below(dimensions) as u32;
            event.insert(attribute, random.below(CARDINALITY) as i16);
        }
        event.into_iter().collect()
    };
    (0..count).map(draw).collect()
}
