//! The index: inputs are extracted while the interpreter is attached, everything else runs detached.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `settings` | what is an index made with? |
//! | `changes` | which expressions are added, and which changes are made at once? |
//! | `arrow_rules` | which rules are in Arrow data? |
//! | `groups` | which groups of ids are there, and how many matches are wanted? |
//! | `owned` | how is an index dropped without holding the interpreter? |
//! | `plan` | how does a match plan look in Python? |
//! | `sources` | how is a source of events matched, and how long does that take? |
//!
//! No method blocks on a lock of the index while attached: the thread that holds it may need the interpreter.

mod arrow_rules;
mod changes;
mod groups;
mod owned;
mod plan;
mod settings;
mod sources;

pub use arrow_rules::text as arrow_text;
pub use groups::NativeGroups;

use crate::arrow::{batches, row_count, source_exception};
use crate::errors::exception;
use crate::events::{JsonEvents, MappingSource, Weights, event_weights, json_text};
use crate::expression::{LimitsTuple, NativeExpression, explanation_to_python, limits};
use crate::id::{id_from_python, id_to_python, ids_to_python};
use crate::interruption::{Length, check, interruptible};
use crate::matches::NativeMatches;
use crate::ranked::NativeRankedMatches;
use changes::{changes_from_python, rules_from_python, source_from_python};
use groups::TopKArgument;
use owned::OwnedIndex;
use plan::{PlanTuple, plan_to_python};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use settings::{SettingsTuple, settings_from_python, settings_to_python};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use tamis_baselines::ALL;
use tamis_core::Error;
use tamis_core::event::{ArrowSource, JsonSource};
use tamis_core::index::{IdColumn, Index, LoadOptions, MemoryUsage};

