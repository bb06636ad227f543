//! The container: tagged arrays in one file.
//!
//! ```text
//! offset  bytes  content
//! 0       8      "tamis\0ix"
//! 8       4      format version, 2 or 3
//! 12      4      0x0A0B0C0D in the writer's byte order
//! 16      8      length of the file
//! 24      8      offset of the table
//! 32      8      number of sections, each an entry of the table
//! 40      8      xxh3-64 of the table
//! 48      8      zero
//! 56      8      xxh3-64 of the 56 bytes before
//! 64      ...    sections, each at a multiple of 64 and followed by zeros up to the next one
//! ...     40 each, the table: group (4), tag (4), bytes of an element (4), zero (4), offset (8), length (8), checksum (8)
//! ```
//!
//! Sections follow each other without a gap and the table follows the last, so every byte of the file is under one
//! checksum. That of a section is the xxh3-64 of the xxh3-64s (8 bytes each) of its blocks of 1 MiB, zeros behind it
//! included: so all cores can check one large section.
//!
//! Groups tell sections with the same tag apart: a file holds several structures of one kind.

use super::array::Array;
use super::mapping::{ALIGNMENT, Mapping};
use bytemuck::Pod;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use xxhash_rust::xxh3::xxh3_64;

/// The first 8 bytes of every file of tamis.
pub(crate) const MAGIC: &[u8; 8] = b"tamis\0ix";
/// The format version that is written.
pub(crate) const VERSION: u32 = 3;
/// The first format version of the container. Version 3 has more sections and bits of the arena; see `docs/file-format.md`.
pub(crate) const FIRST_VERSION: u32 = 2;
/// Written in the byte order of the machine; reads as another number where that order differs.
pub(super) const ORDER: u32 = 0x0A0B_0C0D;
/// Bytes of the header.
pub(super) const HEADER: usize = 64;
/// Bytes of a table entry.
pub(super) const ENTRY: usize = 40;
/// Bytes per hashed block.
pub(super) const BLOCK: usize = 1 << 20;

/// An entry of the table: one section.
#[derive(Clone, Copy, Debug)]
pub(super) struct SectionEntry {
    /// The structure that the section belongs to.
    pub group: u32,
    /// What the section holds; unique within its group.
    pub tag: u32,
    /// Bytes per element.
    pub element: u32,
    /// First byte in the file; a multiple of [`ALIGNMENT`].
    pub offset: u64,
    /// Bytes, without padding.
    pub length: u64,
    /// See the module's head.
    pub checksum: u64,
}

