//! What is particular to GEM-Tree: domains of any size, attributes that are divided again, nodes that collapse.

use super::checking::{EngineTrial, add, agree_with_scan, index, matches, stat};
use tamis_conformance::seeded::{Draw, seed};
use tamis_core::engine::registry::OptionValue;
use tamis_core::index::{Id, Settings};

const ENGINES: &[EngineTrial] = &[
    ("gem_tree", &[]),
    ("gem_tree", &[("capacity", 4), ("lambda", 2)]),
    ("gem_tree", &[("capacity", 8), ("lambda", 32), ("adjustment_period", 1)]),
];

/// How many times the tests of size run their numbers of subscriptions: `TAMIS_GEM_SCALE=1000` reaches millions.
fn scale() -> usize {
    std::env::var("TAMIS_GEM_SCALE").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

fn values(count: usize, domain: usize) -> Vec<String> {
    (0..count).map(|n| format!("{{\"x\": {}}}", n * 7_919 % domain)).collect()
}

/// One attribute with as many distinct values as subscriptions: it is divided again and again, by few cells at a time.
#[test]
fn huge_domains_are_divided_as_deep_as_needed() {
    let count = 10_000 * scale();
    let points: Vec<String> = (0..count).map(|n| format!("x = {}", n * 1_000_003)).collect();
    let events: Vec<String> = (0..50).map(|n| format!("{{\"x\": {}}}", n * 3 * 1_000_003)).collect();
    let found = agree_with_scan(ENGINES, &[&points], &events, |engine, index| {
        assert!(stat(index, "value_nodes") as usize <= count, "{engine}");
        assert!(stat(index, "depth") <= 40, "{engine}: depth {}", stat(index, "depth"));
        let bytes = index.memory().engine / count;
        assert!(bytes < 1_000, "{engine}: {bytes} bytes per subscription");
    });
    assert_eq!(found, 50);
}

/// Every interval contains the next: all of them are on the antidiagonal of each triangle.
#[test]
fn nested_intervals_are_divided() {
    let count = 4_000 * scale();
    let texts: Vec<String> = (0..count).map(|n| format!("x between {n} and {}", 2 * count - n)).collect();
    agree_with_scan(ENGINES, &[&texts], &values(50, 2 * count), |engine, index| {
        assert!(stat(index, "depth") <= 40, "{engine}: depth {}", stat(index, "depth"));
    });
}

/// Nothing separates equal subscriptions: the bucket grows, and the division ends.
#[test]
fn equal_subscriptions_share_a_bucket() {
    let texts = vec!["x between 5 and 9 and y = 3 and z in (1, 7)".to_owned(); 3_000 * scale()];
    let events = ["{\"x\": 7, \"y\": 3, \"z\": 7}", "{\"x\": 7, \"y\": 3, \"z\": 5}"].map(str::to_owned);
    agree_with_scan(ENGINES, &[&texts], &events, |engine, index| {
        assert!(stat(index, "depth") <= 3, "{engine}: depth {}", stat(index, "depth"));
        assert!(stat(index, "attribute_nodes") <= 8, "{engine}");
    });
}

/// Texts that begin alike are told apart by what follows.
#[test]
fn long_texts_with_a_shared_beginning() {
    let stem = "https://example.org/catalogue/products/".repeat(3);
    let texts: Vec<String> = (0..2_000)
        .map(|n| match n % 10 {
            0 => format!("url like '{stem}{}%'", n / 100),
            1 => format!("url in ('{stem}{n}', '{stem}{}')", n + 1),
            _ => format!("url = '{stem}{n}'"),
        })
        .collect();
    let mut events: Vec<String> = (0..100).map(|n| format!("{{\"url\": \"{stem}{}\"}}", n * 17)).collect();
    events
        .extend(["\"\"", "\"https\"", "\"zz\"", "7", "true", "[\"a\"]"].map(|v| format!("{{\"url\": {v}}}")));
    events.push(format!("{{\"url\": \"{stem}\"}}"));
    agree_with_scan(ENGINES, &[&texts], &events, |engine, index| {
        assert!(stat(index, "depth") >= 2, "{engine}: the texts are divided, and divided again");
    });
}

/// Events with more than 64 attributes share the bits of intersection attributes.
#[test]
fn events_with_many_attributes() {
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    let mut draw = Draw::new(seed);
    let mut text = || {
        let mut range = || {
            let low = draw.below(900);
            format!("a{} between {low} and {}", draw.below(150), low + draw.below(400))
        };
        format!("{} and {}", range(), range())
    };
    let mut texts: Vec<String> = (0..3_000).map(|_| text()).collect();
    texts.extend((0..600).map(|n| format!("a7 between {n} and {}", n + 300)));
    let events: Vec<String> = (0..40)
        .map(|n| {
            let cells: Vec<String> = (0..150).map(|a| format!("\"a{a}\": {}", a * 31 * n % 1_000)).collect();
            format!("{{{}}}", cells.join(","))
        })
        .collect();
    assert!(agree_with_scan(ENGINES, &[&texts], &events, |_, _| ()) > 1_000, "matches are frequent");
}

/// Half of the subscriptions go, then all: nodes collapse on the way, and nothing is left.
#[test]
fn nodes_collapse() {
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    for (engine, options) in ENGINES {
        let mut draw = Draw::new(seed);
        let mut texts = || -> Vec<String> {
            let mut range = |name: &str| {
                let low = draw.below(100);
                format!("{name} between {low} and {}", low + draw.below(30))
            };
            (0..1_500).map(|_| [range("x"), range("y"), range("z")].join(" and ")).collect()
        };
        let (texts, events) = (texts(), ["{\"x\": 50, \"y\": 60, \"z\": 40}".to_owned()]);
        let index = index(engine, options);
        add(&index, &texts, 0);
        let full = stat(&index, "attribute_nodes");
        let mut left: Vec<usize> = (0..texts.len()).collect();
        while !left.is_empty() {
            let n = left.swap_remove(draw.below(left.len()));
            index.remove(&Id::from(n as i64)).expect("a present id");
            if left.len().is_multiple_of(100) {
                index.validate().expect("a sound index");
                let found = matches(&index, &events);
                assert!(found[0].iter().all(|id| matches!(id, Id::Int(n) if left.contains(&(*n as usize)))));
            }
        }
        assert!(full > 20, "{engine} {options:?}: {full} nodes");
        for (what, expected) in [("attribute_nodes", 1), ("value_nodes", 0), ("conjunctions", 0)] {
            assert_eq!(stat(&index, what), expected, "{engine} {options:?}: {what}");
        }
    }
}

#[test]
fn wrong_options_are_refused() {
    for (option, value) in [
        ("lambda", OptionValue::Int(33)),
        ("lambda", OptionValue::Int(1)),
        ("capacity", OptionValue::Int(0)),
        ("global_adjustment", OptionValue::Int(1)),
        ("adjustment_period", OptionValue::Float(1.5)),
    ] {
        let options = [(option.to_owned(), value.clone())].into_iter().collect();
        let error = tamis_core::index::Index::new(Settings {
            engine: "gem_tree".into(),
            options,
            ..Settings::default()
        });
        let error = error.err().expect("an error").to_string();
        assert!(error.contains(option), "{option}={value}: {error}");
    }
}
