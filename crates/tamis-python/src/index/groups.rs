//! Groups of ids, and how many matches are wanted.

use crate::errors::with_row;
use crate::id::{id_from_python, id_to_python};
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::num::NonZeroUsize;
use tamis_core::index::{Groups, TopK};

/// The core's groups.
#[pyclass(frozen, module = "tamis._native")]
pub struct NativeGroups(Groups);

#[pymethods]
impl NativeGroups {
    /// Of a list of pairs of id and group.
    #[new]
    fn new(pairs: &Bound<'_, PyList>) -> PyResult<NativeGroups> {
        let mut read = Vec::with_capacity(pairs.len());
        for (row, pair) in pairs.iter().enumerate() {
            let (id, group): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
            let ids = id_from_python(&id).and_then(|id| Ok((id, id_from_python(&group)?)));
            read.push(ids.map_err(|error| with_row(pairs.py(), error, row))?);
        }
        Ok(NativeGroups(Groups::new(read)))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The group of an id, or `None`.
    fn get<'py>(&self, py: Python<'py>, id: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.0.get(&id_from_python(id)?).map(|group| id_to_python(py, group)).transpose()
    }

    /// All pairs of id and group.
    #[allow(clippy::type_complexity, reason = "a list of pairs")]
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
        self.0.iter().map(|(id, group)| Ok((id_to_python(py, id)?, id_to_python(py, group)?))).collect()
    }
}

/// How many matches are wanted: k, the groups, and the maximum of each.
#[derive(FromPyObject)]
pub struct TopKArgument(usize, Option<Py<NativeGroups>>, NonZeroUsize);

impl TopKArgument {
    pub fn top_k(&self) -> TopK<'_> {
        let groups = self.1.as_ref().map(|groups| (&groups.get().0, self.2));
        TopK { k: self.0, groups }
    }
}