impl SectionEntry {
    pub fn to_bytes(self) -> [u8; ENTRY] {
        let mut bytes = [0; ENTRY];
        bytes[0..4].copy_from_slice(&self.group.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.tag.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.element.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.offset.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.length.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.checksum.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Result<SectionEntry, String> {
        if u32_at(bytes, 12) != 0 {
            return Err("a line of the table is damaged".into());
        }
        Ok(SectionEntry {
            group: u32_at(bytes, 0),
            tag: u32_at(bytes, 4),
            element: u32_at(bytes, 8),
            offset: u64_at(bytes, 16),
            length: u64_at(bytes, 24),
            checksum: u64_at(bytes, 32),
        })
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
}

/// The length with padding; `None` on overflow.
pub(super) fn padded(length: u64) -> Option<u64> {
    length.checked_next_multiple_of(ALIGNMENT as u64)
}

/// The checksum of a section from those of its blocks.
pub(super) fn checksum(blocks: &[u64]) -> u64 {
    let bytes: Vec<u8> = blocks.iter().flat_map(|block| block.to_le_bytes()).collect();
    xxh3_64(&bytes)
}

/// The sections of one group. Cheap to copy.
#[derive(Clone)]
pub(crate) struct Sections {
    container: Arc<Container>,
    group: u32,
}

struct Container {
    mapping: Arc<Mapping>,
    /// The format version.
    version: u32,
    entries: FxHashMap<(u32, u32), SectionEntry>,
}

impl Sections {
    /// Opens a container and checks every byte of it; gives group 0.
    pub fn open(mapping: Mapping) -> Result<Sections, String> {
        if cfg!(target_endian = "big") {
            return Err("the file is little-endian, this machine is not: it cannot be mapped here".into());
        }
        let bytes = mapping.bytes();
        let table = table(bytes)?;
        check(bytes, &table)?;
        let mut entries = FxHashMap::default();
        for entry in table {
            if entries.insert((entry.group, entry.tag), entry).is_some() {
                return Err(format!("section {} of group {} occurs twice", entry.tag, entry.group));
            }
        }
        let version = u32_at(bytes, 8);
        let container = Arc::new(Container { mapping: Arc::new(mapping), version, entries });
        Ok(Sections { container, group: 0 })
    }

    /// The sections of another group.
    pub fn group(&self, group: u32) -> Sections {
        Sections { container: self.container.clone(), group }
    }

    /// The format version of the file.
    pub fn version(&self) -> u32 {
        self.container.version
    }

    /// The array with this tag.
    pub fn take<T: Pod>(&self, tag: u32) -> Result<Array<T>, String> {
        let Container { mapping, entries, .. } = &*self.container;
        let named = |what: String| format!("section {tag} of group {}: {what}", self.group);
        let entry = entries.get(&(self.group, tag)).ok_or_else(|| named("not in the file".into()))?;
        if entry.element as usize != size_of::<T>() {
            let message = format!("elements of {} bytes, not {}", entry.element, size_of::<T>());
            return Err(named(message));
        }
        let start = entry.offset as usize;
        Array::mapped(mapping, start..start + entry.length as usize).map_err(named)
    }
}

/// Reads the header and the table, and checks that the sections fill the bytes between them.
fn table(bytes: &[u8]) -> Result<Vec<SectionEntry>, String> {
    if bytes.get(..MAGIC.len()) != Some(MAGIC.as_slice()) {
        return Err("not a tamis index".into());
    }
    let header = bytes.get(..HEADER).ok_or("the file ends within its header: truncated")?;
    let version = u32_at(header, 8);
    if !(FIRST_VERSION..=VERSION).contains(&version) {
        return Err(format!("format version {version}; expected {FIRST_VERSION} to {VERSION}"));
    }
    if xxh3_64(&header[..56]) != u64_at(header, 56) || u64_at(header, 48) != 0 {
        return Err("the header is damaged".into());
    }
    if u32_at(header, 12) != ORDER {
        return Err("written on a machine with another order of bytes: it cannot be mapped here".into());
    }
    let (length, offset, count) = (u64_at(header, 16), u64_at(header, 24), u64_at(header, 32));
    if length != bytes.len() as u64 {
        let found = bytes.len();
        return Err(format!("{length} bytes announced, {found} found: truncated or extended"));
    }
    let size = count.checked_mul(ENTRY as u64);
    if size.and_then(|size| offset.checked_add(size)) != Some(length) || offset < HEADER as u64 {
        return Err("the table of sections does not end the file".into());
    }
    let table = &bytes[offset as usize..];
    if xxh3_64(table) != u64_at(header, 40) {
        return Err("the table of sections is damaged".into());
    }
    let entries: Vec<SectionEntry> =
        table.chunks_exact(ENTRY).map(SectionEntry::from_bytes).collect::<Result<_, _>>()?;
    let mut end = Some(HEADER as u64);
    for entry in &entries {
        if Some(entry.offset) != end {
            return Err(format!("section {} of group {} is out of place", entry.tag, entry.group));
        }
        end = padded(entry.length).and_then(|length| entry.offset.checked_add(length));
        if end.is_none_or(|end| end > offset) {
            return Err(format!("section {} of group {} is too long", entry.tag, entry.group));
        }
    }
    if end != Some(offset) {
        return Err("there is something between the sections and their table".into());
    }
    Ok(entries)
}

/// Compares the checksum of every section, on all cores. The hash is faster than memory: 250 MB take 30 to 35 ms on two
/// cores whose memory gives 8 GB/s.
fn check(bytes: &[u8], table: &[SectionEntry]) -> Result<(), String> {
    let section = |entry: &SectionEntry| {
        let start = entry.offset as usize;
        &bytes[start..start + padded(entry.length).unwrap_or(0) as usize]
    };
    let blocks: Vec<&[u8]> = table.iter().flat_map(|entry| section(entry).chunks(BLOCK)).collect();
    let sums = hash_all(&blocks);
    let mut sums = sums.as_slice();
    for entry in table {
        let (own, others) = sums.split_at(section(entry).len().div_ceil(BLOCK));
        sums = others;
        if checksum(own) != entry.checksum {
            return Err(format!(
                "the checksum of section {} of group {} does not fit: the file is damaged",
                entry.tag, entry.group
            ));
        }
    }
    Ok(())
}

/// The hash of every block, in order.
fn hash_all(blocks: &[&[u8]]) -> Vec<u64> {
    /// Minimum blocks per thread: hashing fewer takes less time than starting one.
    const MIN_BLOCKS: usize = 4;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let helpers = (cores - 1).min(blocks.len() / MIN_BLOCKS);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((at, block)) = next_of(&next, blocks) {
            done.push((at, xxh3_64(block)));
        }
        done
    };
    let mut sums = vec![0; blocks.len()];
    std::thread::scope(|scope| {
        // If the system refuses a thread, the others hash its blocks.
        let spawn = |_| std::thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (0..helpers).filter_map(spawn).collect();
        let mut done = work();
        for other in others {
            match other.join() {
                Ok(more) => done.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done.into_iter().for_each(|(at, sum)| sums[at] = sum);
    });
    sums
}

fn next_of<'b>(next: &AtomicUsize, blocks: &[&'b [u8]]) -> Option<(usize, &'b [u8])> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    blocks.get(at).map(|block| (at, *block))
}

#[cfg(test)]
mod tests {
    use super::super::SectionsWriter;
    use super::*;
    use std::fs::File;
    use std::io::{Cursor, Read};
    use std::path::Path;

    fn small() -> Vec<u8> {
        let mut file = Cursor::new(Vec::new());
        let mut writer = SectionsWriter::new(&mut file);
        writer.put(1, &[1u8, 2, 3]);
        writer.put(2, &[-1i64, i64::MAX]);
        writer.put::<u32>(3, &[]);
        writer.group(7);
        writer.put(1, &(0..300_000u32).collect::<Vec<_>>());
        writer.finish().expect("written");
        file.into_inner()
    }

    fn open(bytes: &[u8]) -> Result<Sections, String> {
        Sections::open(Mapping::from_bytes(bytes))
    }

    fn mapped(path: &Path) -> std::io::Result<Mapping> {
        Mapping::of_file(&File::open(path)?, &[])
    }

    #[test]
    fn what_is_put_is_taken() {
        let bytes = small();
        for shift in [0, 1, 33] {
            // Wherever the bytes lie, arrays are aligned.
            let shifted = [vec![0; shift], bytes.clone()].concat();
            let sections = open(&shifted[shift..]).expect("whole");
            assert_eq!(&*sections.take::<u8>(1).expect("there"), [1, 2, 3]);
            assert_eq!(&*sections.take::<i64>(2).expect("there"), [-1, i64::MAX]);
            assert!(sections.take::<u32>(3).expect("there").is_empty());
            let other = sections.group(7);
            assert!(other.take::<u32>(1).is_ok() && other.take::<u32>(2).is_err());
            assert_eq!(other.take::<u32>(1).expect("there")[299_999], 299_999);
        }
    }

    #[test]
    fn what_is_not_there_or_of_another_type_is_named() {
        let sections = open(&small()).expect("whole");
        let message = sections.take::<u32>(9).expect_err("not there");
        assert_eq!(message, "section 9 of group 0: not in the file");
        let message = sections.take::<u32>(2).expect_err("another type");
        assert_eq!(message, "section 2 of group 0: elements of 8 bytes, not 4");
    }

    /// The middle of the large section stands for itself: all its bytes are alike.
    #[test]
    fn every_flipped_bit_and_every_truncation_is_refused() {
        let bytes = small();
        let large = 64 * 5 + 200..bytes.len() - 400;
        for at in (0..bytes.len()).filter(|at| !large.contains(at) || at % 9_973 == 0) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            assert!(open(&damaged).is_err(), "byte {at}");
            assert!(open(&bytes[..at]).is_err(), "{at} bytes");
        }
        assert!(open(&[bytes, vec![0]].concat()).is_err_and(|message| message.contains("extended")));
    }

    #[test]
    fn files_map() {
        let path = std::env::temp_dir().join(format!("tamis-sections-{}", std::process::id()));
        std::fs::write(&path, small()).expect("written");
        let sections = Sections::open(mapped(&path).expect("mapped")).expect("whole");
        let mut start = [0; 12];
        let file = File::open(&path).expect("opened");
        (&file).read_exact(&mut start).expect("read");
        let read = Sections::open(Mapping::in_memory(&file, &start).expect("read")).expect("whole");
        std::fs::remove_file(&path).expect("removed");
        for sections in [sections, read] {
            assert_eq!(sections.group(7).take::<u32>(1).expect("there").len(), 300_000);
        }
        assert!(mapped(&path).is_err());
        assert!(mapped(&std::env::temp_dir()).is_err(), "a folder is no file");
    }

    /// `cargo test --release -p tamis-core --lib -- --ignored --nocapture large_files_open`
    #[test]
    #[ignore = "measures"]
    fn large_files_open() {
        let path = std::env::temp_dir().join(format!("tamis-large-{}", std::process::id()));
        let mut file = std::fs::File::create(&path).expect("a file");
        let mut writer = SectionsWriter::new(&mut file);
        for tag in 0..10 {
            let mut state = u64::from(tag) + 1;
            let numbers: Vec<u64> = (0..25_000_000 / 8).map(|_| step(&mut state)).collect();
            writer.put(tag, &numbers);
        }
        writer.finish().expect("written");
        file.sync_all().expect("synced");
        for _ in 0..8 {
            let start = std::time::Instant::now();
            let mapping = mapped(&path).expect("mapped");
            let mapped = start.elapsed();
            let sections = Sections::open(mapping).expect("whole");
            println!("mapped {mapped:?}, checked {:?}", start.elapsed() - mapped);
            assert_eq!(sections.take::<u64>(0).expect("there").len(), 25_000_000 / 8);
        }
        for _ in 0..3 {
            let start = std::time::Instant::now();
            let mapping = Mapping::from_bytes(&std::fs::read(&path).expect("read"));
            println!("read {:?} {}", start.elapsed(), mapping.bytes().len());
        }
        std::fs::remove_file(&path).expect("removed");
    }

    fn step(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *state
    }
}
