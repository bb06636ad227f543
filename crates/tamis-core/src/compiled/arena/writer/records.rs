//! One list, one table, and their rows.

use super::ArenaWriter;
use super::entries::PendingEntry;
use crate::compiled::arena::header::{
    ListHeader, MAX_UNIFORM_ROW, RowFormat, RowStarts, TableDirectory, TableHeader,
};
use crate::compiled::arena::interval_block::{BLOCK, EndWidth};
use crate::compiled::arena::reader::first_tests_words;
use crate::compiled::arena::test_encoding::{TestEncoding, is_complex_narrow};
use crate::compiled::build::alternatives::Operand;
use crate::compiled::limits::{ArenaOffset, SegmentOverflow};

/// Where the first tests of rows are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FirstTest {
    /// In front of all rows.
    Separate,
    /// In the row.
    InRow,
}

impl ArenaWriter<'_> {
    /// Writes a list and returns where it begins.
    pub(super) fn list(
        &mut self,
        entries: &[PendingEntry],
        may_group: bool,
    ) -> Result<ArenaOffset, SegmentOverflow> {
        self.counts.lists += 1;
        let (decided, undecided): (Vec<PendingEntry>, Vec<PendingEntry>) =
            entries.iter().partition(|entry| entry.len == 0);
        let (flat, groups) = if may_group { self.group(undecided) } else { (undecided, Vec::new()) };
        let mut directory: Vec<(u32, ArenaOffset)> = Vec::with_capacity(groups.len());
        for group in &groups {
            let width = EndWidth::for_spaces(self.spaces.count(group.dimension));
            directory.push((group.dimension, self.table(&group.entries, width, 1)?));
            self.counts.groups += 1;
        }
        let start = self.aligned_offset()?;
        self.arena.extend([0; ListHeader::WORDS]);
        self.arena.extend(decided.chunks(BLOCK).chain(flat.chunks(BLOCK)).map(|block| block[0].rank));
        self.arena.extend(decided.iter().map(|entry| entry.target.word()));
        self.first_tests(&flat)?;
        let rows = self.rows(&flat, FirstTest::Separate)?;
        let header = ListHeader {
            decided: self.limits.items(decided.len(), "entries of one posting list")?,
            entries: self.limits.list_entries(flat.len())?,
            rows,
            groups: directory.len() as u32,
            ranked: true,
            directory: self.offset()?.get() - start.get(),
        };
        TableDirectory::write(&directory, &mut self.arena);
        self.arena[start.index()..][..ListHeader::WORDS].copy_from_slice(&header.pack());
        Ok(start)
    }

    /// Writes the first test of each entry. With 4 bytes a complex test is replaced by one that always holds.
    fn first_tests(&mut self, entries: &[PendingEntry]) -> Result<(), SegmentOverflow> {
        for entry in entries {
            if entry.plain == 0 && self.encoder.encoding == TestEncoding::Narrow {
                self.arena.push(TestEncoding::always(self.spaces.len()));
            } else {
                self.push_test(self.tests[entry.tests().start])?;
            }
        }
        let words = self.encoder.encoding.test_words();
        let padding = first_tests_words(entries.len(), words) - entries.len() * words;
        let never = TestEncoding::never(self.spaces.len());
        self.arena.extend((0..padding).map(|_| never));
        Ok(())
    }

    /// Writes a table and returns where it begins.
    pub(super) fn table(
        &mut self,
        entries: &[PendingEntry],
        width: EndWidth,
        keys: usize,
    ) -> Result<ArenaOffset, SegmentOverflow> {
        let entries: Vec<PendingEntry> =
            entries.iter().map(|entry| self.without_key_test(entry, keys)).collect();
        let start = self.aligned_offset()?;
        self.arena.extend([0; TableHeader::WORDS]);
        let ranks_end = self.arena.len() + TableHeader::rank_words(entries.len());
        self.arena.extend(entries.chunks(BLOCK).skip(1).map(|block| block[0].rank));
        self.arena.resize(ranks_end, 0);
        for block in entries.chunks(BLOCK) {
            for key in 0..keys {
                let intervals: Vec<(u32, u32)> = block.iter().map(|entry| entry.keys[key].interval).collect();
                width.write_block(&intervals, &mut self.arena);
            }
        }
        let rows = self.rows(&entries, FirstTest::InRow)?;
        let count = self.limits.items(entries.len(), "entries of one table")?;
        let rank = Some(entries.first().map_or(0, |first| first.rank));
        let header = TableHeader { entries: count, width, pair: keys == 2, rows, rank };
        self.arena[start.index()..][..TableHeader::WORDS].copy_from_slice(&header.pack());
        Ok(start)
    }

    /// Writes the starts of rows, and the rows.
    fn rows(&mut self, entries: &[PendingEntry], first: FirstTest) -> Result<RowFormat, SegmentOverflow> {
        let shape = RowShape { encoding: self.encoder.encoding, first };
        let longest = entries.iter().map(|entry| shape.words(entry)).max().unwrap_or(1);
        let uniform = shape.uniform(longest);
        let starts = if uniform > 0 {
            RowStarts::None
        } else {
            RowStarts::for_total(entries.iter().map(|entry| shape.words(entry)).sum())
        };
        self.row_starts(entries, &shape, starts);
        let always = TestEncoding::always(self.spaces.len());
        for entry in entries {
            let start = self.arena.len();
            self.arena.push(entry.target.word());
            self.arena.extend(shape.is_padded(entry).then_some(always));
            for at in entry.tests().skip(shape.skipped(entry) as usize) {
                self.push_test(self.tests[at])?;
            }
            self.arena.extend((shape.words(entry)..uniform).map(|_| always));
            if uniform > 1 && self.arena[start + 1..].iter().any(|test| is_complex_narrow(*test)) {
                self.arena[start] = entry.target.with_complex_tests().word();
            }
        }
        // Starts count from the first row, so they are below the end of the arena.
        self.offset()?;
        Ok(RowFormat { starts, uniform: uniform as u32 })
    }

    /// Writes where each row begins and the last one ends, in words from the first row.
    fn row_starts(&mut self, entries: &[PendingEntry], shape: &RowShape, kind: RowStarts) {
        let mut start = 0;
        let starts = entries.iter().map(|entry| shape.words(entry)).chain([0]).map(|words| {
            start += words;
            (start - words) as u32
        });
        match kind {
            RowStarts::None => {}
            RowStarts::Short => {
                let starts: Vec<u32> = starts.collect();
                let halves = starts.chunks(2).map(|two| two[0] | two.get(1).unwrap_or(&0) << 16);
                self.arena.extend(halves);
            }
            RowStarts::Long => self.arena.extend(starts),
        }
    }

    fn push_test(&mut self, operand: Operand) -> Result<(), SegmentOverflow> {
        let encoded = self.encoder.operand(operand)?;
        self.arena.push(encoded as u32);
        if self.encoder.encoding.is_wide() {
            self.arena.push((encoded >> 32) as u32);
        }
        Ok(())
    }
}

