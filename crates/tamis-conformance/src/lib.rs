//! The one suite that every engine passes, as a library: generators of expressions and events, histories of updates
//! and matches, and the model they are compared with.

pub mod abe;
pub mod counting;
pub mod event;
pub mod folder;
pub mod generate;
pub mod seeded;
