//! Ids from and to Python.

use crate::errors::invalid_id;
use crate::events::{ScalarKind, scalar_kind};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyList, PyString};
use tamis_core::index::{Id, IdColumn};

/// The id in a Python object: a `str`, an integer of 64 bits, or a UUID, which is its text.
pub fn id_from_python(id: &Bound<'_, PyAny>) -> PyResult<Id> {
    let py = id.py();
    if let Ok(text) = id.cast::<PyString>() {
        return match text.to_str() {
            Ok(text) => Ok(Id::from(text)),
            Err(_) => Err(invalid_id(py, "the id holds a lone surrogate, which cannot be written as UTF-8")),
        };
    }
    if !id.is_instance_of::<PyBool>()
        && (id.is_instance_of::<PyInt>() || id.hasattr(pyo3::intern!(py, "__index__"))?)
    {
        return match id.extract::<i64>() {
            Ok(id) => Ok(Id::Int(id)),
            Err(_) => Err(invalid_id(py, &format!("the id {id} does not fit 64 bits"))),
        };
    }
    if scalar_kind(id)? == Some(ScalarKind::Uuid) {
        return Ok(Id::from(&*id.str()?.to_cow()?));
    }
    Err(invalid_id(py, &format!("an id is a str, an int or a UUID, not {}", id.get_type().name()?)))
}

/// The Python object for an id.
pub fn id_to_python<'py>(py: Python<'py>, id: &Id) -> PyResult<Bound<'py, PyAny>> {
    Ok(match id {
        Id::Int(id) => id.into_pyobject(py)?.into_any(),
        Id::Text(id) => PyString::new(py, id).into_any(),
    })
}

/// The Python list of many ids.
pub fn ids_to_python<'py>(py: Python<'py>, ids: &IdColumn) -> PyResult<Bound<'py, PyList>> {
    match ids {
        IdColumn::Ints(ids) => PyList::new(py, ids),
        IdColumn::Texts { offsets, text } => {
            PyList::new(py, offsets.windows(2).map(|ends| &text[ends[0] as usize..ends[1] as usize]))
        }
        IdColumn::Mixed(ids) => {
            let ids: Vec<_> = ids.iter().map(|id| id_to_python(py, id)).collect::<PyResult<_>>()?;
            PyList::new(py, ids)
        }
    }
}
