//! Sets of events, one bit each: which events of a batch satisfy a test?
//!
//! In each dimension the spaces of the batch are ranked, and for every rank there is the mask of the events up to it, so
//! that an interval of spaces is two look-ups: the events up to its end without those before its beginning.

use crate::compiled::arena::test_encoding::Format;
use crate::compiled::build::conditions::{Check, Complex};
use crate::compiled::view::View;

/// How many events walk together at most.
pub(in crate::compiled) const MOST: usize = 512;

/// A set of events.
pub(in crate::compiled) type Mask = [u64; MOST / 64];

pub(in crate::compiled) const NONE: Mask = [0; MOST / 64];

#[inline(always)]
pub(in crate::compiled) fn and(a: Mask, b: Mask) -> Mask {
    std::array::from_fn(|word| a[word] & b[word])
}

#[inline(always)]
pub(in crate::compiled) fn without(a: Mask, b: Mask) -> Mask {
    std::array::from_fn(|word| a[word] & !b[word])
}

#[inline(always)]
pub(in crate::compiled) fn or(a: Mask, b: Mask) -> Mask {
    std::array::from_fn(|word| a[word] | b[word])
}

#[inline(always)]
pub(in crate::compiled) fn is_empty(mask: Mask) -> bool {
    mask.iter().fold(0, |bits, word| bits | word) == 0
}

/// The first so many events.
pub(in crate::compiled) fn first(events: usize) -> Mask {
    let mut mask = NONE;
    (0..events).for_each(|event| mask[event / 64] |= 1 << (event % 64));
    mask
}

/// How many events.
pub(in crate::compiled) fn count(mask: Mask) -> u32 {
    mask.iter().map(|bits| bits.count_ones()).sum()
}

/// The events of a mask.
pub(in crate::compiled) fn members(mask: Mask) -> impl Iterator<Item = usize> {
    (0..mask.len()).flat_map(move |word| {
        let mut bits = mask[word];
        std::iter::from_fn(move || {
            let event = (bits != 0).then(|| 64 * word + bits.trailing_zeros() as usize);
            bits &= bits.wrapping_sub(1);
            event
        })
    })
}

/// Dimensions with more spaces look up ranks by bisection.
const MOST_RANKED: u32 = 1 << 12;

/// The events of a batch in one dimension.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::compiled) struct Ranked {
    /// Where its ranks by space begin; `u32::MAX` if there are none, because the spaces are too many.
    ranks: u32,
    /// Where its distinct spaces begin, ascending; and how many there are.
    pub spaces: u32,
    pub len: u32,
    /// Where the masks up to each rank begin; one more than there are spaces.
    masks: u32,
    /// Whether an event may have several spaces: those of the elements of a list.
    many_valued: bool,
}

/// The events of a batch, dimension by dimension. Reused from batch to batch.
#[derive(Debug, Default)]
pub(in crate::compiled) struct Ranking {
    /// Dimension, space and event of every value.
    located: Vec<(u32, u32, u32)>,
    /// By dimension: place in `ranked`, from 1; 0 if no event has it.
    places: Vec<u32>,
    /// Each dimension that some event has.
    pub ranked: Vec<(u32, Ranked)>,
    ranks: Vec<u16>,
    pub spaces: Vec<u32>,
    /// Events with exactly this space, in the order of `spaces`.
    pub exact: Vec<Mask>,
    masks: Vec<Mask>,
}

impl Ranking {
    /// Forgets the batch before.
    pub fn clear(&mut self) {
        for (dimension, _) in self.ranked.drain(..) {
            self.places[dimension as usize] = 0;
        }
        self.located.clear();
    }

    /// Takes an event with its spaces.
    pub fn add(&mut self, event: u32, present: &[(u32, u32)]) {
        self.located.extend(present.iter().map(|(dimension, space)| (*dimension, *space, event)));
    }

    /// Ranks the spaces of every dimension.
    pub fn rank(&mut self, view: &View<'_>) {
        self.located.sort_unstable();
        self.places.resize(self.places.len().max(view.dimensions.len()), 0);
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
}

/// Which events satisfy a test?
pub(in crate::compiled) struct Masks<'m, 'a> {
    pub view: &'m View<'a>,
    pub ranking: &'m Ranking,
    pub all: Mask,
}

impl Masks<'_, '_> {
    #[inline(always)]
    pub fn ranked(&self, dimension: u32) -> Option<&Ranked> {
        match self.ranking.places[dimension as usize] {
            0 => None,
            place => Some(&self.ranking.ranked[place as usize - 1].1),
        }
    }

    /// Events that have the dimension.
    #[inline(always)]
    pub fn present(&self, ranked: &Ranked) -> Mask {
        self.ranking.masks[(ranked.masks + ranked.len) as usize]
    }

    /// How many distinct spaces of the batch are not above one.
    #[inline(always)]
    fn rank(&self, ranked: &Ranked, space: u32) -> usize {
        if ranked.ranks != u32::MAX {
            return usize::from(self.ranking.ranks[(ranked.ranks + space) as usize]);
        }
        let spaces = &self.ranking.spaces[ranked.spaces as usize..(ranked.spaces + ranked.len) as usize];
        spaces.partition_point(|other| *other <= space)
    }

    /// Events with a space in an interval that does not begin with 0.
    #[inline(always)]
    pub fn between(&self, ranked: &Ranked, low: u32, high: u32) -> Mask {
        let (before, up_to) = (self.rank(ranked, low - 1), self.rank(ranked, high));
        if ranked.many_valued {
            // Who has an element before the interval may have another one inside.
            let exact = &self.ranking.exact[ranked.spaces as usize..][before..up_to];
            return exact.iter().fold(NONE, |mask, exact| or(mask, *exact));
        }
        let masks = &self.ranking.masks[ranked.masks as usize..];
        without(masks[up_to], masks[before])
    }

    #[inline(always)]
    fn interval(&self, dimension: u32, low: u32, high: u32, outside: bool) -> Mask {
        if dimension as usize == self.view.dimensions.len() {
            // Every event has its space 1.
            return if low <= 1 && high > 0 { self.all } else { NONE };
        }
        let Some(ranked) = self.ranked(dimension) else {
            return if low == 0 && !outside { self.all } else { NONE };
        };
        let present = || self.present(ranked);
        match (outside, low) {
            (false, 0) => {
                let above =
                    without(present(), self.ranking.masks[ranked.masks as usize + self.rank(ranked, high)]);
                without(self.all, above)
            }
            (false, _) => self.between(ranked, low, high),
            (true, _) => without(present(), self.between(ranked, low.max(1), high)),
        }
    }

    /// Events that satisfy a test, of those in question.
    #[inline(always)]
    pub fn word(&self, format: Format, word: u64, of: Mask) -> Mask {
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
        let spaces = self.ranking.spaces[places.clone()].iter().zip(&self.ranking.exact[places]);
        spaces.filter(|(space, _)| wanted(**space)).fold(NONE, |mask, (_, exact)| or(mask, *exact))
    }
}
