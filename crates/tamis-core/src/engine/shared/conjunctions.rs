//! The conjunctions of all subscriptions, as lists of distinct predicates.
//!
//! A subscription that is no conjunction is expanded to a bounded DNF. Its first conjunction has the subscription's
//! number, so that a match of a subscription with one conjunction needs no look-up of its owner. Further conjunctions
//! have numbers from [`ConjId::FURTHER`] on.
//!
//! Invariant: every conjunction in use counts as one use of each of its predicates in [`Predicates`].

use crate::engine::SubId;
use crate::engine::shared::list_pool::{ListPool, ListRef, shrink};
use crate::engine::shared::predicates::{PredId, Predicates};
use crate::error::{Error, Result};
use crate::expr::Normal;

/// A conjunction. Numbers of removed ones are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConjId(pub u32);

impl ConjId {
    /// The first number of conjunctions that are not the first of their subscription.
    const FURTHER: u32 = 1 << 31;
    /// No conjunction: the end of a chain.
    const NONE: ConjId = ConjId(u32::MAX);

    /// Whether it is not the first of its subscription, and its position in the array of such conjunctions.
    #[inline]
    pub fn position(self) -> (bool, usize) {
        (self.0 >= ConjId::FURTHER, (self.0 & !ConjId::FURTHER) as usize)
    }
}

/// A conjunction, with what an engine knows of it.
#[derive(Clone, Copy, Debug)]
struct Conjunction<S> {
    /// Its predicates, in [`Conjunctions::lists`]; the engine chooses the order.
    predicates: ListRef,
    /// The next conjunction of the same subscription, or [`ConjId::NONE`].
    next: ConjId,
    /// Its subscription; [`UNUSED`] if the number is free.
    owner: SubId,
    /// The engine's own.
    state: S,
}

const UNUSED: SubId = SubId(u32::MAX);

impl<S: Default> Default for Conjunction<S> {
    fn default() -> Conjunction<S> {
        Conjunction { predicates: ListRef::EMPTY, next: ConjId::NONE, owner: UNUSED, state: S::default() }
    }
}

/// All conjunctions; `S` is what an engine keeps per conjunction.
#[derive(Debug, Default)]
pub struct Conjunctions<S> {
    /// By subscription.
    first: Vec<Conjunction<S>>,
    /// By number, from [`ConjId::FURTHER`] on.
    further: Vec<Conjunction<S>>,
    /// Free numbers from [`ConjId::FURTHER`] on.
    free: Vec<ConjId>,
    /// Numbers of predicates.
    lists: ListPool<u32, 1>,
    /// Conjunctions in use.
    count: usize,
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
        if sub.0 >= ConjId::FURTHER {
            return Err(Error::Expression("the engine is full: 2^31 subscriptions".into()));
        }
        let dnf = expression.to_dnf(max_dnf)?;
        if self.first.len() <= sub.index() {
            self.first.resize(sub.index() + 1, Conjunction::default());
        }
        let mut next = ConjId::NONE;
        for (at, conjunction) in dnf.into_iter().enumerate().rev() {
            let id = if at == 0 { ConjId(sub.0) } else { self.allocate_further() };
            let mut list = ListRef::default();
            let numbers: Vec<u32> =
                conjunction.into_iter().map(|predicate| predicates.acquire(predicate).0).collect();
            self.lists.extend(&mut list, &numbers);
            *self.get_mut(id) = Conjunction { predicates: list, next, owner: sub, state: S::default() };
            self.count += 1;
            next = id;
            ids.push(id);
        }
        Ok(())
    }

    fn allocate_further(&mut self) -> ConjId {
        self.free.pop().unwrap_or_else(|| {
            self.further.push(Conjunction::default());
            ConjId(ConjId::FURTHER + self.further.len() as u32 - 1)
        })
    }

    /// The conjunctions of a subscription.
    pub fn of(&self, sub: SubId) -> Vec<ConjId> {
        let mut ids = Vec::new();
        let mut id = ConjId(sub.0);
        while id != ConjId::NONE && self.get(id).owner == sub {
            ids.push(id);
            id = self.get(id).next;
        }
        ids
    }

    /// Removes a conjunction and releases its predicates.
    pub fn remove(&mut self, id: ConjId, predicates: &mut Predicates) {
        let list = self.get(id).predicates;
        self.lists.get(list).iter().for_each(|&predicate| predicates.release(PredId(predicate)));
        self.lists.release(list);
        *self.get_mut(id) = Conjunction::default();
        self.count -= 1;
        if id.0 >= ConjId::FURTHER {
            self.free.push(id);
        }
    }

    #[inline]
    fn get(&self, id: ConjId) -> &Conjunction<S> {
        match id.position() {
            (false, at) => &self.first[at],
            (true, at) => &self.further[at],
        }
    }

    /// The subscription it belongs to.
    #[inline]
    pub fn owner(&self, id: ConjId) -> SubId {
        if id.0 < ConjId::FURTHER { SubId(id.0) } else { self.get(id).owner }
    }

    /// What the engine keeps of a conjunction.
    pub fn state(&self, id: ConjId) -> &S {
        &self.get(id).state
    }

    /// What the engine keeps of a conjunction, mutable.
    pub fn state_mut(&mut self, id: ConjId) -> &mut S {
        &mut self.get_mut(id).state
    }

    fn get_mut(&mut self, id: ConjId) -> &mut Conjunction<S> {
        match id.position() {
            (false, at) => &mut self.first[at],
            (true, at) => &mut self.further[at],
        }
    }

    /// Whether a number is in use.
    pub fn contains(&self, id: ConjId) -> bool {
        let found = match id.position() {
            (false, at) => self.first.get(at),
            (true, at) => self.further.get(at),
        };
        found.is_some_and(|conjunction| conjunction.owner != UNUSED)
    }

    /// Whether its subscription has other conjunctions.
    pub fn is_one_of_several(&self, id: ConjId) -> bool {
        id.0 >= ConjId::FURTHER || self.get(id).next != ConjId::NONE
    }

    /// The predicates of a conjunction.
    #[inline]
    pub fn predicates(&self, id: ConjId) -> impl ExactSizeIterator<Item = PredId> + '_ {
        self.lists.get(self.get(id).predicates).iter().map(|&predicate| PredId(predicate))
    }

    /// Changes the order of a conjunction's predicates.
    pub fn reorder(&mut self, id: ConjId, order: impl Iterator<Item = PredId>) {
        let list = self.get(id).predicates;
        self.lists.get_mut(list).iter_mut().zip(order).for_each(|(slot, predicate)| *slot = predicate.0);
    }

    /// Every conjunction.
    pub fn all(&self) -> impl Iterator<Item = ConjId> + '_ {
        let first = (0..self.first.len() as u32).map(ConjId);
        let further = (0..self.further.len() as u32).map(|n| ConjId(ConjId::FURTHER + n));
        first.chain(further).filter(|id| self.contains(*id))
    }

    /// Number of conjunctions.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Moves the lists of predicates together and frees memory reserved for growth.
    pub fn defragment(&mut self) {
        shrink(&mut self.first);
        shrink(&mut self.further);
        let all = self.first.iter_mut().chain(&mut self.further);
        self.lists.defragment(all.map(|conjunction| &mut conjunction.predicates));
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        (self.first.capacity() + self.further.capacity()) * size_of::<Conjunction<S>>()
            + self.free.capacity() * size_of::<ConjId>()
            + self.lists.memory()
    }
}
