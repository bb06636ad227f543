//! One event: from its values to spaces, from spaces to lists and tables, from those to matches.

use super::conditions::{Check, Complex, UNSHARED};
use super::cover::REPEATED;
use super::lanes::{BLOCK, Lane, prefetch};
use super::layout::{Dimension, LONG_STARTS, ROW, SAME_LENGTH, SHORT_STARTS, nodes_of_level};
use super::spaces::SpacesView;
use super::textual::Textuals;
use super::words::{Format, format, is_complex, may_hold, may_hold_wide};
use crate::engine::patterns::PatternScratch;
use crate::event::{Event, Slot};

/// An event's values as spaces. Reused from event to event; only what was set is cleared.
#[derive(Debug, Default)]
pub(super) struct Located {
    /// By dimension; 0 where the event has nothing. For lists of elements, 1 if there are any.
    pub(super) spaces: Vec<u32>,
    /// Dimensions with a value, and the space; elements of a list one by one.
    present: Vec<(u32, u32)>,
    /// Spaces of the elements of all lists.
    elements: Vec<u32>,
    /// Dimensions of elements with the place of theirs in `elements`: start and end.
    lists: Vec<(u32, u32, u32)>,
}

impl Located {
    pub fn present(&self) -> &[(u32, u32)] {
        &self.present
    }

    pub fn spaces(&self) -> &[u32] {
        &self.spaces
    }

    pub fn set(&mut self, dimension: u32, space: u32) {
        self.spaces[dimension as usize] = space;
        self.present.push((dimension, space));
    }

    /// As [`Located::set`] to 1, if it is not set already.
    pub fn set_once(&mut self, dimension: u32) {
        if self.spaces[dimension as usize] == 0 {
            self.set(dimension, 1);
        }
    }

    pub fn clear(&mut self) {
        for (dimension, _) in self.present.drain(..) {
            self.spaces[dimension as usize] = 0;
        }
        self.elements.clear();
        self.lists.clear();
    }

    /// Locates all values of an event.
    pub fn locate_values(
        &mut self,
        spaces: &SpacesView<'_>,
        elements: &[[u32; 2]],
        event: &Event<'_>,
        attributes: usize,
    ) {
        // One more, which is missing in every event.
        self.spaces.resize(spaces.len() + 1, 0);
        for cell in event.cells() {
            let attribute = cell.attribute.index();
            // Others came with later subscriptions.
            if attribute >= attributes {
                continue;
            }
            let space = spaces.of_slot(attribute, cell.slot, event);
            if space > 0 {
                self.set(attribute as u32, space);
            }
            if let Slot::List(list) = cell.slot
                && let Ok(at) = elements.binary_search_by_key(&cell.attribute.0, |[attribute, _]| *attribute)
            {
                let dimension = elements[at][1];
                let start = self.elements.len();
                let located = event.elements(list).map(|value| spaces.of_value(dimension as usize, value));
                self.elements.extend(located);
                self.elements[start..].sort_unstable();
                self.lists.push((dimension, start as u32, self.elements.len() as u32));
                let mut last = 0;
                for at in start..self.elements.len() {
                    let space = self.elements[at];
                    if space != last {
                        self.present.push((dimension, space));
                        self.spaces[dimension as usize] = 1;
                    }
                    last = space;
                }
            }
        }
    }

    /// The spaces of the elements of a list; `None` if the value is no list.
    fn elements(&self, dimension: u32) -> Option<&[u32]> {
        let list = self.lists.iter().find(|(other, _, _)| *other == dimension)?;
        Some(&self.elements[list.1 as usize..list.2 as usize])
    }
}

/// What one thread needs to match events, whichever segment.
#[derive(Debug, Default)]
pub(crate) struct CompiledScratch {
    pub(super) located: Located,
    pub(super) patterns: PatternScratch,
    pub(super) walk: Walk,
    pub(super) seen: Seen,
    pub(super) batch: super::batch::BatchScratch,
}

/// Results of shared programs during one event.
#[derive(Debug, Default)]
pub(super) struct Memos {
    /// The event's number, and in the lowest bit the result.
    results: Vec<u32>,
    event: u32,
}

