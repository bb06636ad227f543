//! What several test files share.
#![allow(dead_code, reason = "each test file is a crate of its own and uses a part of this")]

pub mod abe;
pub mod counting;
pub mod event;
pub mod folder;
pub mod generate;
pub mod seeded;
