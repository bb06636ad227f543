//! Events of Python as sources that the core reads.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `mappings` | how is a mapping read into event rows? |
//! | `scalars` | what are decimals, UUIDs and members of enumerations? |
//! | `json` | which texts are in a `str`, `bytes` or list of them? |
//! | `weights` | what do the attributes of events count? |
//!
//! Mappings are read while the interpreter is attached. JSON and Arrow data are read by the core, detached.

mod json;
mod mappings;
mod scalars;
mod weights;

pub use json::{JsonEvents, json_text};
pub use mappings::MappingSource;
pub use scalars::{ScalarKind, scalar_kind};
pub use weights::{Weights, event_weights};

use pyo3::prelude::*;

/// The name of an object's type, for errors.
fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "an unknown type".into(), |name| name.to_string())
}
