//! The layered table of an attribute: layer `l` divides its values into `2^l` subranges, each half of one above.
//!
//! Subranges are numbered as the nodes of a heap: 1 is the whole attribute, the halves of `n` are `2n` and `2n + 1`. A range
//! is stored in the fewest subranges that cover it, at most two per layer; a value lies in one subrange of each layer. Of the
//! subranges that cover a range, exactly one contains a given value of it: so a predicate is counted once.

use tamis_core::engine::shared::list_pool::{ListPool, ListRef};
use tamis_core::engine::shared::ordinals::{Ordinal, Span, choose_cuts};

/// See the module's head.
#[derive(Debug)]
pub(super) struct LayeredTable {
    /// The ordinals at which the subranges of the bottom layer begin, but the first.
    cuts: Vec<Ordinal>,
    /// By number of the subrange: the conjunctions one of whose predicates covers it.
    lists: Vec<ListRef>,
}

impl Default for LayeredTable {
    /// One subrange.
    fn default() -> LayeredTable {
        LayeredTable { cuts: Vec::new(), lists: vec![ListRef::EMPTY; 2] }
    }
}

impl LayeredTable {
    /// A table of at most `level` layers below the first, for ranges with these ends. No more layers than there are ends to
    /// tell apart.
    pub fn new(ends: &mut [Ordinal], level: usize) -> LayeredTable {
        let cuts = choose_cuts(ends, 1 << level);
        let bottom = (cuts.len() + 1).next_power_of_two();
        LayeredTable { cuts, lists: vec![ListRef::EMPTY; 2 * bottom] }
    }

    /// Number of subranges in the bottom layer.
    fn bottom(&self) -> usize {
        self.lists.len() / 2
    }

    /// The subrange of the bottom layer that a value lies in.
    fn subrange(&self, at: Ordinal) -> usize {
        self.cuts.partition_point(|cut| *cut <= at)
    }

    /// The subranges that cover what a predicate accepts: a superset, if an end is not between two subranges.
    pub fn cover(&self, spans: &[Span]) -> Vec<usize> {
        let mut covering = Vec::new();
        let mut above = 0;
        for span in spans {
            // Spans ascend; two may end and begin in one subrange.
            let first = self.subrange(span.low).max(above);
            let last = self.subrange(span.high);
            if first <= last {
                self.cover_range(first, last, &mut covering);
                above = last + 1;
            }
        }
        covering
    }

    fn cover_range(&self, first: usize, last: usize, covering: &mut Vec<usize>) {
        let (mut low, mut high) = (first + self.bottom(), last + self.bottom() + 1);
        while low < high {
            if low % 2 == 1 {
                covering.push(low);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                covering.push(high);
            }
            (low, high) = (low / 2, high / 2);
        }
    }

    /// The lists of the subranges that contain a value, from the bottom layer up.
    #[inline]
    pub fn lists_at(&self, at: Ordinal) -> impl Iterator<Item = ListRef> + '_ {
        let bottom = self.subrange(at) + self.bottom();
        std::iter::successors(Some(bottom), |&number| (number > 1).then_some(number / 2))
            .map(|number| self.lists[number])
            .filter(|list| !list.is_empty())
    }

    /// The list of a subrange, to be changed.
    pub fn list_mut(&mut self, number: usize) -> &mut ListRef {
        &mut self.lists[number]
    }

    /// All lists, by number of the subrange.
    pub fn lists(&self) -> &[ListRef] {
        &self.lists
    }

    /// All lists, to be moved.
    pub fn lists_mut(&mut self) -> impl Iterator<Item = &mut ListRef> {
        self.lists.iter_mut()
    }

    /// Number of layers.
    pub fn layers(&self) -> u32 {
        self.bottom().ilog2() + 1
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        self.cuts.capacity() * size_of::<Ordinal>() + self.lists.capacity() * size_of::<ListRef>()
    }
}

/// Removes a conjunction from a list.
pub(super) fn remove(postings: &mut ListPool<u32, 2>, list: &mut ListRef, slot: u32) {
    if let Some(at) = postings.get(*list).iter().position(|other| *other == slot) {
        postings.swap_remove(list, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_one_covering_subrange() {
        for level in [0, 1, 3, 6] {
            let table = LayeredTable::new(&mut (1..60).collect::<Vec<_>>(), level);
            assert!(table.layers() as usize <= level + 1);
            for (low, high) in [(0, 59), (0, 0), (5, 9), (59, 59), (13, 47)] {
                let span = Span { low, high, interval: true, exact: true };
                let covering = table.cover(&[span]);
                assert!(covering.len() <= 2 * table.layers() as usize);
                for value in 0..64 {
                    let bottom = table.subrange(value) + table.bottom();
                    let containing = covering.iter().filter(|number| {
                        std::iter::successors(Some(bottom), |n| (*n > 1).then_some(n / 2))
                            .any(|n| n == **number)
                    });
                    let expected =
                        (table.subrange(low)..=table.subrange(high)).contains(&table.subrange(value));
                    assert_eq!(containing.count(), usize::from(expected), "{level} {low} {high} {value}");
                }
            }
        }
    }

    #[test]
    fn adjacent_spans_are_counted_once() {
        let table = LayeredTable::new(&mut [10, 20, 30], 1);
        let span = |low, high| Span { low, high, interval: true, exact: true };
        let mut covering = table.cover(&[span(0, 3), span(5, 12), span(14, 40)]);
        covering.sort_unstable();
        covering.dedup();
        assert_eq!(covering.len(), table.cover(&[span(0, 3), span(5, 12), span(14, 40)]).len());
    }
}
