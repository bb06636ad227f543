//! Many events at once.
//!
//! Up to 512 events are mapped to spaces and traverse the arena together, so that each list and table is read once for
//! all of them. Events that read the same table are compared with its keys 64 at a time ([`probe`]); their candidates are
//! then evaluated one by one, as those of a list are. Where many events read a list or a table, whole rows are evaluated
//! with one bit per event: a conjunction is the AND of masks, and an empty mask ends it
//! ([`bitmaps`](crate::compiled::matching::bitmaps)).
//!
//! This pays where events share lists and tables, as with few dimensions. Otherwise matching per event is faster:
//! [`strategy`](crate::compiled::matching::strategy) chooses.

use crate::compiled::arena::header::RowTarget;
use crate::compiled::arena::interval_block::{BLOCK, EndWidth};
use crate::compiled::arena::reader::{IntervalTable, PostingList, load, test_words};
use crate::compiled::arena::test_encoding::{TestEncoding, encoding};
use crate::compiled::arena::traversal::{PlaceKind, PlaceVisitor, TableVisit, traverse, visit_groups};
use crate::compiled::limits::ArenaOffset;
use crate::compiled::matching::bitmaps::{
    BatchSpaces, DimensionRanks, EventMask, MaskTests, and, count, first_events, is_empty, members,
};
use crate::compiled::matching::evaluation::{MatchInput, MemoEpoch};
use crate::compiled::matching::probe::{self, Probe};
use crate::compiled::matching::scratch::CompiledScratch;
use crate::compiled::matching::single::CandidateSearch;
use crate::compiled::segment::SegmentView;
use crate::compiled::values::event_spaces::EventSpaces;
use crate::event::{EventSlots, Rows};
use std::convert::Infallible;
use std::ops::Range;

/// Matches of many events.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// Where each event's matches end in `subs`.
    pub ends: Vec<usize>,
    /// Expression numbers, event after event.
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

/// Buffers of a batch, reused from batch to batch.
#[derive(Debug, Default)]
pub(in crate::compiled) struct BatchScratch {
    slots: EventSlots,
    /// By event.
    spaces: Vec<EventSpaces>,
    /// By event.
    epochs: Vec<MemoEpoch>,
    batch_spaces: BatchSpaces,
    probe: Probe,
    /// By event: targets found so far.
    found: Vec<Vec<u32>>,
}

impl SegmentView<'_> {
    /// Matches any number of events, each by itself.
    pub fn match_per_event(
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

    /// Matches at most [`MAX_BATCH`](crate::compiled::matching::bitmaps::MAX_BATCH) events together.
    pub fn match_batched(
        &self,
        rows: &Rows,
        range: Range<usize>,
        attributes: usize,
        scratch: &mut CompiledScratch,
        found: &mut Batch,
    ) {
        let mut batch = std::mem::take(&mut scratch.batch);
        let CompiledScratch { narrow, patterns, search, dedup, .. } = scratch;
        let events = range.len();
        batch.spaces.resize_with(batch.spaces.len().max(events), EventSpaces::default);
        batch.found.resize_with(batch.found.len().max(events), Vec::new);
        narrow.begin(events, self.dimensions.len());
        batch.batch_spaces.clear();
        batch.epochs.clear();
        for (number, row) in (0_u32..).zip(range) {
            let event = batch.slots.load(rows, row, attributes);
            let spaces = &mut batch.spaces[number as usize];
            spaces.set_values(&self.spaces, self.elements, &event, self.attributes);
            self.strings.search(&event, spaces, patterns);
            narrow.set(number as usize, spaces);
            batch.batch_spaces.add(number, spaces.present());
            batch.epochs.push(search.memos.begin(self.memos));
        }
        batch.batch_spaces.rank(self);
        let BatchScratch { spaces, epochs, batch_spaces, probe, found: by_event, .. } = &mut batch;
        let input = MatchInput { view: self, spaces: &spaces[..events], narrow, event: None, epochs };
        let masks = MaskTests { view: self, spaces: batch_spaces, all: first_events(events) };
        let matcher = BatchMatcher { masks: &masks, input, search, probe, found: by_event };
        if self.encoding.is_wide() {
            matcher.run::<true>()
        } else {
            matcher.run::<false>()
        }
        let events = batch.found.iter_mut().zip(&mut batch.spaces).take(events);
        for (number, (of_event, spaces)) in events.enumerate() {
            let start = found.subs.len();
            found.subs.append(of_event);
            if self.needs_dedup {
                dedup.retain_first(self.len, &mut found.subs, start);
            }
            found.ends.push(found.subs.len());
            narrow.clear(number, spaces);
            spaces.clear();
        }
        scratch.batch = batch;
    }
}

