//! What does an event hold?

mod arrow;
mod json;
