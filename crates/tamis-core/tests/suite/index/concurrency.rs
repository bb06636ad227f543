//! Matching while others update: every answer must speak of one state of the index.

use std::num::NonZeroUsize;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use tamis_core::engine::registry::Registry;
use tamis_core::event::{JsonReader, Rows};
use tamis_core::index::{Id, Index, Matches, Settings};

/// Updates by the one writer, matches by each of the two readers.
const UPDATES: usize = 1_500;
const MATCHES: usize = 2_000;

fn indexes() -> impl Iterator<Item = Index> {
    let settings = |name: &str| Settings { engine: name.into(), ..Settings::default() };
    Registry::CORE.iter().map(move |engine| Index::new(settings(engine.name)).expect("an index"))
}

/// Runs the writer beside two readers; all start together and do a fixed amount of work.
fn race(write: impl Fn(usize) + Sync, read: impl Fn() + Sync) {
    let start = Barrier::new(3);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                start.wait();
                (0..MATCHES).for_each(|_| read());
            });
        }
        scope.spawn(|| {
            start.wait();
            for n in 0..UPDATES {
                write(n);
                // On one core the others would otherwise hardly run in between.
                std::thread::yield_now();
            }
        });
    });
}

/// Matches JSON events as one batch, reading them again when the schema grew in between.
fn match_batch(index: &Index, events: &[&str], threads: usize) -> Matches {
    loop {
        let schema = index.schema();
        let (mut reader, mut rows) = (JsonReader::default(), Rows::default());
        for event in events {
            reader.read(event.as_bytes(), &schema, &mut rows).expect("valid JSON");
        }
        if let Ok(matches) = index.match_rows(&schema, &rows, NonZeroUsize::new(threads), false) {
            return matches;
        }
    }
}

fn count(matches: &Matches, row: usize) -> i64 {
    matches.offsets[row + 1] - matches.offsets[row]
}

/// The subscription always demands one side or the other, so of two events exactly one matches.
#[test]
fn a_replacement_is_seen_whole() {
    for index in indexes() {
        index.add(Id::from("s"), "side = 'left'".into()).expect("added");
        let seen = [AtomicUsize::new(0), AtomicUsize::new(0)];
        race(
            |n| {
                let side = if n % 2 == 0 { "right" } else { "left" };
                index.replace(&Id::from("s"), format!("side = '{side}'").as_str().into()).expect("present");
            },
            || {
                let matches = match_batch(&index, &[r#"{"side": "left"}"#, r#"{"side": "right"}"#], 1);
                assert_eq!(matches.ids.len(), 1);
                seen[usize::from(count(&matches, 1) == 1)].fetch_add(1, Ordering::Relaxed);
            },
        );
        let seen = seen.map(AtomicUsize::into_inner);
        assert_eq!(seen.iter().sum::<usize>(), 2 * MATCHES);
        index.validate().expect("a sound index");
    }
}

/// Every replacement brings an attribute that events read before do not have; they are read again, not matched
/// without it.
#[test]
fn attributes_that_appear_are_not_missed() {
    for index in indexes() {
        index.add(Id::from("s"), "side = 'left' and new.a0".into()).expect("added");
        let event = |side: &str| {
            let new: Vec<String> = (0..=UPDATES).map(|n| format!("\"a{n}\": true")).collect();
            format!("{{\"side\": \"{side}\", \"new\": {{{}}}}}", new.join(", "))
        };
        let (left, right) = (event("left"), event("right"));
        let small = |side: &str| format!("{{\"side\": \"{side}\"}}");
        let (left_only, right_only) = (small("left"), small("right"));
        race(
            |n| {
                let side = if n % 2 == 0 { "right" } else { "left" };
                // A hundred attributes are enough; after that the same come again.
                let text = format!("side = '{side}' and new.a{}", (n + 1) % 100);
                index.replace(&Id::from("s"), text.as_str().into()).expect("present");
            },
            || {
                let matches = match_batch(&index, &[&left, &right, &left_only, &right_only], 1);
                assert_eq!(count(&matches, 0) + count(&matches, 1), 1, "one side, with its attribute");
                assert_eq!(count(&matches, 2) + count(&matches, 3), 0, "no side without its attribute");
            },
        );
        index.validate().expect("a sound index");
    }
}

/// `match_json` reads again by itself.
#[test]
fn json_events_see_one_state() {
    for index in indexes() {
        index.add(Id::from(0), "a0 = 1".into()).expect("added");
        let event: String = (0..100).map(|n| format!("\"a{n}\": 1, ")).collect();
        let event = format!("{{{event}\"end\": 0}}");
        race(
            |n| {
                assert!(
                    index
                        .replace(&Id::from(0), format!("a{} = 1", n % 100).as_str().into())
                        .expect("present")
                )
            },
            || assert_eq!(index.match_json(event.as_bytes()).expect("valid JSON"), [Id::from(0)]),
        );
        index.validate().expect("a sound index");
    }
}

/// A pair is added at once; the second goes before the first. So the second is never seen alone.
#[test]
fn a_batch_is_added_whole() {
    for index in indexes() {
        let (first, second) = (Id::from("first"), Id::from(2));
        race(
            |_| {
                let pair = [(first.clone(), "x > 0".into()), (second.clone(), "x > 0 or y > 0".into())];
                assert!(index.add_many(pair).expect("added").is_empty());
                index.remove(&second).expect("present");
                index.remove(&first).expect("present");
            },
            || {
                let ids = index.match_json(br#"{"x": 1}"#).expect("valid JSON");
                let allowed = [vec![], vec![first.clone()], vec![first.clone(), second.clone()]];
                assert!(allowed.iter().any(|allowed| ids == *allowed), "{ids:?}");
            },
        );
        assert!(index.is_empty());
        index.validate().expect("a sound index");
    }
}

/// A batch that fails leaves nothing behind, not even for a moment.
#[test]
fn a_failed_batch_is_never_seen() {
    for index in indexes() {
        index.add(Id::from("kept"), "x > 0".into()).expect("added");
        race(
            |n| {
                let batch = [
                    (Id::from(1), "x > 0".into()),
                    (Id::from(2), format!("fresh{n} is null").as_str().into()),
                    (Id::from("kept"), "x > 0".into()),
                ];
                assert!(index.add_many(batch).is_err());
            },
            || assert_eq!(index.match_json(br#"{"x": 1}"#).expect("valid JSON"), [Id::from("kept")]),
        );
        assert_eq!(index.schema().len(), 1, "the attributes of the failed batches are gone");
        index.validate().expect("a sound index");
    }
}

/// Workers of one batch share one state, while updates wait.
#[test]
fn parallel_batches_see_one_state() {
    for index in indexes() {
        index.add(Id::from(0), "side = 'left'".into()).expect("added");
        let events: Vec<&str> =
            (0..200).flat_map(|_| [r#"{"side": "left"}"#, r#"{"side": "right"}"#]).collect();
        let start = Barrier::new(3);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    start.wait();
                    for _ in 0..60 {
                        let matches = match_batch(&index, &events, 2);
                        let counts: Vec<i64> = (0..events.len()).map(|row| count(&matches, row)).collect();
                        assert!(counts.chunks(2).all(|pair| pair == &counts[..2]), "one state for all rows");
                        assert_eq!(counts[0] + counts[1], 1);
                    }
                });
            }
            scope.spawn(|| {
                start.wait();
                for n in 0..UPDATES {
                    let side = if n % 2 == 0 { "right" } else { "left" };
                    index.replace(&Id::from(0), format!("side = '{side}'").as_str().into()).expect("present");
                }
            });
        });
        index.validate().expect("a sound index");
    }
}
