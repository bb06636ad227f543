//! Segments never exceed their limits: batches are divided, merges are not planned or divided, and answers are right.

use super::super::Segmented;
use crate::compiled::{INFO, SegmentLimits};
use crate::engine::registry::OptionValues;
use crate::error::{Error, Result};
use crate::event::{Rows, Slot};
use crate::index::backend::Backend;
use crate::index::{Id, Settings, Source};
use std::ops::Range;
use std::sync::Arc;

/// An index with a recent list of 8 and limited segments.
fn index(limits: SegmentLimits) -> Segmented {
    let mut index = Segmented::new(&Settings::default(), &OptionValues::defaults(INFO.options));
    let shared = Arc::get_mut(&mut index.0).expect("no thread runs yet");
    (shared.options.recent, shared.options.fanout) = (8, 2);
    shared.options.compiled.limits = limits;
    index
}

fn add_many(index: &Segmented, numbers: Range<i64>, text: impl Fn(i64) -> String) -> Result<()> {
    let mut batch = numbers.map(|n| (Id::from(n), Source::from(text(n).as_str())));
    index.add_many(&mut batch).map(drop)
}

/// A conjunction whose answer is easy to compute.
fn conjunction(n: i64) -> String {
    format!("a{} = {} and b < {n}", n % 3, n % 5)
}

fn holds(n: i64, (attribute, value, b): (i64, i64, i64)) -> bool {
    n % 3 == attribute && n % 5 == value && b < n
}

/// Members of each segment.
fn sizes(index: &Segmented) -> Vec<usize> {
    index.0.snapshot().segments.iter().map(|live| live.segment.len()).collect()
}

/// Checks invariants, limits, and the answers to some events if the index holds those of the numbers that are live.
fn check(index: &Segmented, numbers: Range<i64>, is_live: impl Fn(i64) -> bool) {
    let limits = index.0.options.compiled.limits;
    index.validate().expect("sound, and merging goes on");
    for live in &index.0.snapshot().segments {
        let size = live.segment.compiled.size();
        assert!(live.segment.len() <= limits.expressions as usize);
        assert!(size.arena_words <= limits.arena_words as usize);
        assert!(size.attributes + size.extra_dimensions <= limits.dimensions as usize);
        assert!(size.string_bytes <= limits.string_bytes as usize);
    }
    let pinned = index.pin();
    for event in [(0, 1, 10), (1, 4, 0), (2, 2, 7), (2, 3, numbers.end)] {
        let (attribute, value, b) = event;
        let mut rows = Rows::default();
        for (name, value) in [(format!("a{attribute}"), value), ("b".into(), b)] {
            if let Some(attribute) = pinned.schema().get(&name) {
                rows.set(attribute, Slot::Int(value));
            }
        }
        rows.finish_row();
        let found = pinned.match_row(&rows, 0).expect("never stale").to_vec();
        let expected: Vec<Id> =
            numbers.clone().filter(|n| is_live(*n) && holds(*n, event)).map(Id::from).collect();
        assert_eq!(found, expected, "{event:?}");
    }
}

#[test]
fn a_batch_beyond_the_limit_of_members_becomes_several_segments() {
    let index = index(SegmentLimits { expressions: 30, ..SegmentLimits::default() });
    add_many(&index, 0..100, conjunction).expect("added");
    assert_eq!(sizes(&index).iter().sum::<usize>(), 100);
    assert!(sizes(&index).len() >= 4);
    check(&index, 0..100, |_| true);
}

#[test]
fn a_batch_beyond_the_limit_of_the_arena_becomes_several_segments() {
    let index = index(SegmentLimits { arena_words: 700, ..SegmentLimits::default() });
    add_many(&index, 0..300, conjunction).expect("added");
    assert!(sizes(&index).len() > 1);
    assert!(index.0.background.smallest_overflow().is_some());
    check(&index, 0..300, |_| true);
}

