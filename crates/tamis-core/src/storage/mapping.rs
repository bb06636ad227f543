//! The bytes of a file, mapped into memory: processes that open the same file share the pages, and the system can drop
//! pages that are not used.

use std::path::Path;

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
    /// Maps a file. An empty file is an empty mapping.
    ///
    /// On systems other than Unix the file is read, because a mapped file could not be replaced there.
    pub fn open(path: &Path) -> std::io::Result<Mapping> {
        #[cfg(unix)]
        {
            let file = std::fs::File::open(path)?;
            if file.metadata()?.is_file() && file.metadata()?.len() > 0 {
                return Ok(Mapping(Bytes::File(map(&file)?)));
            }
        }
        Ok(Mapping::from_bytes(&std::fs::read(path)?))
    }

    /// An aligned copy of bytes.
    pub fn from_bytes(bytes: &[u8]) -> Mapping {
        let mut owned: Vec<u8> = Vec::with_capacity(bytes.len() + ALIGNMENT);
        // The vector does not grow past its capacity, so its address does not change.
        let start = owned.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        owned.resize(start, 0);
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

/// Maps all pages at once: the checksums read all of them, and a page fault per few pages would take longer.
#[cfg(unix)]
#[expect(unsafe_code, reason = "a mapped file can change behind the compiler's back; see SAFETY")]
fn map(file: &std::fs::File) -> std::io::Result<memmap2::Mmap> {
    // SAFETY: the bytes must not change while they are mapped. Tamis keeps to that: it writes a file aside and renames
    // it into place, which leaves the old one, mapped or not, as it was; and no file that has its name is ever opened
    // for writing. Another program that writes into the file makes answers wrong, and one that cuts it short ends this
    // process with SIGBUS, as it would for any mapped library. No operating system we run on can prevent either, and
    // reading the whole file instead would give up what mapping is for: memory shared between processes, and indexes
    // that open at once. Bytes are read as plain numbers only, so a change cannot break a rule of the type system, and
    // every number that leads somewhere is checked where it is used, by the bounds checks of slices.
    unsafe { memmap2::MmapOptions::new().populate().map(file) }
}
