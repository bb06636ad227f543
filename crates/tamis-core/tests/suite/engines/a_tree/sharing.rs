//! Node uniqueness and reuse: equal subexpressions are one node, and larger connectives reuse smaller ones.

use super::{IndexPair, add, off, size, stat, tree};
use tamis_conformance::abe::Generator;
use tamis_conformance::seeded::{Draw, seed};
use tamis_core::engine::registry::Options;
use tamis_core::expr::Missing;
use tamis_core::index::{Id, Index};

/// The order of insertion changes neither the numbers of nodes nor, by more than 2%, links and memory.
#[test]
fn any_order_gives_one_structure() {
    let mut make = Generator::new(seed());
    let mut texts = make.expressions(3_000);
    let events: Vec<String> = (0..20).map(|_| make.event()).collect();
    let mut built = Vec::new();
    for _ in 0..5 {
        let index = tree(Options::new());
        // In one batch, after which spare capacity is released.
        let batch = texts.iter().enumerate().map(|(n, text)| (Id::from(n as i64), text.as_str().into()));
        index.add_many(batch).expect("valid expressions");
        index.validate().expect("a valid index");
        let [predicates, inner, links] = size(&index);
        let found: usize =
            events.iter().map(|event| index.match_json(event.as_bytes()).expect("valid JSON").len()).sum();
        built.push((predicates, inner, found, links, index.memory().engine as u64));
        make.draw.shuffle(&mut texts);
    }
    println!("(predicates, inner nodes, matches, links, bytes) by order: {built:?}");
    let spread = |figure: fn(&(u64, u64, usize, u64, u64)) -> u64| {
        let figures = || built.iter().map(figure);
        let (least, most) = (figures().min().expect("five"), figures().max().expect("five"));
        (most - least) as f64 / least as f64
    };
    let counts: Vec<_> =
        built.iter().map(|(predicates, inner, found, ..)| (predicates, inner, found)).collect();
    assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
    assert!(spread(|built| built.3) < 0.02, "links: {built:?}");
    assert!(spread(|built| built.4) < 0.02, "bytes: {built:?}");
}

/// Order and repetition of operands make no other expression.
#[test]
fn equal_expressions_are_one_node() {
    for (first, again) in [
        ("a = 1 and b = 2", "b = 2 and a = 1 and b = 2"),
        ("a = 1 and b = 2", "not (b != 2 or a != 1)"),
        ("a = 1 or b = 2", "(b = 2 or a = 1) and (a = 1 or b = 2)"),
        ("c = 3 and (a = 1 or b = 2)", "(b = 2 or a = 1 or b = 2) and c = 3 and (a = 1 or b = 2)"),
        ("a = 1 xor b = 2", "b = 2 xor a = 1"),
        ("a = 1 xor b = 2", "not (a = 1 xnor b = 2)"),
        (
            "(a = 1 and (b = 2 or c = 3)) or (d in (4, 5) and e < 6)",
            "(e < 6 and d between 4 and 5 and d in (5, 4)) or ((c = 3 or b = 2) and a = 1)",
        ),
    ] {
        let index = tree(Options::new());
        add(&index, [first]);
        let before = size(&index);
        add(&index, [again]);
        assert_eq!(size(&index), before, "{first}; {again}");
        index.validate().expect("a valid index");
        index.remove(&Id::from(0)).expect("a present id");
        index.validate().expect("a valid index");
        assert_eq!(size(&index), before, "{again} keeps the shared nodes");
        index.remove(&Id::from(1)).expect("a present id");
        assert_eq!(size(&index), [0, 0, 0]);
    }
}

/// A subexpression and an equal expression are one node.
#[test]
fn subexpressions_and_expressions_share_nodes() {
    let index = tree(Options::new());
    add(&index, ["x = 0 and (a = 1 or (b = 2 and c = 3))"]);
    let before = size(&index);
    add(&index, ["c = 3 and b = 2", "(c = 3 and b = 2) or a = 1", "c = 3", "not (x != 0)"]);
    assert_eq!(size(&index), before);
    let event = r#"{"x": 0, "b": 2, "c": 3}"#.as_bytes();
    index.remove(&Id::from(0)).expect("a present id");
    index.validate().expect("a valid index");
    assert_eq!(index.match_json(event).expect("valid JSON"), [1, 2, 3, 4].map(Id::from));
    index.remove(&Id::from(2)).expect("a present id");
    index.validate().expect("a valid index");
    assert_eq!(index.match_json(event).expect("valid JSON"), [1, 3, 4].map(Id::from));
}

/// A connective reuses the node of a subset of its operands, in either order of insertion, and survives its removal.
#[test]
fn larger_connectives_reuse_smaller_ones() {
    for word in ["and", "or"] {
        let join = |names: &[&str]| {
            let parts: Vec<String> = names.iter().map(|name| format!("{name} = 1")).collect();
            parts.join(&format!(" {word} "))
        };
        let (short, long) = (join(&["a", "b", "c"]), join(&["a", "b", "c", "d"]));
        let built = |options: Options, texts: [&str; 2]| {
            let index = tree(options);
            add(&index, texts);
            index.validate().expect("a valid index");
            index
        };
        let links = |index: &Index| stat(index, "links");
        let reused = built(Options::new(), [&short, &long]);
        assert_eq!((links(&reused), stat(&reused, "inner_nodes")), (5, 2), "{word}");
        assert_eq!(links(&built(off(["reorganize", "self_adjust"]), [&short, &long])), 7, "{word}");
        let reverse = built(Options::new(), [&long, &short]);
        assert_eq!(size(&reverse), size(&reused), "{word}");
        // Ids are in the order of insertion: the shorter one has id 0 in one index, 1 in the other.
        for (index, short) in [(&reused, 0), (&reverse, 1)] {
            index.remove(&Id::from(short)).expect("a present id");
            index.validate().expect("a valid index");
            let all = r#"{"a": 1, "b": 1, "c": 1, "d": 1}"#.as_bytes();
            assert_eq!(index.match_json(all).expect("valid JSON"), [Id::from(1 - short)], "{word}");
            let one = r#"{"d": 1}"#.as_bytes();
            assert_eq!(index.match_json(one).expect("valid JSON").len(), usize::from(word == "or"));
        }
    }
}

#[test]
fn a_thousand_equal_subscriptions_are_one_node() {
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    let mut draw = Draw::new(seed);
    let pair = IndexPair::new(Options::new(), Missing::Unknown);
    let text = "a = 1 and (b = 2 or c > 3)";
    pair.add(-1, "(c > 3 or b = 2) and d = 4");
    pair.add(0, text);
    let before = size(&pair.tested);
    (1..1_000).for_each(|id| pair.add(id, text));
    assert_eq!(size(&pair.tested), before);
    pair.validate();
    let mut present: Vec<i64> = (0..1_000).collect();
    draw.shuffle(&mut present);
    while let Some(id) = present.pop() {
        pair.remove(id);
        assert_eq!(pair.matches(r#"{"a": 1, "b": 2}"#), present.len());
        assert_eq!(pair.matches(r#"{"a": 1, "c": 9, "d": 4}"#), present.len() + 1);
        if !present.is_empty() {
            assert_eq!(size(&pair.tested), before);
        }
        if present.len().is_multiple_of(50) {
            pair.validate();
        }
    }
    assert_eq!(stat(&pair.tested, "predicates"), 3);
}
