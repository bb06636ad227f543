//! Conjunctions of three to seven predicates, five on average. Each is generated from one of the events, so an event
//! matches about one subscription in a thousand, and a few by chance.

use super::{CARDINALITY, Predicate, TypedEvent, Workload, draw_events};
use crate::random::Random;

/// Conjunctions over `dimensions` attributes.
pub struct Conj {
    dimensions: usize,
    events: Vec<TypedEvent>,
    predicates: Vec<Predicate>,
    /// Subscription `n` has the predicates `starts[n]..starts[n + 1]`.
    starts: Vec<u32>,
}

const EVENTS: usize = 1_000;
const PAIRS: usize = 30;
/// Percentage of equalities; the other predicates are ranges of up to 40 values to either side.
const EQUALITIES: u64 = 20;
const REACH: u64 = 40;

impl Conj {
    /// Generates events, then conjunctions.
    pub fn new(subscriptions: usize, dimensions: u64) -> Conj {
        Conj::around(subscriptions, dimensions, EVENTS)
    }

    /// As [`Conj::new`], around fewer or more events: each matches one subscription in `events`, and a few by chance.
    pub fn around(subscriptions: usize, dimensions: u64, events: usize) -> Conj {
        let mut random = Random::new();
        let events = draw_events(&mut random, events, dimensions, PAIRS, CARDINALITY);
        let (mut predicates, mut starts) = (Vec::new(), vec![0]);
        for _ in 0..subscriptions {
            let event = &events[random.below(events.len() as u64) as usize];
            let size = 3 + random.below(5) as usize;
            let mut chosen: Vec<usize> = Vec::with_capacity(size);
            while chosen.len() < size {
                let pair = random.below(PAIRS as u64) as usize;
                if !chosen.contains(&pair) {
                    chosen.push(pair);
                }
            }
            predicates.extend(chosen.into_iter().map(|pair| around(event[pair], &mut random)));
            starts.push(predicates.len() as u32);
        }
        Conj::of(dimensions as usize, events, predicates, starts)
    }

    /// Conjunctions that were drawn elsewhere: number `n` has the predicates `starts[n]..starts[n + 1]`.
    pub fn of(
        dimensions: usize,
        events: Vec<TypedEvent>,
        predicates: Vec<Predicate>,
        starts: Vec<u32>,
    ) -> Conj {
        Conj { dimensions, events, predicates, starts }
    }

    /// Number of predicates of all subscriptions.
    pub fn predicates(&self) -> usize {
        self.predicates.len()
    }

    fn subscription(&self, n: usize) -> &[Predicate] {
        &self.predicates[self.starts[n] as usize..self.starts[n + 1] as usize]
    }
}

/// A predicate that a value of an event satisfies.
fn around((attribute, value): (u32, i16), random: &mut Random) -> Predicate {
    let (mut low, mut high) = (value, value);
    if random.below(100) >= EQUALITIES {
        low = (i64::from(value) - random.below(REACH) as i64).max(0) as i16;
        high = (i64::from(value) + random.below(REACH) as i64).min(CARDINALITY as i64 - 1) as i16;
    }
    Predicate { attribute, low, high, negated: false }
}

impl Workload for Conj {
    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn events(&self) -> &[TypedEvent] {
        &self.events
    }

    fn text(&self, subscription: usize) -> String {
        let mut text = String::new();
        for (n, predicate) in self.subscription(subscription).iter().enumerate() {
            if n > 0 {
                text.push_str(" and ");
            }
            predicate.write(&mut text);
        }
        text
    }

    fn holds(&self, subscription: usize, values: &[i16]) -> bool {
        self.subscription(subscription).iter().all(|predicate| predicate.holds(values))
    }
}
