//! Bounds that keep hostile input cheap to refuse.

use crate::error::{Error, Result};

/// What an index accepts. Past a limit, parsing fails with an error that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of expression text.
    pub max_length: usize,
    /// Levels of nesting: parentheses, NOT, and mixed operators.
    pub max_depth: usize,
    /// Bytes a compiled regular expression may take.
    pub max_regex_size: usize,
    /// Conjunctions an expression may expand to for an engine that takes only conjunctions.
    pub max_dnf: usize,
}

impl Limits {
    /// Evaluation recurses once a level; this depth fits the smallest thread stacks in use.
    pub const DEPTH_CAP: usize = 1_000;

    /// Checks the limits themselves.
    pub fn check(&self) -> Result<()> {
        if self.max_depth == 0 || self.max_depth > Limits::DEPTH_CAP {
            let message = format!("max_depth is {}, must be 1 to {}", self.max_depth, Limits::DEPTH_CAP);
            return Err(Error::Option(message));
        }
        Ok(())
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { max_length: 500_000, max_depth: 200, max_regex_size: 1 << 20, max_dnf: 1_000 }
    }
}
