//! Format 1: texts behind a checksum. Loading parses them and inserts them into an engine that changes in place.
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
//! The payload: the engine's name; one byte, 1 for `missing="false"`; the four limits in 8 bytes each; the number of
//! options in 4 bytes and each as name, tag (0 bool, 1 int, 2 float, 3 text) and value; the number of subscriptions in
//! 8 bytes and each, in order of insertion, as tag (0 int, 1 text), id and expression.
//!
//! The file holds no structure of the engine, so any engine can be filled from it.

use super::codec::{ByteReader, ByteWriter};
use super::loading::{LoadOptions, with_remedy};
use crate::engine::registry::Registry;
use crate::index::{Id, Index, Settings, Source};
use crate::storage::MAGIC;
use xxhash_rust::xxh3::xxh3_64;

pub(super) const VERSION: u32 = 1;
const HEADER: usize = 32;

/// An index as bytes: `count` subscriptions in order of insertion.
pub(in crate::index) fn to_bytes<'s>(
    settings: &Settings,
    count: usize,
    subscriptions: impl Iterator<Item = (&'s Id, &'s str)>,
) -> Vec<u8> {
    let mut payload = ByteWriter::default();
    payload.settings(settings);
    payload.u64(count as u64);
    for (id, text) in subscriptions {
        payload.id(id);
        payload.text(text);
    }
    let payload = payload.0;
    let mut file = ByteWriter(Vec::with_capacity(HEADER + payload.len()));
    file.0.extend(MAGIC);
    file.u32(VERSION);
    file.u32(0);
    file.u64(payload.len() as u64);
    file.u64(xxh3_64(&payload));
    file.0.extend(payload);
    file.0
}

/// The index that bytes with this magic and version hold.
pub(super) fn from_bytes(
    registry: &'static Registry,
    bytes: &[u8],
    options: &LoadOptions,
) -> Result<Index, String> {
    let mut header = ByteReader(bytes);
    header.take(MAGIC.len() + 4)?;
    if header.u32()? != 0 {
        return Err("the header is damaged".into());
    }
    let (length, checksum) = (header.u64()?, header.u64()?);
    if length != header.0.len() as u64 {
        let found = header.0.len();
        return Err(format!("{length} bytes of content announced, {found} found: truncated or extended"));
    }
    if xxh3_64(header.0) != checksum {
        return Err("the checksum does not fit the content: the file is damaged".into());
    }
    let mut payload = ByteReader(header.0);
    let mut settings = payload.settings()?;
    options.restrict(&mut settings)?;
    let index = Index::with_registry(registry, settings).map_err(|error| error.to_string())?;
    let count = payload.u64()?;
    let mut fault = None;
    let entries = (0..count).map_while(|_| match subscription(&mut payload) {
        Ok(entry) => Some(entry),
        Err(error) => {
            fault = Some(error);
            None
        }
    });
    index.add_many(entries).map_err(|error| with_remedy(&error.to_string()))?;
    match (fault, payload.0.is_empty()) {
        (Some(fault), _) => Err(fault),
        (None, false) => Err("content left over after the last subscription".into()),
        (None, true) => Ok(index),
    }
}

fn subscription(payload: &mut ByteReader<'_>) -> Result<(Id, Source), String> {
    Ok((payload.id()?, Source::from(payload.text()?)))
}
