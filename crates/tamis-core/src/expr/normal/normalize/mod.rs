//! Normalization: from the syntax tree to the normalized expression.
//!
//! One traversal pushes NOT down to the predicates. XOR and XNOR need the positive and the negative form of their
//! operands, so both forms of an operand are built once and shared: the size stays linear in the nesting. Operands of
//! one connective that test the same attribute are merged (`merge`), and constants are folded.

mod merge;

use super::accepted::{Accepted, accepted};
use super::predicate::{Over, Predicate, Test};
use super::value_set::ValueSet;
use super::{Node, NodeId, Normal, Root};
use crate::expr::syntax::{Condition, Expr, Quantifier};
use crate::schema::Attributes;

/// The truth of a predicate on a missing attribute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// UNKNOWN, as in SQL.
    #[default]
    Unknown,
    /// FALSE, hence its negation TRUE (closed world).
    False,
}

/// Normalizes expressions; reuses its buffers.
#[derive(Debug, Default)]
pub struct Normalizer {
    /// Nodes of the expression, some of them unreachable from the root.
    draft: Vec<DraftNode>,
    /// By draft node: its position in `normal`; [`NOT_COPIED`] before it is copied.
    copied: Vec<NodeId>,
    /// The latest result.
    normal: Normal,
}

/// A node under construction; children are positions in the draft.
#[derive(Debug)]
enum DraftNode {
    Leaf(Predicate),
    And(Vec<u32>),
    Or(Vec<u32>),
}

/// An expression without NOT: a constant, or a node of the draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Const(bool),
    Node(u32),
}

/// The connectives of normalized expressions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AndOr {
    And,
    Or,
}

const NOT_COPIED: NodeId = NodeId::MAX;

impl Normalizer {
    /// Normalizes one expression; unknown attributes get numbers.
    pub fn normalize(&mut self, expr: &Expr, attributes: &mut impl Attributes, missing: Missing) -> &Normal {
        self.normalize_form(attributes, missing, |builder| builder.form(expr, false))
    }

    /// Normalizes one predicate or its negation.
    pub(crate) fn normalize_condition(
        &mut self,
        condition: &Condition,
        negated: bool,
        attributes: &mut impl Attributes,
        missing: Missing,
    ) -> &Normal {
        self.normalize_form(attributes, missing, |builder| builder.condition(condition, negated))
    }

    fn normalize_form<A: Attributes>(
        &mut self,
        attributes: &mut A,
        missing: Missing,
        form: impl FnOnce(&mut DraftBuilder<'_, A>) -> Form,
    ) -> &Normal {
        self.draft.clear();
        self.normal.predicates.clear();
        self.normal.nodes.clear();
        self.normal.children.clear();
        let mut builder = DraftBuilder { draft: &mut self.draft, attributes, missing };
        self.normal.root = match form(&mut builder) {
            Form::Const(false) => Root::Never,
            Form::Const(true) => Root::Always,
            Form::Node(root) => {
                self.copied.clear();
                self.copied.resize(self.draft.len(), NOT_COPIED);
                Root::Node(self.copy(root))
            }
        };
        &self.normal
    }

    /// Copies a draft node and its descendants into the result, children first, each once.
    fn copy(&mut self, draft: u32) -> NodeId {
        if self.copied[draft as usize] != NOT_COPIED {
            return self.copied[draft as usize];
        }
        // Taken out, because the recursion borrows the whole draft; a node is copied once.
        let taken = std::mem::replace(&mut self.draft[draft as usize], DraftNode::And(Vec::new()));
        let node = match taken {
            DraftNode::Leaf(predicate) => {
                self.normal.predicates.push(predicate);
                Node::Leaf(self.normal.predicates.len() as u32 - 1)
            }
            DraftNode::And(children) => {
                let (start, len) = self.copy_children(children);
                Node::And { start, len }
            }
            DraftNode::Or(children) => {
                let (start, len) = self.copy_children(children);
                Node::Or { start, len }
            }
        };
        self.normal.nodes.push(node);
        let copied = self.normal.nodes.len() as NodeId - 1;
        self.copied[draft as usize] = copied;
        copied
    }

    /// Copies children; returns their range in the array of children.
    fn copy_children(&mut self, mut children: Vec<u32>) -> (u32, u32) {
        for child in &mut children {
            *child = self.copy(*child);
        }
        let start = self.normal.children.len() as u32;
        self.normal.children.extend(&children);
        (start, children.len() as u32)
    }
}

/// Builds the draft of one expression.
struct DraftBuilder<'b, A> {
    draft: &'b mut Vec<DraftNode>,
    attributes: &'b mut A,
    missing: Missing,
}

