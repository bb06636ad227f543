//! Events of any source: read with the schema of the state they are matched against, portion by portion.

use std::num::NonZeroUsize;
use std::sync::Arc;
use tamis_core::event::{ArrowSource, ArrowSourceError, EventSource, JsonReader, JsonSource, Rows};
use tamis_core::index::{EventWeights, Id, Index, Settings, Weighting};
use tamis_core::{Error, Schema};

fn index(engine: &str, expressions: &[(i64, &str)]) -> Index {
    let index = Index::new(Settings { engine: engine.into(), ..Settings::default() }).expect("an index");
    for (id, text) in expressions {
        index.add(Id::from(*id), (*text).into()).expect("added");
    }
    index
}

/// A JSON event. During its first read another rule is added, which refers to a further attribute.
struct Interrupted<'i> {
    index: &'i Index,
    reads: usize,
}

impl EventSource for Interrupted<'_> {
    type Error = Error;

    fn read(&mut self, schema: &Schema, rows: &mut Rows) -> Result<(), Error> {
        JsonReader::default().read(br#"{"a": 1, "b": 1}"#, schema, rows)?;
        if self.reads == 0 {
            self.index.add(Id::from(2), "b = 1".into())?;
        }
        self.reads += 1;
        Ok(())
    }
}

#[test]
fn an_update_between_reading_and_matching_makes_an_engine_in_place_read_again() {
    let in_place = index("scan", &[(1, "a = 1")]);
    let mut source = Interrupted { index: &in_place, reads: 0 };
    let ids = in_place.match_event(&mut source).expect("matched");
    assert_eq!((ids.to_vec(), source.reads), (vec![Id::from(1), Id::from(2)], 2));
}

#[test]
fn a_pinned_snapshot_is_matched_without_reading_again() {
    let segmented = index("compiled", &[(1, "a = 1")]);
    let mut source = Interrupted { index: &segmented, reads: 0 };
    let ids = segmented.match_event(&mut source).expect("matched");
    assert_eq!((ids.to_vec(), source.reads), (vec![Id::from(1)], 1));
}

struct Panicking;

impl EventSource for Panicking {
    type Error = Error;

    fn read(&mut self, _schema: &Schema, _rows: &mut Rows) -> Result<(), Error> {
        unreachable!("a reader with a fault")
    }
}

#[test]
fn a_panic_while_reading_is_an_internal_error() {
    let error = index("compiled", &[(1, "a = 1")]).match_event(&mut Panicking).expect_err("a panic");
    assert!(matches!(error, Error::Internal(message) if message.contains("a reader with a fault")));
}

#[test]
fn json_events_are_named_by_row_only_if_there_are_many() {
    let index = index("compiled", &[(1, "a = 1")]);
    let error = index.match_event(&mut JsonSource::one(b"{")).expect_err("no JSON");
    assert!(matches!(error, Error::Event { .. }));
    let error =
        index.match_events(&mut JsonSource::many(vec![b"{}", b"{"]), None, true).expect_err("no JSON");
    assert!(matches!(error, Error::Row { row: 1, .. }));
}

mod arrow {
    use super::*;
    use arrow_array::{ArrayRef, RecordBatch, TimestampSecondArray, UInt64Array};
    use arrow_schema::ArrowError;

    fn batch(values: impl IntoIterator<Item = u64>) -> Result<RecordBatch, ArrowError> {
        let column: ArrayRef = Arc::new(UInt64Array::from_iter_values(values));
        RecordBatch::try_from_iter([("a", column)])
    }

    /// Batches of 0, 20,000, 0 and 3 rows: more than one portion of a batch, and rows counted across batches.
    fn batches(last: u64) -> Vec<Result<RecordBatch, ArrowError>> {
        vec![batch([]), batch((0..20_000).map(|n| n % 10)), batch([]), batch([3, 7, last])]
    }