/// Maximum events that read a list one after another; more are evaluated with masks.
const MAX_PER_EVENT_LIST: u32 = 16;

/// Maximum events that read a table one after another; more are probed 64 at a time.
const MAX_PER_EVENT_TABLE: u32 = 2;

/// Maximum events that are probed in a table; more are evaluated with masks.
const MAX_PROBED: u32 = 128;

/// Reads each list and table once for all events of a batch.
struct BatchMatcher<'t, 'a> {
    masks: &'t MaskTests<'t, 'a>,
    input: MatchInput<'t, 'a>,
    search: &'t mut CandidateSearch,
    probe: &'t mut Probe,
    /// By event.
    found: &'t mut [Vec<u32>],
}

impl<'t, 'a> BatchMatcher<'t, 'a> {
    fn run<const WIDE: bool>(self) {
        let mut visitor = EncodedBatch::<WIDE>(self);
        let masks = visitor.0.masks;
        let Ok(()) = traverse(masks.view, masks, &mut visitor);
        let BatchMatcher { input, search, found, .. } = visitor.0;
        search.evaluate::<WIDE>(input, found);
    }

    #[inline(always)]
    fn report(&mut self, target: RowTarget, here: EventMask) {
        for event in members(here) {
            self.found[event].push(target.word());
        }
    }
}

/// A batch matcher for one encoding of tests.
struct EncodedBatch<'t, 'a, const WIDE: bool>(BatchMatcher<'t, 'a>);

/// A selection of spaces by the events of a batch; see [`bitmaps`](crate::compiled::matching::bitmaps).
type BatchSelection<'t, 'a> = &'t MaskTests<'t, 'a>;

impl<'t, 'a, const WIDE: bool> PlaceVisitor<BatchSelection<'t, 'a>> for EncodedBatch<'t, 'a, WIDE> {
    type Error = Infallible;

    fn list(&mut self, at: ArenaOffset, _kind: PlaceKind, here: EventMask) -> Result<(), Infallible> {
        let masks = self.0.masks;
        let arena = masks.view.arena;
        let Some(list) = PostingList::read(arena, at.index(), test_words::<WIDE>()) else { return Ok(()) };
        if count(here) <= MAX_PER_EVENT_LIST {
            let BatchMatcher { input, search, found, .. } = &mut self.0;
            for event in members(here) {
                search.list::<WIDE>(*input, &list, event as u32, &mut found[event]);
            }
            search.evaluate_many::<WIDE>(*input, found);
        } else {
            list.decided.iter().for_each(|target| self.0.report(RowTarget::from_word(*target), here));
            for entry in 0..list.entries {
                let first = load::<WIDE>(list.first_tests, entry * test_words::<WIDE>());
                let left = masks.test(encoding::<WIDE>(), first, here);
                if !is_empty(left) {
                    self.row(list.rows.row(arena, entry), left);
                }
            }
        }
        visit_groups(masks, list.groups, here, self)
    }

    fn table(
        &mut self,
        at: ArenaOffset,
        visit: TableVisit<BatchSelection<'t, 'a>>,
    ) -> Result<(), Infallible> {
        let masks = self.0.masks;
        let mut here = masks.present(&visit.first.1);
        if let Some((_, ranks)) = &visit.second {
            here = and(here, masks.present(ranks));
        }
        if let Some(within) = visit.within {
            here = and(here, within);
        }
        let readers = count(here);
        // Dimensions behind the attributes are those of patterns and list elements, which may have several spaces.
        if readers > MAX_PROBED || visit.first.0 as usize >= masks.view.attributes {
            let second = visit.second.map(|(_, ranks)| ranks);
            self.table_by_masks(at, visit.first.1, second, here);
        } else {
            let second = visit.second.map(|(dimension, _)| dimension);
            self.table_by_events(at, (visit.first.0, second), here, readers);
        }
        Ok(())
    }

