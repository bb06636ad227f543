//! What several engines stand on.

pub(crate) mod list_pool;
pub(crate) mod patterns;
pub(crate) mod predicates;
