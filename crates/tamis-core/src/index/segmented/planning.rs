//! The match plan of a subscription, or of an expression that is not in the index.

use super::snapshot::Location;
use super::{Segmented, Shared};
use crate::compiled::CompiledBuilder;
use crate::engine::scoring::WeightedPredicates;
use crate::error::{Error, Result};
use crate::expr::{Expr, Normal, Normalizer, Root, parse};
use crate::index::{Id, MatchPlan, PlanStorage};
use crate::schema::Schema;
use std::sync::Arc;

impl Segmented {
    /// The plan of a subscription.
    pub(super) fn plan_of_id(&self, id: &Id) -> Result<MatchPlan> {
        let shared: &Shared = &self.0;
        let snapshot = shared.snapshot();
        let location = snapshot.find(id).ok_or_else(|| Error::UnknownId(id.clone()))?;
        let text = snapshot.text(location).unwrap_or_default();
        let expr = parse(text, &shared.limits)?;
        match location {
            Location::Recent(_) => Ok(shared.plan_alone(&expr, &snapshot.schema, PlanStorage::Recent)),
            Location::Segment(at, local) => {
                let segment = &snapshot.segments[at].segment;
                let (schema, normal) = shared.normalized(&expr, &snapshot.schema);
                Ok(constant(&normal).unwrap_or_else(|| MatchPlan {
                    storage: PlanStorage::Compiled { members: segment.len() },
                    alternatives: segment.compiled.explain(local, &normal, &schema),
                }))
            }
        }
    }

    /// The plan of an expression that is not in the index.
    pub(super) fn plan_for_expr(&self, expr: &Expr) -> MatchPlan {
        self.0.plan_alone(expr, &self.0.snapshot().schema, PlanStorage::Alone)
    }
}

impl Shared {
    /// Normalizes an expression with a copy of the schema, so that the index does not gain its attributes.
    fn normalized(&self, expr: &Expr, schema: &Arc<Schema>) -> (Arc<Schema>, Normal) {
        let mut schema = schema.clone();
        let normal = Normalizer::default().normalize(expr, &mut schema, self.missing).clone();
        (schema, normal)
    }

    /// The plan of an expression in a segment of its own.
    fn plan_alone(&self, expr: &Expr, schema: &Arc<Schema>, storage: PlanStorage) -> MatchPlan {
        let (schema, normal) = self.normalized(expr, schema);
        if let Some(plan) = constant(&normal) {
            return plan;
        }
        let mut builder = CompiledBuilder::new(&self.options.compiled);
        // The plan does not depend on weights.
        builder.add(&normal, &WeightedPredicates::default());
        let segment = builder.finish(schema.len(), None);
        let alternatives =
            segment.map_or_else(|_| Vec::new(), |segment| segment.explain(0, &normal, &schema));
        MatchPlan { storage, alternatives }
    }
}

/// The plan of an expression that is always or never TRUE.
fn constant(normal: &Normal) -> Option<MatchPlan> {
    let storage = match normal.root() {
        Root::Always => PlanStorage::Always,
        Root::Never => PlanStorage::Never,
        Root::Node(_) => return None,
    };
    Some(MatchPlan { storage, alternatives: Vec::new() })
}
