//! How much memory may the patterns of a file take when they are compiled?
//!
//! A regular expression of a few bytes compiles to up to `max_regex_size`: `\w{50}` is a few hundred ranges, fifty times.
//! So a file of many short patterns could take thousands of times its own size. The budget bounds the sum over all patterns
//! of a file by [`MAX_PATTERNS`] times `max_regex_size`, 4 GiB by default; the reader raises it with that limit.

use crate::expr::{Limits, Matcher, TextPattern};
use regex_syntax::hir::{Class, Hir, HirKind};
use std::cell::Cell;

/// Patterns of the maximum size that a file may have.
const MAX_PATTERNS: u64 = 4_096;
/// Estimated bytes of a compiled regular expression before its states.
const BASE: u64 = 8_192;
/// Estimated bytes of a state: forward and reverse automata.
const STATE: u64 = 64;

/// The bytes that the patterns of a file may still take.
pub(crate) struct PatternBudget(Cell<u64>);

impl PatternBudget {
    /// The budget of one file.
    pub fn new(limits: &Limits) -> PatternBudget {
        PatternBudget(Cell::new(MAX_PATTERNS.saturating_mul(limits.max_regex_size as u64)))
    }

    /// Takes the estimated bytes of a pattern; an error if fewer are left.
    pub(in crate::compiled) fn take(&self, pattern: &TextPattern) -> Result<(), String> {
        let left = self.0.get().checked_sub(compiled_bytes(pattern));
        self.0.set(left.unwrap_or(0));
        let refusal = || {
            format!(
                "its regular expressions compile to more than {MAX_PATTERNS} times max_regex_size, the limit for \
                 all of them"
            )
        };
        left.map(drop).ok_or_else(refusal)
    }
}

/// Estimated bytes of a compiled pattern. Other patterns than regular expressions take little more than their text.
fn compiled_bytes(pattern: &TextPattern) -> u64 {
    match pattern.matcher() {
        Matcher::Regex(regex) => match regex_syntax::parse(regex.source()) {
            Ok(regex) => BASE.saturating_add(states(&regex).saturating_mul(STATE)),
            Err(_) => BASE,
        },
        _ => 0,
    }
}

/// States of the automaton, approximately: repeated parts are copied.
fn states(regex: &Hir) -> u64 {
    let sum = |parts: &[Hir]| parts.iter().map(states).fold(1, u64::saturating_add);
    match regex.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(text) => text.0.len() as u64,
        HirKind::Class(Class::Unicode(class)) => 2 * class.ranges().len() as u64,
        HirKind::Class(Class::Bytes(_)) => 1,
        HirKind::Capture(group) => states(&group.sub).saturating_add(2),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => sum(parts),
        HirKind::Repetition(repeated) => {
            let copies = repeated.max.unwrap_or(repeated.min.saturating_add(1)).max(1);
            states(&repeated.sub).saturating_add(1).saturating_mul(u64::from(copies))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::PatternKind;

    #[test]
    fn many_patterns_of_a_few_bytes_exceed_the_budget() {
        let limits = Limits { max_regex_size: 1 << 12, ..Limits::default() };
        let pattern = |source: &str| {
            TextPattern::new(PatternKind::Regex, source, &Limits::default()).expect("a pattern")
        };
        let (large, small) = (pattern(r"\w{20}"), pattern("abc"));
        assert!(compiled_bytes(&large) > 100 * compiled_bytes(&small), "{}", compiled_bytes(&large));
        let budget = PatternBudget::new(&limits);
        assert!((0..1_000).all(|_| budget.take(&small).is_ok()));
        let refusal = (0..1_000).find_map(|_| budget.take(&large).err()).expect("too many");
        assert!(refusal.contains("max_regex_size"), "{refusal}");
    }
}
