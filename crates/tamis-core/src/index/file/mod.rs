//! An index as bytes, and back. `docs/file-format.md` has both formats byte by byte.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `first_format` | how are the texts of an engine that changes in place written? |
//! | `codec` | how do settings and ids become bytes? |
//!
//! Segments are written without conversion, in the container of [`storage`](crate::storage); `segmented/file.rs` says which
//! sections.

mod codec;
pub(super) mod first_format;

pub(super) use codec::{ByteReader, ByteWriter};

use super::segmented::Segmented;
use super::{Index, Settings};
use crate::engine::registry::Registry;
use crate::error::{Error, Result};
use crate::storage::{self, MAGIC, Mapping, Sections};
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of saves of this process: makes the names of temporary files distinct.
static SAVES: AtomicU64 = AtomicU64::new(0);

impl Index {
    /// The index as the bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        // Writing to memory does not fail.
        let _ = self.backend.write(&self.settings, &mut bytes);
        bytes.into_inner()
    }

    /// The index that [`Index::to_bytes`] wrote, with an engine of this crate. The error says what is wrong with the
    /// bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Index, String> {
        Index::from_bytes_with_registry(Registry::CORE, bytes)
    }

    /// As [`Index::from_bytes`], with an engine of a registry.
    pub fn from_bytes_with_registry(registry: &'static Registry, bytes: &[u8]) -> Result<Index, String> {
        match version(bytes)? {
            storage::VERSION => Index::from_sections(registry, Mapping::from_bytes(bytes)),
            _ => first_format::from_bytes(registry, bytes),
        }
    }

    /// Writes the index to a temporary file and renames it, so that a crash leaves either the old file or the new one.
    pub fn save(&self, path: &Path) -> Result<()> {
        let fault = |error: std::io::Error| Error::File { path: path.into(), message: error.to_string() };
        let mut temporary = path.as_os_str().to_owned();
        // Threads that save to the same path must not share a temporary file.
        temporary.push(format!(".{}.{}.tmp", std::process::id(), SAVES.fetch_add(1, Ordering::Relaxed)));
        let write = || {
            let mut file = File::create(&temporary)?;
            self.backend.write(&self.settings, &mut file)?;
            file.sync_all()?;
            std::fs::rename(&temporary, path)?;
            // The rename is durable once the folder is synced. Some systems cannot open folders; they need no sync.
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
                let _ = folder.sync_all();
            }
            Ok(())
        };
        write().map_err(|error| {
            let _ = std::fs::remove_file(&temporary);
            fault(error)
        })
    }

    /// Opens the index in a file. Segments are mapped, not read: the file may be replaced later, but must not be written
    /// to in place.
    pub fn load(path: &Path) -> Result<Index> {
        Index::load_with_registry(Registry::CORE, path)
    }

    /// As [`Index::load`], with an engine of a registry.
    pub fn load_with_registry(registry: &'static Registry, path: &Path) -> Result<Index> {
        let fault = |message: String| Error::File { path: path.into(), message };
        let unreadable = |error: std::io::Error| fault(error.to_string());
        let mut start = Vec::new();
        let file = File::open(path).map_err(unreadable)?;
        file.take(MAGIC.len() as u64 + 4).read_to_end(&mut start).map_err(unreadable)?;
        match version(&start).map_err(fault)? {
            storage::VERSION => {
                Index::from_sections(registry, Mapping::open(path).map_err(unreadable)?).map_err(fault)
            }
            _ => {
                let bytes = std::fs::read(path).map_err(unreadable)?;
                Index::from_bytes_with_registry(registry, &bytes).map_err(fault)
            }
        }
    }

    fn from_sections(registry: &'static Registry, mapping: Mapping) -> Result<Index, String> {
        let sections = Sections::open(mapping)?;
        let settings: Settings = Segmented::settings(&sections)?;
        settings.limits.check().map_err(|error| error.to_string())?;
        let engine_info = registry.segments().map_err(|error| error.to_string())?;
        let options = engine_info.resolve(&settings.options).map_err(|error| error.to_string())?;
        // All checksums fit: the content is damage from before it was written, or a draft of the format.
        let unreadable = |fault| {
            let version = storage::VERSION;
            format!(
                "format version {version}, but not as tamis writes it: {fault}; build the index again from its rules"
            )
        };
        let backend = Box::new(Segmented::open(&sections, &settings, &options).map_err(unreadable)?);
        Ok(Index { settings, registry, engine_info, backend })
    }
}

/// The format version in the first bytes of a file; an error if this version of tamis cannot read it.
fn version(bytes: &[u8]) -> Result<u32, String> {
    let mut start = ByteReader(bytes);
    if start.take(MAGIC.len()).ok() != Some(MAGIC.as_slice()) {
        return Err("not a tamis index".into());
    }
    match start.u32()? {
        known @ (first_format::VERSION | storage::VERSION) => Ok(known),
        other => {
            let (first, last) = (first_format::VERSION, storage::VERSION);
            Err(format!("format version {other}; this version of tamis reads {first} and {last}"))
        }
    }
}
