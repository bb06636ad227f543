//! How selective is a predicate? Estimated from a sample of events, or else from the subscriptions.
//!
//! Estimates decide where alternatives are placed and in which order tests run; answers do not depend on them.

use crate::compiled::build::conditions::SpaceConditions;
use crate::compiled::values::event_spaces::EventSpaces;
use crate::compiled::values::string_predicates::StringPredicates;
use crate::engine::shared::patterns::PatternScratch;
use crate::engine::shared::predicates::{PredId, Predicates};
use crate::event::{EventSlots, Rows};

/// Attributes of an event, if nothing is known of events: the more predicates test an attribute, the likelier it is
/// present.
const ATTRIBUTES_PER_EVENT: f32 = 25.0;

/// Share of strings that contain a pattern, if nothing is known of events.
const PATTERN_SHARE: f32 = 0.02;

/// What is known of the events.
#[derive(Debug)]
pub(in crate::compiled) struct EventProfile {
    /// By dimension: the estimated share of events that have a value there, from 0 to 1.
    pub presence: Vec<f32>,
}

impl EventProfile {
    /// Estimates the presence of every dimension and the selectivity of every condition.
    pub fn new(
        conditions: &mut SpaceConditions,
        strings: &StringPredicates,
        predicates: &Predicates,
        attributes: usize,
        sample: Option<&Rows>,
    ) -> EventProfile {
        let observed = sample
            .filter(|rows| !rows.is_empty())
            .map(|rows| ObservedSpaces::new(conditions, strings, attributes, rows));
        let presence = match &observed {
            Some(observed) => observed.presence(),
            None => presence_by_use(conditions, strings, predicates, attributes),
        };
        estimate_selectivity(conditions, &presence, observed.as_ref());
        EventProfile { presence }
    }
}

/// Estimates presence from how many predicates test an attribute.
fn presence_by_use(
    conditions: &SpaceConditions,
    strings: &StringPredicates,
    predicates: &Predicates,
    attributes: usize,
) -> Vec<f32> {
    let mut uses = vec![0.0_f32; attributes];
    for id in 0..predicates.bound() as u32 {
        uses[predicates.get(PredId(id)).attribute.index()] += predicates.uses(PredId(id)) as f32;
    }
    let total: f32 = uses.iter().sum::<f32>().max(1.0);
    let mut presence = vec![0.0_f32; conditions.spaces.len()];
    for (presence, uses) in presence.iter_mut().zip(&uses) {
        *presence = (ATTRIBUTES_PER_EVENT * uses / total).min(1.0);
    }
    for [attribute, dimension] in &conditions.elements {
        presence[*dimension as usize] = presence[*attribute as usize];
    }
    for (attribute, dimension) in strings.dimensions() {
        presence[dimension as usize] = PATTERN_SHARE * presence[attribute.index()];
    }
    presence
}

/// The spaces of a sample of events.
struct ObservedSpaces {
    events: usize,
    /// By dimension: events that have a value there.
    present: Vec<u32>,
    /// Dimension and space of every value, ascending.
    values: Vec<(u32, u32)>,
}

impl ObservedSpaces {
    fn new(
        conditions: &SpaceConditions,
        strings: &StringPredicates,
        attributes: usize,
        rows: &Rows,
    ) -> ObservedSpaces {
        let mut slots = EventSlots::default();
        let mut present = vec![0; conditions.spaces.len()];
        let mut values = Vec::new();
        let (mut spaces, mut patterns) = (EventSpaces::default(), PatternScratch::default());
        for row in 0..rows.len() {
            let event = slots.load(rows, row, attributes);
            spaces.set_values(&conditions.spaces.view(), &conditions.elements, &event, attributes);
            strings.search(&event, &mut spaces, &mut patterns);
            values.extend_from_slice(spaces.present());
            // Several elements of a list count once.
            let mut dimensions: Vec<u32> = spaces.present().iter().map(|(dimension, _)| *dimension).collect();
            dimensions.sort_unstable();
            dimensions.dedup();
            dimensions.iter().for_each(|dimension| present[*dimension as usize] += 1);
            spaces.clear();
        }
        values.sort_unstable();
        ObservedSpaces { events: rows.len(), present, values }
    }

    /// Share of events per dimension, with a small prior: what was never observed is unlikely, not impossible.
    fn presence(&self) -> Vec<f32> {
        let share = |count: &u32| (*count as f32 + 0.25) / (self.events as f32 + 0.5);
        self.present.iter().map(share).collect()
    }

    /// Adds the observed values of a dimension to the weights of its spaces, which become a prior of one event.
    fn add_to(&self, dimension: u32, weights: &mut [f32]) {
        let prior = 1.0 / weights.iter().sum::<f32>().max(1.0);
        weights.iter_mut().for_each(|weight| *weight *= prior);
        let start = self.values.partition_point(|(other, _)| *other < dimension);
        let values = self.values[start..].iter().take_while(|(other, _)| *other == dimension);
        values.for_each(|(_, space)| weights[*space as usize] += 1.0);
    }
}

/// Estimates the share of events that satisfy each condition: presence of its dimension times the weight of its spaces.
fn estimate_selectivity(
    conditions: &mut SpaceConditions,
    presence: &[f32],
    observed: Option<&ObservedSpaces>,
) {
    // By dimension, so that prefix sums over its spaces are made once.
    let mut order: Vec<u32> = (0..conditions.conditions.len() as u32).collect();
    order.sort_unstable_by_key(|number| conditions.conditions[*number as usize].dimension);
    let (mut sums, mut weights) = (Vec::new(), Vec::new());
    let mut summed = None;
    for number in order {
        let condition = &conditions.conditions[number as usize];
        let dimension = condition.dimension.get();
        if summed != Some(dimension) {
            summed = Some(dimension);
            conditions.spaces.weights(dimension, &mut weights);
            if let Some(observed) = observed {
                observed.add_to(dimension, &mut weights);
            }
            let mut sum = 0.0_f32;
            sums.clear();
            sums.push(sum);
            sums.extend(weights.iter().map(|weight| {
                sum += weight;
                sum
            }));
        }
        let total = sums.last().copied().unwrap_or(0.0).max(f32::MIN_POSITIVE);
        let inside: f32 = condition
            .witnesses
            .iter()
            .map(|(low, high)| (sums[*high as usize + 1] - sums[*low as usize]).max(0.25))
            .sum();
        let selectivity = presence[dimension as usize] * (inside / total).min(1.0);
        let condition = &mut conditions.conditions[number as usize];
        condition.selectivity = if condition.can_witness() { selectivity } else { 1.0 };
    }
}
