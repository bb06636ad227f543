//! An index as bytes, and back.
//!
//! ```text
//! offset  bytes  content
//! 0       8      "tamis\0ix"
//! 8       4      format version, 1
//! 12      4      zero
//! 16      8      length of the payload
//! 24      8      xxh3-64 of the payload
//! 32      ...    payload
//! ```
//!
//! All numbers are little-endian; a string is its length in 4 bytes and its UTF-8. The payload: the engine's name;
//! one byte, 1 for `missing="false"`; the four limits in 8 bytes each; the number of options in 4 bytes and each as
//! name, tag (0 bool, 1 int, 2 float, 3 text) and value; the number of subscriptions in 8 bytes and each, in order of
//! insertion, as tag (0 int, 1 text), id and expression.
//!
//! Texts are parsed again on loading: the file holds what was asked for, not how an engine laid it out.

use super::{Id, Index, Settings, Source};
use crate::engine::registry::{OptionValue, Options};
use crate::error::{Error, Result};
use crate::expr::{Limits, Missing};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: &[u8; 8] = b"tamis\0ix";
const VERSION: u32 = 1;
const HEADER: usize = 32;

/// Numbers the files written aside.
static SAVES: AtomicU64 = AtomicU64::new(0);

impl Index {
    /// The index as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut payload = Writer(Vec::new());
        let Settings { engine, options, missing, limits } = &self.settings;
        payload.text(engine);
        payload.0.push(u8::from(*missing == Missing::False));
        for limit in [limits.max_length, limits.max_depth, limits.max_regex_size, limits.max_dnf] {
            payload.u64(limit as u64);
        }
        payload.u32(options.len() as u32);
        for (name, value) in options {
            payload.option(name, value);
        }
        let state = self.state.read();
        let subscriptions = state.subscriptions.in_order();
        payload.u64(subscriptions.len() as u64);
        for (_, subscription) in subscriptions {
            match &subscription.id {
                Id::Int(id) => {
                    payload.0.push(0);
                    payload.u64(*id as u64);
                }
                Id::Text(id) => {
                    payload.0.push(1);
                    payload.text(id);
                }
            }
            payload.text(&subscription.text);
        }
        let payload = payload.0;
        let mut file = Writer(Vec::with_capacity(HEADER + payload.len()));
        file.0.extend(MAGIC);
        file.u32(VERSION);
        file.u32(0);
        file.u64(payload.len() as u64);
        file.u64(xxh3_64(&payload));
        file.0.extend(payload);
        file.0
    }

    /// The index that [`Index::to_bytes`] wrote. The error says what is wrong with the bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Index, String> {
        let mut header = Reader(bytes);
        if header.take(MAGIC.len()).ok() != Some(MAGIC.as_slice()) {
            return Err("not a tamis index".into());
        }
        let (version, reserved) = (header.u32()?, header.u32()?);
        if version != VERSION {
            return Err(format!("format version {version}; this version of tamis reads {VERSION}"));
        }
        if reserved != 0 {
            return Err("the header is damaged".into());
        }
        let (length, checksum) = (header.u64()?, header.u64()?);
        if length != header.0.len() as u64 {
            return Err(format!(
                "{length} bytes of content announced, {} found: truncated or extended",
                header.0.len()
            ));
        }
        if xxh3_64(header.0) != checksum {
            return Err("the checksum does not fit the content: the file is damaged".into());
        }
        let mut payload = Reader(header.0);
        let settings = payload.settings()?;
        let index = Index::new(settings).map_err(|error| error.to_string())?;
        let count = payload.u64()?;
        let mut fault = None;
        let entries = (0..count).map_while(|_| match payload.subscription() {
            Ok(entry) => Some(entry),
            Err(error) => {
                fault = Some(error);
                None
            }
        });
        index.add_many(entries).map_err(|error| error.to_string())?;
        match (fault, payload.0.is_empty()) {
            (Some(fault), _) => Err(fault),
            (None, false) => Err("content left over after the last subscription".into()),
            (None, true) => Ok(index),
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
            file.write_all(&self.to_bytes())?;
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

    /// Reads the index a file holds.
    pub fn load(path: &Path) -> Result<Index> {
        let fault = |message: String| Error::File { path: path.into(), message };
        let bytes = std::fs::read(path).map_err(|error| fault(error.to_string()))?;
        Index::from_bytes(&bytes).map_err(fault)
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn u32(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.u32(text.len() as u32);
        self.0.extend(text.as_bytes());
    }

    fn option(&mut self, name: &str, value: &OptionValue) {
        self.text(name);
        match value {
            OptionValue::Bool(value) => self.0.extend([0, u8::from(*value)]),
            OptionValue::Int(value) => {
                self.0.push(1);
                self.u64(*value as u64);
            }
            OptionValue::Float(value) => {
                self.0.push(2);
                self.u64(value.to_bits());
            }
            OptionValue::Text(value) => {
                self.0.push(3);
                self.text(value);
            }
        }
    }
}

/// Reads from the front; every length is checked against what is left.
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take(&mut self, length: usize) -> Result<&'b [u8], String> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or("the file ends too early: truncated")?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.take(N)?);
        Ok(bytes)
    }

    fn u8(&mut self) -> Result<u8, String> {
        self.array().map(u8::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, String> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, String> {
        self.array().map(u64::from_le_bytes)
    }

    fn usize(&mut self) -> Result<usize, String> {
        usize::try_from(self.u64()?).map_err(|_| "a number too large for this machine".into())
    }

    fn text(&mut self) -> Result<&'b str, String> {
        let length = self.u32()? as usize;
        std::str::from_utf8(self.take(length)?).map_err(|_| "a text that is not UTF-8".into())
    }

    fn settings(&mut self) -> Result<Settings, String> {
        let engine = self.text()?.to_owned();
        let missing = match self.u8()? {
            0 => Missing::Unknown,
            1 => Missing::False,
            other => return Err(format!("unknown setting of missing: {other}")),
        };
        let limits = Limits {
            max_length: self.usize()?,
            max_depth: self.usize()?,
            max_regex_size: self.usize()?,
            max_dnf: self.usize()?,
        };
        let mut options = Options::new();
        for _ in 0..self.u32()? {
            let name = self.text()?.to_owned();
            let value = match self.u8()? {
                0 => OptionValue::Bool(self.u8()? != 0),
                1 => OptionValue::Int(self.u64()? as i64),
                2 => OptionValue::Float(f64::from_bits(self.u64()?)),
                3 => OptionValue::Text(self.text()?.to_owned()),
                other => return Err(format!("unknown kind of option: {other}")),
            };
            options.insert(name, value);
        }
        Ok(Settings { engine, options, missing, limits })
    }

    fn subscription(&mut self) -> Result<(Id, Source), String> {
        let id = match self.u8()? {
            0 => Id::Int(self.u64()? as i64),
            1 => Id::from(self.text()?),
            other => return Err(format!("unknown kind of id: {other}")),
        };
        Ok((id, Source::from(self.text()?)))
    }
}
