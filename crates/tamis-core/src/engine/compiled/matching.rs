//! One event: from its values to spaces, from spaces to lists and tables, from those to matches.

use super::conditions::{Check, Complex, UNSHARED};
use super::cover::REPEATED;
use super::lanes::{BLOCK, Lane};
use super::layout::{Dimension, LONG_ROWS, LONG_STARTS, SAME_LENGTH, SHORT_STARTS, nodes_of_level};
use super::spaces::SpacesView;
use super::textual::Textuals;
use super::words::Format;
use crate::engine::patterns::PatternScratch;
use crate::event::{Event, Slot};

/// An event's values as spaces. Reused from event to event; only what was set is cleared.
#[derive(Debug, Default)]
pub(super) struct Located {
    /// By dimension; 0 where the event has nothing. For lists of elements, 1 if there are any.
    spaces: Vec<u32>,
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
        self.spaces.resize(self.spaces.len().max(spaces.len()), 0);
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
    pub(super) survivors: Vec<u32>,
    memos: Memos,
    seen: Seen,
    pub(super) batch: super::batch::BatchScratch,
}

/// Results of shared programs during one event.
#[derive(Debug, Default)]
pub(super) struct Memos {
    /// The event's number, and in the lowest bit the result.
    results: Vec<u32>,
    event: u32,
}

impl Memos {
    pub fn begin(&mut self, memos: u32) {
        if memos == 0 {
            return;
        }
        self.event = (self.event + 1) & (u32::MAX >> 1);
        if self.event == 0 || self.results.len() < memos as usize {
            self.results.clear();
            self.results.resize(memos as usize, 0);
            self.event = 1;
        }
    }

    fn get(&self, memo: u32) -> Option<bool> {
        let result = self.results[memo as usize];
        (result >> 1 == self.event).then_some(result & 1 == 1)
    }

    fn set(&mut self, memo: u32, held: bool) {
        self.results[memo as usize] = self.event << 1 | u32::from(held);
    }
}

/// Which numbers were found already, of those that may be found repeatedly.
#[derive(Debug, Default)]
pub(super) struct Seen {
    bits: Vec<u64>,
}

impl Seen {
    pub fn begin(&mut self, numbers: usize) {
        let words = numbers.div_ceil(64);
        if self.bits.len() < words {
            self.bits.resize(words, 0);
        }
    }

    /// Whether it is the first time.
    #[inline(always)]
    pub fn first_time(&mut self, number: u32) -> bool {
        let (word, bit) = (&mut self.bits[number as usize / 64], 1 << (number % 64));
        let first = *word & bit == 0;
        *word |= bit;
        first
    }

    /// Forgets these numbers.
    pub fn forget(&mut self, numbers: &[u32]) {
        if numbers.len() > self.bits.len() / 4 {
            self.bits.fill(0);
        } else {
            numbers.iter().for_each(|number| self.bits[*number as usize / 64] = 0);
        }
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
}

impl<'a> View<'a> {
    pub fn match_event(&self, event: &Event<'_>, scratch: &mut CompiledScratch, found: &mut Vec<u32>) {
        scratch.located.locate_values(&self.spaces, self.elements, event, self.attributes);
        self.textuals.find(event, &mut scratch.located, &mut scratch.patterns);
        scratch.memos.begin(self.memos);
        if self.repeats {
            scratch.seen.begin(self.len);
        }
        let start = found.len();
        let CompiledScratch { located, survivors, memos, seen, .. } = scratch;
        let tests = Tests { view: self, located, event };
        let mut walk = Walk { tests, survivors, memos, seen, found };
        if self.format.wide { walk.all::<true>() } else { walk.all::<false>() }
        if self.repeats {
            seen.forget(&found[start..]);
        }
        located.clear();
    }
}

/// Tests on one event.
#[derive(Clone, Copy)]
pub(super) struct Tests<'t, 'a> {
    pub view: &'t View<'a>,
    pub located: &'t Located,
    pub event: &'t Event<'t>,
}

/// Reads a word of the arena.
#[inline(always)]
pub(super) fn load<const WIDE: bool>(arena: &[u32], at: usize) -> u64 {
    if WIDE { u64::from(arena[at]) | u64::from(arena[at + 1]) << 32 } else { u64::from(arena[at]) }
}

pub(super) const fn size<const WIDE: bool>() -> usize {
    if WIDE { 2 } else { 1 }
}

impl Tests<'_, '_> {
    /// Whether a space is accepted by a word that is not complex.
    #[inline(always)]
    fn accepts(space: u32, low: u32, high: u32, outside: bool) -> bool {
        let inside = space.wrapping_sub(low) <= high.wrapping_sub(low);
        if outside { !inside && space != 0 } else { inside }
    }

