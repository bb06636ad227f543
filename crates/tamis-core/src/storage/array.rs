//! Immutable typed arrays, owned or mapped, behind one type.

use super::mapping::Mapping;
use bytemuck::Pod;
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// An array that does not change. Copies share the elements.
///
/// Dereferencing a mapped array derives the slice each time, which takes 2 ns: inner loops keep the result of
/// [`as_slice`](Array::as_slice). A pointer stored beside the mapping would save that, at the price of more `unsafe`.
pub(crate) struct Array<T>(Elements<T>);

enum Elements<T> {
    /// Elements in memory.
    Owned(Arc<Vec<T>>),
    /// A byte range of the mapping. In bounds, aligned for `T`, and a multiple of its size: checked in [`Array::mapped`].
    Mapped(Arc<Mapping>, Range<usize>),
}

impl<T: Pod> Array<T> {
    /// The elements in these bytes of a mapping.
    pub fn mapped(mapping: &Arc<Mapping>, bytes: Range<usize>) -> Result<Array<T>, String> {
        let range = mapping.bytes().get(bytes.clone()).ok_or("an array reaches past the end of the file")?;
        match bytemuck::try_cast_slice::<u8, T>(range) {
            Ok(_) => Ok(Array(Elements::Mapped(mapping.clone(), bytes))),
            Err(error) => Err(format!("{} bytes at {} are no array: {error}", range.len(), bytes.start)),
        }
    }

    /// The elements.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        match &self.0 {
            Elements::Owned(elements) => elements,
            Elements::Mapped(mapping, bytes) => bytemuck::cast_slice(&mapping.bytes()[bytes.clone()]),
        }
    }

    /// Bytes in use, mapped ones included.
    pub fn memory(&self) -> usize {
        match &self.0 {
            Elements::Owned(elements) => elements.capacity() * size_of::<T>(),
            Elements::Mapped(_, bytes) => bytes.len(),
        }
    }
}

impl<T: Pod> Deref for Array<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.as_slice()
    }
}

impl<T> From<Vec<T>> for Array<T> {
    /// Frees the spare capacity: the array never grows.
    fn from(mut elements: Vec<T>) -> Array<T> {
        elements.shrink_to_fit();
        Array(Elements::Owned(Arc::new(elements)))
    }
}

impl<T> Clone for Array<T> {
    fn clone(&self) -> Array<T> {
        Array(match &self.0 {
            Elements::Owned(elements) => Elements::Owned(elements.clone()),
            Elements::Mapped(mapping, bytes) => Elements::Mapped(mapping.clone(), bytes.clone()),
        })
    }
}

impl<T> Default for Array<T> {
    fn default() -> Array<T> {
        Array::from(Vec::new())
    }
}

impl<T: Pod + fmt::Debug> fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}
