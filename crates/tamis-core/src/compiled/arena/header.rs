//! Every packed record of the arena, with both directions beside each other: what is written here is read here.
//!
//! ```text
//! list header    word 0       entries without residual tests
//!                word 1       bits 6..32 entries with residual tests, 2..6 words of a row, 0..2 kind of row starts
//!                word 2       bit 31 blocks have ranks, bits 0..31 groups
//!                word 3       offset of the group directory from the list, in words
//! table header   word 0       entries
//!                word 1       bits 8..32 words of a row, 5 blocks have ranks, 3..5 kind of row starts, 2 two keys,
//!                             0..2 width of an end
//!                word 2       rank of the first entry, zero without ranks
//!                word 3       zero: blocks begin at 16 bytes
//! row target     bit 31       the expression has several rows: matches need dedup
//!                bit 30       the row has complex tests (rows of equal length only)
//!                bits 0..30   number of the expression
//! directory      dimensions, then tables
//! ```

use crate::compiled::arena::interval_block::{BLOCK, EndWidth};
use crate::compiled::limits::{ArenaOffset, ExpressionNumber};
use bytemuck::{Pod, Zeroable};

/// Maximum words of a row in lists and tables whose rows have equal length: a target and up to 7 tests of 4 bytes.
pub(in crate::compiled) const MAX_UNIFORM_ROW: usize = 8;

/// First word of a row, or an entry without residual tests: which expression matches, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compiled) struct RowTarget(u32);

impl RowTarget {
    const REPEATED: u32 = 1 << 31;
    const COMPLEX: u32 = 1 << 30;

    /// `repeated` if the expression may be found by several rows, or several times by one.
    pub fn new(number: ExpressionNumber, repeated: bool) -> RowTarget {
        RowTarget(number.get() | if repeated { RowTarget::REPEATED } else { 0 })
    }

    #[inline(always)]
    pub fn from_word(word: u32) -> RowTarget {
        RowTarget(word)
    }

    #[inline(always)]
    pub fn word(self) -> u32 {
        self.0
    }

    /// Number of the expression.
    #[inline(always)]
    pub fn number(self) -> u32 {
        self.0 & !(RowTarget::REPEATED | RowTarget::COMPLEX)
    }

    /// Whether matches of the expression need dedup.
    #[inline(always)]
    pub fn is_repeated(self) -> bool {
        self.0 & RowTarget::REPEATED != 0
    }

    /// Whether the row has tests that a SIMD comparison cannot decide.
    #[inline(always)]
    pub fn has_complex_tests(self) -> bool {
        self.0 & RowTarget::COMPLEX != 0
    }

    pub fn repeated(self) -> RowTarget {
        RowTarget(self.0 | RowTarget::REPEATED)
    }

    pub fn with_complex_tests(self) -> RowTarget {
        RowTarget(self.0 | RowTarget::COMPLEX)
    }

    /// The target as it is reported: whether its row has complex tests no longer matters.
    #[inline(always)]
    pub fn reported(self) -> RowTarget {
        RowTarget(self.0 & !RowTarget::COMPLEX)
    }
}

const _: () = assert!(ExpressionNumber::MAX & (RowTarget::REPEATED | RowTarget::COMPLEX) == 0);

/// How the starts of rows are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compiled) enum RowStarts {
    /// Not at all: rows have equal length.
    None = 0,
    /// 2 bytes each.
    Short = 1,
    /// 4 bytes each.
    Long = 2,
}

impl RowStarts {
    /// The narrowest starts for rows of this many words in total.
    pub fn for_total(words: usize) -> RowStarts {
        if words <= 0xffff { RowStarts::Short } else { RowStarts::Long }
    }

    #[inline(always)]
    fn from_bits(bits: u32) -> RowStarts {
        match bits & 3 {
            0 => RowStarts::None,
            1 => RowStarts::Short,
            _ => RowStarts::Long,
        }
    }

    /// Words that the starts of this many rows, and the end of the last, take.
    #[inline(always)]
    pub fn words(self, rows: usize) -> usize {
        match self {
            RowStarts::None => 0,
            RowStarts::Short => (rows + 1).div_ceil(2),
            RowStarts::Long => rows + 1,
        }
    }
}

/// How the rows of a list or table are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compiled) struct RowFormat {
    pub starts: RowStarts,
    /// Words of each row, at most [`MAX_UNIFORM_ROW`]; 0 if lengths differ.
    pub uniform: u32,
}

