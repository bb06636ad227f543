//! Through which lists and tables is an alternative found?
//!
//! | place | read by events that | contains |
//! | --- | --- | --- |
//! | everywhere | all | alternatives that need no present value |
//! | scan | have the dimension | intervals, compared 16 at a time |
//! | pair | have both dimensions | two intervals each, compared 16 at a time |
//! | node | have a space below the node | alternatives whose access predicate holds |
//!
//! A node covers 2^level neighbouring spaces; at level 0 it is a single space, the place of equalities. A wide interval
//! is divided into few nodes of several levels (canonical nodes).
//!
//! Every alternative goes to the dimension of its least likely predicate, its *access predicate*. Where few alternatives
//! share a dimension they are scanned, which takes no longer than a lookup elsewhere. Where many do, equalities and
//! short lists go to nodes; intervals go to a pair table with their second least likely interval if enough alternatives
//! share the pair, and are scanned or divided into canonical nodes otherwise.

use crate::compiled::arena::interval_block::EndWidth;
use crate::compiled::build::alternatives::{Alternatives, Operand};
use crate::compiled::build::conditions::{SpaceCondition, SpaceConditions};
use crate::compiled::build::profile::EventProfile;
use crate::compiled::limits::{DimensionId, SegmentLimits, SegmentOverflow};
use crate::error::Interruption;
use rustc_hash::FxHashMap;

/// Bytes of intervals in one dimension that are scanned in about the time of a lookup elsewhere.
const SHORT_SCAN: usize = 512;

/// Bytes of a scan from which on intervals are worth dividing into canonical nodes.
const LONG_SCAN: usize = 16_384;

/// Minimum alternatives per dimension pair before it gets a pair table; fewer fall back to [`Choice::Wide`].
const MIN_PAIR: u32 = 12;

/// Maximum nodes of an alternative with residual tests.
const MAX_NODES: usize = 4;

/// Maximum nodes of an alternative without residual tests, or of a set of single spaces.
const MAX_SHORT_NODES: usize = 64;

/// Maximum intervals of a predicate that are scanned separately. Of more, the hull is scanned and the predicate tested.
const MAX_SCANNED: usize = 4;

/// Maximum intervals of a predicate that is moved from a long scan to nodes.
const MAX_DIVIDED: usize = 16;

/// A list or a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compiled) enum PostingPlace {
    Everywhere,
    Scan { dimension: DimensionId },
    Pair { first: DimensionId, second: DimensionId },
    Node { dimension: DimensionId, level: u32, number: u32 },
}

/// Bits of a node's number within its level.
const NODE_BITS: u32 = 32;
/// Bits below the dimension: a node's level and number, or the second dimension.
const DETAIL_BITS: u32 = 62 - DimensionId::BITS;
// Levels of a node, up to 31, take the bits above its number.
const _: () = assert!(DETAIL_BITS - NODE_BITS >= 5 && DETAIL_BITS >= DimensionId::BITS);

impl PostingPlace {
    /// One number by which postings of a place, and places of a dimension, sort next to each other: kind (2 bits),
    /// dimension (25), level (5) and number (32) of a node or the second dimension.
    fn pack(self) -> u64 {
        let (kind, dimension, detail) = match self {
            PostingPlace::Everywhere => (0, 0, 0),
            PostingPlace::Scan { dimension } => (1, dimension.get(), 0),
            PostingPlace::Pair { first, second } => (2, first.get(), u64::from(second.get())),
            PostingPlace::Node { dimension, level, number } => {
                (3, dimension.get(), u64::from(level) << NODE_BITS | u64::from(number))
            }
        };
        kind << 62 | u64::from(dimension) << DETAIL_BITS | detail
    }

    fn unpack(packed: u64) -> PostingPlace {
        let dimension = DimensionId::from_bits(packed >> DETAIL_BITS);
        let detail = packed & ((1 << DETAIL_BITS) - 1);
        match packed >> 62 {
            0 => PostingPlace::Everywhere,
            1 => PostingPlace::Scan { dimension },
            2 => PostingPlace::Pair { first: dimension, second: DimensionId::from_bits(detail) },
            _ => PostingPlace::Node { dimension, level: (detail >> NODE_BITS) as u32, number: detail as u32 },
        }
    }
}

