//! Sets of events, one bit each: which events of a batch satisfy a test?
//!
//! In each dimension the distinct spaces of the batch are ranked, and for every rank there is the mask of the events up
//! to it. The events inside an interval of spaces are then two lookups: those up to its end without those before its
//! beginning.

use crate::compiled::arena::complex_test::ComplexTest;
use crate::compiled::arena::test_encoding::{ResidualTest, TestEncoding};
use crate::compiled::arena::traversal::SpaceSelection;
use crate::compiled::segment::SegmentView;

/// Maximum events of a batch.
pub(in crate::compiled) const MAX_BATCH: usize = 512;

/// A set of events: one bit each.
pub(in crate::compiled) type EventMask = [u64; MAX_BATCH / 64];

const EMPTY: EventMask = [0; MAX_BATCH / 64];

#[inline(always)]
pub(in crate::compiled) fn and(a: EventMask, b: EventMask) -> EventMask {
    std::array::from_fn(|word| a[word] & b[word])
}

#[inline(always)]
fn without(a: EventMask, b: EventMask) -> EventMask {
    std::array::from_fn(|word| a[word] & !b[word])
}

#[inline(always)]
fn or(a: EventMask, b: EventMask) -> EventMask {
    std::array::from_fn(|word| a[word] | b[word])
}

#[inline(always)]
pub(in crate::compiled) fn is_empty(mask: EventMask) -> bool {
    mask.iter().fold(0, |bits, word| bits | word) == 0
}

/// The first events of a batch.
pub(in crate::compiled) fn first_events(events: usize) -> EventMask {
    let mut mask = EMPTY;
    (0..events).for_each(|event| mask[event / 64] |= 1 << (event % 64));
    mask
}

/// Number of events.
pub(in crate::compiled) fn count(mask: EventMask) -> u32 {
    mask.iter().map(|bits| bits.count_ones()).sum()
}

/// The events of a mask, ascending.
pub(in crate::compiled) fn members(mask: EventMask) -> impl Iterator<Item = usize> {
    (0..mask.len()).flat_map(move |word| {
        let mut bits = mask[word];
        std::iter::from_fn(move || {
            let event = (bits != 0).then(|| 64 * word + bits.trailing_zeros() as usize);
            bits &= bits.wrapping_sub(1);
            event
        })
    })
}

/// Maximum spaces of a dimension whose ranks are in a table; others are ranked by binary search.
const MAX_RANK_TABLE: u32 = 1 << 12;

/// The events of a batch in one dimension. Starts are positions in the arrays of [`BatchSpaces`].
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::compiled) struct DimensionRanks {
    /// Where its ranks by space begin; [`NO_RANK_TABLE`] if it has too many spaces.
    ranks: u32,
    /// Where its distinct spaces begin, ascending.
    spaces: u32,
    /// Number of its distinct spaces.
    len: u32,
    /// Where the masks up to each rank begin: one more than there are distinct spaces.
    masks: u32,
    /// Whether an event may have several spaces: those of list elements.
    many_valued: bool,
}

const NO_RANK_TABLE: u32 = u32::MAX;

/// The spaces of a batch, dimension by dimension. Reused from batch to batch.
#[derive(Debug, Default)]
pub(in crate::compiled) struct BatchSpaces {
    /// Dimension, space and event of every value.
    values: Vec<(u32, u32, u32)>,
    /// By dimension: position in `ranked`, from 1; 0 if no event has the dimension.
    positions: Vec<u32>,
    /// Each dimension that some event has.
    ranked: Vec<(u32, DimensionRanks)>,
    /// By space: how many distinct spaces of the batch are at most that.
    ranks: Vec<u16>,
    /// Distinct spaces.
    spaces: Vec<u32>,
    /// Events with exactly this space, in the order of `spaces`.
    exact: Vec<EventMask>,
    /// Events up to each rank.
    masks: Vec<EventMask>,
}

impl BatchSpaces {
    /// Removes all events.
    pub fn clear(&mut self) {
        for (dimension, _) in self.ranked.drain(..) {
            self.positions[dimension as usize] = 0;
        }
        self.values.clear();
    }

    /// Adds an event with its spaces.
    pub fn add(&mut self, event: u32, present: &[(u32, u32)]) {
        self.values.extend(present.iter().map(|(dimension, space)| (*dimension, *space, event)));
    }

