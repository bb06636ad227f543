//! Writes the arena: one array of 32-bit words with every list, table and row.
//!
//! ```text
//! list:   header
//!         ranks of the first of each 16 targets and of each 16 entries
//!         targets without residual tests
//!         first tests of the other entries
//!         starts of their rows                unless all rows have equal length
//!         rows                                target and further tests
//!         directory of the groups             dimensions, then offsets of their tables
//! table:  header                              with the rank of the first entry
//!         ranks of the first entries of further blocks
//!         interval blocks                     of the first key and, if there are two, of the second
//!         starts of the rows                  unless all rows have equal length
//!         rows                                target and residual tests
//! ```
//!
//! Entries ascend by the rank of their member ([`scores`](crate::compiled::scores)), so that ranking reads a prefix of them.
//! Residual tests lie behind the keys that lead to them, so rejecting a candidate is one sequential read. A list stands
//! for a node, or for every event; a table for a scan, a pair, or a group: the entries of a long list that continue
//! with the same dimension.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `mod` | which lists and tables are there, and what leads to them? |
//! | `entries` | which tests are left at a place, in which order, and which entries form a group? |
//! | `records` | how is one list, table or row laid out? |
//! | `encoder` | what is a predicate or a subexpression as an encoded test? |

mod encoder;
mod entries;
mod records;

use crate::compiled::arena::complex_test::ComplexTest;
use crate::compiled::arena::header::{DimensionRecord, MAX_UNIFORM_ROW};
use crate::compiled::arena::interval_block::EndWidth;
use crate::compiled::arena::test_encoding::TestEncoding;
use crate::compiled::build::alternatives::{Alternatives, Operand, Subexpressions};
use crate::compiled::build::conditions::{SpaceCondition, SpaceConditions};
use crate::compiled::build::placement::{PostingPlace, Postings};
use crate::compiled::limits::{ArenaOffset, DimensionId, SegmentLimits, SegmentOverflow};
use crate::compiled::scores::RanksView;
use crate::compiled::values::spaces::ValueSpaces;
use crate::error::Interruption;
use encoder::TestEncoder;
use entries::PendingEntry;

/// The arrays that writing the arena makes.
pub(in crate::compiled) struct ArenaLayout {
    pub encoding: TestEncoding,
    pub arena: Vec<u32>,
    pub dimensions: Vec<DimensionRecord>,
    /// Lists of the nodes of all dimensions; [`ArenaOffset::NONE`] for a node without one.
    pub nodes: Vec<ArenaOffset>,
    /// The list that every event reads, or [`ArenaOffset::NONE`].
    pub everywhere: ArenaOffset,
    pub complex: Vec<ComplexTest>,
    /// Encoded tests of subexpressions.
    pub subexpression_tests: Vec<u64>,
    /// Number of memo slots.
    pub memos: u32,
    pub counts: LayoutCounts,
    /// Encoded tests of weighted predicates, 8 bytes each.
    pub score_tests: Vec<u64>,
}

/// How many records there are, for statistics.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::compiled) struct LayoutCounts {
    /// Dimensions with a scan.
    pub scans: u64,
    pub pairs: u64,
    pub groups: u64,
    pub lists: u64,
}

/// What the passes before have made of the expressions.
#[derive(Clone, Copy)]
pub(in crate::compiled) struct WriterInputs<'w> {
    pub alternatives: &'w Alternatives,
    pub subexpressions: &'w Subexpressions,
    pub postings: &'w Postings,
    /// Ranks of the members.
    pub ranks: RanksView<'w>,
    /// Distinct tests of weighted predicates.
    pub score_tests: &'w [Operand],
}

/// Writes all postings.
pub(in crate::compiled) fn write(
    conditions: &mut SpaceConditions,
    inputs: WriterInputs<'_>,
    limits: &SegmentLimits,
) -> Result<ArenaLayout, SegmentOverflow> {
    let WriterInputs { alternatives, subexpressions, postings, ranks, score_tests } = inputs;
    let complex = std::mem::take(&mut conditions.complex);
    let encoding = encoder::choose_encoding(conditions, alternatives, subexpressions, complex.len());
    let mut tests = TestEncoder::new(&conditions.conditions, encoding, complex, limits);
    tests.add_subexpressions(subexpressions)?;
    let records = (0..conditions.spaces.len() as u32)
        .map(|dimension| DimensionRecord::new(conditions.spaces.count(dimension)));
    let mut writer = ArenaWriter {
        conditions: &conditions.conditions,
        alternatives,
        ranks,
        spaces: &conditions.spaces,
        limits,
        // Nothing begins at offset 0, which stands for none.
        arena: vec![0; 4],
        dimensions: records.collect(),
        nodes: Vec::new(),
        everywhere: ArenaOffset::NONE,
        counts: LayoutCounts::default(),
        encoder: tests,
        tests: Vec::new(),
        entries: Vec::new(),
    };
    writer.write_places(postings)?;
    // The last row is read as if it had the maximum length.
    writer.arena.extend([0; MAX_UNIFORM_ROW]);
    writer.offset()?;
    // Behind the tests of the arena, whose entries of the table have 16 bits with tests of 4 bytes.
    let encode = |test: &Operand| writer.encoder.operand_wide(*test);
    let score_tests = score_tests.iter().map(encode).collect::<Result<Vec<u64>, _>>()?;
    let ArenaWriter { arena, dimensions, nodes, everywhere, counts, encoder, .. } = writer;
    Ok(ArenaLayout {
        encoding,
        arena,
        dimensions,
        nodes,
        everywhere,
        complex: encoder.complex,
        subexpression_tests: encoder.subexpression_tests,
        memos: encoder.memos,
        counts,
        score_tests,
    })
}