/// One alternative at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::compiled) struct Posting {
    /// The place, packed: the sort key.
    place: u64,
    pub alternative: u32,
    /// At a scan: which interval of the access predicate is the key, or [`HULL`]. At a pair: the other predicate.
    detail: u32,
}

/// The key is the hull of the access predicate, which has more than [`MAX_SCANNED`] intervals.
const HULL: u32 = u32::MAX;

impl Posting {
    pub fn place(&self) -> PostingPlace {
        PostingPlace::unpack(self.place)
    }
}

/// An interval that is compared at the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compiled) struct AccessKey {
    pub interval: (u32, u32),
    /// The predicate that holds wherever the interval contains the space; `None` if it has to be tested as well.
    pub predicate: Option<u32>,
}

impl AccessKey {
    pub const NONE: AccessKey = AccessKey { interval: (0, 0), predicate: None };

    /// Whether an operand needs no test where the key matched.
    pub fn satisfies(&self, operand: Operand) -> bool {
        self.predicate.is_some() && operand.predicate() == self.predicate.map(|predicate| predicate as usize)
    }
}

/// What was decided for an alternative, before the sizes of scans and pairs are known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    Everywhere,
    Scan,
    Nodes,
    /// A pair with this predicate.
    Pair(u32),
    /// An interval too wide for nodes: a scan, or canonical nodes if the scan would be long.
    Wide,
}

/// All alternatives at their places.
pub(in crate::compiled) struct Postings {
    /// By place, then alternative.
    pub sorted: Vec<Posting>,
    /// By alternative: its access predicate, if it has one.
    access: Vec<Option<u32>>,
}

impl Postings {
    /// The predicate whose dimension leads to the place; `None` if every event reads it.
    pub fn access_predicate(&self, posting: &Posting) -> Option<usize> {
        self.access[posting.alternative as usize].map(|predicate| predicate as usize)
    }

    /// What is compared at the place.
    pub fn keys(&self, conditions: &[SpaceCondition], posting: &Posting) -> [AccessKey; 2] {
        let Some(access) = self.access[posting.alternative as usize] else { return [AccessKey::NONE; 2] };
        let condition = &conditions[access as usize];
        let predicate = condition.exact.then_some(access);
        match posting.place() {
            PostingPlace::Scan { .. } if posting.detail == HULL => {
                let ends = condition.witnesses.first().zip(condition.witnesses.last());
                let interval = ends.map_or((0, 0), |(first, last)| (first.0, last.1));
                [AccessKey { interval, predicate: None }, AccessKey::NONE]
            }
            PostingPlace::Scan { .. } => {
                let interval = condition.witnesses[posting.detail as usize];
                [AccessKey { interval, predicate }, AccessKey::NONE]
            }
            PostingPlace::Pair { first, .. } => {
                let key = |predicate: u32| {
                    let interval = conditions[predicate as usize].interval().unwrap_or_default();
                    AccessKey { interval, predicate: Some(predicate) }
                };
                let (access, other) = (key(access), key(posting.detail));
                if condition.dimension == first { [access, other] } else { [other, access] }
            }
            _ => [AccessKey { interval: (0, 0), predicate }, AccessKey::NONE],
        }
    }
}

/// Places all alternatives.
pub(in crate::compiled) fn place(
    conditions: &SpaceConditions,
    alternatives: &Alternatives,
    profile: &EventProfile,
    limits: &SegmentLimits,
) -> Result<Postings, SegmentOverflow> {
    let placer = Placer { conditions, alternatives, profile };
    let access: Vec<Option<u32>> = (0..alternatives.len()).map(|number| placer.access(number)).collect();
    let mut choices = placer.choices(&access);
    let wide_bytes = placer.resolve_pairs(&mut choices, &access);
    let mut sorted = Vec::with_capacity(access.len());
    for (number, (choice, access)) in choices.iter().zip(&access).enumerate() {
        Interruption::unwind_if_requested();
        placer.post(number as u32, *access, *choice, &wide_bytes, &mut sorted);
        limits.items(sorted.len(), "postings")?;
    }
    sorted.sort_unstable();
    Ok(Postings { sorted, access })
}

