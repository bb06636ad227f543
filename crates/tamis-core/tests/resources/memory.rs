//! `memory()` of an index is what its allocations add up to, and the limits bound what a rule takes.

use tamis_conformance::resources::{self, settled};
use tamis_core::engine::registry::Registry;
use tamis_core::expr::{Limits, parse};
use tamis_core::index::{Id, Index, Settings, Source};

/// Bytes that an index of one rule holds.
fn held_by(rule: &str, limits: Limits) -> usize {
    let before = settled();
    let index = Index::new(Settings { limits, ..Settings::default() }).expect("an index");
    index.add(Id::from(1), Source::from(rule)).expect("added");
    index.compact().expect("compacted");
    settled() - before
}

/// The limits bound what a rule takes, not only its text.
#[test]
fn a_rule_takes_no_more_than_its_limits_allow() {
    let _alone = crate::alone();
    let limits = Limits { max_regex_size: 100_000, ..Limits::default() };
    // 490 names of nearly 1,000 bytes and 32 parts.
    let name = |n: usize| (0..32).map(|part| format!("{n}{}{part}", "x".repeat(23))).collect::<Vec<_>>();
    let names: Vec<String> = (100..590).map(|n| format!("x{} = 1", name(n).join(".x"))).collect();
    let rule = names.join(" or ");
    assert!(rule.len() > 450_000, "{} bytes", rule.len());
    let held = held_by(&rule, limits);
    assert!(held < 64 * rule.len(), "{held} bytes held for {}", rule.len());
    // As many regular expressions as a rule may have.
    let rule = |count: usize| {
        let tests: Vec<String> = (0..count).map(|n| format!(r"s rlike '\w+x{n}'")).collect();
        tests.join(" or ")
    };
    let accepted = (1..1_000).find(|count| parse(&rule(*count + 1), &limits).is_err());
    let accepted = accepted.expect("some rule is refused");
    assert!(accepted > 16, "{accepted} regular expressions");
    let error = parse(&rule(accepted + 1), &limits).expect_err("refused").to_string();
    assert!(error.contains("16 times max_regex_size"), "{error}");
    let held = held_by(&rule(accepted), limits);
    assert!(held < limits.max_regex_total() * 5 / 4, "{held} bytes held");
}

#[test]
fn memory_is_what_the_allocator_says() {
    let _alone = crate::alone();
    resources::memory_is_what_the_allocator_says(Registry::CORE);
}
