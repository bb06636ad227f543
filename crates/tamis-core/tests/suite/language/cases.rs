//! The language-neutral cases of `testdata/`, over every engine.

use serde_json::{Map, Value};
use std::path::Path;
use tamis_conformance::event::{Given, GivenEvent, write_row};
use tamis_core::engine::registry::{Registry, Takes};
use tamis_core::event::{JsonReader, Rows};
use tamis_core::expr::{Expr, Limits, Missing, Normalizer, Root, parse};
use tamis_core::index::{EventWeights, Id, Index, Settings};
use tamis_core::{Error, Literal, Schema};

fn load(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(file);
    let text = std::fs::read_to_string(&path).expect("a file of testdata");
    serde_json::from_str(&text).expect("a JSON array")
}

fn field<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().expect(key)
}

fn missing(case: &Value) -> Missing {
    match case["missing"].as_str() {
        None | Some("unknown") => Missing::Unknown,
        Some("false") => Missing::False,
        Some(other) => unreachable!("missing is {other}"),
    }
}

/// A typed literal of the language says what a `$date` or `$timestamp` means.
fn micros(word: &str, text: &str) -> i64 {
    let expr = parse(&format!("x = {word} '{text}'"), &Limits::default()).expect("a time");
    let Expr::Condition(condition) = expr else { unreachable!("one predicate") };
    match condition.op {
        tamis_core::expr::Op::Compare(_, literal @ (Literal::Date(_) | Literal::Timestamp(_))) => {
            literal.micros().expect("a time in range")
        }
        other => unreachable!("{other:?}"),
    }
}

fn given(value: &Value) -> Given {
    match value {
        Value::Null => Given::Missing,
        Value::Bool(value) => Given::Bool(*value),
        Value::Number(number) => match number.as_i64() {
            Some(value) => Given::Int(value),
            None => Given::Float(number.as_f64().expect("a float")),
        },
        Value::String(text) => Given::Text(text.clone()),
        Value::Array(elements) => Given::List(elements.iter().map(given).collect()),
        Value::Object(object) => special(object).unwrap_or(Given::Object),
    }
}

fn special(object: &Map<String, Value>) -> Option<Given> {
    let (key, value) = object.iter().next()?;
    let text = value.as_str().unwrap_or_default();
    match key.as_str() {
        "$date" => Some(Given::Time(micros("DATE", text))),
        "$timestamp" => Some(Given::Time(micros("TIMESTAMP", text))),
        "$float" => Some(Given::Float(text.parse().expect("NaN or an infinity"))),
        _ => None,
    }
}

/// Nested objects as dotted paths, in order.
fn flatten(prefix: &str, object: &Map<String, Value>, out: &mut GivenEvent) {
    for (key, value) in object {
        let path = format!("{prefix}{key}");
        out.push((path.clone(), given(value)));
        if let Value::Object(inner) = value
            && special(inner).is_none()
        {
            flatten(&format!("{path}."), inner, out);
        }
    }
}

fn ids(value: &Value) -> Vec<Id> {
    value.as_array().expect("ids").iter().map(|id| Id::from(id.as_str().expect("a string id"))).collect()
}

/// The index of a case; `None` where the engine says an expression is too complex for it.
fn index_of(case: &Value, engine: &str) -> Option<Index> {
    let settings = Settings { engine: engine.into(), missing: missing(case), ..Settings::default() };
    let index = Index::new(settings).expect("an index");
    for (id, expression) in case["subscriptions"].as_object().expect("subscriptions") {
        let expression = expression.as_str().expect("an expression");
        match index.add(Id::from(id.as_str()), expression.into()) {
            Ok(_) => {}
            Err(Error::TooComplex { .. }) => return None,
            Err(error) => unreachable!("{expression}: {error}"),
        }
    }
    Some(index)
}

fn run_case(case: &Value, engine: &str) -> usize {
    let Some(index) = index_of(case, engine) else {
        return 0;
    };
    let schema = index.schema();
    let name = field(case, "name");
    let subscriptions = case["subscriptions"].as_object().expect("subscriptions");
    let mut checks = 0;
    for step in case["events"].as_array().expect("events") {
        let event = step["event"].as_object().expect("an event");
        let place = format!("{engine}: {name}: {}", step["event"]);
        let mut rows = Rows::default();
        let mut flat = GivenEvent::new();
        flatten("", event, &mut flat);
        write_row(&flat, &schema, &mut rows);
        let found = index.match_row(&schema, &rows, 0).expect("a fresh schema");
        assert_eq!(found, ids(&step["matches"]), "{place}");
        let json = step["event"].to_string();
        if !json.contains("\"$") {
            assert_eq!(index.match_json(json.as_bytes()).expect("valid JSON"), found, "as JSON: {place}");
        }
        for (id, truth) in step["truth"].as_object().into_iter().flatten() {
            let expr = index.expression(&Id::from(id.as_str())).expect("an id of the case");
            let found = expr.evaluate_row(&schema, &rows, 0, missing(case)).name();
            assert_eq!(found, truth.as_str().expect("a truth value"), "{id}: {place}");
        }
        if let Some(best) = step["top_k"].as_array() {
            check_top_k(&index, &schema, &rows, step, best, &place);
        }
        checks += subscriptions.len();
    }
    index.validate().expect("a sound index");
    checks
}

fn check_top_k(index: &Index, schema: &Schema, rows: &Rows, step: &Value, best: &[Value], place: &str) {
    let mut weights = EventWeights::default();
    for (attribute, weight) in step["weights"].as_object().into_iter().flatten() {
        weights.set(attribute, weight.as_f64().expect("a weight")).expect("a weight");
    }
    let k = step["k"].as_u64().expect("k") as usize;
    let found = index.top_k(schema, rows, 0, k, &weights).expect("a fresh schema").expect("scores");
    let best: Vec<(Id, f64)> = best
        .iter()
        .map(|pair| (Id::from(pair[0].as_str().expect("an id")), pair[1].as_f64().expect("a score")))
        .collect();
    assert_eq!(found, best, "{place}");
}

/// Runs a file over every engine; at least `least` pairs of expression and event must have been checked by each
/// engine that takes all expressions.
fn run(file: &str, least: usize) {
    let cases = load(file);
    for engine in Registry::CORE.iter() {
        let checks: usize = cases.iter().map(|case| run_case(case, engine.name)).sum();
        assert!(
            engine.takes != Takes::All || checks >= least,
            "{}: only {checks} checks in {file}",
            engine.name
        );
    }
}

macro_rules! files {
    ($($name:ident: $least:expr;)*) => {
        $(#[test]
        fn $name() {
            run(concat!(stringify!($name), ".json"), $least);
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
