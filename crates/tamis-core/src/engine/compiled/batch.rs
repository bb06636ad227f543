//! Many events at once.
//!
//! Up to 256 events are located together and walk through the arena side by side, so that each list and table is read
//! once for all of them. What few events look at, they look at one after another, as single events do. Where many meet,
//! there is one bit for each: in each dimension the spaces of the batch are ranked, and for every rank there is the mask
//! of the events up to it, so that an interval of spaces is two look-ups: the events up to its end without those before
//! its beginning. A conjunction is the AND of such masks, and an empty mask ends it.
//!
//! That pays where events come by the same places: with few dimensions. Where they have little in common, one after
//! another is faster. [`Paths`] chooses by what both ways have cost so far, and tries the other one from time to time.

use super::conditions::{Check, Complex};
use super::lanes::{BLOCK, Lane};
use super::layout::nodes_of_level;
use super::matching::{CompiledScratch, Events, FlatRows, Located, MemoEvent, Table, View, Walk, load, size};
use super::words::{Format, format};
use crate::event::{EventSlots, Rows};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Matches of many events.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// Where each event's matches end in `subs`.
    pub ends: Vec<usize>,
    pub subs: Vec<u32>,
}

/// How many events walk together at most.
pub(super) const MOST: usize = 256;

/// Fewer are not worth it.
const FEWEST: usize = 32;

/// The events of a batch have so many spaces together: 2 MiB.
const MOST_SPACES: usize = 1 << 19;

/// So seldom is the slower way tried again.
const TRIED_AGAIN: u64 = 200;

/// A set of events.
type Mask = [u64; MOST / 64];

const NONE: Mask = [0; MOST / 64];

#[inline(always)]
fn and(a: Mask, b: Mask) -> Mask {
    [a[0] & b[0], a[1] & b[1], a[2] & b[2], a[3] & b[3]]
}

#[inline(always)]
fn without(a: Mask, b: Mask) -> Mask {
    [a[0] & !b[0], a[1] & !b[1], a[2] & !b[2], a[3] & !b[3]]
}

#[inline(always)]
fn or(a: Mask, b: Mask) -> Mask {
    [a[0] | b[0], a[1] | b[1], a[2] | b[2], a[3] | b[3]]
}

#[inline(always)]
fn is_empty(mask: Mask) -> bool {
    mask[0] | mask[1] | mask[2] | mask[3] == 0
}

/// The two ways to match many events, and what an event has cost on each.
#[derive(Debug, Default)]
pub(super) struct Paths {
    one_by_one: Cost,
    together: Cost,
    calls: AtomicU64,
    /// Whether there is no choice.
    forced: Option<bool>,
}

/// A running mean of nanoseconds an event.
#[derive(Debug, Default)]
struct Cost {
    nanoseconds: AtomicU64,
    events: AtomicU64,
}

impl Cost {
    fn record(&self, started: Instant, events: usize) {
        let cost = (started.elapsed().as_nanos() as u64 / events as u64).max(1);
        let before = self.nanoseconds.load(Ordering::Relaxed);
        let mean = if before == 0 { cost } else { (7 * before + cost) / 8 };
        // Lost updates do no harm.
        self.nanoseconds.store(mean.max(1), Ordering::Relaxed);
        self.events.fetch_add(events as u64, Ordering::Relaxed);
    }

    fn nanoseconds(&self) -> u64 {
        self.nanoseconds.load(Ordering::Relaxed)
    }
}

impl Paths {
    /// Without a choice, or with one.
    pub fn new(forced: Option<bool>) -> Paths {
        Paths { forced, ..Paths::default() }
    }

    /// Whether the next events go together.
    fn choose(&self, view: &View<'_>, events: usize, most: usize) -> bool {
        match self.forced {
            _ if !view.together => return false,
            Some(together) => return together,
            _ if events < FEWEST || most < FEWEST => return false,
            _ => {}
        }
        let (one_by_one, together) = (self.one_by_one.nanoseconds(), self.together.nanoseconds());
        if one_by_one == 0 || together == 0 {
            // The first time one way, the second time the other.
            return one_by_one > 0;
        }
        let try_the_other = self.calls.fetch_add(1, Ordering::Relaxed) % TRIED_AGAIN == TRIED_AGAIN - 1;
        (together < one_by_one) != try_the_other
    }