struct Placer<'p> {
    conditions: &'p SpaceConditions,
    alternatives: &'p Alternatives,
    profile: &'p EventProfile,
}

impl Placer<'_> {
    fn predicates(&self, alternative: usize) -> impl Iterator<Item = u32> {
        let operands = self.alternatives.operands(alternative).iter();
        operands.filter_map(|operand| operand.predicate()).map(|predicate| predicate as u32)
    }

    fn condition(&self, predicate: u32) -> &SpaceCondition {
        &self.conditions.conditions[predicate as usize]
    }

    fn least_likely(&self, predicates: impl Iterator<Item = u32>) -> Option<u32> {
        let selectivity = |predicate: &u32| self.condition(*predicate).selectivity;
        predicates.min_by(|a, b| selectivity(a).total_cmp(&selectivity(b)))
    }

    /// The least likely predicate that needs a present value.
    fn access(&self, alternative: usize) -> Option<u32> {
        let witnesses = self.predicates(alternative).filter(|id| self.condition(*id).can_witness());
        self.least_likely(witnesses)
    }

    /// Bytes of an interval in a dimension's table.
    fn interval_bytes(&self, dimension: DimensionId) -> usize {
        EndWidth::for_spaces(self.conditions.spaces.count(dimension.get())).block_words() / 2 / 2
    }

    /// A first choice for every alternative.
    fn choices(&self, access: &[Option<u32>]) -> Vec<Choice> {
        let mut bytes = vec![0_usize; self.conditions.spaces.len()];
        for predicate in access.iter().flatten() {
            let condition = self.condition(*predicate);
            let intervals = condition.witnesses.len().min(MAX_SCANNED);
            bytes[condition.dimension.index()] += intervals * self.interval_bytes(condition.dimension);
        }
        let choose = |(number, access): (usize, &Option<u32>)| match access {
            None => Choice::Everywhere,
            Some(access) => {
                let condition = self.condition(*access);
                match bytes[condition.dimension.index()] {
                    0..=SHORT_SCAN => Choice::Scan,
                    _ => self.choose(number, condition),
                }
            }
        };
        access.iter().enumerate().map(choose).collect()
    }

    /// Turns pairs that too few alternatives share into [`Choice::Wide`]. Returns by dimension how many bytes the
    /// intervals of all wide choices take.
    fn resolve_pairs(&self, choices: &mut [Choice], access: &[Option<u32>]) -> Vec<usize> {
        let mut sharing: FxHashMap<(DimensionId, DimensionId), u32> = FxHashMap::default();
        for (choice, access) in choices.iter().zip(access) {
            if let (Choice::Pair(second), Some(access)) = (*choice, *access) {
                *sharing.entry(self.pair(access, second)).or_default() += 1;
            }
        }
        let mut wide_bytes = vec![0_usize; self.conditions.spaces.len()];
        for (choice, access) in choices.iter_mut().zip(access) {
            let Some(access) = *access else { continue };
            if let Choice::Pair(second) = *choice
                && sharing[&self.pair(access, second)] < MIN_PAIR
            {
                *choice = Choice::Wide;
            }
            if *choice == Choice::Wide {
                let dimension = self.condition(access).dimension;
                wide_bytes[dimension.index()] += self.interval_bytes(dimension);
            }
        }
        wide_bytes
    }

    /// The dimensions of two predicates, the rarer first.
    fn pair(&self, access: u32, second: u32) -> (DimensionId, DimensionId) {
        let (a, b) = (self.condition(access).dimension, self.condition(second).dimension);
        let presence = |dimension: DimensionId| (self.profile.presence[dimension.index()], dimension);
        if presence(a) <= presence(b) { (a, b) } else { (b, a) }
    }

    fn choose(&self, alternative: usize, access: &SpaceCondition) -> Choice {
        let alone = self.alternatives.operands(alternative).len() == 1 && access.exact;
        let presence = self.profile.presence[access.dimension.index()];
        let mut nodes = 0;
        access.witnesses.iter().for_each(|interval| canonical_nodes(*interval, |_, _| nodes += 1));
        let (max_nodes, rarity) = if alone { (MAX_SHORT_NODES, 4.0) } else { (MAX_NODES, 10.0) };
        let of_points = access.witnesses.len() == nodes && nodes <= MAX_SHORT_NODES;
        if nodes == 1 || access.selectivity <= presence / rarity && (nodes <= max_nodes || of_points) {
            return Choice::Nodes;
        }
        if access.interval().is_none() || access.many_valued {
            return Choice::Wide;
        }
        let partners = self.predicates(alternative).filter(|id| {
            let condition = self.condition(*id);
            condition.interval().is_some()
                && !condition.many_valued
                && condition.dimension != access.dimension
        });
        self.least_likely(partners).map_or(Choice::Wide, Choice::Pair)
    }

    /// Adds the postings of an alternative.
    fn post(
        &self,
        alternative: u32,
        access: Option<u32>,
        choice: Choice,
        wide_bytes: &[usize],
        postings: &mut Vec<Posting>,
    ) {
        let at = |place: PostingPlace, detail: u32| Posting { place: place.pack(), alternative, detail };
        let Some(access) = access else { return postings.push(at(PostingPlace::Everywhere, 0)) };
        let condition = self.condition(access);
        let dimension = condition.dimension;
        if let Choice::Pair(other) = choice {
            let (first, second) = self.pair(access, other);
            return postings.push(at(PostingPlace::Pair { first, second }, other));
        }
        let rare = condition.selectivity <= self.profile.presence[dimension.index()] / 8.0;
        let long_scan = choice == Choice::Wide && wide_bytes[dimension.index()] > LONG_SCAN;
        if choice == Choice::Nodes || long_scan && rare && condition.witnesses.len() <= MAX_DIVIDED {
            for interval in &condition.witnesses {
                canonical_nodes(*interval, |level, number| {
                    postings.push(at(PostingPlace::Node { dimension, level, number }, 0))
                });
            }
        } else if condition.witnesses.len() <= MAX_SCANNED {
            let intervals = 0..condition.witnesses.len() as u32;
            postings.extend(intervals.map(|interval| at(PostingPlace::Scan { dimension }, interval)));
        } else {
            postings.push(at(PostingPlace::Scan { dimension }, HULL));
        }
    }
}

