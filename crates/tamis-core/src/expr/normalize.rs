//! From what the user wrote to what engines see.
//!
//! One walk pushes NOT down to the predicates. XOR and XNOR need their operands in both forms, so both forms of an
//! operand are made once and shared: nesting them stays linear. Predicates on one attribute are merged where a
//! connective joins them; what is left without effect or without hope is folded away.

use super::accepted::{Accepted, accepted};
use super::ast::{Condition, Expr, Quantifier};
use super::normal::{Node, NodeId, Normal, Over, Predicate, Root, Test};
use super::set::ValueSet;
use crate::schema::{AttrId, Attributes};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;

/// What a predicate on a missing attribute is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// UNKNOWN, as in SQL.
    #[default]
    Unknown,
    /// FALSE, hence its negation TRUE (closed world).
    False,
}

/// Turns expressions into normal form; keeps its buffers from one to the next.
#[derive(Debug, Default)]
pub struct Normalizer {
    draft: Vec<Draft>,
    /// Where a draft node went in `normal`.
    placed: Vec<NodeId>,
    normal: Normal,
}

/// A node under construction.
#[derive(Debug)]
enum Draft {
    Leaf(Predicate),
    And(Vec<u32>),
    Or(Vec<u32>),
}

/// A constant, or a node of the draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Const(bool),
    Node(u32),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Join {
    And,
    Or,
}

const UNPLACED: NodeId = NodeId::MAX;

impl Normalizer {
    /// Normalizes one expression; attributes that are new get their numbers.
    pub fn normalize(&mut self, expr: &Expr, attributes: &mut impl Attributes, missing: Missing) -> &Normal {
        self.draft.clear();
        self.normal.predicates.clear();
        self.normal.nodes.clear();
        self.normal.children.clear();
        let mut builder = Builder { draft: &mut self.draft, attributes, missing };
        self.normal.root = match builder.form(expr, false) {
            Form::Const(false) => Root::Never,
            Form::Const(true) => Root::Always,
            Form::Node(root) => {
                self.placed.clear();
                self.placed.resize(self.draft.len(), UNPLACED);
                Root::Node(self.place(root))
            }
        };
        &self.normal
    }

    /// Copies a draft node and all below it into the result, children first, each once.
    fn place(&mut self, draft: u32) -> NodeId {
        if self.placed[draft as usize] != UNPLACED {
            return self.placed[draft as usize];
        }
        // Taken out, because the recursion borrows the whole draft; a node is placed once.
        let taken = std::mem::replace(&mut self.draft[draft as usize], Draft::And(Vec::new()));
        let node = match taken {
            Draft::Leaf(predicate) => {
                self.normal.predicates.push(predicate);
                Node::Leaf(self.normal.predicates.len() as u32 - 1)
            }
            Draft::And(children) => {
                let (start, len) = self.place_children(children);
                Node::And { start, len }
            }
            Draft::Or(children) => {
                let (start, len) = self.place_children(children);
                Node::Or { start, len }
            }
        };
        self.normal.nodes.push(node);
        let placed = self.normal.nodes.len() as NodeId - 1;
        self.placed[draft as usize] = placed;
        placed
    }

    fn place_children(&mut self, mut children: Vec<u32>) -> (u32, u32) {
        for child in &mut children {
            *child = self.place(*child);
        }
        let start = self.normal.children.len() as u32;
        self.normal.children.extend(&children);
        (start, children.len() as u32)
    }
}

struct Builder<'b, A> {
    draft: &'b mut Vec<Draft>,
    attributes: &'b mut A,
    missing: Missing,
}

