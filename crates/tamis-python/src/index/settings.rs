//! The settings of an index, from and to Python.

use crate::errors::exception;
use crate::expression::{LimitsTuple, limits, missing};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use tamis_core::Error;
use tamis_core::engine::registry::{OptionValue, Options};
use tamis_core::expr::Missing;
use tamis_core::index::Settings;

/// Engine as given, missing, options, limits.
pub type SettingsTuple<'py> = (String, &'static str, Bound<'py, PyDict>, LimitsTuple);

pub fn settings_to_python<'py>(py: Python<'py>, settings: &Settings) -> PyResult<SettingsTuple<'py>> {
    let options = PyDict::new(py);
    for (name, value) in &settings.options {
        match value {
            OptionValue::Bool(value) => options.set_item(name, value)?,
            OptionValue::Int(value) => options.set_item(name, value)?,
            OptionValue::Float(value) => options.set_item(name, value)?,
            OptionValue::Text(value) => options.set_item(name, value)?,
        }
    }
    let missing = match settings.missing {
        Missing::Unknown => "unknown",
        Missing::False => "false",
    };
    let l = settings.limits;
    let limits = (l.max_length, l.max_depth, l.max_regex_size, l.max_dnf);
    Ok((settings.engine.clone(), missing, options, limits))
}

pub fn settings_from_python(
    engine: String,
    missing: &str,
    options: &Bound<'_, PyDict>,
    limits: LimitsTuple,
) -> PyResult<Settings> {
    let missing = self::missing(missing).map_err(|error| exception(options.py(), error))?;
    let options = options_from_python(options)?;
    Ok(Settings { engine, options, missing, limits: self::limits(limits) })
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
