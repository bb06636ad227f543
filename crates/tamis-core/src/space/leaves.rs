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
    /// How many observed events fell into the space.
    pub events: u32,
}

impl Leaf {
    const LONE: Leaf = Leaf { previous: LeafId::NONE, next: LeafId::NONE, events: 0 };
}

/// A store of leaves.
#[derive(Clone, Debug, Default)]
pub struct Leaves {
    leaves: Vec<Leaf>,
    /// By leaf: how many predicates cover the space. All that counting needs, so it lies by itself.
    predicates: Vec<u32>,
    /// How many of them stand for a space.
    live: usize,
}

/// Numbers that one tree has to itself. The leaves of a tree are visited together, so they lie together.
#[derive(Clone, Debug, Default)]
pub(super) struct Spare {
    numbers: Vec<LeafId>,
    /// How many numbers the tree was given in all.
    given: u32,
}

impl Spare {
    /// At most so many numbers at once.
    const MOST: u32 = 1 << 12;

    /// A number to use, among more and more neighbouring ones.
    fn take(&mut self, leaves: &mut Leaves) -> LeafId {
        if let Some(id) = self.numbers.pop() {
            return id;
        }
        let start = leaves.leaves.len() as u32;
        let count = self.given.clamp(1, Spare::MOST);
        self.given += count;
        leaves.leaves.resize((start + count) as usize, Leaf::LONE);
        leaves.predicates.resize((start + count) as usize, 0);
        self.numbers.extend((start + 1..start + count).rev().map(LeafId));
        LeafId(start)
    }

    pub fn memory(&self) -> usize {
        self.numbers.capacity() * size_of::<LeafId>()
    }
}

impl Leaves {
    /// A leaf without neighbours, covered by nothing.
    pub fn make(&mut self) -> LeafId {
        self.make_in(&mut Spare::default())
    }

    /// The same with a number of a tree.
    pub(super) fn make_in(&mut self, spare: &mut Spare) -> LeafId {
        let id = spare.take(self);
        self.leaves[id.index()] = Leaf::LONE;
        self.predicates[id.index()] = 0;
        self.live += 1;
        id
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

    /// The leaves from one to another above it, both included.
    pub fn between(&self, (first, last): (LeafId, LeafId), mut each: impl FnMut(LeafId)) {
        let mut at = first;
        each(at);
        while at != last {
            at = self.get(at).next;
            each(at);
        }
    }

    /// How many predicates cover a leaf.
    #[inline]
    pub fn predicates(&self, id: LeafId) -> u32 {
        self.predicates[id.index()]
    }

    /// Counts one more predicate that covers a leaf.
    pub fn cover(&mut self, id: LeafId) {
        self.predicates[id.index()] += 1;
    }

    /// Counts one predicate less.
    pub fn uncover(&mut self, id: LeafId) {
        self.predicates[id.index()] -= 1;
    }

    /// Counts a predicate that covers the leaves from one to another above it, both included.
    pub(super) fn cover_between(&mut self, (first, last): (LeafId, LeafId), by: i32) {
        let mut at = first;
        loop {
            let count = &mut self.predicates[at.index()];
            *count = count.wrapping_add_signed(by);
            if at == last {
                return;
            }
            at = self.leaves[at.index()].next;
        }
    }

    /// One more than the greatest number in use.
    pub fn bound(&self) -> usize {
        self.leaves.len()
    }

    /// How many leaves there are.
    pub fn count(&self) -> usize {
        self.live
    }

    /// Makes a leaf behind `kept`, covered and visited as it is; observed events are shared evenly.
    pub(super) fn split(&mut self, kept: LeafId, spare: &mut Spare) -> LeafId {
        let made = self.make_in(spare);
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

    /// Lets `kept` take over the space of its next neighbour.
    pub(super) fn merge(&mut self, kept: LeafId, gone: LeafId, spare: &mut Spare) {
        let Leaf { next, events, .. } = *self.get(gone);
        let leaf = self.get_mut(kept);
        leaf.next = next;
        leaf.events = leaf.events.saturating_add(events);
        if next != LeafId::NONE {
            self.get_mut(next).previous = kept;
        }
        spare.numbers.push(gone);
        self.live -= 1;
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        self.leaves.capacity() * size_of::<Leaf>() + self.predicates.capacity() * size_of::<u32>()
    }
}
