//! Near misses, against a plain search: each predicate in turn is taken to be TRUE.

use tamis_conformance::event::{GivenEvent, write_row};
use tamis_conformance::generate::{event, expression};
use tamis_conformance::seeded::{Draw, seed};
use tamis_core::Schema;
use tamis_core::engine::registry::Registry;
use tamis_core::event::{Event, EventSlots, JsonReader, Rows};
use tamis_core::expr::{Expr, Limits, Missing, Node, Normal, Normalizer, Predicate, Root};
use tamis_core::index::{Id, Index, NearMiss, Settings, Source};

fn index(engine: &str, missing: Missing) -> Index {
    Index::new(Settings { engine: engine.into(), missing, ..Settings::default() }).expect("an index")
}

fn near_misses(index: &Index, event: &GivenEvent, limit: usize) -> Vec<NearMiss> {
    let view = index.pin();
    let mut rows = Rows::default();
    write_row(event, view.schema(), &mut rows);
    view.near_misses(&rows, 0, limit).expect("not stale").expect("sound texts")
}

fn near_misses_json(index: &Index, event: &str, limit: usize) -> Vec<(Id, Vec<String>)> {
    let view = index.pin();
    let mut rows = Rows::default();
    JsonReader::default().read(event.as_bytes(), view.schema(), &mut rows).expect("valid JSON");
    let found = view.near_misses(&rows, 0, limit).expect("not stale").expect("sound texts");
    found.into_iter().map(|miss| (miss.id, miss.predicates)).collect()
}

/// Whether an expression is TRUE if a predicate is.
fn holds_with(normal: &Normal, event: &Event<'_>, granted: Option<&Predicate>) -> bool {
    let mut holds: Vec<bool> = Vec::new();
    for node in normal.nodes() {
        let mut children = normal.children(*node).iter().map(|child| holds[*child as usize]);
        let held = match node {
            Node::Leaf(place) => {
                let predicate = &normal.predicates()[*place as usize];
                granted == Some(predicate) || predicate.holds(event)
            }
            Node::And { .. } => children.all(|held| held),
            Node::Or { .. } => children.any(|held| held),
        };
        holds.push(held);
    }
    match normal.root() {
        Root::Never => false,
        Root::Always => true,
        Root::Node(root) => holds[root as usize],
    }
}

/// The predicates, one by one, that would do.
fn searched(expr: &Expr, event: &GivenEvent, missing: Missing) -> Vec<String> {
    let mut schema = Schema::default();
    let mut normalizer = Normalizer::default();
    let normal = normalizer.normalize(expr, &mut schema, missing);
    let (mut rows, mut slots) = (Rows::default(), EventSlots::default());
    write_row(event, &schema, &mut rows);
    let event = slots.load(&rows, 0, schema.len());
    if holds_with(normal, &event, None) {
        return Vec::new();
    }
    let mut tried: Vec<&Predicate> = Vec::new();
    for predicate in normal.predicates() {
        if !tried.contains(&predicate) {
            tried.push(predicate);
        }
    }
    tried.retain(|predicate| holds_with(normal, &event, Some(predicate)));
    tried.iter().map(|predicate| predicate.text(schema.name(predicate.attribute))).collect()
}