/// Head of a posting list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compiled) struct ListHeader {
    /// Entries without residual tests: they match.
    pub decided: u32,
    /// Entries with residual tests, at most [`ListHeader::MAX_ENTRIES`].
    pub entries: u32,
    pub rows: RowFormat,
    /// Groups: tables of entries that continue with the same dimension; fewer than 2^31.
    pub groups: u32,
    /// Whether the header is followed by the rank of the first of each 16 entries.
    pub ranked: bool,
    /// Where the directory of the groups begins, in words from the list.
    pub directory: u32,
}

impl ListHeader {
    /// Words of the header.
    pub const WORDS: usize = 4;
    /// 26 bits.
    pub const MAX_ENTRIES: u32 = (1 << 26) - 1;

    pub fn pack(self) -> [u32; ListHeader::WORDS] {
        let form = self.entries << 6 | self.rows.uniform << 2 | self.rows.starts as u32;
        [self.decided, form, self.groups | u32::from(self.ranked) << 31, self.directory]
    }

    #[inline(always)]
    pub fn unpack([decided, form, groups, directory]: [u32; ListHeader::WORDS]) -> ListHeader {
        let rows = RowFormat { starts: RowStarts::from_bits(form), uniform: form >> 2 & 15 };
        let (groups, ranked) = (groups & (u32::MAX >> 1), groups >> 31 == 1);
        ListHeader { decided, entries: form >> 6, rows, groups, ranked, directory }
    }
}

/// Head of an interval table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compiled) struct TableHeader {
    pub entries: u32,
    /// Bytes of an interval's end.
    pub width: EndWidth,
    /// Whether entries have two keys, in two dimensions.
    pub pair: bool,
    pub rows: RowFormat,
    /// The rank of the first entry, if the header is followed by the ranks of the first entries of further blocks.
    pub rank: Option<u32>,
}

impl TableHeader {
    /// Words of the header.
    pub const WORDS: usize = 4;

    pub fn pack(self) -> [u32; TableHeader::WORDS] {
        let rows = (self.rows.starts as u32) << 3 | self.rows.uniform << 8;
        let ranked = u32::from(self.rank.is_some()) << 5;
        let form = self.width.to_bits() | u32::from(self.pair) << 2 | rows | ranked;
        [self.entries, form, self.rank.unwrap_or(0), 0]
    }

    #[inline(always)]
    pub fn unpack([entries, form, rank, _]: [u32; TableHeader::WORDS]) -> TableHeader {
        let rows = RowFormat { starts: RowStarts::from_bits(form >> 3), uniform: form >> 8 };
        let rank = (form >> 5 & 1 == 1).then_some(rank);
        TableHeader { entries, width: EndWidth::from_bits(form), pair: form >> 2 & 1 == 1, rows, rank }
    }

    /// Words of the ranks behind the header: one per block but the first, padded to 16 bytes.
    #[inline(always)]
    pub fn rank_words(entries: usize) -> usize {
        (entries.div_ceil(BLOCK).max(1) - 1).next_multiple_of(4)
    }
}

/// Tables by dimension: the groups of a list, or the pairs of a dimension.
#[derive(Clone, Copy, Debug)]
pub(in crate::compiled) struct TableDirectory<'a> {
    dimensions: &'a [u32],
    tables: &'a [u32],
}

impl<'a> TableDirectory<'a> {
    /// Of no tables.
    pub const EMPTY: TableDirectory<'static> = TableDirectory { dimensions: &[], tables: &[] };

    /// The directory of this many tables at the beginning of some words; `None` if there are fewer words.
    #[inline(always)]
    pub fn read(words: &'a [u32], tables: usize) -> Option<TableDirectory<'a>> {
        let (dimensions, rest) = words.split_at_checked(tables)?;
        Some(TableDirectory { dimensions, tables: rest.get(..tables)? })
    }

    /// Appends a directory.
    pub fn write(tables: &[(u32, ArenaOffset)], arena: &mut Vec<u32>) {
        arena.extend(tables.iter().map(|(dimension, _)| dimension));
        arena.extend(tables.iter().map(|(_, table)| table.get()));
    }

    pub fn len(&self) -> usize {
        self.dimensions.len()
    }

    /// Dimension and table.
    #[inline(always)]
    pub fn iter(self) -> impl Iterator<Item = (u32, ArenaOffset)> + use<'a> {
        self.dimensions
            .iter()
            .zip(self.tables)
            .map(|(dimension, at)| (*dimension, ArenaOffset::from_word(*at)))
    }
}

/// What a dimension leads to. An element of the file's section, so it is packed by its layout.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(in crate::compiled) struct DimensionRecord {
    /// Scan tables: of entries without residual tests, and of the others. [`ArenaOffset::NONE`] if there is none.
    pub scans: [ArenaOffset; 2],
    /// Directory of its pair tables, with their number before it; [`ArenaOffset::NONE`] if there is none.
    pub pairs: ArenaOffset,
    /// Where its nodes begin in the array of nodes, level by level.
    pub nodes: u32,
    /// Levels of nodes.
    pub levels: u32,
    /// Spaces, space 0 included.
    pub spaces: u32,
    /// Zero.
    padding: [u32; 2],
}