    #[inline(always)]
    pub fn holds(&self, format: Format, word: u64, memos: &mut Memos) -> bool {
        match format.decode(word) {
            Check::Interval { dimension, low, high, outside } => {
                Self::accepts(self.located.spaces[dimension as usize], low, high, outside)
            }
            Check::Complex(entry) => self.complex(entry, memos),
        }
    }

    /// Whether a word may hold: surely right unless it is complex.
    #[inline(always)]
    pub fn may_hold(&self, word: u64) -> bool {
        match self.view.format.decode(word) {
            Check::Interval { dimension, low, high, outside } => {
                Self::accepts(self.located.spaces[dimension as usize], low, high, outside)
            }
            Check::Complex(_) => true,
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
            Complex::Between { dimension, low, high } => Self::accepts(space(dimension), low, high, false),
            Complex::Outside { dimension, low, high } => Self::accepts(space(dimension), low, high, true),
            Complex::Asked { predicate } => self.view.textuals.holds(predicate as usize, self.event),
            Complex::Program { start, len, memo, all } => {
                if memo != UNSHARED
                    && let Some(held) = memos.get(memo)
                {
                    return held;
                }
                let words = &self.view.programs[start as usize..][..len as usize];
                let held = match all {
                    true => words.iter().all(|word| self.holds(Format::WIDE, *word, memos)),
                    false => words.iter().any(|word| self.holds(Format::WIDE, *word, memos)),
                };
                if memo != UNSHARED {
                    memos.set(memo, held);
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

/// The way of one event through the arena.
struct Walk<'w, 'a> {
    tests: Tests<'w, 'a>,
    survivors: &'w mut Vec<u32>,
    memos: &'w mut Memos,
    seen: &'w mut Seen,
    found: &'w mut Vec<u32>,
}

impl Walk<'_, '_> {
    fn all<const WIDE: bool>(&mut self) {
        let view = self.tests.view;
        if view.everywhere > 0 {
            self.list::<WIDE>(view.everywhere as usize);
        }
        let located = self.tests.located;
        for &(dimension, space) in located.present() {
            let of_dimension = view.dimensions[dimension as usize];
            if of_dimension.scan > 0 {
                self.table::<WIDE>(of_dimension.scan as usize, space, 0);
            }
            if of_dimension.levels > 0 {
                let spaces = view.spaces.count(dimension);
                let mut level_start = of_dimension.nodes;
                for level in 0..of_dimension.levels {
                    let list = view.nodes[(level_start + (space >> level)) as usize];
                    if list > 0 {
                        self.list::<WIDE>(list as usize);
                    }
                    level_start += nodes_of_level(spaces, level);
                }
            }
            if of_dimension.pairs > 0 {
                self.directory::<WIDE>(of_dimension.pairs as usize, space);
            }
        }
    }

    /// The pairs of a dimension.
    fn directory<const WIDE: bool>(&mut self, at: usize, first: u32) {
        let arena = self.tests.view.arena;
        let len = arena[at] as usize;
        let (dimensions, tables) = (&arena[at + 1..at + 1 + len], &arena[at + 1 + len..at + 1 + 2 * len]);
        self.partners::<WIDE>(dimensions, tables, Some(first));
    }

    /// Tables of those of the dimensions that the event has; with a first key, or with none.
    #[inline(always)]
    fn partners<const WIDE: bool>(&mut self, dimensions: &[u32], tables: &[u32], first: Option<u32>) {
        let spaces = self.tests.located.spaces();
        for (dimension, table) in dimensions.iter().zip(tables) {
            let space = spaces[*dimension as usize];
            if space > 0 {
                match first {
                    Some(first) => self.table::<WIDE>(*table as usize, first, space),
                    None => self.table::<WIDE>(*table as usize, space, 0),
                }
            }
        }
    }

    fn list<const WIDE: bool>(&mut self, at: usize) {
        let arena = self.tests.view.arena;
        let [decided, flat, groups, directory] = [arena[at], arena[at + 1], arena[at + 2], arena[at + 3]];
        let decided = &arena[at + 4..at + 4 + decided as usize];
        for target in decided {
            self.report(*target);
        }
        if flat > 0 {
            self.flat::<WIDE>(at + 4 + decided.len(), flat);
        }
        if groups > 0 {
            let (at, len) = (at + directory as usize, groups as usize);
            self.partners::<WIDE>(&arena[at..at + len], &arena[at + len..at + 2 * len], None);
        }
    }

    /// First tests one after another without a branch, then the rows of those that may hold.
    fn flat<const WIDE: bool>(&mut self, firsts: usize, flat: u32) {
        let arena = self.tests.view.arena;
        let len = (flat & !LONG_ROWS) as usize;
        let starts = firsts + len * size::<WIDE>();
        let long = flat & LONG_ROWS != 0;
        let rows = starts + if long { len + 1 } else { (len + 1).div_ceil(2) };
        if self.survivors.len() < len {
            self.survivors.resize(len, 0);
        }
        let survivors = &mut self.survivors[..len];
        let mut kept = 0;
        let words = &arena[firsts..starts];
        for at in 0..len {
            survivors[kept.min(len - 1)] = at as u32;
            kept += usize::from(self.tests.may_hold(load::<WIDE>(words, at * size::<WIDE>())));
        }
        for place in 0..kept {
            let at = self.survivors[place] as usize;
            let first = load::<WIDE>(words, at * size::<WIDE>());
            if let Check::Complex(entry) = self.tests.view.format.decode(first)
                && !self.tests.complex(entry, self.memos)
            {
                continue;
            }
            let start = |at: usize| match long {
                true => arena[starts + at] as usize,
                false => (arena[starts + at / 2] >> (16 * (at % 2)) & 0xffff) as usize,
            };
            self.row::<WIDE>(rows + start(at), rows + start(at + 1));
        }
    }

    /// Compares keys, and goes on with the rows of those that contain the event's spaces.
    #[inline]
    fn table<const WIDE: bool>(&mut self, at: usize, first: u32, second: u32) {
        let arena = self.tests.view.arena;
        let (len, form, rows) = (arena[at] as usize, arena[at + 1], at + arena[at + 2] as usize);
        match (Lane::from_bits(form), form >> 2 & 1 == 1) {
            (Lane::One, false) => self.blocks::<WIDE, 8, false>(Lane::One, at, len, form, rows, first, second),
            (Lane::One, true) => self.blocks::<WIDE, 8, true>(Lane::One, at, len, form, rows, first, second),
            (Lane::Two, false) => self.blocks::<WIDE, 16, false>(Lane::Two, at, len, form, rows, first, second),
            (Lane::Two, true) => self.blocks::<WIDE, 16, true>(Lane::Two, at, len, form, rows, first, second),
            (Lane::Four, false) => self.blocks::<WIDE, 32, false>(Lane::Four, at, len, form, rows, first, second),
            (Lane::Four, true) => self.blocks::<WIDE, 32, true>(Lane::Four, at, len, form, rows, first, second),
        }
    }

    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "what a table's head says, unpacked once")]
    fn blocks<const WIDE: bool, const WORDS: usize, const PAIR: bool>(
        &mut self,
        lane: Lane,
        at: usize,
        len: usize,
        form: u32,
        rows: usize,
        first: u32,
        second: u32,
    ) {
        let arena = self.tests.view.arena;
        let stride = if PAIR { 2 * WORDS } else { WORDS };
        let count = len.div_ceil(BLOCK);
        let blocks = &arena[at + 4..at + 4 + count * stride];
        let starts = at + 4 + count * stride;
        let (kind, same) = (form >> 3 & 3, (form >> 8) as usize);
        for (number, block) in blocks.chunks_exact(stride).enumerate() {
            let mut inside = lane.containing(block, first);
            if PAIR {
                inside &= lane.containing(&block[WORDS..], second);
            }
            while inside != 0 {
                let entry = number * BLOCK + inside.trailing_zeros() as usize;
                inside &= inside - 1;
                let (start, end) = match kind {
                    SAME_LENGTH => (entry * same, (entry + 1) * same),
                    SHORT_STARTS => {
                        let start = |at: usize| (arena[starts + at / 2] >> (16 * (at % 2)) & 0xffff) as usize;
                        (start(entry), start(entry + 1))
                    }
                    LONG_STARTS.. => (arena[starts + entry] as usize, arena[starts + entry + 1] as usize),
                };
                self.row::<WIDE>(rows + start, rows + end);
            }
        }
    }

    /// Reports the target of a row if all its tests hold.
    #[inline(always)]
    fn row<const WIDE: bool>(&mut self, start: usize, end: usize) {
        let view = self.tests.view;
        let row = &view.arena[start..end];
        let mut at = 1;
        while at < row.len() {
            if !self.tests.holds(view.format, load::<WIDE>(row, at), self.memos) {
                return;
            }
            at += size::<WIDE>();
        }
        self.report(row[0]);
    }

    #[inline(always)]
    fn report(&mut self, target: u32) {
        if target & REPEATED == 0 {
            self.found.push(target);
        } else if self.seen.first_time(target & !REPEATED) {
            self.found.push(target & !REPEATED);
        }
    }
}
