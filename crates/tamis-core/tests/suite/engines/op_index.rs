//! What is particular to OpIndex: pivots that follow frequencies, long lists, both normal forms, every kind of operand.

use super::checking::{EngineTrial, add, agree_with_scan, index, matches, rows, stat};
use tamis_conformance::histories::step;
use tamis_conformance::model::CheckedIndex;
use tamis_conformance::seeded::{Draw, seed};
use tamis_core::engine::registry::{OptionValue, Options, Registry};
use tamis_core::expr::Missing;
use tamis_core::index::{Id, Index};

/// `form`: 0 auto, 1 cnf, 2 dnf.
const ENGINES: &[EngineTrial] = &[
    ("op_index", &[]),
    ("op_index", &[("directory", 0), ("form", 1)]),
    ("op_index", &[("segments", 3), ("signature_bits", 5), ("form", 2)]),
    ("op_index", &[("intervals", 0)]),
    ("op_index", &[("intervals", 0), ("form", 1), ("segments", 4_096)]),
];

/// Conditions on numbers whose operands have 32 or 96 bits, instants, strings and Booleans.
fn condition(draw: &mut Draw, bound: usize) -> String {
    let attribute = ["x", "y", "z", "w"][draw.below(4)];
    let number = |draw: &mut Draw| match draw.below(8) {
        0 => format!("{}.25", draw.below(bound)),
        1 => format!("{}", (1_i64 << 53) + draw.below(4) as i64),
        2 => format!("-{}", 5_000_000_000 + draw.below(bound) as i64),
        _ => format!("{}", draw.below(bound) as i64 - 3),
    };
    let word =
        |draw: &mut Draw| ["a", "ab", "abc", "abcdefghijkl", "abcdefghijklm", "b", "é", ""][draw.below(8)];
    let (a, b) = (number(draw), number(draw));
    match draw.below(16) {
        0 => format!("{attribute} = {a}"),
        1 => format!("{attribute} != {a}"),
        2 => format!("{attribute} > {a}"),
        3 => format!("{attribute} <= {a}"),
        4 => format!("{attribute} in ({a}, {b}, '{}')", word(draw)),
        5 => format!("{attribute} not in ({a}, {b})"),
        6 => format!("{attribute} not between {a} and {b}"),
        7 => format!(
            "t {} TIMESTAMP '2026-01-0{} 00:00:00'",
            ["<", ">=", "="][draw.below(3)],
            1 + draw.below(5)
        ),
        8 => format!("s {} '{}'", ["<", ">=", "=", "!=", ">"][draw.below(5)], word(draw)),
        9 => format!("s like '{}%'", word(draw)),
        10 => format!("s not like '%{}%'", word(draw)),
        11 => format!("s rlike '{}$'", word(draw)),
        12 => format!("({attribute} is null or {attribute} < {a})"),
        13 => ["f", "not f", "s is not null", "x is null"][draw.below(4)].to_owned(),
        14 => format!("s between '{}' and '{}'", word(draw), word(draw)),
        _ => format!("{attribute} between {a} and {b}"),
    }
}

fn event(draw: &mut Draw, bound: usize) -> String {
    let mut pairs = Vec::new();
    for name in ["x", "y", "z", "w"] {
        match draw.below(8) {
            0 => {}
            1 => pairs.push(format!("\"{name}\": {}.25", draw.below(bound))),
            2 => pairs.push(format!("\"{name}\": {}", (1_i64 << 53) + draw.below(4) as i64)),
            3 => pairs.push(format!("\"{name}\": \"abc\"")),
            4 => pairs.push(format!("\"{name}\": -{}", 5_000_000_000 + draw.below(bound) as i64)),
            _ => pairs.push(format!("\"{name}\": {}", draw.below(bound) as i64 - 3)),
        }
    }
    if draw.below(4) > 0 {
        let words = ["", "a", "ab", "abd", "abcdefghijkl", "abcdefghijklmn", "é", "éa", "b\\u0000"];
        pairs.push(format!("\"s\": \"{}\"", words[draw.below(words.len())]));
    }
    if draw.below(3) > 0 {
        pairs.push(format!("\"f\": {}", draw.below(2) == 1));
    }
    format!("{{{}}}", pairs.join(", "))
}

fn expression(draw: &mut Draw, bound: usize) -> String {
    let clause = |draw: &mut Draw, connective: &str| {
        let parts: Vec<String> = (0..1 + draw.below(3)).map(|_| condition(draw, bound)).collect();
        format!("({})", parts.join(connective))
    };
    let (inner, outer) = [(" and ", " or "), (" or ", " and ")][draw.below(2)];
    let parts: Vec<String> = (0..1 + draw.below(3)).map(|_| clause(draw, inner)).collect();
    parts.join(outer)
}

#[test]
fn every_operand_and_both_forms() {
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    for bound in [6, 400] {
        let mut draw = Draw::new(seed);
        let texts: Vec<String> = (0..500).map(|_| expression(&mut draw, bound)).collect();
        let events: Vec<String> = (0..200).map(|_| event(&mut draw, bound)).collect();
        assert!(agree_with_scan(ENGINES, &[&texts], &events, |_, _| ()) > 500, "matches are frequent");
    }
}

