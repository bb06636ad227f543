//! Which expressions does an event satisfy?

pub(in crate::compiled) mod batch;
pub(in crate::compiled) mod bitmaps;
pub(in crate::compiled) mod candidates;
pub(in crate::compiled) mod dedup;
pub(in crate::compiled) mod evaluation;
pub(in crate::compiled) mod probe;
pub(in crate::compiled) mod simd;
pub(in crate::compiled) mod single;
pub(in crate::compiled) mod strategy;
