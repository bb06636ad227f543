//! Disjunctive and conjunctive normal form (DNF, CNF), for engines that do not take every expression.
//!
//! The number of conjunctions or clauses can be exponential in the size of the expression, so it is computed before
//! anything is expanded.

use super::normal::{Node, NodeId, Normal, Over, Predicate, Root, Test, ValueSet};
use super::syntax::Expr;
use crate::error::{Error, Result};

/// Predicates that must all hold.
pub type Conjunction = Vec<Predicate>;

/// Predicates of which one must hold.
pub type Clause = Vec<Predicate>;

/// Whether a node multiplies the parts of its children in a normal form; the other connective adds them.
type Multiplies = fn(Node) -> bool;

/// In a DNF, AND multiplies.
const IN_DNF: Multiplies = |node| matches!(node, Node::And { .. });
/// In a CNF, OR does.
const IN_CNF: Multiplies = |node| matches!(node, Node::Or { .. });

impl Normal {
    /// Number of conjunctions of the DNF before contradictions are dropped; saturating.
    pub fn dnf_size(&self) -> u64 {
        match self.root() {
            Root::Never => 0,
            Root::Always => 1,
            Root::Node(root) => self.form_size(root, IN_DNF),
        }
    }

    /// Number of clauses of the CNF before tautologies are dropped; saturating.
    pub fn cnf_size(&self) -> u64 {
        match self.root() {
            Root::Never => 1,
            Root::Always => 0,
            Root::Node(root) => self.form_size(root, IN_CNF),
        }
    }

    /// The conjunctions of the DNF: none for a contradiction, a single empty one for a tautology. Predicates on one
    /// attribute are merged, contradictory conjunctions dropped. Fails if there are more than `max`.
    pub fn to_dnf(&self, max: usize) -> Result<Vec<Conjunction>> {
        check_size(self.dnf_size(), max)?;
        let parts = match self.root() {
            Root::Never => Vec::new(),
            Root::Always => vec![Vec::new()],
            Root::Node(root) => self.expand(root, IN_DNF),
        };
        let conjunction = |part: Vec<u32>| self.merged(&part, ValueSet::intersection, ValueSet::is_empty);
        Ok(parts.into_iter().filter_map(conjunction).collect())
    }

    /// The clauses of the CNF: none for a tautology, a single empty one for a contradiction. Predicates on one attribute are
    /// merged, clauses that always hold dropped. Fails if there are more than `max`.
    pub fn to_cnf(&self, max: usize) -> Result<Vec<Clause>> {
        check_size(self.cnf_size(), max)?;
        let parts = match self.root() {
            Root::Never => vec![Vec::new()],
            Root::Always => Vec::new(),
            Root::Node(root) => self.expand(root, IN_CNF),
        };
        let clause = |part: Vec<u32>| self.merged(&part, ValueSet::union, ValueSet::is_everything);
        Ok(parts.into_iter().filter_map(clause).collect())
    }

    /// Number of parts of a node in a normal form; saturating.
    fn form_size(&self, root: NodeId, multiplies: Multiplies) -> u64 {
        let mut sizes: Vec<u64> = Vec::with_capacity(self.nodes().len());
        for &node in self.nodes() {
            let children = self.children(node).iter().map(|&child| sizes[child as usize]);
            sizes.push(match node {
                Node::Leaf(_) => 1,
                _ if multiplies(node) => children.fold(1, u64::saturating_mul),
                _ => children.fold(0, u64::saturating_add),
            });
        }
        sizes[root as usize]
    }

    /// The parts of a node in a normal form, as numbers of predicates.
    fn expand(&self, node: NodeId, multiplies: Multiplies) -> Vec<Vec<u32>> {
        let node = self.nodes()[node as usize];
        let children = self.children(node).iter();
        match node {
            Node::Leaf(predicate) => vec![vec![predicate]],
            _ if multiplies(node) => children.fold(vec![Vec::new()], |done, &child| {
                let right = self.expand(child, multiplies);
                done.iter().flat_map(|left| right.iter().map(|right| [&left[..], right].concat())).collect()
            }),
            _ => children.flat_map(|&child| self.expand(child, multiplies)).collect(),
        }
    }

    /// These predicates, those on one attribute combined; `None` if a combined set decides the whole.
    fn merged(
        &self,
        leaves: &[u32],
        combine: impl Fn(&ValueSet, &ValueSet) -> ValueSet,
        decides: impl Fn(&ValueSet) -> bool,
    ) -> Option<Vec<Predicate>> {
        let mut merged: Vec<Predicate> = Vec::with_capacity(leaves.len());
        for &leaf in leaves {
            let predicate = &self.predicates()[leaf as usize];
            if merged.contains(predicate) {
                continue;
            }
            let mergeable = |earlier: &&mut Predicate| {
                earlier.attribute == predicate.attribute
                    && earlier.over == Over::Value
                    && predicate.over == Over::Value
                    && earlier.test.to_set().is_some()
            };
            match (merged.iter_mut().find(mergeable), predicate.test.to_set()) {
                (Some(earlier), Some(set)) => {
                    let both = combine(&earlier.test.to_set()?, &set);
                    if decides(&both) {
                        return None;
                    }
                    earlier.test = Test::from(both);
                }
                _ => merged.push(predicate.clone()),
            }
        }
        Some(merged)
    }
}

fn check_size(size: u64, max: usize) -> Result<()> {
    if size > max as u64 { Err(Error::TooComplex { size, limit: max as u64 }) } else { Ok(()) }
}

impl Expr {
    /// Number of conjunctions of the DNF before any is merged or dropped; infinity past the range of a float.
    pub fn dnf_size(&self) -> f64 {
        self.dnf_sizes().0
    }

    /// The sizes for the expression and for its negation.
    fn dnf_sizes(&self) -> (f64, f64) {
        let mut operands = self.children().iter().map(Expr::dnf_sizes);
        let Some((size, negated)) = operands.next() else { return (1.0, 1.0) };
        match self {
            Expr::Not(_) => (negated, size),
            Expr::And(_) => operands.fold((size, negated), |(s, n), (other, not)| (s * other, n + not)),
            Expr::Or(_) => operands.fold((size, negated), |(s, n), (other, not)| (s + other, n * not)),
            _ => operands.fold((size, negated), |(s, n), (other, not)| {
                let (different, alike) = (s * not + n * other, s * other + n * not);
                if matches!(self, Expr::Xor(_)) { (different, alike) } else { (alike, different) }
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::expr::{Limits, parse};

    #[test]
    fn sizes_of_expressions_count_conjunctions_before_merging() {
        for (text, size) in [
            ("TRUE", 1.0),
            ("a", 1.0),
            ("(a or b) and (c or d or e)", 6.0),
            ("not (a and b)", 2.0),
            ("a xor b xor c", 4.0),
            ("not (a xnor (b or c))", 3.0),
        ] {
            let expr = parse(text, &Limits::default()).expect("an expression");
            assert_eq!(expr.dnf_size(), size, "{text}");
        }
    }
}
