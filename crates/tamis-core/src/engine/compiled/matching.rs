//! One event: from its spaces to lists and tables, from those to rows, and from rows to matches.

use super::conditions::Check;
use super::evaluating::{Events, Memos, Tests};
use super::lanes::{BLOCK, Lane, prefetch};
use super::layout::{ROW, nodes_of_level};
use super::located::Located;
use super::records::{List, Table, load, size};
use super::seen::Seen;
use super::view::View;
use super::words::{format, is_complex, may_hold, may_hold_wide};
use crate::engine::patterns::PatternScratch;
use crate::event::Event;

/// What one thread needs to match events, whichever segment.
#[derive(Debug, Default)]
pub(crate) struct CompiledScratch {
    pub(super) located: Located,
    pub(super) patterns: PatternScratch,
    pub(super) walk: Walk,
    pub(super) seen: Seen,
    pub(super) batch: super::batch::BatchScratch,
}

impl<'a> View<'a> {
    pub fn match_event(&self, event: &Event<'_>, scratch: &mut CompiledScratch, found: &mut Vec<u32>) {
        let CompiledScratch { located, patterns, walk, seen, .. } = scratch;
        located.locate_values(&self.spaces, self.elements, event, self.attributes);
        self.textuals.find(event, located, patterns);
        let start = found.len();
        let memos = [walk.memos.begin(self.memos)];
        let events =
            Events { view: self, located: std::slice::from_ref(located), event: Some(event), memos: &memos };
        if self.format.is_wide() {
            walk.all::<true>(events, found)
        } else {
            walk.all::<false>(events, found)
        }
        if self.repeats {
            seen.once(self.len, found, start);
        }
        located.clear();
    }
}

/// A row that is to be read, and the event that came to it.
#[derive(Clone, Copy, Debug)]
struct Row {
    start: u32,
    event: u32,
}

/// A list or a table that the event has to look into.
#[derive(Clone, Copy, Debug, Default)]
struct Visit {
    at: u32,
    /// The event's spaces in the dimensions of the keys. Lists have none, tables at least one.
    first: u32,
    second: u32,
}

/// How many visits ahead memory is asked for, and how many cache lines of a list or table.
const AHEAD: usize = 6;
const LINES: usize = 6;

/// 32-bit words in a cache line.
const LINE: usize = 16;

/// The way of an event through the arena.
///
/// First it is found out where to look, then everywhere keys and first tests are compared, then the rows of those that
/// are left are read: so it is known early what memory comes next, and it can be on its way already.
#[derive(Debug, Default)]
pub(super) struct Walk {
    pub memos: Memos,
    visits: Vec<Visit>,
    survivors: Vec<u32>,
    /// Rows of [`ROW`] words that are left to be read.
    rows: Vec<Row>,
    /// Others, with their ends.
    odd_rows: Vec<(Row, u32)>,
}

