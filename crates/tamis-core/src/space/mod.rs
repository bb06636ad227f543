//! Predicate spaces: which predicates does a value satisfy?
//!
//! | file | question it answers |
//! | --- | --- |
//! | `elements` | how does a value spell a path? |
//! | `ps_tree` | which predicate space does a value belong to, and how do spaces come and go? |
//! | `leaves` | what is known of a space? |
//! | `region` | which ranges of values does a predicate accept? |
//! | `dimension` | how do values of all kinds share one attribute? |
//!
//! Beside it, the structures the PS-Tree paper compares itself with, all answering one question:
//!
//! | file | structure |
//! | --- | --- |
//! | `stabbing` | which intervals contain a point? The question as a trait, and the scan as the naive answer |
//! | `ps_stabbing` | a PS-Tree with the intervals listed in its leaves |
//! | `interval_tree` | a search tree by low end that knows the largest high end below each node |
//! | `segment_tree` | a static tree over the pieces between all ends |

mod dimension;
mod elements;
mod interval_tree;
mod leaves;
mod ps_stabbing;
mod ps_tree;
mod region;
mod segment_tree;
mod stabbing;

pub use dimension::{Dimension, Located};
pub use elements::{Elements, FANOUT, Key};
pub use interval_tree::IntervalTree;
pub use leaves::{Leaf, LeafId, Leaves};
pub use ps_stabbing::PsStabbing;
pub use ps_tree::{Merge, PsTree, Range, Split};
pub use region::{Reach, Region};
pub use segment_tree::SegmentTree;
pub use stabbing::{DynamicStabbing, Stabbing, StabbingScan};