    /// Ranks the spaces of every dimension, once all events are there.
    pub fn rank(&mut self, view: &SegmentView<'_>) {
        self.values.sort_unstable();
        self.positions.resize(self.positions.len().max(view.dimensions.len()), 0);
        self.ranks.clear();
        self.spaces.clear();
        self.exact.clear();
        self.masks.clear();
        for of_dimension in self.values.chunk_by(|a, b| a.0 == b.0) {
            let dimension = of_dimension[0].0;
            let (spaces, masks) = (self.spaces.len(), self.masks.len());
            let mut up_to = EMPTY;
            self.masks.push(up_to);
            for of_space in of_dimension.chunk_by(|a, b| a.1 == b.1) {
                let mut here = EMPTY;
                of_space.iter().for_each(|(_, _, event)| here[*event as usize / 64] |= 1 << (event % 64));
                up_to = or(up_to, here);
                self.spaces.push(of_space[0].1);
                self.exact.push(here);
                self.masks.push(up_to);
            }
            let len = self.spaces.len() - spaces;
            let count = view.spaces.count(dimension);
            let ranks = if count <= MAX_RANK_TABLE {
                let start = self.ranks.len();
                let mut rank = 0;
                for space in 0..count {
                    rank += usize::from(rank < len && self.spaces[spaces + rank] == space);
                    self.ranks.push(rank as u16);
                }
                start as u32
            } else {
                NO_RANK_TABLE
            };
            let many_valued = view.elements.iter().any(|[_, of_elements]| *of_elements == dimension);
            let (spaces, len, masks) = (spaces as u32, len as u32, masks as u32);
            let ranked = DimensionRanks { ranks, spaces, len, masks, many_valued };
            self.ranked.push((dimension, ranked));
            self.positions[dimension as usize] = self.ranked.len() as u32;
        }
    }
}

/// Tests on the events of a batch.
pub(in crate::compiled) struct MaskTests<'m, 'a> {
    pub view: &'m SegmentView<'a>,
    pub spaces: &'m BatchSpaces,
    /// All events of the batch.
    pub all: EventMask,
}

impl MaskTests<'_, '_> {
    /// The ranks of a dimension, if some event has it.
    #[inline(always)]
    fn ranked(&self, dimension: u32) -> Option<&DimensionRanks> {
        match self.spaces.positions[dimension as usize] {
            0 => None,
            position => Some(&self.spaces.ranked[position as usize - 1].1),
        }
    }

    /// Events that have the dimension.
    #[inline(always)]
    pub fn present(&self, ranked: &DimensionRanks) -> EventMask {
        self.spaces.masks[(ranked.masks + ranked.len) as usize]
    }

    /// How many distinct spaces of the batch are at most a space.
    #[inline(always)]
    fn rank(&self, ranked: &DimensionRanks, space: u32) -> usize {
        if ranked.ranks != NO_RANK_TABLE {
            return usize::from(self.spaces.ranks[(ranked.ranks + space) as usize]);
        }
        let spaces = &self.spaces.spaces[ranked.spaces as usize..(ranked.spaces + ranked.len) as usize];
        spaces.partition_point(|other| *other <= space)
    }

    /// Events with a space in an interval that does not contain space 0.
    #[inline(always)]
    pub fn between(&self, ranked: &DimensionRanks, low: u32, high: u32) -> EventMask {
        let (before, up_to) = (self.rank(ranked, low - 1), self.rank(ranked, high));
        if ranked.many_valued {
            // An event with an element before the interval may have another one inside.
            let exact = &self.spaces.exact[ranked.spaces as usize..][before..up_to];
            return exact.iter().fold(EMPTY, |mask, exact| or(mask, *exact));
        }
        let masks = &self.spaces.masks[ranked.masks as usize..];
        without(masks[up_to], masks[before])
    }

    /// Events with a space in an interval or, if `outside`, with one that is not.
    #[inline(always)]
    fn interval(&self, dimension: u32, low: u32, high: u32, outside: bool) -> EventMask {
        if dimension as usize == self.view.dimensions.len() {
            // The dimension of padding, where every event has space 1.
            return if low <= 1 && high > 0 { self.all } else { EMPTY };
        }
        let Some(ranked) = self.ranked(dimension) else {
            return if low == 0 && !outside { self.all } else { EMPTY };
        };
        let present = || self.present(ranked);
        match (outside, low) {
            (false, 0) => {
                let above =
                    without(present(), self.spaces.masks[ranked.masks as usize + self.rank(ranked, high)]);
                without(self.all, above)
            }
            (false, _) => self.between(ranked, low, high),
            (true, _) => without(present(), self.between(ranked, low.max(1), high)),
        }
    }

