//! Many events at once.
//!
//! Up to 512 events are located together and walk through the arena side by side, so that each list and table is read
//! once for all of them. Those who look into a table form companies of 64, with one bit for each, and compare their keys
//! at once ([`company`](crate::compiled::matching::probe)); after that each goes on by itself, as after a list. Where very many meet, they
//! go on together to the end: a conjunction is the AND of masks, and an empty one ends it ([`masks`](crate::compiled::matching::bitmaps)).
//!
//! That pays where events come by the same places: with few dimensions. Where they have little in common, one after
//! another is faster: [`paths`](crate::compiled::matching::strategy) chooses.

use crate::compiled::arena::reader::{List, Table, load, size};
use crate::compiled::arena::test_encoding::{Format, format};
use crate::compiled::arena::writer::{ODD, nodes_of_level};
use crate::compiled::matching::bitmaps::{
    Mask, Masks, NONE, Ranked, Ranking, and, count, first, is_empty, members, or,
};
use crate::compiled::matching::evaluation::{Events, MemoEvent};
use crate::compiled::matching::probe::{self, Company};
use crate::compiled::matching::simd::{BLOCK, Lane};
use crate::compiled::matching::single::{CompiledScratch, Walk};
use crate::compiled::values::event_spaces::Located;
use crate::compiled::view::View;
use crate::event::{EventSlots, Rows};
use std::ops::Range;

/// Matches of many events.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// Where each event's matches end in `subs`.
    pub ends: Vec<usize>,
    pub subs: Vec<u32>,
}

impl Batch {
    /// The matches of one event.
    pub fn row(&self, row: usize) -> &[u32] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.subs[start..self.ends[row]]
    }

    /// The matches of each event.
    pub fn rows_mut(&mut self) -> impl Iterator<Item = &mut [u32]> {
        let (mut rest, mut start) = (&mut self.subs[..], 0);
        self.ends.iter().map(move |end| {
            let (row, others) = std::mem::take(&mut rest).split_at_mut(end - start);
            (rest, start) = (others, *end);
            row
        })
    }
}

/// What a batch needs, reused from batch to batch.
#[derive(Debug, Default)]
pub(in crate::compiled) struct BatchScratch {
    pub slots: EventSlots,
    /// By event.
    events: Vec<Located>,
    memos: Vec<MemoEvent>,
    ranking: Ranking,
    company: Company,
    /// By event.
    found: Vec<Vec<u32>>,
}

impl View<'_> {
    /// Matches any number of events, each for itself.
    pub fn match_one_by_one(
        &self,
        rows: &Rows,
        range: Range<usize>,
        attributes: usize,
        scratch: &mut CompiledScratch,
        found: &mut Batch,
    ) {
        let mut slots = std::mem::take(&mut scratch.batch.slots);
        for row in range {
            self.match_event(&slots.load(rows, row, attributes), scratch, &mut found.subs);
            found.ends.push(found.subs.len());
        }
        scratch.batch.slots = slots;
    }

    /// Matches up to [`MOST`] events together.
    pub fn match_together(
        &self,
        rows: &Rows,
        range: Range<usize>,
        attributes: usize,
        scratch: &mut CompiledScratch,
        found: &mut Batch,
    ) {
        let mut batch = std::mem::take(&mut scratch.batch);
        let CompiledScratch { shorts, patterns, walk, seen, .. } = scratch;
        let count = range.len();
        batch.events.resize_with(batch.events.len().max(count), Located::default);
        batch.found.resize_with(batch.found.len().max(count), Vec::new);
        shorts.begin(count, self.dimensions.len());
        batch.ranking.clear();
        batch.memos.clear();
        for (number, row) in (0_u32..).zip(range) {
            let event = batch.slots.load(rows, row, attributes);
            let located = &mut batch.events[number as usize];
            located.locate_values(&self.spaces, self.elements, &event, self.attributes);
            self.textuals.find(&event, located, patterns);
            shorts.set(number as usize, located);
            batch.ranking.add(number, located.present());
            batch.memos.push(walk.memos.begin(self.memos));
        }
        batch.ranking.rank(self);
        let BatchScratch { events: located, memos, ranking, company, found: by_event, .. } = &mut batch;
        let located = &located[..count];
        let masks = Masks { view: self, ranking, all: first(count) };
        let events = Events { view: self, located, shorts, event: None, memos };
        let mut together = Together { masks, events, walk, company, found: by_event };
        if self.format.is_wide() {
            together.all::<true>()
        } else {
            together.all::<false>()
        }
        let events = batch.found.iter_mut().zip(&mut batch.events).take(count);
        for (number, (of_event, located)) in events.enumerate() {
            let start = found.subs.len();
            found.subs.append(of_event);
            if self.repeats {
                seen.once(self.len, &mut found.subs, start);
            }
            found.ends.push(found.subs.len());
            shorts.clear(number, located);
            located.clear();
        }
        scratch.batch = batch;
    }
}

