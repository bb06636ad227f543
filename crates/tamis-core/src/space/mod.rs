//! Predicate spaces: which predicates does a value satisfy?
//!
//! | file | question it answers |
//! | --- | --- |
//! | `elements` | how does a value spell a path? |
//! | `ps_tree` | which predicate space does a value belong to, and how do spaces come and go? |
//! | `leaves` | what is known of a space? |
//! | `region` | which ranges of values does a predicate accept? |
//! | `dimension` | how do values of all kinds share one attribute? |

mod dimension;
mod elements;
mod leaves;
mod ps_tree;
mod region;

pub use dimension::{Dimension, Located};
pub use elements::{Elements, FANOUT, Key};
pub use leaves::{Leaf, LeafId, Leaves};
pub use ps_tree::{Merge, PsTree, Range, Split};
pub use region::{Reach, Region};
