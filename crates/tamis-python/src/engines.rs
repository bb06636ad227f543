//! What the registry says of each engine, as Python objects.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use tamis_baselines::ALL;
use tamis_core::engine::registry::{EngineInfo, OptionInfo, OptionValue};

/// `(name, description, kind, default, accepts)`.
type OptionTuple = (&'static str, &'static str, &'static str, Py<PyAny>, String);
/// `(name, description, family, takes, exact, ranks, options)`.
type EngineTuple = (&'static str, &'static str, String, String, bool, bool, Vec<OptionTuple>);

/// Every engine, family by family.
#[pyfunction]
pub fn engines(py: Python<'_>) -> PyResult<Vec<EngineTuple>> {
    ALL.by_family().map(|info| engine(py, info)).collect()
}

fn engine(py: Python<'_>, info: &EngineInfo) -> PyResult<EngineTuple> {
    let options = info.options.iter().map(|info| option(py, info)).collect::<PyResult<_>>()?;
    let (family, takes) = (info.family.to_string(), info.takes.to_string());
    Ok((info.name, info.description, family, takes, info.exact, info.ranks(), options))
}

fn option(py: Python<'_>, info: &OptionInfo) -> PyResult<OptionTuple> {
    let default = match info.kind.default_value() {
        OptionValue::Bool(value) => value.into_py_any(py)?,
        OptionValue::Int(value) => value.into_py_any(py)?,
        OptionValue::Float(value) => value.into_py_any(py)?,
        OptionValue::Text(value) => value.into_py_any(py)?,
    };
    Ok((info.name, info.description, info.kind.name(), default, info.kind.to_string()))
}
