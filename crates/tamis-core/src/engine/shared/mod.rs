//! What several engines stand on. Nothing here knows an engine. The public modules serve the engines of other crates, too.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `predicates` | which distinct predicates are in use? |
//! | `conjunctions` | which conjunctions is a subscription made of, and which predicates are in each? |
//! | `selectivity` | which predicate of a conjunction is the most selective? |
//! | `placement` | which leaves of the PS-Trees does a predicate cover? |
//! | `signatures` | which conjunctions may have a predicate that covers a leaf? |
//! | `records` | what does a posting list store of a conjunction, and how is it tested? |
//! | `dedup` | has a subscription been reported for this event? |
//! | `patterns` | which string patterns does a value match? |
//! | `keyed_hash` | how are keys hashed that users choose? |
//! | `list_pool` | how do many growing lists share one array? |

pub mod conjunctions;
pub mod dedup;
pub mod keyed_hash;
pub mod list_pool;
pub(crate) mod patterns;
pub(crate) mod placement;
pub mod predicates;
pub(crate) mod records;
pub(crate) mod selectivity;
pub(crate) mod signatures;
