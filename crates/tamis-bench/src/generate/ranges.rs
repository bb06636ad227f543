//! Ranges of one width over a wide domain. Events have every attribute, with values uniform over the domain, so a rule
//! matches a share of `width ^ predicates` of them.

use super::{GeneratedWorkload, Value, decimal};
use crate::random::Random;
use serde::Deserialize;

/// What a definition sets.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Attributes; the even ones hold integers, the odd ones numbers with three decimals.
    attributes: u64,
    /// Ranges per rule, on different attributes.
    predicates: usize,
    /// The part of the domain that a range covers.
    width: f64,
    /// Exclusive upper bound of integers, and of the thousandths of other numbers.
    domain: u64,
}

impl Parameters {
    fn range(&self, attribute: u64, random: &mut Random) -> String {
        let width = (self.domain as f64 * self.width) as u64;
        let low = random.below(self.domain - width + 1);
        let high = low + width - 1;
        if attribute.is_multiple_of(2) {
            format!("a{attribute} between {low} and {high}")
        } else {
            format!("a{attribute} between {} and {}", decimal(low as i64), decimal(high as i64))
        }
    }

    fn value(&self, attribute: u64, random: &mut Random) -> Value {
        let value = random.below(self.domain) as i64;
        if attribute.is_multiple_of(2) { Value::Int(value) } else { Value::Thousandths(value) }
    }
}

/// Events first, so that more subscriptions mean the same events.
pub fn draw(
    parameters: &Parameters,
    subscriptions: usize,
    events: usize,
    random: &mut Random,
) -> GeneratedWorkload {
    let mut event =
        || (0..parameters.attributes).map(|n| (format!("a{n}"), parameters.value(n, random))).collect();
    let events = (0..events).map(|_| event()).collect();
    let mut rule = || {
        let chosen = random.distinct(parameters.predicates, |random| random.below(parameters.attributes));
        let ranges: Vec<String> = chosen.into_iter().map(|n| parameters.range(n, random)).collect();
        ranges.join(" and ")
    };
    GeneratedWorkload { subscriptions: (0..subscriptions).map(|_| rule()).collect(), events }
}
