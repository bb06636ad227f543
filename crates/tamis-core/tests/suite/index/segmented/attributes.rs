//! A compaction drops the attributes that no subscription uses; numbers stay right for readers and for observed events.

use super::index;
use tamis_core::event::{JsonReader, Rows};
use tamis_core::index::{Id, Index, Source, Stale};

fn add(index: &Index, rules: impl Iterator<Item = (i64, String)>) {
    let batch = rules.map(|(id, text)| (Id::from(id), Source::from(text.as_str())));
    index.add_many(batch).expect("added");
}

fn kept() -> impl Iterator<Item = (i64, String)> {
    (0..200).map(|n| (n, format!("k{} = {n} and s like '%{}%'", n % 10, n % 7)))
}

fn rows(index: &Index, events: &[&str]) -> Rows {
    let (schema, mut rows, mut reader) = (index.schema(), Rows::default(), JsonReader::default());
    events.iter().for_each(|event| reader.read(event.as_bytes(), &schema, &mut rows).expect("valid JSON"));
    rows
}

fn matches(index: &Index) -> Vec<Id> {
    let event = r#"{"k0": 0, "k1": 21, "k2": 42, "k3": 103, "k9": 199, "s": "0123456"}"#;
    index.match_json(event.as_bytes()).expect("matched").to_vec()
}

#[test]
fn unused_attributes_are_dropped() {
    let [index, fresh] = [index(8, 3), index(8, 3)];
    add(&index, (1_000..6_000).map(|n| (n, format!("an_attribute_that_leaves_{n} = 1"))));
    add(&index, kept());
    for n in 1_000..6_000 {
        index.remove(&Id::from(n)).expect("present");
    }
    // Added and removed without ever being in a segment.
    index.add(Id::from(-1), Source::from("also.leaves = 1")).expect("added");
    index.remove(&Id::from(-1)).expect("present");
    add(&fresh, kept());
    for index in [&index, &fresh] {
        index.compact().expect("compacted");
        index.validate().expect("a sound index");
    }
    assert_eq!(index.schema().len(), 11);
    assert_eq!(matches(&index), matches(&fresh));
    assert!(!matches(&index).is_empty());
    let total = |index: &Index| {
        let memory = index.memory();
        memory.ids + memory.texts + memory.attributes + memory.engine
    };
    assert!(total(&index) <= total(&fresh) + 4_096, "{:?}, {:?}", index.memory(), fresh.memory());
    assert!(index.to_bytes().len() <= fresh.to_bytes().len() + 4_096);
    let loaded = Index::from_bytes(&index.to_bytes()).expect("a saved index");
    assert_eq!((loaded.schema().len(), matches(&loaded)), (11, matches(&fresh)));
}

#[test]
fn an_empty_index_has_no_attributes_after_a_compaction() {
    let index = index(8, 3);
    add(&index, (0..300).map(|n| (n, format!("leaves_{n} = 1"))));
    (0..300).for_each(|n| index.remove(&Id::from(n)).expect("present"));
    let saved = index.to_bytes();
    index.compact().expect("compacted");
    assert_eq!((index.schema().len(), index.len()), (0, 0));
    // A file does not say which attributes are used: the first compaction after loading finds out.
    let loaded = Index::from_bytes(&saved).expect("a saved index");
    loaded.compact().expect("compacted");
    assert_eq!(loaded.schema().len(), 0);
    add(&loaded, kept());
    loaded.validate().expect("a sound index");
    assert!(!matches(&loaded).is_empty());
}

#[test]
fn rows_of_an_earlier_generation_are_stale() {
    let index = index(8, 3);
    add(&index, [(1, "a = 1".to_owned()), (2, "b = 1".to_owned())].into_iter());
    let (old, event) = (index.schema(), r#"{"a": 1, "b": 1, "c": 1}"#);
    let read = rows(&index, &[event]);
    let pinned = index.pin();
    index.remove(&Id::from(1)).expect("present");
    index.compact().expect("compacted");
    index.add(Id::from(3), Source::from("c = 1")).expect("added");
    // As many attributes as before, with other numbers.
    assert_eq!(index.schema().len(), old.len());
    assert_eq!(index.match_row(&old, &read, 0).map(|ids| ids.to_vec()), Err(Stale));
    assert_eq!(index.observe_rows(&old, &read), Err(Stale));
    assert_eq!(pinned.match_row(&read, 0).expect("pinned").to_vec(), [Id::from(1), Id::from(2)]);
    assert_eq!(index.match_json(event.as_bytes()).expect("matched").to_vec(), [Id::from(2), Id::from(3)]);
}

#[test]
fn observed_events_are_renumbered() {
    let index = index(8, 3);
    add(&index, (1_000..1_100).map(|n| (n, format!("leaves_{n} = 1 or leaves_{} = 2", n + 1))));
    add(&index, kept());
    let events: Vec<String> =
        (0..600).map(|n| format!(r#"{{"k{}": {n}, "s": "{n}", "leaves_1003": 1}}"#, n % 10)).collect();
    let observed = rows(&index, &events.iter().map(String::as_str).collect::<Vec<_>>());
    index.observe_rows(&index.schema(), &observed).expect("a fresh schema");
    (1_000..1_100).for_each(|n| index.remove(&Id::from(n)).expect("present"));
    for _ in 0..2 {
        index.compact().expect("compacted");
        index.validate().expect("a sound index");
        assert_eq!(index.schema().len(), 11);
        // Segments built from now on use the sample.
        add(&index, kept().map(|(id, text)| (id + 500, text)));
        assert!(!matches(&index).is_empty());
        (500..700).for_each(|n| index.remove(&Id::from(n)).expect("present"));
    }
}
