//! What both engines know of their subscriptions, and how they test a candidate.

use crate::engine::SubId;
use crate::engine::shared::conjunctions::{ConjId, Conjunctions};
use crate::engine::shared::dedup::SubscriptionDedup;
use crate::engine::shared::list_pool::ListRef;
use crate::engine::shared::placement::{PlacedPredicates, RankedPredicate};
use crate::engine::shared::predicates::{PredId, Predicates};
use crate::engine::shared::records::{self, AttributeFilter, HalfSteps, Known, Records};
use crate::error::Result;
use crate::event::Event;
use crate::expr::Normal;
use crate::schema::AttrId;

/// The subscriptions of an engine: predicates, conjunctions, and the spaces that predicates cut.
#[derive(Debug)]
pub(super) struct Base {
    pub predicates: Predicates,
    pub conjunctions: Conjunctions<AccessPlan>,
    pub placed: PlacedPredicates,
    /// Maximum conjunctions of a subscription.
    pub max_dnf: usize,
}

/// How a conjunction's predicates are used. In its list the access predicates come first, the signed ones next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AccessPlan {
    /// Number of access predicates.
    pub access: u8,
    /// Bit `i`: access predicate `i` is spread over the leaves it covers; otherwise it leads through the leaf of its
    /// whole dimension.
    pub spread: u8,
    /// Number of predicates after the access predicates that are in signatures.
    pub signed: u32,
    /// Number of lists that have its record.
    pub records: u32,
    /// Number of times that splits have spread it too far. After the first, only predicates that accept single values are
    /// spread, after the second none: so relocation ends.
    pub relocations: u8,
}

/// An [`AccessPlan`] that is to be carried out.
pub(super) struct AccessChoice {
    /// The access predicates, then the signed ones, then the others.
    pub order: Vec<RankedPredicate>,
    /// As in [`AccessPlan`].
    pub access: u8,
    pub spread: u8,
    pub signed: u32,
}

/// A posting list that an event leads to.
pub(super) struct CandidateList {
    pub list: ListRef,
    /// Whether the event satisfies the access predicates of all records; otherwise they are tested as well.
    pub exact: bool,
    /// The list's first word, read ahead so that the list is in the cache when it is tested.
    pub prefetched: u32,
}

impl CandidateList {
    pub fn new(list: ListRef, exact: bool) -> CandidateList {
        CandidateList { list, exact, prefetched: 0 }
    }
}

/// An event as records are tested against it.
pub(super) struct TestedEvent<'e> {
    pub event: &'e Event<'e>,
    /// The attributes it has.
    pub present: AttributeFilter,
    pub steps: &'e HalfSteps,
}

/// Whether a conjunction relocated that often may be spread over the leaves of a predicate.
pub(super) fn may_spread(predicate: &RankedPredicate, relocations: u8) -> bool {
    relocations == 0 || relocations == 1 && predicate.selectivity.shape.points().is_some()
}

impl Base {
    pub fn new(max_dnf: usize) -> Base {
        Base {
            predicates: Predicates::default(),
            conjunctions: Conjunctions::default(),
            placed: PlacedPredicates::default(),
            max_dnf,
        }
    }

    /// Inserts the conjunctions of a subscription, which are not placed.
    pub fn insert(&mut self, id: SubId, expression: &Normal) -> Result<Vec<ConjId>> {
        let mut ids = Vec::new();
        self.conjunctions.insert(id, expression, self.max_dnf, &mut self.predicates, &mut ids)?;
        Ok(ids)
    }

    /// The predicates of a conjunction, the most selective first.
    pub fn ranked(&self, id: ConjId) -> Vec<RankedPredicate> {
        self.placed.rank(self.conjunctions.predicates(id), &self.predicates)
    }

    /// Adds a dimension for every attribute, so that events are counted there, whether or not its predicates have spaces.
    pub fn add_dimensions(&mut self, predicates: &[RankedPredicate]) {
        for ranked in predicates {
            self.placed.whole_leaf(ranked.attribute);
        }
    }

    /// Counts a record of a conjunction in a leaf that was split off; whether there are more than twice `limit`.
    pub fn count_record(&mut self, id: ConjId, records: u32, limit: usize) -> bool {
        let plan = self.conjunctions.state_mut(id);
        plan.records += records;
        plan.records as usize > 2 * limit
    }

