//! Large batches, which are parsed on several threads: as good as one by one, and all or nothing.

use tamis_core::Error;
use tamis_core::engine::registry::Registry;
use tamis_core::index::{Id, Index, Settings, Source};

const ROWS: i64 = 3_000;

fn indexes() -> impl Iterator<Item = Index> {
    let settings = |name: &str| Settings { engine: name.into(), ..Settings::default() };
    Registry::CORE.iter().map(move |engine| Index::new(settings(engine.name)).expect("an index"))
}

fn row(n: i64) -> (Id, Source) {
    let text = match n % 3 {
        0 => format!("a = {} and b < {}", n % 50, n % 7),
        1 => format!("a{} = 1 or b = {n}", n % 5),
        _ => format!("not (a = {} and c between 1 and {})", n % 50, 2 + n % 9),
    };
    (Id::from(n), Source::from(text.as_str()))
}

#[test]
fn a_batch_is_as_good_as_one_by_one() {
    for (batch, single) in indexes().zip(indexes()) {
        batch.add_many((0..ROWS).map(row)).expect("valid rows");
        for (id, source) in (0..ROWS).map(row) {
            single.add(id, source).expect("a valid row");
        }
        batch.validate().expect("a sound index");
        assert_eq!(batch.ids(), single.ids());
        for n in 0..60 {
            let event = format!(r#"{{"a": {}, "b": {n}, "a3": {}, "c": 4}}"#, n % 50, n % 2);
            let matches = |index: &Index| index.match_json(event.as_bytes()).expect("valid JSON");
            assert_eq!(matches(&batch), matches(&single), "{event}");
        }
    }
}

#[test]
fn a_failure_anywhere_leaves_nothing_behind() {
    let bad = ["a = = 1", "a = 1"];
    for index in indexes() {
        index.add(Id::from(-1), Source::from("a = 1")).expect("a valid expression");
        for at in [0, 255, 256, 257, 700, ROWS - 1] {
            for text in bad {
                // Further on there is another one, which must not be the one that is named.
                let rows = (0..ROWS).map(|n| {
                    if n == at || n == at + 40 { (Id::from(-1), Source::from(text)) } else { row(n) }
                });
                match index.add_many(rows) {
                    Err(Error::Row { row, error }) => {
                        assert_eq!(row as i64, at);
                        let known = matches!(*error, Error::DuplicateId(_));
                        assert_eq!(known, text == "a = 1", "{error}");
                    }
                    other => unreachable!("{other:?}"),
                }
                assert_eq!(index.ids(), [Id::from(-1)]);
                assert_eq!(index.schema().len(), 1);
            }
        }
        index.validate().expect("a sound index");
        index.add_many((0..ROWS).map(row)).expect("valid rows");
        index.validate().expect("a sound index");
    }
}
