//! The one place where errors of the core become exceptions of `tamis.errors`.

use crate::id::id_to_python;
use crate::interruption;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use tamis_core::{Error, ParseError};

/// The exception for an error of the core.
pub fn exception(py: Python<'_>, error: Error) -> PyErr {
    build(py, error).unwrap_or_else(|failure| failure)
}

fn build(py: Python<'_>, error: Error) -> PyResult<PyErr> {
    let message = error.to_string();
    let details = PyDict::new(py);
    let error = match error {
        Error::Row { row, error } => {
            details.set_item("row", row)?;
            *error
        }
        error => error,
    };
    let class = match error {
        Error::Parse(error) => {
            let ParseError { line, column, found, expected, .. } = *error;
            details.set_item("line", line)?;
            details.set_item("column", column)?;
            details.set_item("found", found)?;
            details.set_item("expected", expected)?;
            "ParseError"
        }
        Error::Expression(_) => "ParseError",
        Error::DuplicateId(id) => {
            details.set_item("id", id_to_python(py, &id)?)?;
            "DuplicateId"
        }
        Error::UnknownId(id) => {
            details.set_item("id", id_to_python(py, &id)?)?;
            "UnknownId"
        }
        Error::Event { attribute, .. } => {
            details.set_item("attribute", attribute)?;
            "EventError"
        }
        Error::TooComplex { .. } | Error::ExpressionTooLarge { .. } | Error::SegmentTooLarge { .. } => {
            "TooComplex"
        }
        Error::Option(_) => "OptionError",
        Error::File { path, .. } => {
            details.set_item("path", path)?;
            "FileError"
        }
        Error::Interrupted => return Ok(interruption::interrupted()),
        Error::Internal(_) | Error::Row { .. } => "InternalError",
    };
    raise(py, class, &message, &details)
}

/// An exception of `tamis.errors`, by name.
fn raise(py: Python<'_>, class: &str, message: &str, details: &Bound<'_, PyDict>) -> PyResult<PyErr> {
    let class = py.import("tamis.errors")?.getattr(class)?;
    Ok(PyErr::from_value(class.call((message,), Some(details))?))
}

/// An id that is neither a string nor a 64-bit integer.
pub fn invalid_id(py: Python<'_>, message: &str) -> PyErr {
    raise(py, "InvalidId", message, &PyDict::new(py)).unwrap_or_else(|failure| failure)
}

/// The exception with a row number added.
pub fn with_row(py: Python<'_>, error: PyErr, row: usize) -> PyErr {
    let value = error.value(py);
    let message = format!("row {row}: {value}");
    // The message is the exception's first argument in all of `tamis.errors`.
    let named = value.setattr("row", row).and_then(|()| value.setattr("args", (message,)));
    named.err().unwrap_or(error)
}

/// The text of a Python string; the error for a lone surrogate names its position.
pub fn expression_text<'a>(text: &'a Bound<'_, PyString>) -> PyResult<&'a str> {
    let py = text.py();
    text.to_str().map_err(|error| {
        let start: usize = error.value(py).getattr("start").and_then(|start| start.extract()).unwrap_or(0);
        let before = text.to_string_lossy().chars().take(start).collect::<String>();
        let lossy = text.to_string_lossy();
        let fault =
            ParseError::at(&lossy, before.len(), "a lone surrogate", "text that can be written as UTF-8");
        exception(py, fault.into())
    })
}
