//! Many strings as two arrays.

use crate::storage::{Array, Sections, SectionsWriter};

/// Strings by number. Whatever a file holds, no access panics.
#[derive(Clone)]
pub(super) struct Strings {
    /// All strings, one after another.
    bytes: Array<u8>,
    /// String `i` is `bytes[offsets[i]..offsets[i + 1]]`.
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

    /// As two sections: the tag and the one after.
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

/// String `at` of two arrays; empty if they do not fit.
pub(super) fn slice<'b>(bytes: &'b [u8], offsets: &[u64], at: usize) -> &'b [u8] {
    match (offsets.get(at), offsets.get(at + 1)) {
        (Some(start), Some(end)) => bytes.get(*start as usize..*end as usize).unwrap_or_default(),
        _ => &[],
    }
}

/// Takes strings one by one.
pub(super) struct StringsBuilder {
    pub bytes: Vec<u8>,
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
