//! Rows on their way from lists and tables to matches.
//!
//! A row is a target and the tests that are left after keys and first tests were compared. Nobody can foresee which rows
//! hold, and a wrong guess costs as much as reading one. So they are put down and sifted without a branch, eight tests
//! at a time, and only what is left is looked at one by one.

use super::evaluating::{Events, Memos, Tests};
use super::lanes::{eight_complex, eight_holding, prefetch};
use super::layout::{ODD, ROW};
use super::records::{load, size};
use super::words::{format, holding};

/// A row that is to be read, and the event that came to it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Row {
    pub start: u32,
    pub event: u16,
    /// From two words, a target and a test, up to [`ROW`].
    pub words: u16,
}

/// The rows that are left to be read. Reused from event to event.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Behind the first place, which holds nothing, so many as `count`; the others are room.
    rows: Vec<Row>,
    count: usize,
    /// Event, start and end of those that are longer, or have tests in eight bytes.
    odd: Vec<(u32, u32, u32)>,
}

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
        prefetch(arena, row.start as usize);
        self.count += 1;
        self.rows[self.count] = row;
    }

    /// Takes a row if its first test holds, without a branch. There is room for it, whether or not.
    #[inline(always)]
    pub fn push_if(&mut self, arena: &[u32], row: Row, holds: bool) {
        self.rows[self.count + 1] = row;
        self.count += usize::from(holds);
        // The last one that was taken: this one, or one that was asked for already.
        prefetch(arena, self.rows[self.count].start as usize);
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
        for row in self.rows.iter().skip(1).take(std::mem::take(&mut self.count)) {
            let (event, words) = (usize::from(row.event), read(arena, *row));
            if words[0] & ODD == 0 {
                found[event].push(words[0]);
            } else {
                let words = &words[..usize::from(row.words).min(ROW)];
                report::<false>(events.tests(event), words, memos, &mut found[event]);
            }
        }
        for (event, start, end) in self.odd.drain(..) {
            let (event, words) = (event as usize, &arena[start as usize..end as usize]);
            report::<WIDE>(events.tests(event), words, memos, &mut found[event]);
        }
    }

    /// Leaves the rows that hold, and those with complex tests.
    fn sift<const ONE: bool>(&mut self, events: Events<'_, '_>) {
        let arena = events.view.arena;
        let event = |row: Row| if ONE { 0 } else { usize::from(row.event) };
        let spaces = |row: Row| events.located[event(row)].short_spaces();
        self.room(0);
        let Rows { rows, count, .. } = self;
        let rows = &mut rows[1..];
        let (mut kept, mut most_fail) = (0, true);
        for start in (0..*count).step_by(STRETCH) {
            let end = (*count).min(start + STRETCH);
            let mut left = end;
            if most_fail {
                // By the first test, the least likely one, of eight rows at a time.
                left = start;
                for at in (start..end).step_by(8) {
                    let Some(eight) = rows[at..].first_chunk::<8>().copied() else { break };
                    let firsts = eight.map(|row| read(arena, row)[1]);
                    let here = |lane: usize| spaces(eight[lane]).of(firsts[lane] >> 16);
                    let holding = eight_holding(&firsts, std::array::from_fn(here)) | eight_complex(&firsts);
                    let holding = holding & ((1 << (end - at).min(8)) - 1);
                    for (lane, row) in eight.into_iter().enumerate() {
                        rows[left] = row;
                        left += (holding >> lane & 1) as usize;
                    }
                }
            }
            let before = kept;
            for at in start..left {
                let row = rows[at];
                let words = read(arena, row);
                rows[kept] = row;
                // Instead of a first test there is the target, and behind the last one what follows.
                let others = 1 | 0xff_u32 << row.words;
                let all = (holding(spaces(row), words) | others) & 0xff == 0xff;
                kept += usize::from(all | (words[0] & ODD != 0));
            }
            // It pays if it spares a quarter of them. If it was not tried, try it if half of them failed.
            most_fail = match most_fail {
                true => 4 * (left - start) < 3 * (end - start),
                false => 2 * (kept - before) < end - start,
            };
        }
        *count = kept;
    }
}

/// The words of a row, and what follows it. The arena ends with as many. Nothing for a row that is not there: where there
/// is room for rows, there may be one of another segment.
#[inline(always)]
fn read(arena: &[u32], row: Row) -> &[u32; ROW] {
    let start = row.start as usize;
    arena.get(start..start + ROW).and_then(<[u32]>::first_chunk).unwrap_or(&[0; ROW])
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
