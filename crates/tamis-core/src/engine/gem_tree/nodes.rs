//! Attribute nodes and value nodes (the paper's aNode and vNode), in two arrays; they alternate on every path.
//!
//! An attribute node has a bucket of records and a directory of value nodes. A value node has an attribute and a
//! [`triangle`]; a cell that is not empty is an attribute node. The root is attribute node 0.
//!
//! Counts and costs are kept for whole subtrees. Costs are whole numbers, so that adding and taking away the same
//! subscription leaves no rounding error.

use super::triangle::{self, Cell};
use crate::engine::shared::list_pool::{ListPool, ListRef, shrink};
use crate::engine::shared::ordinals::{Ordinal, Ordinals};
use crate::schema::AttrId;

/// No node: the parent of the root.
pub(super) const NONE: u32 = u32::MAX;
/// The attribute node where every path begins.
pub(super) const ROOT: u32 = 0;

/// An attribute node: the paper's aNode.
#[derive(Clone, Copy, Debug)]
pub(super) struct AttributeNode {
    /// The value node one of whose cells it is; [`NONE`] for the root and for unused numbers.
    pub parent: u32,
    /// Which cell.
    pub cell: Cell,
    /// Records of the subscriptions stored here.
    pub bucket: ListRef,
    /// Pairs of an attribute and its value node, by ascending attribute.
    pub directory: ListRef,
    /// Number of records in the bucket.
    pub stored: u32,
    /// Number of conjunctions in the subtree.
    pub count: u32,
    /// Maximum records in the bucket before it is split.
    pub capacity: u32,
}

/// A value node: the paper's vNode.
#[derive(Clone, Debug)]
pub(super) struct ValueNode {
    /// The attribute whose values its triangle divides.
    pub attribute: AttrId,
    /// The attribute node whose directory lists it; [`NONE`] for unused numbers.
    pub parent: u32,
    /// The beginning that all texts of its predicates share; empty for most.
    pub prefix: Box<str>,
    /// The ordinals at which columns begin, but the first: ascending.
    pub cuts: ListRef,
    /// The triangle: one bitmap per column, then the nodes of cells that are not empty.
    pub cells: ListRef,
    /// Whether the attribute occurs above on the path as well.
    pub nested: bool,
    /// What the ranking function needs.
    pub load: Load,
}

/// What the cost of a value node's subtree is computed from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Load {
    /// Number of conjunctions in the subtree: the paper's num.
    pub count: u32,
    /// Sum over them: number of columns whose values lead to their cell.
    pub width: u64,
    /// Number of conjunctions in the buckets of its cells: the paper's n.
    pub stored: u32,
    /// Number of their predicates that no path guarantees: the paper's h.
    pub residual: u64,
    /// Sum of the costs of the value nodes below, in [`COST_UNIT`].
    pub below: u64,
    /// The cost of the subtree, in [`COST_UNIT`].
    pub cost: u64,
}

/// Fractions of a comparison that costs are counted in.
pub(super) const COST_UNIT: u64 = 16;
/// The cost of visiting a subscription in an intersected cell, in comparisons: the paper's alpha.
const ALPHA: u64 = 2;

impl Load {
    /// The cost of matching an event that has the attribute, in [`COST_UNIT`]: match rate times work.
    pub fn current_cost(&self, columns: usize) -> u64 {
        if self.count == 0 {
            return 0;
        }
        let work = (u64::from(self.stored) * ALPHA + self.residual) * COST_UNIT + self.below;
        let match_rate = self.width as f64 / (columns as f64 * f64::from(self.count));
        (match_rate * work as f64) as u64
    }

    /// The average cost per subscription; the lowest ranks best.
    pub fn rank(&self) -> f64 {
        self.cost as f64 / f64::from(self.count.max(1))
    }
}

/// All nodes.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    pub attributes: Vec<AttributeNode>,
    pub values: Vec<ValueNode>,
    /// Unused numbers.
    pub free_attributes: Vec<u32>,
    pub free_values: Vec<u32>,
    /// Directories of attribute nodes.
    pub directories: ListPool<u32, 2>,
    /// Cuts of value nodes.
    pub cuts: ListPool<Ordinal, 1>,
    /// Triangles of value nodes.
    pub cells: ListPool<u32, 1>,
    /// Records of all buckets.
    pub records: ListPool<u32, 4>,
}

