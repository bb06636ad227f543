//! The order of members by bound, and from which rank on no member is good enough.

use crate::storage::{Array, Sections, SectionsWriter};

/// Marks a member whose score depends on the event: its bound is only an upper bound.
const VARIES: u32 = 1 << 31;

/// Members behind a tie that are looked at to find the first one of the same bound.
const MAX_TIE_SCAN: usize = 256;

/// What a bound times the greatest attribute weight is multiplied with: more than rounding can take from a score. Each
/// of `n` products and sums loses at most one part in 2^53, and no rule has four million predicates.
const ROUNDING: f64 = 1.0 + 1e-9;

/// Attribute weights above this would overflow the bound of a score.
const MAX_WEIGHT: f64 = 1e300;

/// Ranks by member, and bounds by rank.
#[derive(Clone, Debug, Default)]
pub(in crate::compiled) struct Ranks {
    /// By member: its rank, with [`VARIES`].
    pub ranks: Array<u32>,
    /// Distinct bounds, descending; not negative.
    pub bounds: Array<f64>,
    /// Of each distinct bound: the first rank that has it. The first is 0.
    pub starts: Array<u32>,
}

/// A member's rank, and whether its score depends on the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compiled) struct MemberRank(u32);

impl MemberRank {
    #[inline(always)]
    pub fn rank(self) -> u32 {
        self.0 & !VARIES
    }

    /// Whether the score is less than the bound for some matches.
    #[inline(always)]
    pub fn varies(self) -> bool {
        self.0 & VARIES != 0
    }
}

/// What a match has to exceed to be among the best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RankFloor {
    /// The score of the worst match that is still among the best.
    pub score: f64,
    /// Members with a smaller number win a tie against it: they were inserted before.
    pub ties_before: u32,
}

impl Ranks {
    /// The order of members with these bounds; `varies` says whose scores depend on the event.
    pub fn new(bounds_by_member: &[f64], varies: impl Fn(usize) -> bool) -> Ranks {
        // Bounds are not negative, so their bits are in their order.
        let mut order: Vec<(u64, u32)> =
            (0..).zip(bounds_by_member).map(|(number, bound)| (!bound.to_bits(), number)).collect();
        order.sort_unstable();
        let (mut ranks, mut bounds, mut starts) = (vec![0; order.len()], Vec::new(), Vec::new());
        let mut last = None;
        for (rank, (key, number)) in (0..).zip(order) {
            ranks[number as usize] = if varies(number as usize) { rank | VARIES } else { rank };
            if last != Some(key) {
                bounds.push(f64::from_bits(!key));
                starts.push(rank);
                last = Some(key);
            }
        }
        Ranks { ranks: ranks.into(), bounds: bounds.into(), starts: starts.into() }
    }

    pub fn is_empty(&self) -> bool {
        self.ranks.is_empty()
    }

    pub fn view(&self) -> RanksView<'_> {
        RanksView { ranks: &self.ranks, bounds: &self.bounds, starts: &self.starts }
    }

    pub fn memory(&self) -> usize {
        self.ranks.memory() + self.bounds.memory() + self.starts.memory()
    }

    /// Writes three sections from a tag on.
    pub fn write(&self, out: &mut SectionsWriter, tags: u32) {
        out.put(tags, &self.ranks);
        out.put(tags + 1, &self.bounds);
        out.put(tags + 2, &self.starts);
    }

    pub fn open(sections: &Sections, tags: u32) -> Result<Ranks, String> {
        Ok(Ranks {
            ranks: sections.take(tags)?,
            bounds: sections.take(tags + 1)?,
            starts: sections.take(tags + 2)?,
        })
    }

    /// Checks the lengths and that bounds are numbers and descend. That ranks are a permutation is not checked: no memory
    /// depends on it.
    pub fn check(&self, len: usize) -> Result<(), String> {
        if self.ranks.len() != len || self.bounds.len() != self.starts.len() || self.bounds.is_empty() {
            return Err("ranks and bounds do not fit the members of a segment".into());
        }
        if !self.bounds.iter().all(|bound| *bound >= 0.0) || !self.bounds.is_sorted_by(|a, b| a > b) {
            return Err("the bounds of scores do not descend to a number that is not negative".into());
        }
        if self.starts[0] != 0 || !self.starts.is_sorted_by(|a, b| a < b) {
            return Err("the ranks of the bounds of scores do not ascend from 0".into());
        }
        Ok(())
    }

    /// Checks every invariant of ranks that were built.
    pub fn validate(&self, len: usize) -> Result<(), String> {
        self.check(len)?;
        let view = self.view();
        let mut by_rank = vec![None; len];
        for number in 0..len as u32 {
            match by_rank.get_mut(view.of(number).rank() as usize) {
                Some(free @ None) => *free = Some(number),
                _ => {
                    return Err(format!("scores: two members have the rank of member {number}, or none has"));
                }
            }
        }
        let ascends =
            |pair: &[Option<u32>], rank: u32| view.bound(rank) > view.bound(rank + 1) || pair[0] < pair[1];
        if !(0..).zip(by_rank.windows(2)).all(|(rank, pair)| ascends(pair, rank)) {
            return Err("scores: members with the same bound are not ranked by number".into());
        }
        Ok(())
    }
}

