//! The matches of many events: two arrays, and lists made on access.
#![allow(unsafe_code)]

use crate::arrow::{array_capsules, stream_capsule, unreadable};
use crate::id::id_to_python;
use arrow_array::{
    Array, ArrayRef, Int64Array, LargeStringArray, RecordBatch, cast::AsArray, types::Int64Type,
};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, Field, Schema};
use pyo3::exceptions::{PyBufferError, PyIndexError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList, PyTuple};
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use tamis_core::index::{Id, IdColumn, Matches};

/// An Arrow array that other libraries read without a copy: through the Arrow PyCapsule protocol and, for
/// integers, through the buffer protocol.
#[pyclass(frozen, module = "tamis._native")]
pub struct NativeArray {
    array: ArrayRef,
    /// What the buffer protocol points to.
    shape: [ffi::Py_ssize_t; 1],
    strides: [ffi::Py_ssize_t; 1],
}

impl NativeArray {
    fn new(array: ArrayRef) -> NativeArray {
        let shape = [array.len() as ffi::Py_ssize_t];
        NativeArray { array, shape, strides: [size_of::<i64>() as ffi::Py_ssize_t] }
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
        // The protocol lets a producer answer with its own type when another one is asked for.
        let _ = requested_schema;
        array_capsules(py, &self.array)
    }

    /// Fills a read-only view of the integers.
    ///
    /// # Safety
    /// Called by Python with a view to fill.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let this = slf.get();
        let Some(values) = this.array.as_primitive_opt::<Int64Type>() else {
            return Err(PyBufferError::new_err("an array of strings has no buffer; read it through Arrow"));
        };
        if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
            return Err(PyBufferError::new_err("the array is read-only"));
        }
        let asked = |flag: c_int| flags & flag == flag;
        // SAFETY: `view` is valid for writes by the contract of the protocol. It points into `this`, which is
        // immutable and kept alive by the reference in `obj`, given up by Python's own release of the view.
        unsafe {
            (*view).buf = values.values().as_ptr() as *mut c_void;
            (*view).len = (values.len() * size_of::<i64>()) as ffi::Py_ssize_t;
            (*view).readonly = 1;
            (*view).itemsize = size_of::<i64>() as ffi::Py_ssize_t;
            (*view).format =
                if asked(ffi::PyBUF_FORMAT) { c"q".as_ptr().cast_mut() } else { std::ptr::null_mut() };
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

/// What `match_many` and its kin return.
#[pyclass(frozen, module = "tamis._native")]
pub struct NativeMatches {
    offsets: ArrayRef,
    ids: ArrayRef,
    /// The ids themselves where integers and strings are mixed: `ids` then holds their texts.
    mixed: Option<Vec<Id>>,
}

impl NativeMatches {
    pub fn new(matches: Matches) -> PyResult<NativeMatches> {
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
        Ok(NativeMatches { offsets: Arc::new(Int64Array::from(matches.offsets)), ids, mixed })
    }

    fn offsets(&self) -> &[i64] {
        self.offsets.as_primitive::<Int64Type>().values()
    }

    fn id<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyAny>> {
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
        self.offsets.len() - 1
    }

    /// The ids of one event; negative numbers count from the end.
    fn row<'py>(&self, py: Python<'py>, row: isize) -> PyResult<Bound<'py, PyList>> {
        let len = self.__len__() as isize;
        let row = if row < 0 { row + len } else { row };
        if !(0..len).contains(&row) {
            return Err(PyIndexError::new_err("event number out of range"));
        }
        let range = self.offsets()[row as usize] as usize..self.offsets()[row as usize + 1] as usize;
        let ids: Vec<_> = range.map(|at| self.id(py, at)).collect::<PyResult<_>>()?;
        PyList::new(py, ids)
    }

    fn offsets_array(&self) -> NativeArray {
        NativeArray::new(self.offsets.clone())
    }

    fn ids_array(&self) -> NativeArray {
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
        let mut events = Vec::with_capacity(self.ids.len());
        for (event, ends) in self.offsets().windows(2).enumerate() {
            events.resize(ends[1] as usize, event as i64);
        }
        let batch = |events| -> Result<RecordBatch, ArrowError> {
            let fields = vec![
                Field::new("event", arrow_schema::DataType::Int64, false),
                Field::new("id", self.ids.data_type().clone(), false),
            ];
            RecordBatch::try_new(
                Arc::new(Schema::new(fields)),
                vec![Arc::new(Int64Array::from(events)), self.ids.clone()],
            )
        };
        let batch = batch(events).map_err(unreadable)?;
        stream_capsule(py, batch.schema(), batch)
    }
}
