//! The nodes of the diagram: each distinct one once, with a count of who refers to it.

use crate::boolean::predicate_index::PredicateIndex;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use tamis_core::engine::shared::list_pool::shrink;
use tamis_core::engine::shared::predicates::PredId;

/// The number of a node. Numbers of freed nodes are used again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct BddId(pub u32);

impl BddId {
    /// The terminal that no event satisfies.
    pub const FALSE: BddId = BddId(0);
    /// The terminal that every event satisfies.
    pub const TRUE: BddId = BddId(1);

    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    #[inline]
    pub fn is_terminal(self) -> bool {
        self.0 <= 1
    }
}

/// A node: 12 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BddNode {
    /// The predicate it tests; [`NO_VARIABLE`] for terminals and unused numbers.
    pub variable: PredId,
    /// Where to go if the predicate is not satisfied.
    pub low: BddId,
    /// Where to go if it is.
    pub high: BddId,
}

pub(super) const NO_VARIABLE: PredId = PredId(u32::MAX);
const UNUSED: BddNode = BddNode { variable: NO_VARIABLE, low: BddId::FALSE, high: BddId::FALSE };

/// The order of variables along a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VariableOrder {
    /// By first use.
    Arrival,
    /// By attribute, then by first use.
    Attribute,
    /// The last used first.
    Reverse,
}

/// Which bound an insertion has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Nodes,
    Steps,
}

/// See the module's head.
#[derive(Debug)]
pub(super) struct Diagram {
    /// By number; FALSE and TRUE first.
    nodes: Vec<BddNode>,
    /// By number: nodes and roots that refer to it. Terminals are not counted.
    references: Vec<u32>,
    /// Unused numbers.
    free: Vec<BddId>,
    /// Nodes by their content.
    table: HashTable<BddId>,
    /// Nodes made by the insertion that runs; those without a reference are freed at its end.
    created: Vec<BddId>,
    /// By predicate: its place in the order; 0 for unused numbers. Places are not dense, so a variable can be placed
    /// between others without moving them.
    places: Vec<u64>,
    /// Variables placed so far.
    sequence: u64,
    order: VariableOrder,
}

/// Multiplies and folds three numbers; the table reads the upper bits.
fn hash_of(node: &BddNode) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let successors = u64::from(node.low.0) << 32 | u64::from(node.high.0);
    let mixed =
        (u64::from(node.variable.0) ^ successors.wrapping_mul(FACTOR).rotate_left(29)).wrapping_mul(FACTOR);
    mixed ^ mixed >> 32
}

impl Diagram {
    /// The two terminals.
    pub fn new(order: VariableOrder) -> Diagram {
        Diagram {
            nodes: vec![UNUSED; 2],
            references: vec![0; 2],
            free: Vec::new(),
            table: HashTable::new(),
            created: Vec::new(),
            places: Vec::new(),
            sequence: 0,
            order,
        }
    }

    /// Gives a predicate its place in the order, if it has none.
    pub fn place_variable(&mut self, variable: PredId, predicates: &PredicateIndex) {
        if self.places.len() <= variable.index() {
            self.places.resize(variable.index() + 1, 0);
        }
        if self.places[variable.index()] == 0 {
            self.sequence += 1;
            self.places[variable.index()] = match self.order {
                VariableOrder::Arrival => self.sequence,
                VariableOrder::Attribute => {
                    u64::from(predicates.get(variable).attribute.0) << 40 | self.sequence
                }
                // Terminals are at the end of every order.
                VariableOrder::Reverse => u64::MAX - self.sequence,
            };
        }
    }

    /// Counts one use of a predicate less; after the last, it has no place in the order.
    pub fn release_variable(&mut self, variable: PredId, predicates: &mut PredicateIndex) {
        predicates.release(variable);
        if !predicates.is_used(variable) {
            self.places[variable.index()] = 0;
        }
    }

    #[inline]
    pub fn node(&self, id: BddId) -> BddNode {
        self.nodes[id.index()]
    }

    /// The place of a node's variable in the order; terminals come last.
    #[inline]
    pub fn place(&self, id: BddId) -> u64 {
        if id.is_terminal() { u64::MAX } else { self.places[self.nodes[id.index()].variable.index()] }
    }

    /// The node with this content, made if there is none and the diagram has fewer than `max_nodes`.
    pub fn make(
        &mut self,
        node: BddNode,
        predicates: &mut PredicateIndex,
        max_nodes: usize,
    ) -> Result<BddId, Bound> {
        if node.low == node.high {
            return Ok(node.low);
        }
        let is_full = self.len() >= max_nodes;
        let nodes = &mut self.nodes;
        let same = |id: &BddId| nodes[id.index()] == node;
        let vacant = match self.table.entry(hash_of(&node), same, |id| hash_of(&nodes[id.index()])) {
            Entry::Occupied(found) => return Ok(*found.get()),
            Entry::Vacant(_) if is_full => return Err(Bound::Nodes),
            Entry::Vacant(vacant) => vacant,
        };
        let id = match self.free.pop() {
            Some(id) => {
                self.nodes[id.index()] = node;
                id
            }
            None => {
                self.nodes.push(node);
                self.references.push(0);
                BddId(self.nodes.len() as u32 - 1)
            }
        };
        vacant.insert(id);
        self.acquire(node.low);
        self.acquire(node.high);
        predicates.acquire_again(node.variable);
        self.created.push(id);
        Ok(id)
    }

