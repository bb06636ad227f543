//! What past events teach: the engine counts them and then reconsiders its choices. Answers stay as they are.

use super::{Index, Stale, State};
use crate::event::{EventSlots, Rows};
use crate::schema::Schema;

impl Index {
    /// Counts all rows as history, or none if they are stale. Matching waits meanwhile.
    pub fn observe_rows(&self, schema: &Schema, rows: &Rows) -> Result<(), Stale> {
        let mut state = self.state.write();
        state.check(schema)?;
        let State { schema, engine, .. } = &mut *state;
        let mut slots = EventSlots::default();
        for row in 0..rows.len() {
            engine.observe(&slots.load(rows, row, schema.len()));
        }
        engine.adapt();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::{Engine, Scratch, SubId};
    use crate::error::Result;
    use crate::event::{Event, JsonReader, Rows};
    use crate::expr::Normal;
    use crate::index::{Id, Index, Settings, Stale};
    use crate::schema::{AttrId, Schema};
    use crate::value::Value;

    /// Tells in its figures what it was told: the sum of `a`, whose number is 0, and how often it adapted.
    #[derive(Default)]
    struct Witness {
        events: u64,
        sum: u64,
        adapted: u64,
    }

    impl Engine for Witness {
        fn insert(&mut self, _id: SubId, _expression: &Normal) -> Result<()> {
            Ok(())
        }

        fn remove(&mut self, _id: SubId) {}

        fn scratch(&self) -> Scratch {
            Box::new(())
        }

        fn match_event(&self, _event: &Event<'_>, _scratch: &mut Scratch, _matches: &mut Vec<SubId>) {}

        fn observe(&mut self, event: &Event<'_>) {
            self.events += 1;
            if let Value::Int(a) = event.value(AttrId(0)) {
                self.sum += a as u64;
            }
        }

        fn adapt(&mut self) {
            self.adapted += 1;
        }

        fn validate(&self) -> Result<(), String> {
            Ok(())
        }

        fn memory(&self) -> usize {
            0
        }

        fn stats(&self) -> Vec<(&'static str, u64)> {
            vec![("events", self.events), ("sum", self.sum), ("adapted", self.adapted)]
        }
    }

    fn witnessed() -> Index {
        let index = Index::new(Settings::default()).expect("an index");
        index.state.write().engine = Box::new(Witness::default());
        index.add(Id::from(1), "a > 1".into()).expect("added");
        index
    }

    fn told(index: &Index) -> Vec<u64> {
        index.engine_stats().into_iter().map(|(_, figure)| figure).collect()
    }

    fn read(events: &[&str], schema: &Schema) -> Rows {
        let (mut reader, mut rows) = (JsonReader::default(), Rows::default());
        for event in events {
            reader.read(event.as_bytes(), schema, &mut rows).expect("valid JSON");
        }
        rows
    }

    #[test]
    fn the_engine_sees_every_event_and_adapts_once_a_batch() {
        let index = witnessed();
        let schema = index.schema();
        let rows = read(&[r#"{"a": 5}"#, r#"{"b": 7}"#, r#"{"a": 30}"#], &schema);
        index.observe_rows(&schema, &rows).expect("a fresh schema");
        assert_eq!(told(&index), [3, 35, 1]);
        index.observe_rows(&schema, &rows).expect("a fresh schema");
        assert_eq!(told(&index), [6, 70, 2]);
    }

    #[test]
    fn stale_rows_are_not_seen() {
        let index = witnessed();
        let old = index.schema();
        let rows = read(&[r#"{"a": 5, "b": 7}"#], &old);
        index.add(Id::from(2), "b > 1".into()).expect("added");
        assert_eq!(index.observe_rows(&old, &rows), Err(Stale));
        assert_eq!(told(&index), [0, 0, 0]);
    }
}
