//! The distinct predicates of all expressions, and the search for those that an event satisfies: the first phase of every
//! engine of this folder but Translation.
//!
//! Invariant: predicate matching holds exactly the predicates in use.
//! Cost: a predicate is placed in its PS-Tree at its first use and withdrawn at its last; finding the satisfied
//! predicates of an event costs O(pairs + satisfied predicates + predicates tested one by one).

use tamis_core::engine::registry::{OptionInfo, OptionKind};
use tamis_core::engine::shared::list_pool::shrink;
use tamis_core::engine::shared::predicates::{
    EventBitmap, LeafCounts, PredId, PredicateMatching, PredicateScratch, Predicates,
};
use tamis_core::event::Event;
use tamis_core::expr::Predicate;

/// The option of [`PredicateIndex::new`].
pub(super) const MAX_SPACES: OptionInfo = OptionInfo {
    name: "max_spaces",
    description: "maximum leaves that list a predicate when it is inserted; twice as many after later splits",
    kind: OptionKind::WholeNumber { default: 128, range: 0..=1 << 20 },
};

/// See the module's head.
#[derive(Debug)]
pub(super) struct PredicateIndex {
    predicates: Predicates,
    matching: PredicateMatching<PredId>,
    counts: LeavesByPredicate,
}

/// By predicate: number of leaves that list it.
#[derive(Debug, Default)]
struct LeavesByPredicate(Vec<u32>);

impl LeafCounts<PredId> for LeavesByPredicate {
    fn leaf_count(&self, id: PredId) -> u32 {
        self.0[id.index()]
    }

    fn leaf_count_mut(&mut self, id: PredId) -> &mut u32 {
        &mut self.0[id.index()]
    }
}

/// The predicates that an event satisfies. Reused from event to event.
#[derive(Debug, Default)]
pub(super) struct SatisfiedPredicates {
    set: EventBitmap,
    /// The same, each once.
    list: Vec<PredId>,
    search: PredicateScratch<PredId>,
}

impl SatisfiedPredicates {
    /// Whether the event satisfies a predicate.
    #[inline]
    pub fn contains(&self, id: PredId) -> bool {
        self.set.contains(id.0)
    }

    /// Each satisfied predicate once.
    pub fn iter(&self) -> impl Iterator<Item = PredId> + '_ {
        self.list.iter().copied()
    }
}

impl PredicateIndex {
    /// No predicates; `max_spaces` is the option of that name.
    pub fn new(max_spaces: usize) -> PredicateIndex {
        PredicateIndex {
            predicates: Predicates::default(),
            matching: PredicateMatching::new(max_spaces, false),
            counts: LeavesByPredicate::default(),
        }
    }

    /// The number of a predicate; counts one use.
    pub fn acquire(&mut self, predicate: &Predicate) -> PredId {
        let id = self.predicates.acquire_ref(predicate);
        if self.predicates.uses(id) == 1 {
            if self.counts.0.len() <= id.index() {
                self.counts.0.resize(id.index() + 1, 0);
            }
            self.matching.insert(id, predicate, &mut self.counts);
            self.unlist_too_wide();
        }
        id
    }

    /// Counts one more use of a predicate in use.
    pub fn acquire_again(&mut self, id: PredId) {
        self.predicates.acquire_again(id);
    }

    /// Counts one use less.
    pub fn release(&mut self, id: PredId) {
        if self.predicates.uses(id) == 1 {
            self.matching.remove(id, self.predicates.get(id), &mut self.counts);
        }
        self.predicates.release(id);
    }

    fn unlist_too_wide(&mut self) {
        while let Some(id) = self.matching.take_too_wide() {
            if self.predicates.uses(id) > 0 {
                self.matching.unlist_if_too_wide(id, self.predicates.get(id), &mut self.counts);
            }
        }
    }

    /// Finds the predicates that an event satisfies.
    pub fn find(&self, event: &Event<'_>, satisfied: &mut SatisfiedPredicates) {
        let SatisfiedPredicates { set, list, search } = satisfied;
        set.begin(self.predicates.bound());
        list.clear();
        self.matching.find(
            event,
            |id| self.predicates.get(id),
            search,
            |id| {
                if set.insert(id.0) {
                    list.push(id);
                }
            },
        );
    }

    /// The predicate with a number in use.
    pub fn get(&self, id: PredId) -> &Predicate {
        self.predicates.get(id)
    }

    /// Whether a number is in use.
    pub fn is_used(&self, id: PredId) -> bool {
        self.predicates.uses(id) > 0
    }

    /// One more than the greatest number in use.
    pub fn bound(&self) -> usize {
        self.predicates.bound()
    }

    /// Checks the predicates, their places, and their numbers of uses; `uses` has every use, in any order.
    pub fn validate(&self, uses: impl Iterator<Item = PredId>) -> Result<(), String> {
        self.predicates.validate()?;
        self.matching.validate(self.predicates.ids(), |id| self.predicates.get(id), &self.counts)?;
        let mut counted = vec![0; self.bound()];
        for id in uses {
            *counted.get_mut(id.index()).ok_or(format!("predicate {} is not in use", id.0))? += 1;
        }
        match (0..).map(PredId).zip(counted).find(|(id, uses)| self.predicates.uses(*id) != *uses) {
            Some((id, uses)) => {
                Err(format!("predicate {} has {uses} uses, counted {}", id.0, self.predicates.uses(id)))
            }
            None => Ok(()),
        }
    }

    /// Moves lists together and frees memory reserved for growth.
    pub fn defragment(&mut self) {
        self.predicates.defragment();
        self.matching.defragment();
        shrink(&mut self.counts.0);
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        self.predicates.memory() + self.matching.memory() + self.counts.0.capacity() * size_of::<u32>()
    }

    /// Numbers of distinct predicates, of leaves of the PS-Trees, and of their bounds.
    pub fn stats(&self) -> [(&'static str, u64); 3] {
        let (spaces, bounds) = self.matching.size();
        [("predicates", self.predicates.len() as u64), ("spaces", spaces as u64), ("bounds", bounds as u64)]
    }
}