/// Borrowed [`Ranks`].
#[derive(Clone, Copy)]
pub(in crate::compiled) struct RanksView<'a> {
    ranks: &'a [u32],
    bounds: &'a [f64],
    starts: &'a [u32],
}

impl RanksView<'_> {
    /// The rank of a member.
    #[inline(always)]
    pub fn of(&self, number: u32) -> MemberRank {
        MemberRank(self.ranks.get(number as usize).copied().unwrap_or(0))
    }

    /// The bound of the member with a rank.
    pub fn bound(&self, rank: u32) -> f64 {
        // Where all bounds so far are distinct, rank and position are the same.
        let at = match self.starts.get(rank as usize) {
            Some(start) if *start == rank => rank as usize,
            _ => self.starts.partition_point(|start| *start <= rank).saturating_sub(1),
        };
        self.bounds.get(at).copied().unwrap_or(0.0)
    }

    /// The number of ranks.
    pub fn len(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// Members with this rank or a greater one cannot exceed the floor, for an event without attribute weights.
    pub fn limit(&self, floor: RankFloor) -> u32 {
        let run = self.bounds.partition_point(|bound| *bound > floor.score);
        let start = self.start(run);
        if self.bounds.get(run) == Some(&floor.score) {
            self.tie(start, self.start(run + 1), floor)
        } else {
            start
        }
    }

    /// As [`RanksView::limit`], for an event whose greatest attribute weight is given.
    pub fn weighted_limit(&self, floor: RankFloor, greatest: f64) -> u32 {
        if greatest > MAX_WEIGHT {
            return self.len();
        }
        // The last summand is more than all products of subnormal numbers can gain.
        let bound = |bound: &f64| *bound * (greatest * ROUNDING) + f64::MIN_POSITIVE;
        self.start(self.bounds.partition_point(|of_run| bound(of_run) >= floor.score))
    }

    fn start(&self, run: usize) -> u32 {
        self.starts.get(run).copied().unwrap_or(self.len())
    }

    /// The first rank from `start` to `end`, all of which have the bound of the floor, that loses the tie: that of the first
    /// such member inserted behind it. `end` if there is none nearby.
    fn tie(&self, start: u32, end: u32, floor: RankFloor) -> u32 {
        let behind = self.ranks.get(floor.ties_before as usize..).unwrap_or_default();
        let ranks = behind.iter().take(MAX_TIE_SCAN).map(|word| word & !VARIES);
        ranks.into_iter().find(|rank| (start..end).contains(rank)).unwrap_or(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn members_below_the_limit_are_those_that_exceed_the_floor(
            bounds in prop::collection::vec(prop::sample::select(vec![0.0, 0.5, 1.0, 1.5, 7.25, f64::INFINITY]), 1..200),
            score in prop::sample::select(vec![0.0, 0.25, 0.5, 1.0, 1.5, 7.25, 8.0, f64::INFINITY]),
            ties_before in 0_u32..210,
        ) {
            let ranks = Ranks::new(&bounds, |number| number % 3 == 0);
            ranks.validate(bounds.len()).expect("sound");
            let view = ranks.view();
            let floor = RankFloor { score, ties_before };
            let (limit, weighted) = (view.limit(floor), view.weighted_limit(floor, 1.0));
            for (number, bound) in (0..).zip(&bounds) {
                let rank = view.of(number);
                prop_assert_eq!(rank.varies(), number % 3 == 0);
                prop_assert_eq!(view.bound(rank.rank()), *bound);
                let exceeds = *bound > score || *bound == score && number < ties_before;
                prop_assert_eq!(rank.rank() < limit, exceeds);
                prop_assert!(!exceeds || rank.rank() < weighted);
            }
        }
    }
}
