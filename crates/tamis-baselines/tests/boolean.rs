//! What is particular to the baselines for arbitrary expressions: labels, counters, orders of variables, and expressions
//! that blow up in the form an engine stores, which must be refused with a typed error and leave the index as it was.

use tamis_baselines::ALL;
use tamis_core::Error;
use tamis_core::engine::registry::{OptionValue, Options};
use tamis_core::index::{Id, Index, Settings};

const ENGINES: [&str; 5] = ["interval_id", "dewey_id", "bop", "bdd", "translation"];

fn index_with(engine: &str, options: &[(&str, OptionValue)]) -> Index {
    let options: Options = options.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let settings = Settings { engine: engine.into(), options, ..Settings::default() };
    Index::with_registry(ALL, settings).expect("an index")
}

fn index(engine: &str) -> Index {
    index_with(engine, &[])
}

fn stat(index: &Index, name: &str) -> u64 {
    index.engine_stats().into_iter().find(|(n, _)| *n == name).map_or(0, |(_, value)| value)
}

/// Whether an index matches an event exactly where the event, bits of `a0`, `a1`, ..., satisfies `holds`.
fn check_bits(engine: &str, text: &str, bits: u32, holds: impl Fn(u32) -> bool) {
    let index = index(engine);
    index.add(Id::from(1), text.into()).expect("a small expression");
    index.validate().expect("a sound index");
    for event in 0..1_u32 << bits {
        let pairs: Vec<String> = (0..bits).map(|bit| format!("\"a{bit}\": {}", event >> bit & 1)).collect();
        let json = format!("{{{}}}", pairs.join(", "));
        let found = index.match_json(json.as_bytes()).expect("valid JSON");
        assert_eq!(found.len(), usize::from(holds(event)), "{engine}: {text} on {json}");
    }
}

/// Every assignment of a few predicates, for shapes in which labels of different operands could be mixed up.
#[test]
fn small_expressions_hold_for_exactly_the_right_events() {
    let bit = |event: u32, at: u32| event >> at & 1 == 1;
    for engine in ENGINES {
        let paper = "(a0 = 1 or a1 = 1 or a2 = 1) and a3 = 1 and (a4 = 1 or a5 = 1)";
        check_bits(engine, paper, 6, |e| e & 0b111 != 0 && bit(e, 3) && e & 0b110_000 != 0);
        check_bits(engine, "(a0 = 1 and a1 = 1) or (a2 = 1 and a3 = 1)", 4, |e| {
            e & 0b11 == 0b11 || e & 0b1100 == 0b1100
        });
        let nested =
            "((a0 = 1 and (a1 = 1 or a2 = 1)) or (a3 = 1 and a4 = 1)) and (a5 = 1 or (a0 = 1 and a3 = 1))";
        check_bits(engine, nested, 6, |e| {
            let left = bit(e, 0) && (bit(e, 1) || bit(e, 2)) || bit(e, 3) && bit(e, 4);
            left && (bit(e, 5) || bit(e, 0) && bit(e, 3))
        });
        // One predicate in several leaves.
        check_bits(engine, "(a0 = 1 or a1 = 1) and (a0 = 1 or a2 = 1) and (a0 = 1 or a3 = 1)", 4, |e| {
            bit(e, 0) || e & 0b1110 == 0b1110
        });
        check_bits(engine, "a0 = 1 xor a1 = 1 xor a2 = 1 xor a3 = 1", 4, |e| e.count_ones() % 2 == 1);
        check_bits(engine, "a0 = 1", 1, |e| bit(e, 0));
    }
}

/// More positions than a word has bits, more satisfied leaves than a counter counts.
#[test]
fn wide_expressions() {
    let ands: Vec<String> = (0..300).map(|n| format!("(a{n} = 1 or b{n} = 1)")).collect();
    let all: Vec<String> = (0..300).map(|n| format!("\"{}{n}\": 1", ["a", "b"][n % 2])).collect();
    for engine in ["interval_id", "dewey_id", "bop", "bdd"] {
        let index = index(engine);
        index.add(Id::from(1), ands.join(" and ").as_str().into()).expect("600 leaves");
        index.add(Id::from(2), ands.join(" or ").as_str().into()).expect("600 leaves");
        let matched = |pairs: &[String]| {
            index.match_json(format!("{{{}}}", pairs.join(", ")).as_bytes()).expect("valid JSON").len()
        };
        assert_eq!(matched(&all), 2, "{engine}");
        assert_eq!(matched(&all[1..]), 1, "{engine}");
        assert_eq!(matched(&[]), 0, "{engine}");
    }
}