    fn damaged(&mut self, _what: &'static str) -> Result<(), Infallible> {
        Ok(())
    }
}

impl<const WIDE: bool> EncodedBatch<'_, '_, WIDE> {
    /// Reads a table event by event, or 64 events at a time.
    fn table_by_events(
        &mut self,
        at: ArenaOffset,
        (first, second): (u32, Option<u32>),
        here: EventMask,
        readers: u32,
    ) {
        let BatchMatcher { input, search, probe, found, .. } = &mut self.0;
        let view = input.view;
        let Some(table) = IntervalTable::read(view.arena, at.index()) else { return };
        let spaces = |event: usize| {
            let space = |dimension: u32| input.spaces[event].by_dimension().of(dimension);
            (space(first), second.map_or(0, space))
        };
        if readers <= MAX_PER_EVENT_TABLE || table.width != EndWidth::One || table.rows.uniform == 0 {
            for event in members(here) {
                search.table(view, at, spaces(event), event as u32, &mut found[event]);
            }
        } else {
            let mut events = members(here);
            for _ in 0..readers.div_ceil(probe::MAX_EVENTS as u32) {
                let count = |dimension: u32| view.spaces.count(dimension);
                probe.begin(count(first), second.map_or(0, count));
                for event in events.by_ref().take(probe::MAX_EVENTS) {
                    probe.add(&table, spaces(event), event as u32);
                }
                probe.compare(view.arena, &table, &mut search.rows, found);
            }
        }
        search.evaluate_many::<WIDE>(*input, found);
    }

    /// Reads a table with one bit per event.
    fn table_by_masks(
        &mut self,
        at: ArenaOffset,
        first: DimensionRanks,
        second: Option<DimensionRanks>,
        here: EventMask,
    ) {
        let Some(table) = IntervalTable::read(self.0.input.view.arena, at.index()) else { return };
        // A constant width lets each instance read its ends without a branch.
        match table.width {
            EndWidth::One => self.entries(EndWidth::One, table, first, second, here),
            EndWidth::Two => self.entries(EndWidth::Two, table, first, second, here),
            EndWidth::Four => self.entries(EndWidth::Four, table, first, second, here),
        }
    }

    #[inline(always)]
    fn entries(
        &mut self,
        width: EndWidth,
        table: IntervalTable<'_>,
        first: DimensionRanks,
        second: Option<DimensionRanks>,
        here: EventMask,
    ) {
        let masks = self.0.masks;
        let stride = width.block_words() * (1 + usize::from(table.pair));
        for entry in 0..table.entries {
            let block = &table.blocks[entry / BLOCK * stride..][..stride];
            let (low, high) = width.interval(block, entry % BLOCK);
            let mut left = and(here, masks.between(&first, low, high));
            if let Some(second) = &second {
                let (low, high) = width.interval(&block[width.block_words()..], entry % BLOCK);
                left = and(left, masks.between(second, low, high));
            }
            if !is_empty(left) {
                self.row(table.rows.row(masks.view.arena, entry), left);
            }
        }
    }

    /// Evaluates a row for the events that are left.
    #[inline(always)]
    fn row(&mut self, (start, end): (usize, usize), mut left: EventMask) {
        let masks = self.0.masks;
        let view = masks.view;
        let row = &view.arena[start..end];
        let mut at = 1;
        let padding = TestEncoding::always(view.dimensions.len());
        // Padding in front of complex tests is the first test; any other padding ends the row.
        while at < row.len() && (WIDE || at == 1 || row[at] != padding) {
            left = masks.test(encoding::<WIDE>(), load::<WIDE>(row, at), left);
            if is_empty(left) {
                return;
            }
            at += test_words::<WIDE>();
        }
        self.0.report(RowTarget::from_word(row[0]).reported(), left);
    }
}