impl<A: Attributes> Builder<'_, A> {
    /// The expression, or its negation, without any NOT.
    fn form(&mut self, expr: &Expr, negated: bool) -> Form {
        match expr {
            Expr::Const(constant) => Form::Const(*constant != negated),
            Expr::Condition(condition) => self.condition(condition, negated),
            Expr::Not(inner) => self.form(inner, !negated),
            Expr::And(operands) | Expr::Or(operands) => {
                let join = if matches!(expr, Expr::And(_)) != negated { Join::And } else { Join::Or };
                let forms = operands.iter().map(|operand| self.form(operand, negated)).collect();
                self.join(join, forms)
            }
            Expr::Xor(_) | Expr::Xnor(_) => {
                let (positive, negative) = self.both_forms(expr);
                if negated { negative } else { positive }
            }
        }
    }

    /// The expression and its negation, sharing everything below.
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
                    Expr::And(_) => (self.join(Join::And, positive), self.join(Join::Or, negative)),
                    _ => (self.join(Join::Or, positive), self.join(Join::And, negative)),
                }
            }
            Expr::Xor(operands) | Expr::Xnor(operands) => {
                let mut forms: Vec<_> = operands.iter().map(|operand| self.both_forms(operand)).collect();
                // Both are associative: joining neighbours keeps the graph shallow, however long the chain.
                while forms.len() > 1 {
                    let joined = forms.chunks(2).map(|pair| match *pair {
                        [left, right] => {
                            let different = self.either_pair(left, (right.1, right.0));
                            let same = self.either_pair(left, right);
                            if matches!(expr, Expr::Xor(_)) { (different, same) } else { (same, different) }
                        }
                        _ => pair[0],
                    });
                    forms = joined.collect();
                }
                forms.pop().unwrap_or((Form::Const(false), Form::Const(true)))
            }
        }
    }

    /// `(left.0 AND right.0) OR (left.1 AND right.1)`.
    fn either_pair(&mut self, left: (Form, Form), right: (Form, Form)) -> Form {
        let first = self.join(Join::And, vec![left.0, right.0]);
        let second = self.join(Join::And, vec![left.1, right.1]);
        self.join(Join::Or, vec![first, second])
    }

    /// Joins forms, folding constants, splicing in the same connective, merging predicates on one attribute.
    fn join(&mut self, join: Join, forms: Vec<Form>) -> Form {
        // The constant that decides the whole; the other one has no effect.
        let decisive = join == Join::Or;
        let mut nodes: Vec<u32> = Vec::with_capacity(forms.len());
        for form in forms {
            match form {
                Form::Const(constant) if constant == decisive => return form,
                Form::Const(_) => {}
                Form::Node(node) => match (&self.draft[node as usize], join) {
                    (Draft::And(inner), Join::And) | (Draft::Or(inner), Join::Or) => nodes.extend(inner),
                    _ => nodes.push(node),
                },
            }
        }
        if nodes.len() > 1 && self.merge(join, &mut nodes) {
            return Form::Const(decisive);
        }
        match nodes.as_slice() {
            [] => Form::Const(!decisive),
            [single] => Form::Node(*single),
            _ => self.push(match join {
                Join::And => Draft::And(nodes),
                Join::Or => Draft::Or(nodes),
            }),
        }
    }

    fn push(&mut self, draft: Draft) -> Form {
        self.draft.push(draft);
        Form::Node(self.draft.len() as u32 - 1)
    }

    /// Removes repeated nodes and merges the sets of one attribute into the first of them. True if that decides
    /// the whole.
    fn merge(&mut self, join: Join, nodes: &mut Vec<u32>) -> bool {
        // Few operands are searched faster than hashed.
        if nodes.len() > 16 {
            return self.merge_many(join, nodes);
        }
        let mut kept: Vec<u32> = Vec::with_capacity(nodes.len());
        for &node in nodes.iter() {
            let Draft::Leaf(predicate) = &self.draft[node as usize] else {
                if !kept.contains(&node) {
                    kept.push(node);
                }
                continue;
            };
            let merged =
                kept.iter().enumerate().find_map(|(place, &earlier)| match &self.draft[earlier as usize] {
                    Draft::Leaf(earlier) if earlier.attribute == predicate.attribute => {
                        merge_predicates(join, earlier, predicate).map(|merged| (place, merged))
                    }
                    _ => None,
                });
            match merged {
                Some((_, Merged::Decides)) => return true,
                Some((_, Merged::NoChange)) => {}
                Some((place, Merged::Predicate(predicate))) => {
                    // A fresh node: the earlier one may have other parents.
                    self.draft.push(Draft::Leaf(predicate));
                    kept[place] = self.draft.len() as u32 - 1;
                }
                None => kept.push(node),
            }
        }
        *nodes = kept;
        false
    }

    /// The same for many operands, without comparing each with each.
    fn merge_many(&mut self, join: Join, nodes: &mut Vec<u32>) -> bool {
        let mut kept: Vec<u32> = Vec::with_capacity(nodes.len());
        let (mut seen_nodes, mut seen_leaves) = (FxHashSet::default(), FxHashSet::default());
        // By attribute: its place in `groups`. A group is a place in `kept` and the sets that meet there.
        let mut group_of: FxHashMap<AttrId, usize> = FxHashMap::default();
        let mut groups: Vec<(usize, AttrId, Vec<ValueSet>)> = Vec::new();
        for &node in nodes.iter() {
            let set = match &self.draft[node as usize] {
                Draft::Leaf(predicate) if !seen_leaves.insert(predicate) => continue,
                Draft::Leaf(Predicate { attribute, over: Over::Value, test }) => {
                    test.to_set().map(|set| (*attribute, set))
                }
                Draft::Leaf(_) => None,
                _ if !seen_nodes.insert(node) => continue,
                _ => None,
            };
            let Some((attribute, set)) = set else {
                kept.push(node);
                continue;
            };
            match group_of.entry(attribute) {
                Entry::Occupied(group) => groups[*group.get()].2.push(set),
                Entry::Vacant(vacant) => {
                    vacant.insert(groups.len());
                    groups.push((kept.len(), attribute, vec![set]));
                    kept.push(node);
                }
            }
        }
        for (place, attribute, sets) in groups {
            if sets.len() == 1 {
                continue;
            }
            let set = join_sets(join, sets);
            if decides(join, &set) {
                return true;
            }
            self.draft.push(Draft::Leaf(Predicate { attribute, over: Over::Value, test: Test::from(set) }));
            kept[place] = self.draft.len() as u32 - 1;
        }
        *nodes = kept;
        false
    }

    fn condition(&mut self, condition: &Condition, negated: bool) -> Form {
        let attribute = self.attributes.number(&condition.attribute.name);
        let over = match (condition.attribute.quantifier, negated) {
            (None, _) => Over::Value,
            (Some(Quantifier::Any), false) | (Some(Quantifier::All), true) => Over::AnyElement,
            (Some(Quantifier::All), false) | (Some(Quantifier::Any), true) => Over::AllElements,
        };
        let closed_world = self.missing == Missing::False;
        let leaf = match (accepted(&condition.op, negated, closed_world), over) {
            // An empty set still accepts an empty list under all(), so only plain predicates fold.
            (Accepted::Set(set), Over::Value) if set.is_empty() => return Form::Const(false),
            (Accepted::Set(set), Over::Value) if set.is_everything() => return Form::Const(true),
            (Accepted::Set(set), _) => Test::from(set),
            (Accepted::Test(test), _) => test,
        };
        let leaf = self.push(Draft::Leaf(Predicate { attribute, over, test: leaf }));
        if negated && closed_world && over != Over::Value {
            let test = Test::Set(Box::new(ValueSet::missing()));
            let absent = self.push(Draft::Leaf(Predicate { attribute, over: Over::Value, test }));
            return self.join(Join::Or, vec![leaf, absent]);
        }
        leaf
    }
}

