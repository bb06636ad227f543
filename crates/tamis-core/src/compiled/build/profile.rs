//! How likely is a predicate? From a sample of events, or else from the subscriptions themselves.

use crate::compiled::build::conditions::Conditions;
use crate::compiled::values::event_spaces::Located;
use crate::compiled::values::string_predicates::Textuals;
use crate::engine::shared::patterns::PatternScratch;
use crate::engine::shared::predicates::{PredId, Predicates};
use crate::event::{EventSlots, Rows};

/// How many attributes an event is taken to have, if nothing is known: the more often subscriptions ask for one, the
/// likelier it is there.
const ATTRIBUTES_AN_EVENT: f32 = 25.0;

/// How often a pattern is found in a text of which nothing is known.
const PATTERN_FOUND: f32 = 0.02;

/// What is known of the events.
#[derive(Debug)]
pub(in crate::compiled) struct Profile {
    /// By dimension: the share of events that have a value there.
    pub presence: Vec<f32>,
}

impl Profile {
    /// Estimates every dimension and every condition.
    pub fn new(
        conditions: &mut Conditions,
        textuals: &Textuals,
        predicates: &Predicates,
        attributes: usize,
        sample: Option<&Rows>,
    ) -> Profile {
        let dimensions = conditions.spaces.len();
        let mut presence = vec![0.0_f32; dimensions];
        let mut uses = vec![0.0_f32; attributes];
        for id in 0..predicates.bound() as u32 {
            uses[predicates.get(PredId(id)).attribute.index()] += predicates.uses(PredId(id)) as f32;
        }
        let total: f32 = uses.iter().sum::<f32>().max(1.0);
        for (presence, uses) in presence.iter_mut().zip(&uses) {
            *presence = (ATTRIBUTES_AN_EVENT * uses / total).min(1.0);
        }
        for [attribute, dimension] in &conditions.elements {
            presence[*dimension as usize] = presence[*attribute as usize];
        }
        for (attribute, flag) in textuals.flags() {
            presence[flag as usize] = PATTERN_FOUND * presence[attribute.index()];
        }
        let observed = sample
            .filter(|rows| !rows.is_empty())
            .map(|rows| Observed::new(conditions, textuals, attributes, rows));
        if let Some(observed) = &observed {
            for (presence, count) in presence.iter_mut().zip(&observed.present) {
                *presence = (*count as f32 + 0.25) / (observed.events as f32 + 0.5);
            }
        }
        share(conditions, &presence, observed.as_ref());
        Profile { presence }
    }
}

/// Events of a sample, counted.
struct Observed {
    events: usize,
    /// By dimension.
    present: Vec<u32>,
    /// Dimension and space of every value, ascending.
    located: Vec<(u32, u32)>,
}

impl Observed {
    fn new(conditions: &Conditions, textuals: &Textuals, attributes: usize, rows: &Rows) -> Observed {
        let mut slots = EventSlots::default();
        let mut present = vec![0; conditions.spaces.len()];
        let mut located = Vec::new();
        let (mut scratch, mut patterns) = (Located::default(), PatternScratch::default());
        for row in 0..rows.len() {
            let event = slots.load(rows, row, attributes);
            scratch.locate_values(&conditions.spaces.view(), &conditions.elements, &event, attributes);
            textuals.find(&event, &mut scratch, &mut patterns);
            for (dimension, space) in scratch.present() {
                located.push((*dimension, *space));
            }
            // Several elements of a list count once.
            let mut dimensions: Vec<u32> =
                scratch.present().iter().map(|(dimension, _)| *dimension).collect();
            dimensions.sort_unstable();
            dimensions.dedup();
            dimensions.iter().for_each(|dimension| present[*dimension as usize] += 1);
            scratch.clear();
        }
        located.sort_unstable();
        Observed { events: rows.len(), present, located }
    }
}

/// Estimates the share of events that satisfy each condition.
fn share(conditions: &mut Conditions, presence: &[f32], observed: Option<&Observed>) {
    // Conditions of one dimension after another, so that its spaces are summed up once.
    let mut order: Vec<u32> = (0..conditions.conditions.len() as u32).collect();
    order.sort_unstable_by_key(|number| conditions.conditions[*number as usize].dimension);
    let (mut sums, mut weights) = (Vec::new(), Vec::new());
    let mut summed = u32::MAX;
    for number in order {
        let condition = &conditions.conditions[number as usize];
        let dimension = condition.dimension;
        if dimension != summed {
            summed = dimension;
            conditions.spaces.weights(dimension, &mut weights);
            if let Some(observed) = observed {
                // What was never seen is unlikely, not impossible.
                let prior = 1.0 / weights.iter().sum::<f32>().max(1.0);
                weights.iter_mut().for_each(|weight| *weight *= prior);
                let start = observed.located.partition_point(|(other, _)| *other < dimension);
                let seen = observed.located[start..].iter().take_while(|(other, _)| *other == dimension);
                seen.for_each(|(_, space)| weights[*space as usize] += 1.0);
            }
            sums.clear();
            sums.push(0.0_f32);
            let mut sum = 0.0_f32;
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
        let share = presence[dimension as usize] * (inside / total).min(1.0);
        let condition = &mut conditions.conditions[number as usize];
        condition.share = if condition.can_witness() { share } else { 1.0 };
    }
}