impl Walk {
    fn all<const WIDE: bool>(&mut self, events: Events<'_, '_>, found: &mut Vec<u32>) {
        let view = events.view;
        let tests = events.tests(0);
        let arena = view.arena;
        self.visits.clear();
        if view.everywhere > 0 {
            self.visits.push(Visit { at: view.everywhere, first: 0, second: 0 });
        }
        let spaces = tests.located.spaces();
        for &(dimension, space) in tests.located.present() {
            let of_dimension = &view.dimensions[dimension as usize];
            for scan in of_dimension.scans {
                if scan > 0 {
                    self.visits.push(Visit { at: scan, first: space, second: 0 });
                }
            }
            let mut level_start = of_dimension.nodes;
            for level in 0..of_dimension.levels {
                let list = view.nodes[(level_start + (space >> level)) as usize];
                if list > 0 {
                    self.visits.push(Visit { at: list, first: 0, second: 0 });
                }
                level_start += nodes_of_level(of_dimension.spaces, level);
            }
            // Whether the event has the other dimension is anybody's guess: written anyway, kept if it has.
            let (seconds, tables) = of_dimension.pairs(arena);
            let mut kept = self.visits.len();
            self.visits.resize(kept + seconds.len(), Visit::default());
            for (second, table) in seconds.iter().zip(tables) {
                let second = spaces[*second as usize];
                self.visits[kept] = Visit { at: *table, first: space, second };
                kept += usize::from(second > 0);
            }
            self.visits.truncate(kept);
        }
        let mut at = 0;
        while at < self.visits.len() {
            if let Some(ahead) = self.visits.get(at + AHEAD) {
                (0..LINES).for_each(|line| prefetch(arena, ahead.at as usize + LINE * line));
            }
            let Visit { at: place, first, second } = self.visits[at];
            if first > 0 {
                self.table::<WIDE>(view, place as usize, first, second, 0, found);
            } else if let Some(list) = List::read(arena, place as usize, size::<WIDE>()) {
                self.list::<WIDE>(tests, &list, 0, found);
                for (dimension, table) in list.groups.0.iter().zip(list.groups.1) {
                    let first = spaces[*dimension as usize];
                    if first > 0 {
                        self.visits.push(Visit { at: *table, first, second: 0 });
                    }
                }
            }
            at += 1;
        }
        self.read_rows::<WIDE>(events, std::slice::from_mut(found));
    }

    /// Reads the rows that are left: first, without a branch, the first test of each, since nobody can foresee which of
    /// them hold; then the others of those that are still left, which mostly do.
    pub fn read_rows<const WIDE: bool>(&mut self, events: Events<'_, '_>, found: &mut [Vec<u32>]) {
        let arena = events.view.arena;
        let Walk { rows, odd_rows, memos, .. } = self;
        let mut kept = 0;
        for at in 0..rows.len() {
            let here = rows[at];
            let first = arena[here.start as usize + 1];
            rows[kept] = here;
            kept += usize::from(may_hold(&events.located[here.event as usize].spaces, first));
        }
        for Row { start, event } in rows.drain(..).take(kept) {
            let found = &mut found[event as usize];
            let Some(row) = arena[start as usize..].first_chunk::<ROW>() else { continue };
            let spaces = &events.located[event as usize].spaces[..];
            let held = row[2..].iter().fold(true, |held, word| held & may_hold(spaces, *word));
            if held && !row[1..].iter().any(|word| is_complex(*word)) {
                found.push(row[0]);
            } else if held {
                read_row::<false>(events.tests(event as usize), row, memos, found);
            }
        }
        for (Row { start, event }, end) in odd_rows.drain(..) {
            let (tests, found) = (events.tests(event as usize), &mut found[event as usize]);
            read_row::<WIDE>(tests, &arena[start as usize..end as usize], memos, found);
        }
    }

    /// A row is to be read, or without any tests its target reported.
    #[inline(always)]
    fn row<const WIDE: bool>(
        &mut self,
        arena: &[u32],
        (start, end): (usize, usize),
        event: u32,
        found: &mut Vec<u32>,
    ) {
        let row = Row { start: start as u32, event };
        match end - start {
            1 => found.push(arena[start]),
            ROW if !WIDE => {
                prefetch(arena, start);
                self.rows.push(row);
            }
            _ => self.odd_rows.push((row, end as u32)),
        }
    }

    /// The decided and the flat ones of a list. First tests are compared one after another without a branch; the rows
    /// of those that may hold are read later.
    pub fn list<const WIDE: bool>(
        &mut self,
        tests: Tests<'_, '_>,
        list: &List<'_>,
        event: u32,
        found: &mut Vec<u32>,
    ) {
        let arena = tests.view.arena;
        found.extend_from_slice(list.decided);
        if self.survivors.len() <= list.flat {
            self.survivors.resize(list.flat + 1, 0);
        }
        let spaces = &tests.located.spaces[..];
        let mut kept = 0;
        for at in 0..list.flat {
            self.survivors[kept] = at as u32;
            kept += usize::from(match WIDE {
                true => may_hold_wide(spaces, load::<WIDE>(list.firsts, 2 * at)),
                false => may_hold(spaces, list.firsts[at]),
            });
        }
        for place in 0..kept {
            let at = self.survivors[place] as usize;
            let first = load::<WIDE>(list.firsts, at * size::<WIDE>());
            if let Check::Complex(entry) = format::<WIDE>().decode(first)
                && !tests.complex(entry, &mut self.memos)
            {
                continue;
            }
            self.row::<WIDE>(arena, list.rows.row(arena, at), event, found);
        }
    }

