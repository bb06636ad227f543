//! The best matches of many events: matches and an array of scores.

use crate::arrow::stream_capsule;
use crate::matches::{NativeArray, NativeMatches};
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, Float64Array};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use std::sync::Arc;
use tamis_core::index::RankedMatches;

/// The result of `top_k_many`, `top_k_json_many` and `top_k_arrow`.
#[pyclass(frozen, module = "tamis._native")]
pub struct NativeRankedMatches {
    /// Each event's ids, highest score first.
    matches: NativeMatches,
    /// float64; the score of each id.
    scores: ArrayRef,
}

impl NativeRankedMatches {
    pub fn new(ranked: RankedMatches) -> PyResult<NativeRankedMatches> {
        let scores = Arc::new(Float64Array::from(ranked.scores));
        Ok(NativeRankedMatches { matches: NativeMatches::new(ranked.matches)?, scores })
    }
}

#[pymethods]
impl NativeRankedMatches {
    fn __len__(&self) -> usize {
        self.matches.len()
    }

    /// Pairs of id and score of one event; negative numbers count from the end.
    fn row<'py>(&self, py: Python<'py>, row: isize) -> PyResult<Bound<'py, PyList>> {
        let scores = self.scores.as_primitive::<Float64Type>();
        let pair = |at: usize| Ok((self.matches.id(py, at)?, scores.value(at)));
        let pairs: Vec<_> = self.matches.range(row)?.map(pair).collect::<PyResult<_>>()?;
        PyList::new(py, pairs)
    }

    fn offsets_array(&self) -> NativeArray {
        self.matches.offsets_array()
    }

    fn ids_array(&self) -> NativeArray {
        self.matches.ids_array()
    }

    fn scores_array(&self) -> NativeArray {
        NativeArray::new(self.scores.clone())
    }

    /// A stream of one batch with the columns `event`, `id` and `score`.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batch = self.matches.batch(Some(("score", &self.scores)))?;
        stream_capsule(py, batch.schema(), batch)
    }
}
