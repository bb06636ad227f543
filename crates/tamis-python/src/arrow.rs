//! Arrow data in and out through the PyCapsule protocol, without copies.
//!
//! The C data interface passes addresses and lengths in rows, but no sizes of buffers. So data of pyarrow, which knows
//! the sizes, is checked by pyarrow first (`tamis.index.arrow_data`); other producers are trusted with them. Offsets, keys,
//! views and UTF-8 are checked by the core where they are read. Structures that contradict each other and names that are
//! not UTF-8 make `arrow_array` panic; that becomes an error here.
#![allow(unsafe_code)]

use crate::errors::exception;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{
    Array, ArrayReader, ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchReader, cast::AsArray,
    make_array,
};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyUnicodeDecodeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use std::ffi::CStr;
use std::sync::Arc;
use tamis_core::Error;
use tamis_core::event::ArrowSourceError;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// The record batches of any object that speaks the protocol: tables, batches, readers, data frames.
pub fn batches(data: &Bound<'_, PyAny>) -> PyResult<Box<dyn RecordBatchReader + Send>> {
    let py = data.py();
    let data = &py.import("tamis.index.arrow_data")?.getattr("checked")?.call1((data,))?;
    if data.hasattr(pyo3::intern!(py, "__arrow_c_stream__"))? {
        let capsule = exported(data, "__arrow_c_stream__")?;
        let capsule = capsule.cast::<PyCapsule>()?;
        let pointer = capsule.pointer_checked(Some(STREAM))?;
        // SAFETY: the capsule's name says that it holds a stream; `from_raw` moves it out and leaves an empty one,
        // so that the capsule's destructor releases nothing.
        let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr().cast()) };
        let arrays = caught(|| ArrayStreamReader::try_new(stream)).map_err(unreadable)?;
        let DataType::Struct(fields) = arrays.field().data_type() else {
            return Err(unreadable(no_columns()));
        };
        let schema = Arc::new(Schema::new(fields.clone()));
        return Ok(Box::new(RecordBatchIterator::new(ImportedBatches { arrays, is_over: false }, schema)));
    }
    if data.hasattr(pyo3::intern!(py, "__arrow_c_array__"))? {
        let batch = batch(data)?;
        let schema = batch.schema();
        return Ok(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
    }
    let name = data.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "{name} is no Arrow data: pass a table, record batch, reader or data frame that has __arrow_c_stream__"
    )))
}

/// What a method of the protocol returns. pyarrow decodes names there, which may be damaged as well.
fn exported<'py>(data: &Bound<'py, PyAny>, method: &str) -> PyResult<Bound<'py, PyAny>> {
    data.call_method0(method).map_err(|error| match error.is_instance_of::<PyUnicodeDecodeError>(data.py()) {
        true => PyTypeError::new_err(format!("the Arrow data cannot be read: a name in it: {error}")),
        false => error,
    })
}

/// The number of rows of data that says so.
pub fn row_count(data: &Bound<'_, PyAny>) -> Option<usize> {
    data.getattr(pyo3::intern!(data.py(), "num_rows")).and_then(|rows| rows.extract()).ok()
}

fn batch(data: &Bound<'_, PyAny>) -> PyResult<RecordBatch> {
    let capsules = exported(data, "__arrow_c_array__")?;
    let capsules = capsules.cast::<PyTuple>()?;
    let (schema, array) = (capsules.get_item(0)?, capsules.get_item(1)?);
    let schema = schema.cast::<PyCapsule>()?.pointer_checked(Some(SCHEMA))?;
    let array = array.cast::<PyCapsule>()?.pointer_checked(Some(ARRAY))?;
    // SAFETY: the capsules' names say what they hold. The schema is only read while `capsules` lives; the array is
    // moved out, which leaves an empty one to the capsule's destructor.
    let array = unsafe {
        let array = FFI_ArrowArray::from_raw(array.as_ptr().cast());
        let schema = &*schema.as_ptr().cast::<FFI_ArrowSchema>();
        caught(|| from_ffi(array, schema).map(make_array))
    };
    record_batch(&array.map_err(unreadable)?).map_err(unreadable)
}

/// The batches of a stream.
struct ImportedBatches {
    arrays: ArrayStreamReader,
    /// Whether the stream has failed: it is not read on.
    is_over: bool,
}

impl Iterator for ImportedBatches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let batch = caught(|| self.arrays.next().map(|array| record_batch(&array?)).transpose());
        self.is_over = batch.is_err();
        batch.transpose()
    }
}

/// Imports an array, or gives the reason why its parts contradict each other.
fn caught<T>(import: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, ArrowError> {
    let damaged = |error| Err(ArrowError::InvalidArgumentError(format!("it is damaged: {error}")));
    Error::catch(import).unwrap_or_else(damaged)
}

/// The rows of an array of structs. A null among them would have to be an event without any attribute, or no event
/// at all; neither can be guessed.
fn record_batch(array: &ArrayRef) -> Result<RecordBatch, ArrowError> {
    match array.as_struct_opt() {
        Some(rows) if rows.null_count() == 0 => Ok(RecordBatch::from(rows)),
        Some(_) => Err(ArrowError::InvalidArgumentError("a row is null as a whole".into())),
        None => Err(no_columns()),
    }
}

fn no_columns() -> ArrowError {
    ArrowError::InvalidArgumentError("it is no record batch: a struct of columns is needed".into())
}

/// The exception for an error of Arrow data as events.
pub fn source_exception(py: Python<'_>, error: ArrowSourceError) -> PyErr {
    match error {
        ArrowSourceError::Arrow(error) => unreadable(error),
        ArrowSourceError::Core(error) => exception(py, error),
    }
}

/// An exception for Arrow data that cannot be read.
pub fn unreadable(error: ArrowError) -> PyErr {
    PyTypeError::new_err(format!("the Arrow data cannot be read: {error}"))
}

/// An array as the pair of capsules that `__arrow_c_array__` returns.
pub fn array_capsules<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Bound<'py, PyTuple>> {
    let (array, schema) = to_ffi(&array.to_data()).map_err(unreadable)?;
    let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
    let array = PyCapsule::new_with_value(py, array, ARRAY)?;
    PyTuple::new(py, [schema, array])
}

/// Batches as the capsule that `__arrow_c_stream__` returns.
pub fn stream_capsule<'py>(
    py: Python<'py>,
    schema: SchemaRef,
    batch: RecordBatch,
) -> PyResult<Bound<'py, PyCapsule>> {
    let reader = RecordBatchIterator::new([Ok(batch)], schema);
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
}
