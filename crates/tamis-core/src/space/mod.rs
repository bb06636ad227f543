//! Which of the stored intervals contain a value?
//!
//! | module | structure |
//! | --- | --- |
//! | `stabbing` | the question as a trait, and the scan that every answer is held against |
//! | `interval_tree` | a search tree by low end that knows the largest high end below each node |
//! | `segment_tree` | a static tree over the pieces between all ends |

mod interval_tree;
mod segment_tree;
mod stabbing;

pub use interval_tree::IntervalTree;
pub use segment_tree::SegmentTree;
pub use stabbing::{DynamicStabbing, Stabbing, StabbingScan};