/// What the rows of a list or table consist of.
struct RowShape {
    encoding: TestEncoding,
    first: FirstTest,
}

impl RowShape {
    fn is_narrow(&self) -> bool {
        self.encoding == TestEncoding::Narrow
    }

    /// Tests of an entry that are not in its row. With 4 bytes the first test is never a complex one.
    fn skipped(&self, entry: &PendingEntry) -> u32 {
        let stored = if self.is_narrow() { entry.plain } else { entry.len };
        u32::from(self.first == FirstTest::Separate).min(stored)
    }

    /// Whether a test that always holds stands in front of complex ones: with 4 bytes no row begins with one.
    fn is_padded(&self, entry: &PendingEntry) -> bool {
        self.is_narrow() && entry.plain == self.skipped(entry) && entry.len > entry.plain
    }

    /// Words of an entry's row.
    fn words(&self, entry: &PendingEntry) -> usize {
        let tests = (entry.len - self.skipped(entry)) as usize;
        1 + usize::from(self.is_padded(entry)) + tests * self.encoding.test_words()
    }

    /// Words of every row if the longest has `longest`, or 0 if rows keep their lengths.
    fn uniform(&self, longest: usize) -> usize {
        match (longest, self.encoding) {
            // Candidates of a list have a test in their row.
            (1, TestEncoding::Narrow) if self.first == FirstTest::Separate => 2,
            (1, _) => 1,
            (0..=MAX_UNIFORM_ROW, TestEncoding::Narrow) => longest,
            _ => 0,
        }
    }
}
