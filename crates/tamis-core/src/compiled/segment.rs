//! The arrays of a built segment, and how they are matched.

use crate::compiled::arena::complex_test::ComplexTests;
use crate::compiled::arena::header::DimensionRecord;
use crate::compiled::arena::test_encoding::TestEncoding;
use crate::compiled::arena::{check, order};
use crate::compiled::limits::ArenaOffset;
use crate::compiled::matching::batch::Batch;
use crate::compiled::matching::scratch::CompiledScratch;
use crate::compiled::matching::strategy::ModeChooser;
use crate::compiled::scores::Scores;
use crate::compiled::values::spaces::{ValueSpaces, ValueSpacesView};
use crate::compiled::values::string_predicates::StringPredicates;
use crate::event::Rows;
use crate::storage::Array;
use std::ops::Range;

/// Names of the statistics, in the order of [`CompiledSegment::statistics`].
pub(in crate::compiled) const STATISTICS: [&str; 8] =
    ["distinct_predicates", "alternatives", "places", "subexpressions", "scans", "pairs", "groups", "lists"];

/// Many expressions as immutable arrays, owned or mapped from a file. See [`compiled`](crate::compiled).
#[derive(Debug)]
pub(crate) struct CompiledSegment {
    /// Numbers given to expressions; some may have none.
    pub(in crate::compiled) len: usize,
    /// Attributes that were known when the segment was built. Later ones are ignored: no expression tests them.
    pub(in crate::compiled) attributes: usize,
    /// How tests in the arena are encoded.
    pub(in crate::compiled) encoding: TestEncoding,
    /// The list that every event reads, or [`ArenaOffset::NONE`].
    pub(in crate::compiled) everywhere: ArenaOffset,
    /// Whether some expression may be found repeatedly.
    pub(in crate::compiled) needs_dedup: bool,
    /// Whether every test can be evaluated for many events at once.
    pub(in crate::compiled) batchable: bool,
    pub(in crate::compiled) spaces: ValueSpaces,
    /// Attributes with a dimension for their list elements: attribute and dimension, ascending.
    pub(in crate::compiled) elements: Array<[u32; 2]>,
    pub(in crate::compiled) complex: ComplexTests,
    pub(in crate::compiled) strings: StringPredicates,
    /// By dimension.
    pub(in crate::compiled) dimensions: Array<DimensionRecord>,
    /// Lists of the nodes of all dimensions; [`ArenaOffset::NONE`] for a node without one.
    pub(in crate::compiled) nodes: Array<ArenaOffset>,
    /// Lists, tables and rows.
    pub(in crate::compiled) arena: Array<u32>,
    /// Counts for `stats()`, named by [`STATISTICS`].
    pub(in crate::compiled) statistics: Array<u64>,
    /// By dimension: the estimated share of events that have it, from 0 to 1.
    pub(in crate::compiled) presence: Array<f32>,
    /// How much matches count, for ranking.
    pub(in crate::compiled) scores: Scores,
    /// Which way to match many events has been faster so far.
    pub(in crate::compiled) chooser: ModeChooser,
}

/// The arrays of a segment, borrowed once for many events.
#[derive(Clone, Copy)]
pub(in crate::compiled) struct SegmentView<'a> {
    pub encoding: TestEncoding,
    pub attributes: usize,
    pub len: usize,
    pub spaces: ValueSpacesView<'a>,
    pub elements: &'a [[u32; 2]],
    pub dimensions: &'a [DimensionRecord],
    pub nodes: &'a [ArenaOffset],
    pub arena: &'a [u32],
    pub everywhere: ArenaOffset,
    /// Packed entries of the table of complex tests.
    pub complex: &'a [[u32; 4]],
    pub intervals: &'a [[u32; 2]],
    pub bits: &'a [u64],
    pub subexpression_tests: &'a [u64],
    pub memos: u32,
    pub strings: &'a StringPredicates,
    pub needs_dedup: bool,
    pub batchable: bool,
}

/// How much of the limits a segment uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SegmentSize {
    /// Words of the arena.
    pub arena_words: usize,
    /// Attributes, each of which is a dimension.
    pub attributes: usize,
    /// Dimensions of list elements and patterns.
    pub extra_dimensions: usize,
    /// Bytes of strings that cut dimensions.
    pub string_bytes: usize,
}

impl CompiledSegment {
    pub fn scratch() -> CompiledScratch {
        CompiledScratch::default()
    }

    pub(in crate::compiled) fn view(&self) -> SegmentView<'_> {
        SegmentView {
            encoding: self.encoding,
            attributes: self.attributes,
            len: self.len,
            spaces: self.spaces.view(),
            elements: &self.elements,
            dimensions: &self.dimensions,
            nodes: &self.nodes,
            arena: &self.arena,
            everywhere: self.everywhere,
            complex: &self.complex.entries,
            intervals: &self.complex.intervals,
            bits: &self.complex.bits,
            subexpression_tests: &self.complex.subexpression_tests,
            memos: self.complex.memos,
            strings: &self.strings,
            needs_dedup: self.needs_dedup,
            batchable: self.batchable,
        }
    }

    /// Replaces the content of `found` by the matches of a range of rows, which were read with this many attributes: the
    /// numbers of all expressions that an event satisfies, each once, in any order.
    pub fn match_rows(
        &self,
        rows: &Rows,
        range: Range<usize>,
        attributes: usize,
        scratch: &mut CompiledScratch,
        found: &mut Batch,
    ) {
        found.ends.clear();
        found.subs.clear();
        self.chooser.match_rows(&self.view(), rows, range, attributes, scratch, found);
    }

    /// Whether its members can be ranked without their texts. Not if it is of a file of format 2.
    pub fn can_rank(&self) -> bool {
        !self.scores.is_empty()
    }

    /// Numbers given to expressions, those without an expression included.
    pub fn len(&self) -> usize {
        self.len
    }

    /// How much of the limits it uses.
    pub fn size(&self) -> SegmentSize {
        SegmentSize {
            arena_words: self.arena.len(),
            attributes: self.attributes,
            extra_dimensions: self.spaces.len().saturating_sub(self.attributes),
            string_bytes: self.spaces.string_bytes(),
        }
    }

    /// Bytes in use, approximately.
    pub fn memory(&self) -> usize {
        self.spaces.memory()
            + self.elements.memory()
            + self.complex.memory()
            + self.strings.memory()
            + self.dimensions.memory()
            + self.nodes.memory()
            + self.arena.memory()
            + self.presence.memory()
            + self.scores.memory()
    }

    /// Named counts and costs.
    pub fn stats(&self) -> Vec<(&'static str, u64)> {
        let mut stats: Vec<_> = STATISTICS.into_iter().zip(self.statistics.iter().copied()).collect();
        stats.push(("patterns", self.strings.len() as u64));
        stats.push(("dimensions", self.spaces.len() as u64));
        stats.extend(self.chooser.stats());
        stats
    }

    /// Checks every invariant; the error names the broken one.
    pub fn validate(&self) -> Result<(), String> {
        self.spaces.validate()?;
        if !self.scores.is_empty() {
            self.scores.ranks.validate(self.len)?;
            order::check(&self.view(), self.scores.ranks.view())?;
        }
        check::check(&self.view())
    }
}