/// Adds an expression that may be refused. If it is, the index must be as before, and the error must name the bound.
fn refused(index: &Index, text: &str, option: &str) -> bool {
    // A dimension has a space once an expression has named its attribute, also one that is refused.
    let counts =
        || index.engine_stats().into_iter().filter(|(name, _)| *name != "spaces").collect::<Vec<_>>();
    let (before, memory) = (counts(), index.memory().engine);
    match index.add(Id::from(99), text.into()) {
        Ok(_) => {
            index.remove(&Id::from(99)).expect("a present id");
            false
        }
        Err(error) => {
            assert!(error.is_too_complex(), "{error}");
            assert!(error.to_string().contains(option), "{error}");
            if let Error::ExpressionTooLarge { size, limit, .. } | Error::TooComplex { size, limit } = error {
                assert!(size > limit);
            }
            index.validate().expect("a sound index");
            assert_eq!(counts(), before);
            assert!(index.memory().engine <= memory + (64 << 20), "memory after a refusal");
            true
        }
    }
}

/// Six levels; the two highest have 20 operands, the others two.
fn deep(level: usize, next: &mut usize) -> String {
    if level == 6 {
        *next += 1;
        return format!("d{} = {}", *next % 97, *next % 13);
    }
    let count = if level < 2 { 20 } else { 2 };
    let parts: Vec<String> = (0..count).map(|_| format!("({})", deep(level + 1, next))).collect();
    parts.join(if level.is_multiple_of(2) { " and " } else { " or " })
}

#[test]
fn blow_ups_are_refused() {
    let xors: Vec<String> = (0..200).map(|n| format!("x{n} = 1")).collect();
    let deep = deep(0, &mut 0);
    for (engine, option) in
        ENGINES.into_iter().zip(["max_leaves", "max_leaves", "max_leaves", "max_", "max_dnf"])
    {
        let index = index(engine);
        for n in 0..20 {
            let text = format!("(a = {n} or b > {n}) and c != {n}");
            index.add(Id::from(n), text.as_str().into()).expect("a small expression");
        }
        let is_refused = refused(&index, &xors.join(" xor "), option);
        // A chain of XORs is a narrow diagram: two predicates each, and one bit of state between them.
        assert_eq!(is_refused, engine != "bdd", "{engine}: a chain of 200 XORs");
        let is_refused = refused(&index, &deep, option);
        assert_eq!(is_refused, ["bdd", "translation"].contains(&engine), "{engine}: six levels");
        assert_eq!(index.len(), 20);
        let found = index.match_json(br#"{"a": 3, "b": 0, "c": 9}"#).expect("valid JSON");
        assert_eq!(found, [Id::from(3)], "{engine}");
    }
}

/// Pairs whose members are far apart in the order of variables: the diagram doubles with every pair.
#[test]
fn the_order_of_variables_decides_the_size_of_a_diagram() {
    let pairs: Vec<String> = (0..30).map(|n| format!("(l{n} = 1 and r{n} = 1)")).collect();
    let text = pairs.join(" or ");
    let near = index("bdd");
    near.add(Id::from(1), text.as_str().into()).expect("60 nodes");
    assert_eq!(stat(&near, "nodes"), 60);
    let far = index("bdd");
    for n in 0..60 {
        let side = if n < 30 { format!("l{n} = 1") } else { format!("r{} = 1", n - 30) };
        far.add(Id::from(100 + n), side.as_str().into()).expect("one node");
    }
    assert!(refused(&far, &text, "max_steps"));
    let few = index_with("bdd", &[("max_nodes", OptionValue::Int(40))]);
    assert!(refused(&few, &text, "max_nodes"));
}

/// Equal functions are one root, whatever their text; what is removed leaves no node.
#[test]
fn equal_functions_share_a_root() {
    let index = index("bdd");
    for (n, text) in
        ["a = 1 and (b = 1 or c = 1)", "(a = 1 and b = 1) or (a = 1 and c = 1)"].iter().enumerate()
    {
        index.add(Id::from(n as i64), (*text).into()).expect("a small expression");
    }
    assert_eq!((stat(&index, "roots"), stat(&index, "nodes")), (1, 3));
    for n in 0..2 {
        index.remove(&Id::from(n)).expect("a present id");
    }
    assert_eq!((stat(&index, "roots"), stat(&index, "nodes"), stat(&index, "predicates")), (0, 0, 0));
}

#[test]
fn translation_reports_its_expansion() {
    let index = index("translation");
    index
        .add(Id::from(1), "(a = 1 or b = 1 or c = 1) and d = 1 and (e = 1 or f = 1)".into())
        .expect("6 conjunctions");
    index.add(Id::from(2), "a = 1 and b = 1".into()).expect("a conjunction");
    let stats = [
        "expressions",
        "translated_conjunctions",
        "predicates_before",
        "predicates_after",
        "largest_translation",
    ];
    assert_eq!(stats.map(|name| stat(&index, name)), [2, 7, 8, 20, 6]);
}
