//! Checks of a laid out segment: a walk over every list, table and row.

use crate::compiled::arena::reader::{List, RowStarts, Table};
use crate::compiled::arena::test_encoding::{Format, is_complex};
use crate::compiled::arena::writer::{ODD, nodes_of_level};
use crate::compiled::build::conditions::{Check, Complex};
use crate::compiled::build::cover::REPEATED;
use crate::compiled::matching::simd::BLOCK;
use crate::compiled::view::View;

/// A row and how an event comes to it.
#[derive(Clone, Debug)]
pub(in crate::compiled) struct Found {
    pub target: u32,
    /// What is known on the way: dimensions and intervals of their spaces.
    pub known: Vec<(u32, (u32, u32))>,
    /// What is left to be tested.
    pub tests: Vec<Check>,
    pub through: Through,
}

/// Through which kind of place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compiled) enum Through {
    Everywhere,
    Scan,
    Pair,
    Node,
    Group,
}

/// Walks over all rows; the error says what leads outside.
pub(in crate::compiled) fn rows(
    view: &View<'_>,
    each: &mut impl FnMut(Found) -> Result<(), String>,
) -> Result<(), String> {
    let reader = Reader { view };
    if view.everywhere > 0 {
        reader.list(view.everywhere, &[], Through::Everywhere, each)?;
    }
    for (dimension, at) in (0..).zip(view.dimensions) {
        for scan in at.scans.into_iter().filter(|scan| *scan > 0) {
            reader.table(scan, &[dimension], &[], Through::Scan, each)?;
        }
        let (seconds, tables) = at.pairs(view.arena);
        for (second, table) in seconds.iter().zip(tables) {
            reader.table(*table, &[dimension, *second], &[], Through::Pair, each)?;
        }
        let mut start = at.nodes as usize;
        for level in 0..at.levels {
            let count = nodes_of_level(view.spaces.count(dimension), level) as usize;
            let nodes = view.nodes.get(start..start + count).ok_or("nodes outside their array")?;
            for (node, list) in (0_u32..).zip(nodes).filter(|(_, list)| **list > 0) {
                let interval = (node << level, ((node + 1) << level) - 1);
                reader.list(*list, &[(dimension, interval)], Through::Node, each)?;
            }
            start += count;
        }
    }
    Ok(())
}

struct Reader<'r, 'a> {
    view: &'r View<'a>,
}

type Known<'k> = &'k [(u32, (u32, u32))];

fn outside(what: &str, at: u32) -> String {
    format!("compiled: the {what} at {at} leads outside the arena")
}

impl Reader<'_, '_> {
    fn list(
        &self,
        at: u32,
        known: Known<'_>,
        through: Through,
        each: &mut impl FnMut(Found) -> Result<(), String>,
    ) -> Result<(), String> {
        let size = self.view.format.size();
        let list = List::read(self.view.arena, at as usize, size).ok_or_else(|| outside("list", at))?;
        for target in list.decided {
            each(Found { target: *target, known: known.to_vec(), tests: Vec::new(), through })?;
        }
        let never = Format::never(self.view.dimensions.len());
        if list.firsts[list.flat * size..].iter().any(|word| *word != never) {
            return Err(format!("compiled: the list at {at} is filled up with tests that may hold"));
        }
        for (entry, first) in list.firsts.chunks_exact(size).take(list.flat).enumerate() {
            each(self.row(&list.rows, entry, Some(first), known, through)?)?;
        }
        for (dimension, table) in list.groups.0.iter().zip(list.groups.1) {
            self.table(*table, &[*dimension], known, Through::Group, each)?;
        }
        Ok(())
    }

    fn table(
        &self,
        at: u32,
        dimensions: &[u32],
        known: Known<'_>,
        through: Through,
        each: &mut impl FnMut(Found) -> Result<(), String>,
    ) -> Result<(), String> {
        let table = Table::read(self.view.arena, at as usize).ok_or_else(|| outside("table", at))?;
        let keys = 1 + usize::from(table.pair);
        if keys != dimensions.len() {
            return Err(format!("compiled: a table with {keys} keys for {} dimensions", dimensions.len()));
        }
        let block = table.lane.words();
        for entry in 0..table.len {
            let mut known = known.to_vec();
            for (key, dimension) in dimensions.iter().enumerate() {
                let block = &table.blocks[(entry / BLOCK * keys + key) * block..][..block];
                known.push((*dimension, table.lane.interval(block, entry % BLOCK)));
            }
            each(self.row(&table.rows, entry, None, &known, through)?)?;
        }
        Ok(())
    }

