//! The nodes of the tree and the links between them.
//!
//! An inner node stands for a set of expressions joined by AND or OR, its *members*. Its children are how the set is
//! put together: members themselves, and nodes of the same operator that stand for a part of the set. So what a node
//! means is found by opening children of its own operator, and no member is of that operator.

use crate::engine::SubId;
use crate::engine::shared::list_pool::{ListPool, ListRef, shrink};
use crate::engine::shared::predicates::PredId;
use hashbrown::HashTable;

/// A node's place. Places of removed nodes are used again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NodeId(pub u32);

impl NodeId {
    pub const NONE: NodeId = NodeId(u32::MAX);

    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Part {
    /// No node.
    Free,
    /// A predicate: an l-node.
    Predicate,
    And,
    Or,
}

/// Whose expression a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Subs(u32);

/// Greater numbers of subscriptions would look like places of lists.
pub(super) const MOST_SUBSCRIPTIONS: u32 = Subs::MANY - 1;

impl Subs {
    pub const NONE: Subs = Subs(u32::MAX);
    /// Set where several subscriptions share the node; then the rest is the place of their list.
    const MANY: u32 = 1 << 31;

    pub fn is_none(self) -> bool {
        self == Subs::NONE
    }
}

/// What matching needs to know of a node: half a cache line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub part: Part,
    /// Whether some child has the same operator, so that members are below it.
    pub composed: bool,
    /// One more than the highest level among its children; 1 for predicates.
    pub level: u16,
    /// How many of its parents, the first ones, are told when the node is satisfied.
    pub active: u32,
    pub subs: Subs,
    /// A predicate's number; for inner nodes the member under which it is kept in [`Making::anchored`].
    pub own: u32,
    pub parents: ListRef,
    /// The access child comes first.
    pub children: ListRef,
}

/// What only changes need to know of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Making {
    /// Of the members.
    pub hash: u32,
    /// How many members; for a predicate, in how many leaves it is listed.
    pub size: u32,
    /// How many subscriptions and expressions have the node as a member.
    pub uses: u32,
    /// How likely the node is satisfied.
    pub weight: f32,
    /// Inner nodes that have this node among their members; each is kept with only one of its members.
    pub anchored: ListRef,
}

/// An inner node, with a summary of its members.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Anchored {
    pub node: NodeId,
    /// A bit for each member, many members to a bit.
    pub signature: u32,
}

/// All nodes.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
    making: Vec<Making>,
    free: Vec<NodeId>,
    /// Parents and children.
    pub links: ListPool<NodeId, 2>,
    pub anchors: ListPool<Anchored, 1>,
    /// Inner nodes by their members.
    pub table: HashTable<NodeId>,
    /// Where several subscriptions share a node.
    shared: Vec<Vec<SubId>>,
    free_shared: Vec<u32>,
    /// How many child links there are.
    pub link_count: usize,
    /// By level: how many nodes it has. The last one has some.
    levels: Vec<u32>,
}

/// No node.
pub(super) const FREE: Node = Node {
    part: Part::Free,
    composed: false,
    level: 0,
    active: 0,
    subs: Subs::NONE,
    own: u32::MAX,
    parents: ListRef::EMPTY,
    children: ListRef::EMPTY,
};

impl Nodes {
    pub fn add(&mut self, part: Part, own: u32) -> NodeId {
        let node = Node { part, level: 1, own, ..FREE };
        let making = Making { hash: 0, size: 0, uses: 0, weight: 1.0, anchored: ListRef::EMPTY };
        self.count_level(1);
        match self.free.pop() {
            Some(id) => {
                self.nodes[id.index()] = node;
                self.making[id.index()] = making;
                id
            }
            None => {
                self.nodes.push(node);
                self.making.push(making);
                NodeId(self.nodes.len() as u32 - 1)
            }
        }
    }

    /// Frees the place of a node without links.
    pub fn forget(&mut self, id: NodeId) {
        let (node, making) = (self.nodes[id.index()], self.making[id.index()]);
        self.links.release(node.parents);
        self.links.release(node.children);
        self.anchors.release(making.anchored);
        self.discount_level(node.level);
        self.nodes[id.index()] = FREE;
        self.making[id.index()].anchored = ListRef::EMPTY;
        self.free.push(id);
    }