/// So many events look into a list or a table one after another.
const FEW_IN_LIST: u32 = 16;
const FEW_IN_TABLE: u32 = 2;

/// More than so many that look into a table go on together to the end.
const MANY_IN_TABLE: u32 = 128;

/// The way of many events through the arena.
struct Together<'t, 'a> {
    masks: Masks<'t, 'a>,
    events: Events<'t, 'a>,
    walk: &'t mut Walk,
    company: &'t mut Company,
    found: &'t mut [Vec<u32>],
}

impl Together<'_, '_> {
    fn all<const WIDE: bool>(&mut self) {
        let view = self.masks.view;
        if view.everywhere > 0 {
            self.list::<WIDE>(view.everywhere as usize, self.masks.all);
        }
        for place in 0..self.masks.ranking.ranked.len() {
            let (dimension, ranked) = self.masks.ranking.ranked[place];
            let of_dimension = view.dimensions[dimension as usize];
            let present = self.masks.present(&ranked);
            for scan in of_dimension.scans {
                if scan > 0 {
                    self.table::<WIDE>(scan as usize, (dimension, ranked), None, present);
                }
            }
            let mut level_start = of_dimension.nodes;
            for level in 0..of_dimension.levels {
                let mut rank = 0;
                while rank < ranked.len as usize {
                    let node = self.masks.ranking.spaces[ranked.spaces as usize + rank] >> level;
                    let mut here = NONE;
                    while rank < ranked.len as usize
                        && self.masks.ranking.spaces[ranked.spaces as usize + rank] >> level == node
                    {
                        here = or(here, self.masks.ranking.exact[ranked.spaces as usize + rank]);
                        rank += 1;
                    }
                    let list = view.nodes[(level_start + node) as usize];
                    if list > 0 {
                        self.list::<WIDE>(list as usize, here);
                    }
                }
                level_start += nodes_of_level(of_dimension.spaces, level);
            }
            let (seconds, tables) = of_dimension.pairs(view.arena);
            for (second, table) in seconds.iter().zip(tables) {
                if let Some(ranked_second) = self.masks.ranked(*second).copied() {
                    let both = and(present, self.masks.present(&ranked_second));
                    let second = Some((*second, ranked_second));
                    self.table::<WIDE>(*table as usize, (dimension, ranked), second, both);
                }
            }
        }
        self.walk.read_rows::<WIDE>(self.events, self.found);
    }

    fn list<const WIDE: bool>(&mut self, at: usize, here: Mask) {
        let arena = self.masks.view.arena;
        let Some(list) = List::read(arena, at, size::<WIDE>()) else { return };
        if count(here) <= FEW_IN_LIST {
            for event in members(here) {
                self.walk.list::<WIDE>(self.events, &list, event as u32, &mut self.found[event]);
            }
            self.walk.read_many_rows::<WIDE>(self.events, self.found);
        } else {
            list.decided.iter().for_each(|target| self.report(*target, here));
            for entry in 0..list.flat {
                let first = load::<WIDE>(list.firsts, entry * size::<WIDE>());
                let left = self.masks.word(format::<WIDE>(), first, here);
                if !is_empty(left) {
                    self.row::<WIDE>(list.rows.row(arena, entry), left);
                }
            }
        }
        for (dimension, table) in list.groups.0.iter().zip(list.groups.1) {
            if let Some(ranked) = self.masks.ranked(*dimension).copied() {
                let both = and(here, self.masks.present(&ranked));
                self.table::<WIDE>(*table as usize, (*dimension, ranked), None, both);
            }
        }
    }

