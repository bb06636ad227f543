//! What is particular to PSTBloom and PSTHash: many values, wide ranges, fractions between integers, emptiness.

use super::checking::{EngineTrial, add, agree_with_scan, index, matches, stat};
use tamis_conformance::seeded::{Draw, seed};
use tamis_core::engine::registry::OptionValue;
use tamis_core::event::{JsonReader, Rows};
use tamis_core::index::{Id, Index, Settings, Source};

const ENGINES: &[EngineTrial] = &[
    ("pst_bloom", &[]),
    ("pst_bloom", &[("max_spaces", 8), ("max_signed", 1000)]),
    ("pst_hash", &[]),
    ("pst_hash", &[("long_list", 0), ("max_cells", 8), ("max_spaces", 16)]),
    ("pst_hash", &[("long_list", 0), ("access_predicates", 3), ("max_cells", 64)]),
];

/// A number with up to two decimals, often a whole one.
fn number(draw: &mut Draw, bound: usize) -> String {
    let whole = draw.below(bound) as i64 - bound as i64 / 3;
    match draw.below(3) {
        0 => format!("{whole}.{}", ["25", "5", "75", "01"][draw.below(4)]),
        _ => whole.to_string(),
    }
}

fn condition(draw: &mut Draw, bound: usize) -> String {
    let attribute = ["x", "y", "z"][draw.below(3)];
    let (a, b) = (number(draw, bound), number(draw, bound));
    match draw.below(8) {
        0 => format!("{attribute} = {a}"),
        1 => format!("{attribute} != {a}"),
        2 => format!("{attribute} > {a}"),
        3 => format!("{attribute} <= {a}"),
        4 => format!("{attribute} in ({a}, {b})"),
        5 => format!("({attribute} < {a} or {attribute} >= {b})"),
        6 => format!("{attribute} > {a} and {attribute} < {a} + 1").replace(" + 1", ""),
        _ => format!("{attribute} between {a} and {b}"),
    }
}

#[test]
fn integers_and_fractions_find_what_they_satisfy() {
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    for bound in [6, 60, 5_000] {
        let mut draw = Draw::new(seed);
        let texts: Vec<String> = (0..600)
            .map(|_| {
                let parts: Vec<String> =
                    (0..1 + draw.below(3)).map(|_| condition(&mut draw, bound)).collect();
                parts.join(" and ")
            })
            .collect();
        let events: Vec<String> = (0..300)
            .map(|_| {
                let [x, y, z] = [(); 3].map(|()| number(&mut draw, bound));
                format!("{{\"x\": {x}, \"y\": {y}, \"z\": {z}}}")
            })
            .collect();
        let matches = agree_with_scan(ENGINES, &[&texts], &events, |_, _| ());
        assert!(matches > 500, "matches are frequent");
    }
}

/// A few wide ranges, then thousands of values that cut them into pieces: records must not multiply.
#[test]
fn wide_ranges_stay_bounded() {
    let wide: Vec<String> =
        (0..200).map(|n| format!("x between {n} and {} and y > {n}", 90_000 + n)).collect();
    let points: Vec<String> =
        (0..8_000).map(|n| format!("x = {} and y = {}", 200 + 7 * n, 500 + 3 * n)).collect();
    let events: Vec<String> =
        (0..200).map(|n| format!("{{\"x\": {}, \"y\": {}}}", 200 + 7 * n, 500 + 3 * n)).collect();
    let most = (2 * 128 * wide.len() + 2 * points.len()) as u64;
    agree_with_scan(ENGINES, &[&wide, &points], &events, |engine, index| {
        let records = stat(index, "records");
        assert!(records <= most, "{engine}: {records} records");
    });
}

/// Whatever came and went leaves nothing behind.
#[test]
fn nothing_is_left_behind() {
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    for (engine, options) in ENGINES {
        let mut draw = Draw::new(seed);
        let index = index(engine, options);
        let texts: Vec<String> = (0..400)
            .map(|_| format!("{} and {}", condition(&mut draw, 500), condition(&mut draw, 50)))
            .collect();
        add(&index, &texts, 0);
        let mut left: Vec<i64> = (0..texts.len() as i64).collect();
        while !left.is_empty() {
            let id = left.swap_remove(draw.below(left.len()));
            index.remove(&Id::from(id)).expect("a present id");
            if left.len().is_multiple_of(40) {
                index.validate().expect("a sound index");
            }
        }
        for what in ["conjunctions", "distinct_predicates", "bounds", "inner_nodes", "records", "cells"] {
            assert_eq!(stat(&index, what), 0, "{engine} {options:?}: {what}");
        }
    }
}

/// A split copies the entries of a signature, a merge drops them: the next signature is sized by what there is.
#[test]
fn splits_and_merges_keep_the_counts_of_signatures() {
    for (engine, options) in ENGINES.iter().filter(|(engine, _)| *engine == "pst_bloom") {
        let index = index(engine, options);
        add(&index, &(0..5).map(|n| format!("a = {n} and b = 1")).collect::<Vec<_>>(), 0);
        let memory = index.memory();
        for _ in 0..60 {
            add(&index, &["b = 7".to_owned()], 100);
            index.remove(&Id::from(100)).expect("a present id");
            index.validate().expect("a sound index");
        }
        assert_eq!(stat(&index, "signature_entries"), 5, "{options:?}");
        add(&index, &["a = 9 and b = 2".to_owned()], 100);
        index.validate().expect("a sound index");
        assert_eq!(stat(&index, "signature_entries"), 6, "{options:?}");
        assert!(index.memory().engine < memory.engine + 4_096, "{options:?}");
        let found = matches(&index, &["{\"a\": 9, \"b\": 2}".to_owned(), "{\"a\": 3, \"b\": 1}".to_owned()]);
        assert_eq!(found, [[Id::from(100)], [Id::from(3)]], "{options:?}");
    }
}

