//! Predicate lists: the predicates of one pivot with one operator (the paper's L<pivot, operator>), each with the search of
//! its operator.
//!
//! A list is sorted by field (attribute and kind of operand, hashed) and operand. An event's value satisfies one run of
//! the entries of its field: those equal to it, those from it on (`<=`), or those up to it (`>=`, BETWEEN). Binary search
//! finds the run; of BETWEEN, each entry of the run is tested for its high end.
//!
//! The two optimizations of the paper's section 4.2: a directory divides the list into segments, ranges of hashed fields,
//! so that only a segment is searched; and each segment has a signature of up to 64 bits, one bit set per entry by a hash
//! of its field (of `=`, of field and operand), so that most segments are skipped that have nothing for a value.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `segments` | which segment has a field, and which bits are set in its signature? |
//! | `blocks` | how does a long segment stay cheap to update? |
//!
//! Invariants: entries ascend by key and target, which several may share (clauses of one CNF that overlap); every entry is in the segment of its field; its bit is set in the segment's
//! signature.
//!
//! Cost, for a list of n entries in b segments: finding a run O(log n/b), inserting and removing a move of at most
//! [`WHOLE`] entries or of a block.

mod blocks;
mod segments;

use super::operand::{Field, Operand, hash_field};
use blocks::SortedBlocks;
use segments::Directory;
pub(super) use segments::Tuning;

/// The operators that predicates are rewritten to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operator {
    /// `=`: the operand is the low end.
    Equal = 0,
    /// `<=`: the operand is the high end.
    AtMost = 1,
    /// `>=`: the operand is the low end.
    AtLeast = 2,
    /// BETWEEN: both ends, included.
    Between = 3,
}

impl Operator {
    pub const ALL: [Operator; 4] = [Operator::Equal, Operator::AtMost, Operator::AtLeast, Operator::Between];

    /// Whether a value satisfies a predicate with this operator.
    pub fn accepts<O: Operand>(self, value: O, low: O, high: O) -> bool {
        match self {
            Operator::Equal => value == low,
            Operator::AtMost => value <= high,
            Operator::AtLeast => value >= low,
            Operator::Between => low <= value && value <= high,
        }
    }
}

/// A predicate of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry<O: Operand> {
    /// Field, and the operand that the list is sorted by.
    pub key: O::Key,
    /// The high end of BETWEEN; the greatest operand for other operators.
    pub high: O,
    /// What a satisfied predicate counts for: a slot of the pivot, or a clause of it.
    pub target: u32,
}

/// Where an entry is in the order of its list.
pub(super) type Place<O> = (<O as Operand>::Key, u32);

impl<O: Operand> Entry<O> {
    /// The entry of an operator with these ends.
    pub fn new(operator: Operator, field: Field, (low, high): (O, O), target: u32) -> Entry<O> {
        let operand = if operator == Operator::AtMost { high } else { low };
        let high = if operator == Operator::Between { high } else { O::MAX };
        Entry { key: O::key(field, operand), high, target }
    }

    pub fn place(&self) -> Place<O> {
        (self.key, self.target)
    }
}

/// Maximum entries of a list in one array; a longer one is divided into blocks.
const WHOLE: usize = 1_024;

/// See the module's head.
#[derive(Debug)]
pub(super) struct PredicateList<O: Operand> {
    directory: Directory,
    body: ListBody<O>,
    /// Number of entries.
    len: usize,
}

#[derive(Debug)]
enum ListBody<O: Operand> {
    /// All segments in one array; the directory has their ends.
    Whole(Vec<Entry<O>>),
    /// By segment.
    Split(Vec<SortedBlocks<O>>),
}

impl<O: Operand> Default for PredicateList<O> {
    fn default() -> PredicateList<O> {
        PredicateList { directory: Directory::default(), body: ListBody::Whole(Vec::new()), len: 0 }
    }
}

/// The hash that chooses an entry's bit: of field and operand for `=`, of the field for other operators.
#[inline]
fn signature_hash<O: Operand>(operator: Operator, key: O::Key) -> u32 {
    if operator == Operator::Equal { O::hash(key) } else { hash_field(O::field(key)) }
}