    /// Counts one more reference.
    pub fn acquire(&mut self, id: BddId) {
        if !id.is_terminal() {
            self.references[id.index()] += 1;
        }
    }

    /// Counts one reference less; frees every node that has none left.
    pub fn release(&mut self, id: BddId, predicates: &mut PredicateIndex) {
        if id.is_terminal() {
            return;
        }
        self.references[id.index()] -= 1;
        self.free_if_unused(id, predicates);
    }

    /// Frees the nodes that the insertion has made and left without a reference.
    pub fn free_unused(&mut self, predicates: &mut PredicateIndex) {
        let mut created = std::mem::take(&mut self.created);
        // Successors were made before: backwards, a node is met before what it refers to.
        while let Some(id) = created.pop() {
            if self.nodes[id.index()] != UNUSED {
                self.free_if_unused(id, predicates);
            }
        }
        created.shrink_to(1 << 10);
        self.created = created;
    }

    fn free_if_unused(&mut self, id: BddId, predicates: &mut PredicateIndex) {
        if self.references[id.index()] > 0 {
            return;
        }
        let mut unused = vec![id];
        while let Some(id) = unused.pop() {
            let node = std::mem::replace(&mut self.nodes[id.index()], UNUSED);
            if let Ok(found) = self.table.find_entry(hash_of(&node), |other| *other == id) {
                found.remove();
            }
            self.free.push(id);
            self.release_variable(node.variable, predicates);
            for successor in [node.low, node.high] {
                if !successor.is_terminal() {
                    self.references[successor.index()] -= 1;
                    if self.references[successor.index()] == 0 {
                        unused.push(successor);
                    }
                }
            }
        }
    }

    /// Follows the path of an event from a node to a terminal.
    #[inline]
    pub fn evaluate(&self, mut id: BddId, is_satisfied: impl Fn(PredId) -> bool) -> bool {
        while !id.is_terminal() {
            let node = &self.nodes[id.index()];
            id = if is_satisfied(node.variable) { node.high } else { node.low };
        }
        id == BddId::TRUE
    }

    /// Numbers nodes in the order in which they are first reached from the roots, the low successor first: the path of
    /// most events is then adjacent in memory. Returns the new numbers by the old ones.
    pub fn defragment(&mut self, roots: &[BddId]) -> Vec<BddId> {
        let mut numbers = vec![BddId::FALSE; self.nodes.len()];
        numbers[BddId::TRUE.index()] = BddId::TRUE;
        let mut order = vec![BddId::FALSE, BddId::TRUE];
        let mut stack = Vec::new();
        for &root in roots {
            stack.push(root);
            while let Some(id) = stack.pop() {
                if !id.is_terminal() && numbers[id.index()] == BddId::FALSE {
                    numbers[id.index()] = BddId(order.len() as u32);
                    order.push(id);
                    stack.extend([self.nodes[id.index()].high, self.nodes[id.index()].low]);
                }
            }
        }
        let renumbered = |id: &BddId| {
            let BddNode { variable, low, high } = self.nodes[id.index()];
            BddNode { variable, low: numbers[low.index()], high: numbers[high.index()] }
        };
        let nodes: Vec<BddNode> = order.iter().map(renumbered).collect();
        self.references = order.iter().map(|id| self.references[id.index()]).collect();
        self.nodes = nodes;
        self.free = Vec::new();
        self.table = HashTable::with_capacity(self.nodes.len());
        for (id, node) in (0..).map(BddId).zip(&self.nodes).skip(2) {
            self.table.insert_unique(hash_of(node), id, |id| hash_of(&self.nodes[id.index()]));
        }
        shrink(&mut self.places);
        numbers
    }

    /// Number of nodes, without the terminals.
    pub fn len(&self) -> usize {
        self.nodes.len() - 2 - self.free.len()
    }

    /// Every node but the terminals, with its number of references.
    pub fn iter(&self) -> impl Iterator<Item = (BddId, BddNode, u32)> + '_ {
        let all = (0..).map(BddId).zip(self.nodes.iter().zip(&self.references));
        all.map(|(id, (node, count))| (id, *node, *count)).filter(|(_, node, _)| *node != UNUSED)
    }

    /// The node that the table has for a content.
    pub fn find(&self, node: &BddNode) -> Option<BddId> {
        self.table.find(hash_of(node), |id| self.nodes[id.index()] == *node).copied()
    }

    /// Number of nodes in the table.
    pub fn table_len(&self) -> usize {
        self.table.len()
    }

    /// Places of variables in the order that are in use.
    pub fn places(&self) -> impl Iterator<Item = (PredId, u64)> + '_ {
        (0..).map(PredId).zip(self.places.iter().copied()).filter(|(_, place)| *place != 0)
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        self.nodes.capacity() * size_of::<BddNode>()
            + self.references.capacity() * size_of::<u32>()
            + (self.free.capacity() + self.created.capacity()) * size_of::<BddId>()
            + self.table.allocation_size()
            + self.places.capacity() * size_of::<u64>()
    }
}
