//! Predicate spaces: which predicates does a value satisfy?
//!
//! | file | question it answers |
//! | --- | --- |
//! | `elements` | into which sequence of 4-bit elements is a value split? |
//! | `ps_tree` | which predicate space does a value belong to, and how are spaces split and merged? |
//! | `leaves` | what is stored per predicate space? |
//! | `region` | which ranges of values does a predicate accept? |
//! | `dimension` | how are values of all kinds indexed for one attribute? |
//!
//! The stabbing query, in which the PS-Tree paper compares the PS-Tree with other structures:
//!
//! | file | structure |
//! | --- | --- |
//! | `stabbing` | which intervals contain a point? The query as a trait, and the scan as the naive implementation |
//! | `ps_stabbing` | a PS-Tree whose leaves list the intervals that cover them |
//!
//! The other structures are in the crate `tamis-baselines`.

mod dimension;
mod elements;
mod leaves;
mod ps_stabbing;
mod ps_tree;
mod region;
mod stabbing;

pub use dimension::{Dimension, LeafLookup};
pub(crate) use elements::ordered_bits;
pub use elements::{Elements, FANOUT, Key};
pub use leaves::{Leaf, LeafId, Leaves};
pub use ps_stabbing::PsStabbing;
pub use ps_tree::{LeafMerge, LeafSplit, PsTree, Range};
pub use region::{Reach, Region};
pub use stabbing::{DynamicStabbing, Stabbing, StabbingScan};
