//! The index: inputs are extracted with the interpreter attached, everything else happens without it.

use crate::arrow::{batches, unreadable};
use crate::arrow_rules::{arrow_id, arrow_text, position};
use crate::errors::{exception, expression_text, invalid_id, with_row};
use crate::event::{Fault, read_event};
use crate::expression::{LimitsTuple, NativeExpression, explanation_to_python, json_bytes, limits, missing};
use crate::id::{id_from_python, id_to_python, ids_to_python};
use crate::matches::NativeMatches;
use crate::ranked::NativeRankedMatches;
use crate::weights::{Weights, event_weights};
use arrow_array::RecordBatch;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyList, PyString};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use tamis_core::engine::registry::{ENGINES, OptionValue, Options};
use tamis_core::event::{ArrowReader, JsonReader, Rows, json_lines};
use tamis_core::index::{
    IdColumn, Index, Matches, Plan, RankedMatches, Settings, Source, Stale, Standing, View,
};
use tamis_core::{Error, Schema};

/// Rows of Arrow data turned into events at a time: what they need stays in the cache.
const ARROW_ROWS: usize = 1024;

/// Every engine as `(name, description, takes, options)`.
#[pyfunction]
pub fn engines() -> Vec<(&'static str, &'static str, &'static str, Vec<&'static str>)> {
    ENGINES.iter().map(|e| (e.name, e.description, e.takes, e.options.to_vec())).collect()
}

/// The core's index.
#[pyclass(frozen, module = "tamis._native")]
pub struct NativeIndex {
    index: Index,
}

