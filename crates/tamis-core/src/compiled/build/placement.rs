//! Where does an alternative wait for its events?
//!
//! | place | an event looks there if | and finds |
//! | --- | --- | --- |
//! | everywhere | always | alternatives that need no present value |
//! | scan | it has the dimension | intervals, compared sixteen at once |
//! | pair | it has both dimensions | two intervals each, compared sixteen at once |
//! | node | its space lies in the node | those whose first test is met already |
//!
//! A node covers 2^level neighbouring spaces; at level 0 it is a single space, the place of equalities. A wide interval
//! is divided into few nodes of several levels (canonical nodes).
//!
//! Every alternative goes to the dimension of its least likely predicate. If few do, they are scanned: that takes no
//! longer than to look for a better place. If many do, equalities and short lists go to nodes; intervals go to a pair
//! with the second least likely one, if there is enough company, and else are scanned or go to canonical nodes,
//! whichever is cheaper.

use crate::compiled::build::conditions::{Condition, Conditions};
use crate::compiled::build::cover::{Alternatives, Part};
use crate::compiled::build::profile::Profile;
use crate::compiled::matching::simd::Lane;
use rustc_hash::FxHashMap;

/// So many bytes of intervals are scanned in about the time that a look elsewhere takes.
const SHORT_SCAN: usize = 512;

/// A scan of fewer bytes is not worth canonical nodes.
const LONG_SCAN: usize = 16_384;

/// So many share a pair of dimensions, or it is not worth a place.
const COMPANY: u32 = 12;

/// In how many nodes an alternative is listed, if more tests follow, and if none do.
const MOST_COPIES: usize = 4;
const MOST_SHORT_COPIES: usize = 64;

/// As many intervals of one predicate are scanned one by one. Of more, the hull is, and the predicate is tested.
const MOST_SCANNED: usize = 4;

/// Where an alternative waits. Packed into one number, so that sorting brings together what belongs together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compiled) enum Place {
    Everywhere,
    Scan { dimension: u32 },
    Pair { first: u32, second: u32 },
    Node { dimension: u32, level: u32, at: u32 },
}

/// Bits of a dimension and of a place in its level.
const DIMENSION_BITS: u32 = 25;
const AT_BITS: u32 = 32;

impl Place {
    fn pack(self) -> u64 {
        let (kind, dimension, rest) = match self {
            Place::Everywhere => (0, 0, 0),
            Place::Scan { dimension } => (1, dimension, 0),
            Place::Pair { first, second } => (2, first, u64::from(second)),
            Place::Node { dimension, level, at } => {
                (3, dimension, u64::from(level) << AT_BITS | u64::from(at))
            }
        };
        kind << 62 | u64::from(dimension) << (62 - DIMENSION_BITS) | rest
    }

    fn unpack(packed: u64) -> Place {
        let dimension = (packed >> (62 - DIMENSION_BITS)) as u32 & ((1 << DIMENSION_BITS) - 1);
        let rest = packed & ((1 << (62 - DIMENSION_BITS)) - 1);
        match packed >> 62 {
            0 => Place::Everywhere,
            1 => Place::Scan { dimension },
            2 => Place::Pair { first: dimension, second: rest as u32 },
            _ => Place::Node { dimension, level: (rest >> AT_BITS) as u32, at: rest as u32 },
        }
    }
}

/// One alternative at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::compiled) struct Placed {
    packed: u64,
    pub alternative: u32,
    /// At a scan: which interval of the predicate is compared, or [`HULL`]. At a pair: the other predicate.
    detail: u32,
}

/// The predicate's first to last space is compared, since it has too many intervals.
const HULL: u32 = u32::MAX;

impl Placed {
    pub fn place(&self) -> Place {
        Place::unpack(self.packed)
    }
}

/// An interval that is compared at the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::compiled) struct Key {
    pub interval: (u32, u32),
    /// The predicate that is met by it; [`Key::NONE`] if the predicate has to be tested all the same.
    pub met: u32,
}

impl Key {
    pub const NONE: u32 = u32::MAX;
    pub const NOTHING: Key = Key { interval: (0, 0), met: Key::NONE };
}

