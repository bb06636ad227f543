//! Stabbing structures: which of the stored intervals contain a point? The PS-Tree paper compares with both in
//! section 7.5, table 3.
//!
//! | file | structure |
//! | --- | --- |
//! | `interval_tree` | a search tree ordered by low end; each node stores the largest high end of its subtree |
//! | `segment_tree` | a static tree over the elementary intervals between all ends |
//!
//! The trait, the scan and the PS-Tree in this role are in [`tamis_core::space`].

mod interval_tree;
mod segment_tree;

pub use interval_tree::IntervalTree;
pub use segment_tree::SegmentTree;
