//! Segments stay few, removed members are dropped, pinned snapshots do not change.

use super::{figure, index};
use std::time::{Duration, Instant};
use tamis_conformance::event::write_row;
use tamis_core::event::Rows;
use tamis_core::index::{Id, Index, Source};

/// Waits until the background thread has reached a state; fails after five minutes, which no load explains.
fn eventually(index: &Index, is_reached: impl Fn(&Index) -> bool) {
    let start = Instant::now();
    while !is_reached(index) {
        assert!(start.elapsed() < Duration::from_secs(300), "{:?}", index.engine_stats());
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Many additions one by one: few segments, and every one of them is needed.
#[test]
fn segments_stay_few() {
    let tested = index(4, 4);
    for n in 0..5_000 {
        tested.add(Id::from(n), format!("a = {}", n % 100).as_str().into()).expect("added");
        // Writers merge up to 64 members (recent * fanout^2), so two segments of 32 members or less become one, even if the
        // background thread never runs.
        assert!(figure(&tested, "segments") <= 20 + n as u64 / 32, "{:?}", tested.engine_stats());
    }
    eventually(&tested, |index| figure(index, "segments") <= 7);
    tested.validate().expect("sound");
    assert_eq!(tested.match_json(br#"{"a": 7}"#).expect("valid JSON").len(), 50);
}

/// What is removed takes no room for long.
#[test]
fn worn_segments_are_rewritten() {
    let tested = index(8, 8);
    let batch = (0..3_000).map(|n| (Id::from(n), Source::from(format!("a = {n}").as_str())));
    tested.add_many(batch).expect("added");
    for n in 0..2_500 {
        tested.remove(&Id::from(n)).expect("present");
    }
    eventually(&tested, |index| figure(index, "dead") <= 250);
    assert_eq!(tested.len(), 500);
    tested.validate().expect("sound");
}

/// Attributes that no rule uses leave without a call, once they are many.
#[test]
fn unused_attributes_leave_by_themselves() {
    let tested = index(8, 8);
    let batch = (0..3_000).map(|n| (Id::from(n), Source::from(format!("attribute{n} = {n}").as_str())));
    tested.add_many(batch).expect("added");
    for n in 0..2_990 {
        tested.remove(&Id::from(n)).expect("present");
    }
    eventually(&tested, |index| index.schema().len() <= 1_500);
    assert_eq!(tested.match_json(br#"{"attribute2995": 2995}"#).expect("valid JSON").len(), 1);
    tested.validate().expect("sound");
}

/// A view stays what it was, whatever happens to the index.
#[test]
fn views_stay() {
    let tested = index(2, 2);
    tested.add(Id::from(1), "a = 1".into()).expect("added");
    let view = tested.pin();
    let mut rows = Rows::default();
    write_row(&vec![("a".to_owned(), tamis_conformance::event::Given::Int(1))], view.schema(), &mut rows);
    for n in 2..100 {
        tested
            .add(Id::from(n), format!("a = 1 and (b{n} is null or b{n} > 0)").as_str().into())
            .expect("added");
    }
    tested.remove(&Id::from(1)).expect("present");
    tested.compact().expect("compacted");
    assert_eq!(view.match_row(&rows, 0).expect("never stale"), [Id::from(1)]);
    assert_eq!(tested.match_json(br#"{"a": 1}"#).expect("valid JSON").len(), 98);
}
