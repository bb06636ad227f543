//! Files with an author: all checksums fit, the content is chosen to do harm. Each is refused, or opened as an index that
//! answers something, in time and memory that the size of the file bounds. `fuzz/` draws more of them.

use std::num::NonZeroUsize;
use tamis_conformance::container::Container;
use tamis_core::Error;
use tamis_core::event::JsonSource;
use tamis_core::expr::Limits;
use tamis_core::index::{EventWeights, Id, Index, LoadOptions, Settings};

/// Tags of a segment's sections, from `docs/file-format.md`.
const ID_TABLE: u32 = 5;
const TEXTS: u32 = 16;
const TEXT_OFFSETS: u32 = 17;
const NODES: u32 = 68;
const COMPLEX: u32 = 80;
const SUBEXPRESSION_TESTS: u32 = 83;
const PATTERN_TEXT: u32 = 92;
const RANKS: u32 = 94;
const BOUNDS: u32 = 95;
const BOUND_STARTS: u32 = 96;
const TOKEN_STARTS: u32 = 97;
const TOKENS: u32 = 98;
const WEIGHTS: u32 = 99;
const SCORE_TESTS: u32 = 100;
/// Tags of group 0.
const SETTINGS: u32 = 1;
const ATTRIBUTE_BYTES: u32 = 2;
const ATTRIBUTE_OFFSETS: u32 = 3;

/// A compacted index of some rules, as sections.
fn compacted(rules: impl IntoIterator<Item = String>) -> Container {
    let index = Index::new(Settings::default()).expect("an index");
    let rules = (0..).zip(rules).map(|(n, rule)| (Id::from(n), rule.as_str().into()));
    index.add_many(rules.collect::<Vec<_>>()).expect("added");
    index.compact().expect("compacted");
    Container::read(&index.to_bytes())
}

fn refusal(file: &Container) -> String {
    Index::from_bytes(&file.to_bytes()).map(drop).expect_err("a refusal")
}

/// Number of matches of an event that occurs some times.
fn matches(index: &Index, event: &[u8], times: usize) -> usize {
    let mut events = JsonSource::many(vec![event; times]);
    index.match_events(&mut events, NonZeroUsize::new(1), false).expect("JSON").ids.len()
}

/// Subexpressions: each entry of the table of complex tests is one, and the rule with number `n` evaluates entry `n`.
fn subexpressions(count: usize) -> Container {
    let rule = |n: usize| format!("(a = 1 or b = {n} and c = 1) and (a = 2 or b > {n} and c = 2)");
    let mut file = compacted((0..count).map(rule));
    let entries = file.words(1, COMPLEX).len() / 4;
    assert!(entries >= count, "{entries} entries");
    file
}

/// Makes each subexpression some tests of the one before, without a memo. The first holds for no event.
fn chained(file: &mut Container, tests: u32) {
    let mut entries = file.words(1, COMPLEX);
    let complex = |entry: u32| [entry, u32::MAX - 1];
    let mut words = Vec::new();
    for (number, entry) in (0_u32..).zip(entries.chunks_exact_mut(4)) {
        let len = if number == 0 { 0 } else { tests };
        entry.copy_from_slice(&[7, words.len() as u32 / 2, len, u32::MAX]);
        (0..len).for_each(|_| words.extend(complex(number - 1)));
    }
    file.set_words(1, COMPLEX, &entries);
    file.set_words(1, SUBEXPRESSION_TESTS, &words);
}

#[test]
fn the_container_of_a_file_is_read_and_written() {
    let index = Index::new(Settings::default()).expect("an index");
    index.add(Id::from(1), "a = 1".into()).expect("added");
    index.compact().expect("compacted");
    assert_eq!(Container::read(&index.to_bytes()).to_bytes(), index.to_bytes());
}