    pub fn match_rows(
        &self,
        view: &View<'_>,
        rows: &Rows,
        range: Range<usize>,
        attributes: usize,
        scratch: &mut CompiledScratch,
        found: &mut Batch,
    ) {
        // The spaces of all events should stay in the cache.
        let most = (MOST_SPACES / view.dimensions.len().max(1)).min(MOST);
        let step = if most < FEWEST { MOST } else { most };
        let mut start = range.start;
        while start < range.end {
            let end = range.end.min(start + step);
            let started = Instant::now();
            if self.choose(view, end - start, most) {
                view.match_together(rows, start..end, attributes, scratch, found);
                self.together.record(started, end - start);
            } else {
                let mut slots = std::mem::take(&mut scratch.batch.slots);
                for row in start..end {
                    view.match_event(&slots.load(rows, row, attributes), scratch, &mut found.subs);
                    found.ends.push(found.subs.len());
                }
                scratch.batch.slots = slots;
                self.one_by_one.record(started, end - start);
            }
            start = end;
        }
    }

    pub fn stats(&self) -> [(&'static str, u64); 4] {
        let events = |cost: &Cost| cost.events.load(Ordering::Relaxed);
        [
            ("events_one_by_one", events(&self.one_by_one)),
            ("nanoseconds_one_by_one", self.one_by_one.nanoseconds()),
            ("events_together", events(&self.together)),
            ("nanoseconds_together", self.together.nanoseconds()),
        ]
    }
}

/// Dimensions with more spaces look up ranks by bisection.
const MOST_RANKED: u32 = 1 << 12;

/// The events of a batch in one dimension.
#[derive(Clone, Copy, Debug, Default)]
struct Ranked {
    /// Where its ranks by space begin; `u32::MAX` if there are none, because the spaces are too many.
    ranks: u32,
    /// Where its distinct spaces begin, ascending; and how many there are.
    spaces: u32,
    len: u32,
    /// Where the masks up to each rank begin; one more than there are spaces.
    masks: u32,
    /// Whether an event may have several spaces: those of the elements of a list.
    many_valued: bool,
}

/// What a batch needs, reused from batch to batch.
#[derive(Debug, Default)]
pub(super) struct BatchScratch {
    pub slots: EventSlots,
    /// By event.
    events: Vec<Located>,
    memos: Vec<MemoEvent>,
    /// Dimension, space and event of every value.
    located: Vec<(u32, u32, u32)>,
    /// By dimension: place in `ranked`, from 1; 0 if no event has it.
    places: Vec<u32>,
    ranked: Vec<(u32, Ranked)>,
    ranks: Vec<u16>,
    spaces: Vec<u32>,
    /// Events with exactly this space, in the order of `spaces`.
    exact: Vec<Mask>,
    masks: Vec<Mask>,
    /// By event.
    found: Vec<Vec<u32>>,
}

impl View<'_> {
    /// Matches up to [`MOST`] events together.
    fn match_together(
        &self,
        rows: &Rows,
        range: Range<usize>,
        attributes: usize,
        scratch: &mut CompiledScratch,
        found: &mut Batch,
    ) {
        let mut batch = std::mem::take(&mut scratch.batch);
        let CompiledScratch { patterns, walk, seen, .. } = scratch;
        let count_of_events = range.len();
        batch.events.resize_with(batch.events.len().max(count_of_events), Located::default);
        batch.found.resize_with(batch.found.len().max(count_of_events), Vec::new);
        batch.located.clear();
        batch.memos.clear();
        for (number, row) in (0_u32..).zip(range) {
            let event = batch.slots.load(rows, row, attributes);
            let located = &mut batch.events[number as usize];
            located.locate_values(&self.spaces, self.elements, &event, self.attributes);
            self.textuals.find(&event, located, patterns);
            batch
                .located
                .extend(located.present().iter().map(|(dimension, space)| (*dimension, *space, number)));
            batch.memos.push(walk.memos.begin(self.memos));
        }
        batch.rank(self);
        let BatchScratch {
            events: located,
            memos,
            places,
            ranked,
            ranks,
            spaces,
            exact,
            masks,
            found: by_event,
            ..
        } = &mut batch;
        let all = Mask::first(count_of_events);
        let masks = Masks { view: self, places, ranked, ranks, spaces, exact, masks, all };
        let events = Events { view: self, located, event: None, memos };
        let mut together = Together { masks, events, walk, found: by_event };
        if self.format.is_wide() {
            together.all::<true>()
        } else {
            together.all::<false>()
        }
        for (of_event, located) in batch.found.iter_mut().zip(&mut batch.events).take(count_of_events) {
            let start = found.subs.len();
            found.subs.append(of_event);
            if self.repeats {
                seen.once(self.len, &mut found.subs, start);
            }
            found.ends.push(found.subs.len());
            located.clear();
        }
        batch.forget();
        scratch.batch = batch;
    }
}

