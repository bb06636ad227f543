//! The leaves of PS-Trees: one per predicate space, numbered densely across all trees that share them.

/// A predicate space. Numbers of merged spaces are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeafId(pub u32);

impl LeafId {
    /// No leaf.
    pub const NONE: LeafId = LeafId(u32::MAX);

    /// As a position in an array with one place per leaf.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What is known of a predicate space. Its bounds are the boundaries that link to it.
#[derive(Clone, Copy, Debug)]
pub struct Leaf {
    /// The neighbouring space below.
    pub previous: LeafId,
    /// The neighbouring space above.
    pub next: LeafId,
    /// How many predicates cover the space.
    pub predicates: u32,
    /// How many observed events fell into the space.
    pub events: u32,
}

impl Leaf {
    const LONE: Leaf = Leaf { previous: LeafId::NONE, next: LeafId::NONE, predicates: 0, events: 0 };
}

/// A store of leaves.
#[derive(Clone, Debug, Default)]
pub struct Leaves {
    leaves: Vec<Leaf>,
    free: Vec<LeafId>,
}

impl Leaves {
    /// A leaf without neighbours, covered by nothing.
    pub fn make(&mut self) -> LeafId {
        if let Some(id) = self.free.pop() {
            self.leaves[id.index()] = Leaf::LONE;
            return id;
        }
        let id = LeafId(self.leaves.len() as u32);
        self.leaves.push(Leaf::LONE);
        id
    }

    /// Gives a leaf's number back.
    pub fn release(&mut self, id: LeafId) {
        self.free.push(id);
    }

    /// A leaf.
    #[inline]
    pub fn get(&self, id: LeafId) -> &Leaf {
        &self.leaves[id.index()]
    }

    /// A leaf, to be changed.
    #[inline]
    pub fn get_mut(&mut self, id: LeafId) -> &mut Leaf {
        &mut self.leaves[id.index()]
    }

    /// One more than the greatest number in use.
    pub fn bound(&self) -> usize {
        self.leaves.len()
    }

    /// How many leaves there are.
    pub fn count(&self) -> usize {
        self.leaves.len() - self.free.len()
    }

    /// Makes a leaf behind `kept`, covered and visited as it is; observed events are shared evenly.
    pub(super) fn split(&mut self, kept: LeafId) -> LeafId {
        let made = self.make();
        let old = *self.get(kept);
        *self.get_mut(made) =
            Leaf { previous: kept, next: old.next, predicates: old.predicates, events: old.events / 2 };
        if old.next != LeafId::NONE {
            self.get_mut(old.next).previous = made;
        }
        let kept = self.get_mut(kept);
        kept.next = made;
        kept.events = old.events - old.events / 2;
        made
    }

    /// Lets `kept` take over the space of its next neighbour.
    pub(super) fn merge(&mut self, kept: LeafId, gone: LeafId) {
        let Leaf { next, events, .. } = *self.get(gone);
        let leaf = self.get_mut(kept);
        leaf.next = next;
        leaf.events = leaf.events.saturating_add(events);
        if next != LeafId::NONE {
            self.get_mut(next).previous = kept;
        }
        self.release(gone);
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        self.leaves.capacity() * size_of::<Leaf>() + self.free.capacity() * size_of::<LeafId>()
    }
}
