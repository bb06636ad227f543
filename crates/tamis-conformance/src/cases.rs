//! The language-neutral cases of `testdata/`: expressions, an event, and what is expected of each engine.

use crate::event::{Given, GivenEvent, write_row};
use serde_json::{Map, Value};
use std::path::Path;
use tamis_core::engine::registry::{EngineInfo, Registry, Takes};
use tamis_core::event::Rows;
use tamis_core::expr::{Expr, Limits, Missing, parse};
use tamis_core::index::{EventWeights, Id, Index, Settings};
use tamis_core::{Literal, Schema};

/// The cases of a file of `testdata/`.
pub fn load(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(file);
    let text = std::fs::read_to_string(&path).expect("a file of testdata");
    serde_json::from_str(&text).expect("a JSON array")
}

/// A field that is a string.
pub fn field<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().expect(key)
}

/// What a predicate on a missing attribute is, in a case.
pub fn missing(case: &Value) -> Missing {
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
fn index_of(case: &Value, registry: &'static Registry, engine: &EngineInfo) -> Option<Index> {
    let settings = Settings { engine: engine.name.into(), missing: missing(case), ..Settings::default() };
    let index = Index::with_registry(registry, settings).expect("an index");
    for (id, expression) in case["subscriptions"].as_object().expect("subscriptions") {
        let expression = expression.as_str().expect("an expression");
        match index.add(Id::from(id.as_str()), expression.into()) {
            Ok(_) => {}
            Err(error) if error.is_too_complex() && engine.takes != Takes::All => return None,
            Err(error) => unreachable!("{expression}: {error}"),
        }
    }
    Some(index)
}

/// Checks a case; the number of pairs of expression and event.
fn run_case(case: &Value, registry: &'static Registry, engine: &EngineInfo) -> usize {
    let Some(index) = index_of(case, registry, engine) else {
        return 0;
    };
    let schema = index.schema();
    let name = field(case, "name");
    let subscriptions = case["subscriptions"].as_object().expect("subscriptions");
    let mut checks = 0;
    for step in case["events"].as_array().expect("events") {
        let event = step["event"].as_object().expect("an event");
        let place = format!("{}: {name}: {}", engine.name, step["event"]);
        let mut rows = Rows::default();
        let mut flat = GivenEvent::new();
        flatten("", event, &mut flat);
        write_row(&flat, &schema, &mut rows);
        let found = index.match_row(&schema, &rows, 0).expect("a fresh schema");
        let expected = ids(&step["matches"]);
        if engine.exact {
            assert_eq!(found, expected, "{place}");
        } else {
            assert!(expected.iter().all(|id| found.to_vec().contains(id)), "{place}");
        }
        let json = step["event"].to_string();
        if !json.contains("\"$") {
            assert_eq!(index.match_json(json.as_bytes()).expect("valid JSON"), found, "as JSON: {place}");
        }
        for (id, truth) in step["truth"].as_object().into_iter().flatten() {
            let expr = index.expression(&Id::from(id.as_str())).expect("an id of the case");
            let found = expr.evaluate_row(&schema, &rows, 0, missing(case)).name();
            assert_eq!(found, truth.as_str().expect("a truth value"), "{id}: {place}");
        }
        if let Some(best) = step["top_k"].as_array()
            && engine.exact
        {
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

/// Runs a file over every engine of a registry. Each engine that takes all expressions must have checked at least `least`
/// pairs of expression and event.
pub fn run(registry: &'static Registry, file: &str, least: usize) {
    let cases = load(file);
    for engine in registry.iter() {
        let checks: usize = cases.iter().map(|case| run_case(case, registry, engine)).sum();
        let enough = engine.takes != Takes::All || checks >= least;
        assert!(enough, "{}: only {checks} checks in {file}", engine.name);
    }
}
