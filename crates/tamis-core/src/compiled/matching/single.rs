//! One event: from its spaces to lists and tables, from those to rows, and from rows to matches.

use crate::compiled::arena::reader::{List, Table, load, size};
use crate::compiled::arena::test_encoding::{Format, holding, may_hold_wide};
use crate::compiled::arena::writer::nodes_of_level;
use crate::compiled::build::conditions::Check;
use crate::compiled::matching::candidates::{Row, Rows};
use crate::compiled::matching::dedup::Seen;
use crate::compiled::matching::evaluation::{Events, Memos, Tests};
use crate::compiled::matching::simd::{BLOCK, Lane, prefetch};
use crate::compiled::values::event_spaces::Located;
use crate::compiled::values::short_spaces::Shorts;
use crate::compiled::view::View;
use crate::engine::shared::patterns::PatternScratch;
use crate::event::Event;

/// What one thread needs to match events, whichever segment.
#[derive(Debug, Default)]
pub(crate) struct CompiledScratch {
    pub(in crate::compiled) located: Located,
    pub(in crate::compiled) shorts: Shorts,
    pub(in crate::compiled) patterns: PatternScratch,
    pub(in crate::compiled) walk: Walk,
    pub(in crate::compiled) seen: Seen,
    pub(in crate::compiled) batch: crate::compiled::matching::batch::BatchScratch,
}

