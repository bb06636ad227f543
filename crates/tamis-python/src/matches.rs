//! The matches of many events as two Arrow arrays; lists are made on access.
#![allow(unsafe_code)]

use crate::arrow::{array_capsules, stream_capsule, unreadable};
use crate::id::id_to_python;
use arrow_array::{
    Array, ArrayRef, Int64Array, LargeStringArray, RecordBatch, cast::AsArray, types::Float64Type,
    types::Int64Type,
};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{Field, Schema};
use pyo3::exceptions::{PyBufferError, PyIndexError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList, PyTuple};
use std::ffi::{CStr, c_int, c_void};
use std::ops::Range;
use std::sync::Arc;
use tamis_core::event::BadEvent;
use tamis_core::index::{Id, IdColumn, Matches};

/// Bytes per number: all are 64 bits wide.
const WIDTH: usize = 8;

/// An Arrow array that other libraries read without a copy: through the Arrow PyCapsule protocol and, for
/// numbers, through the buffer protocol.
#[pyclass(frozen, module = "tamis._native")]
pub struct NativeArray {
    array: ArrayRef,
    /// Number of elements; the buffer protocol points to it.
    shape: [ffi::Py_ssize_t; 1],
    /// Bytes between elements; the buffer protocol points to it.
    strides: [ffi::Py_ssize_t; 1],
}

impl NativeArray {
    pub fn new(array: ArrayRef) -> NativeArray {
        let shape = [array.len() as ffi::Py_ssize_t];
        NativeArray { array, shape, strides: [WIDTH as ffi::Py_ssize_t] }
    }

    /// Address and format character of the numbers; `None` for strings.
    fn numbers(&self) -> Option<(*const c_void, &'static CStr)> {
        if let Some(ints) = self.array.as_primitive_opt::<Int64Type>() {
            return Some((ints.values().as_ptr().cast(), c"q"));
        }
        let floats = self.array.as_primitive_opt::<Float64Type>()?;
        Some((floats.values().as_ptr().cast(), c"d"))
    }
}

#[pymethods]
impl NativeArray {
    fn __len__(&self) -> usize {
        self.array.len()
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        // The protocol allows a producer to ignore the requested type.
        let _ = requested_schema;
        array_capsules(py, &self.array)
    }

    /// Fills a read-only view of the numbers.
    ///
    /// # Safety
    /// Called by Python with a view to fill.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let this = slf.get();
        let Some((numbers, format)) = this.numbers() else {
            return Err(PyBufferError::new_err("an array of strings has no buffer; read it through Arrow"));
        };
        if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
            return Err(PyBufferError::new_err("the array is read-only"));
        }
        let asked = |flag: c_int| flags & flag == flag;
        // SAFETY: `view` is valid for writes by the contract of the protocol. It points into `this`, which is
        // immutable and kept alive by the reference in `obj`, given up by Python's own release of the view.
        unsafe {
            (*view).buf = numbers.cast_mut();
            (*view).len = (this.array.len() * WIDTH) as ffi::Py_ssize_t;
            (*view).readonly = 1;
            (*view).itemsize = WIDTH as ffi::Py_ssize_t;
            (*view).format =
                if asked(ffi::PyBUF_FORMAT) { format.as_ptr().cast_mut() } else { std::ptr::null_mut() };
            (*view).ndim = 1;
            (*view).shape =
                if asked(ffi::PyBUF_ND) { this.shape.as_ptr().cast_mut() } else { std::ptr::null_mut() };
            (*view).strides = if asked(ffi::PyBUF_STRIDES) {
                this.strides.as_ptr().cast_mut()
            } else {
                std::ptr::null_mut()
            };
            (*view).suboffsets = std::ptr::null_mut();
            (*view).internal = std::ptr::null_mut();
            (*view).obj = slf.into_any().into_ptr();
        }
        Ok(())
    }
}

/// The result of `match_many`, `match_json_many` and `match_arrow`.
#[pyclass(frozen, module = "tamis._native")]
pub struct NativeMatches {
    /// int64; event `i` matched `ids[offsets[i]..offsets[i + 1]]`.
    offsets: ArrayRef,
    /// int64 or large_string; the ids of all events, concatenated.
    ids: ArrayRef,
    /// The ids if integers and strings are mixed: `ids` then holds their texts. `None` otherwise.
    mixed: Option<Vec<Id>>,
    /// The events that could not be read.
    bad: Vec<BadEvent>,
}

