//! Which predicates does a value satisfy?

mod spaces;
mod stabbing;
