//! The invariants of labelled expressions.

use super::{Labelled, Labelling};
use tamis_core::engine::SubId;
use tamis_core::engine::shared::predicates::PredId;

impl<S: Labelling> Labelled<S> {
    /// Checks the postings, that each leaf has one, and that all labels of a subscription satisfy it.
    pub(super) fn check(&self) -> Result<(), String> {
        self.postings.validate()?;
        let uses = self.leaf_lists.iter().flat_map(|list| self.leaf_predicates.get(*list));
        self.predicates.validate(uses.map(|predicate| PredId(*predicate)))?;
        let mut labels = vec![Vec::new(); self.leaf_lists.len()];
        let mut predicates = vec![Vec::new(); self.leaf_lists.len()];
        for (predicate, posting) in self.postings.iter() {
            let at = posting.subscription().index();
            if at >= labels.len() {
                return Err(format!("a posting of predicate {predicate} is of no subscription"));
            }
            labels[at].push(posting.leaf);
            predicates[at].push(predicate as u32);
        }
        let mut buffers = S::Buffers::default();
        for (at, list) in self.leaf_lists.iter().enumerate() {
            let mut expected = self.leaf_predicates.get(*list).to_vec();
            expected.sort_unstable();
            if predicates[at] != expected {
                return Err(format!("subscription {at} has leaves without a posting, or the reverse"));
            }
            labels[at].sort_unstable();
            if !list.is_empty() && !self.scheme.holds(SubId(at as u32), &labels[at], &mut buffers) {
                return Err(format!("all labels of subscription {at} do not satisfy it"));
            }
        }
        Ok(())
    }
}