/// An event's number among those that have a memo.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MemoEvent(u32);

impl Memos {
    /// Numbers the next event.
    pub fn begin(&mut self, memos: u32) -> MemoEvent {
        if memos > 0 {
            self.event = (self.event + 1) & (u32::MAX >> 1);
            if self.event == 0 || self.results.len() < memos as usize {
                self.results.clear();
                self.results.resize(memos as usize, 0);
                self.event = self.event.max(1);
            }
        }
        MemoEvent(self.event)
    }

    fn get(&self, memo: u32, event: MemoEvent) -> Option<bool> {
        let result = self.results[memo as usize];
        (result >> 1 == event.0).then_some(result & 1 == 1)
    }

    fn set(&mut self, memo: u32, event: MemoEvent, held: bool) {
        self.results[memo as usize] = event.0 << 1 | u32::from(held);
    }
}

/// Which numbers were found already, of those that may be found repeatedly.
#[derive(Debug, Default)]
pub(super) struct Seen {
    bits: Vec<u64>,
}

impl Seen {
    /// Leaves each target from `start` on once, as the number it stands for. There are `numbers` of them.
    pub fn once(&mut self, numbers: usize, found: &mut Vec<u32>, start: usize) {
        let words = numbers.div_ceil(64);
        if self.bits.len() < words {
            self.bits.resize(words, 0);
        }
        let mut kept = start;
        for at in start..found.len() {
            let target = found[at];
            let number = target & !REPEATED;
            found[kept] = number;
            kept += usize::from(target & REPEATED == 0 || self.first_time(number));
        }
        found.truncate(kept);
        if kept - start > words / 4 {
            self.bits[..words].fill(0);
        } else {
            found[start..].iter().for_each(|number| self.bits[*number as usize / 64] = 0);
        }
    }

    #[inline(always)]
    fn first_time(&mut self, number: u32) -> bool {
        let (word, bit) = (&mut self.bits[number as usize / 64], 1 << (number % 64));
        let first = *word & bit == 0;
        *word |= bit;
        first
    }
}

/// The arrays of a segment, unpacked once for many events.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub format: Format,
    pub attributes: usize,
    pub len: usize,
    pub spaces: SpacesView<'a>,
    pub elements: &'a [[u32; 2]],
    pub dimensions: &'a [Dimension],
    pub nodes: &'a [u32],
    pub arena: &'a [u32],
    pub everywhere: u32,
    pub entries: &'a [[u32; 4]],
    pub intervals: &'a [[u32; 2]],
    pub bits: &'a [u64],
    pub programs: &'a [u64],
    pub memos: u32,
    pub textuals: &'a Textuals,
    /// Whether some expression may be found several times.
    pub repeats: bool,
    /// Whether events can be matched together.
    pub together: bool,
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

/// Tests on one event.
#[derive(Clone, Copy)]
pub(super) struct Tests<'t, 'a> {
    pub view: &'t View<'a>,
    pub located: &'t Located,
    /// `None` if no test asks for it.
    pub event: Option<&'t Event<'t>>,
    pub memo: MemoEvent,
}

/// The events that walk together; often only one.
#[derive(Clone, Copy)]
pub(super) struct Events<'t, 'a> {
    pub view: &'t View<'a>,
    pub located: &'t [Located],
    /// The event if it is one, or `None` if no test asks for it.
    pub event: Option<&'t Event<'t>>,
    pub memos: &'t [MemoEvent],
}

impl<'t, 'a> Events<'t, 'a> {
    pub fn tests(&self, event: usize) -> Tests<'t, 'a> {
        let Events { view, located, memos, .. } = *self;
        Tests { view, located: &located[event], event: self.event, memo: memos[event] }
    }
}

/// A row that is to be read, and the event that came to it.
#[derive(Clone, Copy, Debug)]
struct Row {
    start: u32,
    event: u32,
}

/// Reads a word of the arena.
#[inline(always)]
pub(super) fn load<const WIDE: bool>(arena: &[u32], at: usize) -> u64 {
    if WIDE { u64::from(arena[at]) | u64::from(arena[at + 1]) << 32 } else { u64::from(arena[at]) }
}

