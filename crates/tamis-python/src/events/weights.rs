//! Weights of events' attributes, from Python mappings.

use crate::errors::{exception, with_row};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tamis_core::index::{EventWeights, Weighting};

/// The weights of a batch of events.
pub enum Weights {
    /// The same for all events.
    Same(EventWeights),
    /// By row.
    Each(Vec<EventWeights>),
}

impl Weights {
    /// A dict is for all events, a list has a dict for each; an error names the row.
    pub fn from_python(weights: &Bound<'_, PyAny>) -> PyResult<Weights> {
        if let Ok(same) = weights.cast::<PyDict>() {
            return Ok(Weights::Same(event_weights(same)?));
        }
        let each = weights.cast::<PyList>()?.iter().enumerate();
        let each = each.map(|(row, weights)| {
            let given = weights.cast::<PyDict>().map_err(PyErr::from);
            given.and_then(event_weights).map_err(|error| with_row(weights.py(), error, row))
        });
        Ok(Weights::Each(each.collect::<PyResult<_>>()?))
    }

    pub fn weighting(&self) -> Weighting<'_> {
        match self {
            Weights::Same(weights) => Weighting::Same(weights),
            Weights::Each(weights) => Weighting::Each(weights),
        }
    }
}

/// The weights of one event.
pub fn event_weights(weights: &Bound<'_, PyDict>) -> PyResult<EventWeights> {
    let mut event_weights = EventWeights::default();
    for (name, weight) in weights {
        let (name, weight): (String, f64) = (name.extract()?, weight.extract()?);
        event_weights.set(&name, weight).map_err(|error| exception(weights.py(), error))?;
    }
    Ok(event_weights)
}
