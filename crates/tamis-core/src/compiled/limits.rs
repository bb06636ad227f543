//! How large may a segment be?
//!
//! Numbers in the arrays of a segment are packed: a row's target shares its word with two flags, a posting's sort key
//! has 25 bits for a dimension, a list header has 26 bits for a count. The constructors here refuse a number that does
//! not fit its field, so that building a segment that is too large is an error, never a wrapped number.
//!
//! | limit | packed where |
//! | --- | --- |
//! | [`expressions`](SegmentLimits::expressions) | [`RowTarget`](crate::compiled::arena::header::RowTarget): 30 bits and two flags |
//! | [`dimensions`](SegmentLimits::dimensions) | [`PostingPlace`](crate::compiled::build::placement::PostingPlace): 25 bits; tests of 8 bytes have 31 bits, tests of 4 bytes 16 and are chosen only if they suffice |
//! | [`arena_words`](SegmentLimits::arena_words) | offsets of 32 bits; [`Candidate`](crate::compiled::matching::candidates::Candidate) adds up to 512 words to one |
//! | [`list_entries`](SegmentLimits::list_entries) | [`ListHeader`](crate::compiled::arena::header::ListHeader): 26 bits |
//! | [`spaces`](SegmentLimits::spaces) | spaces and nodes of 32 bits; hash tables have up to four slots per string |
//! | [`string_bytes`](SegmentLimits::string_bytes) | ends of strings: 32 bits |
//! | [`array_items`](SegmentLimits::array_items) | starts of 32 bits; [`Operand`](crate::compiled::build::alternatives::Operand): 31 bits and a flag |
//!
//! The index keeps below these limits: it merges only segments whose sum fits, and divides what does not fit into
//! several segments.

use crate::compiled::arena::header::ListHeader;
use crate::error::Error;
use bytemuck::{Pod, Zeroable};

/// Upper bounds of one segment. [`Default`] gives those of the file format; tests use smaller ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentLimits {
    /// Maximum expressions, constant ones included.
    pub expressions: u32,
    /// Maximum dimensions: attributes, list elements and patterns.
    pub dimensions: u32,
    /// Maximum 32-bit words of the arena.
    pub arena_words: u32,
    /// Maximum entries with residual tests in one posting list.
    pub list_entries: u32,
    /// Maximum spaces of one dimension, space 0 included.
    pub spaces: u32,
    /// Maximum bytes of all strings that cut dimensions.
    pub string_bytes: u32,
    /// Maximum items of any other array: intervals, bitmap words, encoded tests, cuts, hash slots, nodes, operands.
    pub array_items: u32,
}

/// The limits of the file format.
const FORMAT: SegmentLimits = SegmentLimits {
    expressions: ExpressionNumber::MAX + 1,
    dimensions: DimensionId::MAX + 1,
    arena_words: ArenaOffset::MAX,
    list_entries: ListHeader::MAX_ENTRIES,
    spaces: 1 << 30,
    string_bytes: u32::MAX,
    array_items: (1 << 31) - 1,
};

impl Default for SegmentLimits {
    fn default() -> SegmentLimits {
        FORMAT
    }
}

/// A segment would exceed one of its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentOverflow {
    /// What there would be too many of.
    pub what: &'static str,
    /// How many are allowed.
    pub limit: u32,
    /// Whether fewer expressions in the segment help. Not if one expression or the schema alone is too large.
    pub divisible: bool,
}

impl From<SegmentOverflow> for Error {
    fn from(overflow: SegmentOverflow) -> Error {
        Error::SegmentTooLarge { what: overflow.what, limit: u64::from(overflow.limit) }
    }
}

impl SegmentLimits {
    /// Passes a count that is within its limit.
    fn checked(count: usize, limit: u32, what: &'static str) -> Result<u32, SegmentOverflow> {
        let fits = u32::try_from(count).ok().filter(|count| *count <= limit);
        fits.ok_or(SegmentOverflow { what, limit, divisible: true })
    }

    /// The attributes of the schema, each of which is a dimension of every segment.
    pub fn attributes(&self, count: usize) -> Result<u32, SegmentOverflow> {
        let checked = SegmentLimits::checked(count, self.dimensions.min(FORMAT.dimensions), "attributes");
        checked.map_err(|overflow| SegmentOverflow { divisible: false, ..overflow })
    }

    /// A number of dimensions.
    pub fn dimension_count(&self, count: usize) -> Result<u32, SegmentOverflow> {
        SegmentLimits::checked(
            count,
            self.dimensions.min(FORMAT.dimensions),
            "dimensions (attributes, list elements and patterns)",
        )
    }

    /// A number of entries of one posting list.
    pub fn list_entries(&self, count: usize) -> Result<u32, SegmentOverflow> {
        SegmentLimits::checked(
            count,
            self.list_entries.min(FORMAT.list_entries),
            "entries of one posting list",
        )
    }

    /// A number of spaces of one dimension.
    pub fn spaces(&self, count: usize) -> Result<u32, SegmentOverflow> {
        SegmentLimits::checked(count, self.spaces.min(FORMAT.spaces), "distinct values of one attribute")
    }

    /// A number of bytes of strings. The format's limit is what a `u32` holds.
    pub fn string_bytes(&self, count: usize) -> Result<u32, SegmentOverflow> {
        SegmentLimits::checked(count, self.string_bytes, "bytes of distinct strings")
    }

    /// A number of items of an array.
    pub fn items(&self, count: usize, what: &'static str) -> Result<u32, SegmentOverflow> {
        SegmentLimits::checked(count, self.array_items.min(FORMAT.array_items), what)
    }

