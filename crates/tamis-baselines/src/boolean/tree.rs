//! An expression as a tree in one flat array: nodes in preorder, a connective with the length of its operands.
//!
//! A normalized expression is a graph: an operand of XOR has two parents. These engines store trees, so a shared node is
//! repeated for each parent, and nested XORs double the tree with every level. The number of leaves is therefore computed
//! before anything is stored, and an expression with more than `max_leaves` is refused.

use super::predicate_index::PredicateIndex;
use tamis_core::engine::registry::{OptionInfo, OptionKind};
use tamis_core::engine::shared::predicates::PredId;
use tamis_core::expr::{Node, NodeId, Normal, Root};
use tamis_core::{Error, Result};

/// The option of [`TreeBuilder::build`]. Labels have 16 bits, one of them for a mark.
pub(super) const MAX_LEAVES: OptionInfo = OptionInfo {
    name: "max_leaves",
    description: "maximum leaves of an expression's tree, in which operands of XOR are repeated; larger ones are refused",
    kind: OptionKind::WholeNumber { default: 10_000, range: 1..=32_767 },
};

/// A node of a tree: 2 bits of kind, 30 bits of predicate or length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TreeWord(u32);

/// What a [`TreeWord`] means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TreeNode {
    /// Holds iff the predicate does.
    Leaf(PredId),
    /// Holds iff all operands do; has the number of words after it that they take.
    And(usize),
    /// Holds iff some operand does; has the number of words after it that they take.
    Or(usize),
}

const VALUE_BITS: u32 = 30;
const VALUE: u32 = (1 << VALUE_BITS) - 1;

impl TreeWord {
    fn new(node: TreeNode) -> TreeWord {
        TreeWord(match node {
            TreeNode::Leaf(id) => id.0,
            TreeNode::And(len) => 1 << VALUE_BITS | len as u32,
            TreeNode::Or(len) => 2 << VALUE_BITS | len as u32,
        })
    }

    /// The node it stands for.
    #[inline]
    pub fn node(self) -> TreeNode {
        let value = self.0 & VALUE;
        match self.0 >> VALUE_BITS {
            0 => TreeNode::Leaf(PredId(value)),
            1 => TreeNode::And(value as usize),
            _ => TreeNode::Or(value as usize),
        }
    }
}

/// The words of the node at the front, and of its following siblings.
#[inline]
fn split_first(tree: &[TreeWord]) -> (&[TreeWord], &[TreeWord]) {
    let operands = match tree[0].node() {
        TreeNode::Leaf(_) => 0,
        TreeNode::And(len) | TreeNode::Or(len) => len,
    };
    tree.split_at(1 + operands)
}

/// The operands of the node at the front of a tree.
#[inline]
pub(super) fn operands(tree: &[TreeWord]) -> impl Iterator<Item = &[TreeWord]> {
    let mut rest = &split_first(tree).0[1..];
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (first, others) = split_first(rest);
        rest = others;
        Some(first)
    })
}

/// The predicates of the leaves, in order.
pub(super) fn leaves(tree: &[TreeWord]) -> impl Iterator<Item = PredId> + '_ {
    tree.iter().filter_map(|word| match word.node() {
        TreeNode::Leaf(id) => Some(id),
        _ => None,
    })
}

/// Builds trees. Reused as a buffer.
#[derive(Debug, Default)]
pub(super) struct TreeBuilder {
    /// The tree built last.
    pub words: Vec<TreeWord>,
    /// By predicate of the expression: its number.
    numbers: Vec<PredId>,
    /// By node of the expression: leaves of its tree; saturating.
    sizes: Vec<u64>,
}

impl TreeBuilder {
    /// Builds the tree of an expression; counts one use of a predicate for each leaf. Refuses an expression with more
    /// than `max_leaves`, or past 2^30 predicates.
    pub fn build(
        &mut self,
        expression: &Normal,
        max_leaves: usize,
        predicates: &mut PredicateIndex,
    ) -> Result<()> {
        self.words.clear();
        let Root::Node(root) = expression.root() else { return Ok(()) };
        let size = self.leaf_count(expression, root);
        if size > max_leaves as u64 {
            let (what, option, limit) = ("leaves of a tree", MAX_LEAVES.name, max_leaves as u64);
            return Err(Error::ExpressionTooLarge { what, size, option, limit });
        }
        if predicates.bound() + expression.predicates().len() > VALUE as usize {
            return Err(Error::Expression("the engine is full: 2^30 predicates".into()));
        }
        self.numbers.clear();
        self.numbers.extend(expression.predicates().iter().map(|predicate| predicates.acquire(predicate)));
        self.append(expression, root);
        leaves(&self.words).for_each(|id| predicates.acquire_again(id));
        self.numbers.iter().for_each(|id| predicates.release(*id));
        Ok(())
    }

    fn leaf_count(&mut self, expression: &Normal, root: NodeId) -> u64 {
        self.sizes.clear();
        for &node in expression.nodes() {
            let children = expression.children(node).iter().map(|&child| self.sizes[child as usize]);
            let size = if let Node::Leaf(_) = node { 1 } else { children.fold(0, u64::saturating_add) };
            self.sizes.push(size);
        }
        self.sizes[root as usize]
    }

    fn append(&mut self, expression: &Normal, id: NodeId) {
        let (node, at) = (expression.nodes()[id as usize], self.words.len());
        if let Node::Leaf(predicate) = node {
            self.words.push(TreeWord::new(TreeNode::Leaf(self.numbers[predicate as usize])));
            return;
        }
        self.words.push(TreeWord::default());
        expression.children(node).iter().for_each(|child| self.append(expression, *child));
        let len = self.words.len() - at - 1;
        let is_and = matches!(node, Node::And { .. });
        self.words[at] = TreeWord::new(if is_and { TreeNode::And(len) } else { TreeNode::Or(len) });
    }
}
