//! Scores and explanations of single results, computed from the expressions as written.

use super::{Id, Index, Stale};
use crate::error::{Error, Result};
use crate::event::{EventSlots, Rows};
use crate::expr::{Explanation, Expr, Missing, Truth, parse};
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
        let context = self.context(schema, &event);
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

    fn context<'a>(
        &self,
        schema: &'a Schema,
        event: &'a crate::event::Event<'a>,
    ) -> crate::expr::Context<'a> {
        let missing_is_false = self.settings.missing == Missing::False;
        crate::expr::Context { schema, event, missing_is_false }
    }
}

impl Expr {
    /// A schema of just this expression's attributes, to read an event with.
    pub fn schema(&self) -> Schema {
        let mut schema = Schema::default();
        self.for_each_condition(false, &mut |condition, _| {
            schema.intern(&condition.attribute.name);
        });
        schema
    }

    /// Explains the expression by itself; `schema` is the one the rows were read with.
    pub fn explain_row(&self, schema: &Schema, rows: &Rows, row: usize, missing: Missing) -> Explanation {
        let mut slots = EventSlots::default();
        let event = slots.load(rows, row, schema.len());
        self.explain(crate::expr::Context {
            schema,
            event: &event,
            missing_is_false: missing == Missing::False,
        })
    }

    /// Evaluates the expression by itself; `schema` is the one the rows were read with.
    pub fn evaluate_row(&self, schema: &Schema, rows: &Rows, row: usize, missing: Missing) -> Truth {
        let mut slots = EventSlots::default();
        let event = slots.load(rows, row, schema.len());
        self.truth(crate::expr::Context {
            schema,
            event: &event,
            missing_is_false: missing == Missing::False,
        })
    }
}
