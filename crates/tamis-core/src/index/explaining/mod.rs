//! Why an expression does not match, and how the index finds it.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `near_misses` | which expressions fail by one predicate only? |
//! | `plan` | through which predicates is an expression found, and where is it stored? |

mod near_misses;
mod plan;

pub use near_misses::NearMiss;
pub use plan::{MatchPlan, PlanStorage};