    /// As [`batches`], with a time in the last row that does not fit.
    fn faulty() -> Vec<Result<RecordBatch, ArrowError>> {
        let times: ArrayRef = Arc::new(TimestampSecondArray::from(vec![3, 7, i64::MAX]));
        let mut batches = batches(9);
        batches.pop();
        batches.push(RecordBatch::try_from_iter([("a", times)]));
        batches
    }

    /// The events that cannot be read are listed by their numbers across portions, and match nothing.
    #[test]
    fn rows_that_cannot_be_read_match_nothing() {
        let index = index("compiled", &[(1, "a = 7"), (2, "TRUE")]);
        let mut source = ArrowSource::in_portions(faulty().into_iter(), NonZeroUsize::new(1));
        let (matches, bad) = index.match_readable_events(&mut source, None, true).expect("matched");
        assert_eq!(bad.iter().map(|bad| bad.event).collect::<Vec<_>>(), [20_002]);
        assert_eq!((matches.len(), matches.ids.len()), (20_003, 2_000 + 20_002));
        assert_eq!(matches.offsets[20_002], matches.offsets[20_003]);
    }

    #[test]
    fn portions_together_are_all_rows_in_order() {
        let index = index("compiled", &[(1, "a = 7"), (2, "a >= 3")]);
        let mut portions = ArrowSource::in_portions(batches(9).into_iter(), NonZeroUsize::new(1));
        let matches = index.match_events(&mut portions, NonZeroUsize::new(1), true).expect("matched");
        let mut whole = ArrowSource::whole(batches(9).into_iter()).expect("read");
        let expected = index.match_events(&mut whole, NonZeroUsize::new(1), true).expect("matched");
        assert_eq!((matches.len(), matches.ids.len()), (20_003, 2_000 + 14_000 + 1 + 3));
        assert_eq!((&matches.offsets, &matches.ids), (&expected.offsets, &expected.ids));
    }

    #[test]
    fn an_error_names_the_row_across_portions() {
        let index = index("compiled", &[(1, "a = 7")]);
        for threads in [1, 100] {
            let mut source = ArrowSource::in_portions(faulty().into_iter(), NonZeroUsize::new(threads));
            let error = index.match_events(&mut source, None, false).expect_err("too late a time");
            assert!(matches!(error, ArrowSourceError::Core(Error::Row { row: 20_002, .. })), "{error:?}");
        }
        let mut whole = ArrowSource::whole(faulty().into_iter()).expect("read");
        let error = index.observe(&mut whole).expect_err("too late a time");
        assert!(matches!(error, ArrowSourceError::Core(Error::Row { row: 20_002, .. })), "{error:?}");
    }

    #[test]
    fn a_stream_that_fails_is_an_error_of_arrow() {
        let failing = || batches(9).into_iter().chain([Err(ArrowError::ComputeError("cut".into()))]);
        let index = index("compiled", &[(1, "a = 7")]);
        let mut source = ArrowSource::in_portions(failing(), None);
        let error = index.match_events(&mut source, None, false).expect_err("a failing stream");
        assert!(matches!(error, ArrowSourceError::Arrow(ArrowError::ComputeError(_))));
        assert!(matches!(ArrowSource::whole(failing()), Err(ArrowSourceError::Arrow(_))));
    }

    #[test]
    fn each_row_has_its_own_weights_across_portions() {
        let index = index("compiled", &[(1, "a >= 0")]);
        let weights: Vec<EventWeights> = (0..20_003)
            .map(|row| {
                let mut weights = EventWeights::default();
                weights.set("a", f64::from(row)).expect("a weight");
                weights
            })
            .collect();
        let ranked = |weights: &[EventWeights]| {
            let mut source = ArrowSource::in_portions(batches(9).into_iter(), None);
            index.top_k_events(&mut source, 1, Weighting::Each(weights), None)
        };
        let scores = ranked(&weights).expect("ranked").scores;
        assert!(scores.iter().copied().eq((0..20_003).map(f64::from)));
        assert!(ranked(&weights[1..]).is_err(), "too few weights");
        assert!(ranked(&[weights.clone(), weights].concat()).is_err(), "too many weights");
    }
}