/// What was decided for an alternative, before the places are counted out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    Everywhere,
    Scan,
    Nodes,
    Pair(u32),
    Wide,
}

/// All alternatives at their places.
pub(in crate::compiled) struct Placement {
    pub placed: Vec<Placed>,
    /// By alternative: its least likely predicate, or [`Key::NONE`].
    homes: Vec<u32>,
}

impl Placement {
    /// The predicate whose dimension leads to the place; `None` if every event comes by.
    pub fn home(&self, placed: &Placed) -> Option<usize> {
        let home = self.homes[placed.alternative as usize];
        (home != Key::NONE).then_some(home as usize)
    }

    /// What is compared at the place.
    pub fn keys(&self, conditions: &[Condition], placed: &Placed) -> [Key; 2] {
        let home = self.homes[placed.alternative as usize];
        if home == Key::NONE {
            return [Key::NOTHING; 2];
        }
        let condition = &conditions[home as usize];
        let met = if condition.exact { home } else { Key::NONE };
        match placed.place() {
            Place::Scan { .. } if placed.detail == HULL => {
                let ends = condition.witnesses.first().zip(condition.witnesses.last());
                let interval = ends.map_or((0, 0), |(first, last)| (first.0, last.1));
                [Key { interval, met: Key::NONE }, Key::NOTHING]
            }
            Place::Scan { .. } => {
                [Key { interval: condition.witnesses[placed.detail as usize], met }, Key::NOTHING]
            }
            Place::Pair { first, .. } => {
                let key = |id: u32| Key {
                    interval: conditions[id as usize].interval().unwrap_or_default(),
                    met: id,
                };
                let (home, other) = (key(home), key(placed.detail));
                if condition.dimension == first { [home, other] } else { [other, home] }
            }
            _ => [Key { interval: (0, 0), met }, Key::NOTHING],
        }
    }
}

/// Decides for all alternatives.
pub(in crate::compiled) fn place(
    conditions: &Conditions,
    alternatives: &Alternatives,
    profile: &Profile,
) -> Placement {
    let plan = Plan { conditions, alternatives, profile };
    let homes: Vec<u32> = (0..alternatives.len()).map(|number| plan.home(number)).collect();
    let dimensions = conditions.spaces.len();
    let lane = |dimension: u32| Lane::for_spaces(conditions.spaces.count(dimension)).words() / 2;
    let mut bytes = vec![0_usize; dimensions];
    for home in homes.iter().filter(|home| **home != Key::NONE) {
        let condition = &conditions.conditions[*home as usize];
        let intervals = condition.witnesses.len().min(MOST_SCANNED);
        bytes[condition.dimension as usize] += intervals * lane(condition.dimension) / 2;
    }
    let mut pairs: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    let mut choices: Vec<Choice> = Vec::with_capacity(homes.len());
    for (number, home) in homes.iter().enumerate() {
        let choice = if *home == Key::NONE {
            Choice::Everywhere
        } else {
            let condition = &conditions.conditions[*home as usize];
            match bytes[condition.dimension as usize] {
                0..=SHORT_SCAN => Choice::Scan,
                _ => plan.choose(number, condition),
            }
        };
        if let Choice::Pair(second) = choice {
            *pairs.entry(plan.pair(*home, second)).or_default() += 1;
        }
        choices.push(choice);
    }
    // Those left over in each dimension.
    let mut wide = vec![0_usize; dimensions];
    for (choice, home) in choices.iter_mut().zip(&homes) {
        if let Choice::Pair(second) = *choice
            && pairs[&plan.pair(*home, second)] < COMPANY
        {
            *choice = Choice::Wide;
        }
        if *choice == Choice::Wide {
            let dimension = conditions.conditions[*home as usize].dimension;
            wide[dimension as usize] += lane(dimension) / 2;
        }
    }
    let mut placed = Vec::with_capacity(homes.len());
    for (number, (choice, home)) in choices.iter().zip(&homes).enumerate() {
        plan.put(number as u32, *home, *choice, &wide, &mut placed);
    }
    placed.sort_unstable();
    Placement { placed, homes }
}

