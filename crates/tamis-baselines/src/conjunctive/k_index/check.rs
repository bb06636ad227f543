//! Do the lists agree with the expressions?

use super::KIndex;
use super::clauses::{ListedExpression, clauses_of};
use super::lists::Posting;
use tamis_core::engine::shared::predicates::PredId;

impl KIndex {
    pub(super) fn check(&self) -> Result<(), String> {
        self.predicates.validate()?;
        self.expressions.validate()?;
        self.lists.validate()?;
        let mut uses = vec![0; self.predicates.bound()];
        let mut expected = 0;
        let mut zero = Vec::new();
        for number in self.expressions.all() {
            let clauses = clauses_of(self.expressions.words(number));
            clauses.iter().flatten().for_each(|id| uses[id.index()] += 1);
            let listed = ListedExpression::new(clauses, &self.predicates, self.domain, self.max_keys);
            if !self.expressions.is_stored_as(number, &listed) {
                return Err(format!("k_index: expression {number} is out of date"));
            }
            if listed.size == 0 {
                zero.push(Posting::new(0, number, true, 0));
            }
            for (attribute, key, is_in, clause) in listed.keys {
                expected += key.count();
                let posting = Posting::new(listed.size, number, is_in, clause);
                if !self.lists.contains(attribute, &key, posting) {
                    return Err(format!("k_index: {posting:?} is not listed under {key:?} of {attribute:?}"));
                }
            }
        }
        if let Some(at) = (0..uses.len()).find(|at| self.predicates.uses(PredId(*at as u32)) != uses[*at]) {
            return Err(format!("k_index: predicate {at} is used {} times, counted otherwise", uses[at]));
        }
        zero.sort_unstable();
        if self.lists.get(self.lists.zero()) != zero {
            return Err("k_index: the list of size 0 is wrong".into());
        }
        let found: usize = self.lists.iter().map(|list| list.len()).sum();
        if found != expected {
            return Err(format!("k_index: {found} entries, {expected} are right"));
        }
        Ok(())
    }
}
