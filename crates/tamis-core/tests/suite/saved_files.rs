//! Files that earlier versions wrote: each opens with the content that is written down beside it, or is refused by name.
//! `testdata/files/README.md` says which version wrote which.

use crate::index::top_k::sort_all;
use serde_json::Value;
use std::path::{Path, PathBuf};
use tamis_core::event::{JsonReader, JsonSource, Rows};
use tamis_core::expr::Expr;
use tamis_core::expr::Missing;
use tamis_core::index::{EventWeights, Id, Index};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/files")
}

/// Every file with what is expected of it.
fn files() -> Vec<(PathBuf, Value)> {
    let entries =
        std::fs::read_dir(folder()).expect("testdata/files").map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "tamis")).collect();
    paths.sort();
    let expected = |path: &PathBuf| {
        let text =
            std::fs::read_to_string(path.with_extension("json")).expect("expected content beside the file");
        serde_json::from_str(&text).expect("JSON")
    };
    paths.into_iter().map(|path| (path.clone(), expected(&path))).collect()
}

fn id(value: &Value) -> Id {
    match value.as_i64() {
        Some(number) => Id::from(number),
        None => Id::from(value.as_str().expect("an integer or a string")),
    }
}

fn ids(values: &Value) -> Vec<Id> {
    values.as_array().expect("ids").iter().map(id).collect()
}

/// The best matches are the first of all sorted, whether the file has weights or they are parsed.
fn check_ranking(index: &Index, event: &[u8]) {
    let (schema, mut rows) = (index.schema(), Rows::default());
    JsonReader::default().read(event, &schema, &mut rows).expect("a JSON event");
    let model: Vec<(Id, Expr)> =
        index.ids().into_iter().map(|id| (id.clone(), index.expression(&id).expect("present"))).collect();
    let truth = |expr: &Expr| expr.evaluate_row(&schema, &rows, 0, index.settings().missing);
    let mut weights = EventWeights::default();
    for weight in [1.0, 0.25] {
        weights.set("age", weight).expect("a weight");
        let of = |name: &str| if name == "age" { weight } else { 1.0 };
        let sorted = sort_all(&model, truth, |condition| of(&condition.attribute.name));
        for k in [1, 3, 100] {
            let found = index.top_k_event(&mut JsonSource::one(event), k, &weights).expect("scores");
            assert_eq!(found, sorted[..k.min(sorted.len())], "{}", String::from_utf8_lossy(event));
        }
    }
}

#[test]
fn files_of_earlier_versions_open_with_their_content() {
    let mut opened = 0;
    for (path, expected) in files().into_iter().filter(|(_, expected)| expected["refused"].is_null()) {
        let index = Index::load(&path).unwrap_or_else(|error| unreachable!("{error}"));
        let shown = path.display();
        index.validate().expect("a sound index");
        assert_eq!(index.engine_name(), expected["engine"], "{shown}");
        assert_eq!(index.settings().missing == Missing::False, expected["missing"] == "false", "{shown}");
        let rules = expected["rules"].as_array().expect("rules");
        assert_eq!(index.ids(), rules.iter().map(|rule| id(&rule[0])).collect::<Vec<_>>(), "{shown}");
        for rule in rules {
            let expression = index.expression(&id(&rule[0])).expect("present");
            assert_eq!(expression.to_string(), rule[1], "{shown}");
        }
        for answer in expected["events"].as_array().expect("events") {
            let event = answer["event"].to_string();
            // Times have no form in JSON; the Python tests look at them.
            if !event.contains('$') {
                let found = index.match_json(event.as_bytes()).expect("a JSON event");
                assert_eq!(found.to_vec(), ids(&answer["matches"]), "{shown}: {event}");
                check_ranking(&index, event.as_bytes());
            }
        }
        opened += 1;
    }
    assert!(opened >= 4, "{opened} files");
}

/// What is written again is what was read.
#[test]
fn files_of_earlier_versions_can_be_changed_and_saved() {
    for (path, _) in files().into_iter().filter(|(_, expected)| expected["refused"].is_null()) {
        let index = Index::load(&path).unwrap_or_else(|error| unreachable!("{error}"));
        let first = index.ids().swap_remove(0);
        index.remove(&first).expect("present");
        index.add(Id::from("added"), "added = 1".into()).expect("added");
        index.compact().expect("compacted");
        let copy = Index::from_bytes(&index.to_bytes()).expect("what was written opens");
        assert_eq!(copy.ids(), index.ids());
        let found = copy.match_json(br#"{"added": 1}"#).expect("a JSON event").to_vec();
        assert!(found.contains(&Id::from("added")) && !found.contains(&first), "{}", path.display());
    }
}

#[test]
fn drafts_of_a_format_are_refused_by_name() {
    let mut refused = 0;
    for (path, expected) in files().into_iter().filter(|(_, expected)| !expected["refused"].is_null()) {
        let error = Index::load(&path).map(drop).expect_err("a refusal").to_string();
        for part in expected["refused"].as_array().expect("parts of the message") {
            let part = part.as_str().expect("a text");
            assert!(error.contains(part), "{}: {error:?} does not say {part:?}", path.display());
        }
        assert!(error.contains(&path.display().to_string()), "{error}");
        refused += 1;
    }
    assert!(refused >= 1, "{refused} files");
}