    /// Whether an event satisfies all predicates of a conjunction.
    fn satisfies(&self, event: &Event<'_>, id: ConjId) -> bool {
        self.conjunctions.predicates(id).all(|predicate| self.predicates.get(predicate).holds(event))
    }

    /// Appends the subscriptions whose records in a list the event satisfies. `may_sign` is called with a conjunction and
    /// the attribute of a signed term.
    #[inline(always)]
    pub fn test_records(
        &self,
        list: &[u32],
        exact: bool,
        tested: &TestedEvent<'_>,
        may_sign: impl Fn(ConjId, u32) -> bool,
        dedup: &mut SubscriptionDedup,
        matches: &mut Vec<SubId>,
    ) {
        for record in Records(list) {
            if !record.needs.may_be_within(tested.present) {
                continue;
            }
            let id = record.conjunction;
            let holds = match exact {
                true => {
                    let known =
                        |attribute| if may_sign(id, attribute) { Known::Nothing } else { Known::False };
                    records::holds(record.terms, tested.steps, tested.event, &self.predicates, known)
                }
                false => self.satisfies(tested.event, id),
            };
            if holds {
                let sub = self.conjunctions.owner(id);
                if exact && !record.several || dedup.insert(sub) {
                    matches.push(sub);
                }
            }
        }
    }

    /// The predicates of a conjunction with whether each is placed in its dimension.
    pub fn placements(&self, id: ConjId) -> impl Iterator<Item = (PredId, bool)> + '_ {
        let plan = *self.conjunctions.state(id);
        self.conjunctions.predicates(id).enumerate().map(move |(at, predicate)| {
            let access = usize::from(plan.access);
            let placed =
                if at < access { plan.spread & 1 << at != 0 } else { at < access + plan.signed as usize };
            (predicate, placed)
        })
    }

    /// The signed predicate of a conjunction on an attribute. There is at most one: predicates with a region on one
    /// attribute are merged by normalization. `None` also for numbers that are not in use.
    pub fn signed_on(&self, id: ConjId, attribute: AttrId) -> Option<PredId> {
        if !self.conjunctions.contains(id) {
            return None;
        }
        let plan = self.conjunctions.state(id);
        let signed = self.conjunctions.predicates(id).skip(usize::from(plan.access));
        signed.take(plan.signed as usize).find(|id| self.predicates.get(*id).attribute == attribute)
    }

    /// Moves lists together and frees memory reserved for growth.
    pub fn defragment(&mut self) {
        self.predicates.defragment();
        self.conjunctions.defragment();
    }

    /// Checks the parts, and the use counters of predicates.
    pub fn validate(&self) -> Result<(), String> {
        self.predicates.validate()?;
        let mut uses = vec![0; self.predicates.bound()];
        let mut count = 0;
        for id in self.conjunctions.all() {
            count += 1;
            self.conjunctions.predicates(id).for_each(|predicate| uses[predicate.index()] += 1);
        }
        if count != self.conjunctions.len() {
            return Err(format!("{count} conjunctions found, {} counted", self.conjunctions.len()));
        }
        if let Some(at) = (0..uses.len()).find(|&at| self.predicates.uses(PredId(at as u32)) != uses[at]) {
            return Err(format!("predicate {at} is used {} times, counted otherwise", uses[at]));
        }
        let placements = self.conjunctions.all().flat_map(|id| self.placements(id));
        self.placed.validate(&self.predicates, placements.filter(|(_, placed)| *placed).map(|(id, _)| id))
    }

    pub fn memory(&self) -> usize {
        self.predicates.memory() + self.conjunctions.memory() + self.placed.memory()
    }

    pub fn stats(&self) -> Vec<(&'static str, u64)> {
        let (leaves, inner, bounds) = self.placed.size();
        vec![
            ("conjunctions", self.conjunctions.len() as u64),
            ("distinct_predicates", self.predicates.len() as u64),
            ("leaves", leaves as u64),
            ("inner_nodes", inner as u64),
            ("bounds", bounds as u64),
        ]
    }

    /// Number of records of all conjunctions.
    pub fn record_count(&self) -> u64 {
        self.conjunctions.all().map(|id| u64::from(self.conjunctions.state(id).records)).sum()
    }
}
