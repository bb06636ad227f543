//! Writing a container, one array after another.

use super::mapping::ALIGNMENT;
use super::sections::{BLOCK, ENTRY, HEADER, MAGIC, ORDER, SectionEntry, VERSION, checksum};
use bytemuck::Pod;
use std::io::{Error, Result, Seek, SeekFrom, Write};
use xxhash_rust::xxh3::xxh3_64;

/// A file, or bytes in memory.
pub(crate) trait Target: Write + Seek {}

impl<W: Write + Seek> Target for W {}

/// Writes a container into an empty target. The first error is stored and returned by [`SectionsWriter::finish`], so that
/// callers of [`SectionsWriter::put`] need not handle errors.
pub(crate) struct SectionsWriter<'w> {
    target: &'w mut dyn Target,
    /// Group of the next sections.
    group: u32,
    /// Entries of the sections written so far.
    table: Vec<SectionEntry>,
    /// Offset of the next section.
    offset: u64,
    /// The first error; nothing is written after it.
    fault: Option<Error>,
}

impl<'w> SectionsWriter<'w> {
    /// Begins with group 0.
    pub fn new(target: &'w mut dyn Target) -> SectionsWriter<'w> {
        // Overwritten by `finish`, which knows the lengths.
        let fault = target.write_all(&[0; HEADER]).err();
        SectionsWriter { target, group: 0, table: Vec::new(), offset: HEADER as u64, fault }
    }

    /// Sets the group of the sections that follow.
    pub fn group(&mut self, group: u32) {
        self.group = group;
    }

    /// Writes an array as a section. A tag occurs once per group.
    pub fn put<T: Pod>(&mut self, tag: u32, elements: &[T]) {
        if self.fault.is_none()
            && let Err(fault) = self.try_put(tag, size_of::<T>() as u32, bytemuck::cast_slice(elements))
        {
            self.fault = Some(fault);
        }
    }

    fn try_put(&mut self, tag: u32, element: u32, bytes: &[u8]) -> Result<()> {
        let whole = bytes.len() - bytes.len() % BLOCK;
        let mut sums: Vec<u64> = bytes[..whole].chunks(BLOCK).map(xxh3_64).collect();
        // The last block is copied, so that its hash includes the padding.
        let mut last = bytes[whole..].to_vec();
        last.resize(last.len().next_multiple_of(ALIGNMENT), 0);
        if !last.is_empty() {
            sums.push(xxh3_64(&last));
        }
        self.target.write_all(&bytes[..whole])?;
        self.target.write_all(&last)?;
        let (offset, length) = (self.offset, bytes.len() as u64);
        self.table.push(SectionEntry {
            group: self.group,
            tag,
            element,
            offset,
            length,
            checksum: checksum(&sums),
        });
        self.offset += (whole + last.len()) as u64;
        Ok(())
    }

    /// Writes table and header.
    pub fn finish(self) -> Result<()> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let table: Vec<u8> = self.table.iter().flat_map(|entry| entry.to_bytes()).collect();
        self.target.write_all(&table)?;
        let mut header = Vec::with_capacity(HEADER);
        header.extend(MAGIC);
        header.extend(VERSION.to_le_bytes());
        // Elements are written in the byte order of this machine, which `ORDER` records.
        header.extend(ORDER.to_ne_bytes());
        header.extend((self.offset + (self.table.len() * ENTRY) as u64).to_le_bytes());
        header.extend(self.offset.to_le_bytes());
        header.extend((self.table.len() as u64).to_le_bytes());
        header.extend(xxh3_64(&table).to_le_bytes());
        header.extend(0u64.to_le_bytes());
        header.extend(xxh3_64(&header).to_le_bytes());
        self.target.seek(SeekFrom::Start(0))?;
        self.target.write_all(&header)
    }
}
