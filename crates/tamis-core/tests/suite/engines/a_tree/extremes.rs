//! Extreme shapes: many child nodes, many values, deep nesting, a predicate with many parents.

use super::{ENGINE, IndexPair, size, stat};
use tamis_conformance::seeded::{Draw, seed};
use tamis_core::engine::registry::Options;
use tamis_core::expr::{Limits, Missing};
use tamis_core::index::{Id, Index, Settings};

#[test]
fn many_children() {
    let pair = IndexPair::new(Options::new(), Missing::Unknown);
    let join = |count: usize, word: &str| {
        let parts: Vec<String> = (0..count).map(|n| format!("a{n} = 1")).collect();
        parts.join(word)
    };
    let event = |count: usize| {
        let fields: Vec<String> = (0..count).map(|n| format!("\"a{n}\": 1")).collect();
        format!("{{{}}}", fields.join(", "))
    };
    // Longer ones before and after the ones they share most operands with.
    for (id, count) in [5_000, 4_999, 10, 3_000, 2, 4_000].into_iter().enumerate() {
        pair.add(2 * id as i64, &join(count, " and "));
        pair.add(2 * id as i64 + 1, &join(count, " or "));
        pair.validate();
    }
    let match_events =
        || [0, 1, 2, 9, 10, 2_999, 3_000, 4_999, 5_000].map(|count| pair.matches(&event(count)));
    assert_eq!(match_events(), [0, 6, 7, 7, 8, 8, 9, 11, 12]);
    assert_eq!(pair.matches("{\"a4999\": 1}"), 1);
    for id in [0, 7, 4, 11, 2, 1, 10, 3, 8, 5, 6, 9] {
        pair.remove(id);
        pair.validate();
        match_events();
    }
    assert_eq!(size(&pair.tested), [0, 0, 0]);
}

#[test]
fn many_values() {
    let pair = IndexPair::new(Options::new(), Missing::Unknown);
    // Every other value: adjacent integers would be one range.
    let values: Vec<String> = (0..10_000).map(|n| (2 * n).to_string()).collect();
    let list = values.join(", ");
    pair.add(0, &format!("a in ({list}) and b = 1"));
    pair.add(1, &format!("a not in ({list}) and b = 1"));
    pair.add(2, &format!("b = 1 or c in ({list})"));
    for n in 3..300 {
        pair.add(n, &format!("a = {} and b = 1", 7 * n));
    }
    pair.validate();
    let match_events = || {
        for a in (0..400).chain(19_990..20_005) {
            pair.matches(&format!("{{\"a\": {a}, \"b\": 1}}"));
        }
        pair.matches("{\"a\": 8.5, \"b\": 1, \"c\": 19998}")
    };
    assert_eq!(match_events(), 2);
    pair.remove(0);
    pair.validate();
    match_events();
    (1..300).for_each(|n| pair.remove(n));
    pair.validate();
    assert_eq!(size(&pair.tested), [0, 0, 0]);
}

/// Expressions at the maximum depth: at the default limit and at its cap.
#[test]
fn deep_nesting() {
    for max_depth in [Limits::default().max_depth, Limits::DEPTH_CAP] {
        let limits = Limits { max_depth, ..Limits::default() };
        let settings = Settings { engine: ENGINE.into(), limits, ..Settings::default() };
        let index = Index::new(settings).expect("an index");
        // Each expression is a subexpression of the next, so all are one chain.
        let mut text = "a0 = 0".to_owned();
        let mut count: i64 = 0;
        while index.add(Id::from(count), text.as_str().into()).is_ok() {
            count += 1;
            text = format!("a{} = {count} {} ({text})", count % 9, if count % 2 == 0 { "and" } else { "or" });
        }
        assert!(count as usize > max_depth / 3, "{count} levels");
        index.validate().expect("a valid index");
        assert_eq!(size(&index), [count, count - 1, 2 * (count - 1)].map(|figure| figure as u64));
        assert!(stat(&index, "levels") >= count as u64 - 1);
        // From the innermost level up, an OR passes TRUE on and an AND stops it.
        let matches = |event: &str| index.match_json(event.as_bytes()).expect("valid JSON");
        assert_eq!(matches(r#"{"a0": 0}"#), [0, 1].map(Id::from));
        assert_eq!(matches(r#"{"a0": 0, "a2": 2}"#), [0, 1, 2, 3].map(Id::from));
        assert_eq!(matches("{}"), []);
        for id in (0..count).rev().step_by(2).chain((0..count - 1).rev().step_by(2)) {
            index.remove(&Id::from(id)).expect("a present id");
        }
        index.validate().expect("a valid index");
        assert_eq!(size(&index), [0, 0, 0]);
    }
}

/// One predicate is in every expression, so operations per parent of a node must be cheap.
#[test]
fn a_predicate_in_every_expression() {
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    let mut draw = Draw::new(seed);
    let pair = IndexPair::new(Options::new(), Missing::Unknown);
    let text = |n: i64| match n % 4 {
        0 => format!("hot = 1 and a = {n}"),
        1 => format!("hot = 1 and (a = {n} or b > {n})"),
        2 => format!("hot = 1 or a = {n}"),
        _ => format!("(hot = 1 and b = {}) or (a = {n} and c = 1)", n / 100),
    };
    let match_events = || {
        let events = [
            r#"{"hot": 1}"#,
            r#"{"hot": 1, "a": 1001}"#,
            r#"{"hot": 2, "a": 1003, "c": 1}"#,
            r#"{"hot": 1, "b": 17}"#,
            r#"{"a": 1002, "b": 3}"#,
        ];
        events.map(|event| pair.matches(event))
    };
    let mut ids: Vec<i64> = (0..4_000).collect();
    for _ in 0..2 {
        draw.shuffle(&mut ids);
        for (n, &id) in ids.iter().enumerate() {
            pair.add(id, &text(id));
            if n % 200 == 0 {
                match_events();
            }
        }
        pair.validate();
        assert_eq!(match_events()[0], 1_000);
        draw.shuffle(&mut ids);
        for (n, &id) in ids.iter().enumerate() {
            pair.remove(id);
            if n % 200 == 0 {
                match_events();
            }
            if n % 1_000 == 0 {
                pair.validate();
            }
        }
        assert_eq!(size(&pair.tested), [0, 0, 0]);
    }
}
