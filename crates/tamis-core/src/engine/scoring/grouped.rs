//! The best k of the matches so far, at most some of each group.

use super::best::{Ranked, WorstOfBest};
use rustc_hash::FxHashMap;

/// Items beyond k that are held before the best are selected again.
const SLACK: usize = 32;

/// The best k of the items that are offered, at most `per_group` of each group. Reused from event to event.
///
/// The best are a maximum independent set of a laminar matroid, so items that were once beaten never return: selecting
/// greedily from the items held and those offered since gives what selecting from all items would. An item enters only if
/// it is better than the worst of the best, once there are k, whatever its group.
#[derive(Debug)]
pub struct BestOfGroups<T> {
    k: usize,
    per_group: usize,
    /// Items with their groups: first `selected` of the best, in order, then those offered since.
    items: Vec<Ranked<(u64, T)>>,
    selected: usize,
    /// Items of each group while the best are selected.
    counts: FxHashMap<u64, usize>,
    /// The worst of the best, once there are k.
    worst: Option<WorstOfBest>,
}

impl<T> Default for BestOfGroups<T> {
    fn default() -> BestOfGroups<T> {
        let (items, counts) = (Vec::new(), FxHashMap::default());
        BestOfGroups { k: 0, per_group: 1, items, selected: 0, counts, worst: None }
    }
}

impl<T: Copy> BestOfGroups<T> {
    /// Drops all items; from here on the best `k` are held, at most `per_group` of each group.
    pub fn begin(&mut self, k: usize, per_group: usize) {
        (self.k, self.per_group) = (k, per_group);
        (self.selected, self.worst) = (0, None);
        self.items.clear();
    }

    /// Takes an item if it may be among the best. Its group is computed only if its score and its position in insertion
    /// order do not decide.
    pub fn offer(&mut self, score: f64, sequence: u64, group: impl FnOnce() -> u64, item: T) {
        let offered = WorstOfBest { score, sequence };
        if self.worst.is_some_and(|worst| !offered.is_better(&worst)) {
            return;
        }
        self.items.push(Ranked { score, sequence, item: (group(), item) });
        if self.items.len() >= self.k.saturating_mul(2).max(self.k.saturating_add(SLACK)) {
            self.select();
        }
    }

    /// The worst of the best k, once there are k.
    pub fn worst(&mut self) -> Option<WorstOfBest> {
        self.select();
        self.worst
    }

    /// Takes out all items, best first, with their scores.
    pub fn drain(&mut self, mut each: impl FnMut(T, f64)) {
        self.select();
        self.items.drain(..).for_each(|ranked| each(ranked.item.1, ranked.score));
        self.selected = 0;
    }

    /// Drops the items that are not among the best.
    fn select(&mut self) {
        if self.items.len() == self.selected {
            return;
        }
        self.items.sort_unstable();
        self.counts.clear();
        let (k, per_group, counts) = (self.k, self.per_group, &mut self.counts);
        let mut kept = 0;
        self.items.retain(|ranked| {
            let count = counts.entry(ranked.item.0).or_insert(0);
            let keeps = *count < per_group && kept < k;
            *count += usize::from(keeps);
            kept += usize::from(keeps);
            keeps
        });
        self.selected = self.items.len();
        let last = self.items.last().filter(|_| self.selected == k);
        self.worst = last.map(|last| WorstOfBest { score: last.score, sequence: last.sequence });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_best_are_those_of_sorting_all_and_skipping_full_groups(
            offered in prop::collection::vec((0_u8..6, 0_u64..8), 0..300),
            k in prop::sample::select(vec![1, 2, 3, 7, 40, usize::MAX]),
            per_group in prop::sample::select(vec![1, 2, 5, usize::MAX]),
        ) {
            let mut best = BestOfGroups::default();
            best.begin(k, per_group);
            for (sequence, (score, group)) in (0..).zip(&offered) {
                best.offer(f64::from(*score), sequence, || *group, sequence);
                if sequence % 7 == 0 {
                    best.worst();
                }
            }
            let mut sorted: Vec<(u64, f64, u64)> =
                (0..).zip(&offered).map(|(sequence, (score, group))| (sequence, f64::from(*score), *group)).collect();
            sorted.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let (mut counts, mut expected) = (FxHashMap::default(), Vec::new());
            for (sequence, score, group) in sorted {
                let count = counts.entry(group).or_insert(0);
                if *count < per_group && expected.len() < k {
                    *count += 1;
                    expected.push((sequence, score));
                }
            }
            let mut found = Vec::new();
            best.drain(|item, score| found.push((item, score)));
            prop_assert_eq!(found, expected);
        }
    }
}