/// The first events.
trait FirstEvents {
    fn first(events: usize) -> Mask;
}

impl FirstEvents for Mask {
    fn first(events: usize) -> Mask {
        let mut mask = NONE;
        (0..events).for_each(|event| mask[event / 64] |= 1 << (event % 64));
        mask
    }
}

impl BatchScratch {
    /// Ranks the spaces of every dimension.
    fn rank(&mut self, view: &View<'_>) {
        self.located.sort_unstable();
        self.places.resize(self.places.len().max(view.dimensions.len()), 0);
        self.ranked.clear();
        self.ranks.clear();
        self.spaces.clear();
        self.exact.clear();
        self.masks.clear();
        for of_dimension in self.located.chunk_by(|a, b| a.0 == b.0) {
            let dimension = of_dimension[0].0;
            let (spaces, masks) = (self.spaces.len(), self.masks.len());
            let mut up_to = NONE;
            self.masks.push(up_to);
            for of_space in of_dimension.chunk_by(|a, b| a.1 == b.1) {
                let mut here = NONE;
                of_space.iter().for_each(|(_, _, event)| here[*event as usize / 64] |= 1 << (event % 64));
                up_to = or(up_to, here);
                self.spaces.push(of_space[0].1);
                self.exact.push(here);
                self.masks.push(up_to);
            }
            let len = self.spaces.len() - spaces;
            let count = view.spaces.count(dimension);
            let ranks = if count <= MOST_RANKED {
                let start = self.ranks.len();
                let mut rank = 0;
                for space in 0..count {
                    rank += usize::from(rank < len && self.spaces[spaces + rank] == space);
                    self.ranks.push(rank as u16);
                }
                start as u32
            } else {
                u32::MAX
            };
            let many_valued = view.elements.iter().any(|[_, of_elements]| *of_elements == dimension);
            let (spaces, len, masks) = (spaces as u32, len as u32, masks as u32);
            let ranked = Ranked { ranks, spaces, len, masks, many_valued };
            self.ranked.push((dimension, ranked));
            self.places[dimension as usize] = self.ranked.len() as u32;
        }
    }

    fn forget(&mut self) {
        for (dimension, _) in &self.ranked {
            self.places[*dimension as usize] = 0;
        }
    }
}

/// Which events satisfy a test?
struct Masks<'m, 'a> {
    view: &'m View<'a>,
    places: &'m [u32],
    ranked: &'m [(u32, Ranked)],
    ranks: &'m [u16],
    spaces: &'m [u32],
    exact: &'m [Mask],
    masks: &'m [Mask],
    all: Mask,
}

impl Masks<'_, '_> {
    #[inline(always)]
    fn ranked(&self, dimension: u32) -> Option<&Ranked> {
        match self.places[dimension as usize] {
            0 => None,
            place => Some(&self.ranked[place as usize - 1].1),
        }
    }

    /// Events that have the dimension.
    #[inline(always)]
    fn present(&self, ranked: &Ranked) -> Mask {
        self.masks[(ranked.masks + ranked.len) as usize]
    }

    /// How many distinct spaces of the batch are not above one.
    #[inline(always)]
    fn rank(&self, ranked: &Ranked, space: u32) -> usize {
        if ranked.ranks != u32::MAX {
            return usize::from(self.ranks[(ranked.ranks + space) as usize]);
        }
        let spaces = &self.spaces[ranked.spaces as usize..(ranked.spaces + ranked.len) as usize];
        spaces.partition_point(|other| *other <= space)
    }

    /// Events with a space in an interval that does not begin with 0.
    #[inline(always)]
    fn between(&self, ranked: &Ranked, low: u32, high: u32) -> Mask {
        let (before, up_to) = (self.rank(ranked, low - 1), self.rank(ranked, high));
        if ranked.many_valued {
            // Who has an element before the interval may have another one inside.
            let exact = &self.exact[ranked.spaces as usize..][before..up_to];
            return exact.iter().fold(NONE, |mask, exact| or(mask, *exact));
        }
        let masks = &self.masks[ranked.masks as usize..];
        without(masks[up_to], masks[before])
    }

