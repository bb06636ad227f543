//! Weights of the attributes of events.

use crate::engine::shared::keyed_hash::KeyedMap;
use crate::error::{Error, Result};
use smol_str::SmolStr;
use std::ops::Range;

/// The weights of an event's attributes by name; 1.0 where none is given.
#[derive(Clone, Debug, Default)]
pub struct EventWeights(KeyedMap<SmolStr, f64>);

impl EventWeights {
    /// Sets an attribute's weight, which must be finite and not negative.
    pub fn set(&mut self, attribute: &str, weight: f64) -> Result<()> {
        if !weight.is_finite() || weight < 0.0 {
            return Err(Error::event(attribute, format!("the weight {weight} is not finite and >= 0")));
        }
        self.0.insert(attribute.into(), weight);
        Ok(())
    }

    /// The attributes that have a weight, in any order.
    pub(in crate::index) fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(attribute, weight)| (attribute.as_str(), *weight))
    }
}

/// The weights of many events.
#[derive(Clone, Copy, Debug)]
pub enum Weighting<'w> {
    /// All events have the same.
    Same(&'w EventWeights),
    /// Each row has its own.
    Each(&'w [EventWeights]),
}

impl<'w> Weighting<'w> {
    /// The weights of a row; [`Weighting::check`] has counted them.
    pub(in crate::index) fn of(self, row: usize) -> &'w EventWeights {
        match self {
            Weighting::Same(weights) => weights,
            Weighting::Each(weights) => &weights[row],
        }
    }

    /// The weights of a range of rows; an error if they end before it.
    pub(in crate::index) fn portion(self, rows: Range<usize>) -> Result<Weighting<'w>> {
        let Weighting::Each(weights) = self else { return Ok(self) };
        let (len, end) = (weights.len(), rows.end);
        weights.get(rows).map(Weighting::Each).ok_or_else(|| Error::Event {
            attribute: None,
            message: format!("weights of {len} events for {end} events or more"),
        })
    }

    /// An error unless there are weights for exactly `rows` rows.
    pub fn check(self, rows: usize) -> Result<()> {
        match self {
            Weighting::Each(weights) if weights.len() != rows => {
                let message = format!("weights of {} events for {rows} events", weights.len());
                Err(Error::Event { attribute: None, message })
            }
            _ => Ok(()),
        }
    }
}