enum Merged {
    /// The connective is decided: AND by a contradiction, OR by a tautology.
    Decides,
    /// The earlier predicate already says it all.
    NoChange,
    Predicate(Predicate),
}

/// Two predicates on one attribute as one, where that is exact.
fn merge_predicates(join: Join, earlier: &Predicate, later: &Predicate) -> Option<Merged> {
    if earlier == later {
        return Some(Merged::NoChange);
    }
    // Two quantified predicates may be met by different elements.
    if earlier.over != Over::Value || later.over != Over::Value {
        return None;
    }
    let (left, right) = (earlier.test.to_set()?, later.test.to_set()?);
    let set = join_two(join, &left, &right);
    Some(match join {
        _ if decides(join, &set) => Merged::Decides,
        _ if set == left => Merged::NoChange,
        _ => Merged::Predicate(Predicate {
            attribute: earlier.attribute,
            over: Over::Value,
            test: Test::from(set),
        }),
    })
}

fn join_two(join: Join, left: &ValueSet, right: &ValueSet) -> ValueSet {
    match join {
        Join::And => left.intersection(right),
        Join::Or => left.union(right),
    }
}

/// Neighbours first, so that a long list of equalities costs n log n and not n squared.
fn join_sets(join: Join, mut sets: Vec<ValueSet>) -> ValueSet {
    while sets.len() > 1 {
        let pairs = sets.chunks(2);
        sets = pairs
            .map(|pair| if let [l, r] = pair { join_two(join, l, r) } else { pair[0].clone() })
            .collect();
    }
    sets.pop().unwrap_or_else(ValueSet::empty)
}

/// Whether a set leaves the connective no choice.
fn decides(join: Join, set: &ValueSet) -> bool {
    match join {
        Join::And => set.is_empty(),
        Join::Or => set.is_everything(),
    }
}