pub(super) const fn size<const WIDE: bool>() -> usize {
    if WIDE { 2 } else { 1 }
}

/// Whether a space is accepted by a test that is not complex.
#[inline(always)]
fn accepts(space: u32, low: u32, high: u32, outside: bool) -> bool {
    let inside = space.wrapping_sub(low) <= high.wrapping_sub(low);
    if outside { !inside && space != 0 } else { inside }
}

impl Tests<'_, '_> {
    #[inline(always)]
    pub fn holds(&self, format: Format, word: u64, memos: &mut Memos) -> bool {
        match format.decode(word) {
            Check::Interval { dimension, low, high, outside } => {
                accepts(self.located.spaces[dimension as usize], low, high, outside)
            }
            Check::Complex(entry) => self.complex(entry, memos),
        }
    }

    #[cold]
    fn complex(&self, entry: u32, memos: &mut Memos) -> bool {
        let space = |dimension: u32| self.located.spaces[dimension as usize];
        match Complex::from_words(self.view.entries[entry as usize]) {
            Complex::Within { dimension, start, len } => self.within(space(dimension), start, len),
            Complex::Listed { dimension, start } => {
                let space = space(dimension);
                self.view.bits[start as usize + space as usize / 64] >> (space % 64) & 1 == 1
            }
            Complex::AnyWithin { dimension, start, len } => {
                let elements = self.located.elements(dimension);
                elements.is_some_and(|spaces| spaces.iter().any(|space| self.within(*space, start, len)))
            }
            Complex::AllWithin { dimension, start, len } => {
                let elements = self.located.elements(dimension);
                elements.is_some_and(|spaces| spaces.iter().all(|space| self.within(*space, start, len)))
            }
            Complex::Between { dimension, low, high } => accepts(space(dimension), low, high, false),
            Complex::Outside { dimension, low, high } => accepts(space(dimension), low, high, true),
            Complex::Asked { predicate } => {
                self.event.is_some_and(|event| self.view.textuals.holds(predicate as usize, event))
            }
            Complex::Program { start, len, memo, all } => {
                if memo != UNSHARED
                    && let Some(held) = memos.get(memo, self.memo)
                {
                    return held;
                }
                let words = &self.view.programs[start as usize..][..len as usize];
                let mut holds = |word: &u64| self.holds(Format::Wide, *word, memos);
                let held = if all { words.iter().all(&mut holds) } else { words.iter().any(&mut holds) };
                if memo != UNSHARED {
                    memos.set(memo, self.memo, held);
                }
                held
            }
        }
    }

    fn within(&self, space: u32, start: u32, len: u32) -> bool {
        let intervals = &self.view.intervals[start as usize..][..len as usize];
        let at = intervals.partition_point(|[low, _]| *low <= space);
        at > 0 && space <= intervals[at - 1][1]
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
            } else {
                self.list::<WIDE>(tests, place as usize, 0, found);
                self.groups(tests, place as usize);
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

    /// The groups of a list are visited later.
    fn groups(&mut self, tests: Tests<'_, '_>, at: usize) {
        let arena = tests.view.arena;
        let (at, len) = (at + arena[at + 3] as usize, arena[at + 2] as usize);
        for (dimension, table) in arena[at..at + len].iter().zip(&arena[at + len..at + 2 * len]) {
            let space = tests.located.spaces[*dimension as usize];
            if space > 0 {
                self.visits.push(Visit { at: *table, first: space, second: 0 });
            }
        }
    }

    /// The decided and the flat ones of a list. First tests are compared one after another without a branch; the rows
    /// of those that may hold are read later.
    pub fn list<const WIDE: bool>(
        &mut self,
        tests: Tests<'_, '_>,
        at: usize,
        event: u32,
        found: &mut Vec<u32>,
    ) {
        let arena = tests.view.arena;
        let (decided, flat) = (arena[at] as usize, arena[at + 1]);
        found.extend_from_slice(&arena[at + 4..at + 4 + decided]);
        let len = FlatRows::len(flat);
        if len == 0 {
            return;
        }
        let firsts = at + 4 + decided;
        let starts = firsts + len * size::<WIDE>();
        let rows = FlatRows::new(flat, starts);
        let words = &arena[firsts..starts];
        if self.survivors.len() <= len {
            self.survivors.resize(len + 1, 0);
        }
        let spaces = &tests.located.spaces[..];
        let mut kept = 0;
        for at in 0..len {
            self.survivors[kept] = at as u32;
            kept += usize::from(match WIDE {
                true => may_hold_wide(spaces, load::<WIDE>(words, 2 * at)),
                false => may_hold(spaces, words[at]),
            });
        }
        for place in 0..kept {
            let at = self.survivors[place] as usize;
            let first = load::<WIDE>(words, at * size::<WIDE>());
            if let Check::Complex(entry) = format::<WIDE>().decode(first)
                && !tests.complex(entry, &mut self.memos)
            {
                continue;
            }
            self.row::<WIDE>(arena, rows.row(arena, at), event, found);
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
        let table = Table::read(view.arena, at);
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
        let decided = table.rows.kind == SAME_LENGTH && table.rows.same == 1;
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
                self.row::<WIDE>(arena, table.row(arena, entry), event, found);
            }
        }
    }
}

