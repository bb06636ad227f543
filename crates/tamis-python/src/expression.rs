//! Expressions: parsing, joining, evaluating, explaining.

use crate::dissection::quantifier_name;
use crate::errors::{exception, expression_text};
use crate::events::MappingSource;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use std::sync::Arc;
use tamis_core::event::{EventSource, Rows};
use tamis_core::expr::{Condition, Connective, Explanation, Expr, Limits, Missing, Truth};
use tamis_core::{Error, Literal, Number};

/// An expression. Immutable.
#[pyclass(frozen, module = "tamis._native")]
pub struct NativeExpression {
    pub expr: Arc<Expr>,
}

/// `(max_length, max_depth, max_regex_size, max_dnf)`, as Python passes limits.
pub type LimitsTuple = (usize, usize, usize, usize);

pub fn limits(tuple: LimitsTuple) -> Limits {
    let (max_length, max_depth, max_regex_size, max_dnf) = tuple;
    Limits { max_length, max_depth, max_regex_size, max_dnf }
}

pub fn missing(name: &str) -> Result<Missing, Error> {
    match name {
        "unknown" => Ok(Missing::Unknown),
        "false" => Ok(Missing::False),
        other => Err(Error::Option(format!("missing is {other:?}; it takes: unknown, false"))),
    }
}

/// Parses a text.
#[pyfunction]
pub fn parse(py: Python<'_>, text: &Bound<'_, PyString>, limits: LimitsTuple) -> PyResult<NativeExpression> {
    let text = expression_text(text)?;
    let limits = self::limits(limits);
    limits.check().map_err(|error| exception(py, error))?;
    let parsed = py.detach(|| tamis_core::expr::parse(text, &limits));
    Ok(NativeExpression::new(parsed.map_err(|error| exception(py, error.into()))?))
}

/// Joins expressions with `AND`, `OR`, `XOR` or `XNOR`.
#[pyfunction]
pub fn join(
    py: Python<'_>,
    connective: &str,
    operands: Vec<PyRef<'_, NativeExpression>>,
) -> PyResult<NativeExpression> {
    let connective = match connective {
        "AND" => Connective::And,
        "OR" => Connective::Or,
        "XOR" => Connective::Xor,
        "XNOR" => Connective::Xnor,
        other => {
            return Err(exception(py, Error::Internal(format!("unknown connective {other}"))));
        }
    };
    if operands.is_empty() {
        let empty = connective == Connective::And;
        return Ok(NativeExpression::new(Expr::Const(empty)));
    }
    let operands = operands.iter().map(|operand| (*operand.expr).clone()).collect();
    NativeExpression::checked(py, Expr::join(connective, operands))
}

impl NativeExpression {
    pub fn new(expr: Expr) -> NativeExpression {
        NativeExpression { expr: Arc::new(expr) }
    }

    /// Trees are traversed recursively, so their depth is bounded.
    fn checked(py: Python<'_>, expr: Expr) -> PyResult<NativeExpression> {
        if expr.depth() > Limits::DEPTH_CAP {
            let message = format!("the expression nests deeper than {} levels", Limits::DEPTH_CAP);
            return Err(exception(py, Error::Expression(message)));
        }
        Ok(NativeExpression::new(expr))
    }

    /// The event as one row of this expression's own schema.
    fn read<T>(
        &self,
        event: &Bound<'_, PyAny>,
        use_row: impl FnOnce(&tamis_core::Schema, &Rows) -> T,
    ) -> PyResult<T> {
        let py = event.py();
        let schema = self.expr.schema();
        let mut rows = Rows::default();
        MappingSource::one(event).read(&schema, &mut rows).map_err(|error| error.exception(py))?;
        Ok(use_row(&schema, &rows))
    }
}

#[pymethods]
impl NativeExpression {
    fn __str__(&self) -> String {
        self.expr.to_string()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<NativeExpression>().is_ok_and(|other| *other.get().expr == *self.expr)
    }

