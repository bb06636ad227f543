//! Events with many attributes, rules over a few: telemetry, product catalogues, feature vectors. Most rules refer to an
//! attribute that an event lacks.

use super::{Event, GeneratedWorkload, Value, quoted};
use crate::random::Random;
use serde::Deserialize;

/// What a definition sets.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Number of attributes; every fifth holds texts, the others integers.
    attributes: u64,
    /// Attributes per event.
    present: usize,
    /// Distinct values per attribute.
    values: u64,
    /// Minimum and maximum predicates per rule.
    predicates: [u64; 2],
    /// Percentage of rules that are generated from an event, which they match.
    around: u64,
}

impl Parameters {
    fn value(&self, attribute: u64, random: &mut Random) -> Value {
        let value = random.below(self.values);
        if attribute.is_multiple_of(5) { Value::Text(word(value)) } else { Value::Int(value as i64) }
    }

    /// An attribute's name tells its number.
    fn event(&self, random: &mut Random) -> Event {
        let mut chosen = random.distinct(self.present, |random| random.below(self.attributes));
        chosen.sort_unstable();
        chosen.into_iter().map(|n| (format!("a{n}"), self.value(n, random))).collect()
    }

    /// A predicate that holds for a value.
    fn predicate(&self, name: &str, value: &Value, random: &mut Random) -> String {
        match value {
            Value::Text(text) if random.percent(50) => format!("{name} = '{text}'"),
            Value::Text(text) => {
                let others = random.between(1, 6);
                let mut texts: Vec<String> = (0..others).map(|_| word(random.below(self.values))).collect();
                texts.push(text.clone());
                format!("{name} in ({})", quoted(&texts))
            }
            Value::Int(number) if random.percent(40) => format!("{name} = {number}"),
            Value::Int(number) if random.percent(50) => {
                format!("{name} >= {}", number - random.below(self.values / 4) as i64)
            }
            Value::Int(number) => {
                let (below, above) = (random.below(20) as i64, random.below(20) as i64);
                format!("{name} between {} and {}", number - below, number + above)
            }
            Value::Thousandths(_) | Value::Texts(_) => unreachable!("attributes hold integers or texts"),
        }
    }
}

fn word(number: u64) -> String {
    format!("value-{number}")
}

/// Events first; rules are generated from them or from events that are not part of the workload.
pub fn draw(
    parameters: &Parameters,
    subscriptions: usize,
    events: usize,
    random: &mut Random,
) -> GeneratedWorkload {
    let events: Vec<Event> = (0..events).map(|_| parameters.event(random)).collect();
    let mut rule = || {
        let unseen;
        let event = if random.percent(parameters.around) {
            random.pick(&events)
        } else {
            unseen = parameters.event(random);
            &unseen
        };
        let [fewest, most] = parameters.predicates;
        let size = random.between(fewest, most) as usize;
        let chosen = random.distinct(size, |random| random.below(event.len() as u64));
        let predicates: Vec<String> = chosen
            .into_iter()
            .map(|at| parameters.predicate(&event[at as usize].0, &event[at as usize].1, random))
            .collect();
        predicates.join(" and ")
    };
    GeneratedWorkload { subscriptions: (0..subscriptions).map(|_| rule()).collect(), events }
}