    /// Compares keys. Targets without further tests are reported, the rows of others are read later.
    pub fn table<const WIDE: bool>(
        &mut self,
        view: &View<'_>,
        at: usize,
        first: u32,
        second: u32,
        event: u32,
        found: &mut Vec<u32>,
    ) {
        let Some(table) = Table::read(view.arena, at) else { return };
        let spaces = (first, second);
        match (table.lane, table.pair) {
            (Lane::One, false) => self.blocks::<WIDE, 8, false>(Lane::One, view, table, spaces, event, found),
            (Lane::One, true) => self.blocks::<WIDE, 8, true>(Lane::One, view, table, spaces, event, found),
            (Lane::Two, false) => {
                self.blocks::<WIDE, 16, false>(Lane::Two, view, table, spaces, event, found)
            }
            (Lane::Two, true) => self.blocks::<WIDE, 16, true>(Lane::Two, view, table, spaces, event, found),
            (Lane::Four, false) => {
                self.blocks::<WIDE, 32, false>(Lane::Four, view, table, spaces, event, found)
            }
            (Lane::Four, true) => {
                self.blocks::<WIDE, 32, true>(Lane::Four, view, table, spaces, event, found)
            }
        }
    }

    #[inline(always)]
    fn blocks<const WIDE: bool, const WORDS: usize, const PAIR: bool>(
        &mut self,
        lane: Lane,
        view: &View<'_>,
        table: Table<'_>,
        (first, second): (u32, u32),
        event: u32,
        found: &mut Vec<u32>,
    ) {
        let arena = view.arena;
        let stride = if PAIR { 2 * WORDS } else { WORDS };
        let decided = table.rows.same == 1;
        // Four blocks at a time: where a loop over the bits of a word ends cannot be foreseen, so it should end seldom.
        for (number, blocks) in table.blocks.chunks(4 * stride).enumerate() {
            let mut inside = 0_u64;
            for (block, at) in blocks.chunks_exact(stride).zip((0..).step_by(BLOCK)) {
                let mut here = lane.containing(block, first);
                if PAIR {
                    here &= lane.containing(&block[WORDS..], second);
                }
                inside |= u64::from(here) << at;
            }
            if decided {
                let targets = &arena[table.rows.rows + 4 * BLOCK * number..];
                while inside != 0 {
                    found.push(targets[inside.trailing_zeros() as usize]);
                    inside &= inside - 1;
                }
            }
            if !WIDE && table.rows.same == ROW {
                let rows = table.rows.rows + ROW * 4 * BLOCK * number;
                while inside != 0 {
                    let start = rows + ROW * inside.trailing_zeros() as usize;
                    inside &= inside - 1;
                    prefetch(arena, start);
                    self.rows.push(Row { start: start as u32, event });
                }
            }
            while inside != 0 {
                let entry = 4 * BLOCK * number + inside.trailing_zeros() as usize;
                inside &= inside - 1;
                self.row::<WIDE>(arena, table.rows.row(arena, entry), event, found);
            }
        }
    }
}

/// Reports the target of a row if all its tests hold.
#[inline(always)]
fn read_row<const WIDE: bool>(tests: Tests<'_, '_>, row: &[u32], memos: &mut Memos, found: &mut Vec<u32>) {
    let Some((target, mut words)) = row.split_first() else { return };
    while words.len() >= size::<WIDE>() {
        if !tests.holds(format::<WIDE>(), load::<WIDE>(words, 0), memos) {
            return;
        }
        words = &words[size::<WIDE>()..];
    }
    found.push(*target);
}
