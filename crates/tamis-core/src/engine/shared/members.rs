//! The members of all subscriptions: the conjunctions, or whatever else an engine indexes by itself, that a subscription
//! was expanded to.
//!
//! The first member has the subscription's number, so that a match of a subscription with one member needs no look-up of
//! its owner. Further members have numbers from [`MemberId::FURTHER`] on and are chained.

use crate::engine::SubId;
use crate::engine::shared::list_pool::shrink;
use crate::error::{Error, Result};

/// A member. Numbers of removed ones are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberId(pub u32);

impl MemberId {
    /// The first number of members that are not the first of their subscription.
    const FURTHER: u32 = 1 << 31;
    /// No member: the end of a chain.
    pub const NONE: MemberId = MemberId(u32::MAX);

    /// Whether it is not the first of its subscription, and its position in the array of such members.
    #[inline]
    pub fn position(self) -> (bool, usize) {
        (self.0 >= MemberId::FURTHER, (self.0 & !MemberId::FURTHER) as usize)
    }
}

/// A member in its chain.
#[derive(Clone, Copy, Debug)]
struct Member<T> {
    /// The next member of the same subscription, or [`MemberId::NONE`].
    next: MemberId,
    /// Its subscription; [`UNUSED`] if the number is free.
    owner: SubId,
    /// What the engine knows of it.
    value: T,
}

const UNUSED: SubId = SubId(u32::MAX);

impl<T: Default> Default for Member<T> {
    fn default() -> Member<T> {
        Member { next: MemberId::NONE, owner: UNUSED, value: T::default() }
    }
}

/// All members; `T` is what an engine knows of each.
#[derive(Debug, Default)]
pub struct Members<T> {
    /// By subscription.
    first: Vec<Member<T>>,
    /// By number, from [`MemberId::FURTHER`] on.
    further: Vec<Member<T>>,
    /// Free numbers from [`MemberId::FURTHER`] on.
    free: Vec<MemberId>,
    /// Members in use.
    count: usize,
}

impl<T: Copy + Default> Members<T> {
    /// Inserts the members of a subscription and appends their numbers to `ids`, the last member first.
    pub fn insert(
        &mut self,
        sub: SubId,
        values: impl DoubleEndedIterator<Item = T> + ExactSizeIterator,
        ids: &mut Vec<MemberId>,
    ) -> Result<()> {
        if sub.0 >= MemberId::FURTHER {
            return Err(Error::Expression("the engine is full: 2^31 subscriptions".into()));
        }
        if self.first.len() <= sub.index() {
            self.first.resize(sub.index() + 1, Member::default());
        }
        let mut next = MemberId::NONE;
        for (at, value) in values.enumerate().rev() {
            let id = if at == 0 { MemberId(sub.0) } else { self.allocate_further() };
            *self.link_mut(id) = Member { next, owner: sub, value };
            self.count += 1;
            next = id;
            ids.push(id);
        }
        Ok(())
    }

    fn allocate_further(&mut self) -> MemberId {
        self.free.pop().unwrap_or_else(|| {
            self.further.push(Member::default());
            MemberId(MemberId::FURTHER + self.further.len() as u32 - 1)
        })
    }

    /// The members of a subscription.
    pub fn of(&self, sub: SubId) -> Vec<MemberId> {
        let mut ids = Vec::new();
        let mut id = MemberId(sub.0);
        while id != MemberId::NONE && self.contains(id) && self.link(id).owner == sub {
            ids.push(id);
            id = self.link(id).next;
        }
        ids
    }

    /// Removes a member.
    pub fn remove(&mut self, id: MemberId) {
        *self.link_mut(id) = Member::default();
        self.count -= 1;
        if id.0 >= MemberId::FURTHER {
            self.free.push(id);
        }
    }

    #[inline]
    fn link(&self, id: MemberId) -> &Member<T> {
        match id.position() {
            (false, at) => &self.first[at],
            (true, at) => &self.further[at],
        }
    }

    fn link_mut(&mut self, id: MemberId) -> &mut Member<T> {
        match id.position() {
            (false, at) => &mut self.first[at],
            (true, at) => &mut self.further[at],
        }
    }

    /// What the engine knows of a member.
    #[inline]
    pub fn get(&self, id: MemberId) -> &T {
        &self.link(id).value
    }

    /// What the engine knows of a member, mutable.
    pub fn get_mut(&mut self, id: MemberId) -> &mut T {
        &mut self.link_mut(id).value
    }

    /// The subscription it belongs to.
    #[inline]
    pub fn owner(&self, id: MemberId) -> SubId {
        if id.0 < MemberId::FURTHER { SubId(id.0) } else { self.link(id).owner }
    }

    /// Whether a number is in use.
    pub fn contains(&self, id: MemberId) -> bool {
        let found = match id.position() {
            (false, at) => self.first.get(at),
            (true, at) => self.further.get(at),
        };
        found.is_some_and(|member| member.owner != UNUSED)
    }

    /// Whether its subscription has other members.
    pub fn is_one_of_several(&self, id: MemberId) -> bool {
        id.0 >= MemberId::FURTHER || self.link(id).next != MemberId::NONE
    }

    /// Every member.
    pub fn all(&self) -> impl Iterator<Item = MemberId> + '_ {
        let first = (0..self.first.len() as u32).map(MemberId);
        let further = (0..self.further.len() as u32).map(|n| MemberId(MemberId::FURTHER + n));
        first.chain(further).filter(|id| self.contains(*id))
    }

    /// What the engine knows of each number, free ones included.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> + '_ {
        self.first.iter_mut().chain(&mut self.further).map(|member| &mut member.value)
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Frees memory reserved for growth.
    pub fn defragment(&mut self) {
        shrink(&mut self.first);
        shrink(&mut self.further);
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        (self.first.capacity() + self.further.capacity()) * size_of::<Member<T>>()
            + self.free.capacity() * size_of::<MemberId>()
    }
}