impl NativeIndex {
    /// What the index holds now. Waiting for it would stop all of Python, so it lets go where it must wait.
    fn pin(&self, py: Python<'_>) -> View<'_> {
        self.index.try_pin().unwrap_or_else(|| py.detach(|| self.index.pin()))
    }

    /// Reads events and uses them; again if the view is stale by then.
    fn with_rows<T: Send>(
        &self,
        py: Python<'_>,
        read: impl Fn(&Schema, &mut Rows) -> PyResult<()>,
        with: impl Fn(&View<'_>, &Rows) -> Result<T, Stale> + Sync,
    ) -> PyResult<T> {
        let mut rows = Rows::default();
        loop {
            let view = self.pin(py);
            rows.clear();
            read(view.schema(), &mut rows)?;
            let done = py.detach(|| Error::catch(|| with(&view, &rows)));
            if let Ok(result) = done.map_err(|error| exception(py, error))? {
                return Ok(result);
            }
        }
    }

    /// Reads Arrow data part by part and uses each, which comes with the number of its first row; again if the view is
    /// stale by then. Returns what that gives in all, and the number of rows.
    fn with_batches<T>(
        &self,
        data: Box<dyn arrow_array::RecordBatchReader + Send>,
        threads: Option<NonZeroUsize>,
        with: impl Fn(&View<'_>, &Rows, usize) -> Result<Result<T, Error>, Stale>,
        append: impl Fn(&mut T, T),
    ) -> Result<(T, usize), ArrowFault> {
        let mut rows = Rows::default();
        // No rows give the ids their type, which must not depend on whether something matches.
        let mut all = loop {
            if let Ok(none) = with(&self.index.pin(), &rows, 0) {
                break none?;
            }
        };
        let mut first = 0;
        for batch in data {
            let batch = batch.map_err(ArrowFault::Arrow)?;
            let mut start = 0;
            while start < batch.num_rows() {
                let view = self.index.pin();
                let length = ARROW_ROWS * threads.map_or(1, NonZeroUsize::get).max(8);
                // A reader prepares all rows it is given, so it is given only those that come next.
                let next = batch.slice(start, length.min(batch.num_rows() - start));
                rows.clear();
                read_batch(&next, view.schema(), first, &mut rows)?;
                if let Ok(part) = with(&view, &rows, first) {
                    append(&mut all, part?);
                    start += next.num_rows();
                    first += next.num_rows();
                }
            }
        }
        Ok((all, first))
    }

    /// Ranks the matches of Arrow data, or none of them if a value has no meaning.
    fn rank_batches(
        &self,
        data: Box<dyn arrow_array::RecordBatchReader + Send>,
        k: usize,
        weights: &Weights,
        threads: Option<NonZeroUsize>,
    ) -> Result<RankedMatches, ArrowFault> {
        let rank = |view: &View<'_>, rows: &Rows, first| match weights.part(first..first + rows.len()) {
            Ok(weights) => view.top_k_rows(rows, k, weights, threads),
            Err(error) => Ok(Err(error)),
        };
        let (ranked, rows) = self.with_batches(data, threads, rank, RankedMatches::append)?;
        weights.all().check(rows)?;
        Ok(ranked)
    }

    /// Observes Arrow data, or none of it if a value has no meaning: all rows are read before the first counts.
    fn observe_batches(
        &self,
        data: Box<dyn arrow_array::RecordBatchReader + Send>,
    ) -> Result<(), ArrowFault> {
        // Streams are read once, but rows again if the schema grew.
        let batches: Vec<_> = data.collect::<Result<_, _>>().map_err(ArrowFault::Arrow)?;
        let mut rows = Rows::default();
        loop {
            let schema = self.index.schema();
            rows.clear();
            // As in matching, a column's type matters only where there are rows.
            for batch in batches.iter().filter(|batch| batch.num_rows() > 0) {
                read_batch(batch, &schema, rows.len(), &mut rows)?;
            }
            if self.index.observe_rows(&schema, &rows).is_ok() {
                return Ok(());
            }
        }
    }
}

/// Appends the rows of a batch; an error names the row, counted from `first`.
fn read_batch(batch: &RecordBatch, schema: &Schema, first: usize, rows: &mut Rows) -> Result<(), Error> {
    let reader = ArrowReader::new(batch, schema)?;
    (0..reader.len()).try_for_each(|row| reader.read(row, rows).map_err(|error| error.at_row(first + row)))
}

/// Appends mappings; an error names the row.
fn read_events(events: &Bound<'_, PyList>, schema: &Schema, rows: &mut Rows) -> PyResult<()> {
    events.iter().enumerate().try_for_each(|(row, event)| {
        read_event(&event, schema, rows).map_err(|fault| fault.exception(events.py(), Some(row)))
    })
}

enum ArrowFault {
    Arrow(arrow_schema::ArrowError),
    Core(Error),
    /// A row whose id is none.
    Id(usize, String),
}

impl From<Error> for ArrowFault {
    fn from(error: Error) -> ArrowFault {
        ArrowFault::Core(error)
    }
}

impl ArrowFault {
    fn exception(self, py: Python<'_>) -> PyErr {
        match self {
            ArrowFault::Arrow(error) => unreadable(error),
            ArrowFault::Core(error) => exception(py, error),
            ArrowFault::Id(row, message) => with_row(py, invalid_id(py, &message), row),
        }
    }
}

#[pymethods]
impl NativeIndex {
    #[new]
    fn new(
        py: Python<'_>,
        engine: String,
        missing: &str,
        options: &Bound<'_, PyDict>,
        limits: LimitsTuple,
    ) -> PyResult<NativeIndex> {
        let missing = self::missing(missing).map_err(|error| exception(py, error))?;
        let options = options_from_python(options)?;
        let settings = Settings { engine, options, missing, limits: self::limits(limits) };
        Ok(NativeIndex { index: Index::new(settings).map_err(|error| exception(py, error))? })
    }

    #[getter]
    fn engine(&self) -> &'static str {
        self.index.engine_name()
    }

    /// `(engine as asked for, missing, options, limits)`.
    fn settings<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(String, &'static str, Bound<'py, PyDict>, LimitsTuple)> {
        let settings = self.index.settings();
        let options = PyDict::new(py);
        for (name, value) in &settings.options {
            match value {
                OptionValue::Bool(value) => options.set_item(name, value)?,
                OptionValue::Int(value) => options.set_item(name, value)?,
                OptionValue::Float(value) => options.set_item(name, value)?,
                OptionValue::Text(value) => options.set_item(name, value)?,
            }
        }
        let l = settings.limits;
        let missing = match settings.missing {
            tamis_core::expr::Missing::Unknown => "unknown",
            tamis_core::expr::Missing::False => "false",
        };
        let limits = (l.max_length, l.max_depth, l.max_regex_size, l.max_dnf);
        Ok((settings.engine.clone(), missing, options, limits))
    }

    fn add(&self, py: Python<'_>, id: &Bound<'_, PyAny>, expression: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (id, source) = (id_from_python(id)?, source_from_python(expression)?);
        py.detach(|| self.index.add(id, source)).map_err(|error| exception(py, error))
    }

    /// Adds a list of `(id, expression)`; returns the rows that can never match.
    fn add_many(
        &self,
        py: Python<'_>,
        ids: &Bound<'_, PyAny>,
        expressions: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<usize>> {
        let mut batch = Vec::with_capacity(ids.len().unwrap_or(0));
        for (row, (id, expression)) in ids.try_iter()?.zip(expressions.try_iter()?).enumerate() {
            let named = |error| with_row(py, error, row);
            let (id, expression) = (id?, expression?);
            batch
                .push((id_from_python(&id).map_err(named)?, source_from_python(&expression).map_err(named)?));
        }
        py.detach(|| self.index.add_many(batch)).map_err(|error| exception(py, error))
    }

    /// Adds the rows of Arrow data with the columns `id` and `expression`.
    fn add_arrow(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
        let reader = batches(data)?;
        let result = py.detach(|| -> Result<Vec<usize>, ArrowFault> {
            let mut batch = Vec::new();
            let schema = reader.schema();
            let (ids, texts) = (position(&schema, "id")?, position(&schema, "expression")?);
            for columns in reader {
                let columns = columns.map_err(ArrowFault::Arrow)?;
                for row in 0..columns.num_rows() {
                    let number = batch.len();
                    let id = arrow_id(columns.column(ids), row)
                        .map_err(|message| ArrowFault::Id(number, message))?;
                    let text = arrow_text(columns.column(texts), row, "expression");
                    let text = text.map_err(|message| Error::Expression(message).at_row(number))?;
                    batch.push((id, Source::from(text)));
                }
            }
            Ok(self.index.add_many(batch)?)
        });
        result.map_err(|fault| fault.exception(py))
    }

    fn replace(
        &self,
        py: Python<'_>,
        id: &Bound<'_, PyAny>,
        expression: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let (id, source) = (id_from_python(id)?, source_from_python(expression)?);
        py.detach(|| self.index.replace(&id, source)).map_err(|error| exception(py, error))
    }

    fn remove(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<()> {
        let id = id_from_python(id)?;
        py.detach(|| self.index.remove(&id)).map_err(|error| exception(py, error))
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| self.index.len())
    }

    fn __contains__(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<bool> {
        let id = id_from_python(id)?;
        Ok(py.detach(|| self.index.contains(&id)))
    }

    fn expression(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<NativeExpression> {
        let id = id_from_python(id)?;
        let expr = py.detach(|| self.index.expression(&id)).map_err(|error| exception(py, error))?;
        Ok(NativeExpression::new(expr))
    }

    fn all_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let ids = py.detach(|| IdColumn::Mixed(self.index.ids()));
        ids_to_python(py, &ids)
    }

    /// Matches a mapping.
    #[pyo3(name = "match_one")]
    fn match_event<'py>(&self, py: Python<'py>, event: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let ids = self.with_rows(
            py,
            |schema, rows| read_event(event, schema, rows).map_err(|fault| fault.exception(py, None)),
            |view, rows| view.match_row(rows, 0),
        )?;
        ids_to_python(py, &ids)
    }

    /// Matches one JSON object in a `str` or `bytes`.
    fn match_json<'py>(&self, py: Python<'py>, event: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let fault = |error: Error| exception(py, error);
        let Some(json) = json_bytes(event).map_err(fault)? else {
            let message = format!("a JSON event is a str or bytes, not {}", event.get_type().name()?);
            return Err(fault(Error::Event { attribute: None, message }));
        };
        let ids = py
            .detach(|| Error::catch(|| self.index.match_json(json)))
            .and_then(|done| done)
            .map_err(fault)?;
        ids_to_python(py, &ids)
    }

    fn match_many(
        &self,
        py: Python<'_>,
        events: &Bound<'_, PyList>,
        threads: Option<NonZeroUsize>,
        ordered: bool,
    ) -> PyResult<NativeMatches> {
        let matches = self.with_rows(
            py,
            |schema, rows| read_events(events, schema, rows),
            |view, rows| view.match_rows(rows, threads, ordered),
        )?;
        NativeMatches::new(matches)
    }

    fn match_json_many(
        &self,
        py: Python<'_>,
        events: &Bound<'_, PyAny>,
        threads: Option<NonZeroUsize>,
        ordered: bool,
    ) -> PyResult<NativeMatches> {
        NativeMatches::new(self.with_json(py, events, |view, rows| view.match_rows(rows, threads, ordered))?)
    }

    fn match_arrow(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        threads: Option<NonZeroUsize>,
        ordered: bool,
    ) -> PyResult<NativeMatches> {
        let reader = batches(data)?;
        let matched = |view: &View<'_>, rows: &Rows, _| view.match_rows(rows, threads, ordered).map(Ok);
        let done =
            py.detach(|| Error::catch(|| self.with_batches(reader, threads, matched, Matches::append)));
        let matches = done.map_err(ArrowFault::Core).and_then(|done| done.map(|(matches, _)| matches));
        NativeMatches::new(matches.map_err(|fault| fault.exception(py))?)
    }

    /// Observes a list of mappings.
    fn observe(&self, py: Python<'_>, events: &Bound<'_, PyList>) -> PyResult<()> {
        self.with_rows(
            py,
            |schema, rows| read_events(events, schema, rows),
            |view, rows| self.index.observe_rows(view.schema(), rows),
        )
    }

    fn observe_arrow(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let reader = batches(data)?;
        py.detach(|| self.observe_batches(reader)).map_err(|fault| fault.exception(py))
    }

    fn top_k<'py>(
        &self,
        py: Python<'py>,
        event: &Bound<'py, PyAny>,
        k: usize,
        weights: &Bound<'py, PyDict>,
    ) -> PyResult<Vec<(Bound<'py, PyAny>, f64)>> {
        let weights = event_weights(weights)?;
        let best = self.with_rows(
            py,
            |schema, rows| read_event(event, schema, rows).map_err(|fault| fault.exception(py, None)),
            |view, rows| view.top_k(rows, 0, k, &weights),
        )?;
        let best = best.map_err(|error| exception(py, error))?;
        best.iter().map(|(id, score)| Ok((id_to_python(py, id)?, *score))).collect()
    }

