//! Arrays that live in memory or in a mapped file, and the container that holds many of them.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `mapping` | how do the bytes of a file get into memory without being read? |
//! | `array` | how is a stretch of them a typed array? |
//! | `sections` | which arrays are in the file, where, and are they whole? |
//! | `writer` | how are they written? |
//!
//! A structure that keeps its state in [`Array`]s is written by handing them to a [`SectionsWriter`] one by one, and is
//! there again after [`Sections::take`] for each: nothing is parsed, copied or built.

mod array;
mod mapping;
mod sections;
mod writer;

pub(crate) use array::Array;
pub(crate) use mapping::Mapping;
pub(crate) use sections::{MAGIC, Sections, VERSION};
pub(crate) use writer::{SectionsWriter, Target};
