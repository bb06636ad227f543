//! Scores, computed from the expressions as written.

use super::{Id, Index, Stale};
use crate::error::{Error, Result};
use crate::event::{EventSlots, Rows};
use crate::expr::{Context, parse};
use crate::schema::Schema;
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

impl Index {
    /// The `k` best matches of a row by score, best first; ties in order of insertion.
    pub fn top_k(
        &self,
        schema: &Schema,
        rows: &Rows,
        row: usize,
        k: usize,
        weights: &EventWeights,
    ) -> Result<Result<Vec<(Id, f64)>>, Stale> {
        let state = self.state.read();
        state.check(schema)?;
        let mut slots = EventSlots::default();
        let event = slots.load(rows, row, schema.len());
        let context = Context { schema, event: &event, missing: self.settings.missing };
        let mut scored = Vec::new();
        for sub in self.match_subs(&state, rows, row) {
            let Some(subscription) = state.subscriptions.get(sub) else {
                continue;
            };
            match parse(&subscription.text, &self.settings.limits) {
                Ok(expr) => scored.push((subscription, expr.score(context, |name| weights.get(name)))),
                Err(error) => return Ok(Err(error.into())),
            }
        }
        // The sort is stable and the matches come in order of insertion, so ties stay in that order.
        scored.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        scored.truncate(k);
        Ok(Ok(scored.into_iter().map(|(subscription, score)| (subscription.id.clone(), score)).collect()))
    }
}
