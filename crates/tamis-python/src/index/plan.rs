//! Match plans as tuples.

use tamis_core::index::{MatchPlan, PlanStorage};

/// Place, number of places, predicates that lead there, tests, estimated share of events.
type AlternativeTuple = (&'static str, usize, Vec<String>, Vec<String>, f64);

/// Storage, members of the segment, alternatives.
pub type PlanTuple = (&'static str, Option<usize>, Vec<AlternativeTuple>);

pub fn plan_to_python(plan: MatchPlan) -> PlanTuple {
    let (storage, members) = match plan.storage {
        PlanStorage::Compiled { members } => ("compiled", Some(members)),
        PlanStorage::Recent => ("recent", None),
        PlanStorage::Alone => ("alone", None),
        PlanStorage::Always => ("always", None),
        PlanStorage::Never => ("never", None),
    };
    let alternatives = plan.alternatives.into_iter();
    (storage, members, alternatives.map(|it| (it.place, it.places, it.met, it.tests, it.share)).collect())
}