    fn table<const WIDE: bool>(
        &mut self,
        at: usize,
        first: (u32, Ranked),
        second: Option<(u32, Ranked)>,
        here: Mask,
    ) {
        let (view, here_are) = (self.masks.view, count(here));
        if here_are > MANY_IN_TABLE || first.0 as usize >= view.attributes {
            return self.table_together::<WIDE>(at, first.1, second.map(|(_, ranked)| ranked), here);
        }
        let Some(table) = Table::read(view.arena, at) else { return };
        let second = second.map(|(dimension, _)| dimension);
        let located = self.events.located;
        let spaces = |event: usize| {
            let space = |dimension: u32| located[event].spaces().of(dimension);
            (space(first.0), second.map_or(0, space))
        };
        if here_are <= FEW_IN_TABLE || table.lane != Lane::One || table.rows.same == 0 {
            for event in members(here) {
                self.walk.table(view, at, spaces(event), event as u32, &mut self.found[event]);
            }
        } else {
            let mut events = members(here);
            for _ in 0..here_are.div_ceil(probe::MOST as u32) {
                let count = |dimension: u32| view.spaces.count(dimension);
                self.company.begin(count(first.0), second.map_or(0, count));
                for event in events.by_ref().take(probe::MOST) {
                    self.company.join(&table, spaces(event), event as u32);
                }
                self.company.compare(view.arena, &table, &mut self.walk.rows, self.found);
            }
        }
        self.walk.read_many_rows::<WIDE>(self.events, self.found);
    }

    fn table_together<const WIDE: bool>(
        &mut self,
        at: usize,
        first: Ranked,
        second: Option<Ranked>,
        here: Mask,
    ) {
        let Some(table) = Table::read(self.masks.view.arena, at) else { return };
        match table.lane {
            Lane::One => self.entries::<WIDE>(Lane::One, table, first, second, here),
            Lane::Two => self.entries::<WIDE>(Lane::Two, table, first, second, here),
            Lane::Four => self.entries::<WIDE>(Lane::Four, table, first, second, here),
        }
    }

    #[inline(always)]
    fn entries<const WIDE: bool>(
        &mut self,
        lane: Lane,
        table: Table<'_>,
        first: Ranked,
        second: Option<Ranked>,
        here: Mask,
    ) {
        let stride = lane.words() * (1 + usize::from(table.pair));
        for entry in 0..table.len {
            let block = &table.blocks[entry / BLOCK * stride..][..stride];
            let (low, high) = lane.interval(block, entry % BLOCK);
            let mut left = and(here, self.masks.between(&first, low, high));
            if let Some(second) = &second {
                let (low, high) = lane.interval(&block[lane.words()..], entry % BLOCK);
                left = and(left, self.masks.between(second, low, high));
            }
            if !is_empty(left) {
                self.row::<WIDE>(table.rows.row(self.masks.view.arena, entry), left);
            }
        }
    }

    #[inline(always)]
    fn row<const WIDE: bool>(&mut self, (start, end): (usize, usize), mut left: Mask) {
        let view = self.masks.view;
        let row = &view.arena[start..end];
        let mut at = 1;
        let filler = Format::always(view.dimensions.len());
        // Behind the first test, fillers are followed by nothing else.
        while at < row.len() && (WIDE || at == 1 || row[at] != filler) {
            left = self.masks.word(format::<WIDE>(), load::<WIDE>(row, at), left);
            if is_empty(left) {
                return;
            }
            at += size::<WIDE>();
        }
        self.report(row[0] & !ODD, left);
    }

    #[inline(always)]
    fn report(&mut self, target: u32, here: Mask) {
        for event in members(here) {
            self.found[event].push(target);
        }
    }
}