/// The core's index.
#[pyclass(frozen, module = "tamis._native")]
pub struct NativeIndex {
    index: OwnedIndex,
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
        let settings = settings_from_python(engine, missing, options, limits)?;
        let index = Index::with_registry(ALL, settings).map_err(|error| exception(py, error))?;
        Ok(NativeIndex { index: index.into() })
    }

    #[getter]
    fn engine(&self) -> &'static str {
        self.index.engine_name()
    }

    /// `(engine as given, missing, options, limits)`.
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<SettingsTuple<'py>> {
        settings_to_python(py, self.index.settings())
    }

    // --- rules --------------------------------------------------------------------------------------

    fn add(&self, py: Python<'_>, id: &Bound<'_, PyAny>, expression: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (id, source) = (id_from_python(id)?, source_from_python(expression)?);
        py.detach(|| self.index.add(id, source)).map_err(|error| exception(py, error))
    }

    /// Adds ids and expressions side by side; returns the rows that can never match.
    fn add_many(
        &self,
        py: Python<'_>,
        ids: &Bound<'_, PyAny>,
        expressions: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<usize>> {
        let batch = rules_from_python(ids, expressions)?;
        let added = interruptible(py, Length::of_adding(&batch), || self.index.add_many(batch))?;
        added.map_err(|error| exception(py, error))
    }

    /// Adds the rows of Arrow data; `columns` are the names of ids and expressions.
    fn add_arrow(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        columns: (String, String),
    ) -> PyResult<Vec<usize>> {
        let reader = batches(data)?;
        let add = || Ok(self.index.add_many(arrow_rules::read_rules(reader, &columns)?)?);
        let added = interruptible(py, Length::Long, add)?;
        added.map_err(|error: arrow_rules::ArrowRulesError| error.exception(py))
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

    /// Whether some event could match an expression that need not be in the index.
    fn can_match(&self, py: Python<'_>, expression: &Bound<'_, PyAny>) -> PyResult<bool> {
        let source = source_from_python(expression)?;
        py.detach(|| self.index.can_match(source)).map_err(|error| exception(py, error))
    }

    /// Applies a list of `(kind, id, expression)` at once; returns the rows that can never match.
    fn apply(&self, py: Python<'_>, changes: &Bound<'_, PyList>) -> PyResult<Vec<usize>> {
        let changes = changes_from_python(changes)?;
        let length = Length::of_changing(changes.len());
        interruptible(py, length, || self.index.apply(changes))?.map_err(|error| exception(py, error))
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

    fn text(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<String> {
        let id = id_from_python(id)?;
        py.detach(|| self.index.text(&id)).map_err(|error| exception(py, error))
    }

    fn all_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let ids = py.detach(|| IdColumn::Mixed(self.index.ids()));
        ids_to_python(py, &ids)
    }

    // --- matching -----------------------------------------------------------------------------------

    /// Matches a mapping.
    fn match_one<'py>(&self, py: Python<'py>, event: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let ids = self.index.match_event(&mut MappingSource::one(event));
        ids_to_python(py, &ids.map_err(|error| error.exception(py))?)
    }

    /// Matches one JSON object in a `str` or `bytes`.
    fn match_json<'py>(&self, py: Python<'py>, event: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let text = json_text(event).map_err(|error| exception(py, error))?;
        let ids = py.detach(|| self.index.match_json(text));
        ids_to_python(py, &ids.map_err(|error| exception(py, error))?)
    }

    /// Matches a list of mappings.
    fn match_many(
        &self,
        py: Python<'_>,
        events: &Bound<'_, PyList>,
        threads: Option<NonZeroUsize>,
        ordered: bool,
        strict: bool,
    ) -> PyResult<NativeMatches> {
        let mut source = MappingSource::many(events, self.length(py, Some(events.len())));
        let matches = self.match_source(&mut source, threads, ordered, strict);
        check()?;
        NativeMatches::with_bad(matches.map_err(|error| error.exception(py))?)
    }

    fn match_json_many(
        &self,
        py: Python<'_>,
        events: &Bound<'_, PyAny>,
        threads: Option<NonZeroUsize>,
        ordered: bool,
        strict: bool,
    ) -> PyResult<NativeMatches> {
        let events = JsonEvents::from_python(events)?;
        let texts = events.texts().map_err(|error| exception(py, error))?;
        let (length, mut source) = (self.length(py, Some(texts.len())), JsonSource::many(texts));
        let found = interruptible(py, length, || self.match_source(&mut source, threads, ordered, strict))?;
        NativeMatches::with_bad(found.map_err(|error| exception(py, error))?)
    }

    fn match_arrow(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        threads: Option<NonZeroUsize>,
        ordered: bool,
        strict: bool,
    ) -> PyResult<NativeMatches> {
        let length = self.length(py, row_count(data));
        let mut source = ArrowSource::in_portions(batches(data)?, threads);
        let found = interruptible(py, length, || self.match_source(&mut source, threads, ordered, strict))?;
        NativeMatches::with_bad(found.map_err(|error| source_exception(py, error))?)
    }

    // --- ranking ------------------------------------------------------------------------------------

    fn top_k<'py>(
        &self,
        py: Python<'py>,
        event: &Bound<'py, PyAny>,
        k: TopKArgument,
        weights: &Bound<'py, PyDict>,
    ) -> PyResult<Vec<(Bound<'py, PyAny>, f64)>> {
        let weights = event_weights(weights)?;
        let best = self.index.top_k_event(&mut MappingSource::one(event), k.top_k(), &weights);
        let best = best.map_err(|error| error.exception(py))?;
        best.iter().map(|(id, score)| Ok((id_to_python(py, id)?, *score))).collect()
    }

    fn top_k_many(
        &self,
        py: Python<'_>,
        events: &Bound<'_, PyList>,
        k: TopKArgument,
        weights: &Bound<'_, PyAny>,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<NativeRankedMatches> {
        let weights = Weights::from_python(weights)?;
        let mut source = MappingSource::many(events, self.length(py, Some(events.len())));
        let ranked = self.index.top_k_events(&mut source, k.top_k(), weights.weighting(), threads);
        check()?;
        NativeRankedMatches::new(ranked.map_err(|error| error.exception(py))?)
    }

    fn top_k_json_many(
        &self,
        py: Python<'_>,
        events: &Bound<'_, PyAny>,
        k: TopKArgument,
        weights: &Bound<'_, PyAny>,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<NativeRankedMatches> {
        let (events, weights) = (JsonEvents::from_python(events)?, Weights::from_python(weights)?);
        let texts = events.texts().map_err(|error| exception(py, error))?;
        let (length, mut source) = (self.length(py, Some(texts.len())), JsonSource::many(texts));
        let rank = || self.index.top_k_events(&mut source, k.top_k(), weights.weighting(), threads);
        let ranked = interruptible(py, length, rank)?;
        NativeRankedMatches::new(ranked.map_err(|error| exception(py, error))?)
    }

    fn top_k_arrow(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        k: TopKArgument,
        weights: &Bound<'_, PyAny>,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<NativeRankedMatches> {
        let (batches, weights) = (batches(data)?, Weights::from_python(weights)?);
        let length = self.length(py, row_count(data));
        let mut source = ArrowSource::in_portions(batches, threads);
        let rank = || self.index.top_k_events(&mut source, k.top_k(), weights.weighting(), threads);
        let ranked = interruptible(py, length, rank)?;
        NativeRankedMatches::new(ranked.map_err(|error| source_exception(py, error))?)
    }

    // --- explaining ---------------------------------------------------------------------------------

    /// Pairs of id and predicates.
    fn near_misses<'py>(
        &self,
        py: Python<'py>,
        event: &Bound<'py, PyAny>,
        limit: usize,
    ) -> PyResult<Vec<(Bound<'py, PyAny>, Vec<String>)>> {
        let misses = self.index.near_misses(&mut MappingSource::one(event), limit);
        let misses = misses.map_err(|error| error.exception(py))?;
        misses.into_iter().map(|miss| Ok((id_to_python(py, &miss.id)?, miss.predicates))).collect()
    }

    fn explain<'py>(
        &self,
        py: Python<'py>,
        id: &Bound<'py, PyAny>,
        event: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let id = id_from_python(id)?;
        let explanation = self.index.explain(&id, &mut MappingSource::one(event));
        explanation_to_python(py, &explanation.map_err(|error| error.exception(py))?)
    }

    /// How the rule with this id is found.
    fn plan_of(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<PlanTuple> {
        let id = id_from_python(id)?;
        py.detach(|| self.index.plan_of(&id)).map(plan_to_python).map_err(|error| exception(py, error))
    }

    /// As `plan_of`, for an expression that need not be in the index.
    fn plan_for(&self, py: Python<'_>, expression: &Bound<'_, PyAny>) -> PyResult<PlanTuple> {
        let source = source_from_python(expression)?;
        py.detach(|| self.index.plan_for(source)).map(plan_to_python).map_err(|error| exception(py, error))
    }

    // --- maintenance --------------------------------------------------------------------------------

    /// Observes a list of mappings.
    fn observe(&self, py: Python<'_>, events: &Bound<'_, PyList>) -> PyResult<()> {
        let mut source = MappingSource::many(events, Length::Short);
        self.index.observe(&mut source).map_err(|error| error.exception(py))
    }

    /// Observes Arrow data, or none of it if a value has no meaning.
    fn observe_arrow(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let batches = batches(data)?;
        let observed = py.detach(|| self.index.observe(&mut ArrowSource::whole(batches)?));
        observed.map_err(|error| source_exception(py, error))
    }

    fn compact(&self, py: Python<'_>) -> PyResult<()> {
        interruptible(py, Length::Long, || self.index.compact())?.map_err(|error| exception(py, error))
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.index.save(&path)).map_err(|error| exception(py, error))
    }

    #[staticmethod]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        limits: Option<LimitsTuple>,
        mmap: bool,
        verify: bool,
    ) -> PyResult<NativeIndex> {
        let options = LoadOptions { limits: limits.map(self::limits), mmap, verify };
        let index = py.detach(|| Index::load_with_registry(ALL, &path, &options));
        let index = index.map_err(|error| exception(py, error))?;
        Ok(NativeIndex { index: index.into() })
    }

    /// Ends the background thread and returns when it has ended.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.index.stop());
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.index.to_bytes());
        PyBytes::new(py, &bytes)
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8], limits: Option<LimitsTuple>) -> PyResult<NativeIndex> {
        let options = LoadOptions { limits: limits.map(self::limits), ..LoadOptions::default() };
        let index = py.detach(|| Index::from_bytes_with_registry(ALL, bytes, &options));
        let fault = |message| exception(py, Error::File { path: PathBuf::from("<bytes>"), message });
        Ok(NativeIndex { index: index.map_err(fault)?.into() })
    }

    /// Bytes in use by ids, texts, attributes, engine.
    fn memory(&self, py: Python<'_>) -> [usize; 4] {
        let MemoryUsage { ids, texts, attributes, engine } = py.detach(|| self.index.memory());
        [ids, texts, attributes, engine]
    }

    fn attributes(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.index.schema().names().map(str::to_owned).collect())
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
