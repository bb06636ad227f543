//! Many strings in two arrays: their bytes and their offsets.

use crate::storage::{Array, Sections, SectionsWriter};

/// Strings by number. No access panics, whatever a damaged file holds.
#[derive(Clone)]
pub(in crate::index::segmented) struct Strings {
    /// All strings, concatenated.
    bytes: Array<u8>,
    /// One more than strings: string `i` is `bytes[offsets[i]..offsets[i + 1]]`.
    offsets: Array<u64>,
}

impl Strings {
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// The bytes of a string; empty if a damaged file has none.
    pub fn bytes(&self, at: usize) -> &[u8] {
        slice(&self.bytes, &self.offsets, at)
    }

    /// A string; `None` if a damaged file has no string there.
    pub fn get(&self, at: usize) -> Option<&str> {
        std::str::from_utf8(self.bytes(at)).ok()
    }

    /// Bytes and offsets.
    pub fn arrays(&self) -> (&[u8], &[u64]) {
        (&self.bytes, &self.offsets)
    }

    pub fn memory(&self) -> usize {
        self.bytes.memory() + self.offsets.memory()
    }

    /// Writes two sections, under the tags `tag` and `tag + 1`.
    pub fn write(&self, tag: u32, out: &mut SectionsWriter<'_>) {
        out.put(tag, &self.bytes);
        out.put(tag + 1, &self.offsets);
    }

    pub fn open(tag: u32, sections: &Sections) -> Result<Strings, String> {
        let strings = Strings { bytes: sections.take(tag)?, offsets: sections.take(tag + 1)? };
        let ends = (strings.offsets.first(), strings.offsets.last());
        if ends != (Some(&0), Some(&(strings.bytes.len() as u64))) {
            return Err(format!("section {}: the strings do not begin and end with their bytes", tag + 1));
        }
        // Overlapping strings could have more bytes in sum than the file.
        if !strings.offsets.is_sorted() {
            return Err(format!("section {}: the strings overlap", tag + 1));
        }
        Ok(strings)
    }

    /// The offsets ascend and every string is UTF-8.
    pub fn validate(&self) -> Result<(), String> {
        if !self.offsets.is_sorted() {
            return Err("strings: the offsets do not ascend".into());
        }
        match (0..self.len()).find(|at| self.get(*at).is_none()) {
            Some(at) => Err(format!("strings: string {at} is not UTF-8")),
            None => Ok(()),
        }
    }
}

/// String `at` of two arrays; empty if an offset is out of bounds.
pub(super) fn slice<'b>(bytes: &'b [u8], offsets: &[u64], at: usize) -> &'b [u8] {
    match (offsets.get(at), offsets.get(at + 1)) {
        (Some(start), Some(end)) => bytes.get(*start as usize..*end as usize).unwrap_or_default(),
        _ => &[],
    }
}

/// Appends strings one by one.
pub(in crate::index::segmented) struct StringsBuilder {
    /// As [`Strings::bytes`].
    pub bytes: Vec<u8>,
    /// As [`Strings::offsets`].
    pub offsets: Vec<u64>,
}

impl StringsBuilder {
    pub fn new() -> StringsBuilder {
        StringsBuilder { bytes: Vec::new(), offsets: vec![0] }
    }

    pub fn push(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        self.offsets.push(self.bytes.len() as u64);
    }

    pub fn finish(self) -> Strings {
        Strings { bytes: self.bytes.into(), offsets: self.offsets.into() }
    }
}
