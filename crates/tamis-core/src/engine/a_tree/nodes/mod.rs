//! The nodes of the tree: l-nodes for predicates, inner nodes (the paper's i-nodes and r-nodes) for ANDs and ORs.
//!
//! An inner node is an AND or OR of a set of *child expressions*. Its *child nodes* represent that set: child expressions
//! themselves, and nodes of the same connective whose child expressions are a subset. So the child expressions of a node
//! are found by descending through child nodes of its own connective, and no child expression has that connective.

mod links;
mod subscriptions;

pub(super) use links::ParentLink;
pub(super) use subscriptions::{MAX_SUBSCRIPTIONS, NodeSubscriptions};

use crate::engine::SubId;
use crate::engine::shared::list_pool::{ListPool, ListRef, shrink};
use crate::engine::shared::predicates::{LeafCounts, PredId, PredicateKey};
use hashbrown::HashTable;

/// The number of a node. Numbers of removed nodes are reused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct TreeNodeId(pub u32);

impl TreeNodeId {
    /// No node.
    pub const NONE: TreeNodeId = TreeNodeId(u32::MAX);

    /// Position in an array with one entry per node.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl PredicateKey for TreeNodeId {
    fn from_number(number: u32) -> TreeNodeId {
        TreeNodeId(number)
    }

    fn number(self) -> u32 {
        self.0
    }
}

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum NodeKind {
    /// An unused number.
    Free,
    /// A predicate: an l-node.
    Predicate,
    /// An inner node.
    And,
    /// An inner node.
    Or,
}

/// What matching reads of a node: 32 bytes, half a cache line.
#[derive(Clone, Copy, Debug)]
pub(super) struct TreeNode {
    pub kind: NodeKind,
    /// Whether a child node has the same connective, so that some child expressions are below it.
    pub has_same_kind_child: bool,
    /// 1 for l-nodes; 1 more than the highest level of the child nodes for inner nodes.
    pub level: u16,
    /// Number of parents, at the front of `parents`, that the result is propagated to.
    pub propagated: u32,
    /// The subscriptions whose expression is this node; any makes it an r-node.
    pub subscriptions: NodeSubscriptions,
    /// The number of the predicate for an l-node; the anchor for an inner node (see [`NodeConstruction::reusable`]).
    predicate_or_anchor: u32,
    /// Parents with a [`ParentLink::Propagated`] first.
    pub parents: ListRef,
    /// Child nodes; the access child first.
    pub children: ListRef,
}

impl TreeNode {
    /// An unused number.
    pub const FREE: TreeNode = TreeNode {
        kind: NodeKind::Free,
        has_same_kind_child: false,
        level: 0,
        propagated: 0,
        subscriptions: NodeSubscriptions::NONE,
        predicate_or_anchor: u32::MAX,
        parents: ListRef::EMPTY,
        children: ListRef::EMPTY,
    };
}

/// What only index construction reads of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeConstruction {
    /// Hash of the child expressions; 0 for an l-node.
    pub hash: u32,
    /// Number of child expressions; for an l-node, number of leaves that list its predicate.
    pub size: u32,
    /// Number of subscriptions with this expression and of nodes with this child expression (the paper's useCount).
    pub use_count: u32,
    /// Estimated probability that an event satisfies the node.
    pub probability: f32,
    /// Candidates for reorganization: inner nodes with this node as a child expression. An inner node is in the list of
    /// one of its child expressions, its *anchor*: the one with the shortest list at the time.
    pub reusable: ListRef,
}

/// An inner node that may represent several child expressions of another.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReuseCandidate {
    pub node: TreeNodeId,
    /// Bloom signature of its child expressions: one of 32 bits each.
    pub signature: u32,
}

/// All nodes.
#[derive(Debug, Default)]
pub(super) struct NodeStore {
    /// By [`TreeNodeId`].
    nodes: Vec<TreeNode>,
    /// By [`TreeNodeId`].
    construction: Vec<NodeConstruction>,
    /// Unused numbers.
    free: Vec<TreeNodeId>,
    /// The lists of parents and of child nodes.
    pub links: ListPool<TreeNodeId, 2>,
    /// The lists of [`NodeConstruction::reusable`].
    pub reuse_candidates: ListPool<ReuseCandidate, 1>,
    /// Inner nodes by the hash of their child expressions (the paper's expression-to-node hash table, H_en).
    pub expr_to_node: HashTable<TreeNodeId>,
    /// Lists of subscriptions, for nodes with several.
    subscription_lists: Vec<Vec<SubId>>,
    /// Unused positions of `subscription_lists`.
    free_lists: Vec<u32>,
    /// Number of links to child nodes.
    pub link_count: usize,
    /// By level: number of nodes. The last entry is not 0.
    level_sizes: Vec<u32>,
}

