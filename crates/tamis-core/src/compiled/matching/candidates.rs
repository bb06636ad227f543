//! Rows on their way from lists and tables to matches.
//!
//! A row is a target and the tests that are left after keys and first tests were compared. Nobody can foresee which rows
//! hold, and a wrong guess costs as much as reading one. So they are put down and sifted without a branch, first by one
//! test, then by several at a time, and only what is left is looked at one by one.

use crate::compiled::arena::reader::{load, size};
use crate::compiled::arena::test_encoding::{
    format, holding, holding_four, holds_narrow, is_complex, may_hold_wide,
};
use crate::compiled::arena::writer::{ODD, ROW};
use crate::compiled::matching::evaluation::{Events, Memos, Tests};
use crate::compiled::matching::simd::prefetch;
use crate::compiled::values::short_spaces::ShortSpaces;

/// A row that is to be read, and the event that came to it: where it begins (32 bits), the event's number (16), and how
/// many words it has (16), from two, a target and a test, up to [`ROW`].
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::compiled) struct Row(u64);

impl Row {
    #[inline(always)]
    pub fn new(start: usize, event: u32, words: usize) -> Row {
        Row(start as u64 & 0xffff_ffff | u64::from(event as u16) << 32 | (words as u64) << 48)
    }

    /// The one that begins so many words behind.
    #[inline(always)]
    pub fn behind(self, words: usize) -> Row {
        Row(self.0 + words as u64)
    }

    #[inline(always)]
    pub fn start(self) -> usize {
        self.0 as u32 as usize
    }

    #[inline(always)]
    pub fn event(self) -> usize {
        (self.0 >> 32) as u16 as usize
    }

    #[inline(always)]
    fn words(self) -> usize {
        (self.0 >> 48) as usize
    }
}

/// The rows that are left to be read. Reused from event to event.
#[derive(Debug, Default)]
pub(in crate::compiled) struct Rows {
    /// So many as `count`; the others are room.
    rows: Vec<Row>,
    count: usize,
    /// Event, start and end of those that are longer, or have tests in eight bytes.
    odd: Vec<(u32, u32, u32)>,
}

/// So many rows are read together.
const MANY: usize = 512;

/// After so many rows it is decided anew how they are read.
const STRETCH: usize = 128;

impl Rows {
    /// Makes room for so many more, and a few.
    #[inline(always)]
    pub fn room(&mut self, more: usize) {
        if self.rows.len() < self.count + more + 9 {
            self.rows.resize(self.count + 2 * more + 64, Row::default());
        }
    }

    /// Takes a row, for which there is room.
    #[inline(always)]
    pub fn push(&mut self, arena: &[u32], row: Row) {
        prefetch(arena, row.start());
        self.rows[self.count] = row;
        self.count += 1;
    }

    /// Takes those of rows that lie one behind the other for which the first test holds, without a branch. There is room
    /// for all of them.
    #[inline(always)]
    pub fn push_holding(&mut self, spaces: ShortSpaces<'_>, mut row: Row, firsts: &[u32; 8]) {
        let (words, room) = (row.words(), &mut self.rows[self.count..][..9]);
        let mut kept = 0;
        for first in firsts {
            room[kept] = row;
            kept += usize::from(holds_narrow(spaces, *first));
            row = row.behind(words);
        }
        self.count += kept;
    }

    /// Takes the row that lies so many words behind, for the events that have a bit. How many these are cannot be
    /// foreseen, so they are taken four at a time; there is room for four more.
    #[inline(always)]
    pub fn push_each(&mut self, of_events: &[Row; 64], behind: usize, mut here: u64) {
        let room = &mut self.rows[self.count..][..68];
        let mut kept = 0;
        loop {
            for _ in 0..4 {
                room[kept] = of_events[here.trailing_zeros() as usize & 63].behind(behind);
                kept += usize::from(here != 0);
                here &= here.wrapping_sub(1);
            }
            if here == 0 {
                break;
            }
        }
        self.count += kept;
    }

