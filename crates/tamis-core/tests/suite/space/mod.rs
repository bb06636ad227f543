//! Which predicates does a value satisfy?

mod dimension;
