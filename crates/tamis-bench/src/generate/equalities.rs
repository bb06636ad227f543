//! Equalities over integer attributes that every event has: the plainest of all rules.

use super::{GeneratedWorkload, Value};
use crate::random::Random;
use serde::Deserialize;

/// What a definition sets.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Attributes; every event has all.
    attributes: u64,
    /// Distinct values per attribute. A rule matches one event in `values ^ predicates`.
    values: u64,
    /// Equalities per rule, on different attributes.
    predicates: usize,
}

/// Events first, so that more subscriptions mean the same events.
pub fn draw(
    parameters: &Parameters,
    subscriptions: usize,
    events: usize,
    random: &mut Random,
) -> GeneratedWorkload {
    let Parameters { attributes, values, predicates } = *parameters;
    let mut event =
        || (0..attributes).map(|n| (format!("a{n}"), Value::Int(random.below(values) as i64))).collect();
    let events = (0..events).map(|_| event()).collect();
    let mut rule = || {
        let chosen = random.distinct(predicates, |random| random.below(attributes));
        let equalities: Vec<String> =
            chosen.into_iter().map(|n| format!("a{n} = {}", random.below(values))).collect();
        equalities.join(" and ")
    };
    GeneratedWorkload { subscriptions: (0..subscriptions).map(|_| rule()).collect(), events }
}
