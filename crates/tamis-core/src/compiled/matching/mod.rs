//! Which expressions does an event satisfy?
//!
//! | file | question it answers |
//! | --- | --- |
//! | `single` | which candidates does one event have? |
//! | `batch` | which candidates do many events have, read once for all of them? |
//! | `strategy` | per event or batched: which is faster? |
//! | `ranking` | which of the matches are the best, without finding all? |
//! | `probe` | which of 64 events have spaces inside a table's keys? |
//! | `bitmaps` | which events of a batch satisfy a test? |
//! | `candidates` | which candidate rows match? |
//! | `evaluation` | does a test hold for an event? |
//! | `dedup` | how is an expression reported once? |
//! | `simd` | which of 16 intervals contain a space, which of 8 tests hold? |
//! | `scratch` | what does a thread reuse from event to event? |

pub(in crate::compiled) mod batch;
pub(in crate::compiled) mod bitmaps;
pub(in crate::compiled) mod candidates;
pub(in crate::compiled) mod dedup;
pub(in crate::compiled) mod evaluation;
pub(in crate::compiled) mod probe;
pub(in crate::compiled) mod ranking;
pub(in crate::compiled) mod scratch;
pub(in crate::compiled) mod simd;
pub(in crate::compiled) mod single;
pub(in crate::compiled) mod strategy;