    fn row(
        &self,
        rows: &RowStarts,
        entry: usize,
        apart: Option<&[u32]>,
        known: Known<'_>,
        through: Through,
    ) -> Result<Found, String> {
        let (start, end) = rows.row(self.view.arena, entry);
        let row = self.view.arena.get(start..end).and_then(<[u32]>::split_first);
        let (target, words) = row.ok_or_else(|| outside("row", start as u32))?;
        let filler = [Format::always(self.view.dimensions.len())];
        let words = words.chunks_exact(self.view.format.size());
        let tests = |words: &mut dyn Iterator<Item = &[u32]>| -> Result<Vec<Check>, String> {
            words.filter(|word| **word != filler).map(|word| self.test(word)).collect()
        };
        let behind = tests(&mut words.clone())?;
        let complex = behind.iter().any(|test| matches!(test, Check::Complex(_)));
        if (rows.same > 1 && complex) != (target & ODD != 0) {
            return Err("compiled: a row with complex tests is not marked, or one without is".into());
        }
        let first = apart.or(words.clone().next().filter(|_| rows.same > 1));
        if !self.view.format.is_wide() && first.is_some_and(|word| is_complex(word[0])) {
            return Err("compiled: the first test of a row is a complex one".into());
        }
        let tests = tests(&mut apart.into_iter().chain(words))?;
        Ok(Found { target: target & !ODD, known: known.to_vec(), tests, through })
    }

    fn test(&self, word: &[u32]) -> Result<Check, String> {
        let word = word.iter().rev().fold(0, |word, part| word << 32 | u64::from(*part));
        let check = self.view.format.decode(word);
        self.sound(check)?;
        Ok(check)
    }

    /// Whether a test refers to what exists.
    fn sound(&self, check: Check) -> Result<(), String> {
        let view = self.view;
        let spaces = |dimension: u32, last: u32| {
            (dimension as usize) < view.dimensions.len() && last < view.spaces.count(dimension)
        };
        let sound = match check {
            Check::Interval { dimension, low, high, .. } => low <= high && spaces(dimension, high),
            Check::Complex(entry) => {
                match view.entries.get(entry as usize).map(|entry| Complex::from_words(*entry)) {
                    None => false,
                    Some(Complex::Within { dimension, start, len })
                    | Some(Complex::AnyWithin { dimension, start, len })
                    | Some(Complex::AllWithin { dimension, start, len }) => {
                        let intervals = view.intervals.get(start as usize..start as usize + len as usize);
                        intervals.is_some_and(|intervals| {
                            intervals.iter().all(|[low, high]| low <= high && spaces(dimension, *high))
                                && intervals.is_sorted_by(|a, b| a[1] < b[0])
                        })
                    }
                    Some(Complex::Listed { dimension, start }) => {
                        spaces(dimension, 0)
                            && start as usize + (view.spaces.count(dimension) as usize).div_ceil(64)
                                <= view.bits.len()
                    }
                    Some(
                        Complex::Between { dimension, low, high } | Complex::Outside { dimension, low, high },
                    ) => low <= high && spaces(dimension, high),
                    Some(Complex::Asked { predicate }) => (predicate as usize) < view.textuals.len(),
                    Some(Complex::Program { start, len, memo, .. }) => {
                        let words = view.programs.get(start as usize..start as usize + len as usize);
                        let inner_first = |word: &u64| match Format::Wide.decode(*word) {
                            Check::Complex(inner) => inner < entry,
                            Check::Interval { .. } => true,
                        };
                        words.is_some_and(|words| words.iter().all(inner_first))
                            && (memo == crate::compiled::build::conditions::UNSHARED || memo < view.memos)
                    }
                }
            }
        };
        if sound { Ok(()) } else { Err(format!("compiled: a test that leads outside: {check:?}")) }
    }
}

/// Checks that everything stays inside, that numbers exist, and that an expression is marked as one that may be found
/// repeatedly everywhere or nowhere.
pub(in crate::compiled) fn check(view: &View<'_>) -> Result<(), String> {
    let mut marked: Vec<Option<bool>> = vec![None; view.len];
    rows(view, &mut |found| {
        let (number, mark) = ((found.target & !REPEATED) as usize, found.target & REPEATED != 0);
        let Some(before) = marked.get_mut(number) else {
            return Err(format!("compiled: expression {number} of {}", view.len));
        };
        if before.is_some_and(|before| before != mark) || mark && !view.repeats {
            return Err(format!("compiled: expression {number} is marked here, but not there"));
        }
        *before = Some(mark);
        Ok(())
    })
}