/// Conjunctions that came to an attribute node's bucket, or left it.
#[derive(Clone, Copy)]
pub(super) struct BucketChange {
    pub conjunctions: i64,
    /// Their predicates that no path guarantees.
    pub residual: i64,
}

impl Nodes {
    /// A root without subscriptions.
    pub fn new(capacity: usize) -> Nodes {
        let mut nodes = Nodes::default();
        nodes.make_attribute_node(NONE, Cell { column: 0, row: 0 }, capacity);
        nodes
    }

    pub fn node(&self, at: u32) -> &AttributeNode {
        &self.attributes[at as usize]
    }

    pub fn node_mut(&mut self, at: u32) -> &mut AttributeNode {
        &mut self.attributes[at as usize]
    }

    pub fn value_node(&self, at: u32) -> &ValueNode {
        &self.values[at as usize]
    }

    /// The cuts of a value node.
    pub fn cuts_of(&self, node: &ValueNode) -> &[Ordinal] {
        self.cuts.get(node.cuts)
    }

    /// Number of columns of a value node.
    pub fn columns(node: &ValueNode) -> usize {
        node.cuts.len() + 1
    }

    /// The triangle of a value node.
    pub fn triangle(&self, node: &ValueNode) -> &[u32] {
        self.cells.get(node.cells)
    }

