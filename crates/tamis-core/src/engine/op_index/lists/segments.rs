//! The directory of a predicate list: its segments with their signatures.
//!
//! Segment `s` of `n` has the fields from `s * 2^32 / n` on: a range of hashed fields, hence a contiguous part of the list. A
//! short list has fewer segments than the option allows, at least 4 entries each on average; when it grows, only the
//! directory is made anew, no entry moves.

use crate::engine::op_index::operand::Field;
use std::ops::Range;

/// Minimum entries of a list with a directory.
const DIRECTED: usize = 16;
/// Minimum average entries of a segment.
const PER_SEGMENT: usize = 4;

/// The options that predicate lists follow.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine::op_index) struct Tuning {
    /// Maximum segments of a list; 0 for lists without a directory.
    pub segments: u32,
    /// Bits of a signature, 1 to 64.
    pub signature_bits: u32,
}

impl Tuning {
    /// The bit of a hash in a signature.
    #[inline]
    pub fn bit(self, hash: u32) -> u64 {
        1 << ((u64::from(hash) * u64::from(self.signature_bits)) >> 32)
    }

    /// The number of segments of a list with this many entries; 0 if it needs no directory.
    fn segments_of(self, len: usize) -> usize {
        if len < DIRECTED {
            return 0;
        }
        (self.segments as usize).min((len / PER_SEGMENT).checked_next_power_of_two().unwrap_or(usize::MAX))
    }
}

/// A part of a predicate list.
#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    /// The bits of its entries, and of removed ones until it is made anew.
    signature: u64,
    /// Where it ends in a list that is one array.
    end: u32,
    /// Entries removed since the signature was made.
    removed: u32,
}

/// See the module's head. The default has one segment without a signature.
#[derive(Debug, Default)]
pub(super) struct Directory(Vec<Segment>);

impl Directory {
    /// The directory of a list with these fields, ascending, and signature hashes. `len` decides the number of segments.
    pub fn of(len: usize, entries: impl Iterator<Item = (Field, u32)>, tuning: Tuning) -> Directory {
        let mut directory = Directory(vec![Segment::default(); tuning.segments_of(len)]);
        if directory.0.is_empty() {
            return directory;
        }
        for (field, hash) in entries {
            let segment = directory.segment(field);
            directory.0[segment].signature |= tuning.bit(hash);
            directory.0[segment].end += 1;
        }
        let mut end = 0;
        for segment in &mut directory.0 {
            end += segment.end;
            segment.end = end;
        }
        directory
    }

    /// Number of segments.
    pub fn segments(&self) -> usize {
        self.0.len().max(1)
    }

    /// Whether a list of this length should have another number of segments. Fewer only if far fewer, so that a list whose
    /// length varies a little is left alone.
    pub fn is_misfit(&self, len: usize, tuning: Tuning) -> bool {
        let wanted = tuning.segments_of(len);
        wanted > self.0.len() || 4 * wanted < self.0.len()
    }

    /// The segment of a field.
    #[inline]
    pub fn segment(&self, field: Field) -> usize {
        ((u64::from(field.0) * self.0.len() as u64) >> 32) as usize
    }

    /// The part of a list of `len` entries in one array that a segment is.
    #[inline]
    pub fn range(&self, segment: usize, len: usize) -> Range<usize> {
        match self.0.get(segment) {
            None => 0..len,
            Some(found) => {
                let start = if segment == 0 { 0 } else { self.0[segment - 1].end };
                start as usize..found.end as usize
            }
        }
    }

    /// Whether a segment may have an entry with this bit; false is certain.
    #[inline]
    pub fn may_have(&self, segment: usize, bit: impl Fn() -> u64) -> bool {
        self.0.get(segment).is_none_or(|segment| segment.signature & bit() != 0)
    }

    /// Adds a number, modulo 2^32, to the ends of a segment and all after it.
    pub fn shift_ends(&mut self, segment: usize, by: u32) {
        self.0.iter_mut().skip(segment).for_each(|segment| segment.end = segment.end.wrapping_add(by));
    }

    /// Sets the bit of an inserted entry.
    pub fn sign(&mut self, segment: usize, hash: u32, tuning: Tuning) {
        if let Some(segment) = self.0.get_mut(segment) {
            segment.signature |= tuning.bit(hash);
        }
    }

    /// Counts a removed entry of a list with `len` others; whether the segment's signature is to be made anew, which reads
    /// the whole segment.
    pub fn withdraw(&mut self, segment: usize, len: usize) -> bool {
        let Some(segment) = self.0.get_mut(segment) else { return false };
        segment.removed += 1;
        segment.removed as usize >= (len / 8).max(16)
    }

    /// Replaces the signature of a segment.
    pub fn set_signature(&mut self, segment: usize, signature: u64) {
        if let Some(segment) = self.0.get_mut(segment) {
            (segment.signature, segment.removed) = (signature, 0);
        }
    }

    /// Reads a word of each cache line.
    #[inline]
    pub fn prefetch(&self) -> u32 {
        self.0.iter().step_by(64 / size_of::<Segment>()).fold(0, |read, segment| read ^ segment.end)
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        self.0.capacity() * size_of::<Segment>()
    }
}
