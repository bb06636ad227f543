//! The language-neutral cases of `testdata/`, over every engine.

use tamis_conformance::cases::{field, load, missing, run};
use tamis_core::Schema;
use tamis_core::engine::registry::Registry;
use tamis_core::event::{JsonReader, Rows};
use tamis_core::expr::{Limits, Normalizer, Root, parse};
use tamis_core::index::{Id, Index, Settings};

macro_rules! files {
    ($($name:ident: $least:expr;)*) => {
        $(#[test]
        fn $name() {
            run(Registry::CORE, concat!(stringify!($name), ".json"), $least);
        })*
    };
}

files! {
    numbers: 250;
    text: 250;
    null_logic: 200;
    lists: 200;
    patterns: 300;
    time: 100;
    cidr: 80;
    boolean_connectives: 300;
    closed_world: 150;
    nested_paths: 100;
    weights: 40;
}

#[test]
fn canonical() {
    let cases = load("canonical.json");
    assert!(cases.len() >= 60);
    for case in cases {
        let (given, canonical) = (field(&case, "text"), field(&case, "canonical"));
        let expr = parse(given, &Limits::default()).unwrap_or_else(|error| unreachable!("{given}: {error}"));
        assert_eq!(expr.to_string(), canonical, "{given}");
        assert_eq!(parse(canonical, &Limits::default()).expect("canonical text"), expr, "{canonical}");
    }
}

#[test]
fn parse_errors() {
    let cases = load("parse_errors.json");
    assert!(cases.len() >= 40);
    for case in cases {
        let given = field(&case, "text");
        let error = parse(given, &Limits::default()).expect_err(given);
        let place = (error.line as u64, error.column as u64);
        assert_eq!(
            (Some(place.0), Some(place.1)),
            (case["line"].as_u64(), case["column"].as_u64()),
            "{given}: {error}"
        );
        assert!(error.expected.contains(field(&case, "expected")), "{given}: {error}");
        if let Some(found) = case["found"].as_str() {
            assert_eq!(error.found, found, "{given}: {error}");
        }
        let caret = error.snippet.lines().last().expect("a caret");
        assert!(caret.trim_start() == "^", "{given}: {error}");
    }
}

#[test]
fn never_always() {
    for case in load("never_always.json") {
        let given = field(&case, "text");
        let expr = parse(given, &Limits::default()).expect(given);
        let mut normalizer = Normalizer::default();
        let verdict = match normalizer.normalize(&expr, &mut Schema::default(), missing(&case)).root() {
            Root::Never => "never",
            Root::Always => "always",
            Root::Node(_) => "depends",
        };
        assert_eq!(verdict, field(&case, "verdict"), "{given}");
    }
}

/// The reader that users meet first must agree with the test's own way of spreading nested objects.
#[test]
fn json_reader_needs_no_typed_values() {
    let index = Index::new(Settings::default()).expect("an index");
    index.add(Id::from("a"), "\"$date\" = '2026-11-15' or x.\"$date\" = '2026-11-15'".into()).expect("added");
    let schema = index.schema();
    let mut rows = Rows::default();
    JsonReader::default().read(br#"{"x": {"$date": "2026-11-15"}}"#, &schema, &mut rows).expect("valid JSON");
    assert_eq!(index.match_row(&schema, &rows, 0).expect("fresh"), [Id::from("a")], "no magic in plain JSON");
}
