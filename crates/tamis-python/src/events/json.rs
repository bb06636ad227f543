//! JSON texts in Python objects.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use tamis_core::Error;
use tamis_core::event::json_lines;

/// Many JSON objects.
pub enum JsonEvents<'py> {
    /// One per line of a `str` or `bytes`; blank lines are skipped.
    Lines(Bound<'py, PyAny>),
    /// One per element, each a `str` or `bytes`.
    List(Vec<Bound<'py, PyAny>>),
}

impl<'py> JsonEvents<'py> {
    pub fn from_python(events: &Bound<'py, PyAny>) -> PyResult<JsonEvents<'py>> {
        if events.is_instance_of::<PyString>() || events.is_instance_of::<PyBytes>() {
            return Ok(JsonEvents::Lines(events.clone()));
        }
        Ok(JsonEvents::List(events.cast::<PyList>()?.iter().collect()))
    }

    /// The bytes of each object; an error names the element.
    pub fn texts(&self) -> Result<Vec<&[u8]>, Error> {
        match self {
            JsonEvents::Lines(text) => Ok(json_lines(json_text(text)?).map(|(_, line)| line).collect()),
            JsonEvents::List(list) => {
                let element = |(row, event)| json_text(event).map_err(|error| error.at_row(row));
                list.iter().enumerate().map(element).collect()
            }
        }
    }
}

/// The bytes of one JSON object in a `str` or `bytes`.
pub fn json_text<'a>(event: &'a Bound<'_, PyAny>) -> Result<&'a [u8], Error> {
    let refused = |message: String| Error::Event { attribute: None, message };
    if let Ok(bytes) = event.cast::<PyBytes>() {
        return Ok(bytes.as_bytes());
    }
    let Ok(text) = event.cast::<PyString>() else {
        let name = super::type_name(event);
        return Err(refused(format!("a JSON event is a str or bytes, not {name}")));
    };
    let text = text.to_str().map(str::as_bytes);
    text.map_err(|_| refused("the JSON text holds a lone surrogate, which cannot be written as UTF-8".into()))
}
