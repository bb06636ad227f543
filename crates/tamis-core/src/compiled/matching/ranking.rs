//! The best matches of one event, without finding all.
//!
//! The entries of every list and table ascend by rank, and each block of 16 states the rank of its first
//! ([`scores`](crate::compiled::scores)). The k-th best match so far is a floor; it makes a limit: entries of that rank or a
//! greater one cannot exceed it. So a prefix of each place is read, in rounds over all places: the entries of the first few
//! ranks, then of four times as many, and so on. Matches of the first rounds raise the floor, which ends the later ones. No
//! round reads more than about four times the entries that any order would have to read.
//!
//! An event with attribute weights has the limit of the floor divided by its greatest weight.
//!
//! A place is read block by block by the functions that read whole places ([`single`](crate::compiled::matching::single)).

use crate::compiled::arena::header::RowTarget;
use crate::compiled::arena::reader::{IntervalTable, PostingList, test_words};
use crate::compiled::arena::traversal::{traverse, visit_groups};
use crate::compiled::limits::ArenaOffset;
use crate::compiled::matching::dedup::Dedup;
use crate::compiled::matching::evaluation::MatchInput;
use crate::compiled::matching::scratch::CompiledScratch;
use crate::compiled::matching::simd::prefetch;
use crate::compiled::matching::single::{CandidateSearch, EventSelection, LINE_WORDS, PREFETCH_AHEAD};
use crate::compiled::scores::{RanksView, TokensView};
use crate::compiled::segment::{CompiledSegment, SegmentView};
use crate::engine::scoring::AttributeWeights;
use crate::event::Event;
use std::ops::Range;

pub(crate) use crate::compiled::scores::RankFloor;

/// Takes the matches of an event that may be among the best.
pub(crate) trait RankingSink {
    /// Whether an expression was not removed.
    fn is_live(&self, number: u32) -> bool;

    /// Takes a match, each at most once.
    fn offer(&mut self, number: u32, score: f64);

    /// What further matches have to exceed; `None` as long as there are fewer than k.
    fn floor(&mut self) -> Option<RankFloor>;
}

/// Ranks that the first round reads, per match that is wanted.
const FIRST_RANKS: u32 = 16;

/// Ratio between the ranks of one round and the one before.
const GROWTH: u32 = 4;

/// Blocks of a place that are read before candidates are counted.
const MAX_BLOCKS: usize = 8;

/// Candidates or matches that are evaluated and offered at a time, so that the floor rises early.
const FLUSH: usize = 96;

/// The rank behind all entries of a place.
const NO_RANK: u32 = u32::MAX;

/// What of a list or table is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlacePart {
    /// The targets of a list.
    Decided,
    /// The entries of a list.
    Entries,
    Table,
}

/// A list or table with entries that are not read yet.
#[derive(Clone, Copy, Debug)]
struct OpenPlace {
    at: ArenaOffset,
    part: PlacePart,
    /// The event's spaces in the dimensions of a table.
    spaces: (u32, u32),
    /// The next block to read.
    block: u32,
    /// The rank of its first entry, or [`NO_RANK`].
    rank: u32,
}

/// Places of the event in hand. Reused from event to event.
#[derive(Debug, Default)]
pub(in crate::compiled) struct RankedSearch {
    places: Vec<OpenPlace>,
    /// Targets that matched and were not offered yet.
    found: Vec<u32>,
}

/// An event that is ranked.
#[derive(Clone, Copy)]
pub(crate) struct RankedEvent<'e> {
    pub event: &'e Event<'e>,
    /// Its attribute weights.
    pub weights: &'e AttributeWeights,
    /// How many matches are wanted.
    pub k: usize,
}

