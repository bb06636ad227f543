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
//! is divided into few nodes of several levels (canonical nodes), a narrow one is listed in each of its spaces.
//!
//! Every alternative goes to the dimension of its least likely predicate. If few do, they are scanned: that takes no
//! longer than to look for a better place. If many do, equalities and short lists go to nodes; intervals go to a pair
//! with the second least likely one, if there is enough company, and else are scanned or go to canonical nodes,
//! whichever is cheaper.

use super::conditions::{Condition, Conditions};
use super::cover::{Alternatives, Part};
use super::lanes::Lane;
use super::profile::Profile;
use rustc_hash::FxHashMap;

/// So many bytes of intervals are scanned in about the time that a look elsewhere takes.
const SHORT_SCAN: usize = 512;

/// A scan of fewer bytes is not worth canonical nodes.
const LONG_SCAN: usize = 16_384;

/// So many share a pair of dimensions, or it is not worth a place.
const COMPANY: u32 = 12;

/// In how many spaces an interval is listed, if more tests follow, and if none do.
const MOST_COPIES: u32 = 4;
const MOST_SHORT_COPIES: u32 = 64;

/// As many intervals of one predicate are scanned one by one. Of more, the hull is, and the predicate is tested.
pub(super) const MOST_SCANNED: usize = 4;

/// Where an alternative waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Everywhere,
    Scan { dimension: u32 },
    Pair { first: u32, second: u32 },
    Node { dimension: u32, level: u32, at: u32 },
}

/// One alternative at one place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub place: Place,
    pub alternative: u32,
    /// What is compared there: the predicates that are thereby met, and the intervals.
    pub keys: [Key; 2],
}

/// An interval that is compared at the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
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

/// Decides for all alternatives.
pub(super) fn place(conditions: &Conditions, alternatives: &Alternatives, profile: &Profile) -> Vec<Placed> {
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
    placed
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
        let spaces: u32 = home.witnesses.iter().map(|(low, high)| high - low + 1).sum();
        let alone = self.alternatives.parts(alternative).len() == 1 && home.exact;
        let presence = self.profile.presence[home.dimension as usize];
        let rare = home.share <= presence / 4.0;
        let few = spaces <= MOST_COPIES || home.witnesses.len() as u32 == spaces;
        if few && spaces <= MOST_COPIES
            || rare && spaces <= if alone || few { MOST_SHORT_COPIES } else { MOST_COPIES }
        {
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
        if choice == Choice::Everywhere {
            let keys = [Key::NOTHING; 2];
            placed.push(Placed { place: Place::Everywhere, alternative, keys });
            return;
        }
        let condition = self.condition(home);
        let dimension = condition.dimension;
        let met = if condition.exact { home } else { Key::NONE };
        let one = |interval| [Key { interval, met }, Key::NOTHING];
        if let Choice::Pair(other) = choice {
            let (first, second) = self.pair(home, other);
            let key = |id: u32| Key { interval: self.condition(id).interval().unwrap_or_default(), met: id };
            let keys = if first == dimension { [key(home), key(other)] } else { [key(other), key(home)] };
            placed.push(Placed { place: Place::Pair { first, second }, alternative, keys });
            return;
        }
        let rare = condition.share <= self.profile.presence[dimension as usize] / 8.0;
        let to_nodes = choice == Choice::Nodes
            || choice == Choice::Wide && wide[dimension as usize] > LONG_SCAN && rare && condition.witnesses.len() <= 16;
        let place = Place::Scan { dimension };
        if to_nodes {
            let canonical = choice == Choice::Wide;
            for interval in &condition.witnesses {
                nodes(*interval, canonical, |level, at| {
                    let place = Place::Node { dimension, level, at };
                    placed.push(Placed { place, alternative, keys: one((at, at)) });
                });
            }
        } else if condition.witnesses.len() <= MOST_SCANNED {
            let intervals = condition.witnesses.iter();
            placed.extend(intervals.map(|interval| Placed { place, alternative, keys: one(*interval) }));
        } else if let (Some((low, _)), Some((_, high))) = (condition.witnesses.first(), condition.witnesses.last()) {
            let keys = [Key { interval: (*low, *high), met: Key::NONE }, Key::NOTHING];
            placed.push(Placed { place, alternative, keys });
        }
    }
}

/// The nodes that make up an interval: each space by itself, or the fewest of several levels.
fn nodes((mut low, high): (u32, u32), canonical: bool, mut each: impl FnMut(u32, u32)) {
    if !canonical {
        (low..=high).for_each(|space| each(0, space));
        return;
    }
    while low <= high {
        let aligned = if low == 0 { 31 } else { low.trailing_zeros() };
        let fits = (high - low + 1).ilog2();
        let level = aligned.min(fits);
        each(level, low >> level);
        low += 1 << level;
    }
}
