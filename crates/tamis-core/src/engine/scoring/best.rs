//! The best k of the matches so far.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The best k of the items that are offered, in a heap of at most k. Reused from event to event.
#[derive(Debug)]
pub struct BestK<T> {
    k: usize,
    /// The worst item on top.
    heap: BinaryHeap<Ranked<T>>,
}

/// An item with its rank; less is better.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranked<T> {
    pub score: f64,
    pub sequence: u64,
    pub item: T,
}

/// The rank of the worst item that is still among the best: an item enters if its score is greater, or equal with a
/// smaller position in insertion order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorstOfBest {
    /// Its score.
    pub score: f64,
    /// Its position in insertion order.
    pub sequence: u64,
}

impl WorstOfBest {
    /// Whether this rank is better than another.
    pub(super) fn is_better(&self, other: &WorstOfBest) -> bool {
        self.score.total_cmp(&other.score).then(other.sequence.cmp(&self.sequence)).is_gt()
    }
}

impl<T> Default for BestK<T> {
    fn default() -> BestK<T> {
        BestK { k: 0, heap: BinaryHeap::new() }
    }
}

impl<T: Copy> BestK<T> {
    /// Drops all items; from here on the best `k` are held.
    pub fn begin(&mut self, k: usize) {
        self.k = k;
        self.heap.clear();
    }

    /// Takes an item if it is among the best k so far. `sequence` is its position in the order of insertion, computed
    /// only if its score does not decide.
    pub fn offer(&mut self, score: f64, sequence: impl FnOnce() -> u64, item: T) {
        if self.heap.len() < self.k {
            self.heap.push(Ranked { score, sequence: sequence(), item });
        } else if let Some(mut worst) = self.heap.peek_mut()
            && score.total_cmp(&worst.score).is_ge()
        {
            let ranked = Ranked { score, sequence: sequence(), item };
            if ranked < *worst {
                *worst = ranked;
            }
        }
    }

    /// The least score that can still enter: that of the worst item once there are k, else 0.0.
    pub fn floor(&self) -> f64 {
        if self.heap.len() < self.k {
            0.0
        } else {
            self.heap.peek().map_or(f64::INFINITY, |worst| worst.score)
        }
    }

    /// The worst of the best k, once there are k: what others have to beat.
    pub fn worst(&self) -> Option<WorstOfBest> {
        let worst = self.heap.peek().filter(|_| self.heap.len() >= self.k)?;
        Some(WorstOfBest { score: worst.score, sequence: worst.sequence })
    }

    /// Takes out all items, best first, with their scores.
    pub fn drain(&mut self, mut each: impl FnMut(T, f64)) {
        let mut sorted = std::mem::take(&mut self.heap).into_sorted_vec();
        sorted.drain(..).for_each(|ranked| each(ranked.item, ranked.score));
        // Empty, with the memory of before.
        self.heap = sorted.into();
    }
}

impl<T> Ord for Ranked<T> {
    fn cmp(&self, other: &Ranked<T>) -> Ordering {
        other.score.total_cmp(&self.score).then(self.sequence.cmp(&other.sequence))
    }
}

impl<T> PartialOrd for Ranked<T> {
    fn partial_cmp(&self, other: &Ranked<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Ranked<T> {
    fn eq(&self, other: &Ranked<T>) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Ranked<T> {}

#[cfg(test)]
mod tests {
    use super::BestK;

    #[test]
    fn the_best_k_come_out_in_order_and_ties_by_insertion() {
        let mut best = BestK::default();
        best.begin(3);
        assert_eq!(best.floor(), 0.0);
        for (sequence, score) in [1.0, 5.0, 2.0, 5.0, 2.0, 0.0].into_iter().enumerate() {
            best.offer(score, || sequence as u64, sequence);
        }
        assert_eq!(best.floor(), 2.0);
        let mut drained = Vec::new();
        best.drain(|item, score| drained.push((item, score)));
        assert_eq!(drained, [(1, 5.0), (3, 5.0), (2, 2.0)]);
        best.begin(0);
        best.offer(9.0, || 0, 0);
        assert_eq!(best.floor(), f64::INFINITY);
        best.drain(|_, _| unreachable!("the best none"));
    }
}
