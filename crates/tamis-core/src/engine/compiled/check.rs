//! Checks of a laid out segment: a walk over every list, table and row.

use super::conditions::{Check, Complex};
use super::cover::REPEATED;
use super::lanes::{BLOCK, Lane};
use super::layout::nodes_of_level;
use super::matching::{FlatRows, Table, View, starts_words};
use super::words::Format;

/// A row and how an event comes to it.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub target: u32,
    /// What is known on the way: dimensions and intervals of their spaces.
    pub known: Vec<(u32, (u32, u32))>,
    /// What is left to be tested.
    pub tests: Vec<Check>,
    pub through: Through,
}

/// Through which kind of place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Through {
    Everywhere,
    Scan,
    Pair,
    Node,
    Group,
}

/// Walks over all rows; the error says what leads outside.
pub(super) fn rows(
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

impl<'a> Reader<'_, 'a> {
    fn words(&self, at: usize, len: usize) -> Result<&'a [u32], String> {
        let end = at.checked_add(len).ok_or("an overflowing place in the arena")?;
        self.view.arena.get(at..end).ok_or_else(|| format!("words {at} to {end} outside the arena"))
    }

    fn list(
        &self,
        at: u32,
        known: Known<'_>,
        through: Through,
        each: &mut impl FnMut(Found) -> Result<(), String>,
    ) -> Result<(), String> {
        let at = at as usize;
        let head = self.words(at, 4)?;
        let (decided, flat, groups) = (head[0] as usize, FlatRows::len(head[1]), head[2] as usize);
        for target in self.words(at + 4, decided)? {
            each(Found { target: *target, known: known.to_vec(), tests: Vec::new(), through })?;
        }
        let firsts = at + 4 + decided;
        let size = self.view.format.size();
        let starts = firsts + flat * size;
        self.words(starts, starts_words(head[1] & 3, flat))?;
        let rows = FlatRows::new(head[1], starts);
        for entry in 0..flat {
            let first = self.word(firsts + entry * size)?;
            let (start, end) = rows.row(self.view.arena, entry);
            let mut found = self.row(start, end, known, through)?;
            found.tests.insert(0, self.test(first)?);
            each(found)?;
        }
        let directory = self.words(at + head[3] as usize, 2 * groups)?;
        for (dimension, table) in directory[..groups].iter().zip(&directory[groups..]) {
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
        let at = at as usize;
        let head = self.words(at, 4)?;
        let (len, form) = (head[0] as usize, head[1]);
        let (lane, keys) = (Lane::from_bits(form), 1 + (form >> 2 & 1) as usize);
        if keys != dimensions.len() {
            return Err(format!("a table with {keys} keys for {} dimensions", dimensions.len()));
        }
        let stride = lane.words() * keys;
        let blocks = self.words(at + 4, len.div_ceil(BLOCK) * stride)?;
        self.words(at + 4 + blocks.len(), starts_words(form >> 3 & 3, len))?;
        let table = Table::read(self.view.arena, at);
        for entry in 0..len {
            let mut known = known.to_vec();
            for (key, dimension) in dimensions.iter().enumerate() {
                let block = &blocks[entry / BLOCK * stride + key * lane.words()..][..lane.words()];
                known.push((*dimension, lane.interval(block, entry % BLOCK)));
            }
            let (start, end) = table.row(self.view.arena, entry);
            each(self.row(start, end, &known, through)?)?;
        }
        Ok(())
    }

    fn word(&self, at: usize) -> Result<u64, String> {
        let words = self.words(at, self.view.format.size())?;
        Ok(u64::from(words[0]) | words.get(1).map_or(0, |high| u64::from(*high) << 32))
    }

    fn row(&self, start: usize, end: usize, known: Known<'_>, through: Through) -> Result<Found, String> {
        if start >= end {
            return Err(format!("an empty row at {start}"));
        }
        let target = self.words(start, end - start)?[0];
        let mut tests = Vec::new();
        let mut at = start + 1;
        let filler = Format::always(self.view.dimensions.len());
        while at < end && (self.view.format.is_wide() || self.words(at, 1)?[0] != filler) {
            tests.push(self.test(self.word(at)?)?);
            at += self.view.format.size();
        }
        Ok(Found { target, known: known.to_vec(), tests, through })
    }

    fn test(&self, word: u64) -> Result<Check, String> {
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
                            && (memo == super::conditions::UNSHARED || memo < view.memos)
                    }
                }
            }
        };
        if sound { Ok(()) } else { Err(format!("compiled: a test that leads outside: {check:?}")) }
    }
}

/// Checks that everything stays inside, that numbers exist, and that repeated ones are marked.
pub(super) fn check(view: &View<'_>) -> Result<(), String> {
    let mut places = vec![0_u32; view.len];
    let mut unmarked = vec![false; view.len];
    rows(view, &mut |found| {
        let number = (found.target & !REPEATED) as usize;
        let Some(count) = places.get_mut(number) else {
            return Err(format!("compiled: expression {number} of {}", view.len));
        };
        *count += 1;
        unmarked[number] |= found.target & REPEATED == 0;
        // Unmarked ones stand in several places only if these exclude each other.
        Ok(())
    })?;
    if view.repeats {
        return Ok(());
    }
    match unmarked.iter().zip(&places).position(|(unmarked, places)| *places > 0 && !unmarked) {
        Some(number) => Err(format!("compiled: expression {number} is marked, the segment is not")),
        None => Ok(()),
    }
}
