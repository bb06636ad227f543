//! Conjunctions and arbitrary expressions over small integers, with their right answers.
//!
//! | file | workload |
//! | --- | --- |
//! | `conj` | conjunctions generated from events, after BE-Gen: dense in few dimensions, sparse in many |
//! | `gem` | conjunctions with the parameters of the GEM-Tree paper |
//! | `op` | conjunctions of `=`, `<=` and `>=` at random, after the generator of the OpIndex paper |
//! | `abe` | arbitrary expressions with shared parts, after ABE-Gen |
//!
//! Every random number comes from one xorshift generator with one seed, in a fixed order; `tests/workload.rs` and the totals
//! in the definitions pin the result.
//! The answers come from a typed evaluation here, which shares no code with the library.

pub mod abe;
pub mod conj;
pub mod gem;
pub mod op;

use crate::random::Random;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use tamis_core::index::{IdColumn, Matches};

/// `low <= value <= high`; with `negated`, the value is present and outside.
#[derive(Clone, Copy)]
pub struct Predicate {
    /// The attribute's number.
    pub attribute: u32,
    /// The smallest value inside.
    pub low: i16,
    /// The greatest value inside.
    pub high: i16,
    /// Outside instead of inside.
    pub negated: bool,
}

impl Predicate {
    /// Whether it is true; `values` holds -1 where the attribute is missing.
    pub fn holds(&self, values: &[i16]) -> bool {
        let value = values[self.attribute as usize];
        value >= 0 && ((self.low <= value && value <= self.high) != self.negated)
    }

    /// Appends its text.
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
pub type TypedEvent = Vec<(u32, i16)>;

/// Distinct values per attribute.
pub const CARDINALITY: u64 = 100;

/// The number of subscriptions that match an event, and the sum of their numbers.
pub type Answer = (u64, u64);

/// The answers of an index whose ids are the numbers of the expressions, by event.
pub fn answers_of(found: &Matches) -> Vec<Answer> {
    let IdColumn::Ints(ids) = &found.ids else { unreachable!("all ids are integers") };
    let of_event = |bounds: &[i64]| {
        let ids = &ids[bounds[0] as usize..bounds[1] as usize];
        (ids.len() as u64, ids.iter().map(|id| *id as u64).sum())
    };
    found.offsets.windows(2).map(of_event).collect()
}

fn tally(matching: impl Iterator<Item = usize>) -> Answer {
    matching.fold((0, 0), |(count, sum), subscription| (count + 1, sum + subscription as u64))
}

/// Subscriptions, numbered from 0, and events.
pub trait Workload {
    /// Number of attributes.
    fn dimensions(&self) -> usize;
    /// Number of subscriptions.
    fn len(&self) -> usize;
    /// The events.
    fn events(&self) -> &[TypedEvent];
    /// The text of a subscription.
    fn text(&self, subscription: usize) -> String;
    /// Whether an event, spread over all dimensions, satisfies a subscription.
    fn holds(&self, subscription: usize, values: &[i16]) -> bool;

    /// An event spread over all dimensions; -1 where it has no value.
    fn spread(&self, event: &TypedEvent) -> Vec<i16> {
        let mut values = vec![-1; self.dimensions()];
        for &(attribute, value) in event {
            values[attribute as usize] = value;
        }
        values
    }

    /// Whether there is no subscription.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers of all subscriptions that an event satisfies, in ascending order.
    fn matching(&self, event: &TypedEvent) -> Vec<u32> {
        let values = self.spread(event);
        (0..self.len()).filter(|&n| self.holds(n, &values)).map(|n| n as u32).collect()
    }

    /// The right answer for an event: the tight scan that ratios are quoted against.
    fn answer(&self, event: &TypedEvent) -> Answer {
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
pub fn json(event: &TypedEvent) -> String {
    let cells: Vec<String> =
        event.iter().map(|(attribute, value)| format!("\"a{attribute}\":{value}")).collect();
    format!("{{{}}}", cells.join(","))
}

fn draw_events(
    random: &mut Random,
    count: usize,
    dimensions: u64,
    pairs: usize,
    cardinality: u64,
) -> Vec<TypedEvent> {
    let draw = |_| {
        let mut event = BTreeMap::new();
        while event.len() < pairs {
            let attribute = random.below(dimensions) as u32;
            event.insert(attribute, random.below(cardinality) as i16);
        }
        event.into_iter().collect()
    };
    (0..count).map(draw).collect()
}
