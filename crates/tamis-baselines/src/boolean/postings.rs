//! Posting lists: by predicate, the subscriptions it stands in, with what an engine needs to know of the place.
//!
//! Invariant: a list ascends by subscription, so that a subscription is found by binary search and events read
//! per-subscription arrays in ascending order. A predicate that stands in several leaves of a subscription has one posting
//! for each.
//! Cost: insertion under the greatest number O(1), other updates O(list), as a move of memory.

use tamis_core::engine::SubId;
use tamis_core::engine::shared::list_pool::{ListPool, ListRef, shrink};

/// A subscription in a list.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Posting<L> {
    /// The subscription's number.
    subscription: u32,
    /// What the engine keeps of the leaf.
    pub leaf: L,
}

impl<L> Posting<L> {
    #[inline]
    pub fn subscription(&self) -> SubId {
        SubId(self.subscription)
    }
}

/// See the module's head; `L` is what an engine keeps of a leaf.
#[derive(Debug, Default)]
pub(super) struct Postings<L> {
    /// By the number of a list: that of a predicate, or of a root of a diagram.
    lists: Vec<ListRef>,
    /// The items of `lists`.
    items: ListPool<Posting<L>, 2>,
    /// Postings in all lists.
    len: usize,
}

impl<L: Copy + Default> Postings<L> {
    /// Inserts a posting.
    pub fn insert(&mut self, list: usize, subscription: SubId, leaf: L) {
        if self.lists.len() <= list {
            self.lists.resize(list + 1, ListRef::EMPTY);
        }
        let list = &mut self.lists[list];
        self.items.extend(list, &[Posting { subscription: subscription.0, leaf }]);
        let items = self.items.get_mut(*list);
        let last = items.len() - 1;
        if last > 0 && items[last - 1].subscription > subscription.0 {
            let at = items[..last].partition_point(|other| other.subscription <= subscription.0);
            items[at..].rotate_right(1);
        }
        self.len += 1;
    }

    /// Removes all postings of a subscription from a list; none if they were removed before.
    pub fn remove(&mut self, list: usize, subscription: SubId) {
        let list = &mut self.lists[list];
        let items = self.items.get(*list);
        let at = items.partition_point(|other| other.subscription < subscription.0);
        let count = items[at..].iter().take_while(|other| other.subscription == subscription.0).count();
        if count > 0 {
            self.items.remove_range(list, at, count);
            self.len -= count;
        }
    }

    /// The postings of a list.
    #[inline]
    pub fn get(&self, list: usize) -> &[Posting<L>] {
        self.lists.get(list).map_or(&[], |list| self.items.get(*list))
    }

    /// Every posting, with the number of its list.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Posting<L>)> {
        let lists = 0..self.lists.len();
        lists.flat_map(|list| self.get(list).iter().map(move |posting| (list, posting)))
    }

    /// Number of postings.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Checks the order of the lists and their lengths.
    pub fn validate(&self) -> Result<(), String> {
        for (at, list) in self.lists.iter().enumerate() {
            if !self.items.get(*list).is_sorted_by_key(|posting| posting.subscription) {
                return Err(format!("postings: list {at} does not ascend"));
            }
        }
        let found: usize = self.lists.iter().map(|list| list.len()).sum();
        if found != self.len {
            return Err(format!("postings: {found} in lists, {} counted", self.len));
        }
        Ok(())
    }

    /// Moves lists together and frees memory reserved for growth.
    pub fn defragment(&mut self) {
        shrink(&mut self.lists);
        self.items.defragment(self.lists.iter_mut());
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        self.lists.capacity() * size_of::<ListRef>() + self.items.memory()
    }
}
