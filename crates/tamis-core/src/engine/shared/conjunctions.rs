//! The conjunctions of all subscriptions, as lists of distinct predicates.
//!
//! A subscription that is no conjunction is expanded to a bounded DNF; its conjunctions are its
//! [`Members`].
//!
//! Invariant: every conjunction in use counts as one use of each of its predicates in [`Predicates`].

use crate::engine::SubId;
use crate::engine::shared::list_pool::{ListPool, ListRef};
use crate::engine::shared::members::Members;
use crate::engine::shared::predicates::{PredId, Predicates};
use crate::error::Result;
use crate::expr::Normal;

pub use crate::engine::shared::members::MemberId as ConjId;

/// A conjunction, with what an engine knows of it.
#[derive(Clone, Copy, Debug, Default)]
struct Conjunction<S> {
    /// Its predicates, in [`Conjunctions::lists`]; the engine chooses the order.
    predicates: ListRef,
    /// The engine's own.
    state: S,
}

/// All conjunctions; `S` is what an engine keeps per conjunction.
#[derive(Debug, Default)]
pub struct Conjunctions<S> {
    members: Members<Conjunction<S>>,
    /// Numbers of predicates.
    lists: ListPool<u32, 1>,
}

impl<S: Copy + Default> Conjunctions<S> {
    /// Inserts the conjunctions of a subscription and appends their numbers to `ids`. Refused if the subscription's DNF has
    /// more than `max_dnf` conjunctions.
    pub fn insert(
        &mut self,
        sub: SubId,
        expression: &Normal,
        max_dnf: usize,
        predicates: &mut Predicates,
        ids: &mut Vec<ConjId>,
    ) -> Result<()> {
        let dnf = expression.to_dnf(max_dnf)?;
        let lists = &mut self.lists;
        let values = dnf.into_iter().map(|conjunction| {
            let numbers: Vec<u32> =
                conjunction.into_iter().map(|predicate| predicates.acquire(predicate).0).collect();
            let mut list = ListRef::default();
            lists.extend(&mut list, &numbers);
            Conjunction { predicates: list, state: S::default() }
        });
        self.members.insert(sub, values, ids)
    }

    /// The conjunctions of a subscription.
    pub fn of(&self, sub: SubId) -> Vec<ConjId> {
        self.members.of(sub)
    }

    /// Removes a conjunction and releases its predicates.
    pub fn remove(&mut self, id: ConjId, predicates: &mut Predicates) {
        let list = self.members.get(id).predicates;
        self.lists.get(list).iter().for_each(|&predicate| predicates.release(PredId(predicate)));
        self.lists.release(list);
        self.members.remove(id);
    }

    /// The subscription it belongs to.
    #[inline]
    pub fn owner(&self, id: ConjId) -> SubId {
        self.members.owner(id)
    }

    /// What the engine keeps of a conjunction.
    pub fn state(&self, id: ConjId) -> &S {
        &self.members.get(id).state
    }

    /// What the engine keeps of a conjunction, mutable.
    pub fn state_mut(&mut self, id: ConjId) -> &mut S {
        &mut self.members.get_mut(id).state
    }

    /// Whether a number is in use.
    pub fn contains(&self, id: ConjId) -> bool {
        self.members.contains(id)
    }

    /// Whether its subscription has other conjunctions.
    pub fn is_one_of_several(&self, id: ConjId) -> bool {
        self.members.is_one_of_several(id)
    }

    /// The predicates of a conjunction.
    #[inline]
    pub fn predicates(&self, id: ConjId) -> impl ExactSizeIterator<Item = PredId> + '_ {
        self.lists.get(self.members.get(id).predicates).iter().map(|&predicate| PredId(predicate))
    }

    /// Changes the order of a conjunction's predicates.
    pub fn reorder(&mut self, id: ConjId, order: impl Iterator<Item = PredId>) {
        let list = self.members.get(id).predicates;
        self.lists.get_mut(list).iter_mut().zip(order).for_each(|(slot, predicate)| *slot = predicate.0);
    }

    /// Every conjunction.
    pub fn all(&self) -> impl Iterator<Item = ConjId> + '_ {
        self.members.all()
    }

    /// Number of conjunctions.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is no conjunction.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Moves the lists of predicates together and frees memory reserved for growth.
    pub fn defragment(&mut self) {
        self.members.defragment();
        self.lists.defragment(self.members.values_mut().map(|conjunction| &mut conjunction.predicates));
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        self.members.memory() + self.lists.memory()
    }
}
