//! The bytes of a file, mapped into memory: processes that open the same file share the pages, and the system can drop
//! pages that are not used.

use std::fs::File;
use std::io::{Read, Result};

/// Alignment of arrays in bytes: a cache line, and a multiple of the alignment of every element type.
pub(crate) const ALIGNMENT: usize = 64;

/// Immutable bytes at a fixed address, aligned to [`ALIGNMENT`].
#[derive(Debug)]
pub(crate) struct Mapping(Bytes);

#[derive(Debug)]
enum Bytes {
    #[cfg(unix)]
    File(memmap2::Mmap),
    /// `bytes[start..]`. The allocator does not align vectors to [`ALIGNMENT`]; `start` skips the bytes before it.
    Owned { bytes: Vec<u8>, start: usize },
}

impl Mapping {
    /// Maps an open file. What cannot be mapped, such as a pipe, is read to its end, behind the bytes that the caller has
    /// `read` already.
    ///
    /// On systems other than Unix the file is read, because a mapped file could not be replaced there.
    pub fn of_file(file: &File, read: &[u8]) -> Result<Mapping> {
        #[cfg(unix)]
        if file.metadata()?.is_file() && file.metadata()?.len() > 0 {
            return Ok(Mapping(Bytes::File(map(file)?)));
        }
        Mapping::in_memory(file, read)
    }

    /// Reads an open file to its end, behind the bytes that the caller has `read` already. Later changes of the file have
    /// no effect.
    pub fn in_memory(mut file: &File, read: &[u8]) -> Result<Mapping> {
        let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
        let (mut bytes, start) = aligned(length.max(read.len()))?;
        bytes.extend_from_slice(read);
        file.read_to_end(&mut bytes)?;
        // A vector that had to grow was moved.
        if bytes.as_ptr().align_offset(ALIGNMENT) % ALIGNMENT == start {
            Ok(Mapping(Bytes::Owned { bytes, start }))
        } else {
            Ok(Mapping::from_bytes(&bytes[start..]))
        }
    }

    /// An aligned copy of bytes.
    pub fn from_bytes(bytes: &[u8]) -> Mapping {
        let (mut owned, start) = aligned(bytes.len()).unwrap_or_default();
        owned.extend_from_slice(bytes);
        Mapping(Bytes::Owned { bytes: owned, start })
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        match &self.0 {
            #[cfg(unix)]
            Bytes::File(map) => map,
            Bytes::Owned { bytes, start } => &bytes[*start..],
        }
    }
}

/// A vector with room for some bytes behind a start that is aligned. Its address does not change unless it outgrows the
/// room. An error if there is not enough memory.
fn aligned(room: usize) -> Result<(Vec<u8>, usize)> {
    let mut bytes: Vec<u8> = Vec::new();
    bytes.try_reserve_exact(room.saturating_add(ALIGNMENT))?;
    let start = bytes.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
    bytes.resize(start, 0);
    Ok((bytes, start))
}

/// Maps all pages at once: the checksums read all of them, and a page fault per few pages would take longer.
#[cfg(unix)]
#[expect(unsafe_code, reason = "a mapped file can change behind the compiler's back; see SAFETY")]
fn map(file: &std::fs::File) -> std::io::Result<memmap2::Mmap> {
    // SAFETY: the bytes must not change while they are mapped. Tamis keeps to that: it writes a file aside and renames
    // it into place, which leaves the old one, mapped or not, as it was; and no file that has its name is ever opened
    // for writing. Another program that writes into the file makes answers wrong, and one that cuts it short ends this
    // process with SIGBUS, as it would for any mapped library. No operating system we run on can prevent either. Reading
    // the whole file ([`Mapping::in_memory`]) does, but gives up what mapping is for: memory shared between processes, and
    // indexes that open at once; the caller chooses. Bytes are read as plain numbers only, so a change cannot break a rule of the type system, and
    // every number that leads somewhere is checked where it is used, by the bounds checks of slices.
    unsafe { memmap2::MmapOptions::new().populate().map(file) }
}
