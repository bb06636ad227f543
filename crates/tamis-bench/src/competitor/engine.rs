//! An engine of the registry inside an index, with ids, texts and locks. Reading events from JSON is timed apart.

use super::Competitor;
use crate::case::Case;
use crate::generate;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tamis_baselines::ALL;
use tamis_core::engine::registry::Options;
use tamis_core::event::{JsonReader, Rows};
use tamis_core::index::{IdColumn, Index, Settings};
use tamis_core::{Error, Schema};

/// An index over all subscriptions of a case.
pub struct EngineIndex {
    index: Index,
    schema: Arc<Schema>,
    rows: Rows,
    /// The number of events of the last shorter batch, and these events.
    prefix: (usize, Rows),
    json: Vec<String>,
    build: Duration,
    reading: Duration,
}

impl EngineIndex {
    /// Builds from texts with one `add_many`.
    pub fn build(engine: &str, options: Options, case: &Case) -> Result<EngineIndex, String> {
        let settings = Settings { engine: engine.into(), options, ..Settings::default() };
        let index = Index::with_registry(ALL, settings).map_err(|error| error.to_string())?;
        let batch: Vec<_> = case.batch().collect();
        let started = Instant::now();
        index.add_many(batch).map_err(refusal)?;
        let build = started.elapsed();

        let json: Vec<String> = case.events.iter().map(generate::json).collect();
        let schema = index.schema();
        let started = Instant::now();
        let rows = read(&json, &schema);
        let reading = started.elapsed();
        Ok(EngineIndex { index, schema, rows, prefix: (0, Rows::default()), json, build, reading })
    }

    fn found(&mut self, events: usize) -> tamis_core::index::Matches {
        let rows = if events == self.json.len() {
            &self.rows
        } else {
            if self.prefix.0 != events {
                self.prefix = (events, read(&self.json[..events], &self.schema));
            }
            &self.prefix.1
        };
        self.index.match_rows(&self.schema, rows, NonZeroUsize::new(1), false).expect("a fresh schema")
    }
}

fn read(json: &[String], schema: &Schema) -> Rows {
    let (mut reader, mut rows) = (JsonReader::default(), Rows::default());
    for event in json {
        reader.read(event.as_bytes(), schema, &mut rows).expect("valid JSON");
    }
    rows
}

/// Why an engine does not take a case.
fn refusal(error: Error) -> String {
    match error {
        Error::Row { error, .. } => refusal(*error),
        Error::TooComplex { size, .. } => {
            format!("does not take it: an expression expands to {size} conjunctions")
        }
        error => format!("does not take it: {error}"),
    }
}

fn numbers(ids: &IdColumn) -> impl Iterator<Item = u32> {
    let IdColumn::Ints(ids) = ids else { unreachable!("all ids are integers") };
    ids.iter().map(|id| *id as u32)
}

impl Competitor for EngineIndex {
    fn one(&mut self, event: usize) -> usize {
        let found = self.index.match_row(&self.schema, &self.rows, event).expect("a fresh schema");
        std::hint::black_box(&found).len()
    }

    fn many(&mut self, events: usize) -> bool {
        std::hint::black_box(self.found(events));
        true
    }

    fn numbers(&mut self, event: usize) -> Vec<u32> {
        let found = self.index.match_row(&self.schema, &self.rows, event).expect("a fresh schema");
        // Ids were given in ascending order, and come back in order of insertion.
        numbers(&found).collect()
    }

    fn numbers_of_many(&mut self, events: usize) -> Option<Vec<Vec<u32>>> {
        let found = self.found(events);
        let all: Vec<u32> = numbers(&found.ids).collect();
        let sorted = |bounds: &[i64]| {
            let mut numbers = all[bounds[0] as usize..bounds[1] as usize].to_vec();
            numbers.sort_unstable();
            numbers
        };
        Some(found.offsets.windows(2).map(sorted).collect())
    }

    fn build(&self) -> Option<Duration> {
        Some(self.build)
    }

    fn bytes(&self) -> Option<(usize, usize)> {
        let memory = self.index.memory();
        let all = memory.engine + memory.ids + memory.texts + memory.attributes;
        let subscriptions = self.index.len().max(1);
        Some((memory.engine / subscriptions, all / subscriptions))
    }

    fn reading(&self) -> Option<Duration> {
        Some(self.reading)
    }
}