impl CompiledSegment {
    /// Offers the matches of an event that may be among the best. `always` are the expressions that every event matches;
    /// the segment does not find them.
    pub fn rank_event(
        &self,
        ranked: RankedEvent<'_>,
        always: &[u32],
        scratch: &mut CompiledScratch,
        sink: &mut impl RankingSink,
    ) {
        let view = &self.view();
        let CompiledScratch { spaces, narrow, patterns, search, dedup, ranking, .. } = scratch;
        spaces.set_values(&view.spaces, view.elements, ranked.event, view.attributes);
        view.strings.search(ranked.event, spaces, patterns);
        narrow.begin(1, view.dimensions.len());
        narrow.set(0, spaces);
        let epochs = [search.memos.begin(view.memos)];
        let one = std::slice::from_ref(&*spaces);
        let event = Some(ranked.event);
        let input = MatchInput { view, spaces: one, narrow, event, epochs: &epochs };
        let greatest = (!ranked.weights.is_empty()).then(|| ranked.weights.greatest());
        let ranks = self.scores.ranks.view();
        let mut offering = Offering {
            input,
            ranks,
            tokens: self.scores.tokens.view(),
            weights: ranked.weights,
            greatest,
            limit: ranks.len(),
            dedup,
            sink,
        };
        offering.update_limit();
        ranking.found.clear();
        ranking.found.extend(always);
        offering.offer(search, &mut ranking.found);
        let first = u32::try_from(ranked.k).unwrap_or(u32::MAX).saturating_mul(FIRST_RANKS);
        if view.encoding.is_wide() {
            ranking.search::<true>(search, &mut offering, first);
        } else {
            ranking.search::<false>(search, &mut offering, first);
        }
        dedup.clear();
        narrow.clear(0, spaces);
        spaces.clear();
    }
}

impl RankedSearch {
    fn search<const WIDE: bool>(
        &mut self,
        search: &mut CandidateSearch,
        offering: &mut Offering<'_, '_, impl RankingSink>,
        first: u32,
    ) {
        let input = offering.input;
        self.open_places::<WIDE>(search, input, offering.limit);
        let mut up_to = first;
        while !self.places.is_empty() {
            let mut limit = up_to.min(offering.limit);
            let mut kept = 0;
            for at in 0..self.places.len() {
                let mut place = self.places[at];
                while place.rank < limit {
                    self.read::<WIDE>(search, input, &mut place, limit);
                    if search.rows.count() >= FLUSH || self.found.len() >= FLUSH || search.rows.should_flush()
                    {
                        search.evaluate::<WIDE>(input, std::slice::from_mut(&mut self.found));
                        offering.offer(search, &mut self.found);
                        limit = up_to.min(offering.limit);
                    }
                }
                self.places[kept] = place;
                kept += usize::from(place.rank < offering.limit);
            }
            self.places.truncate(kept);
            search.evaluate::<WIDE>(input, std::slice::from_mut(&mut self.found));
            offering.offer(search, &mut self.found);
            let limit = offering.limit;
            self.places.retain(|place| place.rank < limit);
            up_to = up_to.saturating_mul(GROWTH);
        }
    }

    /// Collects the lists and tables that the event leads to, without those whose first rank is the limit or above.
    fn open_places<const WIDE: bool>(
        &mut self,
        search: &mut CandidateSearch,
        input: MatchInput<'_, '_>,
        limit: u32,
    ) {
        let (arena, queue) = (input.view.arena, &mut search.queue);
        let selection = EventSelection(&input.spaces[0]);
        self.places.clear();
        queue.0.clear();
        let Ok(()) = traverse(input.view, selection, queue);
        let mut next = 0;
        while next < queue.0.len() {
            if let Some(ahead) = queue.0.get(next + PREFETCH_AHEAD) {
                // The header with its ranks, and the first block.
                prefetch(arena, ahead.at.index());
                prefetch(arena, ahead.at.index() + LINE_WORDS);
            }
            let queued = queue.0[next];
            next += 1;
            let mut open = |part: PlacePart, rank: Option<u32>| {
                if let Some(rank) = rank.filter(|rank| *rank < limit) {
                    let spaces = (queued.first, queued.second);
                    self.places.push(OpenPlace { at: queued.at, part, spaces, block: 0, rank });
                }
            };
            if queued.first > 0 {
                let table = IntervalTable::read(arena, queued.at.index());
                open(PlacePart::Table, table.and_then(|table| Some(table.ranks?.0)));
            } else if let Some(list) = PostingList::read(arena, queued.at.index(), test_words::<WIDE>()) {
                open(PlacePart::Decided, list.ranks[0].first().copied());
                open(PlacePart::Entries, list.ranks[1].first().copied());
                let Ok(()) = visit_groups(selection, list.groups, (), queue);
            }
        }
    }