impl DimensionRecord {
    pub fn new(spaces: u32) -> DimensionRecord {
        DimensionRecord { spaces, ..DimensionRecord::default() }
    }

    /// Nodes of a level: node `n` covers the spaces from `n << level` to `((n + 1) << level) - 1`.
    #[inline(always)]
    pub fn nodes_in_level(&self, level: u32) -> u32 {
        (self.spaces >> level) + 1
    }

    /// Tables of the pairs with this as the first dimension; `None` if the directory is outside the arena.
    #[inline(always)]
    pub fn pair_directory<'a>(&self, arena: &'a [u32]) -> Option<TableDirectory<'a>> {
        if !self.pairs.is_some() {
            return TableDirectory::read(&[], 0);
        }
        let (len, directory) = arena.get(self.pairs.index()..)?.split_first()?;
        TableDirectory::read(directory, *len as usize)
    }

    /// Appends the tables of its pairs to the arena, at whose end the directory begins.
    pub fn write_pairs(&mut self, at: ArenaOffset, pairs: &[(u32, ArenaOffset)], arena: &mut Vec<u32>) {
        self.pairs = at;
        arena.push(pairs.len() as u32);
        TableDirectory::write(pairs, arena);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiled::limits::SegmentLimits;
    use proptest::prelude::*;

    fn row_format() -> impl Strategy<Value = RowFormat> {
        let starts = prop::sample::select(vec![RowStarts::None, RowStarts::Short, RowStarts::Long]);
        (starts, 0..=MAX_UNIFORM_ROW as u32).prop_map(|(starts, uniform)| RowFormat { starts, uniform })
    }

    proptest! {
        #[test]
        fn list_headers_round_trip(
            decided in any::<u32>(),
            entries in prop_oneof![Just(ListHeader::MAX_ENTRIES), 0..=ListHeader::MAX_ENTRIES],
            rows in row_format(),
            groups in 0_u32..1 << 31,
            directory in any::<u32>(),
            ranked in any::<bool>(),
        ) {
            let header = ListHeader { decided, entries, rows, groups, ranked, directory };
            prop_assert_eq!(ListHeader::unpack(header.pack()), header);
        }

        #[test]
        fn table_headers_round_trip(
            entries in any::<u32>(),
            width in prop::sample::select(vec![EndWidth::One, EndWidth::Two, EndWidth::Four]),
            pair in any::<bool>(),
            rows in row_format(),
            rank in any::<Option<u32>>(),
        ) {
            let header = TableHeader { entries, width, pair, rows, rank };
            prop_assert_eq!(TableHeader::unpack(header.pack()), header);
        }

        #[test]
        fn targets_round_trip(
            number in prop_oneof![Just(ExpressionNumber::MAX), 0..=ExpressionNumber::MAX],
            repeated in any::<bool>(),
            complex in any::<bool>(),
        ) {
            let expression = ExpressionNumber::new(number as usize, &SegmentLimits::default());
            let target = RowTarget::new(expression.expect("within the limit"), repeated);
            let marked = if complex { target.with_complex_tests() } else { target };
            let read = RowTarget::from_word(marked.word());
            prop_assert_eq!(read.number(), number);
            prop_assert_eq!(read.is_repeated(), repeated);
            prop_assert_eq!(read.has_complex_tests(), complex);
            prop_assert_eq!(read.reported(), target);
        }

        #[test]
        fn directories_round_trip(tables in prop::collection::vec((any::<u32>(), any::<u32>()), 0..9)) {
            let tables: Vec<_> = tables.into_iter().map(|(d, at)| (d, ArenaOffset::from_word(at))).collect();
            let (mut arena, mut record) = (vec![0; 4], DimensionRecord::new(9));
            let at = ArenaOffset::from_word(4);
            record.write_pairs(at, &tables, &mut arena);
            let read = record.pair_directory(&arena).expect("inside");
            prop_assert_eq!(read.len(), tables.len());
            prop_assert_eq!(read.iter().collect::<Vec<_>>(), tables.clone());
            arena.pop();
            prop_assert!(record.pair_directory(&arena).is_none(), "cut off");
        }
    }

    #[test]
    fn starts_of_rows_are_as_wide_as_needed() {
        assert_eq!(RowStarts::for_total(0xffff), RowStarts::Short);
        assert_eq!(RowStarts::for_total(0x1_0000), RowStarts::Long);
    }
}
