//! PS-Tree as a stabbing index: each leaf lists the intervals that cover it (the paper's PS-Tree_B without
//! signatures).
//!
//! Cost, for n intervals: a query walks the elements of the point and then has its answer as one list. An interval is
//! in the list of every leaf it covers, up to 2n + 1 of them: memory is what the speed is paid with.

use super::leaves::{LeafId, Leaves};
use super::ps_tree::{PsTree, Range};
use super::{DynamicStabbing, Stabbing};
use crate::expr::Cut;
use rustc_hash::FxHashMap;

/// See the module's head.
#[derive(Clone, Debug)]
pub struct PsStabbing {
    tree: PsTree<i64>,
    leaves: Leaves,
    /// By leaf: the numbers of the intervals that cover it.
    lists: Vec<Vec<u32>>,
    intervals: FxHashMap<u32, (i64, i64)>,
}

/// The values from `low` to `high`; ends of the domain are no cuts.
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
}

impl Stabbing for PsStabbing {
    fn build(intervals: &[(i64, i64)]) -> PsStabbing {
        let mut leaves = Leaves::default();
        let tree = PsTree::new(&mut leaves);
        let mut index = PsStabbing { tree, leaves, lists: vec![Vec::new()], intervals: FxHashMap::default() };
        // With all cuts made first, no list is copied.
        let mut splits = Vec::new();
        for interval in intervals {
            index.tree.place(&range(*interval), &mut index.leaves, &mut splits);
        }
        index.lists.resize(index.leaves.bound(), Vec::new());
        for (number, interval) in intervals.iter().enumerate() {
            index.list(number as u32, *interval);
        }
        index
    }

    fn stab(&self, point: i64, found: &mut Vec<u32>) {
        found.extend_from_slice(&self.lists[self.tree.locate(&point).index()]);
    }

    fn count(&self, point: i64) -> usize {
        self.leaves.get(self.tree.locate(&point)).predicates as usize
    }

    fn memory(&self) -> usize {
        let lists: usize = self.lists.iter().map(|list| list.capacity() * size_of::<u32>()).sum();
        self.tree.memory()
            + self.leaves.memory()
            + self.lists.capacity() * size_of::<Vec<u32>>()
            + lists
            + self.intervals.capacity() * (size_of::<(u32, (i64, i64))>() + 1)
    }

    fn validate(&self) -> Result<(), String> {
        let mut leaves = Vec::new();
        self.tree.validate(&self.leaves, &mut leaves)?;
        let mut expected = vec![Vec::new(); self.lists.len()];
        for (number, interval) in &self.intervals {
            self.cover(&range(*interval)).into_iter().for_each(|leaf| expected[leaf.index()].push(*number));
        }
        for leaf in leaves {
            let (mut wanted, mut found) = (expected[leaf.index()].clone(), self.lists[leaf.index()].clone());
            wanted.sort_unstable();
            found.sort_unstable();
            if wanted != found || self.leaves.get(leaf).predicates as usize != found.len() {
                return Err(format!("ps stabbing: leaf {} lists {found:?}, should {wanted:?}", leaf.0));
            }
        }
        Ok(())
    }
}

impl PsStabbing {
    /// Lists an interval whose cuts have been made.
    fn list(&mut self, number: u32, interval: (i64, i64)) {
        self.intervals.insert(number, interval);
        for leaf in self.cover(&range(interval)) {
            self.lists[leaf.index()].push(number);
            self.leaves.get_mut(leaf).predicates += 1;
        }
    }
}

impl DynamicStabbing for PsStabbing {
    fn insert(&mut self, number: u32, interval: (i64, i64)) {
        let mut splits = Vec::new();
        self.tree.place(&range(interval), &mut self.leaves, &mut splits);
        self.lists.resize(self.leaves.bound(), Vec::new());
        for split in splits {
            self.lists[split.made.index()] = self.lists[split.kept.index()].clone();
        }
        self.list(number, interval);
    }

    fn remove(&mut self, number: u32, interval: (i64, i64)) {
        if self.intervals.get(&number) != Some(&interval) {
            return;
        }
        self.intervals.remove(&number);
        let range = range(interval);
        for leaf in self.cover(&range) {
            self.lists[leaf.index()].retain(|other| *other != number);
            self.leaves.get_mut(leaf).predicates -= 1;
        }
        let mut merges = Vec::new();
        self.tree.unplace(&range, &mut self.leaves, &mut merges);
        for merge in merges {
            self.lists[merge.gone.index()] = Vec::new();
        }
    }
}
