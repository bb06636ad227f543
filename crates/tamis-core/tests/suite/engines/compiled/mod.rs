//! The engine `compiled` against `scan`, per event and batched, before and after a file, on workloads that make it use
//! every kind of place and test.
//!
//! | file | what is proven |
//! | --- | --- |
//! | `workload` | random expressions and events to compare on |
//! | `places` | every kind of list and table, and every kind of predicate |
//! | `encodings` | tests and interval ends at the limits of their widths |
//! | `values` | list elements, missing elements, the smallest and largest integers |

mod encodings;
mod places;
mod values;
mod workload;

use std::num::NonZeroUsize;
use tamis_conformance::event::{GivenEvent, write_row};
use tamis_conformance::folder::Folder;
use tamis_core::engine::registry::OptionValue;
use tamis_core::event::Rows;
use tamis_core::expr::Missing;
use tamis_core::index::{Id, Index, Settings, Source};

/// Values of the option `path`: per event and batched.
const PATHS: [&str; 2] = ["one_by_one", "together"];

fn compiled(path: &str, missing: Missing) -> Index {
    let options = [("path".to_owned(), OptionValue::Text(path.into()))].into();
    Index::new(Settings { engine: "compiled".into(), options, missing, ..Settings::default() })
        .expect("an index")
}

fn scan(missing: Missing) -> Index {
    Index::new(Settings { engine: "scan".into(), missing, ..Settings::default() }).expect("an index")
}

fn fill(index: &Index, texts: &[String]) {
    let all = (0..).zip(texts).map(|(id, text)| (Id::from(id), Source::from(text.as_str())));
    index.add_many(all).expect("expressions");
}

/// What each event matches, in order of insertion.
fn answers(index: &Index, events: &[GivenEvent]) -> Vec<Vec<Id>> {
    let view = index.pin();
    let mut rows = Rows::default();
    events.iter().for_each(|event| write_row(event, view.schema(), &mut rows));
    let matches = view.match_rows(&rows, NonZeroUsize::new(1), true).expect("not stale");
    let of_row = |row: usize| {
        let range = matches.offsets[row]..matches.offsets[row + 1];
        range.map(|at| matches.ids.get(at as usize)).collect()
    };
    (0..rows.len()).map(of_row).collect()
}

/// As [`answers`], one call per event.
fn single_answers(index: &Index, events: &[GivenEvent]) -> Vec<Vec<Id>> {
    let view = index.pin();
    let mut rows = Rows::default();
    events.iter().for_each(|event| write_row(event, view.schema(), &mut rows));
    (0..rows.len()).map(|row| view.match_row(&rows, row).expect("not stale").to_vec()).collect()
}

/// A value of `stats()`; 0 if there is none.
fn statistic(index: &Index, name: &str) -> u64 {
    index.engine_stats().iter().find(|(known, _)| *known == name).map_or(0, |(_, value)| *value)
}

/// Compares both modes of `compiled` with `scan`, before and after a file. Returns the indexes, for their statistics.
fn compare(name: &str, texts: &[String], events: &[GivenEvent], missing: Missing) -> [Index; 2] {
    let reference = scan(missing);
    fill(&reference, texts);
    let expected = answers(&reference, events);
    let folder = Folder::new(&format!("compiled-{name}-{missing:?}"));
    PATHS.map(|path| {
        let index = compiled(path, missing);
        fill(&index, texts);
        index.compact().expect("compacted");
        assert_eq!(statistic(&index, "segments"), 1, "{name}");
        index.validate().unwrap_or_else(|error| unreachable!("{name}: {error}"));
        check(&format!("{name}, {path}"), texts, events, &expected, &answers(&index, events));
        check(&format!("{name}, single"), texts, events, &expected, &single_answers(&index, events));
        let file = folder.path(path);
        index.save(&file).expect("saved");
        let loaded = Index::load(&file).expect("loaded");
        loaded.validate().expect("sound");
        check(&format!("{name}, {path}, loaded"), texts, events, &expected, &answers(&loaded, events));
        // With observed events other places are chosen.
        let (schema, mut rows) = (index.schema(), Rows::default());
        events.iter().for_each(|event| write_row(event, &schema, &mut rows));
        index.observe_rows(&schema, &rows).expect("not stale");
        index.compact().expect("compacted");
        index.validate().expect("sound");
        check(&format!("{name}, {path}, observed"), texts, events, &expected, &answers(&index, events));
        index
    })
}

fn check(name: &str, texts: &[String], events: &[GivenEvent], expected: &[Vec<Id>], found: &[Vec<Id>]) {
    for (row, (expected, found)) in expected.iter().zip(found).enumerate() {
        if expected == found {
            continue;
        }
        let text = |id: &Id| match id {
            Id::Int(id) => texts[*id as usize].as_str(),
            Id::Text(_) => "",
        };
        let lost: Vec<&str> = expected.iter().filter(|id| !found.contains(id)).map(text).take(3).collect();
        let wrong: Vec<&str> = found.iter().filter(|id| !expected.contains(id)).map(text).take(3).collect();
        let twice: Vec<&str> =
            found.windows(2).filter(|two| two[0] == two[1]).map(|two| text(&two[0])).take(3).collect();
        unreachable!(
            "{name}: event {row} {:?}: lost {lost:?}, wrong {wrong:?}, found twice {twice:?}",
            events[row]
        );
    }
    assert_eq!(expected.len(), found.len());
}

const BOTH: [Missing; 2] = [Missing::Unknown, Missing::False];