    /// Whether it is time to read them: so many that it pays, so few that they are still in the cache.
    pub fn are_many(&self) -> bool {
        self.count.max(self.odd.len()) >= MANY
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Asks for the memory of the rows behind the first so many.
    pub fn prefetch(&self, arena: &[u32], before: usize) {
        for row in &self.rows[before..self.count] {
            prefetch(arena, row.start());
        }
    }

    /// Takes any other row.
    pub fn put_odd(&mut self, event: u32, (start, end): (usize, usize)) {
        self.odd.push((event, start as u32, end as u32));
    }

    /// Reads all rows and reports the targets of those that hold.
    pub fn read<const WIDE: bool>(
        &mut self,
        events: Events<'_, '_>,
        memos: &mut Memos,
        found: &mut [Vec<u32>],
    ) {
        // With one event, its number is known when this is compiled.
        match events.located {
            [_] => self.sift::<true>(events),
            _ => self.sift::<false>(events),
        }
        let arena = events.view.arena;
        for row in self.rows.iter().take(std::mem::take(&mut self.count)) {
            let (event, words) = (row.event(), read(arena, *row));
            if words[0] & ODD == 0 || complex_hold(events.tests(event), words, *row, memos) {
                found[event].push(words[0] & !ODD);
            }
        }
        self.sift_odd::<WIDE>(events);
        for (event, start, end) in self.odd.drain(..) {
            let (event, words) = (event as usize, &arena[start as usize..end as usize]);
            report::<WIDE>(events.tests(event), words, memos, &mut found[event]);
        }
    }

    /// Leaves the rows that hold, as far as their tests are not complex.
    fn sift<const ONE: bool>(&mut self, events: Events<'_, '_>) {
        let arena = events.view.arena;
        let all = events.shorts.all();
        let first = all.of(0);
        let spaces = |row: Row| if ONE { first } else { all.of(row.event()) };
        let Rows { rows, count, .. } = self;
        let rows = &mut rows[..*count];
        let (mut kept, mut most_fail) = (0, true);
        for start in (0..*count).step_by(STRETCH) {
            let end = (*count).min(start + STRETCH);
            let mut left = end;
            if most_fail {
                // By the first test, the least likely one.
                left = start;
                for at in start..end {
                    let row = rows[at];
                    let test = arena.get(row.start() + 1).copied().unwrap_or(0);
                    rows[left] = row;
                    left += usize::from(holds_narrow(spaces(row), test));
                }
            }
            let before = kept;
            for at in start..left {
                let row = rows[at];
                let words = read(arena, row);
                rows[kept] = row;
                // Behind the last test there is what follows, and before the first one the target.
                let all = if most_fail && row.words() <= 6 {
                    let [_, _, tests @ .., _, _] = words;
                    (holding_four(spaces(row), tests) | 0xf << row.words().saturating_sub(2)) & 0xf == 0xf
                } else {
                    (holding(spaces(row), words) | 1 | 0xff << row.words()) & 0xff == 0xff
                };
                kept += usize::from(all);
            }
            // It pays if it spares a quarter of them. If it was not tried, try it if half of them failed.
            most_fail = match most_fail {
                true => 4 * (left - start) < 3 * (end - start),
                false => 2 * (kept - before) < end - start,
            };
        }
        *count = kept;
    }

    /// Leaves those of the other rows whose first two tests hold, or may hold.
    fn sift_odd<const WIDE: bool>(&mut self, events: Events<'_, '_>) {
        let (arena, all) = (events.view.arena, events.shorts.all());
        for test in 0..2 {
            let mut kept = 0;
            for at in 0..self.odd.len() {
                let (event, start, end) = self.odd[at];
                let place = start as usize + 1 + test * size::<WIDE>();
                let is_there = place < end as usize;
                let word = load::<WIDE>(arena, if is_there { place } else { start as usize });
                let may_hold = match WIDE {
                    true => may_hold_wide(events.located[event as usize].spaces(), word),
                    false => holds_narrow(all.of(event as usize), word as u32) | is_complex(word as u32),
                };
                self.odd[kept] = (event, start, end);
                kept += usize::from(may_hold | !is_there);
            }
            self.odd.truncate(kept);
        }
    }
}

/// The words of a row, and what follows it. The arena ends with as many. Nothing for a row that is not there, as in a
/// damaged file.
#[inline(always)]
fn read(arena: &[u32], row: Row) -> &[u32; ROW] {
    let start = row.start();
    arena.get(start..start + ROW).and_then(<[u32]>::first_chunk).unwrap_or(&[0; ROW])
}

/// Whether the complex tests of a row hold, which has been sifted by the others.
fn complex_hold(tests: Tests<'_, '_>, words: &[u32; ROW], row: Row, memos: &mut Memos) -> bool {
    let mut complex = words[1..row.words().min(ROW)].iter().filter(|word| is_complex(**word));
    complex.all(|word| tests.complex(word & 0xffff, memos))
}

/// Reports the target of a row if all its tests hold.
#[inline(always)]
fn report<const WIDE: bool>(tests: Tests<'_, '_>, row: &[u32], memos: &mut Memos, found: &mut Vec<u32>) {
    let Some((target, mut words)) = row.split_first() else { return };
    while words.len() >= size::<WIDE>() {
        if !tests.holds(format::<WIDE>(), load::<WIDE>(words, 0), memos) {
            return;
        }
        words = &words[size::<WIDE>()..];
    }
    found.push(*target & !ODD);
}
