//! The one suite that every engine passes, as a library. A crate with engines composes a
//! [`Registry`](tamis_core::engine::registry::Registry) and runs it through [`histories`] and [`cases`].
//!
//! | file | what it has |
//! | --- | --- |
//! | `histories` | random sequences of updates and matches, short and long, with default and other options |
//! | `lives` | random lives of indexes for as long as asked |
//! | `model` | an index beside what it should hold: the expected outcome of every operation |
//! | `cases` | the cases of `testdata/`: expressions, event, expected ids |
//! | `generate` | random expressions and events of every operator and kind, as strategies |
//! | `abe` | random expressions that share subexpressions, as text |
//! | `seeded` | draws from a seed |
//! | `event` | events as tests write them |
//! | `ranking_scan` | an engine that ranks by itself, the simplest possible |
//! | `resources` | what engines allocate and keep, and an allocator that counts |
//! | `folder` | folders for files that tests write |
//! | `container` | files that no index wrote, with checksums that fit |

pub mod abe;
pub mod cases;
pub mod container;
pub mod event;
pub mod folder;
pub mod generate;
pub mod histories;
pub mod lives;
pub mod model;
pub mod ranking_scan;
pub mod resources;
pub mod seeded;
