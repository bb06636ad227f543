//! The Python binding of the core: extracts inputs, releases the interpreter lock, calls the core, converts results.
//!
//! Private: users import the typed wrappers in `python/tamis`.

mod arrow;
mod dissection;
mod engines;
mod errors;
mod events;
mod expression;
mod forking;
mod id;
mod index;
mod interruption;
mod matches;
mod ranked;

use pyo3::prelude::*;

/// `tamis._native`.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::dissection::{NativeBatch, dissect};
    #[pymodule_export]
    use super::engines::engines;
    #[pymodule_export]
    use super::expression::{NativeExpression, join, parse};
    #[pymodule_export]
    use super::index::{NativeGroups, NativeIndex};
    #[pymodule_export]
    use super::matches::{NativeArray, NativeMatches};
    #[pymodule_export]
    use super::ranked::NativeRankedMatches;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::forking::register(module.py())
    }
}