impl<O: Operand> PredicateList<O> {
    /// Number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no entry.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Inserts an entry of the list's operator.
    pub fn insert(&mut self, operator: Operator, entry: Entry<O>, tuning: Tuning) {
        let segment = self.directory.segment(O::field(entry.key));
        match &mut self.body {
            ListBody::Whole(entries) => {
                let range = self.directory.range(segment, entries.len());
                let at = range.start + entries[range].partition_point(|other| other.place() < entry.place());
                entries.insert(at, entry);
                self.directory.shift_ends(segment, 1);
            }
            ListBody::Split(segments) => segments[segment].insert(entry),
        }
        self.directory.sign(segment, signature_hash::<O>(operator, entry.key), tuning);
        self.len += 1;
        self.fit(operator, tuning);
    }

    /// Removes an entry of the list's operator.
    pub fn remove(&mut self, operator: Operator, entry: Entry<O>, tuning: Tuning) {
        let segment = self.directory.segment(O::field(entry.key));
        let removed = match &mut self.body {
            ListBody::Whole(entries) => {
                let range = self.directory.range(segment, entries.len());
                let found = entries[range.clone()].binary_search_by_key(&entry.place(), Entry::place);
                if let Ok(at) = found {
                    entries.remove(range.start + at);
                    self.directory.shift_ends(segment, u32::MAX);
                }
                found.is_ok()
            }
            ListBody::Split(segments) => segments[segment].remove(entry.place()),
        };
        debug_assert!(removed, "an entry of the list is removed");
        self.len -= usize::from(removed);
        if self.directory.withdraw(segment, self.len) {
            let mut signature = 0;
            self.for_each_of_segment(segment, |entry| {
                signature |= tuning.bit(signature_hash::<O>(operator, entry.key));
            });
            self.directory.set_signature(segment, signature);
        }
        self.fit(operator, tuning);
    }

    /// Changes the number of segments, or between one array and blocks, if the length asks for it.
    fn fit(&mut self, operator: Operator, tuning: Tuning) {
        let is_split = matches!(self.body, ListBody::Split(_));
        let split = if is_split { self.len > WHOLE / 4 } else { self.len > WHOLE };
        if split != is_split || !split && self.directory.is_misfit(self.len, tuning) {
            self.rebuild(operator, split, tuning);
        }
    }

    /// Divides the entries, whose order stays, anew.
    fn rebuild(&mut self, operator: Operator, split: bool, tuning: Tuning) {
        let mut entries = Vec::with_capacity(self.len + 1);
        match std::mem::replace(&mut self.body, ListBody::Whole(Vec::new())) {
            ListBody::Whole(all) => entries = all,
            ListBody::Split(segments) => {
                segments.iter().for_each(|blocks| entries.extend(blocks.entries().copied()));
            }
        }
        let hashes =
            entries.iter().map(|entry| (O::field(entry.key), signature_hash::<O>(operator, entry.key)));
        self.directory = Directory::of(if split { usize::MAX } else { self.len }, hashes, tuning);
        self.body = if split {
            let segments = 0..self.directory.segments();
            let blocks = |at| SortedBlocks::of(&entries[self.directory.range(at, entries.len())]);
            ListBody::Split(segments.map(blocks).collect())
        } else {
            ListBody::Whole(entries)
        };
    }

    fn for_each_of_segment(&self, segment: usize, visit: impl FnMut(&Entry<O>)) {
        match &self.body {
            ListBody::Whole(entries) => {
                entries[self.directory.range(segment, entries.len())].iter().for_each(visit);
            }
            ListBody::Split(segments) => segments[segment].entries().for_each(visit),
        }
    }

    /// Visits the targets of the entries of this operator that a value of a field satisfies.
    #[inline]
    pub fn find(
        &self,
        operator: Operator,
        field: Field,
        value: O,
        tuning: Tuning,
        mut visit: impl FnMut(u32),
    ) {
        let segment = self.directory.segment(field);
        let key = O::key(field, value);
        if !self.directory.may_have(segment, || tuning.bit(signature_hash::<O>(operator, key))) {
            return;
        }
        let (first, last, high) = match operator {
            Operator::Equal => (key, key, O::MIN),
            Operator::AtMost => (key, O::key(field, O::MAX), O::MIN),
            Operator::AtLeast => (O::key(field, O::MIN), key, O::MIN),
            Operator::Between => (O::key(field, O::MIN), key, value),
        };
        match &self.body {
            ListBody::Whole(entries) => {
                let part = &entries[self.directory.range(segment, entries.len())];
                let from = part.partition_point(|entry| entry.key < first);
                for entry in part[from..].iter().take_while(|entry| entry.key <= last) {
                    if entry.high >= high {
                        visit(entry.target);
                    }
                }
            }
            ListBody::Split(segments) => segments[segment].scan(first, last, high, |entry| {
                if entry.high >= high {
                    visit(entry.target);
                }
            }),
        }
    }

