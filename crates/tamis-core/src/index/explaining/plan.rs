//! How an expression is found: the result of [`Index::plan_of`](crate::index::Index::plan_of).

use crate::compiled::PlannedAlternative;

/// How an expression is found.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchPlan {
    /// Where the expression is stored.
    pub storage: PlanStorage,
    /// Conjunctions through which it is found; it is TRUE iff one of them is. Empty if it is constant.
    pub alternatives: Vec<PlannedAlternative>,
}

/// Where an expression is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanStorage {
    /// In a segment.
    Compiled {
        /// Number of subscriptions in the segment.
        members: usize,
    },
    /// In the list of recent subscriptions, each of which is evaluated for every event. The plan is that of a segment
    /// with this expression alone.
    Recent,
    /// Not in the index. The plan is that of a segment with this expression alone.
    Alone,
    /// Every event matches.
    Always,
    /// No event matches.
    Never,
}
