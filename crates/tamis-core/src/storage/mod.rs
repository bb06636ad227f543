//! Arrays that live in memory or in a mapped file, and the container that holds many of them.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `mapping` | how are the bytes of a file mapped into memory? |
//! | `array` | how is a range of them a typed array? |
//! | `sections` | which arrays are in the file, at which offsets, and are they undamaged? |
//! | `writer` | how is a file of arrays written? |
//! | `replacement` | how does a file take the place of another as a whole? |
//!
//! A structure whose state is in [`Array`]s is saved by passing each to [`SectionsWriter::put`], and opened by
//! [`Sections::take`] for each: nothing is parsed, copied or built.

mod array;
mod mapping;
mod replacement;
mod sections;
mod writer;

pub(crate) use array::Array;
pub(crate) use mapping::Mapping;
pub(crate) use replacement::replace;
pub(crate) use sections::{FIRST_VERSION, MAGIC, Sections, VERSION};
pub(crate) use writer::{SectionsWriter, Target};