    fn top_k_many(
        &self,
        py: Python<'_>,
        events: &Bound<'_, PyList>,
        k: usize,
        weights: &Bound<'_, PyAny>,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<NativeRankedMatches> {
        let weights = Weights::from_python(weights)?;
        let ranked = self.with_rows(
            py,
            |schema, rows| read_events(events, schema, rows),
            |view, rows| view.top_k_rows(rows, k, weights.all(), threads),
        )?;
        NativeRankedMatches::new(ranked.map_err(|error| exception(py, error))?)
    }

    fn top_k_json_many(
        &self,
        py: Python<'_>,
        events: &Bound<'_, PyAny>,
        k: usize,
        weights: &Bound<'_, PyAny>,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<NativeRankedMatches> {
        let weights = Weights::from_python(weights)?;
        let ranked =
            self.with_json(py, events, |view, rows| view.top_k_rows(rows, k, weights.all(), threads))?;
        NativeRankedMatches::new(ranked.map_err(|error| exception(py, error))?)
    }

    fn top_k_arrow(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        k: usize,
        weights: &Bound<'_, PyAny>,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<NativeRankedMatches> {
        let (reader, weights) = (batches(data)?, Weights::from_python(weights)?);
        let ranked = py.detach(|| Error::catch(|| self.rank_batches(reader, k, &weights, threads)));
        let ranked = ranked.map_err(ArrowFault::Core).and_then(|done| done);
        NativeRankedMatches::new(ranked.map_err(|fault| fault.exception(py))?)
    }

