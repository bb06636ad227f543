//! An index as bytes, and back. `docs/file-format.md` has both formats byte by byte.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `loading` | how is a file opened, under whose limits, and what is checked? |
//! | `first_format` | how are the texts of an engine that changes in place written? |
//! | `codec` | how do settings and ids become bytes? |
//!
//! Segments are written without conversion, in the container of [`storage`](crate::storage); `segmented/file.rs` says which
//! sections.

mod codec;
pub(super) mod first_format;
mod loading;

pub(super) use codec::{ByteReader, ByteWriter};
pub use loading::LoadOptions;

use super::Index;
use crate::error::{Error, Result};
use crate::storage;
use std::io::Cursor;
use std::path::Path;

impl Index {
    /// The index as the bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        // Writing to memory does not fail.
        let _ = self.backend.write(&self.settings, &mut bytes);
        bytes.into_inner()
    }

    /// Writes the index to a temporary file and renames it, so that a crash leaves either the old file or the new one. A
    /// symbolic link and the mode of a replaced file stay; see [`storage::replace`].
    pub fn save(&self, path: &Path) -> Result<()> {
        storage::replace(path, |file| self.backend.write(&self.settings, file))
            .map_err(|error| Error::File { path: path.into(), message: error.to_string() })
    }
}
