//! Disjunctive normal form (DNF), for engines that take only conjunctions.
//!
//! The number of conjunctions can be exponential in the size of the expression, so it is computed before anything is
//! expanded.

use super::normal::{Node, NodeId, Normal, Over, Predicate, Root, Test};
use super::syntax::Expr;
use crate::error::{Error, Result};

/// Predicates that must all hold.
pub type Conjunction = Vec<Predicate>;

impl Normal {
    /// Number of conjunctions of the DNF before contradictions are dropped; saturating.
    pub fn dnf_size(&self) -> u64 {
        let mut sizes: Vec<u64> = Vec::with_capacity(self.nodes().len());
        for &node in self.nodes() {
            let children = self.children(node).iter().map(|&child| sizes[child as usize]);
            sizes.push(match node {
                Node::Leaf(_) => 1,
                Node::And { .. } => children.fold(1, u64::saturating_mul),
                Node::Or { .. } => children.fold(0, u64::saturating_add),
            });
        }
        match self.root() {
            Root::Never => 0,
            Root::Always => 1,
            Root::Node(root) => sizes[root as usize],
        }
    }

    /// The conjunctions of the DNF: none for a contradiction, a single empty one for a tautology. Predicates on one
    /// attribute are merged, contradictory conjunctions dropped. Fails if there are more than `max`.
    pub fn to_dnf(&self, max: usize) -> Result<Vec<Conjunction>> {
        let size = self.dnf_size();
        if size > max as u64 {
            return Err(Error::TooComplex { size, limit: max as u64 });
        }
        let leaves = match self.root() {
            Root::Never => Vec::new(),
            Root::Always => vec![Vec::new()],
            Root::Node(root) => self.expand(root),
        };
        Ok(leaves.into_iter().filter_map(|leaves| self.conjunction(&leaves)).collect())
    }

    /// The conjunctions of a node, as numbers of predicates.
    fn expand(&self, node: NodeId) -> Vec<Vec<u32>> {
        let node = self.nodes()[node as usize];
        let children = self.children(node).iter();
        match node {
            Node::Leaf(predicate) => vec![vec![predicate]],
            Node::Or { .. } => children.flat_map(|&child| self.expand(child)).collect(),
            Node::And { .. } => children.fold(vec![Vec::new()], |done, &child| {
                let right = self.expand(child);
                done.iter().flat_map(|left| right.iter().map(|right| [&left[..], right].concat())).collect()
            }),
        }
    }

    /// The conjunction of these predicates, merged by attribute; `None` if it is a contradiction.
    fn conjunction(&self, leaves: &[u32]) -> Option<Conjunction> {
        let mut merged: Conjunction = Vec::with_capacity(leaves.len());
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
                    let both = earlier.test.to_set()?.intersection(&set);
                    if both.is_empty() {
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
