//! The leaves of PS-Trees: one per predicate space, numbered densely across all trees that share a [`Leaves`].

/// The number of a predicate space. Numbers of merged spaces are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeafId(pub u32);

impl LeafId {
    /// No leaf.
    pub const NONE: LeafId = LeafId(u32::MAX);

    /// Position in an array with one entry per leaf.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A predicate space. Its ends are the cuts of the bounds that link to it.
#[derive(Clone, Copy, Debug)]
pub struct Leaf {
    /// The adjacent space below; [`LeafId::NONE`] for the lowest.
    pub previous: LeafId,
    /// The adjacent space above; [`LeafId::NONE`] for the highest.
    pub next: LeafId,
    /// Number of observed events with a value in the space (the paper's event counter); saturating.
    pub events: u32,
}

impl Leaf {
    const UNLINKED: Leaf = Leaf { previous: LeafId::NONE, next: LeafId::NONE, events: 0 };
}

/// The leaves of one or several trees.
#[derive(Clone, Debug, Default)]
pub struct Leaves {
    /// By [`LeafId`]; entries of unused numbers are stale.
    leaves: Vec<Leaf>,
    /// By [`LeafId`]: number of predicates that cover the space (the paper's predicate counter). A separate array,
    /// because counting a predicate over many spaces reads nothing else but `next`.
    predicates: Vec<u32>,
    /// Number of leaves in use.
    live: usize,
}

/// Unused leaf numbers reserved for one tree. The leaves of a tree are visited together, so their numbers are
/// contiguous where possible.
#[derive(Clone, Debug, Default)]
pub(super) struct LeafNumberPool {
    /// Numbers to hand out, the next one last.
    numbers: Vec<LeafId>,
    /// Numbers reserved so far, in use or not.
    reserved: u32,
}

impl LeafNumberPool {
    /// Largest reservation: 4,096 numbers.
    const MAX_RESERVATION: u32 = 1 << 12;

    /// An unused number. Reservations double in size, up to the largest.
    fn take(&mut self, leaves: &mut Leaves) -> LeafId {
        if let Some(id) = self.numbers.pop() {
            return id;
        }
        let start = leaves.leaves.len() as u32;
        let count = self.reserved.clamp(1, LeafNumberPool::MAX_RESERVATION);
        self.reserved += count;
        leaves.leaves.resize((start + count) as usize, Leaf::UNLINKED);
        leaves.predicates.resize((start + count) as usize, 0);
        self.numbers.extend((start + 1..start + count).rev().map(LeafId));
        LeafId(start)
    }

    pub fn memory(&self) -> usize {
        self.numbers.capacity() * size_of::<LeafId>()
    }
}

impl Leaves {
    /// A leaf without neighbours that no predicate covers, outside any tree.
    pub fn make(&mut self) -> LeafId {
        self.make_in(&mut LeafNumberPool::default())
    }

    /// As [`Leaves::make`], numbered from a tree's pool.
    pub(super) fn make_in(&mut self, pool: &mut LeafNumberPool) -> LeafId {
        let id = pool.take(self);
        self.leaves[id.index()] = Leaf::UNLINKED;
        self.predicates[id.index()] = 0;
        self.live += 1;
        id
    }

    /// A leaf.
    #[inline]
    pub fn get(&self, id: LeafId) -> &Leaf {
        &self.leaves[id.index()]
    }

    /// A leaf, mutable.
    #[inline]
    pub fn get_mut(&mut self, id: LeafId) -> &mut Leaf {
        &mut self.leaves[id.index()]
    }

    /// Visits the leaves from `first` up to `last`, both included.
    pub fn between(&self, (first, last): (LeafId, LeafId), mut visit: impl FnMut(LeafId)) {
        let mut leaf = first;
        visit(leaf);
        while leaf != last {
            leaf = self.get(leaf).next;
            visit(leaf);
        }
    }

    /// Number of predicates that cover a leaf.
    #[inline]
    pub fn predicates(&self, id: LeafId) -> u32 {
        self.predicates[id.index()]
    }

    /// Increments the predicate counter of a leaf.
    pub fn cover(&mut self, id: LeafId) {
        self.predicates[id.index()] += 1;
    }

    /// Decrements the predicate counter of a leaf.
    pub fn uncover(&mut self, id: LeafId) {
        self.predicates[id.index()] -= 1;
    }

    /// Adds `by` to the predicate counters of the leaves from `first` up to `last`, both included.
    pub(super) fn cover_between(&mut self, (first, last): (LeafId, LeafId), by: i32) {
        let mut leaf = first;
        loop {
            let count = &mut self.predicates[leaf.index()];
            *count = count.wrapping_add_signed(by);
            if leaf == last {
                return;
            }
            leaf = self.leaves[leaf.index()].next;
        }
    }

    /// One more than the highest leaf number: the length of an array with one entry per leaf.
    pub fn bound(&self) -> usize {
        self.leaves.len()
    }

    /// Number of leaves in use.
    pub fn count(&self) -> usize {
        self.live
    }

    /// Makes a leaf above `kept` with the same predicate counter; each of the two gets half of the observed events.
    pub(super) fn split(&mut self, kept: LeafId, pool: &mut LeafNumberPool) -> LeafId {
        let made = self.make_in(pool);
        let old = *self.get(kept);
        *self.get_mut(made) = Leaf { previous: kept, next: old.next, events: old.events / 2 };
        self.predicates[made.index()] = self.predicates[kept.index()];
        if old.next != LeafId::NONE {
            self.get_mut(old.next).previous = made;
        }
        let kept = self.get_mut(kept);
        kept.next = made;
        kept.events = old.events - old.events / 2;
        made
    }

    /// Extends `kept` by the space of `gone`, its neighbour above, and returns the number of `gone` to the pool.
    pub(super) fn merge(&mut self, kept: LeafId, gone: LeafId, pool: &mut LeafNumberPool) {
        let Leaf { next, events, .. } = *self.get(gone);
        let leaf = self.get_mut(kept);
        leaf.next = next;
        leaf.events = leaf.events.saturating_add(events);
        if next != LeafId::NONE {
            self.get_mut(next).previous = kept;
        }
        pool.numbers.push(gone);
        self.live -= 1;
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        self.leaves.capacity() * size_of::<Leaf>() + self.predicates.capacity() * size_of::<u32>()
    }
}