    /// Pairs of id and predicates.
    fn near_misses<'py>(
        &self,
        py: Python<'py>,
        event: &Bound<'py, PyAny>,
        limit: usize,
    ) -> PyResult<Vec<(Bound<'py, PyAny>, Vec<String>)>> {
        let found = self.with_rows(
            py,
            |schema, rows| read_event(event, schema, rows).map_err(|fault| fault.exception(py, None)),
            |view, rows| view.near_misses(rows, 0, limit),
        )?;
        let found = found.map_err(|error| exception(py, error))?;
        found.into_iter().map(|miss| Ok((id_to_python(py, &miss.id)?, miss.predicates))).collect()
    }

    fn explain<'py>(
        &self,
        py: Python<'py>,
        id: &Bound<'py, PyAny>,
        event: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let id = id_from_python(id)?;
        let expr = py.detach(|| self.index.expression(&id)).map_err(|error| exception(py, error))?;
        let (schema, mut rows) = (expr.schema(), Rows::default());
        read_event(event, &schema, &mut rows).map_err(|fault: Fault| fault.exception(py, None))?;
        explanation_to_python(py, &expr.explain_row(&schema, &rows, 0, self.index.settings().missing))
    }

    /// How the subscription with this id is found: standing, members of its segment, and the alternatives.
    fn plan_of(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<PlanParts> {
        let id = id_from_python(id)?;
        py.detach(|| self.index.plan_of(&id)).map(plan_parts).map_err(|error| exception(py, error))
    }

    /// As `plan_of`, for an expression that need not be in the index.
    fn plan_for(&self, py: Python<'_>, expression: &Bound<'_, PyAny>) -> PyResult<PlanParts> {
        let source = source_from_python(expression)?;
        py.detach(|| self.index.plan_for(source)).map(plan_parts).map_err(|error| exception(py, error))
    }

    fn compact(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.index.compact()).map_err(|error| exception(py, error))
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.index.save(&path)).map_err(|error| exception(py, error))
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<NativeIndex> {
        let index = py.detach(|| Index::load(&path)).map_err(|error| exception(py, error))?;
        Ok(NativeIndex { index })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.index.to_bytes());
        PyBytes::new(py, &bytes)
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<NativeIndex> {
        let index = py.detach(|| Index::from_bytes(bytes));
        let fault = |message| exception(py, Error::File { path: PathBuf::from("<bytes>"), message });
        Ok(NativeIndex { index: index.map_err(fault)? })
    }

    /// Bytes in use by ids, texts, attributes, engine.
    fn memory(&self, py: Python<'_>) -> (usize, usize, usize, usize) {
        let memory = py.detach(|| self.index.memory());
        (memory.ids, memory.texts, memory.attributes, memory.engine)
    }

    fn attributes(&self, py: Python<'_>) -> Vec<String> {
        self.pin(py).schema().names().map(str::to_owned).collect()
    }

    fn engine_stats(&self, py: Python<'_>) -> Vec<(&'static str, u64)> {
        py.detach(|| self.index.engine_stats())
    }

    fn dot(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.index.dot()).map_err(|error| exception(py, error))
    }

    fn validate(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.index.validate()).map_err(|error| exception(py, error))
    }
}