#[test]
fn a_plain_search_finds_the_same() {
    let mut draw = Draw::new(seed());
    for missing in [Missing::Unknown, Missing::False] {
        let expressions: Vec<Expr> = (0..400).map(|_| draw.one(&expression())).collect();
        // What is parsed again is what is written, which may differ in what was folded away.
        let written: Vec<Expr> = expressions
            .iter()
            .map(|expr| {
                tamis_core::expr::parse(&expr.to_string(), &Limits::default()).expect("an expression")
            })
            .collect();
        let indexes = ["scan", "compiled", "a_tree"].map(|engine| index(engine, missing));
        for index in &indexes {
            // Some in a segment, some in the list of recent ones; one gone, one replaced.
            let (first, later) = expressions.split_at(380);
            let source = |expr: &Expr| Source::from(expr.to_string().as_str());
            let all = (0..).zip(first).map(|(id, expr)| (Id::from(id), source(expr)));
            index.add_many(all).expect("added");
            for (id, expr) in (first.len() as i64..).zip(later) {
                index.add(Id::from(id), source(expr)).expect("added");
            }
            index.remove(&Id::from(7)).expect("removed");
            index.replace(&Id::from(9), source(&expressions[9])).expect("replaced");
        }
        let mut several = 0;
        for _ in 0..40 {
            let event = draw.one(&event());
            let expected: Vec<(Id, Vec<String>)> = (0_i64..)
                .zip(&written)
                .filter(|(id, _)| *id != 7)
                .map(|(id, expr)| (Id::from(id), searched(expr, &event, missing)))
                .filter(|(_, predicates)| !predicates.is_empty())
                .collect();
            several += expected.iter().filter(|(_, predicates)| predicates.len() > 1).count();
            for index in &indexes {
                for limit in [0, 1, 10, 1_000] {
                    let found = near_misses(index, &event, limit);
                    assert_eq!(found.len(), expected.len().min(limit));
                    for (found, (id, predicates)) in found.iter().zip(&expected) {
                        assert_eq!(found.id, *id);
                        let named = predicates.len().min(NearMiss::MAX_PREDICATES);
                        assert_eq!(
                            found.predicates,
                            predicates[..named],
                            "{}",
                            index.text(id).expect("there")
                        );
                    }
                }
            }
        }
        assert!(several > 0);
    }
}

#[test]
fn what_is_missing_is_said() {
    for engine in Registry::CORE.iter() {
        let index = index(engine.name, Missing::Unknown);
        for (id, text) in (1..).zip([
            "age >= 18 and country = 'US'",
            "age >= 18 and not country = 'DE'",
            "age >= 18 or vip",
            "age >= 18 and country = 'US' and vip",
            "age < 18",
            "age > 5 and age < 3",
            "TRUE",
            "(vip or age > 60) and (vip or country = 'US')",
            "(vip and age > 60) or (vip and country = 'US')",
        ]) {
            index.add(Id::from(id), Source::from(text)).expect("added");
        }
        let found = near_misses_json(&index, r#"{"age": 17, "country": "DE"}"#, 10);
        let said = |id: i64, predicates: &[&str]| {
            (Id::from(id), predicates.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
        };
        let expected = [said(3, &["age >= 18", "vip = TRUE"]), said(8, &["vip = TRUE"])];
        assert_eq!(found, expected, "{}", engine.name);
        let found = near_misses_json(&index, r#"{"age": 20, "country": "DE"}"#, 2);
        let expected = [said(1, &["country = 'US'"]), said(2, &["country != 'DE'"])];
        assert_eq!(found, expected, "{}", engine.name);
    }
}

#[test]
fn many_are_looked_through_in_order() {
    for engine in ["scan", "compiled"] {
        let index = index(engine, Missing::Unknown);
        let text = |id: i64| match id % 1_000 {
            999 => "a = 1 and b = 2",
            _ => "a = 2 and b = 3",
        };
        let all = (0..20_000).map(|id| (Id::from(id), Source::from(text(id))));
        index.add_many(all).expect("added");
        for limit in [1, 3, 20, 100] {
            let found = near_misses_json(&index, r#"{"a": 1}"#, limit);
            let ids: Vec<Id> = found.into_iter().map(|(id, _)| id).collect();
            let expected: Vec<Id> = (0..20).map(|n| Id::from(1_000 * n + 999)).take(limit).collect();
            assert_eq!(ids, expected);
        }
    }
}

#[test]
fn long_expressions_take_no_longer_than_they_must() {
    let index = index("scan", Missing::Unknown);
    let joined = |connective: &str| {
        let all: Vec<String> = (0..5_000).map(|n| format!("a{n} = 1")).collect();
        all.join(connective)
    };
    for (id, connective) in (0..).zip([" xor ", " or ", " and "]) {
        index.add(Id::from(id), Source::from(joined(connective).as_str())).expect("added");
    }
    let found = near_misses_json(&index, r#"{"a0": 0}"#, 10);
    let ids: Vec<(Id, usize)> = found.into_iter().map(|(id, predicates)| (id, predicates.len())).collect();
    assert_eq!(ids, [(Id::from(1), NearMiss::MAX_PREDICATES)]);
}
