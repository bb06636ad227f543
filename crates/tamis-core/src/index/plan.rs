//! How an expression is found: what [`Index::plan_of`](super::Index::plan_of) tells.

use crate::compiled::PlannedAlternative;

/// How an expression is found.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Where it stands.
    pub standing: Standing,
    /// The ways to find it; one of them holds whenever it does.
    pub alternatives: Vec<PlannedAlternative>,
}

/// Where an expression stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// In a segment.
    Compiled {
        /// With so many members.
        members: usize,
    },
    /// Among the recent ones, which are evaluated one by one; the plan is that of the expression by itself.
    Recent,
    /// Not in the index; the plan is that of the expression by itself.
    Alone,
    /// Every event matches.
    Always,
    /// No event matches.
    Never,
}