    fn count_level(&mut self, level: u16) {
        let level = usize::from(level);
        if self.levels.len() <= level {
            self.levels.resize(level + 1, 0);
        }
        self.levels[level] += 1;
    }

    fn discount_level(&mut self, level: u16) {
        self.levels[usize::from(level)] -= 1;
        while self.levels.last() == Some(&0) {
            self.levels.pop();
        }
    }

    pub fn set_level(&mut self, id: NodeId, level: u16) {
        let old = std::mem::replace(&mut self.nodes[id.index()].level, level);
        self.count_level(level);
        self.discount_level(old);
    }

    /// One more than the highest level of a node.
    #[inline]
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    #[inline]
    pub fn get(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    pub fn making(&self, id: NodeId) -> &Making {
        &self.making[id.index()]
    }

    pub fn making_mut(&mut self, id: NodeId) -> &mut Making {
        &mut self.making[id.index()]
    }

    #[inline]
    pub fn children(&self, id: NodeId) -> &[NodeId] {
        self.links.get(self.nodes[id.index()].children)
    }

    pub fn parents(&self, id: NodeId) -> &[NodeId] {
        self.links.get(self.nodes[id.index()].parents)
    }

    pub fn predicate(&self, id: NodeId) -> PredId {
        PredId(self.nodes[id.index()].own)
    }

    /// All nodes in use.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        (0..).map(NodeId).zip(&self.nodes).filter(|(_, node)| node.part != Part::Free)
    }

    /// One more than the greatest number in use.
    #[inline]
    pub fn bound(&self) -> usize {
        self.nodes.len()
    }