/// Where the rows of the flat ones of a list are.
#[derive(Clone, Copy)]
pub(super) struct FlatRows {
    rows: Starts,
}

impl FlatRows {
    /// How many there are, from the word that says it and how their rows are found.
    #[inline(always)]
    pub fn len(flat: u32) -> usize {
        (flat >> 6) as usize
    }

    #[inline(always)]
    pub fn new(flat: u32, starts: usize) -> FlatRows {
        let (kind, same) = (flat & 3, (flat >> 2 & 15) as usize);
        let words = starts_words(kind, FlatRows::len(flat));
        FlatRows { rows: Starts { kind, starts, same, rows: starts + words } }
    }

    #[inline(always)]
    pub fn row(&self, arena: &[u32], entry: usize) -> (usize, usize) {
        self.rows.row(arena, entry)
    }
}

/// How many words the starts of rows take.
#[inline(always)]
pub(super) fn starts_words(kind: u32, rows: usize) -> usize {
    match kind {
        SAME_LENGTH => 0,
        SHORT_STARTS => (rows + 1).div_ceil(2),
        _ => rows + 1,
    }
}

/// How the starts of rows are kept, where they are, and the length of rows if it is the same.
#[derive(Clone, Copy)]
struct Starts {
    kind: u32,
    starts: usize,
    same: usize,
    rows: usize,
}

impl Starts {
    /// Where the row of an entry begins and ends.
    #[inline(always)]
    fn row(&self, arena: &[u32], entry: usize) -> (usize, usize) {
        let (start, end) = match self.kind {
            SAME_LENGTH => (entry * self.same, (entry + 1) * self.same),
            SHORT_STARTS => {
                let start = |at: usize| (arena[self.starts + at / 2] >> (16 * (at % 2)) & 0xffff) as usize;
                (start(entry), start(entry + 1))
            }
            LONG_STARTS.. => (arena[self.starts + entry] as usize, arena[self.starts + entry + 1] as usize),
        };
        (self.rows + start, self.rows + end)
    }
}

/// The head of a table.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    pub len: usize,
    pub lane: Lane,
    pub pair: bool,
    pub blocks: &'a [u32],
    rows: Starts,
}

impl<'a> Table<'a> {
    #[inline(always)]
    pub fn read(arena: &'a [u32], at: usize) -> Table<'a> {
        let (len, form, rows) = (arena[at] as usize, arena[at + 1], at + arena[at + 2] as usize);
        let (lane, pair) = (Lane::from_bits(form), form >> 2 & 1 == 1);
        let starts = at + 4 + len.div_ceil(BLOCK) * lane.words() * (1 + usize::from(pair));
        let blocks = &arena[at + 4..starts];
        let rows = Starts { kind: form >> 3 & 3, starts, same: (form >> 8) as usize, rows };
        Table { len, lane, pair, blocks, rows }
    }

    /// Where the row of an entry begins and ends.
    #[inline(always)]
    pub fn row(&self, arena: &[u32], entry: usize) -> (usize, usize) {
        self.rows.row(arena, entry)
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
