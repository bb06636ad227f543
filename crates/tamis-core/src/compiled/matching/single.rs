//! One event: from its spaces to lists and tables, and from those to candidate rows.
//!
//! First the traversal collects the lists and tables that the event reads, then their keys and first tests are compared,
//! then the candidates are evaluated. Each step knows early which memory the next one reads, and prefetches it.

use crate::compiled::arena::header::TableDirectory;
use crate::compiled::arena::interval_block::{BLOCK, EndWidth};
use crate::compiled::arena::reader::{IntervalTable, PostingList, load, test_words};
use crate::compiled::arena::test_encoding::{ResidualTest, TestEncoding, eight_hold, may_hold_wide};
use crate::compiled::arena::traversal::{
    PlaceKind, PlaceVisitor, SpaceSelection, TableVisit, traverse, visit_groups,
};
use crate::compiled::limits::ArenaOffset;
use crate::compiled::matching::candidates::{Candidate, CandidateRows};
use crate::compiled::matching::evaluation::{EventTests, MatchInput, SubexpressionMemos};
use crate::compiled::matching::scratch::CompiledScratch;
use crate::compiled::matching::simd::{containing, prefetch};
use crate::compiled::segment::SegmentView;
use crate::compiled::values::event_spaces::EventSpaces;
use crate::event::Event;
use std::convert::Infallible;

impl SegmentView<'_> {
    /// Appends the expressions that an event satisfies.
    pub fn match_event(&self, event: &Event<'_>, scratch: &mut CompiledScratch, found: &mut Vec<u32>) {
        let CompiledScratch { spaces, narrow, patterns, search, dedup, .. } = scratch;
        spaces.set_values(&self.spaces, self.elements, event, self.attributes);
        self.strings.search(event, spaces, patterns);
        narrow.begin(1, self.dimensions.len());
        narrow.set(0, spaces);
        let start = found.len();
        let epochs = [search.memos.begin(self.memos)];
        let one = std::slice::from_ref(&*spaces);
        let input = MatchInput { view: self, spaces: one, narrow, event: Some(event), epochs: &epochs };
        if self.encoding.is_wide() {
            search.match_one::<true>(input, found)
        } else {
            search.match_one::<false>(input, found)
        }
        if self.needs_dedup {
            dedup.retain_first(self.len, found, start);
        }
        narrow.clear(0, spaces);
        spaces.clear();
    }
}

/// Selects the spaces of one event.
#[derive(Clone, Copy)]
pub(super) struct EventSelection<'e>(pub &'e EventSpaces);

impl SpaceSelection for EventSelection<'_> {
    /// The event's space.
    type Spaces = u32;
    type Node = ();

    #[inline(always)]
    fn everywhere(self) {}

    #[inline(always)]
    fn dimensions(self) -> impl Iterator<Item = (u32, u32)> {
        self.0.present().iter().copied()
    }

    #[inline(always)]
    fn spaces(self, dimension: u32) -> Option<u32> {
        let space = self.0.by_dimension().of(dimension);
        (space > 0).then_some(space)
    }

    #[inline(always)]
    fn nodes(self, _dimension: u32, space: u32, level: u32, _count: u32) -> impl Iterator<Item = (u32, ())> {
        std::iter::once((space >> level, ()))
    }
}

/// A list or a table that the event reads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct QueuedPlace {
    pub at: ArenaOffset,
    /// The event's space in the dimension of a table's first key; 0 for a list.
    pub first: u32,
    /// The event's space in the dimension of the second key; 0 without one.
    pub second: u32,
}

/// The lists and tables that the event reads, in order; the groups of a list are appended when it is read.
#[derive(Debug, Default)]
pub(super) struct PlaceQueue(pub Vec<QueuedPlace>);

