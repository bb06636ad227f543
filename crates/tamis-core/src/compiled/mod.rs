//! `compiled`: immutable segments of flat arrays that match many expressions.
//!
//! Idea:
//! 1. Every value of an event becomes the number of a space (PS-Tree); a predicate is then `low <= space <= high`,
//!    whatever its type ([`values`]).
//! 2. Every expression is found through few of its predicates, one of which must hold ([`build::cover`]): the least
//!    likely ones, by observed events or by the subscriptions themselves ([`build::profile`]).
//! 3. Its conjunctions are posted where few events read them ([`build::placement`]). Residual tests, 4 or 8 bytes each,
//!    lie right behind the keys that lead to them ([`arena`]); 16 intervals or 8 tests are compared per SIMD operation.
//! 4. Subexpressions are stored once; a shared one is evaluated once per event ([`build::alternatives`]).
//! 5. Up to 512 events are matched at once where that is faster ([`matching::batch`]).
//!
//! | file | question it answers |
//! | --- | --- |
//! | `segment` | which arrays make up a segment? |
//! | `builder` | which passes make a segment of expressions? |
//! | `build/` | from expressions to postings |
//! | `arena/` | lists, tables and rows in one array: written, read, traversed, checked |
//! | `values/` | from the values of an event to spaces |
//! | `matching/` | which expressions does an event satisfy, and which of them are the best? |
//! | `scores/` | how much does a match count, and at most? |
//! | `sections` | how is a segment stored in a file? |
//! | `explain` | where is an expression found, and what is tested there? |
//! | `limits` | how large may a segment be? |
//! | `options` | how is the engine registered, and what do users choose? |
//!
//! Invariants: an expression is TRUE iff one of its alternatives is; every event that satisfies an alternative reads a
//! list or table that contains it; an expression that may be found repeatedly is marked in all of its rows.
//!
//! Cost: a few tens of bytes per subscription, in arrays that can be mapped from a file. A segment never changes:
//! additions, removals and merging are up to the index.

mod arena;
mod build;
mod builder;
mod explain;
mod limits;
mod matching;
mod options;
mod scores;
mod sections;
mod segment;
mod values;

pub(crate) use builder::CompiledBuilder;
pub use explain::PlannedAlternative;
pub(crate) use limits::{SegmentLimits, SegmentOverflow};
pub(crate) use matching::batch::Batch;
pub(crate) use matching::ranking::{RankFloor, RankedEvent, RankingSink};
pub(crate) use matching::scratch::CompiledScratch;
pub(crate) use options::{CompiledOptions, INFO};
pub(crate) use segment::{CompiledSegment, SegmentSize};
pub(crate) use values::pattern_budget::PatternBudget;