/// More entries than one array has: lists become blocks, and arrays again.
#[test]
fn long_lists_grow_and_shrink() {
    let mut draw = Draw::new(seed());
    let texts: Vec<String> = (0..3_000)
        .map(|n| match n % 4 {
            0 => format!("a = {} and b > {}", draw.below(40), draw.below(900)),
            1 => format!("a between {} and {}", draw.below(50), 50 + draw.below(50)),
            2 => format!("a >= {} and b <= {}.5", draw.below(100), draw.below(900)),
            _ => format!("a < {} and b = 7", draw.below(100)),
        })
        .collect();
    let events: Vec<String> = (0..60)
        .map(|n| format!("{{\"a\": {}, \"b\": {}}}", n * 2, if n % 3 == 0 { 7 } else { n * 15 }))
        .collect();
    agree_with_scan(ENGINES, &[&texts], &events, |engine, built| {
        let scan = index("scan", &[]);
        add(&scan, &texts, 0);
        let mut left: Vec<i64> = (0..texts.len() as i64).collect();
        let mut draw = Draw::new(seed());
        while !left.is_empty() {
            for _ in 0..left.len().min(500) {
                let id = Id::from(left.swap_remove(draw.below(left.len())));
                built.remove(&id).expect("a present id");
                scan.remove(&id).expect("a present id");
            }
            built.validate().expect("a sound index");
            assert_eq!(matches(built, &events), matches(&scan, &events), "{engine}");
        }
        for what in ["members", "pivots", "entries", "symbols", "unconditional"] {
            assert_eq!(stat(built, what), 0, "{engine}: {what}");
        }
    });
}

fn observe(index: &Index, events: &[String]) {
    index.observe_rows(&index.schema(), &rows(index, events)).expect("a fresh schema");
    index.validate().expect("a sound index");
}

/// Pivots follow the observed events, and without them the subscriptions.
#[test]
fn pivots_follow_frequencies() {
    let index = index("op_index", &[]);
    add(&index, &(0..50).map(|n| format!("a = {n} and b = 1")).collect::<Vec<_>>(), 0);
    add(&index, &(0..50).map(|n| format!("a = {n}")).collect::<Vec<_>>(), 100);
    add(&index, &["a = 1 and b = 1".to_owned()], 200);
    assert_eq!(stat(&index, "pivots"), 2, "a is in more subscriptions than b");
    let seen = |text: &str| vec![text.to_owned(); 20];
    observe(&index, &seen("{\"b\": 1}"));
    assert_eq!(stat(&index, "pivots"), 1, "b is in more events than a");
    observe(&index, &[seen("{\"a\": 1}"), seen("{\"a\": 1}")].concat());
    assert_eq!(stat(&index, "pivots"), 2, "a is in more events than b");
    assert_eq!(matches(&index, &["{\"a\": 1, \"b\": 1}".to_owned()])[0].len(), 3);
}

/// The first subscriptions choose a pivot that later ones make the most frequent attribute.
#[test]
fn early_pivots_are_reviewed() {
    let index = index("op_index", &[]);
    add(&index, &(0..500).map(|n| format!("a = {n} and b{} = 1", n % 2)).collect::<Vec<_>>(), 0);
    assert!(stat(&index, "largest_partition") <= 251, "a is frequent");
    let later = |n: usize| format!("b0 = {n} and b1 = {n} and c{} = 1", n % 1_000);
    add(&index, &(0..4_000).map(later).collect::<Vec<_>>(), 1_000);
    assert_eq!(stat(&index, "pivots"), 1_001, "all of the early ones are found through a");
    index.validate().expect("a sound index");
}

/// A CNF has as many clauses as it likes, and is found through any attribute of its pivot clause, once.
#[test]
fn large_cnf() {
    let clause = |n: usize| format!("(a{n} = 1 or b{n} > 5)");
    let text = (0..200).map(clause).collect::<Vec<_>>().join(" and ");
    let all = |a: i64, b: i64| {
        (0..200).map(|n| format!("\"a{n}\": {a}, \"b{n}\": {b}")).collect::<Vec<_>>().join(", ")
    };
    let events = [(1, 9), (1, 0), (0, 9), (0, 0)].map(|(a, b)| format!("{{{}}}", all(a, b)));
    for (engine, options) in [("op_index", &[][..]), ("op_index", &[("form", 1), ("directory", 0)])] {
        let index = index(engine, options);
        add(&index, std::slice::from_ref(&text), 7);
        assert_eq!((stat(&index, "members"), stat(&index, "placements")), (1, 2));
        let id = vec![Id::from(7)];
        assert_eq!(matches(&index, &events), [id.clone(), id.clone(), id, vec![]]);
    }
}

/// `TAMIS_SEED=7 cargo test --release -p tamis-core --test suite op_index -- --ignored`
#[test]
#[ignore = "minutes: 100,000 steps for each setting"]
fn long_lives() {
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    let text = |word: &str| OptionValue::Text(word.into());
    for (at, (form, intervals)) in [("auto", true), ("cnf", true), ("dnf", false)].into_iter().enumerate() {
        let options: Options =
            [("form".to_owned(), text(form)), ("intervals".to_owned(), OptionValue::Bool(intervals))].into();
        let missing = if at == 1 { Missing::False } else { Missing::Unknown };
        let mut checked = CheckedIndex::new(Registry::CORE, "op_index", options, missing);
        let (mut draw, step) = (Draw::new(seed + at as u64), step(100));
        for round in 0..100_000 {
            checked.apply(&draw.one(&step));
            if round % 50 == 0 {
                checked.check_contents();
            }
        }
        checked.check_contents();
    }
}