    /// The events of a mask that satisfy an encoded test.
    #[inline(always)]
    pub fn test(&self, encoding: TestEncoding, encoded: u64, of: EventMask) -> EventMask {
        match encoding.decode(encoded) {
            ResidualTest::Interval { dimension, low, high, outside } => {
                and(of, self.interval(dimension, low, high, outside))
            }
            ResidualTest::Complex(entry) => self.complex(entry, of),
        }
    }

    /// The events of a mask that satisfy a complex test.
    #[cold]
    fn complex(&self, entry: u32, of: EventMask) -> EventMask {
        match ComplexTest::unpack(self.view.complex[entry as usize]) {
            ComplexTest::InIntervals { dimension, start, len } => {
                let intervals = &self.view.intervals[start as usize..][..len as usize];
                let inside = intervals.iter().map(|[low, high]| self.interval(dimension, *low, *high, false));
                and(of, inside.fold(EMPTY, or))
            }
            ComplexTest::InBitmap { dimension, start } => {
                let in_bitmap = |space: u32| {
                    self.view.bits[start as usize + space as usize / 64] >> (space % 64) & 1 == 1
                };
                let missing = match self.ranked(dimension) {
                    None => self.all,
                    Some(ranked) => without(self.all, self.present(ranked)),
                };
                let missing = if in_bitmap(0) { missing } else { EMPTY };
                and(of, or(missing, self.any_space(dimension, in_bitmap)))
            }
            ComplexTest::AnyElementIn { dimension, start, len } => {
                let intervals = &self.view.intervals[start as usize..][..len as usize];
                let in_intervals = |space: u32| {
                    let at = intervals.partition_point(|[low, _]| *low <= space);
                    at > 0 && space <= intervals[at - 1][1]
                };
                and(of, self.any_space(dimension, in_intervals))
            }
            ComplexTest::Interval { dimension, low, high } => {
                and(of, self.interval(dimension, low, high, false))
            }
            ComplexTest::OutsideInterval { dimension, low, high } => {
                and(of, self.interval(dimension, low, high, true))
            }
            ComplexTest::Subexpression { start, len, all, .. } => {
                let tests = &self.view.subexpression_tests[start as usize..][..len as usize];
                let mut held = if all { of } else { EMPTY };
                for encoded in tests {
                    held = match all {
                        true => self.test(TestEncoding::Wide, *encoded, held),
                        false => or(held, self.test(TestEncoding::Wide, *encoded, without(of, held))),
                    };
                    if is_empty(if all { held } else { without(of, held) }) {
                        break;
                    }
                }
                held
            }
            // Segments with such tests match per event.
            ComplexTest::AllElementsIn { .. } | ComplexTest::Direct { .. } => EMPTY,
        }
    }

    /// Events with some space that is accepted.
    fn any_space(&self, dimension: u32, accepted: impl Fn(u32) -> bool) -> EventMask {
        let Some(ranked) = self.ranked(dimension) else { return EMPTY };
        let range = ranked.spaces as usize..(ranked.spaces + ranked.len) as usize;
        let spaces = self.spaces.spaces[range.clone()].iter().zip(&self.spaces.exact[range]);
        spaces.filter(|(space, _)| accepted(**space)).fold(EMPTY, |mask, (_, exact)| or(mask, *exact))
    }
}

/// Selects the spaces of all events of the batch.
impl SpaceSelection for &MaskTests<'_, '_> {
    type Spaces = DimensionRanks;
    /// The events with a space below the node.
    type Node = EventMask;

    #[inline(always)]
    fn everywhere(self) -> EventMask {
        self.all
    }

    #[inline(always)]
    fn dimensions(self) -> impl Iterator<Item = (u32, DimensionRanks)> {
        self.spaces.ranked.iter().copied()
    }

    #[inline(always)]
    fn spaces(self, dimension: u32) -> Option<DimensionRanks> {
        self.ranked(dimension).copied()
    }

    #[inline(always)]
    fn nodes(
        self,
        _dimension: u32,
        ranked: DimensionRanks,
        level: u32,
        _count: u32,
    ) -> impl Iterator<Item = (u32, EventMask)> {
        let range = ranked.spaces as usize..(ranked.spaces + ranked.len) as usize;
        let (spaces, exact) = (&self.spaces.spaces[range.clone()], &self.spaces.exact[range]);
        let mut rank = 0;
        // Distinct spaces ascend, so those below one node are neighbours.
        std::iter::from_fn(move || {
            let node = spaces.get(rank)? >> level;
            let mut here = EMPTY;
            while let Some(space) = spaces.get(rank)
                && space >> level == node
            {
                here = or(here, exact[rank]);
                rank += 1;
            }
            Some((node, here))
        })
    }
}