/// Entry `n` has `2^n` tests: with a thousand entries an event would never be answered, alone or in a batch.
#[test]
fn exponential_programs_are_evaluated_once_per_subexpression() {
    let mut file = subexpressions(1_000);
    let event: &[u8] = br#"{"a": 1, "b": 5000, "c": 2}"#;
    let index = Index::from_bytes(&file.to_bytes()).expect("as written");
    assert_eq!(matches(&index, event, 1), 1_000, "all subexpressions are evaluated");
    chained(&mut file, 2);
    let index = Index::from_bytes(&file.to_bytes()).expect("sound, if useless");
    for events in [1, 2_000] {
        for _ in 0..3 {
            assert_eq!(matches(&index, event, events), 0, "the innermost subexpression holds for no event");
        }
    }
}

/// As deep as is accepted on the stack of a thread, which has 2 MiB; and one level deeper.
#[test]
fn subexpressions_nest_as_deep_as_the_stack_allows() {
    let mut file = subexpressions(6_000);
    chained(&mut file, 1);
    assert!(refusal(&file).contains("nest deeper than 5000"));
    let mut entries = file.words(1, COMPLEX);
    entries.chunks_exact_mut(4).skip(5_001).for_each(|entry| entry.copy_from_slice(&[7, 0, 0, u32::MAX]));
    file.set_words(1, COMPLEX, &entries);
    let index = Index::from_bytes(&file.to_bytes()).expect("sound");
    let event: &[u8] = br#"{"a": 1, "b": 7000, "c": 2}"#;
    assert_eq!(matches(&index, event, 100), 0);
}

/// Ranks, bounds and weights that no rules have: refused where work or memory depends on them, else ranked somehow.
#[test]
fn scores_of_other_rules_are_refused_or_harmless() {
    let rule = |n: i64| format!("a = {} ^ {} and (b > {n} ^ 0.5 or c = 1)", n % 7, n % 90);
    let file = compacted((0..500).map(rule));
    let nan = f64::NAN.to_le_bytes();
    /// A section, and what is done to its bytes.
    type Change<'c> = (u32, &'c dyn Fn(&mut Vec<u8>));
    let changes: [Change<'_>; 9] = [
        (RANKS, &|bytes| bytes.truncate(8)),
        (BOUNDS, &|bytes| bytes[..8].copy_from_slice(&nan)),
        (BOUNDS, &|bytes| bytes[7] ^= 0x80),
        (BOUND_STARTS, &|bytes| bytes[0] = 1),
        (TOKEN_STARTS, &|bytes| bytes[4..8].fill(0xff)),
        (TOKENS, &|bytes| bytes.fill(0xff)),
        (TOKENS, &|bytes| bytes[0] = 0x7c),
        (WEIGHTS, &|bytes| bytes[..8].copy_from_slice(&(-1.0_f64).to_le_bytes())),
        (SCORE_TESTS, &|bytes| bytes[..8].fill(0xff)),
    ];
    for (at, (tag, change)) in changes.into_iter().enumerate() {
        let mut changed = file.clone();
        change(changed.bytes(1, tag));
        assert!(!refusal(&changed).is_empty(), "change {at}");
    }
    for fill in [0, 0xff, 0x80, 0x17] {
        let mut changed = file.clone();
        changed.bytes(1, RANKS).iter_mut().step_by(3).for_each(|byte| *byte = fill);
        let index = Index::from_bytes(&changed.to_bytes()).expect("the order is not trusted");
        for event in [r#"{"a": 3, "b": 400}"#, r#"{"a": 6, "c": 1}"#, "{}"] {
            for k in [1, 7, usize::MAX] {
                let mut weights = EventWeights::default();
                for _ in 0..2 {
                    let mut source = JsonSource::one(event.as_bytes());
                    assert!(index.top_k_event(&mut source, k, &weights).expect("some ranking").len() <= 500);
                    weights.set("a", 2.5).expect("a weight");
                }
            }
        }
    }
}

/// A thousand nodes that lead to one list: an event with all values would read it a thousand times.
#[test]
fn lists_that_are_reached_twice_are_refused() {
    let rule = |n: i64| if n % 2 == 0 { format!("a = {}", n % 40) } else { format!("a > {n} and b = {n}") };
    let mut file = compacted((0..2_000).map(rule));
    let mut nodes = file.words(1, NODES);
    let list = nodes.iter().copied().find(|node| *node > 0).expect("a list");
    nodes.iter_mut().filter(|node| **node > 0).for_each(|node| *node = list);
    file.set_words(1, NODES, &nodes);
    assert!(refusal(&file).contains("share the words"));
}