    /// Reads the next blocks of a place whose first entry is below the limit. Candidates and matches are collected.
    fn read<const WIDE: bool>(
        &mut self,
        search: &mut CandidateSearch,
        input: MatchInput<'_, '_>,
        place: &mut OpenPlace,
        limit: u32,
    ) {
        let (arena, found) = (input.view.arena, &mut self.found);
        let first = place.block as usize;
        if place.part == PlacePart::Table {
            let Some(table) = IntervalTable::read(arena, place.at.index()) else {
                place.rank = NO_RANK;
                return;
            };
            // The rank of block `n` is further[n - 1].
            let further = table.ranks.map_or(&[][..], |(_, further)| further);
            let blocks = place.advance(further.get(first..).unwrap_or_default(), limit);
            return search.read_table(input.view, table.part(blocks), place.spaces, 0, found);
        }
        let Some(list) = PostingList::read(arena, place.at.index(), test_words::<WIDE>()) else {
            place.rank = NO_RANK;
            return;
        };
        let ranks = list.ranks[usize::from(place.part == PlacePart::Entries)];
        let blocks = place.advance(ranks.get(first + 1..).unwrap_or_default(), limit);
        match place.part {
            PlacePart::Decided => found.extend_from_slice(list.decided_part(blocks).decided),
            _ => search.list::<WIDE>(input, &list.entries_part(blocks, test_words::<WIDE>()), 0, found),
        }
    }
}

impl OpenPlace {
    /// The next block and those behind it that begin below the limit, up to [`MAX_BLOCKS`] in all; `behind` are the ranks of
    /// those behind. From here on, the block after these is the next.
    fn advance(&mut self, behind: &[u32], limit: u32) -> Range<usize> {
        let nearby = &behind[..behind.len().min(MAX_BLOCKS)];
        let more = nearby.iter().position(|rank| *rank >= limit).unwrap_or(nearby.len()).min(MAX_BLOCKS - 1);
        let first = self.block as usize;
        self.block += 1 + more as u32;
        self.rank = behind.get(more).copied().unwrap_or(NO_RANK);
        first..first + 1 + more
    }
}

/// Scores matches and offers them, as long as they can exceed the floor.
struct Offering<'o, 'a, S> {
    input: MatchInput<'o, 'a>,
    ranks: RanksView<'o>,
    tokens: TokensView<'o>,
    weights: &'o AttributeWeights,
    /// The greatest attribute weight; `None` if the event has none.
    greatest: Option<f64>,
    /// Ranks from here on cannot exceed the floor.
    limit: u32,
    dedup: &'o mut Dedup,
    sink: &'o mut S,
}

impl<S: RankingSink> Offering<'_, '_, S> {
    /// Offers the targets that matched, and empties the list.
    fn offer(&mut self, search: &mut CandidateSearch, found: &mut Vec<u32>) {
        if found.is_empty() {
            return;
        }
        let view: &SegmentView<'_> = self.input.view;
        for word in found.drain(..) {
            let target = RowTarget::from_word(word);
            let number = target.number();
            let rank = self.ranks.of(number);
            if rank.rank() >= self.limit
                || !self.sink.is_live(number)
                || target.is_repeated() && !self.dedup.insert_once(view.len, number)
            {
                continue;
            }
            let score = if rank.varies() || self.greatest.is_some() {
                self.tokens.score(number, self.weights, self.input.tests(0), &mut search.memos)
            } else {
                self.ranks.bound(rank.rank())
            };
            self.sink.offer(number, score);
        }
        self.update_limit();
    }

    fn update_limit(&mut self) {
        if let Some(floor) = self.sink.floor() {
            let limit = match self.greatest {
                None => self.ranks.limit(floor),
                Some(greatest) => self.ranks.weighted_limit(floor, greatest),
            };
            self.limit = self.limit.min(limit);
        }
    }
}
