//! The predicates of many expressions, as Arrow columns.

use crate::arrow::{batches, stream_capsule, unreadable};
use crate::errors::exception;
use crate::expression::{LimitsTuple, limits};
use crate::index::arrow_text;
use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, LargeStringBuilder, ListBuilder, StringBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, Field, Schema};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::Arc;
use tamis_core::expr::{Condition, Expr, Limits, Quantifier, parse};
use tamis_core::{Error, Result};

/// A record batch that Python reads as an Arrow stream.
#[pyclass(frozen, module = "tamis._native")]
pub struct NativeBatch {
    batch: RecordBatch,
}

#[pymethods]
impl NativeBatch {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        stream_capsule(py, self.batch.schema(), self.batch.clone())
    }
}

/// Parses the texts in the first column of Arrow data; returns a batch of the expressions and one of their predicates.
#[pyfunction]
pub fn dissect(
    py: Python<'_>,
    texts: &Bound<'_, PyAny>,
    limits: LimitsTuple,
) -> PyResult<(NativeBatch, NativeBatch)> {
    let (reader, limits) = (batches(texts)?, self::limits(limits));
    limits.check().map_err(|error| exception(py, error))?;
    let dissected = py.detach(|| -> Result<_, ArrowError> {
        let (mut expressions, mut predicates) = (Expressions::default(), Predicates::default());
        let mut row = 0;
        for batch in reader {
            let batch = batch?;
            for at in 0..batch.num_rows() {
                match read(batch.column(0), at, &limits) {
                    Ok(expr) => {
                        let before = predicates.rows;
                        expr.for_each_condition(false, &mut |condition, negated| {
                            predicates.push(row, condition, negated);
                        });
                        expressions.push(&expr, predicates.rows - before);
                    }
                    Err(error) => expressions.push_bad(&error.to_string()),
                }
                row += 1;
            }
        }
        Ok((expressions.finish()?, predicates.finish()?))
    });
    let (expressions, predicates) = dissected.map_err(unreadable)?;
    Ok((NativeBatch { batch: expressions }, NativeBatch { batch: predicates }))
}

fn read(texts: &ArrayRef, row: usize, limits: &Limits) -> Result<Expr> {
    let text = arrow_text(texts, row, "expression").map_err(Error::Expression)?;
    Ok(parse(text, limits)?)
}

/// Builders of the columns with one row per expression.
#[derive(Default)]
struct Expressions {
    error: LargeStringBuilder,
    predicates: Int64Builder,
    depth: Int64Builder,
    conjunctions: Float64Builder,
}

impl Expressions {
    fn push(&mut self, expr: &Expr, predicates: i64) {
        self.error.append_null();
        self.predicates.append_value(predicates);
        self.depth.append_value(expr.depth() as i64);
        self.conjunctions.append_value(expr.dnf_size());
    }

    fn push_bad(&mut self, error: &str) {
        self.error.append_value(error);
        self.predicates.append_null();
        self.depth.append_null();
        self.conjunctions.append_null();
    }

    fn finish(mut self) -> Result<RecordBatch, ArrowError> {
        record_batch(vec![
            ("error", Arc::new(self.error.finish())),
            ("predicates", Arc::new(self.predicates.finish())),
            ("depth", Arc::new(self.depth.finish())),
            ("conjunctions", Arc::new(self.conjunctions.finish())),
        ])
    }
}

/// Builders of the columns with one row per predicate.
#[derive(Default)]
struct Predicates {
    rows: i64,
    row: Int64Builder,
    text: LargeStringBuilder,
    attribute: LargeStringBuilder,
    quantifier: StringBuilder,
    operator: StringBuilder,
    values: ListBuilder<LargeStringBuilder>,
    kind: StringBuilder,
    negated: BooleanBuilder,
    weight: Float64Builder,
}

impl Predicates {
    fn push(&mut self, row: i64, condition: &Condition, negated: bool) {
        self.rows += 1;
        self.row.append_value(row);
        self.text.append_value(condition.text());
        self.attribute.append_value(&condition.attribute.name);
        self.quantifier.append_option(condition.attribute.quantifier.map(quantifier_name));
        self.operator.append_value(condition.op.name());
        for literal in condition.op.literals() {
            self.values.values().append_value(literal.to_string());
        }
        self.values.append(true);
        self.kind.append_value(condition.op.operand_kind().name());
        self.negated.append_value(negated);
        self.weight.append_value(condition.weight);
    }

    fn finish(mut self) -> Result<RecordBatch, ArrowError> {
        record_batch(vec![
            ("row", Arc::new(self.row.finish())),
            ("text", Arc::new(self.text.finish())),
            ("attribute", Arc::new(self.attribute.finish())),
            ("quantifier", Arc::new(self.quantifier.finish())),
            ("operator", Arc::new(self.operator.finish())),
            ("values", Arc::new(self.values.finish())),
            ("kind", Arc::new(self.kind.finish())),
            ("negated", Arc::new(self.negated.finish())),
            ("weight", Arc::new(self.weight.finish())),
        ])
    }
}

pub fn quantifier_name(quantifier: Quantifier) -> &'static str {
    match quantifier {
        Quantifier::Any => "any",
        Quantifier::All => "all",
    }
}

fn record_batch(columns: Vec<(&str, ArrayRef)>) -> Result<RecordBatch, ArrowError> {
    let field = |(name, array): &(&str, ArrayRef)| Field::new(*name, array.data_type().clone(), true);
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    RecordBatch::try_new(Arc::new(schema), columns.into_iter().map(|(_, array)| array).collect())
}
