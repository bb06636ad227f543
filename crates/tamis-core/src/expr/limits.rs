//! Limits on expressions, so that hostile input is cheap to refuse.

use crate::error::{Error, Result};

/// The largest expressions that an index accepts. Past a limit, parsing fails with an error that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of expression text.
    pub max_length: usize,
    /// Levels of nesting: parentheses, NOT, and alternating connectives.
    pub max_depth: usize,
    /// Bytes of a compiled regular expression. All of one rule together take at most [`Limits::REGEXES`] times as much.
    pub max_regex_size: usize,
    /// Conjunctions of an expression's DNF, for engines that take only conjunctions.
    pub max_dnf: usize,
}

impl Limits {
    /// Largest `max_depth`. Evaluation recurses once per level; 1,000 levels fit a stack of 2 MB.
    pub const DEPTH_CAP: usize = 1_000;

    /// Number of regular expressions of `max_regex_size` bytes that a rule may have; of smaller ones it may have more.
    pub const REGEXES: usize = 16;

    /// Maximum bytes of all compiled regular expressions of a rule.
    pub fn max_regex_total(&self) -> usize {
        self.max_regex_size.saturating_mul(Limits::REGEXES)
    }

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
