//! What was laid out for a subscription, or would be for an expression.

use super::snapshot::Place;
use super::{Segmented, Shared};
use crate::compiled::Builder;
use crate::error::{Error, Result};
use crate::expr::{Expr, Normal, Normalizer, Root, parse};
use crate::index::{Id, Plan, Standing};
use crate::schema::Schema;
use std::sync::Arc;

impl Segmented {
    /// The plan of a subscription.
    pub(super) fn plan_of_id(&self, id: &Id) -> Result<Plan> {
        let shared: &Shared = &self.0;
        let snapshot = shared.snapshot();
        let place = snapshot.find(id).ok_or_else(|| Error::UnknownId(id.clone()))?;
        let text = snapshot.text(place).unwrap_or_default();
        let expr = parse(text, &shared.limits)?;
        match place {
            Place::Recent(_) => Ok(shared.alone(&expr, &snapshot.schema, Standing::Recent)),
            Place::Part(part, local) => {
                let segment = &snapshot.parts[part].segment;
                let (schema, normal) = shared.normalized(&expr, &snapshot.schema);
                Ok(constant(&normal).unwrap_or_else(|| Plan {
                    standing: Standing::Compiled { members: segment.len() },
                    alternatives: segment.compiled.explain(local, &normal, &schema),
                }))
            }
        }
    }

    /// The plan of an expression that is not in the index.
    pub(super) fn plan_for_expr(&self, expr: &Expr) -> Plan {
        self.0.alone(expr, &self.0.snapshot().schema, Standing::Alone)
    }
}

impl Shared {
    /// An expression against a copy of the schema: nothing of it stays.
    fn normalized(&self, expr: &Expr, schema: &Arc<Schema>) -> (Arc<Schema>, Normal) {
        let mut schema = schema.clone();
        let normal = Normalizer::default().normalize(expr, &mut schema, self.missing).clone();
        (schema, normal)
    }

    /// The plan of an expression without company.
    fn alone(&self, expr: &Expr, schema: &Arc<Schema>, standing: Standing) -> Plan {
        let (schema, normal) = self.normalized(expr, schema);
        if let Some(plan) = constant(&normal) {
            return plan;
        }
        let mut builder = Builder::new(&self.options.compiled);
        builder.add(&normal);
        let alternatives = builder.finish(schema.len(), None).explain(0, &normal, &schema);
        Plan { standing, alternatives }
    }
}

fn constant(normal: &Normal) -> Option<Plan> {
    let standing = match normal.root() {
        Root::Always => Standing::Always,
        Root::Never => Standing::Never,
        Root::Node(_) => return None,
    };
    Some(Plan { standing, alternatives: Vec::new() })
}