    /// A number of items that one expression alone needs.
    pub fn items_of_one(&self, count: usize, what: &'static str) -> Result<u32, SegmentOverflow> {
        self.items(count, what).map_err(|overflow| SegmentOverflow { divisible: false, ..overflow })
    }
}

/// Number of an expression within its segment, from 0: leaves two bits of a `u32` free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::compiled) struct ExpressionNumber(u32);

impl ExpressionNumber {
    /// The largest number.
    pub const MAX: u32 = (1 << 30) - 1;

    /// The expression with this number.
    pub fn new(number: usize, limits: &SegmentLimits) -> Result<ExpressionNumber, SegmentOverflow> {
        let limit = limits.expressions.min(FORMAT.expressions);
        SegmentLimits::checked(number.saturating_add(1), limit, "rules")
            .map(|count| ExpressionNumber(count - 1))
    }

    pub fn get(self) -> u32 {
        self.0
    }
}

/// Number of a dimension: 25 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::compiled) struct DimensionId(u32);

impl DimensionId {
    /// Bits of a dimension.
    pub const BITS: u32 = 25;
    /// The largest number.
    pub const MAX: u32 = (1 << DimensionId::BITS) - 1;

    /// The dimension with this number.
    pub fn new(number: usize, limits: &SegmentLimits) -> Result<DimensionId, SegmentOverflow> {
        limits.dimension_count(number.saturating_add(1)).map(|count| DimensionId(count - 1))
    }

    /// The dimension in the lowest bits of a number.
    pub fn from_bits(bits: u64) -> DimensionId {
        DimensionId(bits as u32 & DimensionId::MAX)
    }

    pub fn get(self) -> u32 {
        self.0
    }

    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Offset of a list, table or directory in the arena, in words from its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub(in crate::compiled) struct ArenaOffset(u32);

impl ArenaOffset {
    /// Nothing begins at offset 0.
    pub const NONE: ArenaOffset = ArenaOffset(0);
    /// The largest offset. Above it are more words than the padded rows of four interval blocks take (512), so that
    /// adding a row's distance to an offset does not wrap.
    pub const MAX: u32 = u32::MAX - (1 << 12);

    /// An offset within an arena of this many words.
    pub fn new(at: usize, limits: &SegmentLimits) -> Result<ArenaOffset, SegmentOverflow> {
        let limit = limits.arena_words.min(FORMAT.arena_words);
        SegmentLimits::checked(at, limit, "words of posting lists and tables").map(ArenaOffset)
    }

    /// The offset that was read from a file.
    #[inline(always)]
    pub fn from_word(word: u32) -> ArenaOffset {
        ArenaOffset(word)
    }

    #[inline(always)]
    pub fn get(self) -> u32 {
        self.0
    }

    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    #[inline(always)]
    pub fn is_some(self) -> bool {
        self.0 > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beyond_their_field_are_refused() {
        let limits = SegmentLimits::default();
        let last = ExpressionNumber::MAX as usize;
        assert_eq!(
            ExpressionNumber::new(last, &limits).map(ExpressionNumber::get),
            Ok(ExpressionNumber::MAX)
        );
        assert!(ExpressionNumber::new(last + 1, &limits).is_err());
        let last = DimensionId::MAX as usize;
        assert_eq!(DimensionId::new(last, &limits).map(DimensionId::get), Ok(DimensionId::MAX));
        assert!(DimensionId::new(last + 1, &limits).is_err());
        let last = ArenaOffset::MAX as usize;
        assert_eq!(ArenaOffset::new(last, &limits).map(ArenaOffset::get), Ok(ArenaOffset::MAX));
        assert!(ArenaOffset::new(last + 1, &limits).is_err());
        for check in [SegmentLimits::list_entries, SegmentLimits::spaces, SegmentLimits::string_bytes] {
            assert!(check(&limits, 1 << 20).is_ok());
            assert!(check(&limits, 1 << 32).is_err(), "never a wrapped number");
            assert!(check(&limits, usize::MAX).is_err());
        }
        assert!(limits.items((1 << 31) - 1, "items").is_ok() && limits.items(1 << 31, "items").is_err());
    }

    /// Larger limits than the format's have no effect on packed numbers.
    #[test]
    fn limits_cannot_widen_a_field() {
        let limits = SegmentLimits {
            expressions: u32::MAX,
            dimensions: u32::MAX,
            arena_words: u32::MAX,
            list_entries: u32::MAX,
            spaces: u32::MAX,
            array_items: u32::MAX,
            ..SegmentLimits::default()
        };
        assert!(limits.list_entries(1 << 26).is_err() && limits.spaces((1 << 30) + 1).is_err());
        assert!(limits.items(1 << 31, "items").is_err() && limits.attributes((1 << 25) + 1).is_err());
        assert!(ExpressionNumber::new(1 << 30, &limits).is_err());
        assert!(DimensionId::new(1 << 25, &limits).is_err());
        assert!(ArenaOffset::new(u32::MAX as usize, &limits).is_err());
    }

    #[test]
    fn the_error_names_the_limit() {
        let limits = SegmentLimits { expressions: 3, ..SegmentLimits::default() };
        let error = ExpressionNumber::new(3, &limits).map_err(Error::from).expect_err("one too many");
        assert!(matches!(error, Error::SegmentTooLarge { what: "rules", limit: 3 }));
        assert!(error.to_string().contains("more than 3 rules"), "{error}");
    }
}
