//! An index that is dropped detached from the interpreter.
//!
//! Dropping an index waits for its merging thread, and during a fork for the end of the fork. The forking thread needs the
//! interpreter to end it, so whoever waits must not hold the interpreter.

use pyo3::prelude::*;
use std::ops::Deref;
use tamis_core::index::Index;

/// See the module's head.
pub struct OwnedIndex(Option<Index>);

impl From<Index> for OwnedIndex {
    fn from(index: Index) -> OwnedIndex {
        OwnedIndex(Some(index))
    }
}

impl Deref for OwnedIndex {
    type Target = Index;

    fn deref(&self) -> &Index {
        match &self.0 {
            Some(index) => index,
            None => unreachable!("taken only by drop"),
        }
    }
}

impl Drop for OwnedIndex {
    fn drop(&mut self) {
        let index = self.0.take();
        Python::attach(|py| py.detach(|| drop(index)));
    }
}
