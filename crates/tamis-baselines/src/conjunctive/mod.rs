//! Baselines that match conjunctions; other expressions reach them through a bounded DNF.
//!
//! | folder or file | question it answers |
//! | --- | --- |
//! | `k_index` | inverted lists by conjunction size and by attribute and value: k-index |
//! | `propagation` | clusters of subscriptions behind equality access predicates: Propagation |
//! | `points` | which single values does a predicate accept or exclude, and what is found under a value? |

mod k_index;
mod points;
mod propagation;

pub(crate) use k_index::INFO as K_INDEX_INFO;
pub(crate) use propagation::INFO as PROPAGATION_INFO;
