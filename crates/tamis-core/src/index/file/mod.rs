//! An index as bytes, and back. `docs/file-format.md` has both formats byte by byte.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `first_format` | how are the texts of an engine that changes in place written? |
//! | `codec` | how do settings and ids become bytes? |
//!
//! Segments are written as they are, in the container of [`storage`](crate::storage); `segmented/file.rs` says what is
//! in it.

mod codec;
pub(super) mod first_format;

pub(super) use codec::{Reader, Writer};

use super::segmented::Segmented;
use super::{Index, Settings};
use crate::engine::registry;
use crate::error::{Error, Result};
use crate::storage::{self, MAGIC, Mapping, Sections};
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers the files written aside.
static SAVES: AtomicU64 = AtomicU64::new(0);

impl Index {
    /// The index as bytes: those of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        // Memory takes whatever is written.
        let _ = self.backing.write(&self.settings, &mut bytes);
        bytes.into_inner()
    }

    /// The index that [`Index::to_bytes`] wrote. The error says what is wrong with the bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Index, String> {
        match version(bytes)? {
            storage::VERSION => Index::from_sections(Mapping::from_bytes(bytes)),
            _ => first_format::from_bytes(bytes),
        }
    }

    /// Writes the index to a file: aside first, then under its name, so that a crash leaves the old or the new.
    pub fn save(&self, path: &Path) -> Result<()> {
        let fault = |error: std::io::Error| Error::File { path: path.into(), message: error.to_string() };
        let mut aside = path.as_os_str().to_owned();
        // Two threads that save to one path must not write into each other's file.
        aside.push(format!(".{}.{}.tmp", std::process::id(), SAVES.fetch_add(1, Ordering::Relaxed)));
        let write = || {
            let mut file = File::create(&aside)?;
            self.backing.write(&self.settings, &mut file)?;
            file.sync_all()?;
            std::fs::rename(&aside, path)?;
            // The rename itself is durable once the folder is; where folders cannot be opened, it need not be.
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
                let _ = folder.sync_all();
            }
            Ok(())
        };
        write().map_err(|error| {
            let _ = std::fs::remove_file(&aside);
            fault(error)
        })
    }

    /// Reads the index a file holds. Segments are mapped, not read: the file may be replaced meanwhile, but must not be
    /// written to.
    pub fn load(path: &Path) -> Result<Index> {
        let fault = |message: String| Error::File { path: path.into(), message };
        let unreadable = |error: std::io::Error| fault(error.to_string());
        let mut start = Vec::new();
        let file = File::open(path).map_err(unreadable)?;
        file.take(MAGIC.len() as u64 + 4).read_to_end(&mut start).map_err(unreadable)?;
        match version(&start).map_err(fault)? {
            storage::VERSION => Index::from_sections(Mapping::open(path).map_err(unreadable)?).map_err(fault),
            _ => Index::from_bytes(&std::fs::read(path).map_err(unreadable)?).map_err(fault),
        }
    }

    fn from_sections(mapping: Mapping) -> Result<Index, String> {
        let sections = Sections::open(mapping)?;
        let settings: Settings = Segmented::settings(&sections)?;
        settings.limits.check().map_err(|error| error.to_string())?;
        let engine_info = registry::segmented();
        engine_info.check(&settings.options).map_err(|error| error.to_string())?;
        let backing = Box::new(Segmented::open(&sections, &settings)?);
        Ok(Index { settings, engine_info, backing })
    }
}

/// The format version of what begins with these bytes: one that is known.
fn version(bytes: &[u8]) -> Result<u32, String> {
    let mut start = Reader(bytes);
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