    /// Reads a word of each cache line of a short list, so that it is in the cache when the list is searched.
    #[inline]
    pub fn prefetch(&self) -> u32 {
        /// Maximum entries that are read ahead.
        const AHEAD: usize = 256;
        match &self.body {
            ListBody::Whole(entries) => {
                let lines = entries.iter().take(AHEAD).step_by((64 / size_of::<Entry<O>>()).max(1));
                lines.fold(self.directory.prefetch(), |read, entry| read ^ entry.target)
            }
            ListBody::Split(_) => 0,
        }
    }

    /// Every entry, in order.
    pub fn entries(&self) -> Vec<Entry<O>> {
        let mut all = Vec::with_capacity(self.len);
        for segment in 0..self.directory.segments() {
            self.for_each_of_segment(segment, |entry| all.push(*entry));
        }
        all
    }

    /// Number of segments.
    pub fn segments(&self) -> usize {
        self.directory.segments()
    }

    /// Frees memory reserved for growth.
    pub fn defragment(&mut self) {
        match &mut self.body {
            ListBody::Whole(entries) => entries.shrink_to_fit(),
            ListBody::Split(segments) => segments.iter_mut().for_each(SortedBlocks::defragment),
        }
    }

    /// Checks the invariants.
    pub fn validate(&self, operator: Operator, tuning: Tuning) -> Result<(), String> {
        let mut sound = Ok(());
        for segment in 0..self.directory.segments() {
            self.for_each_of_segment(segment, |entry| {
                let bit = tuning.bit(signature_hash::<O>(operator, entry.key));
                if self.directory.segment(O::field(entry.key)) != segment
                    || !self.directory.may_have(segment, || bit)
                {
                    sound = Err(format!("{entry:?} is not in its segment, or has not signed"));
                }
            });
        }
        sound?;
        let entries = self.entries();
        if entries.len() != self.len || !entries.is_sorted_by_key(Entry::place) {
            return Err(format!("{} entries, {} counted, or out of order", entries.len(), self.len));
        }
        match &self.body {
            ListBody::Whole(_) => Ok(()),
            ListBody::Split(segments) => segments.iter().try_for_each(SortedBlocks::validate),
        }
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        let body = match &self.body {
            ListBody::Whole(entries) => entries.capacity() * size_of::<Entry<O>>(),
            ListBody::Split(segments) => {
                segments.capacity() * size_of::<SortedBlocks<O>>()
                    + segments.iter().map(SortedBlocks::memory).sum::<usize>()
            }
        };
        self.directory.memory() + body
    }
}

/// The predicate lists of a pivot with operands of one width, by operator.
#[derive(Debug)]
pub(super) struct OperatorLists<O: Operand>([PredicateList<O>; 4]);

impl<O: Operand> Default for OperatorLists<O> {
    fn default() -> OperatorLists<O> {
        OperatorLists(Default::default())
    }
}

impl<O: Operand> OperatorLists<O> {
    /// The list of an operator.
    #[inline]
    pub fn get(&self, operator: Operator) -> &PredicateList<O> {
        &self.0[operator as usize]
    }

    /// The list of an operator, mutable.
    pub fn get_mut(&mut self, operator: Operator) -> &mut PredicateList<O> {
        &mut self.0[operator as usize]
    }

    /// Every list with its operator.
    pub fn all(&self) -> impl Iterator<Item = (Operator, &PredicateList<O>)> {
        Operator::ALL.into_iter().zip(&self.0)
    }

    /// Every list, mutable.
    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut PredicateList<O>> {
        self.0.iter_mut()
    }
}