impl PlaceVisitor<EventSelection<'_>> for PlaceQueue {
    type Error = Infallible;

    #[inline(always)]
    fn list(&mut self, at: ArenaOffset, _kind: PlaceKind, _node: ()) -> Result<(), Infallible> {
        self.0.push(QueuedPlace { at, first: 0, second: 0 });
        Ok(())
    }

    #[inline(always)]
    fn table(&mut self, at: ArenaOffset, visit: TableVisit<EventSelection<'_>>) -> Result<(), Infallible> {
        let second = visit.second.map_or(0, |(_, space)| space);
        self.0.push(QueuedPlace { at, first: visit.first.1, second });
        Ok(())
    }

    /// Whether the event has the second dimension is unpredictable. Branchless append: write always, advance `kept` only
    /// if the second dimension is present.
    #[inline(always)]
    fn pairs(
        &mut self,
        selection: EventSelection<'_>,
        (_, first): (u32, u32),
        directory: TableDirectory<'_>,
    ) -> Result<(), Infallible> {
        let spaces = selection.0.by_dimension();
        let mut kept = self.0.len();
        self.0.resize(kept + directory.len(), QueuedPlace::default());
        for (second, at) in directory.iter() {
            let second = spaces.of(second);
            self.0[kept] = QueuedPlace { at, first, second };
            kept += usize::from(second > 0);
        }
        self.0.truncate(kept);
        Ok(())
    }

    fn damaged(&mut self, _what: &'static str) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Places ahead whose memory is prefetched, and cache lines of each.
pub(super) const PREFETCH_AHEAD: usize = 6;
const PREFETCH_LINES: usize = 6;

/// 32-bit words of a cache line.
pub(super) const LINE_WORDS: usize = 16;

/// From lists and tables to candidates. Reused from event to event.
#[derive(Debug, Default)]
pub(in crate::compiled) struct CandidateSearch {
    pub memos: SubexpressionMemos,
    pub(super) queue: PlaceQueue,
    /// Candidates that are not evaluated yet.
    pub rows: CandidateRows,
    /// Entries of a list with tests of 8 bytes whose first test may hold.
    survivors: Vec<u32>,
}

impl CandidateSearch {
    /// Matches the one event of the input.
    fn match_one<const WIDE: bool>(&mut self, input: MatchInput<'_, '_>, found: &mut Vec<u32>) {
        let (view, arena) = (input.view, input.view.arena);
        let selection = EventSelection(&input.spaces[0]);
        self.queue.0.clear();
        let Ok(()) = traverse(view, selection, &mut self.queue);
        let mut at = 0;
        while at < self.queue.0.len() {
            if let Some(ahead) = self.queue.0.get(at + PREFETCH_AHEAD) {
                let start = ahead.at.index();
                (0..PREFETCH_LINES).for_each(|line| prefetch(arena, start + LINE_WORDS * line));
            }
            let QueuedPlace { at: place, first, second } = self.queue.0[at];
            if first > 0 {
                self.table(view, place, (first, second), 0, found);
            } else if let Some(list) = PostingList::read(arena, place.index(), test_words::<WIDE>()) {
                self.list::<WIDE>(input, &list, 0, found);
                let Ok(()) = visit_groups(selection, list.groups, (), &mut self.queue);
            }
            at += 1;
        }
        self.evaluate::<WIDE>(input, std::slice::from_mut(found));
    }

    /// Evaluates the candidates if there are many.
    #[inline(always)]
    pub fn evaluate_many<const WIDE: bool>(&mut self, input: MatchInput<'_, '_>, found: &mut [Vec<u32>]) {
        if self.rows.should_flush() {
            self.evaluate::<WIDE>(input, found);
        }
    }

    /// Evaluates the candidates.
    pub fn evaluate<const WIDE: bool>(&mut self, input: MatchInput<'_, '_>, found: &mut [Vec<u32>]) {
        self.rows.evaluate::<WIDE>(input, &mut self.memos, found);
    }

    /// Reads a list for one event, without its groups. Entries without residual tests match; those whose first test
    /// holds become candidates. First tests are compared eight at a time.
    pub fn list<const WIDE: bool>(
        &mut self,
        input: MatchInput<'_, '_>,
        list: &PostingList<'_>,
        event: u32,
        found: &mut Vec<u32>,
    ) {
        found.extend_from_slice(list.decided);
        if WIDE {
            return self.wide_list(input.tests(event as usize), list, event);
        }
        let (arena, spaces) = (input.view.arena, input.narrow.view().of(event as usize));
        let words = list.rows.uniform;
        self.rows.reserve(list.first_tests.len());
        let before = self.rows.count();
        let mut row = Candidate::new(list.rows.first, event, words);
        if words > 0 {
            for first_tests in list.first_tests.as_chunks::<8>().0 {
                self.rows.push_passing(spaces, row, first_tests);
                row = row.behind(8 * words);
            }
            return self.rows.prefetch(arena, before);
        }
        for (number, first_tests) in list.first_tests.as_chunks::<8>().0.iter().enumerate() {
            let mut passing = eight_hold(spaces, first_tests);
            while passing != 0 {
                let entry = 8 * number + passing.trailing_zeros() as usize;
                passing &= passing - 1;
                self.rows.push_variable(event, list.rows.row(arena, entry));
            }
        }
    }

    /// As [`CandidateSearch::list`], for tests of 8 bytes: one after another, by branchless appends.
    fn wide_list(&mut self, tests: EventTests<'_, '_>, list: &PostingList<'_>, event: u32) {
        if self.survivors.len() <= list.entries {
            self.survivors.resize(list.entries + 1, 0);
        }
        let spaces = tests.spaces.by_dimension();
        let mut kept = 0;
        for at in 0..list.entries {
            self.survivors[kept] = at as u32;
            kept += usize::from(may_hold_wide(spaces, load::<true>(list.first_tests, 2 * at)));
        }
        for survivor in 0..kept {
            let at = self.survivors[survivor] as usize;
            let first = load::<true>(list.first_tests, 2 * at);
            if let ResidualTest::Complex(entry) = TestEncoding::Wide.decode(first)
                && !tests.complex_holds(entry, &mut self.memos)
            {
                continue;
            }
            self.rows.push_variable(event, list.rows.row(tests.view.arena, at));
        }
    }

    /// Reads a table for one event with these spaces. Entries without residual tests match if their keys contain the
    /// spaces; others become candidates.
    pub fn table(
        &mut self,
        view: &SegmentView<'_>,
        at: ArenaOffset,
        spaces: (u32, u32),
        event: u32,
        found: &mut Vec<u32>,
    ) {
        if let Some(table) = IntervalTable::read(view.arena, at.index()) {
            self.read_table(view, table, spaces, event, found);
        }
    }

    /// As [`CandidateSearch::table`], for a table or a part of one.
    #[inline]
    pub fn read_table(
        &mut self,
        view: &SegmentView<'_>,
        table: IntervalTable<'_>,
        spaces: (u32, u32),
        event: u32,
        found: &mut Vec<u32>,
    ) {
        use EndWidth::{Four, One, Two};
        match (table.width, table.pair) {
            (One, false) => self.blocks::<8, false>(One, view, table, spaces, event, found),
            (One, true) => self.blocks::<8, true>(One, view, table, spaces, event, found),
            (Two, false) => self.blocks::<16, false>(Two, view, table, spaces, event, found),
            (Two, true) => self.blocks::<16, true>(Two, view, table, spaces, event, found),
            (Four, false) => self.blocks::<32, false>(Four, view, table, spaces, event, found),
            (Four, true) => self.blocks::<32, true>(Four, view, table, spaces, event, found),
        }
    }

    #[inline(always)]
    fn blocks<const WORDS: usize, const PAIR: bool>(
        &mut self,
        width: EndWidth,
        view: &SegmentView<'_>,
        table: IntervalTable<'_>,
        (first, second): (u32, u32),
        event: u32,
        found: &mut Vec<u32>,
    ) {
        let arena = view.arena;
        let stride = if PAIR { 2 * WORDS } else { WORDS };
        let (rows, words) = (table.rows.first, table.rows.uniform);
        self.rows.reserve(table.entries);
        // Four blocks at a time: the end of a loop over set bits is mispredicted, so there should be few such loops.
        for (number, blocks) in table.blocks.chunks(4 * stride).enumerate() {
            let mut inside = 0_u64;
            for (block, at) in blocks.chunks_exact(stride).zip((0..).step_by(BLOCK)) {
                let mut here = containing(width, block, first);
                if PAIR {
                    here &= containing(width, &block[WORDS..], second);
                }
                inside |= u64::from(here) << at;
            }
            let entries = 4 * BLOCK * number;
            if words > 1 {
                let start = rows + words * entries;
                while inside != 0 {
                    let start = start + words * inside.trailing_zeros() as usize;
                    inside &= inside - 1;
                    self.rows.push(arena, Candidate::new(start, event, words));
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
                self.rows.push_variable(event, table.rows.row(arena, entry));
            }
        }
    }
}
