//! Baselines for arbitrary Boolean expressions: what the A-Tree paper compares with.
//!
//! | file or folder | engine | an event costs |
//! | --- | --- | --- |
//! | `labelled` | `interval_id`, `dewey_id` | the postings of its satisfied predicates, grouped by expression |
//! | `bop` | `bop` | the same postings as counters, and the trees of candidates |
//! | `bdd` | `bdd` | a path in a shared decision diagram for every distinct expression |
//! | `translation` | `translation` | an engine for conjunctions, on the expanded expressions |
//!
//! What they share:
//!
//! | file | question it answers |
//! | --- | --- |
//! | `predicate_index` | which distinct predicates are there, and which does an event satisfy? |
//! | `tree` | how is an expression stored as a flat tree, and how large may it be? |
//! | `postings` | which subscriptions does a predicate stand in? |

mod bdd;
mod bop;
mod labelled;
mod postings;
mod predicate_index;
mod translation;
mod tree;

pub(crate) use bdd::INFO as BDD_INFO;
pub(crate) use bop::INFO as BOP_INFO;
pub(crate) use labelled::{DEWEY_INFO, INTERVAL_INFO};
pub(crate) use translation::INFO as TRANSLATION_INFO;
