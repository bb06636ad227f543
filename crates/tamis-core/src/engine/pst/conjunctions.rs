//! The conjunctions of all subscriptions, as lists of distinct predicates.
//!
//! The first conjunction of a subscription has the subscription's number, so that a match of the common kind, a
//! subscription that is one conjunction, needs no look-up to name it. Further ones, from disjunctions, have numbers
//! from [`ConjId::FURTHER`] on.

use crate::engine::SubId;
use crate::engine::shared::list_pool::{ListPool, ListRef};
use crate::engine::shared::predicates::{PredId, Predicates};
use crate::error::{Error, Result};
use crate::expr::Normal;

/// A conjunction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ConjId(pub u32);

impl ConjId {
    /// The first number of conjunctions that are not the first of their subscription.
    const FURTHER: u32 = 1 << 31;
    const NONE: ConjId = ConjId(u32::MAX);

    /// Whether it is not the first of its subscription, and its place among those that are or are not.
    #[inline]
    pub fn position(self) -> (bool, usize) {
        (self.0 >= ConjId::FURTHER, (self.0 & !ConjId::FURTHER) as usize)
    }
}

/// A conjunction and how it was placed. The access predicates come first in its list, the signed ones next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conjunction {
    predicates: ListRef,
    /// Another one of the same subscription.
    next: ConjId,
    pub owner: SubId,
    /// How many of its predicates are access predicates.
    pub access: u8,
    /// Bit `i`: access predicate `i` is spread over the spaces it covers; otherwise it leads through the leaf of its
    /// whole dimension.
    pub spread: u8,
    /// How many predicates behind the access predicates are in signatures.
    pub signed: u32,
    /// In how many lists its record is.
    pub copies: u32,
    /// How often splits have spread it too far. After the first time only predicates that accept single values are
    /// spread, after the second none: so placing it anew comes to an end.
    pub crowded: u8,
}

const FREE: Conjunction = Conjunction {
    predicates: ListRef::EMPTY,
    next: ConjId::NONE,
    owner: SubId(u32::MAX),
    access: 0,
    spread: 0,
    signed: 0,
    copies: 0,
    crowded: 0,
};

#[derive(Debug, Default)]
pub(super) struct Conjunctions {
    /// By subscription.
    first: Vec<Conjunction>,
    /// By number, from [`ConjId::FURTHER`] on.
    further: Vec<Conjunction>,
    free: Vec<ConjId>,
    lists: ListPool<u32, 1>,
    count: usize,
}

impl Conjunctions {
    /// Takes the conjunctions of a subscription; the predicates are counted as used.
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
            self.first.resize(sub.index() + 1, FREE);
        }
        let mut next = ConjId::NONE;
        for (at, conjunction) in dnf.into_iter().enumerate().rev() {
            let id = if at == 0 { ConjId(sub.0) } else { self.further_place() };
            let mut list = ListRef::default();
            let numbers: Vec<u32> =
                conjunction.into_iter().map(|predicate| predicates.take(predicate).0).collect();
            self.lists.extend(&mut list, &numbers);
            *self.get_mut(id) = Conjunction { predicates: list, next, owner: sub, ..FREE };
            self.count += 1;
            next = id;
            ids.push(id);
        }
        Ok(())
    }

    fn further_place(&mut self) -> ConjId {
        self.free.pop().unwrap_or_else(|| {
            self.further.push(FREE);
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

    /// Forgets a conjunction and gives its predicates back.
    pub fn remove(&mut self, id: ConjId, predicates: &mut Predicates) {
        let list = self.get(id).predicates;
        self.lists.get(list).iter().for_each(|&predicate| predicates.give_back(PredId(predicate)));
        self.lists.release(list);
        *self.get_mut(id) = FREE;
        self.count -= 1;
        if id.0 >= ConjId::FURTHER {
            self.free.push(id);
        }
    }

    #[inline]
    pub fn get(&self, id: ConjId) -> &Conjunction {
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

    pub fn get_mut(&mut self, id: ConjId) -> &mut Conjunction {
        match id.position() {
            (false, at) => &mut self.first[at],
            (true, at) => &mut self.further[at],
        }
    }

    /// Whether a number stands for a conjunction now.
    pub fn contains(&self, id: ConjId) -> bool {
        let place = match id.position() {
            (false, at) => self.first.get(at),
            (true, at) => self.further.get(at),
        };
        place.is_some_and(|conjunction| conjunction.owner != FREE.owner)
    }

    /// Whether its subscription has others.
    pub fn is_one_of_several(&self, id: ConjId) -> bool {
        id.0 >= ConjId::FURTHER || self.get(id).next != ConjId::NONE
    }

    /// The predicates of a conjunction.
    #[inline]
    pub fn predicates(&self, id: ConjId) -> impl ExactSizeIterator<Item = PredId> + '_ {
        self.lists.get(self.get(id).predicates).iter().map(|&predicate| PredId(predicate))
    }

    /// Puts the predicates of a conjunction into another order.
    pub fn reorder(&mut self, id: ConjId, order: impl Iterator<Item = PredId>) {
        let list = self.get(id).predicates;
        self.lists.get_mut(list).iter_mut().zip(order).for_each(|(place, predicate)| *place = predicate.0);
    }

    /// Every conjunction.
    pub fn all(&self) -> impl Iterator<Item = ConjId> + '_ {
        let first = (0..self.first.len() as u32).map(ConjId);
        let further = (0..self.further.len() as u32).map(|n| ConjId(ConjId::FURTHER + n));
        first.chain(further).filter(|id| self.contains(*id))
    }

    pub fn len(&self) -> usize {
        self.count
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        (self.first.capacity() + self.further.capacity()) * size_of::<Conjunction>()
            + self.free.capacity() * size_of::<ConjId>()
            + self.lists.memory()
    }
}
