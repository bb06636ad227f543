//! Which subscriptions have which root? Equal functions have one root.
//!
//! Invariant: a root's position is found in the table under its node; positions without a subscription hold FALSE, which
//! no event satisfies, and are used again.

use super::diagram::{BddId, Diagram};
use crate::boolean::postings::Postings;
use rustc_hash::FxHashMap;
use tamis_core::engine::SubId;
use tamis_core::engine::shared::list_pool::shrink;

/// See the module's head.
#[derive(Debug, Default)]
pub(super) struct Roots {
    /// By position: the root's node; FALSE for unused positions.
    nodes: Vec<BddId>,
    /// By position: the root's subscriptions.
    subscriptions: Postings<()>,
    /// Positions by node.
    positions: FxHashMap<BddId, u32>,
    /// Unused positions.
    free: Vec<u32>,
    /// By subscription: its root; FALSE for unused numbers.
    root_of: Vec<BddId>,
}

impl Roots {
    /// Gives a subscription a root, and the root one more reference.
    pub fn insert(&mut self, id: SubId, root: BddId, diagram: &mut Diagram) {
        let position = *self.positions.entry(root).or_insert_with(|| {
            let position = self.free.pop().unwrap_or_else(|| {
                self.nodes.push(BddId::FALSE);
                self.nodes.len() as u32 - 1
            });
            self.nodes[position as usize] = root;
            position
        });
        self.subscriptions.insert(position as usize, id, ());
        if self.root_of.len() <= id.index() {
            self.root_of.resize(id.index() + 1, BddId::FALSE);
        }
        self.root_of[id.index()] = root;
        diagram.acquire(root);
    }

    /// Removes a subscription; returns its root, whose reference the caller releases.
    pub fn remove(&mut self, id: SubId) -> BddId {
        let root = std::mem::take(&mut self.root_of[id.index()]);
        let position = self.positions[&root];
        self.subscriptions.remove(position as usize, id);
        if self.subscriptions.get(position as usize).is_empty() {
            self.positions.remove(&root);
            self.nodes[position as usize] = BddId::FALSE;
            self.free.push(position);
        }
        root
    }

    /// The nodes of all roots, by position.
    pub fn nodes(&self) -> &[BddId] {
        &self.nodes
    }

    /// The subscriptions of the root at a position.
    #[inline]
    pub fn subscriptions(&self, position: usize) -> impl Iterator<Item = SubId> + '_ {
        self.subscriptions.get(position).iter().map(|posting| posting.subscription())
    }

    /// Number of distinct roots.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Replaces the numbers of nodes; `numbers` has the new ones by the old ones.
    pub fn renumber(&mut self, numbers: &[BddId]) {
        let all = self.nodes.iter_mut().chain(&mut self.root_of);
        all.for_each(|id| *id = numbers[id.index()]);
        let used = (0..).zip(&self.nodes).filter(|(_, node)| !node.is_terminal());
        self.positions = used.map(|(position, node)| (*node, position)).collect();
    }

    /// Moves lists together and frees memory reserved for growth.
    pub fn defragment(&mut self) {
        shrink(&mut self.nodes);
        shrink(&mut self.root_of);
        self.subscriptions.defragment();
    }

    /// Checks positions and lists; returns every root once per subscription.
    pub fn validate(&self) -> Result<Vec<BddId>, String> {
        self.subscriptions.validate()?;
        for (position, node) in self.nodes.iter().enumerate() {
            let is_empty = self.subscriptions.get(position).is_empty();
            let found = self.positions.get(node).copied();
            if is_empty != node.is_terminal() || (!is_empty && found != Some(position as u32)) {
                return Err(format!("the root at position {position} is not found, or has no subscription"));
            }
            if let Some(id) = self.subscriptions(position).find(|id| self.root_of[id.index()] != *node) {
                return Err(format!("subscription {} is listed at another root", id.0));
            }
        }
        let roots: Vec<BddId> = self.root_of.iter().copied().filter(|root| !root.is_terminal()).collect();
        if roots.len() != self.subscriptions.len()
            || self.positions.len() + self.free.len() != self.nodes.len()
        {
            return Err("subscriptions and roots are counted wrongly".into());
        }
        Ok(roots)
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        // A table has a power of two of entries, at most 7/8 full, and a byte of control for each.
        let entries = (self.positions.capacity() * 8 / 7).next_power_of_two();
        (self.nodes.capacity() + self.root_of.capacity()) * size_of::<BddId>()
            + self.free.capacity() * size_of::<u32>()
            + self.subscriptions.memory()
            + entries * (size_of::<(BddId, u32)>() + 1)
    }
}