    #[inline(always)]
    fn interval(&self, dimension: u32, low: u32, high: u32, outside: bool) -> Mask {
        let Some(ranked) = self.ranked(dimension) else {
            return if low == 0 && !outside { self.all } else { NONE };
        };
        let present = || self.present(ranked);
        match (outside, low) {
            (false, 0) => {
                let above = without(present(), self.masks[ranked.masks as usize + self.rank(ranked, high)]);
                without(self.all, above)
            }
            (false, _) => self.between(ranked, low, high),
            (true, _) => without(present(), self.between(ranked, low.max(1), high)),
        }
    }

    /// Events that satisfy a test, of those in question.
    #[inline(always)]
    fn word(&self, format: Format, word: u64, of: Mask) -> Mask {
        match format.decode(word) {
            Check::Interval { dimension, low, high, outside } => {
                and(of, self.interval(dimension, low, high, outside))
            }
            Check::Complex(entry) => self.complex(entry, of),
        }
    }

    #[cold]
    fn complex(&self, entry: u32, of: Mask) -> Mask {
        match Complex::from_words(self.view.entries[entry as usize]) {
            Complex::Within { dimension, start, len } => {
                let intervals = &self.view.intervals[start as usize..][..len as usize];
                let inside = intervals.iter().map(|[low, high]| self.interval(dimension, *low, *high, false));
                and(of, inside.fold(NONE, or))
            }
            Complex::Listed { dimension, start } => {
                let listed = |space: u32| {
                    self.view.bits[start as usize + space as usize / 64] >> (space % 64) & 1 == 1
                };
                let missing = match self.ranked(dimension) {
                    None => self.all,
                    Some(ranked) => without(self.all, self.present(ranked)),
                };
                let missing = if listed(0) { missing } else { NONE };
                and(of, or(missing, self.some(dimension, listed)))
            }
            Complex::AnyWithin { dimension, start, len } => {
                let intervals = &self.view.intervals[start as usize..][..len as usize];
                let within = |space: u32| {
                    let at = intervals.partition_point(|[low, _]| *low <= space);
                    at > 0 && space <= intervals[at - 1][1]
                };
                and(of, self.some(dimension, within))
            }
            Complex::Between { dimension, low, high } => and(of, self.interval(dimension, low, high, false)),
            Complex::Outside { dimension, low, high } => and(of, self.interval(dimension, low, high, true)),
            Complex::Program { start, len, all, .. } => {
                let words = &self.view.programs[start as usize..][..len as usize];
                let mut held = if all { of } else { NONE };
                for word in words {
                    held = match all {
                        true => self.word(Format::Wide, *word, held),
                        false => or(held, self.word(Format::Wide, *word, without(of, held))),
                    };
                    if is_empty(if all { held } else { without(of, held) }) {
                        break;
                    }
                }
                held
            }
            // Segments with these match events one by one.
            Complex::AllWithin { .. } | Complex::Asked { .. } => NONE,
        }
    }

    /// Events with some space that is wanted.
    fn some(&self, dimension: u32, wanted: impl Fn(u32) -> bool) -> Mask {
        let Some(ranked) = self.ranked(dimension) else { return NONE };
        let places = ranked.spaces as usize..(ranked.spaces + ranked.len) as usize;
        let spaces = self.spaces[places.clone()].iter().zip(&self.exact[places]);
        spaces.filter(|(space, _)| wanted(**space)).fold(NONE, |mask, (_, exact)| or(mask, *exact))
    }
}

/// So many events look into a list, or a table, one after another; more do it together.
const FEW_IN_LIST: u32 = 3;
const FEW_IN_TABLE: u32 = 128;

/// The way of many events through the arena.
struct Together<'t, 'a> {
    masks: Masks<'t, 'a>,
    events: Events<'t, 'a>,
    walk: &'t mut Walk,
    found: &'t mut [Vec<u32>],
}

fn count(mask: Mask) -> u32 {
    mask.iter().map(|bits| bits.count_ones()).sum()
}

