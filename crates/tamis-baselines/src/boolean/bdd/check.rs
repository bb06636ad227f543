//! The invariants of the diagram.

use super::Bdd;
use std::collections::HashSet;

impl Bdd {
    /// Checks order, uniqueness, reference counts, roots and the uses of predicates.
    pub(super) fn check(&self) -> Result<(), String> {
        let diagram = &self.diagram;
        let mut references = vec![0_u32; diagram.iter().map(|(id, ..)| id.index() + 1).max().unwrap_or(2)];
        for (id, node, _) in diagram.iter() {
            let broken = |invariant: &str| Err(format!("node {}: {invariant}", id.0));
            if node.low == node.high {
                return broken("its successors are equal");
            }
            if diagram.find(&node) != Some(id) {
                return broken("it is not in the table, or there twice");
            }
            for successor in [node.low, node.high] {
                if diagram.place(successor) <= diagram.place(id) {
                    return broken("a successor is not later in the order");
                }
                if !successor.is_terminal() {
                    *references.get_mut(successor.index()).ok_or("a successor is not in use")? += 1;
                }
            }
        }
        for root in self.roots.validate()? {
            *references.get_mut(root.index()).ok_or("a root is not in use")? += 1;
        }
        for (id, _, count) in diagram.iter() {
            if count == 0 || count != references[id.index()] {
                return Err(format!(
                    "node {} has {count} references, found {}",
                    id.0,
                    references[id.index()]
                ));
            }
        }
        if diagram.table_len() != diagram.len() {
            return Err(format!("{} nodes in the table, {} in use", diagram.table_len(), diagram.len()));
        }
        self.predicates.validate(diagram.iter().map(|(_, node, _)| node.variable))?;
        let mut places = HashSet::new();
        match diagram.places().find(|(id, place)| !self.predicates.is_used(*id) || !places.insert(*place)) {
            Some((id, _)) => Err(format!("the place of variable {} is shared, or not used", id.0)),
            None => Ok(()),
        }
    }
}
