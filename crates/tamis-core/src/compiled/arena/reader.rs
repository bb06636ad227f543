//! Posting lists and interval tables as slices of the arena; [`writer`](crate::compiled::arena::writer) makes them.
//!
//! Reading a head takes a few instructions and checks that its parts lie inside the arena: those of a damaged file may
//! not, and are skipped.

use crate::compiled::arena::header::{
    ListHeader, MAX_UNIFORM_ROW, RowFormat, RowStarts, TableDirectory, TableHeader,
};
use crate::compiled::arena::interval_block::{BLOCK, EndWidth};
use std::ops::Range;

/// The encoded test at an offset.
#[inline(always)]
pub(in crate::compiled) fn load<const WIDE: bool>(arena: &[u32], at: usize) -> u64 {
    if WIDE { u64::from(arena[at]) | u64::from(arena[at + 1]) << 32 } else { u64::from(arena[at]) }
}

/// Words of an encoded test.
pub(in crate::compiled) const fn test_words<const WIDE: bool>() -> usize {
    if WIDE { 2 } else { 1 }
}

/// A posting list: the alternatives of a node, or of the list that every event reads.
#[derive(Clone, Copy)]
pub(in crate::compiled) struct PostingList<'a> {
    /// Ranks of the first of each 16 targets, and of the first of each 16 entries; empty if the arena has none.
    pub ranks: [&'a [u32]; 2],
    /// Targets without residual tests.
    pub decided: &'a [u32],
    /// Entries with residual tests.
    pub entries: usize,
    /// The first test of each entry. Tests of 4 bytes are padded to a multiple of 8 with tests that never hold.
    pub first_tests: &'a [u32],
    /// Targets and further tests.
    pub rows: RowRegion,
    /// Tables of entries that continue with the same dimension.
    pub groups: TableDirectory<'a>,
}

impl<'a> PostingList<'a> {
    /// Reads the head of a list; `None` if its parts reach outside the arena. A test takes `test_words` words.
    #[inline(always)]
    pub fn read(arena: &'a [u32], at: usize, test_words: usize) -> Option<PostingList<'a>> {
        let record = arena.get(at..)?;
        let header = ListHeader::unpack(*record.first_chunk()?);
        let entries = header.entries as usize;
        let blocks = |entries: usize| if header.ranked { entries.div_ceil(BLOCK) } else { 0 };
        let (of_decided, of_entries) = (blocks(header.decided as usize), blocks(entries));
        let (ranks, rest) = record[ListHeader::WORDS..].split_at_checked(of_decided + of_entries)?;
        let ranks = ranks.split_at(of_decided).into();
        let (decided, rest) = rest.split_at_checked(header.decided as usize)?;
        let first_tests = rest.get(..first_tests_words(entries, test_words))?;
        let starts = at + ListHeader::WORDS + of_decided + of_entries + decided.len() + first_tests.len();
        let rows = RowRegion::new(arena, header.rows, starts, entries)?;
        let directory = record.get(header.directory as usize..)?;
        let groups = TableDirectory::read(directory, header.groups as usize)?;
        Some(PostingList { ranks, decided, entries, first_tests, rows, groups })
    }

    /// The list with some blocks of 16 of its targets only, and without entries and groups.
    pub fn decided_part(&self, blocks: Range<usize>) -> PostingList<'a> {
        let decided = part(self.decided, blocks, BLOCK);
        PostingList { decided, entries: 0, first_tests: &[], groups: TableDirectory::EMPTY, ..*self }
    }

    /// The list with some blocks of 16 of its entries only, and without targets and groups.
    pub fn entries_part(&self, blocks: Range<usize>, test_words: usize) -> PostingList<'a> {
        let first_tests = part(self.first_tests, blocks.clone(), BLOCK * test_words);
        let entries = self.entries.min(BLOCK * blocks.end) - self.entries.min(BLOCK * blocks.start);
        let rows = self.rows.from(BLOCK * blocks.start);
        PostingList { decided: &[], entries, first_tests, rows, groups: TableDirectory::EMPTY, ..*self }
    }
}

/// Some blocks of this many words; fewer at the end.
fn part(words: &[u32], blocks: Range<usize>, of: usize) -> &[u32] {
    let end = words.len().min(blocks.end * of);
    words.get(blocks.start * of..end).unwrap_or_default()
}

/// Words of a list's first tests: those of 4 bytes are padded to a multiple of 8, the tests of one SIMD comparison.
#[inline(always)]
pub(in crate::compiled) fn first_tests_words(entries: usize, test_words: usize) -> usize {
    if test_words == 1 { entries.next_multiple_of(8) } else { entries * test_words }
}