/// Strings that share long beginnings, and each other's beginnings.
#[test]
fn long_strings() {
    let stem = "https://example.org/".repeat(40);
    let texts: Vec<String> = (0..120)
        .map(|n| match n % 4 {
            0 => format!("url = '{stem}{n}'"),
            1 => format!("url like '{}%'", &stem[..n * 6]),
            2 => format!("url > '{}' and url < '{stem}{n}zz'", &stem[..n * 5]),
            _ => format!("url in ('{stem}', '{}', '')", &stem[..n]),
        })
        .collect();
    let events: Vec<String> = (0..120)
        .map(|n| match n % 3 {
            0 => format!("{{\"url\": \"{stem}{n}\"}}"),
            1 => format!("{{\"url\": \"{}\"}}", &stem[..n * 6]),
            _ => format!("{{\"url\": \"{}é\"}}", &stem[..n]),
        })
        .collect();
    agree_with_scan(ENGINES, &[&texts], &events, |_, _| ());
}

/// Without history `=` leads; with one, whatever the events seldom satisfy.
#[test]
fn history_changes_what_leads() {
    let points: Vec<String> = (1..=20).map(|n| format!("a = {n}")).collect();
    let past: Vec<String> = (0..500).map(|_| "{\"a\": 99, \"b\": 1}".to_owned()).collect();
    for engine in ["pst_bloom", "pst_hash"] {
        let index = index(engine, &[]);
        add(&index, &points, 0);
        add(&index, &["a between 1 and 20 and b = 1".to_owned()], 100);
        assert_eq!(stat(&index, "records"), 21, "{engine}: b = 1 leads, from one leaf");
        let schema = index.schema();
        let (mut reader, mut rows) = (JsonReader::default(), Rows::default());
        past.iter().for_each(|event| reader.read(event.as_bytes(), &schema, &mut rows).expect("valid JSON"));
        index.observe_rows(&schema, &rows).expect("a fresh schema");
        index.validate().expect("a sound index");
        assert_eq!(stat(&index, "records"), 40, "{engine}: the range leads, from each of its leaves");
        add(&index, &["a between 1 and 10 and b = 1".to_owned()], 200);
        assert_eq!(stat(&index, "records"), 50, "{engine}: what is added later knows the history, too");
        // An attribute that never led is counted, too.
        add(&index, &["b = 1 and c > 5".to_owned()], 300);
        let found = matches(&index, &["{\"a\": 7, \"b\": 1}".to_owned()]);
        assert_eq!(found, [[Id::from(6), Id::from(100), Id::from(200)]], "{engine}");
    }
}

/// Lists of neighbouring integers are one range with many leaves, and cut each other into pieces.
#[test]
fn neighbouring_values() {
    let list = |from: i64, step: i64| {
        let values: Vec<String> = (0..300).map(|n| (from + n * step).to_string()).collect();
        format!("a in ({})", values.join(", "))
    };
    let mut texts: Vec<String> = (0..260).map(|n| format!("a = {}", 4 * n)).collect();
    texts.extend([list(2, 1), list(3, 1), list(0, 2), list(1, 3), list(-5, 1)]);
    let events: Vec<String> = (-10..400).map(|a| format!("{{\"a\": {a}}}")).collect();
    agree_with_scan(ENGINES, &[&texts], &events, |_, _| ());
}

/// A large batch ends with lists moved together; additions one by one leave gaps and memory reserved for growth.
#[test]
fn a_batch_is_defragmented() {
    let texts: Vec<String> = (0..3_000)
        .map(|n| {
            let (a, b, c) = (n % 90, n % 50, n % 7);
            format!("a = {a} and b between {b} and {} and c in ({c}, {})", b + 20, n % 11)
        })
        .collect();
    for engine in ["pst_bloom", "pst_hash", "a_tree", "op_index"] {
        let (batch, single) = (index(engine, &[]), index(engine, &[]));
        add(&batch, &texts, 0);
        for (n, text) in texts.iter().enumerate() {
            single.add(Id::from(n as i64), Source::from(text.as_str())).expect("a valid expression");
        }
        let (batched, added) = (batch.memory().engine, single.memory().engine);
        assert!(
            batched < added,
            "{engine}: {batched} bytes after a batch, {added} after additions one by one"
        );
        batch.validate().expect("a sound index");
        let events: Vec<String> =
            (0..90).map(|n| format!("{{\"a\": {n}, \"b\": {}, \"c\": {}}}", n % 60, n % 7)).collect();
        assert_eq!(matches(&batch, &events), matches(&single, &events), "{engine}");
        // Updates after defragmentation reuse its lists.
        for n in (0..texts.len()).step_by(3) {
            batch.remove(&Id::from(n as i64)).expect("a present id");
        }
        add(&batch, &texts[..900], 10_000);
        batch.validate().expect("a sound index");
    }
}

#[test]
fn wrong_options_are_refused() {
    for (engine, option, value) in [
        ("pst_hash", "access_predicates", OptionValue::Int(0)),
        ("pst_hash", "access_predicates", OptionValue::Int(5)),
        ("pst_hash", "max_cells", OptionValue::Int(-1)),
        ("pst_bloom", "signature_bits", OptionValue::Float(4.5)),
        ("pst_bloom", "max_spaces", OptionValue::Text("many".into())),
        ("pst_bloom", "max_cells", OptionValue::Int(4)),
    ] {
        let options = [(option.to_owned(), value.clone())].into_iter().collect();
        let error = Index::new(Settings { engine: engine.into(), options, ..Settings::default() });
        let error = error.err().expect("an error").to_string();
        assert!(error.contains(option), "{engine} {option}={value}: {error}");
    }
}
