//! Indexes that are filled with texts and compared with `scan`.

use std::num::NonZeroUsize;
use tamis_core::engine::registry::OptionValue;
use tamis_core::event::{JsonReader, Rows};
use tamis_core::index::{Id, Index, Settings, Source};

/// An engine and its options.
pub type EngineWithOptions = (&'static str, &'static [(&'static str, i64)]);

/// An empty index.
pub fn index(engine: &str, options: &[(&str, i64)]) -> Index {
    let options =
        options.iter().map(|(name, value)| ((*name).to_owned(), OptionValue::Int(*value))).collect();
    Index::new(Settings { engine: engine.into(), options, ..Settings::default() }).expect("an index")
}

/// Adds a batch, under ids from `from` on.
pub fn add(index: &Index, texts: &[String], from: usize) {
    let batch =
        texts.iter().enumerate().map(|(n, text)| (Id::from((from + n) as i64), Source::from(text.as_str())));
    index.add_many(batch).expect("valid expressions");
}

/// The ids that each event, as JSON, matches.
pub fn matches(index: &Index, events: &[String]) -> Vec<Vec<Id>> {
    let schema = index.schema();
    let (mut reader, mut rows) = (JsonReader::default(), Rows::default());
    events.iter().for_each(|event| reader.read(event.as_bytes(), &schema, &mut rows).expect("valid JSON"));
    let found = index.match_rows(&schema, &rows, NonZeroUsize::new(1), true).expect("a fresh schema");
    let ids = |row: usize| (found.offsets[row]..found.offsets[row + 1]).map(|at| found.ids.get(at as usize));
    (0..events.len()).map(|row| ids(row).collect()).collect()
}

/// Each of these engines, with the subscriptions added in these batches, must answer as `scan` does; returns how many
/// matches there are in all.
pub fn agree_with_scan(
    engines: &[EngineWithOptions],
    batches: &[&[String]],
    events: &[String],
    also: impl Fn(&str, &Index),
) -> usize {
    let filled = |index: Index| {
        let mut from = 0;
        for texts in batches {
            add(&index, texts, from);
            from += texts.len();
        }
        index
    };
    let expected = matches(&filled(index("scan", &[])), events);
    for (engine, options) in engines {
        let index = filled(index(engine, options));
        index.validate().expect("a sound index");
        assert_eq!(matches(&index, events), expected, "{engine} {options:?}");
        also(&format!("{engine} {options:?}"), &index);
    }
    expected.iter().map(Vec::len).sum()
}

/// A number of the engine's statistics.
pub fn stat(index: &Index, name: &str) -> u64 {
    index.engine_stats().into_iter().find(|(n, _)| *n == name).map_or(0, |(_, value)| value)
}