/// Where the rows of a list or table are.
#[derive(Clone, Copy)]
pub(in crate::compiled) struct RowRegion {
    kind: RowStarts,
    /// Offset of the row starts.
    starts: usize,
    /// Words of each row; 0 if lengths differ.
    pub uniform: usize,
    /// Offset of the first row.
    pub first: usize,
}

impl RowRegion {
    #[inline(always)]
    fn new(arena: &[u32], format: RowFormat, starts: usize, rows: usize) -> Option<RowRegion> {
        let first = starts + format.starts.words(rows);
        let uniform = format.uniform as usize;
        let inside = first <= arena.len() && uniform <= MAX_UNIFORM_ROW;
        inside.then_some(RowRegion { kind: format.starts, starts, uniform, first })
    }

    /// The rows from an entry on, a multiple of 16, as a region of their own.
    fn from(&self, entry: usize) -> RowRegion {
        match self.kind {
            RowStarts::None => RowRegion { first: self.first + entry * self.uniform, ..*self },
            RowStarts::Short => RowRegion { starts: self.starts + entry / 2, ..*self },
            RowStarts::Long => RowRegion { starts: self.starts + entry, ..*self },
        }
    }

    /// Where the last row ends; `None` unless rows follow each other in the order of their entries and none is empty.
    pub fn end(&self, arena: &[u32], entries: usize) -> Option<usize> {
        match (self.kind, self.uniform) {
            (RowStarts::None, 0) => (entries == 0).then_some(self.first),
            (RowStarts::None, words) => Some(self.first + entries * words),
            (_, 0) => (0..entries).try_fold(self.first, |last, entry| {
                let (start, end) = self.row(arena, entry);
                (last == start && start < end).then_some(end)
            }),
            _ => None,
        }
    }

    /// Where the row of an entry begins and ends.
    #[inline(always)]
    pub fn row(&self, arena: &[u32], entry: usize) -> (usize, usize) {
        let (start, end) = match self.kind {
            RowStarts::None => (entry * self.uniform, (entry + 1) * self.uniform),
            RowStarts::Short => {
                let start = |at: usize| (arena[self.starts + at / 2] >> (16 * (at % 2)) & 0xffff) as usize;
                (start(entry), start(entry + 1))
            }
            RowStarts::Long => (arena[self.starts + entry] as usize, arena[self.starts + entry + 1] as usize),
        };
        (self.first + start, self.first + end)
    }
}

/// An interval table: the alternatives of a scan, a pair or a group, with their keys in SIMD blocks.
#[derive(Clone, Copy)]
pub(in crate::compiled) struct IntervalTable<'a> {
    /// The rank of the first entry, and those of the first entries of further blocks; `None` if the arena has none.
    pub ranks: Option<(u32, &'a [u32])>,
    pub entries: usize,
    pub width: EndWidth,
    /// Whether entries have two keys: a block of the first alternates with a block of the second.
    pub pair: bool,
    pub blocks: &'a [u32],
    pub rows: RowRegion,
}

impl<'a> IntervalTable<'a> {
    /// Reads the head of a table; `None` if its parts reach outside the arena.
    #[inline(always)]
    pub fn read(arena: &'a [u32], at: usize) -> Option<IntervalTable<'a>> {
        let record = arena.get(at..)?;
        let TableHeader { entries, width, pair, rows, rank } = TableHeader::unpack(*record.first_chunk()?);
        let entries = entries as usize;
        let count = entries.div_ceil(BLOCK);
        let rank_words = if rank.is_some() { TableHeader::rank_words(entries) } else { 0 };
        let (further, rest) = record[TableHeader::WORDS..].split_at_checked(rank_words)?;
        let blocks = rest.get(..count * width.block_words() * (1 + usize::from(pair)))?;
        let starts = at + TableHeader::WORDS + rank_words + blocks.len();
        let rows = RowRegion::new(arena, rows, starts, entries)?;
        let ranks = rank.map(|rank| (rank, &further[..further.len().min(count.saturating_sub(1))]));
        Some(IntervalTable { ranks, entries, width, pair, blocks, rows })
    }

    /// The table with some of its blocks only.
    pub fn part(&self, blocks: Range<usize>) -> IntervalTable<'a> {
        let words = self.width.block_words() * (1 + usize::from(self.pair));
        let entries = self.entries.min(BLOCK * blocks.end) - self.entries.min(BLOCK * blocks.start);
        let rows = self.rows.from(BLOCK * blocks.start);
        IntervalTable { entries, blocks: part(self.blocks, blocks, words), rows, ..*self }
    }

    /// The first or second key of an entry.
    pub fn key(&self, entry: usize, key: usize) -> (u32, u32) {
        let (block, keys) = (self.width.block_words(), 1 + usize::from(self.pair));
        let block = &self.blocks[(entry / BLOCK * keys + key) * block..][..block];
        self.width.interval(block, entry % BLOCK)
    }
}