    pub fn len(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    /// Visits the members of an inner node, some perhaps more than once, until `each` says no. True if it never did.
    pub fn all_members(&self, id: NodeId, each: &mut impl FnMut(NodeId) -> bool) -> bool {
        let Node { part, composed, .. } = *self.get(id);
        // Nodes of one operator are nested no deeper than `HIGHEST_COVER`.
        self.children(id).iter().all(|&child| {
            if composed && self.get(child).part == part { self.all_members(child, each) } else { each(child) }
        })
    }

    /// Appends the members of an inner node, each once.
    pub fn members(&self, id: NodeId, found: &mut Vec<NodeId>) {
        let start = found.len();
        self.all_members(id, &mut |member| {
            found.push(member);
            true
        });
        let mut own = found.split_off(start);
        own.sort_unstable();
        own.dedup();
        found.extend(own);
    }

    /// Links a parent to a child; an active link is followed when the child is satisfied.
    pub fn add_parent(&mut self, child: NodeId, parent: NodeId, active: bool) {
        let node = &mut self.nodes[child.index()];
        self.links.extend(&mut node.parents, &[parent]);
        if active {
            let last = node.parents.len() - 1;
            self.links.get_mut(node.parents).swap(node.active as usize, last);
            node.active += 1;
        }
    }

    /// Takes a parent's link from a child.
    pub fn remove_parent(&mut self, child: NodeId, parent: NodeId, active: bool) {
        if active {
            self.deactivate(child, parent);
        }
        let node = &mut self.nodes[child.index()];
        if let Some(at) = self.links.get(node.parents).iter().rposition(|other| *other == parent) {
            self.links.swap_remove(&mut node.parents, at);
        }
    }

    /// Makes a link one that is followed.
    pub fn activate(&mut self, child: NodeId, parent: NodeId) {
        let node = &mut self.nodes[child.index()];
        let (parents, active) = (self.links.get_mut(node.parents), node.active as usize);
        if let Some(at) = parents[active..].iter().rposition(|other| *other == parent) {
            parents.swap(active, active + at);
            node.active += 1;
        }
    }

    /// Makes a link one that is not followed, the last one, where it is found first.
    pub fn deactivate(&mut self, child: NodeId, parent: NodeId) {
        let node = &mut self.nodes[child.index()];
        let parents = self.links.get_mut(node.parents);
        let followed = &parents[..node.active as usize];
        if let Some(at) = followed.iter().rposition(|other| *other == parent) {
            node.active -= 1;
            parents.swap(at, node.active as usize);
            let last = parents.len() - 1;
            parents.swap(node.active as usize, last);
        }
    }

    /// Forgets all links to parents.
    pub fn clear_parents(&mut self, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        self.links.release(node.parents);
        (node.parents, node.active) = (ListRef::EMPTY, 0);
    }

    /// Sorts links to parents into those that are followed and those that are not.
    pub fn part_parents(&mut self, id: NodeId, is_active: impl Fn(&Nodes, NodeId) -> bool) {
        let (mut parents, others): (Vec<NodeId>, Vec<NodeId>) =
            self.parents(id).iter().partition(|parent| is_active(self, **parent));
        let node = &mut self.nodes[id.index()];
        node.active = parents.len() as u32;
        parents.extend(others);
        self.links.get_mut(node.parents).copy_from_slice(&parents);
    }

    /// Replaces the children of a node; links back are the caller's.
    pub fn set_children(&mut self, id: NodeId, children: &[NodeId]) {
        let part = self.nodes[id.index()].part;
        let composed = children.iter().any(|child| self.nodes[child.index()].part == part);
        let node = &mut self.nodes[id.index()];
        node.composed = composed;
        self.link_count = self.link_count + children.len() - node.children.len();
        if node.children.len() == children.len() {
            self.links.get_mut(node.children).copy_from_slice(children);
        } else {
            self.links.release(node.children);
            node.children = ListRef::EMPTY;
            self.links.extend(&mut node.children, children);
        }
    }

    /// Lets a node be found by its members.
    pub fn enter(&mut self, id: NodeId) {
        let making = &self.making;
        let hash = |id: &NodeId| spread(making[id.index()].hash);
        self.table.insert_unique(hash(&id), id, hash);
    }

    /// Notes whose expression a node is.
    pub fn add_sub(&mut self, id: NodeId, sub: SubId) {
        let node = &mut self.nodes[id.index()];
        match node.subs {
            Subs::NONE => node.subs = Subs(sub.0),
            Subs(many) if many & Subs::MANY != 0 => self.shared[(many ^ Subs::MANY) as usize].push(sub),
            Subs(first) => {
                let list = vec![SubId(first), sub];
                let place = match self.free_shared.pop() {
                    Some(place) => {
                        self.shared[place as usize] = list;
                        place
                    }
                    None => {
                        self.shared.push(list);
                        self.shared.len() as u32 - 1
                    }
                };
                node.subs = Subs(place | Subs::MANY);
            }
        }
    }

    pub fn remove_sub(&mut self, id: NodeId, sub: SubId) {
        let node = &mut self.nodes[id.index()];
        let Subs(many) = node.subs;
        if many & Subs::MANY == 0 {
            node.subs = Subs::NONE;
            return;
        }
        let place = (many ^ Subs::MANY) as usize;
        let list = &mut self.shared[place];
        if let Some(at) = list.iter().rposition(|other| *other == sub) {
            list.swap_remove(at);
        }
        if let [last] = list.as_slice() {
            node.subs = Subs(last.0);
            *list = Vec::new();
            self.free_shared.push(place as u32);
        }
    }

    /// Appends the subscriptions of a node.
    #[inline]
    pub fn append_subs(&self, subs: Subs, matches: &mut Vec<SubId>) {
        match subs {
            Subs::NONE => {}
            Subs(many) if many & Subs::MANY != 0 => {
                matches.extend_from_slice(&self.shared[(many ^ Subs::MANY) as usize]);
            }
            Subs(single) => matches.push(SubId(single)),
        }
    }

    /// Moves lists together and frees memory reserved for growth.
    pub fn defragment(&mut self) {
        shrink(&mut self.nodes);
        shrink(&mut self.making);
        self.links.defragment(self.nodes.iter_mut().flat_map(|node| [&mut node.children, &mut node.parents]));
        self.anchors.defragment(self.making.iter_mut().map(|making| &mut making.anchored));
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        let shared: usize = self.shared.iter().map(|list| list.capacity() * size_of::<SubId>()).sum();
        self.nodes.capacity() * (size_of::<Node>() + size_of::<Making>())
            + (self.free.capacity() + self.free_shared.capacity()) * size_of::<u32>()
            + self.links.memory()
            + self.anchors.memory()
            + self.table.capacity() * (size_of::<NodeId>() + 1)
            + self.shared.capacity() * size_of::<Vec<SubId>>()
            + shared
    }
}

/// A hash table looks at the upper bits.
pub(super) fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
