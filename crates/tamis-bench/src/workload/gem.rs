//! The workloads of the GEM-Tree paper (IEEE Access 2019, Table 1 and Figures 3 to 11), by its parameters.
//!
//! The paper does not say how it controls the match rate, nor how many attributes an event has. Here a subscription is drawn
//! around one of `1 / match_rate` events, so that each event matches that share of them, and a few by chance; events have 20
//! attributes, the fewest dimensions of the paper.

use super::conj::Conj;
use super::{Predicate, TypedEvent};
use crate::random::Random;
use std::collections::BTreeMap;

/// The parameters of Table 1; the defaults are those of Figure 3.
#[derive(Clone, Copy, Debug)]
pub struct Gem {
    /// Number of attributes: the paper's M.
    pub dimensions: u64,
    /// Distinct values per attribute: the paper's tau.
    pub cardinality: u64,
    /// Attributes of a subscription: the paper's xi.
    pub attributes: usize,
    /// Percentage of subscriptions that an event matches: the paper's theta.
    pub match_percent: u64,
    /// Percentage of predicates that accept one value: the paper's mu.
    pub single_percent: u64,
    /// Attributes and values are drawn with skew: a tenth of them in almost half of all cases.
    pub skewed: bool,
}

impl Default for Gem {
    fn default() -> Gem {
        Gem {
            dimensions: 50,
            cardinality: 32,
            attributes: 7,
            match_percent: 1,
            single_percent: 30,
            skewed: false,
        }
    }
}

/// Attributes of an event.
const PAIRS: usize = 20;

impl Gem {
    /// The cases of a figure: a label, the share of the subscriptions that were asked for, and the parameters.
    pub fn figure(number: u32) -> Vec<(String, usize, Gem)> {
        let base = Gem::default();
        let case = |label: String, gem: Gem| (label, 1, gem);
        match number {
            3 | 10 | 11 => (1..=3).map(|n| (format!("N={n}x"), n, base)).collect(),
            4 => (1..=3).map(|n| (format!("N={n}x, skewed"), n, Gem { skewed: true, ..base })).collect(),
            5 => [20, 40, 60, 80, 100]
                .map(|dimensions| case(format!("M={dimensions}"), Gem { dimensions, ..base }))
                .to_vec(),
            6 => [16, 32, 48, 64, 80]
                .map(|cardinality| case(format!("tau={cardinality}"), Gem { cardinality, ..base }))
                .to_vec(),
            7 => [4, 8, 12, 16, 20]
                .map(|attributes| case(format!("xi={attributes}"), Gem { attributes, ..base }))
                .to_vec(),
            8 => [1, 2, 4, 6, 10]
                .map(|match_percent| case(format!("theta={match_percent}%"), Gem { match_percent, ..base }))
                .to_vec(),
            9 => [10, 20, 30, 40, 50, 60]
                .map(|single_percent| case(format!("mu={single_percent}%"), Gem { single_percent, ..base }))
                .to_vec(),
            _ => Vec::new(),
        }
    }

    /// Generates events, then subscriptions.
    pub fn draw(&self, subscriptions: usize) -> Conj {
        let mut random = Random::new();
        let events: Vec<TypedEvent> =
            (0..100 / self.match_percent).map(|_| self.event(&mut random)).collect();
        let (mut predicates, mut starts) = (Vec::new(), vec![0]);
        for _ in 0..subscriptions {
            let event = random.pick(&events).clone();
            let pairs = random.distinct(self.attributes, |random| self.below(PAIRS as u64, random));
            predicates.extend(pairs.into_iter().map(|pair| self.around(event[pair as usize], &mut random)));
            starts.push(predicates.len() as u32);
        }
        Conj::of(self.dimensions as usize, events, predicates, starts)
    }

    fn below(&self, bound: u64, random: &mut Random) -> u64 {
        if self.skewed { random.skewed(bound) } else { random.below(bound) }
    }

    fn event(&self, random: &mut Random) -> TypedEvent {
        let mut event = BTreeMap::new();
        while event.len() < PAIRS {
            let attribute = self.below(self.dimensions, random) as u32;
            event.entry(attribute).or_insert(self.below(self.cardinality, random) as i16);
        }
        event.into_iter().collect()
    }

    /// One value, or a range whose ends are uniform on either side of the value.
    fn around(&self, (attribute, value): (u32, i16), random: &mut Random) -> Predicate {
        let (mut low, mut high) = (value, value);
        if !random.percent(self.single_percent) {
            low = random.between(0, value as u64) as i16;
            high = random.between(value as u64, self.cardinality - 1) as i16;
        }
        Predicate { attribute, low, high, negated: false }
    }
}
