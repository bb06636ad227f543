//! Opening a file: which file, under whose limits, and what is checked.
//!
//! A file is opened once; every check and every read uses that handle, so a file that is replaced meanwhile is either the
//! old one or the new one.
//!
//! The reader's limits rule, not those in the file: the author of a file could set any. A file is refused if a rule exceeds
//! them. Rules are parsed for that only if the file was saved under larger limits; a rule that exceeds the limits its own
//! file states is refused when its text is parsed, by a merge or an explanation.
//!
//! What is checked by default: every checksum, and that every offset and number of the structure stays in its array and is
//! reached once, so that work and memory are proportional to the file. Whether the structure finds what the texts of the
//! rules say is not checked: with [`LoadOptions::verify`] it is not used at all.

use super::{ByteReader, first_format};
use crate::engine::registry::Registry;
use crate::error::{Error, Result};
use crate::expr::Limits;
use crate::index::segmented::Segmented;
use crate::index::{Index, Settings, Source};
use crate::storage::{self, MAGIC, Mapping, Sections};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// How a file is loaded.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// What rules are accepted. `None` for the default limits, or the file's where these are smaller.
    pub limits: Option<Limits>,
    /// Maps the file, which other processes share and nobody may write to; otherwise it is read into memory.
    pub mmap: bool,
    /// Takes only settings, ids and texts from the file and builds the rest again.
    pub verify: bool,
}

impl Default for LoadOptions {
    fn default() -> LoadOptions {
        LoadOptions { limits: None, mmap: true, verify: false }
    }
}

impl LoadOptions {
    /// Replaces the limits of a file by the reader's. Returns whether the file allowed larger rules than the reader.
    pub(super) fn restrict(&self, settings: &mut Settings) -> Result<bool, String> {
        let stored = settings.limits;
        settings.limits = self.limits.unwrap_or_else(|| {
            let mut limits = Limits::default();
            limits.max_length = limits.max_length.min(stored.max_length);
            limits.max_depth = limits.max_depth.min(stored.max_depth);
            limits.max_regex_size = limits.max_regex_size.min(stored.max_regex_size);
            limits.max_dnf = limits.max_dnf.min(stored.max_dnf);
            limits
        });
        settings.limits.check().map_err(|error| error.to_string())?;
        let Limits { max_length, max_depth, max_regex_size, .. } = settings.limits;
        // Each pattern is compiled under the reader's limit; those of one rule together are bounded as well.
        Ok(stored.max_length > max_length
            || stored.max_depth > max_depth
            || stored.max_regex_size > max_regex_size)
    }
}

/// Says how a limit is raised, behind a message that names it.
pub(super) fn with_remedy(message: &str) -> String {
    let named = ["max_length", "max_depth", "max_regex_size", "max_dnf"];
    let Some(limit) = named.into_iter().find(|limit| message.contains(limit)) else {
        return message.to_owned();
    };
    // Further lines show the place in the text.
    let (first, place) = message.split_at(message.find('\n').unwrap_or(message.len()));
    format!("{first}; if you trust the file, load it with a larger limit: limits=Limits({limit}=...){place}")
}

