//! Expressions and changes as Python hands them over; a change is a tuple of kind, id and expression.

use crate::errors::{exception, expression_text, with_row};
use crate::expression::NativeExpression;
use crate::id::id_from_python;
use crate::interruption::ROWS_PER_CHECK;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use tamis_core::Error;
use tamis_core::index::{Change, Id, Source};

/// Ids and expressions side by side; an error names the row.
pub fn rules_from_python(
    ids: &Bound<'_, PyAny>,
    expressions: &Bound<'_, PyAny>,
) -> PyResult<Vec<(Id, Source)>> {
    let py = ids.py();
    let mut rules = Vec::with_capacity(ids.len().unwrap_or(0));
    for (row, (id, expression)) in ids.try_iter()?.zip(expressions.try_iter()?).enumerate() {
        if row % ROWS_PER_CHECK == 0 {
            py.check_signals()?;
        }
        let (id, expression) = (id?, expression?);
        let rule = id_from_python(&id).and_then(|id| Ok((id, source_from_python(&expression)?)));
        rules.push(rule.map_err(|error| with_row(py, error, row))?);
    }
    Ok(rules)
}

/// The changes; an error names the row.
pub fn changes_from_python(changes: &Bound<'_, PyList>) -> PyResult<Vec<Change>> {
    let py = changes.py();
    let mut found = Vec::with_capacity(changes.len());
    for (row, change) in changes.iter().enumerate() {
        if row % ROWS_PER_CHECK == 0 {
            py.check_signals()?;
        }
        found.push(change_from_python(&change).map_err(|error| with_row(py, error, row))?);
    }
    Ok(found)
}

fn change_from_python(change: &Bound<'_, PyAny>) -> PyResult<Change> {
    let (kind, id, expression): (String, Bound<'_, PyAny>, Bound<'_, PyAny>) = change.extract()?;
    let id = id_from_python(&id)?;
    if kind == "remove" {
        return Ok(Change::Remove(id));
    }
    let source = source_from_python(&expression)?;
    match kind.as_str() {
        "add" => Ok(Change::Add(id, source)),
        "replace" => Ok(Change::Replace(id, source)),
        "upsert" => Ok(Change::Upsert(id, source)),
        _ => Err(PyValueError::new_err(format!("unknown kind of change: {kind}"))),
    }
}

/// An expression as the core takes it: text, or one that was parsed before.
pub fn source_from_python(expression: &Bound<'_, PyAny>) -> PyResult<Source> {
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
