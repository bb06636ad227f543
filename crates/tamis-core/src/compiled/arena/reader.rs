//! How lists and tables are read; [`layout`](crate::compiled::arena::writer) writes them.

use crate::compiled::arena::writer::{LONG_STARTS, ROW, SAME_LENGTH, SHORT_STARTS};
use crate::compiled::matching::simd::{BLOCK, Lane};

/// Reads a word of the arena.
#[inline(always)]
pub(in crate::compiled) fn load<const WIDE: bool>(arena: &[u32], at: usize) -> u64 {
    if WIDE { u64::from(arena[at]) | u64::from(arena[at + 1]) << 32 } else { u64::from(arena[at]) }
}

pub(in crate::compiled) const fn size<const WIDE: bool>() -> usize {
    if WIDE { 2 } else { 1 }
}

/// A list, with its parts where they are. `None` if they reach outside, as only those of damaged files do.
#[derive(Clone, Copy)]
pub(in crate::compiled) struct List<'a> {
    /// Targets without further tests.
    pub decided: &'a [u32],
    /// How many flat ones there are, their first tests (those of four bytes filled up to eights with some that never
    /// hold), and their rows.
    pub flat: usize,
    pub firsts: &'a [u32],
    pub rows: RowStarts,
    /// Dimensions of the groups, and their tables.
    pub groups: (&'a [u32], &'a [u32]),
}

impl<'a> List<'a> {
    /// Reads the head of a list; `size` is how many words a test takes.
    #[inline(always)]
    pub fn read(arena: &'a [u32], at: usize, size: usize) -> Option<List<'a>> {
        let record = arena.get(at..)?;
        let &[decided, form, groups, directory] = record.first_chunk()?;
        let flat = (form >> 6) as usize;
        let (decided, rest) = record[4..].split_at_checked(decided as usize)?;
        let firsts = rest.get(..firsts_words(flat, size))?;
        let starts = at + 4 + decided.len() + firsts.len();
        let (kind, same) = (form & 3, (form >> 2 & 15) as usize);
        let rows = RowStarts::new(arena, kind, same, starts, flat)?;
        let groups = record.get(directory as usize..)?.get(..2 * groups as usize)?;
        Some(List { decided, flat, firsts, rows, groups: groups.split_at(groups.len() / 2) })
    }
}

/// How many words the first tests of a list take: those of four bytes are filled up to eights.
#[inline(always)]
pub(in crate::compiled) fn firsts_words(flat: usize, size: usize) -> usize {
    if size == 1 { flat.next_multiple_of(8) } else { flat * size }
}

/// How many words the starts of rows take.
#[inline(always)]
pub(in crate::compiled) fn starts_words(kind: u32, rows: usize) -> usize {
    match kind {
        SAME_LENGTH => 0,
        SHORT_STARTS => (rows + 1).div_ceil(2),
        _ => rows + 1,
    }
}

/// How the starts of rows are kept, where they are, and the length of rows if it is the same.
#[derive(Clone, Copy)]
pub(in crate::compiled) struct RowStarts {
    kind: u32,
    starts: usize,
    /// 0 if rows have different lengths.
    pub same: usize,
    /// Where the first one begins.
    pub rows: usize,
}

impl RowStarts {
    fn new(arena: &[u32], kind: u32, same: usize, starts: usize, count: usize) -> Option<RowStarts> {
        let rows = starts + starts_words(kind, count);
        (rows <= arena.len() && same <= ROW).then_some(RowStarts { kind, starts, same, rows })
    }

    /// Where the row of an entry begins and ends.
    #[inline(always)]
    pub fn row(&self, arena: &[u32], entry: usize) -> (usize, usize) {
        let (start, end) = match self.kind {
            SAME_LENGTH => (entry * self.same, (entry + 1) * self.same),
            SHORT_STARTS => {
                let start = |at: usize| (arena[self.starts + at / 2] >> (16 * (at % 2)) & 0xffff) as usize;
                (start(entry), start(entry + 1))
            }
            LONG_STARTS.. => (arena[self.starts + entry] as usize, arena[self.starts + entry + 1] as usize),
        };
        (self.rows + start, self.rows + end)
    }
}

/// A table, with its parts where they are.
#[derive(Clone, Copy)]
pub(in crate::compiled) struct Table<'a> {
    pub len: usize,
    pub lane: Lane,
    /// Whether there are two keys.
    pub pair: bool,
    pub blocks: &'a [u32],
    pub rows: RowStarts,
}

impl<'a> Table<'a> {
    /// Reads the head of a table; `None` if its parts reach outside.
    #[inline(always)]
    pub fn read(arena: &'a [u32], at: usize) -> Option<Table<'a>> {
        let record = arena.get(at..)?;
        let &[len, form] = record.first_chunk()?;
        let (len, lane, pair) = (len as usize, Lane::from_bits(form), form >> 2 & 1 == 1);
        let blocks = record.get(TABLE_HEAD..)?;
        let blocks = blocks.get(..len.div_ceil(BLOCK) * lane.words() * (1 + usize::from(pair)))?;
        let starts = at + TABLE_HEAD + blocks.len();
        let rows = RowStarts::new(arena, form >> 3 & 3, (form >> 8) as usize, starts, len)?;
        Some(Table { len, lane, pair, blocks, rows })
    }
}

/// Words in front of the blocks: two that say something, and two that keep the blocks at boundaries of sixteen bytes.
pub(in crate::compiled) const TABLE_HEAD: usize = 4;
