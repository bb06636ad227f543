//! Clusters: subscriptions of one size behind one access predicate, column by column.
//!
//! A cluster of n columns has for every row a conjunction and the n bits that must be set. Its slot has the conjunctions of
//! all rows first, then the bits of the first column for all rows, and so on, so that each column is read sequentially
//! and the next one only for blocks of rows that are still possible. A cluster list has the clusters of an access
//! predicate, one for each number of columns.
//!
//! | words of 4 bytes | content |
//! | --- | --- |
//! | `capacity` | conjunctions, by row |
//! | `capacity` per column | numbers of bits, by row |
//!
//! Invariant: rows are dense; no cluster is empty.

use super::predicate_index::BitVector;
use tamis_core::engine::shared::conjunctions::ConjId;
use tamis_core::engine::shared::list_pool::{ListPool, ListRef};

/// Rows of a block (the paper's UNFOLD): the columns of a block are read until none of its rows is possible.
const BLOCK: usize = 16;

/// A cluster.
#[derive(Clone, Copy, Debug, Default)]
struct Cluster {
    columns: u32,
    /// Rows in use.
    rows: u32,
    /// Rows that the slot has room for.
    capacity: u32,
    /// The slot.
    words: ListRef,
}

/// All clusters.
#[derive(Debug, Default)]
pub(super) struct Clusters {
    words: ListPool<u32, 1>,
    lists: ListPool<Cluster, 1>,
}

impl Clusters {
    /// Adds a row to the cluster of its size; the row's number.
    pub fn insert(&mut self, list: &mut ListRef, id: ConjId, bits: &[u32]) -> u32 {
        let columns = bits.len() as u32;
        let found = self.lists.get(*list).iter().position(|cluster| cluster.columns == columns);
        let at = found.unwrap_or_else(|| {
            self.lists.extend(list, &[Cluster { columns, ..Cluster::default() }]);
            list.len() - 1
        });
        let Clusters { words, lists } = self;
        let cluster = &mut lists.get_mut(*list)[at];
        if cluster.rows == cluster.capacity {
            grow(words, cluster);
        }
        let (row, capacity) = (cluster.rows as usize, cluster.capacity as usize);
        let slot = words.get_mut(cluster.words);
        slot[row] = id.0;
        bits.iter().enumerate().for_each(|(column, bit)| slot[(column + 1) * capacity + row] = *bit);
        cluster.rows += 1;
        row as u32
    }

    /// Removes a row; the conjunction that took its number, if any.
    pub fn remove(&mut self, list: &mut ListRef, columns: usize, row: u32) -> Option<ConjId> {
        let Clusters { words, lists } = self;
        let at = lists.get(*list).iter().position(|cluster| cluster.columns as usize == columns)?;
        let cluster = &mut lists.get_mut(*list)[at];
        cluster.rows -= 1;
        let (last, capacity) = (cluster.rows as usize, cluster.capacity as usize);
        let slot = words.get_mut(cluster.words);
        (0..=columns)
            .for_each(|column| slot[column * capacity + row as usize] = slot[column * capacity + last]);
        let moved = (row as usize != last).then(|| ConjId(slot[row as usize]));
        if cluster.rows == 0 {
            words.release(cluster.words);
            lists.swap_remove(list, at);
        }
        moved
    }

    /// Visits the conjunctions of a cluster list whose bits are all set.
    #[inline]
    pub fn find(&self, list: ListRef, bits: &BitVector, mut visit: impl FnMut(ConjId)) {
        for cluster in self.lists.get(list) {
            let (rows, capacity) = (cluster.rows as usize, cluster.capacity as usize);
            let (ids, columns) = self.words.get(cluster.words).split_at(capacity);
            for start in (0..rows).step_by(BLOCK) {
                let end = rows.min(start + BLOCK);
                let mut possible = u32::MAX >> (32 - (end - start));
                for column in columns.chunks_exact(capacity) {
                    let held = column[start..end].iter().rev();
                    possible &= held.fold(0, |held, bit| held << 1 | bits.get(*bit));
                    if possible == 0 {
                        break;
                    }
                }
                while possible != 0 {
                    visit(ConjId(ids[start + possible.trailing_zeros() as usize]));
                    possible &= possible - 1;
                }
            }
        }
    }

    /// The conjunctions of a cluster list with their bits and rows.
    pub fn rows(&self, list: ListRef) -> Vec<(ConjId, Vec<u32>, u32)> {
        let mut found = Vec::new();
        for cluster in self.lists.get(list) {
            let (slot, capacity) = (self.words.get(cluster.words), cluster.capacity as usize);
            for row in 0..cluster.rows as usize {
                let bits =
                    (1..=cluster.columns as usize).map(|column| slot[column * capacity + row]).collect();
                found.push((ConjId(slot[row]), bits, row as u32));
            }
        }
        found
    }

    /// Number of clusters in a list.
    pub fn count(&self, list: ListRef) -> usize {
        self.lists.get(list).len()
    }

    /// Moves clusters together. All cluster lists must be given.
    pub fn defragment<'l>(&mut self, lists: impl Iterator<Item = &'l mut ListRef>) {
        let mut all: Vec<&mut ListRef> = lists.collect();
        self.lists.defragment(all.iter_mut().map(|list| &mut **list));
        let mut clusters: Vec<Cluster> = Vec::new();
        all.iter().for_each(|list| clusters.extend_from_slice(self.lists.get(**list)));
        self.words.defragment(clusters.iter_mut().map(|cluster| &mut cluster.words));
        let mut clusters = clusters.into_iter();
        for list in all {
            self.lists.get_mut(*list).iter_mut().zip(&mut clusters).for_each(|(to, from)| *to = from);
        }
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        self.words.memory() + self.lists.memory()
    }
}

/// Moves a full cluster to a slot with room for half as many rows again.
fn grow(words: &mut ListPool<u32, 1>, cluster: &mut Cluster) {
    let (columns, old) = (cluster.columns as usize + 1, cluster.capacity as usize);
    let capacity = old + (old / 2).max(1);
    let rows = words.get(cluster.words).to_vec();
    let slot = words.allocate_default(columns * capacity);
    for (column, row) in rows.chunks_exact(old.max(1)).enumerate() {
        words.get_mut(slot)[column * capacity..][..old].copy_from_slice(row);
    }
    words.release(cluster.words);
    (cluster.words, cluster.capacity) = (slot, capacity as u32);
}