/// The events of a mask.
fn members(mask: Mask) -> impl Iterator<Item = usize> {
    (0..mask.len()).flat_map(move |word| {
        let mut bits = mask[word];
        std::iter::from_fn(move || {
            let event = (bits != 0).then(|| 64 * word + bits.trailing_zeros() as usize);
            bits &= bits.wrapping_sub(1);
            event
        })
    })
}

impl Together<'_, '_> {
    fn all<const WIDE: bool>(&mut self) {
        let view = self.masks.view;
        if view.everywhere > 0 {
            self.list::<WIDE>(view.everywhere as usize, self.masks.all);
        }
        for place in 0..self.masks.ranked.len() {
            let (dimension, ranked) = self.masks.ranked[place];
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
                    let node = self.masks.spaces[ranked.spaces as usize + rank] >> level;
                    let mut here = NONE;
                    while rank < ranked.len as usize
                        && self.masks.spaces[ranked.spaces as usize + rank] >> level == node
                    {
                        here = or(here, self.masks.exact[ranked.spaces as usize + rank]);
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
    }

    fn list<const WIDE: bool>(&mut self, at: usize, here: Mask) {
        let arena = self.masks.view.arena;
        if count(here) <= FEW_IN_LIST {
            for event in members(here) {
                let tests = self.events.tests(event);
                self.walk.list::<WIDE>(tests, at, event as u32, &mut self.found[event]);
            }
            self.walk.read_rows::<WIDE>(self.events, self.found);
        } else {
            self.list_together::<WIDE>(at, here);
        }
        let (at, len) = (at + arena[at + 3] as usize, arena[at + 2] as usize);
        for (dimension, table) in arena[at..at + len].iter().zip(&arena[at + len..at + 2 * len]) {
            if let Some(ranked) = self.masks.ranked(*dimension).copied() {
                let both = and(here, self.masks.present(&ranked));
                self.table::<WIDE>(*table as usize, (*dimension, ranked), None, both);
            }
        }
    }

    fn list_together<const WIDE: bool>(&mut self, at: usize, here: Mask) {
        let arena = self.masks.view.arena;
        let (decided, flat) = (arena[at] as usize, arena[at + 1]);
        for target in &arena[at + 4..at + 4 + decided] {
            self.report(*target, here);
        }
        let len = FlatRows::len(flat);
        let firsts = at + 4 + decided;
        let rows = FlatRows::new(flat, firsts + len * size::<WIDE>());
        for entry in 0..len {
            let first = load::<WIDE>(arena, firsts + entry * size::<WIDE>());
            let left = self.masks.word(format::<WIDE>(), first, here);
            if !is_empty(left) {
                let (start, end) = rows.row(arena, entry);
                self.row::<WIDE>(start, end, left);
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
        let few = count(here);
        if few > FEW_IN_TABLE || first.0 as usize >= self.masks.view.attributes {
            return self.table_together::<WIDE>(at, first.1, second.map(|(_, ranked)| ranked), here);
        }
        let view = self.masks.view;
        for event in members(here) {
            let space = |dimension: u32| self.events.located[event].spaces()[dimension as usize];
            let second = second.map_or(0, |(dimension, _)| space(dimension));
            self.walk.table::<WIDE>(view, at, space(first.0), second, event as u32, &mut self.found[event]);
        }
        self.walk.read_rows::<WIDE>(self.events, self.found);
    }

    fn table_together<const WIDE: bool>(
        &mut self,
        at: usize,
        first: Ranked,
        second: Option<Ranked>,
        here: Mask,
    ) {
        let table = Table::read(self.masks.view.arena, at);
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
                let (start, end) = table.row(self.masks.view.arena, entry);
                self.row::<WIDE>(start, end, left);
            }
        }
    }

    #[inline(always)]
    fn row<const WIDE: bool>(&mut self, start: usize, end: usize, mut left: Mask) {
        let view = self.masks.view;
        let row = &view.arena[start..end];
        let mut at = 1;
        let filler = Format::always(view.dimensions.len());
        while at < row.len() && (WIDE || row[at] != filler) {
            left = self.masks.word(format::<WIDE>(), load::<WIDE>(row, at), left);
            if is_empty(left) {
                return;
            }
            at += size::<WIDE>();
        }
        self.report(row[0], left);
    }

    #[inline(always)]
    fn report(&mut self, target: u32, here: Mask) {
        for event in members(here) {
            self.found[event].push(target);
        }
    }
}
