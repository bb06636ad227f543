//! Every row of the arena with how it is reached, and whether all of it leads inside the arrays.

use crate::compiled::arena::complex_test::{ComplexTest, NO_MEMO};
use crate::compiled::arena::header::RowTarget;
use crate::compiled::arena::reader::{IntervalTable, PostingList, RowRegion};
use crate::compiled::arena::test_encoding::{ResidualTest, TestEncoding, is_complex_narrow};
use crate::compiled::arena::traversal::{
    PlaceKind, PlaceVisitor, SpaceSelection, TableVisit, traverse, visit_groups,
};
use crate::compiled::limits::ArenaOffset;
use crate::compiled::segment::SegmentView;

/// A dimension and an interval of its spaces.
pub(in crate::compiled) type KnownInterval = (u32, (u32, u32));

/// A row, or an entry without residual tests, and how an event reaches it.
#[derive(Clone, Debug)]
pub(in crate::compiled) struct StoredRow {
    pub target: RowTarget,
    /// What every event that reads the row satisfies.
    pub known: Vec<KnownInterval>,
    /// Residual tests, in order.
    pub tests: Vec<ResidualTest>,
    pub kind: PlaceKind,
}

/// Selects every space of every dimension.
#[derive(Clone, Copy)]
pub(super) struct AllSpaces {
    /// Number of dimensions.
    pub dimensions: u32,
}

impl SpaceSelection for AllSpaces {
    type Spaces = ();
    /// What the node says of an event; nothing for the list that every event reads.
    type Node = Option<KnownInterval>;

    fn everywhere(self) -> Option<KnownInterval> {
        None
    }

    fn dimensions(self) -> impl Iterator<Item = (u32, ())> {
        (0..self.dimensions).map(|dimension| (dimension, ()))
    }

    fn spaces(self, dimension: u32) -> Option<()> {
        (dimension < self.dimensions).then_some(())
    }

    fn nodes(
        self,
        dimension: u32,
        _spaces: (),
        level: u32,
        count: u32,
    ) -> impl Iterator<Item = (u32, Option<KnownInterval>)> {
        (0..count).map(move |node| {
            let interval = (node << level, (node << level) + ((1 << level) - 1));
            (node, Some((dimension, interval)))
        })
    }
}

/// Calls a function with every row of a segment; the error says what leads outside.
pub(in crate::compiled) fn for_each_row(
    view: &SegmentView<'_>,
    each: impl FnMut(StoredRow) -> Result<(), String>,
) -> Result<(), String> {
    let selection = AllSpaces { dimensions: view.dimensions.len() as u32 };
    traverse(view, selection, &mut RowReader { view, selection, each })
}

struct RowReader<'r, 'a, F> {
    view: &'r SegmentView<'a>,
    selection: AllSpaces,
    each: F,
}

pub(super) fn outside(what: &str, at: usize) -> String {
    format!("compiled: the {what} at {at} leads outside the arena")
}

impl<F: FnMut(StoredRow) -> Result<(), String>> PlaceVisitor<AllSpaces> for RowReader<'_, '_, F> {
    type Error = String;

    fn list(&mut self, at: ArenaOffset, kind: PlaceKind, node: Option<KnownInterval>) -> Result<(), String> {
        let (at, words) = (at.index(), self.view.encoding.test_words());
        let list = PostingList::read(self.view.arena, at, words).ok_or_else(|| outside("list", at))?;
        let known = node.as_slice();
        for target in list.decided {
            let target = RowTarget::from_word(*target);
            (self.each)(StoredRow { target, known: known.to_vec(), tests: Vec::new(), kind })?;
        }
        let never = TestEncoding::never(self.view.dimensions.len());
        if list.first_tests[list.entries * words..].iter().any(|test| *test != never) {
            return Err(format!("compiled: the list at {at} is padded with tests that may hold"));
        }
        for (entry, first) in list.first_tests.chunks_exact(words).take(list.entries).enumerate() {
            let row = self.row(&list.rows, entry, Some(first), known, kind)?;
            (self.each)(row)?;
        }
        visit_groups(self.selection, list.groups, node, self)
    }

    fn table(&mut self, at: ArenaOffset, visit: TableVisit<AllSpaces>) -> Result<(), String> {
        let at = at.index();
        let table = IntervalTable::read(self.view.arena, at).ok_or_else(|| outside("table", at))?;
        let dimensions: Vec<u32> =
            std::iter::once(visit.first).chain(visit.second).map(|(dimension, ())| dimension).collect();
        let keys = 1 + usize::from(table.pair);
        if keys != dimensions.len() {
            return Err(format!("compiled: a table with {keys} keys for {} dimensions", dimensions.len()));
        }
        for entry in 0..table.entries {
            let mut known: Vec<KnownInterval> = visit.within.flatten().into_iter().collect();
            known.extend(
                dimensions.iter().zip(0..).map(|(dimension, key)| (*dimension, table.key(entry, key))),
            );
            let row = self.row(&table.rows, entry, None, &known, visit.kind)?;
            (self.each)(row)?;
        }
        Ok(())
    }

    fn damaged(&mut self, what: &'static str) -> Result<(), String> {
        Err(format!("compiled: {what} lead outside their array"))
    }
}

