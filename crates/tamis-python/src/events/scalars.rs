//! Scalars of the standard library and of pandas that are no numbers, texts or times themselves.

use super::mappings::{MappingError, refused};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use tamis_core::event::{Rows, Slot};

/// What a scalar is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ScalarKind {
    /// `decimal.Decimal`: a number.
    Decimal,
    /// `uuid.UUID`: a text.
    Uuid,
    /// A member of an `enum.Enum`: its value.
    Enum,
    /// `pandas.NA`: missing.
    NotAvailable,
}

struct ScalarTypes {
    decimal: Py<PyType>,
    uuid: Py<PyType>,
    enumeration: Py<PyType>,
}

static SCALAR_TYPES: PyOnceLock<ScalarTypes> = PyOnceLock::new();

fn scalar_types(py: Python<'_>) -> PyResult<&'static ScalarTypes> {
    SCALAR_TYPES.get_or_try_init(py, || {
        let class = |module: &str, name: &str| -> PyResult<Py<PyType>> {
            Ok(py.import(module)?.getattr(name)?.cast_into::<PyType>()?.unbind())
        };
        Ok(ScalarTypes {
            decimal: class("decimal", "Decimal")?,
            uuid: class("uuid", "UUID")?,
            enumeration: class("enum", "Enum")?,
        })
    })
}

/// The kind of a value; `None` if it is none of these.
pub fn scalar_kind(value: &Bound<'_, PyAny>) -> PyResult<Option<ScalarKind>> {
    let py = value.py();
    let types = scalar_types(py)?;
    if value.is_instance(types.decimal.bind(py))? {
        return Ok(Some(ScalarKind::Decimal));
    }
    if value.is_instance(types.uuid.bind(py))? {
        return Ok(Some(ScalarKind::Uuid));
    }
    if value.is_instance(types.enumeration.bind(py))? {
        return Ok(Some(ScalarKind::Enum));
    }
    // Asked by name: pandas may not be installed.
    let class = value.get_type();
    let is_na = class.name()?.to_cow()? == "NAType" && class.module()?.to_cow()?.starts_with("pandas");
    Ok(is_na.then_some(ScalarKind::NotAvailable))
}

/// Digits before the point from which on an integer does not fit 64 bits.
const TOO_LONG: i64 = 20;

/// The slot of a `Decimal`. Whole ones are integers, also if they are written with an exponent.
pub fn decimal(value: &Bound<'_, PyAny>) -> Result<Slot, MappingError> {
    if value.call_method0("is_nan")?.is_truthy()? {
        return Ok(Slot::Missing);
    }
    // `int` of a large exponent would take as many digits.
    if value.call_method0("is_finite")?.is_truthy()?
        && value.call_method0("adjusted")?.extract::<i64>()? < TOO_LONG
    {
        let integer = value.call_method0("__int__")?;
        if integer.eq(value)?
            && let Ok(integer) = integer.extract()
        {
            return Ok(Slot::Int(integer));
        }
    }
    let text = value.str()?;
    Rows::decimal_slot(&text.to_cow()?).ok_or_else(|| refused("a decimal that is no number"))
}