#[test]
fn strings_that_overlap_are_refused() {
    let mut file = compacted((0..100).map(|n| format!("a = {n}")));
    let length = file.bytes(1, TEXTS).len() as u64;
    let offsets: Vec<u8> = (0..=100_u64)
        .flat_map(|n| if n % 2 == 0 { n / 100 * length } else { length }.to_le_bytes())
        .collect();
    *file.bytes(1, TEXT_OFFSETS) = offsets;
    assert!(refusal(&file).contains("the strings overlap"));
}

/// Its prefixes would take the square of its length: 20 GB.
#[test]
fn a_name_of_dots_opens() {
    let mut file = compacted(["a = 1".to_owned()]);
    let dots = vec![b'.'; 200_000];
    *file.bytes(0, ATTRIBUTE_OFFSETS) = [0, dots.len() as u64].iter().flat_map(|n| n.to_le_bytes()).collect();
    *file.bytes(0, ATTRIBUTE_BYTES) = dots;
    let index = Index::from_bytes(&file.to_bytes()).expect("an odd name");
    assert_eq!(index.schema().len(), 1);
}

/// The file allows regular expressions of any size and has one that takes gigabytes.
#[test]
fn a_file_cannot_raise_its_own_limits() {
    let mut file = compacted([r"a rlike '\w{0001}{0001}'".to_owned()]);
    let pattern = file.bytes(1, PATTERN_TEXT);
    *pattern = String::from_utf8(pattern.clone()).expect("text").replace("0001", "1000").into_bytes();
    let settings = file.bytes(0, SETTINGS);
    // Behind the engine's name and one byte: max_length, max_depth, max_regex_size, max_dnf.
    let limits = 4 + "auto".len() + 1;
    settings[limits + 16..limits + 24].copy_from_slice(&(1_u64 << 60).to_le_bytes());
    let error = refusal(&file);
    assert!(error.contains("max_regex_size") && error.contains("limits=Limits("), "{error}");
    let small = LoadOptions { limits: Some(Limits::default()), ..LoadOptions::default() };
    assert!(Index::from_bytes_with(&file.to_bytes(), &small).is_err());
}

/// One run of used buckets: each lookup would probe all of them, 200,000 lookups some minutes.
#[test]
fn a_hash_table_of_one_run_finds_ids_at_once() {
    const RULES: i64 = 200_000;
    let mut file = compacted((0..RULES).map(|n| format!("a = {n}")));
    let buckets = file.words(1, ID_TABLE).len();
    file.set_words(1, ID_TABLE, &vec![1; buckets]);
    let index = Index::from_bytes(&file.to_bytes()).expect("sound");
    assert!((0..RULES).all(|id| index.contains(&Id::from(id))));
    assert!((RULES..2 * RULES).all(|id| !index.contains(&Id::from(id))));
}

#[test]
fn ids_beyond_the_segment_are_refused() {
    let mut file = compacted((0..100).map(|n| format!("a = {n}")));
    let mut table = file.words(1, ID_TABLE);
    table[0] = 101;
    file.set_words(1, ID_TABLE, &table);
    assert!(refusal(&file).contains("too large"));
}

/// Rules that the structure was not made of: another value, another attribute, another kind of predicate.
#[test]
fn plans_of_rules_that_the_structure_does_not_have_are_explained() {
    let rules = (0..100).map(|n| format!("a = {n:06} and b != {n:06} and any(c) in (1, {n:06})"));
    let mut file = compacted(rules);
    let texts = String::from_utf8(file.bytes(1, TEXTS).clone()).expect("texts");
    for (from, to) in [("0000", "9999"), ("a = 0", "b = 0"), ("a = 0000", "a like '"), ("any(c)", "    c ")] {
        *file.bytes(1, TEXTS) = texts.replace(from, to).into_bytes();
        let index = Index::from_bytes(&file.to_bytes()).expect("texts are not read");
        for n in 0..100 {
            let plan = Error::catch(|| index.plan_of(&Id::from(n)).map(drop));
            assert!(plan.is_ok(), "{plan:?}");
        }
    }
}
