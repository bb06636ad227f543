//! Segments stay few, removed members are dropped, pinned snapshots do not change.

use super::{figure, index};
use tamis_conformance::event::write_row;
use tamis_core::event::Rows;
use tamis_core::index::{Id, Index, Source};

/// Many additions one by one: few segments, and every one of them is needed.
#[test]
fn segments_stay_few() {
    let tested = index(4, 4);
    for n in 0..5_000 {
        tested.add(Id::from(n), format!("a = {}", n % 100).as_str().into()).expect("added");
        assert!(figure(&tested, "segments") <= 40, "{:?}", tested.engine_stats());
    }
    let done = |index: &Index| figure(index, "segments") <= 7;
    for _ in 0..200 {
        if done(&tested) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(done(&tested), "{:?}", tested.engine_stats());
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
    for _ in 0..200 {
        if figure(&tested, "dead") * 3 <= 500 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(figure(&tested, "dead") <= 250, "{:?}", tested.engine_stats());
    assert_eq!(tested.len(), 500);
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
