//! Loading: one file even while it is replaced, mapped or not, under the reader's limits.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use tamis_conformance::folder::Folder;
use tamis_core::expr::Limits;
use tamis_core::index::{Id, Index, LoadOptions, Settings};

fn empty(engine: &str, limits: Limits) -> Index {
    Index::new(Settings { engine: engine.into(), limits, ..Settings::default() }).expect("an index")
}

fn of_rules(engine: &str, rules: i64) -> Index {
    let index = empty(engine, Limits::default());
    index.add_many((0..rules).map(|n| (Id::from(n), format!("a = {n}").as_str().into()))).expect("added");
    index
}

fn options(limits: Limits) -> LoadOptions {
    LoadOptions { limits: Some(limits), ..LoadOptions::default() }
}

/// The files are of both formats, so that parts of two of them do not make one.
#[test]
fn a_file_that_is_replaced_meanwhile_is_the_old_one_or_the_new_one() {
    let folder = Folder::new("replaced");
    let path = folder.path("x.tamis");
    let versions = [of_rules("scan", 1), of_rules("compiled", 200)];
    versions[0].save(&path).expect("saved");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                versions.iter().for_each(|index| index.save(&path).expect("saved"));
            }
        });
        let loaded: Vec<_> = (0..1_000).map(|_| Index::load(&path).map(|index| index.len())).collect();
        done.store(true, Ordering::Relaxed);
        for len in loaded {
            let len = len.expect("a whole file");
            assert!([1, 200].contains(&len), "{len} rules");
        }
    });
}

/// A mapped file must not be written to; one that was read may be.
#[test]
fn an_index_that_is_not_mapped_outlives_its_file() {
    let folder = Folder::new("unmapped");
    let path = folder.path("x.tamis");
    for engine in ["compiled", "scan"] {
        of_rules(engine, 500).save(&path).expect("saved");
        let index = Index::load_with(&path, &LoadOptions { mmap: false, ..LoadOptions::default() });
        let index = index.expect("loaded");
        std::fs::File::create(&path).expect("cut short");
        assert_eq!(index.match_json(br#"{"a": 77}"#).expect("an event").to_vec(), [Id::from(77)]);
        index.remove(&Id::from(3)).expect("present");
        index.compact().expect("compacted");
        index.validate().expect("a sound index");
        assert_eq!(index.len(), 499);
    }
}

#[test]
fn after_a_stop_answers_and_updates_go_on() {
    let index = of_rules("compiled", 300);
    index.stop();
    index.stop();
    for n in 300..900 {
        index.add(Id::from(n), format!("a = {n}").as_str().into()).expect("added");
    }
    assert_eq!(index.match_json(br#"{"a": 850}"#).expect("an event").to_vec(), [Id::from(850)]);
    let error = index.compact().expect_err("stopped").to_string();
    assert!(error.contains("closed"), "{error}");
    index.validate().expect("a sound index");
}

fn refusal(path: &Path, options: &LoadOptions) -> String {
    Index::load_with(path, options).map(drop).expect_err("a rule above the limit").to_string()
}

/// Of both formats. Rules are in a segment, or recent, or in the texts of format 1.
#[test]
fn the_limits_of_the_reader_rule() {
    let folder = Folder::new("limits");
    let path = folder.path("x.tamis");
    let large = Limits { max_length: 1_000_000, max_depth: 1_000, max_regex_size: 1 << 24, max_dnf: 1_000 };
    let deep = format!("{}a = 1{}", "(".repeat(300), ")".repeat(300));
    let long = format!("a in ({})", (0..100_000).map(|n| n.to_string()).collect::<Vec<_>>().join(", "));
    let wide = r"a rlike '\w{200}'".to_owned();
    for (name, rule) in [("max_depth", &deep), ("max_length", &long), ("max_regex_size", &wide)] {
        for (engine, compacted) in [("scan", false), ("compiled", false), ("compiled", true)] {
            let index = empty(engine, large);
            index.add(Id::from("rule"), rule.as_str().into()).expect("within its limits");
            if compacted {
                index.compact().expect("compacted");
            }
            index.save(&path).expect("saved");
            let error = refusal(&path, &LoadOptions::default());
            assert!(error.contains(name) && error.contains("limits=Limits("), "{engine}: {error}");
            let verified = LoadOptions { verify: true, ..LoadOptions::default() };
            assert!(refusal(&path, &verified).contains(name), "{engine}");
            let loaded = Index::load_with(&path, &options(large)).expect("within the reader's limits");
            assert_eq!(loaded.settings().limits, large);
            assert_eq!(loaded.text(&Id::from("rule")).expect("present"), *rule);
        }
    }
}

/// Rules that the default limits allow need no limits at loading, whatever limits they were added under.
#[test]
fn limits_that_no_rule_needs_are_not_taken_over() {
    for engine in ["scan", "compiled"] {
        let limits = Limits { max_depth: 1_000, max_length: 77, ..Limits::default() };
        let index = empty(engine, limits);
        index.add(Id::from(1), "a = 1".into()).expect("added");
        index.compact().expect("compacted");
        let loaded = Index::from_bytes(&index.to_bytes()).expect("within the default limits");
        let expected = Limits { max_length: 77, ..Limits::default() };
        assert_eq!(loaded.settings().limits, expected, "the smaller of both");
    }
}

#[test]
fn a_verified_index_is_built_from_the_texts() {
    let index = of_rules("compiled", 1_000);
    index.remove(&Id::from(5)).expect("present");
    index.compact().expect("compacted");
    index.replace(&Id::from(7), "b = 1".into()).expect("present");
    let verify = LoadOptions { verify: true, ..LoadOptions::default() };
    let loaded = Index::from_bytes_with(&index.to_bytes(), &verify).expect("loaded");
    loaded.validate().expect("a sound index");
    assert_eq!(loaded.ids(), index.ids());
    assert_eq!(loaded.match_json(br#"{"b": 1, "a": 8}"#).expect("an event").to_vec(), [7, 8].map(Id::from));
}
