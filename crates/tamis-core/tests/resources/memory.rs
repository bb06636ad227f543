//! `memory()` of an index is what its allocations add up to, within 10%, for every engine and for rules of every shape that
//! takes memory in another place.

use std::time::Duration;
use tamis_conformance::counting::held;
use tamis_core::engine::registry::Registry;
use tamis_core::expr::{Limits, parse};
use tamis_core::index::{Id, Index, Settings, Source};

/// The rule and the id with a number.
type Rule = fn(usize) -> (Id, String);

fn id(n: usize) -> Id {
    Id::from(n as i64)
}

/// A name, how many rules, and the rules.
const WORKLOADS: &[(&str, usize, Rule)] = &[
    ("simple", 20_000, |n| {
        (id(n), format!("a = {} and b > {} and s{} = 'value {n}'", n % 97, n % 1_000, n % 5))
    }),
    ("regexes", 300, |n| (id(n), format!(r"s rlike '[a-z]{{3}}x{n}\d+' and b = {n}"))),
    ("patterns", 4_000, |n| (id(n), format!("contains(s, 'needle number {n} of many') and b = {}", n % 10))),
    ("dotted names", 1_500, |n| (id(n), format!("{}.n{n} = 1", long_path(n)))),
    ("attributes", 20_000, |n| (id(n), format!("attribute_number_{n} = 1"))),
    ("string ids", 20_000, |n| (Id::from(format!("{}{n}", "id".repeat(80)).as_str()), "a = 1".into())),
    ("long strings", 2_000, |n| (id(n), format!("s in ('{n}{}', '{n}')", "long text ".repeat(30)))),
];

/// 31 parts, different from rule to rule at the first.
fn long_path(n: usize) -> String {
    let parts: Vec<String> = (0..31).map(|part| format!("part{n}of{part}")).collect();
    parts.join(".")
}

/// Bytes held once nothing changes any more: the merging thread may still be ending.
fn settled() -> usize {
    let mut last = held();
    loop {
        std::thread::sleep(Duration::from_millis(20));
        let now = held();
        if now == last {
            return now;
        }
        last = now;
    }
}

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
    let mut wrong = Vec::new();
    for (workload, count, rule) in WORKLOADS {
        for engine in Registry::CORE.iter() {
            let before = settled();
            let settings = Settings { engine: engine.name.into(), ..Settings::default() };
            let index = Index::new(settings).expect("an index");
            let rules = (0..*count).map(|n| {
                let (id, text) = rule(n);
                (id, Source::from(text.as_str()))
            });
            index.add_many(rules).expect("added");
            index.compact().expect("compacted");
            let (memory, allocated) = (index.memory(), settled() - before);
            let counted = memory.ids + memory.texts + memory.attributes + memory.engine;
            let share = counted as f64 / allocated as f64;
            println!("{workload:12} {:10} {counted:10} of {allocated:10} bytes, {share:.3}", engine.name);
            if !(0.9..1.1).contains(&share) {
                wrong.push(format!("{workload}, {}: {share:.3}: {memory:?} of {allocated}", engine.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