    fn negated(&self, py: Python<'_>) -> PyResult<NativeExpression> {
        NativeExpression::checked(py, Expr::Not(Box::new((*self.expr).clone())))
    }

    /// The same predicate with another weight; `None` if this is no single predicate.
    fn weighted(&self, weight: f64) -> Option<NativeExpression> {
        match &*self.expr {
            Expr::Condition(condition) => {
                let mut condition = condition.clone();
                condition.weight = weight;
                Some(NativeExpression::new(Expr::Condition(condition)))
            }
            _ => None,
        }
    }

    fn attributes(&self) -> Vec<String> {
        self.expr.schema().names().map(str::to_owned).collect()
    }

    fn depth(&self) -> usize {
        self.expr.depth()
    }

    fn conjunctions(&self) -> f64 {
        self.expr.dnf_size()
    }

    /// From left to right: text, attribute, quantifier, operator, values, kind, negated, weight.
    fn predicates<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let mut conditions = Vec::new();
        self.expr.for_each_condition(false, &mut |condition, negated| conditions.push((condition, negated)));
        let parts = |(condition, negated): (&Condition, bool)| {
            let Condition { attribute, op, weight } = condition;
            let values = op
                .literals()
                .iter()
                .map(|literal| literal_parts(py, literal))
                .collect::<PyResult<Vec<_>>>()?;
            let quantifier = attribute.quantifier.map(quantifier_name);
            let kind = op.operand_kind().name();
            (condition.text(), attribute.name.as_str(), quantifier, op.name(), values, kind, negated, *weight)
                .into_pyobject(py)
        };
        conditions.into_iter().map(parts).collect()
    }

    /// `True`, `False`, or `None` for UNKNOWN.
    fn evaluate(&self, event: &Bound<'_, PyAny>, missing: &str) -> PyResult<Option<bool>> {
        let missing = self::missing(missing).map_err(|error| exception(event.py(), error))?;
        let truth = self.read(event, |schema, rows| self.expr.evaluate_row(schema, rows, 0, missing))?;
        Ok(match truth {
            Truth::True => Some(true),
            Truth::False => Some(false),
            Truth::Unknown => None,
        })
    }

    fn explain<'py>(&self, event: &Bound<'py, PyAny>, missing: &str) -> PyResult<Bound<'py, PyAny>> {
        let py = event.py();
        let missing = self::missing(missing).map_err(|error| exception(py, error))?;
        let explanation = self.read(event, |schema, rows| self.expr.explain_row(schema, rows, 0, missing))?;
        explanation_to_python(py, &explanation)
    }
}

/// A literal as `(type, value, text)`; dates are days and timestamps microseconds since 1970.
fn literal_parts<'py>(py: Python<'py>, literal: &Literal) -> PyResult<Bound<'py, PyTuple>> {
    let text = literal.to_string();
    match literal {
        Literal::Bool(value) => ("bool", value, text).into_pyobject(py),
        Literal::Number(Number::Int(value)) => ("int", value, text).into_pyobject(py),
        Literal::Number(Number::Float(value)) => ("float", value, text).into_pyobject(py),
        Literal::Text(value) => ("text", value.as_str(), text).into_pyobject(py),
        Literal::Date(days) => ("date", days, text).into_pyobject(py),
        Literal::Timestamp(micros) => ("timestamp", micros, text).into_pyobject(py),
    }
}

/// Nested tuples `(text, summary, truth, value, weight, reason, children)`.
pub fn explanation_to_python<'py>(py: Python<'py>, node: &Explanation) -> PyResult<Bound<'py, PyAny>> {
    let children: Vec<_> =
        node.children.iter().map(|child| explanation_to_python(py, child)).collect::<PyResult<_>>()?;
    let Explanation { text, summary, truth, value, weight, reason, .. } = node;
    let tuple = (text, summary, truth.name(), value, weight, reason, children);
    Ok(tuple.into_pyobject(py)?.into_any())
}