impl<A: Attributes> DraftBuilder<'_, A> {
    /// The expression, or its negation, without NOT.
    fn form(&mut self, expr: &Expr, negated: bool) -> Form {
        match expr {
            Expr::Const(constant) => Form::Const(*constant != negated),
            Expr::Condition(condition) => self.condition(condition, negated),
            Expr::Not(inner) => self.form(inner, !negated),
            Expr::And(operands) | Expr::Or(operands) => {
                let connective = if matches!(expr, Expr::And(_)) != negated { AndOr::And } else { AndOr::Or };
                let forms = operands.iter().map(|operand| self.form(operand, negated)).collect();
                self.connect(connective, forms)
            }
            Expr::Xor(_) | Expr::Xnor(_) => {
                let (positive, negative) = self.both_forms(expr);
                if negated { negative } else { positive }
            }
        }
    }

    /// The expression and its negation, which share the forms of its operands.
    fn both_forms(&mut self, expr: &Expr) -> (Form, Form) {
        match expr {
            Expr::Const(constant) => (Form::Const(*constant), Form::Const(!*constant)),
            Expr::Condition(condition) => (self.condition(condition, false), self.condition(condition, true)),
            Expr::Not(inner) => {
                let (positive, negative) = self.both_forms(inner);
                (negative, positive)
            }
            Expr::And(operands) | Expr::Or(operands) => {
                let (positive, negative) = operands.iter().map(|operand| self.both_forms(operand)).unzip();
                match expr {
                    Expr::And(_) => (self.connect(AndOr::And, positive), self.connect(AndOr::Or, negative)),
                    _ => (self.connect(AndOr::Or, positive), self.connect(AndOr::And, negative)),
                }
            }
            Expr::Xor(operands) | Expr::Xnor(operands) => {
                let mut forms: Vec<_> = operands.iter().map(|operand| self.both_forms(operand)).collect();
                // Both are associative: a balanced tree keeps the depth logarithmic in the number of operands.
                while forms.len() > 1 {
                    let pairs = forms.chunks(2).map(|pair| match *pair {
                        [left, right] => {
                            let different = self.either_pair(left, (right.1, right.0));
                            let same = self.either_pair(left, right);
                            if matches!(expr, Expr::Xor(_)) { (different, same) } else { (same, different) }
                        }
                        _ => pair[0],
                    });
                    forms = pairs.collect();
                }
                forms.pop().unwrap_or((Form::Const(false), Form::Const(true)))
            }
        }
    }

    /// `(left.0 AND right.0) OR (left.1 AND right.1)`.
    fn either_pair(&mut self, left: (Form, Form), right: (Form, Form)) -> Form {
        let first = self.connect(AndOr::And, vec![left.0, right.0]);
        let second = self.connect(AndOr::And, vec![left.1, right.1]);
        self.connect(AndOr::Or, vec![first, second])
    }

    /// Connects forms: folds constants, flattens operands of the same connective, merges predicates on one attribute.
    fn connect(&mut self, connective: AndOr, forms: Vec<Form>) -> Form {
        // The constant that decides the connective; the other one has no effect.
        let decisive = connective == AndOr::Or;
        let mut nodes: Vec<u32> = Vec::with_capacity(forms.len());
        for form in forms {
            match form {
                Form::Const(constant) if constant == decisive => return form,
                Form::Const(_) => {}
                Form::Node(node) => match (&self.draft[node as usize], connective) {
                    (DraftNode::And(inner), AndOr::And) | (DraftNode::Or(inner), AndOr::Or) => {
                        nodes.extend(inner)
                    }
                    _ => nodes.push(node),
                },
            }
        }
        if nodes.len() > 1 && self.merge(connective, &mut nodes) {
            return Form::Const(decisive);
        }
        match nodes.as_slice() {
            [] => Form::Const(!decisive),
            [single] => Form::Node(*single),
            _ => self.push(match connective {
                AndOr::And => DraftNode::And(nodes),
                AndOr::Or => DraftNode::Or(nodes),
            }),
        }
    }

    /// Appends a node to the draft.
    fn push(&mut self, draft: DraftNode) -> Form {
        self.draft.push(draft);
        Form::Node(self.draft.len() as u32 - 1)
    }

    /// A predicate, or its negation.
    fn condition(&mut self, condition: &Condition, negated: bool) -> Form {
        let attribute = self.attributes.number(&condition.attribute.name);
        let over = match (condition.attribute.quantifier, negated) {
            (None, _) => Over::Value,
            (Some(Quantifier::Any), false) | (Some(Quantifier::All), true) => Over::AnyElement,
            (Some(Quantifier::All), false) | (Some(Quantifier::Any), true) => Over::AllElements,
        };
        let closed_world = self.missing == Missing::False;
        let leaf = match (accepted(&condition.op, negated, closed_world), over) {
            // Under all(), an empty set still accepts an empty list: only predicates without quantifier fold.
            (Accepted::Set(set), Over::Value) if set.is_empty() => return Form::Const(false),
            (Accepted::Set(set), Over::Value) if set.is_everything() => return Form::Const(true),
            (Accepted::Set(set), _) => Test::from(set),
            (Accepted::Test(test), _) => test,
        };
        let leaf = self.push(DraftNode::Leaf(Predicate { attribute, over, test: leaf }));
        if negated && closed_world && over != Over::Value {
            let test = Test::Set(Box::new(ValueSet::missing()));
            let absent = self.push(DraftNode::Leaf(Predicate { attribute, over: Over::Value, test }));
            return self.connect(AndOr::Or, vec![leaf, absent]);
        }
        leaf
    }
}