impl NodeStore {
    /// A node without links.
    fn add(&mut self, kind: NodeKind, predicate_or_anchor: u32) -> TreeNodeId {
        let node = TreeNode { kind, level: 1, predicate_or_anchor, ..TreeNode::FREE };
        let construction =
            NodeConstruction { hash: 0, size: 0, use_count: 0, probability: 1.0, reusable: ListRef::EMPTY };
        self.count_level(1);
        match self.free.pop() {
            Some(id) => {
                self.nodes[id.index()] = node;
                self.construction[id.index()] = construction;
                id
            }
            None => {
                self.nodes.push(node);
                self.construction.push(construction);
                TreeNodeId(self.nodes.len() as u32 - 1)
            }
        }
    }

    /// An l-node.
    pub fn add_predicate(&mut self, predicate: PredId) -> TreeNodeId {
        self.add(NodeKind::Predicate, predicate.0)
    }

    /// An inner node without child nodes.
    pub fn add_inner(&mut self, kind: NodeKind, anchor: TreeNodeId) -> TreeNodeId {
        self.add(kind, anchor.0)
    }

    /// Frees the number of a node without links.
    pub fn remove(&mut self, id: TreeNodeId) {
        let (node, construction) = (self.nodes[id.index()], self.construction[id.index()]);
        self.links.release(node.parents);
        self.links.release(node.children);
        self.reuse_candidates.release(construction.reusable);
        self.discount_level(node.level);
        self.nodes[id.index()] = TreeNode::FREE;
        self.construction[id.index()].reusable = ListRef::EMPTY;
        self.free.push(id);
    }

    fn count_level(&mut self, level: u16) {
        let level = usize::from(level);
        if self.level_sizes.len() <= level {
            self.level_sizes.resize(level + 1, 0);
        }
        self.level_sizes[level] += 1;
    }

    fn discount_level(&mut self, level: u16) {
        self.level_sizes[usize::from(level)] -= 1;
        while self.level_sizes.last() == Some(&0) {
            self.level_sizes.pop();
        }
    }

    pub fn set_level(&mut self, id: TreeNodeId, level: u16) {
        let old = std::mem::replace(&mut self.nodes[id.index()].level, level);
        self.count_level(level);
        self.discount_level(old);
    }

    /// One more than the highest level.
    #[inline]
    pub fn level_bound(&self) -> usize {
        self.level_sizes.len()
    }

    #[inline]
    pub fn get(&self, id: TreeNodeId) -> &TreeNode {
        &self.nodes[id.index()]
    }

    pub fn construction(&self, id: TreeNodeId) -> &NodeConstruction {
        &self.construction[id.index()]
    }

    pub fn construction_mut(&mut self, id: TreeNodeId) -> &mut NodeConstruction {
        &mut self.construction[id.index()]
    }

    /// The number of an l-node's predicate.
    pub fn predicate(&self, id: TreeNodeId) -> PredId {
        PredId(self.nodes[id.index()].predicate_or_anchor)
    }

    /// The anchor of an inner node.
    pub fn anchor(&self, id: TreeNodeId) -> TreeNodeId {
        TreeNodeId(self.nodes[id.index()].predicate_or_anchor)
    }

    /// All nodes, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (TreeNodeId, &TreeNode)> {
        (0..).map(TreeNodeId).zip(&self.nodes).filter(|(_, node)| node.kind != NodeKind::Free)
    }

    /// One more than the highest number: the length of an array with one entry per node.
    #[inline]
    pub fn bound(&self) -> usize {
        self.nodes.len()
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    /// Enters an inner node into the expression-to-node hash table.
    pub fn enter_expr(&mut self, id: TreeNodeId) {
        let construction = &self.construction;
        let hash = |id: &TreeNodeId| table_hash(construction[id.index()].hash);
        self.expr_to_node.insert_unique(hash(&id), id, hash);
    }

    /// Moves lists together and frees memory reserved for growth.
    pub fn defragment(&mut self) {
        shrink(&mut self.nodes);
        shrink(&mut self.construction);
        self.links.defragment(self.nodes.iter_mut().flat_map(|node| [&mut node.children, &mut node.parents]));
        self.reuse_candidates
            .defragment(self.construction.iter_mut().map(|construction| &mut construction.reusable));
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        let lists: usize =
            self.subscription_lists.iter().map(|list| list.capacity() * size_of::<SubId>()).sum();
        self.nodes.capacity() * (size_of::<TreeNode>() + size_of::<NodeConstruction>())
            + (self.free.capacity() + self.free_lists.capacity()) * size_of::<u32>()
            + self.links.memory()
            + self.reuse_candidates.memory()
            + self.expr_to_node.allocation_size()
            + self.subscription_lists.capacity() * size_of::<Vec<SubId>>()
            + lists
    }
}

impl LeafCounts<TreeNodeId> for NodeStore {
    fn leaf_count(&self, id: TreeNodeId) -> u32 {
        self.construction(id).size
    }

    fn leaf_count_mut(&mut self, id: TreeNodeId) -> &mut u32 {
        &mut self.construction_mut(id).size
    }
}

/// A 64-bit hash for the table, which reads the upper bits.
pub(super) fn table_hash(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