/// The arrays on their way to an [`ArenaLayout`].
struct ArenaWriter<'w> {
    /// By predicate.
    conditions: &'w [SpaceCondition],
    alternatives: &'w Alternatives,
    ranks: RanksView<'w>,
    spaces: &'w ValueSpaces,
    limits: &'w SegmentLimits,
    arena: Vec<u32>,
    dimensions: Vec<DimensionRecord>,
    nodes: Vec<ArenaOffset>,
    everywhere: ArenaOffset,
    counts: LayoutCounts,
    encoder: TestEncoder<'w>,
    /// Residual tests of the entries of the place in hand.
    tests: Vec<Operand>,
    /// Entries of the place in hand; reused.
    entries: Vec<PendingEntry>,
}

impl ArenaWriter<'_> {
    /// Writes place after place; postings are sorted by place, and those of a dimension's pairs follow each other.
    fn write_places(&mut self, postings: &Postings) -> Result<(), SegmentOverflow> {
        let mut pairs: Vec<(u32, ArenaOffset)> = Vec::new();
        let mut pairs_of = None;
        for of_place in postings.sorted.chunk_by(|a, b| a.place() == b.place()) {
            Interruption::unwind_if_requested();
            let place = of_place[0].place();
            let first = if let PostingPlace::Pair { first, .. } = place { Some(first) } else { None };
            if first != pairs_of {
                self.write_pairs(pairs_of, &mut pairs)?;
                pairs_of = first;
            }
            self.gather(postings, of_place)?;
            let entries = std::mem::take(&mut self.entries);
            match place {
                PostingPlace::Everywhere => self.everywhere = self.list(&entries, false)?,
                PostingPlace::Scan { dimension } => self.write_scan(dimension, &entries)?,
                PostingPlace::Pair { first, second } => {
                    let width = self.width(first).max(self.width(second));
                    pairs.push((second.get(), self.table(&entries, width, 2)?));
                    self.counts.pairs += 1;
                }
                PostingPlace::Node { dimension, level, number } => {
                    let list = self.list(&entries, true)?;
                    self.set_node(dimension, level, number, list)?;
                }
            }
            self.entries = entries;
        }
        self.write_pairs(pairs_of, &mut pairs)
    }

    /// The narrowest interval ends for a dimension.
    fn width(&self, dimension: DimensionId) -> EndWidth {
        EndWidth::for_spaces(self.spaces.count(dimension.get()))
    }

    fn write_scan(
        &mut self,
        dimension: DimensionId,
        entries: &[PendingEntry],
    ) -> Result<(), SegmentOverflow> {
        let (decided, undecided): (Vec<PendingEntry>, Vec<PendingEntry>) =
            entries.iter().partition(|entry| entry.len == 0);
        for (scan, entries) in [decided, undecided].into_iter().enumerate() {
            if !entries.is_empty() {
                let table = self.table(&entries, self.width(dimension), 1)?;
                self.dimensions[dimension.index()].scans[scan] = table;
            }
        }
        self.counts.scans += 1;
        Ok(())
    }

    /// Writes the directory of a dimension's pairs, if there are any.
    fn write_pairs(
        &mut self,
        dimension: Option<DimensionId>,
        pairs: &mut Vec<(u32, ArenaOffset)>,
    ) -> Result<(), SegmentOverflow> {
        if let Some(dimension) = dimension.filter(|_| !pairs.is_empty()) {
            let at = self.aligned_offset()?;
            self.dimensions[dimension.index()].write_pairs(at, pairs, &mut self.arena);
            pairs.clear();
        }
        Ok(())
    }

    /// Sets the list of a node. Nodes come in order of dimension and level, so that the array grows at its end.
    fn set_node(
        &mut self,
        dimension: DimensionId,
        level: u32,
        number: u32,
        list: ArenaOffset,
    ) -> Result<(), SegmentOverflow> {
        let record = &mut self.dimensions[dimension.index()];
        if record.levels == 0 {
            record.nodes = self.limits.items(self.nodes.len(), "nodes")?;
        }
        while record.levels <= level {
            let len = self.nodes.len() + record.nodes_in_level(record.levels) as usize;
            self.limits.items(len, "nodes")?;
            self.nodes.resize(len, ArenaOffset::NONE);
            record.levels += 1;
        }
        let before: u32 = (0..level).map(|level| record.nodes_in_level(level)).sum();
        self.nodes[(record.nodes + before + number) as usize] = list;
        Ok(())
    }

    /// The end of the arena.
    fn offset(&self) -> Result<ArenaOffset, SegmentOverflow> {
        ArenaOffset::new(self.arena.len(), self.limits)
    }

    /// The end of the arena, padded to 16 bytes.
    fn aligned_offset(&mut self) -> Result<ArenaOffset, SegmentOverflow> {
        let len = self.arena.len().next_multiple_of(4);
        self.arena.resize(len, 0);
        self.offset()
    }
}