    /// How values become ordinals in a value node.
    pub fn ordinals(node: &ValueNode) -> Ordinals<'_> {
        Ordinals { prefix: &node.prefix }
    }

    fn make_attribute_node(&mut self, parent: u32, cell: Cell, capacity: usize) -> u32 {
        let node = AttributeNode {
            parent,
            cell,
            bucket: ListRef::EMPTY,
            directory: ListRef::EMPTY,
            stored: 0,
            count: 0,
            capacity: capacity as u32,
        };
        match self.free_attributes.pop() {
            Some(at) => {
                self.attributes[at as usize] = node;
                at
            }
            None => {
                self.attributes.push(node);
                self.attributes.len() as u32 - 1
            }
        }
    }

    /// The attribute node of a cell; made if there is none.
    pub fn cell_node(&mut self, value_node: u32, cell: Cell, capacity: usize) -> u32 {
        let node = &self.values[value_node as usize];
        let columns = Nodes::columns(node);
        let words = self.cells.get(node.cells);
        let (at, there) = triangle::find(words, columns, cell);
        if there {
            return words[at];
        }
        let mut words = words.to_vec();
        let made = self.make_attribute_node(value_node, cell, capacity);
        words.insert(at, made);
        words[usize::from(cell.column)] |= 1 << cell.row;
        self.replace_triangle(value_node, &words);
        made
    }

    fn replace_triangle(&mut self, value_node: u32, words: &[u32]) {
        let mut list = self.values[value_node as usize].cells;
        self.cells.release(list);
        list = ListRef::EMPTY;
        self.cells.extend(&mut list, words);
        self.values[value_node as usize].cells = list;
    }

    /// The value node of an attribute in a directory.
    pub fn find_value_node(&self, node: &AttributeNode, attribute: AttrId) -> Option<u32> {
        let directory = self.directories.get(node.directory).as_chunks::<2>().0;
        let at = directory.binary_search_by_key(&attribute.0, |entry| entry[0]).ok()?;
        Some(directory[at][1])
    }

    /// Adds a value node to a directory.
    pub fn make_value_node(
        &mut self,
        parent: u32,
        attribute: AttrId,
        prefix: &str,
        cuts: &[Ordinal],
        nested: bool,
    ) -> u32 {
        let (mut cut_list, mut cells) = (ListRef::EMPTY, ListRef::EMPTY);
        self.cuts.extend(&mut cut_list, cuts);
        self.cells.extend(&mut cells, &vec![0; cuts.len() + 1]);
        let load = Load::default();
        let prefix = prefix.into();
        let node = ValueNode { attribute, parent, prefix, cuts: cut_list, cells, nested, load };
        let made = match self.free_values.pop() {
            Some(at) => {
                self.values[at as usize] = node;
                at
            }
            None => {
                self.values.push(node);
                self.values.len() as u32 - 1
            }
        };
        let mut entries = self.directories.get(self.node(parent).directory).to_vec();
        let at = entries.as_chunks::<2>().0.partition_point(|entry| entry[0] < attribute.0);
        entries.splice(2 * at..2 * at, [attribute.0, made]);
        self.replace_directory(parent, &entries);
        made
    }

    fn replace_directory(&mut self, node: u32, entries: &[u32]) {
        let mut list = self.node(node).directory;
        self.directories.release(list);
        list = ListRef::EMPTY;
        self.directories.extend(&mut list, entries);
        self.node_mut(node).directory = list;
    }

    /// Removes an attribute node without subscriptions and directory from its triangle.
    pub fn remove_attribute_node(&mut self, at: u32) {
        let AttributeNode { parent, cell, .. } = *self.node(at);
        let node = &self.values[parent as usize];
        let mut words = self.cells.get(node.cells).to_vec();
        let (position, _) = triangle::find(&words, Nodes::columns(node), cell);
        words.remove(position);
        words[usize::from(cell.column)] &= !(1 << cell.row);
        self.replace_triangle(parent, &words);
        self.node_mut(at).parent = NONE;
        self.free_attributes.push(at);
    }

    /// Removes a value node without cells from its directory.
    pub fn remove_value_node(&mut self, at: u32) {
        let node = &mut self.values[at as usize];
        let parent = std::mem::replace(&mut node.parent, NONE);
        node.prefix = Box::default();
        let (attribute, cuts, cells) = (node.attribute, node.cuts, node.cells);
        self.cuts.release(cuts);
        self.cells.release(cells);
        self.free_values.push(at);
        let entries: Vec<u32> = self.directories.get(self.node(parent).directory).to_vec();
        let kept = entries.as_chunks::<2>().0.iter().filter(|entry| entry[0] != attribute.0);
        let kept: Vec<u32> = kept.flatten().copied().collect();
        self.replace_directory(parent, &kept);
    }

    /// Counts a change of a bucket on the path to the root (the paper's UpdateRanking).
    pub fn update_ranking(&mut self, node: u32, change: BucketChange) {
        let mut at = node;
        let mut below = 0;
        loop {
            let AttributeNode { parent, cell, count, .. } = *self.node(at);
            self.node_mut(at).count = count.wrapping_add_signed(change.conjunctions as i32);
            let Some(value_node) = self.values.get_mut(parent as usize) else { return };
            let columns = Nodes::columns(value_node);
            let load = &mut value_node.load;
            load.count = load.count.wrapping_add_signed(change.conjunctions as i32);
            load.width = load.width.wrapping_add_signed(change.conjunctions * cell.width() as i64);
            if at == node {
                load.stored = load.stored.wrapping_add_signed(change.conjunctions as i32);
                load.residual = load.residual.wrapping_add_signed(change.residual);
            }
            load.below = load.below.wrapping_add_signed(below);
            let cost = load.current_cost(columns);
            below = cost as i64 - load.cost as i64;
            load.cost = cost;
            at = value_node.parent;
        }
    }

    /// The value nodes on the path to an attribute node, the nearest first.
    pub fn path(&self, node: u32) -> impl Iterator<Item = &ValueNode> + '_ {
        let above = |at: u32| self.values.get(self.node(at).parent as usize);
        std::iter::successors(above(node), move |node| above(node.parent))
    }

    /// Moves lists together and frees memory reserved for growth.
    pub fn defragment(&mut self) {
        shrink(&mut self.attributes);
        shrink(&mut self.values);
        shrink(&mut self.free_attributes);
        shrink(&mut self.free_values);
        let Nodes { attributes, values, directories, cuts, cells, records, .. } = self;
        let free = |parent: u32| parent == NONE;
        for (at, node) in attributes.iter_mut().enumerate() {
            if at > 0 && free(node.parent) {
                (node.bucket, node.directory) = (ListRef::EMPTY, ListRef::EMPTY);
            }
        }
        for node in values.iter_mut().filter(|node| free(node.parent)) {
            (node.cuts, node.cells) = (ListRef::EMPTY, ListRef::EMPTY);
        }
        records.defragment(attributes.iter_mut().map(|node| &mut node.bucket));
        directories.defragment(attributes.iter_mut().map(|node| &mut node.directory));
        cuts.defragment(values.iter_mut().map(|node| &mut node.cuts));
        cells.defragment(values.iter_mut().map(|node| &mut node.cells));
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        let prefixes: usize = self.values.iter().map(|node| node.prefix.len()).sum();
        self.attributes.capacity() * size_of::<AttributeNode>()
            + self.values.capacity() * size_of::<ValueNode>()
            + (self.free_attributes.capacity() + self.free_values.capacity()) * size_of::<u32>()
            + self.directories.memory()
            + self.cuts.memory()
            + self.cells.memory()
            + self.records.memory()
            + prefixes
    }
}