#[test]
fn patterns_and_strings_beyond_their_limits_become_several_segments() {
    let limits = SegmentLimits { dimensions: 20, string_bytes: 40, ..SegmentLimits::default() };
    let index = index(limits);
    add_many(&index, 0..60, |n| format!("s like '%x{n}y%' or t = 'text{n}'")).expect("added");
    assert!(sizes(&index).len() >= 3);
    index.compact().expect("compacted");
    check(&index, 0..60, |_| false);
    let pinned = index.pin();
    let mut rows = Rows::default();
    for (name, value) in [("s", "ax7yx31yb"), ("t", "text50")] {
        let slot = rows.text_slot(value).expect("short");
        rows.set(pinned.schema().get(name).expect("known"), slot);
    }
    rows.finish_row();
    let found = pinned.match_row(&rows, 0).expect("never stale").to_vec();
    assert_eq!(found, [7, 31, 50].map(Id::from));
}

#[test]
fn merging_never_exceeds_the_limits() {
    for limits in [
        SegmentLimits { expressions: 20, ..SegmentLimits::default() },
        SegmentLimits { arena_words: 400, ..SegmentLimits::default() },
    ] {
        let index = index(limits);
        for n in 0..200 {
            let parsed =
                Source::from(conjunction(n).as_str()).parsed(&index.0.limits).expect("an expression");
            index.add(Id::from(n), parsed).expect("added");
            if n % 7 == 0 && n > 0 {
                index.remove(&Id::from(n - 1)).expect("removed");
            }
        }
        let live = |n: i64| (n + 1) % 7 != 0 || n == 199;
        check(&index, 0..200, live);
        // Until there is nothing left to merge: a plan that is never satisfied would not end.
        while index.0.merge().expect("merged") {}
        check(&index, 0..200, live);
        index.compact().expect("compacted");
        check(&index, 0..200, live);
        let snapshot = index.0.snapshot();
        assert_eq!(snapshot.segments.iter().map(|live| live.tombstones.count()).sum::<usize>(), 0);
        assert!(index.0.plan(&snapshot).is_empty(), "nothing would become better");
    }
}

/// Compaction makes as few segments as the limit of members allows, and then has nothing to do.
#[test]
fn compacting_within_limits_is_idempotent() {
    let index = index(SegmentLimits { expressions: 30, ..SegmentLimits::default() });
    for batch in 0..5 {
        add_many(&index, 15 * batch..15 * (batch + 1), conjunction).expect("added");
    }
    index.compact().expect("compacted");
    let mut before = sizes(&index);
    before.sort_unstable();
    assert_eq!(before, [15, 30, 30]);
    let snapshot = index.0.snapshot();
    index.compact().expect("compacted");
    assert!(Arc::ptr_eq(&snapshot, &index.0.snapshot()), "nothing was built again");
    check(&index, 0..75, |_| true);
}

/// What no division helps is a typed error, and leaves the index as it was.
#[test]
fn one_rule_beyond_the_limits_is_refused() {
    let index = index(SegmentLimits { string_bytes: 8, ..SegmentLimits::default() });
    let before = index.0.snapshot();
    let long = |n: i64| if n == 13 { "s = 'longer than that'".to_owned() } else { "s = 'x'".to_owned() };
    let error = add_many(&index, 0..20, long).expect_err("too long");
    assert!(matches!(error, Error::SegmentTooLarge { limit: 8, .. }), "{error:?}");
    assert!(Arc::ptr_eq(&before, &index.0.snapshot()));
    let limits = SegmentLimits { dimensions: 3, ..SegmentLimits::default() };
    let many_attributes = |n: i64| format!("x{n} = 1");
    let error = add_many(&self::index(limits), 0..20, many_attributes).expect_err("too many attributes");
    assert!(matches!(error, Error::SegmentTooLarge { what: "attributes", limit: 3 }), "{error:?}");
}
