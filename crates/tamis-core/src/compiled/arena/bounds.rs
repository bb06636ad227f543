//! Does everything in the arena stay inside it, and is it reached once? Checked when a file is opened.
//!
//! Matching relies on what the [writer](crate::compiled::arena::writer) guarantees. A file whose checksums fit may have
//! another author, so this pass makes sure of what keeps matching from panicking and bounds its work and memory:
//!
//! - Every list, table and row is inside the arena, and no two of them share a word: an event reads a word once, however
//!   many nodes, pairs and groups there are.
//! - Rows follow each other in the order of their entries, none is empty, and those of equal length say so.
//! - Every target is an expression of the segment; every test names a dimension, spaces and a table entry that exist.
//! - Every key is an interval of spaces of its dimension; unused places of a block have an empty interval.
//!
//! Cost: one pass over the arena and one bit per word of it. Nothing is allocated per row.

use crate::compiled::arena::check::{AllSpaces, KnownInterval, outside};
use crate::compiled::arena::header::{RowTarget, TableDirectory};
use crate::compiled::arena::interval_block::BLOCK;
use crate::compiled::arena::reader::{IntervalTable, PostingList, RowRegion};
use crate::compiled::arena::test_costs::TestCosts;
use crate::compiled::arena::test_encoding::{ResidualTest, TestEncoding, is_complex_narrow};
use crate::compiled::arena::traversal::{PlaceKind, PlaceVisitor, TableVisit, traverse, visit_groups};
use crate::compiled::limits::ArenaOffset;
use crate::compiled::segment::SegmentView;
use std::ops::Range;

/// Levels of nodes that a dimension can have: spaces have 32 bits.
const MAX_LEVELS: u32 = 32;

/// Checks the arena of a segment whose values and complex tests are sound. Adds the tests of every row to the costs.
pub(in crate::compiled) fn check(view: &SegmentView<'_>, costs: &mut TestCosts) -> Result<(), String> {
    check_nodes(view)?;
    let selection = AllSpaces { dimensions: view.dimensions.len() as u32 };
    let words = view.arena.len().div_ceil(64);
    let mut checker = BoundsChecker { view, selection, reached: vec![0; words], costs };
    traverse(view, selection, &mut checker)
}

/// Checks that the nodes of all dimensions follow each other in their array.
fn check_nodes(view: &SegmentView<'_>) -> Result<(), String> {
    let mut end = 0_u64;
    for (dimension, record) in (0..).zip(view.dimensions) {
        let wrong = |what: &str| format!("compiled: {what} of dimension {dimension}");
        if record.spaces != view.spaces.count(dimension) {
            return Err(wrong("two numbers of spaces"));
        }
        if record.levels == 0 {
            continue;
        }
        if record.levels > MAX_LEVELS || u64::from(record.nodes) < end {
            return Err(wrong("the nodes are not in order"));
        }
        let nodes = (0..record.levels).map(|level| u64::from(record.spaces >> level) + 1);
        end = u64::from(record.nodes) + nodes.sum::<u64>();
        if end > view.nodes.len() as u64 {
            return Err(wrong("the nodes lead outside their array"));
        }
    }
    Ok(())
}

struct BoundsChecker<'r, 'a> {
    view: &'r SegmentView<'a>,
    selection: AllSpaces,
    /// One bit per word of the arena: set if a list or table that was reached has it.
    reached: Vec<u64>,
    costs: &'r mut TestCosts,
}

impl PlaceVisitor<AllSpaces> for BoundsChecker<'_, '_> {
    type Error = String;

    fn list(&mut self, at: ArenaOffset, _kind: PlaceKind, node: Option<KnownInterval>) -> Result<(), String> {
        let (at, words) = (at.index(), self.view.encoding.test_words());
        let list = PostingList::read(self.view.arena, at, words).ok_or_else(|| outside("list", at))?;
        self.reach(at..list.rows.first)?;
        list.decided.iter().try_for_each(|target| self.target(*target))?;
        let never = TestEncoding::never(self.view.dimensions.len());
        let (tests, padding) = list.first_tests.split_at(list.entries * words);
        if padding.iter().any(|test| *test != never) {
            return Err(format!("compiled: the list at {at} is padded with tests that may hold"));
        }
        for first in tests.chunks_exact(words) {
            if self.test(first)? && words == 1 {
                return Err("compiled: the first test of a list entry is a complex one".into());
            }
        }
        self.rows(&list.rows, list.entries, false)?;
        self.directory(list.groups)?;
        visit_groups(self.selection, list.groups, node, self)
    }