impl<F> RowReader<'_, '_, F> {
    /// The row of an entry; `separate` is its first test if that is stored elsewhere.
    fn row(
        &self,
        rows: &RowRegion,
        entry: usize,
        separate: Option<&[u32]>,
        known: &[KnownInterval],
        kind: PlaceKind,
    ) -> Result<StoredRow, String> {
        let (start, end) = rows.row(self.view.arena, entry);
        let row = self.view.arena.get(start..end).and_then(<[u32]>::split_first);
        let (target, encoded) = row.ok_or_else(|| outside("row", start))?;
        let target = RowTarget::from_word(*target);
        let padding = [TestEncoding::always(self.view.dimensions.len())];
        let encoded = encoded.chunks_exact(self.view.encoding.test_words());
        let tests = |encoded: &mut dyn Iterator<Item = &[u32]>| -> Result<Vec<ResidualTest>, String> {
            encoded.filter(|test| **test != padding).map(|test| self.test(test)).collect()
        };
        let in_row = tests(&mut encoded.clone())?;
        let complex = in_row.iter().any(|test| matches!(test, ResidualTest::Complex(_)));
        if (rows.uniform > 1 && complex) != target.has_complex_tests() {
            return Err("compiled: a row with complex tests is not marked, or one without is".into());
        }
        let first = separate.or(encoded.clone().next().filter(|_| rows.uniform > 1));
        if !self.view.encoding.is_wide() && first.is_some_and(|test| is_complex_narrow(test[0])) {
            return Err("compiled: the first test of a row is a complex one".into());
        }
        let tests = tests(&mut separate.into_iter().chain(encoded))?;
        Ok(StoredRow { target: target.reported(), known: known.to_vec(), tests, kind })
    }

    fn test(&self, words: &[u32]) -> Result<ResidualTest, String> {
        let encoded = words.iter().rev().fold(0, |encoded, word| encoded << 32 | u64::from(*word));
        let test = self.view.encoding.decode(encoded);
        if self.is_sound(test) {
            Ok(test)
        } else {
            Err(format!("compiled: a test that leads outside: {test:?}"))
        }
    }

    /// Whether all that a test refers to exists.
    fn is_sound(&self, test: ResidualTest) -> bool {
        let view = self.view;
        let spaces = |dimension: u32, last: u32| {
            (dimension as usize) < view.dimensions.len() && last < view.spaces.count(dimension)
        };
        let number = match test {
            ResidualTest::Interval { dimension, low, high, .. } => {
                return low <= high && spaces(dimension, high);
            }
            ResidualTest::Complex(number) => number,
        };
        match view.complex.get(number as usize).map(|entry| ComplexTest::unpack(*entry)) {
            None => false,
            Some(
                ComplexTest::InIntervals { dimension, start, len }
                | ComplexTest::AnyElementIn { dimension, start, len }
                | ComplexTest::AllElementsIn { dimension, start, len },
            ) => {
                let intervals = view.intervals.get(start as usize..start as usize + len as usize);
                intervals.is_some_and(|intervals| {
                    intervals.iter().all(|[low, high]| low <= high && spaces(dimension, *high))
                        && intervals.is_sorted_by(|a, b| a[1] < b[0])
                })
            }
            Some(ComplexTest::InBitmap { dimension, start }) => {
                spaces(dimension, 0)
                    && start as usize + (view.spaces.count(dimension) as usize).div_ceil(64)
                        <= view.bits.len()
            }
            Some(
                ComplexTest::Interval { dimension, low, high }
                | ComplexTest::OutsideInterval { dimension, low, high },
            ) => low <= high && spaces(dimension, high),
            Some(ComplexTest::Direct { predicate }) => (predicate as usize) < view.strings.len(),
            Some(ComplexTest::Subexpression { start, len, memo, .. }) => {
                let tests = view.subexpression_tests.get(start as usize..start as usize + len as usize);
                let inner_first = |encoded: &u64| match TestEncoding::Wide.decode(*encoded) {
                    ResidualTest::Complex(inner) => inner < number,
                    ResidualTest::Interval { .. } => true,
                };
                tests.is_some_and(|tests| tests.iter().all(inner_first))
                    && (memo == NO_MEMO || memo < view.memos)
            }
        }
    }
}

/// Checks that everything stays inside its array, that expression numbers exist, and that an expression is marked for
/// dedup in all of its rows or in none.
pub(in crate::compiled) fn check(view: &SegmentView<'_>) -> Result<(), String> {
    for (dimension, record) in (0..).zip(view.dimensions) {
        if record.spaces != view.spaces.count(dimension) {
            return Err(format!("compiled: dimension {dimension} has two numbers of spaces"));
        }
    }
    let mut marked: Vec<Option<bool>> = vec![None; view.len];
    for_each_row(view, |row| {
        let (number, mark) = (row.target.number(), row.target.is_repeated());
        let Some(before) = marked.get_mut(number as usize) else {
            return Err(format!("compiled: expression {number} of {}", view.len));
        };
        if before.is_some_and(|before| before != mark) || mark && !view.needs_dedup {
            return Err(format!("compiled: expression {number} is marked for dedup in some rows only"));
        }
        *before = Some(mark);
        Ok(())
    })
}