struct Plan<'p> {
    conditions: &'p Conditions,
    alternatives: &'p Alternatives,
    profile: &'p Profile,
}

impl Plan<'_> {
    fn predicates(&self, alternative: usize) -> impl Iterator<Item = u32> {
        let parts = self.alternatives.parts(alternative).iter();
        parts.filter_map(|part: &Part| part.either().ok()).map(|predicate| predicate as u32)
    }

    fn condition(&self, predicate: u32) -> &Condition {
        &self.conditions.conditions[predicate as usize]
    }

    /// The least likely predicate that needs a present value.
    fn home(&self, alternative: usize) -> u32 {
        let witnesses = self.predicates(alternative).filter(|id| self.condition(*id).can_witness());
        let least = witnesses.min_by(|a, b| self.condition(*a).share.total_cmp(&self.condition(*b).share));
        least.unwrap_or(Key::NONE)
    }

    /// Both dimensions, the rarer first.
    fn pair(&self, home: u32, second: u32) -> (u32, u32) {
        let (a, b) = (self.condition(home).dimension, self.condition(second).dimension);
        let presence = |dimension: u32| (self.profile.presence[dimension as usize], dimension);
        if presence(a) <= presence(b) { (a, b) } else { (b, a) }
    }

    fn choose(&self, alternative: usize, home: &Condition) -> Choice {
        let alone = self.alternatives.parts(alternative).len() == 1 && home.exact;
        let presence = self.profile.presence[home.dimension as usize];
        let mut copies = 0;
        home.witnesses.iter().for_each(|interval| nodes(*interval, |_, _| copies += 1));
        let (most, rare) = if alone { (MOST_SHORT_COPIES, 4.0) } else { (MOST_COPIES, 10.0) };
        let of_points = home.witnesses.len() == copies && copies <= MOST_SHORT_COPIES;
        if copies == 1 || home.share <= presence / rare && (copies <= most || of_points) {
            return Choice::Nodes;
        }
        if home.interval().is_none() || home.many_valued {
            return Choice::Wide;
        }
        let partners = self.predicates(alternative).filter(|id| {
            let condition = self.condition(*id);
            condition.interval().is_some() && !condition.many_valued && condition.dimension != home.dimension
        });
        let least = partners.min_by(|a, b| self.condition(*a).share.total_cmp(&self.condition(*b).share));
        least.map_or(Choice::Wide, Choice::Pair)
    }

    fn put(&self, alternative: u32, home: u32, choice: Choice, wide: &[usize], placed: &mut Vec<Placed>) {
        let at = |place: Place, detail: u32| Placed { packed: place.pack(), alternative, detail };
        if choice == Choice::Everywhere {
            return placed.push(at(Place::Everywhere, 0));
        }
        let condition = self.condition(home);
        let dimension = condition.dimension;
        if let Choice::Pair(other) = choice {
            let (first, second) = self.pair(home, other);
            return placed.push(at(Place::Pair { first, second }, other));
        }
        let rare = condition.share <= self.profile.presence[dimension as usize] / 8.0;
        let too_many = choice == Choice::Wide && wide[dimension as usize] > LONG_SCAN;
        if choice == Choice::Nodes || too_many && rare && condition.witnesses.len() <= 16 {
            for interval in &condition.witnesses {
                nodes(*interval, |level, node| {
                    placed.push(at(Place::Node { dimension, level, at: node }, 0))
                });
            }
        } else if condition.witnesses.len() <= MOST_SCANNED {
            let intervals = 0..condition.witnesses.len() as u32;
            placed.extend(intervals.map(|interval| at(Place::Scan { dimension }, interval)));
        } else {
            placed.push(at(Place::Scan { dimension }, HULL));
        }
    }
}

/// The fewest nodes that make up an interval.
fn nodes((mut low, high): (u32, u32), mut each: impl FnMut(u32, u32)) {
    while low <= high {
        let aligned = if low == 0 { 31 } else { low.trailing_zeros() };
        let level = aligned.min((high - low + 1).ilog2());
        each(level, low >> level);
        low += 1 << level;
    }
}