/// The fewest nodes, by level and number, that make up an interval.
fn canonical_nodes((mut low, high): (u32, u32), mut each: impl FnMut(u32, u32)) {
    while low <= high {
        let aligned = if low == 0 { 31 } else { low.trailing_zeros() };
        let level = aligned.min((high - low + 1).ilog2());
        each(level, low >> level);
        low += 1 << level;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dimension() -> impl Strategy<Value = DimensionId> {
        prop_oneof![Just(DimensionId::MAX), 0..=DimensionId::MAX]
            .prop_map(|number| DimensionId::new(number as usize, &SegmentLimits::default()).expect("small"))
    }

    proptest! {
        #[test]
        fn places_round_trip_and_sort_by_dimension(
            (first, second) in (dimension(), dimension()),
            level in 0_u32..32,
            number in any::<u32>(),
        ) {
            let places = [
                PostingPlace::Everywhere,
                PostingPlace::Scan { dimension: first },
                PostingPlace::Pair { first, second },
                PostingPlace::Node { dimension: first, level, number },
            ];
            for place in places {
                prop_assert_eq!(PostingPlace::unpack(place.pack()), place);
            }
            let packed = |dimension| PostingPlace::Node { dimension, level, number }.pack();
            prop_assert_eq!(packed(first).cmp(&packed(second)), first.cmp(&second));
        }

        #[test]
        fn canonical_nodes_make_up_the_interval(low in 1_u32..5_000, len in 0_u32..5_000) {
            let mut next = low;
            canonical_nodes((low, low + len), |level, number| {
                assert_eq!(number << level, next);
                next += 1 << level;
            });
            prop_assert_eq!(next, low + len + 1);
        }
    }
}
