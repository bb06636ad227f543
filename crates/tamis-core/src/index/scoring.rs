//! Scores, computed from the expressions as written.

use super::Id;
use super::holding::Holding;
use crate::error::{Error, Result};
use crate::event::EventSlots;
use crate::expr::{Context, parse};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// How much each attribute of an event counts; 1.0 where none is given.
#[derive(Clone, Debug, Default)]
pub struct EventWeights(FxHashMap<SmolStr, f64>);

impl EventWeights {
    /// Sets an attribute's weight, which must be finite and not negative.
    pub fn set(&mut self, attribute: &str, weight: f64) -> Result<()> {
        if !weight.is_finite() || weight < 0.0 {
            return Err(Error::event(attribute, format!("the weight {weight} is not finite and >= 0")));
        }
        self.0.insert(attribute.into(), weight);
        Ok(())
    }

    fn get(&self, attribute: &str) -> f64 {
        self.0.get(attribute).copied().unwrap_or(1.0)
    }
}

impl Holding<'_> {
    /// The `k` best of the row's matches, which come as id and text in order of insertion.
    pub fn best<'t>(
        &self,
        matches: impl Iterator<Item = (Id, &'t str)>,
        k: usize,
        weights: &EventWeights,
    ) -> Result<Vec<(Id, f64)>> {
        let mut slots = EventSlots::default();
        let event = slots.load(self.rows, self.row, self.schema.len());
        let context = Context { schema: self.schema, event: &event, missing: self.missing };
        let mut scored = Vec::new();
        for (id, text) in matches {
            scored.push((id, parse(text, self.limits)?.score(context, |name| weights.get(name))));
        }
        // The sort is stable and the matches come in order of insertion, so ties stay in that order.
        scored.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        scored.truncate(k);
        Ok(scored)
    }
}
