//! What is particular to BE*-Tree and BE-Tree: deep and flat trees, ranges with one end, domains that grow, removals.

use tamis_core::engine::registry::OptionValue;
use tamis_core::index::{Id, Index, Settings, Source};

type Setup = (&'static str, &'static [(&'static str, &'static str)]);

const ENGINES: &[Setup] = &[
    ("be_star_tree", &[]),
    ("be_star_tree", &[("split", "approximate")]),
    ("be_star_tree", &[("ranking", "popularity")]),
    ("be_tree", &[]),
];

fn index(engine: &str, options: &[(&str, &str)]) -> Index {
    let option = |(name, word): &(&str, &str)| ((*name).to_owned(), OptionValue::Text((*word).to_owned()));
    let options = options.iter().map(option).collect();
    Index::new(Settings { engine: engine.into(), options, ..Settings::default() }).expect("an index")
}

fn stat(index: &Index, name: &str) -> u64 {
    index.engine_stats().into_iter().find(|(n, _)| *n == name).map_or(0, |(_, value)| value)
}

/// Adds the expressions one by one, matches, removes two thirds, matches, removes the rest; every engine answers as `scan`
/// does. `also` is called with each full index.
fn agree_with_scan(texts: &[String], events: &[String], also: impl Fn(&str, &Index)) {
    let scan = index("scan", &[]);
    for (engine, options) in ENGINES {
        let index = index(engine, options);
        let check = |step: &str| {
            index.validate().unwrap_or_else(|error| unreachable!("{engine} {options:?}, {step}: {error}"));
            for event in events {
                let [found, expected] =
                    [&index, &scan].map(|index| index.match_json(event.as_bytes()).expect("valid JSON"));
                assert_eq!(found, expected, "{engine} {options:?}, {step}: {event}");
            }
        };
        let ids = || (0..texts.len() as i64).map(Id::from);
        for (id, text) in ids().zip(texts) {
            for index in [&index, &scan] {
                index.add(id.clone(), Source::from(text.as_str())).expect("a valid expression");
            }
        }
        check("full");
        also(engine, &index);
        for (n, id) in ids().enumerate().filter(|(n, _)| n % 3 > 0) {
            [&index, &scan].into_iter().for_each(|index| index.remove(&id).expect("a present id"));
            assert!(n < texts.len());
        }
        check("a third");
        for (_, id) in ids().enumerate().filter(|(n, _)| n % 3 == 0) {
            [&index, &scan].into_iter().for_each(|index| index.remove(&id).expect("a present id"));
        }
        check("empty");
        assert_eq!((stat(&index, "partitions"), stat(&index, "clusters")), (0, 1), "{engine}");
    }
}

fn events_of(values: impl Iterator<Item = String>) -> Vec<String> {
    values.map(|value| format!("{{\"a\": {value}, \"b\": 1}}")).collect()
}

/// Every range would inject a bucket above the finite ones, if Algorithm 2 were taken at its word.
#[test]
fn ranges_with_one_end_make_no_chain() {
    let mut texts: Vec<String> = (0..200).map(|n| format!("a between {n} and {}", n + 1)).collect();
    texts.extend((0..600).map(|n| format!("a >= {}", 1_000 - n)));
    texts.extend((0..600).map(|n| format!("a <= {n}")));
    let events = events_of((-1..1_010).step_by(9).map(|n| n.to_string()));
    agree_with_scan(&texts, &events, |engine, index| {
        assert!(stat(index, "clusters") < 600, "{engine}: {} clusters", stat(index, "clusters"));
    });
}

/// Points whose distances grow by a factor: bottom-up expansion, doubling of a domain, and halving of a tiny part of it.
#[test]
fn values_of_all_magnitudes() {
    let mut texts = Vec::new();
    for exponent in (-300..=300).step_by(20) {
        texts.extend((0..25).map(|n| format!("a between {n}e{exponent} and {}e{exponent}", n + 1)));
        texts.extend((0..25).map(|n| format!("a = -{n}.5e{exponent}")));
    }
    let values =
        (-300..=300).step_by(20).flat_map(|e| [format!("3e{e}"), format!("-7.5e{e}"), format!("0.1e{e}")]);
    agree_with_scan(&texts, &events_of(values.chain(["0".into(), "1e308".into()])), |_, _| ());
}

/// Equal conjunctions cannot be divided: one leaf takes them, below at most as many partitions as they have attributes.
#[test]
fn equal_conjunctions_share_a_leaf() {
    let attributes: Vec<String> = (0..40).map(|n| format!("x{n} = 1")).collect();
    let mut texts = vec![attributes.join(" and "); 100];
    texts.extend(vec!["a = 1".to_owned(); 500]);
    texts.extend(vec!["a is null or b is null".to_owned(); 100]);
    let all: Vec<String> = (0..40).map(|n| format!("\"x{n}\": 1")).collect();
    let events = [format!("{{{}}}", all.join(", ")), "{\"a\": 1}".into(), "{}".into()];
    agree_with_scan(&texts, &events, |engine, index| {
        assert!(stat(index, "levels") <= 16, "{engine}");
        assert!(stat(index, "clusters") < 200, "{engine}: {} clusters", stat(index, "clusters"));
    });
}

/// Strings, prefixes, patterns, times, lists, booleans and numbers of one attribute share its line.
#[test]
fn values_of_all_kinds_on_one_attribute() {
    let mut texts: Vec<String> = (0..300)
        .flat_map(|n| {
            [
                format!("a = 'https://example.org/{n}'"),
                format!("a like 'http{}%'", n % 10),
                format!("a >= 'k{n}'"),
                format!("a = {n}"),
                format!("a in ({n}, 'x{n}', TRUE)"),
                format!("any(a) = {n}"),
            ]
        })
        .collect();
    texts.push("a like '%7' and a is not null".into());
    let values =
        ["\"https://example.org/7\"", "\"http3\"", "\"k5\"", "5", "5.5", "true", "[1, 5]", "{}", "null"];
    agree_with_scan(&texts, &events_of(values.map(str::to_owned).into_iter()), |_, _| ());
}

/// A partition that nearly all events reach is dissolved once events were observed.
#[test]
fn partitions_with_a_negative_rank_are_recycled() {
    for engine in ["be_star_tree", "be_tree"] {
        let index = index(engine, &[("ranking", "popularity")]);
        for n in 0..200i64 {
            let text = format!("a != -{n} and b != -{n} and c > {} and d = 1", n / 2);
            index.add(Id::from(n), Source::from(text.as_str())).expect("a valid expression");
        }
        let schema = index.schema();
        let mut rows = tamis_core::event::Rows::default();
        let mut reader = tamis_core::event::JsonReader::default();
        for _ in 0..20 {
            reader.read(br#"{"a": 1, "b": 1, "c": 0, "d": 1}"#, &schema, &mut rows).expect("valid JSON");
        }
        index.observe_rows(&schema, &rows).expect("a fresh schema");
        index.validate().expect("a sound index");
        let found = index.match_json(br#"{"a": 1, "b": 1, "c": 10, "d": 1}"#).expect("valid JSON");
        assert_eq!(found, (0..20).map(Id::from).collect::<Vec<_>>(), "{engine}");
    }
}