    fn table(&mut self, at: ArenaOffset, visit: TableVisit<AllSpaces>) -> Result<(), String> {
        let at = at.index();
        let table = IntervalTable::read(self.view.arena, at).ok_or_else(|| outside("table", at))?;
        self.reach(at..table.rows.first)?;
        if table.pair != visit.second.is_some() {
            return Err(format!("compiled: the table at {at} has another number of keys than dimensions"));
        }
        let dimensions = std::iter::once(visit.first).chain(visit.second);
        for (key, (dimension, ())) in dimensions.enumerate() {
            let spaces = self.view.spaces.count(dimension);
            let is_sound = |entry: usize| match table.key(entry, key) {
                (low, high) if entry < table.entries => 0 < low && low <= high && high < spaces,
                (low, high) => low > high,
            };
            if !(0..table.entries.next_multiple_of(BLOCK)).all(is_sound) {
                return Err(format!("compiled: a key of the table at {at} is no interval of spaces"));
            }
        }
        self.rows(&table.rows, table.entries, true)
    }

    fn pairs(
        &mut self,
        selection: AllSpaces,
        first: (u32, ()),
        directory: TableDirectory<'_>,
    ) -> Result<(), String> {
        self.directory(directory)?;
        for (second, table) in directory.iter() {
            let second = (selection.dimensions > second).then_some((second, ()));
            self.table(table, TableVisit { kind: PlaceKind::Pair, first, second, within: None })?;
        }
        Ok(())
    }

    fn damaged(&mut self, what: &'static str) -> Result<(), String> {
        Err(format!("compiled: {what} lead outside their array"))
    }
}

impl BoundsChecker<'_, '_> {
    /// Marks words of the arena as reached; an error if one was before.
    fn reach(&mut self, words: Range<usize>) -> Result<(), String> {
        if words.end > self.view.arena.len() {
            return Err(outside("place", words.start));
        }
        let mut at = words.start;
        while at < words.end {
            let end = words.end.min((at / 64 + 1) * 64);
            let bits = (u64::MAX >> (64 - (end - at))) << (at % 64);
            if self.reached[at / 64] & bits != 0 {
                return Err(format!("compiled: two places share the words from {at}"));
            }
            self.reached[at / 64] |= bits;
            at = end;
        }
        Ok(())
    }

    fn directory(&self, directory: TableDirectory<'_>) -> Result<(), String> {
        match directory.iter().find(|(dimension, _)| *dimension >= self.selection.dimensions) {
            Some((dimension, _)) => Err(format!("compiled: a table of dimension {dimension}")),
            None => Ok(()),
        }
    }

    /// Checks a target as it is reported: an expression, marked for dedup only if the segment has dedup.
    fn target(&self, word: u32) -> Result<(), String> {
        let target = RowTarget::from_word(word);
        let is_sound = (target.number() as usize) < self.view.len
            && !target.has_complex_tests()
            && (!target.is_repeated() || self.view.needs_dedup);
        if is_sound { Ok(()) } else { Err(format!("compiled: a target {word:#x}")) }
    }

    /// Checks the rows of a list or a table, whose rows have their first test inside.
    fn rows(&mut self, rows: &RowRegion, entries: usize, first_inside: bool) -> Result<(), String> {
        let view = self.view;
        let end = rows.end(view.arena, entries).ok_or_else(|| outside("row", rows.first))?;
        self.reach(rows.first..end)?;
        if rows.uniform > 1 && view.encoding.is_wide() {
            return Err("compiled: rows of equal length with tests of 8 bytes".into());
        }
        let words = view.encoding.test_words();
        let padding = [TestEncoding::always(view.dimensions.len())];
        for entry in 0..entries {
            let (start, end) = rows.row(view.arena, entry);
            let [target, tests @ ..] = &view.arena[start..end] else { return Err(outside("row", start)) };
            let target = RowTarget::from_word(*target);
            self.target(target.reported().word())?;
            let mut complex = false;
            for test in tests.chunks_exact(words).filter(|test| **test != padding) {
                complex |= self.test(test)?;
            }
            let complex_first =
                words == 1 && first_inside && tests.first().is_some_and(|first| is_complex_narrow(*first));
            if tests.len() % words != 0 || rows.uniform > 1 && complex_first {
                return Err(format!("compiled: the row at {start} has a broken first or last test"));
            }
            if (rows.uniform > 1 && complex) != target.has_complex_tests() {
                return Err("compiled: a row with complex tests is not marked, or one without is".into());
            }
        }
        Ok(())
    }

    /// Checks an encoded test; returns whether it is complex.
    fn test(&mut self, words: &[u32]) -> Result<bool, String> {
        let view = self.view;
        let encoded = words.iter().rev().fold(0, |encoded, word| encoded << 32 | u64::from(*word));
        if words == [TestEncoding::always(view.dimensions.len())] {
            return Ok(false);
        }
        let test = view.encoding.decode(encoded);
        match test {
            ResidualTest::Interval { dimension, low, high, .. } => {
                let spaces = view.spaces.get_count(dimension).unwrap_or(0);
                if low <= high && high < spaces { Ok(false) } else { Err(leads_outside(test)) }
            }
            ResidualTest::Complex(entry) if (entry as usize) < view.complex.len() => {
                self.costs.add_row_test(entry);
                Ok(true)
            }
            ResidualTest::Complex(_) => Err(leads_outside(test)),
        }
    }
}

fn leads_outside(test: ResidualTest) -> String {
    format!("compiled: a test that leads outside: {test:?}")
}