impl NativeMatches {
    pub fn new(matches: Matches) -> PyResult<NativeMatches> {
        NativeMatches::with_bad((matches, Vec::new()))
    }

    /// As `new`, with the events that could not be read.
    pub fn with_bad((matches, bad): (Matches, Vec<BadEvent>)) -> PyResult<NativeMatches> {
        let (ids, mixed): (ArrayRef, _) = match matches.ids {
            IdColumn::Ints(ids) => (Arc::new(Int64Array::from(ids)), None),
            IdColumn::Texts { offsets, text } => {
                let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
                let array = LargeStringArray::try_new(offsets, Buffer::from_vec(text.into_bytes()), None);
                (Arc::new(array.map_err(unreadable)?), None)
            }
            IdColumn::Mixed(ids) => {
                let texts = ids.iter().map(|id| match id {
                    Id::Int(id) => id.to_string(),
                    Id::Text(id) => id.to_string(),
                });
                (Arc::new(LargeStringArray::from_iter_values(texts)), Some(ids))
            }
        };
        Ok(NativeMatches { offsets: Arc::new(Int64Array::from(matches.offsets)), ids, mixed, bad })
    }

    fn offsets(&self) -> &[i64] {
        self.offsets.as_primitive::<Int64Type>().values()
    }

    /// Number of events.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The range of one event's matches; negative numbers count from the end.
    pub fn range(&self, row: isize) -> PyResult<Range<usize>> {
        let len = self.len() as isize;
        let row = if row < 0 { row + len } else { row };
        if !(0..len).contains(&row) {
            return Err(PyIndexError::new_err("event number out of range"));
        }
        Ok(self.offsets()[row as usize] as usize..self.offsets()[row as usize + 1] as usize)
    }

    /// One row per match: the columns `event` and `id`, and optionally another.
    pub fn batch(&self, another: Option<(&str, &ArrayRef)>) -> PyResult<RecordBatch> {
        let mut events = Vec::with_capacity(self.ids.len());
        for (event, ends) in self.offsets().windows(2).enumerate() {
            events.resize(ends[1] as usize, event as i64);
        }
        let events: ArrayRef = Arc::new(Int64Array::from(events));
        let columns = [("event", &events), ("id", &self.ids)].into_iter().chain(another);
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns
            .map(|(name, array)| (Field::new(name, array.data_type().clone(), false), array.clone()))
            .unzip();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(unreadable)
    }

    pub fn id<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyAny>> {
        if let Some(mixed) = &self.mixed {
            return id_to_python(py, &mixed[at]);
        }
        match self.ids.as_primitive_opt::<Int64Type>() {
            Some(ids) => Ok(ids.value(at).into_pyobject(py)?.into_any()),
            None => Ok(self.ids.as_string::<i64>().value(at).into_pyobject(py)?.into_any()),
        }
    }
}

#[pymethods]
impl NativeMatches {
    fn __len__(&self) -> usize {
        self.len()
    }

    /// The ids of one event; negative numbers count from the end.
    fn row<'py>(&self, py: Python<'py>, row: isize) -> PyResult<Bound<'py, PyList>> {
        let ids: Vec<_> = self.range(row)?.map(|at| self.id(py, at)).collect::<PyResult<_>>()?;
        PyList::new(py, ids)
    }

    /// `(event, attribute, message)` of every event that could not be read.
    fn bad_events(&self) -> Vec<(usize, Option<&str>, &str)> {
        self.bad.iter().map(|bad| (bad.event, bad.attribute.as_deref(), bad.message.as_str())).collect()
    }

    pub fn offsets_array(&self) -> NativeArray {
        NativeArray::new(self.offsets.clone())
    }

    pub fn ids_array(&self) -> NativeArray {
        NativeArray::new(self.ids.clone())
    }

    /// A stream of one batch with the columns `event` and `id`.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batch = self.batch(None)?;
        stream_capsule(py, batch.schema(), batch)
    }
}
