//! PS-Tree as a stabbing index: each leaf lists the intervals that cover it (the paper's PS-Tree_B without
//! signatures).
//!
//! Cost, for n intervals: a query is one PS-Tree look-up, O(elements of the point), and its answer is one list. An
//! interval is in the list of every leaf it covers, at most 2n + 1, so memory is O(n²) in the worst case.

use super::leaves::{LeafId, Leaves};
use super::ps_tree::{PsTree, Range};
use super::{DynamicStabbing, Stabbing};
use crate::engine::shared::list_pool::{ListPool, ListRef};
use crate::expr::Cut;
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// See the module's head.
#[derive(Clone, Debug)]
pub struct PsStabbing {
    tree: PsTree<i64>,
    /// The leaves of `tree`; the predicate counter of a leaf is the length of its list.
    leaves: Leaves,
    /// By leaf: its list in `numbers`.
    lists: Vec<ListRef>,
    /// Numbers of the intervals that cover a leaf, per leaf in any order.
    numbers: ListPool<u32, 4>,
    /// By number.
    intervals: HashMap<u32, (i64, i64), FxBuildHasher>,
}

/// The values from `low` to `high`; an end of the domain needs no cut.
fn range((low, high): (i64, i64)) -> Range<i64> {
    let before = |at: i64| Cut { at, after: false };
    ((low != i64::MIN).then(|| before(low)), high.checked_add(1).map(before))
}

impl PsStabbing {
    fn cover(&self, range: &Range<i64>) -> Vec<LeafId> {
        let mut cover = Vec::new();
        self.leaves.between(self.tree.ends(range), |leaf| cover.push(leaf));
        cover
    }

    /// The numbers of the intervals that cover a leaf.
    fn list(&self, leaf: LeafId) -> &[u32] {
        self.numbers.get(self.lists[leaf.index()])
    }
}

impl Stabbing for PsStabbing {
    fn build(intervals: &[(i64, i64)]) -> PsStabbing {
        let mut leaves = Leaves::default();
        let tree = PsTree::new(&mut leaves);
        let mut index = PsStabbing {
            tree,
            leaves,
            lists: Vec::new(),
            numbers: ListPool::default(),
            intervals: HashMap::default(),
        };
        // Three passes over the intervals: cut all spaces, so that no list is copied on a split; count the intervals
        // per leaf, so that no list is reallocated; fill the lists.
        let mut splits = Vec::new();
        for interval in intervals {
            index.tree.place(&range(*interval), &mut index.leaves, &mut splits);
        }
        for interval in intervals {
            index.leaves.cover_between(index.tree.ends(&range(*interval)), 1);
        }
        index.lists.resize(index.leaves.bound(), ListRef::EMPTY);
        let PsStabbing { tree, leaves, lists, numbers, .. } = &mut index;
        leaves.between(tree.ends(&(None, None)), |leaf| {
            lists[leaf.index()] = numbers.allocate_default(leaves.predicates(leaf) as usize);
        });
        let mut filled = vec![0; lists.len()];
        for (interval, number) in intervals.iter().zip(0..) {
            leaves.between(tree.ends(&range(*interval)), |leaf| {
                numbers.get_mut(lists[leaf.index()])[filled[leaf.index()]] = number;
                filled[leaf.index()] += 1;
            });
        }
        index.intervals = (0..).zip(intervals.iter().copied()).collect();
        index
    }

    fn stab(&self, point: i64, found: &mut Vec<u32>) {
        found.extend_from_slice(self.list(self.tree.locate(&point)));
    }

    fn count(&self, point: i64) -> usize {
        self.leaves.predicates(self.tree.locate(&point)) as usize
    }

    fn memory(&self) -> usize {
        self.tree.memory()
            + self.leaves.memory()
            + self.lists.capacity() * size_of::<ListRef>()
            + self.numbers.memory()
            + self.intervals.allocation_size()
    }

    fn validate(&self) -> Result<(), String> {
        let mut leaves = Vec::new();
        self.tree.validate(&self.leaves, &mut leaves)?;
        let mut expected = vec![Vec::new(); self.lists.len()];
        for (number, interval) in &self.intervals {
            self.cover(&range(*interval)).into_iter().for_each(|leaf| expected[leaf.index()].push(*number));
        }
        for leaf in leaves {
            let (mut wanted, mut found) = (expected[leaf.index()].clone(), self.list(leaf).to_vec());
            wanted.sort_unstable();
            found.sort_unstable();
            if wanted != found || self.leaves.predicates(leaf) as usize != found.len() {
                return Err(format!("ps stabbing: leaf {} lists {found:?}, expected {wanted:?}", leaf.0));
            }
        }
        Ok(())
    }
}

impl DynamicStabbing for PsStabbing {
    fn insert(&mut self, number: u32, interval: (i64, i64)) {
        let mut splits = Vec::new();
        self.tree.place(&range(interval), &mut self.leaves, &mut splits);
        self.lists.resize(self.leaves.bound(), ListRef::EMPTY);
        for split in splits {
            self.lists[split.made.index()] = self.numbers.copy(self.lists[split.kept.index()]);
        }
        self.intervals.insert(number, interval);
        for leaf in self.cover(&range(interval)) {
            self.numbers.extend(&mut self.lists[leaf.index()], &[number]);
            self.leaves.cover(leaf);
        }
    }

    fn remove(&mut self, number: u32, interval: (i64, i64)) {
        if self.intervals.get(&number) != Some(&interval) {
            return;
        }
        self.intervals.remove(&number);
        let range = range(interval);
        for leaf in self.cover(&range) {
            let at = self.list(leaf).iter().position(|other| *other == number);
            if let Some(at) = at {
                self.numbers.swap_remove(&mut self.lists[leaf.index()], at);
            }
            self.leaves.uncover(leaf);
        }
        let mut merges = Vec::new();
        self.tree.unplace(&range, &mut self.leaves, &mut merges);
        for merge in merges {
            self.numbers.release(std::mem::take(&mut self.lists[merge.gone.index()]));
        }
    }
}
