//! Conjunctions of `=`, `<=` and `>=`, everything at random: the generator of the OpIndex paper (PVLDB 2014, section 7.1).
//!
//! The distributions are those of `python/tamis/workloads`, preset `opindex`: the number of predicates is uniform from 1 to
//! a maximum, attributes are distinct, operands of comparisons uniform over the values. Attributes and the values of
//! equalities and events follow a Zipf distribution, uniform for an exponent of 0. The draws themselves differ from Python's.

use super::{Predicate, TypedEvent, Workload};
use crate::random::Random;
use serde::Deserialize;

/// What a definition sets: the paper's Table 3.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The paper's d: number of attributes.
    attributes: u32,
    /// The paper's sigma: distinct values per attribute, at most 32,767.
    values: u32,
    /// The paper's maximum subscription size; sizes are uniform from 1 on.
    predicates: u64,
    /// Minimum and maximum pairs of an event; the paper's m is the maximum.
    pairs: [u64; 2],
    /// The paper's theta: percentage of equalities; of the others, one half is `<=` and one half `>=`.
    equalities: u64,
    /// Exponent of the Zipf distribution of attributes and values.
    zipf: f64,
}

/// The workload.
pub struct Op {
    attributes: usize,
    events: Vec<TypedEvent>,
    predicates: Vec<Predicate>,
    /// Subscription `n` has the predicates `starts[n]..starts[n + 1]`.
    starts: Vec<u32>,
    /// The greatest value.
    greatest: i16,
}

/// A Zipf distribution over ranks. Weights are whole numbers, so that the last bit of a power decides next to nothing.
struct Zipf {
    /// By rank: the sum of the weights up to it.
    sums: Vec<u64>,
}

impl Zipf {
    fn new(count: u32, exponent: f64) -> Zipf {
        let mut sum = 0;
        let weight = |rank: u32| ((1u64 << 32) as f64 * f64::from(rank).powf(-exponent)) as u64;
        let sums = (1..=count).map(|rank| {
            sum += weight(rank).max(1);
            sum
        });
        Zipf { sums: sums.collect() }
    }

    fn draw(&self, random: &mut Random) -> u32 {
        let at = random.below(self.sums.last().copied().unwrap_or(1));
        self.sums.partition_point(|sum| *sum <= at) as u32
    }
}

impl Op {
    /// Generates events first, so that more subscriptions mean the same events.
    pub fn new(parameters: &Parameters, subscriptions: usize, events: usize, random: &mut Random) -> Op {
        let attribute = Zipf::new(parameters.attributes, parameters.zipf);
        let value = Zipf::new(parameters.values, parameters.zipf);
        let greatest = parameters.values as i16 - 1;
        let mut event = || -> TypedEvent {
            let [fewest, most] = parameters.pairs;
            let size = random.between(fewest, most) as usize;
            let mut chosen = random.distinct(size, |random| attribute.draw(random));
            chosen.sort_unstable();
            chosen.into_iter().map(|name| (name, value.draw(random) as i16)).collect()
        };
        let events = (0..events).map(|_| event()).collect();
        let (mut predicates, mut starts) = (Vec::new(), vec![0]);
        for _ in 0..subscriptions {
            let size = random.between(1, parameters.predicates) as usize;
            let chosen = random.distinct(size, |random| attribute.draw(random));
            predicates.extend(chosen.into_iter().map(|attribute| {
                let any = |random: &mut Random| random.below(parameters.values.into()) as i16;
                let (low, high) = match random.percent(parameters.equalities) {
                    true => {
                        let value = value.draw(random) as i16;
                        (value, value)
                    }
                    false if random.percent(50) => (0, any(random)),
                    false => (any(random), greatest),
                };
                Predicate { attribute, low, high, negated: false }
            }));
            starts.push(predicates.len() as u32);
        }
        Op { attributes: parameters.attributes as usize, events, predicates, starts, greatest }
    }

    fn subscription(&self, n: usize) -> &[Predicate] {
        &self.predicates[self.starts[n] as usize..self.starts[n + 1] as usize]
    }

    /// A comparison as it was drawn. One that accepts a single value is written as the equality it is.
    fn predicate_text(&self, predicate: &Predicate) -> String {
        let Predicate { attribute, low, high, .. } = predicate;
        match (*low, *high) {
            (low, high) if low == high => format!("a{attribute} = {low}"),
            (0, high) => format!("a{attribute} <= {high}"),
            (low, high) if high == self.greatest => format!("a{attribute} >= {low}"),
            (low, high) => format!("a{attribute} between {low} and {high}"),
        }
    }
}

impl Workload for Op {
    fn dimensions(&self) -> usize {
        self.attributes
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn events(&self) -> &[TypedEvent] {
        &self.events
    }

    fn text(&self, subscription: usize) -> String {
        let predicates = self.subscription(subscription).iter();
        predicates.map(|predicate| self.predicate_text(predicate)).collect::<Vec<_>>().join(" and ")
    }

    fn holds(&self, subscription: usize, values: &[i16]) -> bool {
        self.subscription(subscription).iter().all(|predicate| predicate.holds(values))
    }
}