impl NativeIndex {
    /// Reads JSON events and uses them; again if the view is stale by then. They are newline-delimited in one `str` or
    /// `bytes`, or a list of them.
    fn with_json<T: Send>(
        &self,
        py: Python<'_>,
        events: &Bound<'_, PyAny>,
        with: impl Fn(&View<'_>, &Rows) -> Result<T, Stale> + Sync,
    ) -> PyResult<T> {
        let fault = |error: Error| exception(py, error);
        let kept: Vec<Bound<'_, PyAny>>;
        let lines: Vec<&[u8]> = if let Some(text) = json_bytes(events).map_err(fault)? {
            json_lines(text).map(|(_, line)| line).collect()
        } else {
            kept = events.cast::<PyList>()?.iter().collect();
            let line = |(row, event)| match json_bytes(event) {
                Ok(Some(line)) => Ok(line),
                Ok(None) => {
                    let message = "a JSON event is a str or bytes".to_owned();
                    Err(fault(Error::Event { attribute: None, message }.at_row(row)))
                }
                Err(error) => Err(fault(error.at_row(row))),
            };
            kept.iter().enumerate().map(line).collect::<PyResult<_>>()?
        };
        let done = py.detach(|| {
            Error::catch(|| {
                let (mut reader, mut rows) = (JsonReader::default(), Rows::default());
                loop {
                    let view = self.index.pin();
                    rows.clear();
                    for (row, line) in lines.iter().enumerate() {
                        reader.read(line, view.schema(), &mut rows).map_err(|error| error.at_row(row))?;
                    }
                    if let Ok(result) = with(&view, &rows) {
                        return Ok(result);
                    }
                }
            })
        });
        done.and_then(|done| done).map_err(fault)
    }
}

/// Place, number of places, what is met there, what is tested then, share of events.
type AlternativeParts = (&'static str, usize, Vec<String>, Vec<String>, f64);

/// Standing, members of the segment, alternatives.
type PlanParts = (&'static str, Option<usize>, Vec<AlternativeParts>);

fn plan_parts(plan: Plan) -> PlanParts {
    let (standing, members) = match plan.standing {
        Standing::Compiled { members } => ("compiled", Some(members)),
        Standing::Recent => ("recent", None),
        Standing::Alone => ("alone", None),
        Standing::Always => ("always", None),
        Standing::Never => ("never", None),
    };
    let alternatives = plan.alternatives.into_iter();
    let parts = alternatives.map(|it| (it.place, it.places, it.met, it.tests, it.share)).collect();
    (standing, members, parts)
}

fn source_from_python(expression: &Bound<'_, PyAny>) -> PyResult<Source> {
    if let Ok(text) = expression.cast::<PyString>() {
        return Ok(Source::from(expression_text(text)?));
    }
    if let Ok(expression) = expression.cast::<NativeExpression>() {
        return Ok(Source::Expr(expression.get().expr.clone()));
    }
    let name = expression.get_type().name()?;
    let message = format!("an expression is a str or an Expression, not {name}");
    Err(exception(expression.py(), Error::Expression(message)))
}

fn options_from_python(options: &Bound<'_, PyDict>) -> PyResult<Options> {
    let mut known = Options::new();
    for (name, value) in options {
        let name: String = name.extract()?;
        let value = if let Ok(value) = value.cast::<PyBool>() {
            OptionValue::Bool(value.is_true())
        } else if let Ok(value) = value.extract::<i64>() {
            OptionValue::Int(value)
        } else if let Ok(value) = value.extract::<f64>() {
            OptionValue::Float(value)
        } else if let Ok(value) = value.extract::<String>() {
            OptionValue::Text(value)
        } else {
            let message = format!("option {name:?} is neither bool, int, float nor str");
            return Err(exception(options.py(), Error::Option(message)));
        };
        known.insert(name, value);
    }
    Ok(known)
}
