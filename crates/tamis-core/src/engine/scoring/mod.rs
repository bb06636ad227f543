//! How much a match counts: one definition for the index, which scores matches, and for engines that rank by themselves.
//!
//! The score of an event and a subscription is the sum, over the subscription's satisfied predicates, of predicate weight
//! times event weight of the attribute. Predicates are those of the expression as written, summed from left to right;
//! weights are finite and not negative, so a sum over some predicates is a lower bound of the score. Of two subscriptions
//! with equal scores, the one inserted first is the better.
//!
//! Only matches are scored. So a predicate without which the expression could not be TRUE needs no test: those that AND
//! joins, and those that OR joins under NOT. Of a conjunction these are all; other predicates are evaluated.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `predicates` | which predicates of a subscription count, and how much? |
//! | `best` | which k of the matches so far are the best? |
//! | `grouped` | which k are, with at most some of each group? |

mod best;
mod grouped;
mod predicates;

pub use best::{BestK, WorstOfBest};
pub use grouped::BestOfGroups;
pub use predicates::{WeightedPredicate, WeightedPredicates};

use crate::event::Event;
use crate::schema::{AttrId, Schema};

/// An event's weights by attribute. Reused from event to event.
#[derive(Debug, Default)]
pub struct AttributeWeights {
    /// By attribute; 1.0 wherever the event gives none.
    weights: Vec<f64>,
    /// The attributes to reset before the next event.
    given: Vec<AttrId>,
}

impl AttributeWeights {
    /// Takes over an event's weights, finite and not negative, of the attributes that the schema has; no predicate reads
    /// others.
    pub fn load<'w>(&mut self, weights: impl Iterator<Item = (&'w str, f64)>, schema: &Schema) {
        for attribute in self.given.drain(..) {
            self.weights[attribute.index()] = 1.0;
        }
        self.weights.resize(schema.len(), 1.0);
        for (name, weight) in weights {
            if let Some(attribute) = schema.get(name) {
                self.weights[attribute.index()] = weight;
                self.given.push(attribute);
            }
        }
    }

    /// Whether every weight is 1.0 because the event gives none.
    pub fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// The weight of an attribute; 1.0 if the schema does not have it, as in a damaged file.
    #[inline]
    pub fn get(&self, attribute: AttrId) -> f64 {
        self.weights.get(attribute.index()).copied().unwrap_or(1.0)
    }

    /// The greatest weight of any attribute: 1.0 at least, since attributes without a weight have that.
    pub fn greatest(&self) -> f64 {
        self.given.iter().fold(1.0, |greatest, attribute| greatest.max(self.get(*attribute)))
    }
}

/// What [`RankingEngine::top_k`](super::RankingEngine::top_k) is to find.
#[derive(Clone, Copy)]
pub struct TopKQuery<'q> {
    /// The event that subscriptions must match.
    pub event: &'q Event<'q>,
    /// Its weights.
    pub weights: &'q AttributeWeights,
    /// Maximum subscriptions.
    pub k: usize,
    /// Minimum score; 0.0 if every match may be among the best.
    pub floor: f64,
}