impl<'a> View<'a> {
    pub fn match_event(&self, event: &Event<'_>, scratch: &mut CompiledScratch, found: &mut Vec<u32>) {
        let CompiledScratch { located, shorts, patterns, walk, seen, .. } = scratch;
        located.locate_values(&self.spaces, self.elements, event, self.attributes);
        self.textuals.find(event, located, patterns);
        shorts.begin(1, self.dimensions.len());
        shorts.set(0, located);
        let start = found.len();
        let memos = [walk.memos.begin(self.memos)];
        let located_one = std::slice::from_ref(located);
        let events = Events { view: self, located: located_one, shorts, event: Some(event), memos: &memos };
        if self.format.is_wide() {
            walk.all::<true>(events, found)
        } else {
            walk.all::<false>(events, found)
        }
        if self.repeats {
            seen.once(self.len, found, start);
        }
        shorts.clear(0, located);
        located.clear();
    }
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
pub(in crate::compiled) struct Walk {
    pub memos: Memos,
    visits: Vec<Visit>,
    /// Rows that are left to be read.
    pub rows: Rows,
    /// Places in a list with tests in eight bytes.
    survivors: Vec<u32>,
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
                let second = spaces.of(*second);
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
                self.table(view, place as usize, (first, second), 0, found);
            } else if let Some(list) = List::read(arena, place as usize, size::<WIDE>()) {
                self.list::<WIDE>(events, &list, 0, found);
                for (dimension, table) in list.groups.0.iter().zip(list.groups.1) {
                    let first = spaces.of(*dimension);
                    if first > 0 {
                        self.visits.push(Visit { at: *table, first, second: 0 });
                    }
                }
            }
            at += 1;
        }
        self.read_rows::<WIDE>(events, std::slice::from_mut(found));
    }

    /// Reads the rows that are left, if they are many.
    #[inline(always)]
    pub fn read_many_rows<const WIDE: bool>(&mut self, events: Events<'_, '_>, found: &mut [Vec<u32>]) {
        if self.rows.are_many() {
            self.read_rows::<WIDE>(events, found);
        }
    }

    /// Reads the rows that are left.
    pub fn read_rows<const WIDE: bool>(&mut self, events: Events<'_, '_>, found: &mut [Vec<u32>]) {
        self.rows.read::<WIDE>(events, &mut self.memos, found);
    }

    /// The decided and the flat ones of a list. First tests are compared eight at a time; the rows of those that hold
    /// are read later.
    pub fn list<const WIDE: bool>(
        &mut self,
        events: Events<'_, '_>,
        list: &List<'_>,
        event: u32,
        found: &mut Vec<u32>,
    ) {
        found.extend_from_slice(list.decided);
        if WIDE {
            return self.wide_list(events.tests(event as usize), list, event);
        }
        let (arena, spaces) = (events.view.arena, events.shorts.all().of(event as usize));
        let words = list.rows.same;
        self.rows.room(list.firsts.len());
        let before = self.rows.count();
        let mut row = Row::new(list.rows.rows, event, words);
        if words > 0 {
            for firsts in list.firsts.as_chunks::<8>().0 {
                self.rows.push_holding(spaces, row, firsts);
                row = row.behind(8 * words);
            }
            return self.rows.prefetch(arena, before);
        }
        for (number, firsts) in list.firsts.as_chunks::<8>().0.iter().enumerate() {
            let mut holding = holding(spaces, firsts);
            while holding != 0 {
                let entry = 8 * number + holding.trailing_zeros() as usize;
                holding &= holding - 1;
                self.rows.put_odd(event, list.rows.row(arena, entry));
            }
        }
    }

    /// As [`Walk::list`], for tests in eight bytes: one after another, still without a branch.
    fn wide_list(&mut self, tests: Tests<'_, '_>, list: &List<'_>, event: u32) {
        if self.survivors.len() <= list.flat {
            self.survivors.resize(list.flat + 1, 0);
        }
        let spaces = tests.located.spaces();
        let mut kept = 0;
        for at in 0..list.flat {
            self.survivors[kept] = at as u32;
            kept += usize::from(may_hold_wide(spaces, load::<true>(list.firsts, 2 * at)));
        }
        for place in 0..kept {
            let at = self.survivors[place] as usize;
            let first = load::<true>(list.firsts, 2 * at);
            if let Check::Complex(entry) = Format::Wide.decode(first)
                && !tests.complex(entry, &mut self.memos)
            {
                continue;
            }
            self.rows.put_odd(event, list.rows.row(tests.view.arena, at));
        }
    }

    /// Compares keys. Targets without further tests are reported, the rows of others are read later.
    pub fn table(
        &mut self,
        view: &View<'_>,
        at: usize,
        spaces: (u32, u32),
        event: u32,
        found: &mut Vec<u32>,
    ) {
        let Some(table) = Table::read(view.arena, at) else { return };
        match (table.lane, table.pair) {
            (Lane::One, false) => self.blocks::<8, false>(Lane::One, view, table, spaces, event, found),
            (Lane::One, true) => self.blocks::<8, true>(Lane::One, view, table, spaces, event, found),
            (Lane::Two, false) => self.blocks::<16, false>(Lane::Two, view, table, spaces, event, found),
            (Lane::Two, true) => self.blocks::<16, true>(Lane::Two, view, table, spaces, event, found),
            (Lane::Four, false) => self.blocks::<32, false>(Lane::Four, view, table, spaces, event, found),
            (Lane::Four, true) => self.blocks::<32, true>(Lane::Four, view, table, spaces, event, found),
        }
    }

    #[inline(always)]
    fn blocks<const WORDS: usize, const PAIR: bool>(
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
        let (rows, words) = (table.rows.rows, table.rows.same);
        self.rows.room(table.len);
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
            let entries = 4 * BLOCK * number;
            if words > 1 {
                let start = rows + words * entries;
                while inside != 0 {
                    let start = start + words * inside.trailing_zeros() as usize;
                    inside &= inside - 1;
                    self.rows.push(arena, Row::new(start, event, words));
                }
            } else if words == 1 {
                let targets = &arena[rows + entries..];
                while inside != 0 {
                    found.push(targets[inside.trailing_zeros() as usize]);
                    inside &= inside - 1;
                }
            }
            while inside != 0 {
                let entry = entries + inside.trailing_zeros() as usize;
                inside &= inside - 1;
                self.rows.put_odd(event, table.rows.row(arena, entry));
            }
        }
    }
}