impl Index {
    /// The index that [`Index::to_bytes`] wrote, with an engine of this crate. The error says what is wrong with the
    /// bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Index, String> {
        Index::from_bytes_with(bytes, &LoadOptions::default())
    }

    /// As [`Index::from_bytes`], under given limits.
    pub fn from_bytes_with(bytes: &[u8], options: &LoadOptions) -> Result<Index, String> {
        Index::from_bytes_with_registry(Registry::CORE, bytes, options)
    }

    /// As [`Index::from_bytes_with`], with an engine of a registry.
    pub fn from_bytes_with_registry(
        registry: &'static Registry,
        bytes: &[u8],
        options: &LoadOptions,
    ) -> Result<Index, String> {
        match version(bytes)? {
            storage::FIRST_VERSION..=storage::VERSION => {
                Index::from_sections(registry, Mapping::from_bytes(bytes), options)
            }
            _ => first_format::from_bytes(registry, bytes, options),
        }
    }

    /// Opens the index in a file. Segments are mapped, not read: the file may be replaced later, but must not be written
    /// to in place.
    pub fn load(path: &Path) -> Result<Index> {
        Index::load_with(path, &LoadOptions::default())
    }

    /// As [`Index::load`], under given limits, mapped or not.
    pub fn load_with(path: &Path, options: &LoadOptions) -> Result<Index> {
        Index::load_with_registry(Registry::CORE, path, options)
    }

    /// As [`Index::load_with`], with an engine of a registry.
    pub fn load_with_registry(
        registry: &'static Registry,
        path: &Path,
        options: &LoadOptions,
    ) -> Result<Index> {
        let fault = |message: String| Error::File { path: path.into(), message };
        let unreadable = |error: std::io::Error| fault(error.to_string());
        let file = File::open(path).map_err(unreadable)?;
        let mut bytes = Vec::new();
        (&file).take(MAGIC.len() as u64 + 4).read_to_end(&mut bytes).map_err(unreadable)?;
        match version(&bytes).map_err(fault)? {
            storage::FIRST_VERSION..=storage::VERSION => {
                let mapping = match options.mmap {
                    true => Mapping::of_file(&file, &bytes),
                    false => Mapping::in_memory(&file, &bytes),
                };
                Index::from_sections(registry, mapping.map_err(unreadable)?, options).map_err(fault)
            }
            _ => {
                (&file).read_to_end(&mut bytes).map_err(unreadable)?;
                first_format::from_bytes(registry, &bytes, options).map_err(fault)
            }
        }
    }

    fn from_sections(
        registry: &'static Registry,
        mapping: Mapping,
        options: &LoadOptions,
    ) -> Result<Index, String> {
        let sections = Sections::open(mapping)?;
        let mut settings: Settings = Segmented::settings(&sections)?;
        let parse_all = options.restrict(&mut settings)?;
        let engine_info = registry.segments().map_err(|error| error.to_string())?;
        let values = engine_info.resolve(&settings.options).map_err(|error| error.to_string())?;
        // All checksums fit: the content is damage from before it was written, or a draft of the format.
        let unreadable = |fault: String| {
            let version = sections.version();
            let fault = with_remedy(&fault);
            format!(
                "format version {version}, but not as tamis writes it: {fault}; build the index again from its rules"
            )
        };
        let segmented = Segmented::open(&sections, &settings, &values).map_err(unreadable)?;
        if parse_all && !options.verify {
            segmented.check_rules().map_err(|error| with_remedy(&error.to_string()))?;
        }
        let index = Index { settings, registry, engine_info, backend: Box::new(segmented) };
        if options.verify {
            index.rebuilt().map_err(|error| with_remedy(&error.to_string()))
        } else {
            Ok(index)
        }
    }

    /// An index of the same rules, built from their texts.
    fn rebuilt(&self) -> Result<Index> {
        let index = Index::with_registry(self.registry, self.settings.clone())?;
        let texts = self.ids().into_iter().map(|id| Ok((self.text(&id)?, id)));
        let rules: Vec<_> = texts.collect::<Result<_>>()?;
        index.add_many(rules.into_iter().map(|(text, id)| (id, Source::from(text.as_str()))))?;
        Ok(index)
    }
}

/// The format version in the first bytes of a file; an error if this version of tamis cannot read it.
fn version(bytes: &[u8]) -> Result<u32, String> {
    let mut start = ByteReader(bytes);
    if start.take(MAGIC.len()).ok() != Some(MAGIC.as_slice()) {
        return Err("not a tamis index".into());
    }
    match start.u32()? {
        known @ (first_format::VERSION | storage::FIRST_VERSION..=storage::VERSION) => Ok(known),
        other => {
            let (first, last) = (first_format::VERSION, storage::VERSION);
            Err(format!("format version {other}; this version of tamis reads {first} to {last}"))
        }
    }
}
