//! A sorted array in blocks: what a long segment consists of.
//!
//! Invariants: entries ascend by key and target, within a block and from block to block; no block is empty or longer than
//! [`BLOCK`]; a fence is the first entry of its block; the greatest high end of a block is known.
//!
//! Cost, for n entries: finding O(log n), inserting and removing O(log n + block), and a move of the fences per half block.

use super::{Entry, Place};
use crate::engine::op_index::operand::Operand;

/// Maximum entries of a block.
const BLOCK: usize = 256;

/// See the module's head.
#[derive(Clone, Debug)]
pub(super) struct SortedBlocks<O: Operand> {
    /// By block: its first entry.
    fences: Vec<Place<O>>,
    blocks: Vec<Block<O>>,
}

#[derive(Clone, Debug)]
struct Block<O: Operand> {
    entries: Vec<Entry<O>>,
    /// The greatest `high` of the entries.
    greatest_high: O,
}

impl<O: Operand> Block<O> {
    fn new(entries: Vec<Entry<O>>) -> Block<O> {
        let greatest_high = greatest_high(&entries);
        Block { entries, greatest_high }
    }
}

fn greatest_high<O: Operand>(entries: &[Entry<O>]) -> O {
    entries.iter().map(|entry| entry.high).max().unwrap_or(O::MIN)
}

impl<O: Operand> SortedBlocks<O> {
    /// Blocks of sorted entries.
    pub fn of(entries: &[Entry<O>]) -> SortedBlocks<O> {
        let blocks: Vec<Block<O>> =
            entries.chunks(BLOCK * 3 / 4).map(|part| Block::new(part.to_vec())).collect();
        SortedBlocks { fences: blocks.iter().map(|block| block.entries[0].place()).collect(), blocks }
    }

    /// The block that has a place, or would have it.
    fn block_of(&self, place: Place<O>) -> usize {
        self.fences.partition_point(|fence| *fence <= place).saturating_sub(1)
    }

    pub fn insert(&mut self, entry: Entry<O>) {
        if self.blocks.is_empty() {
            self.blocks.push(Block::new(vec![entry]));
            self.fences.push(entry.place());
            return;
        }
        let mut at = self.block_of(entry.place());
        if self.blocks[at].entries.len() == BLOCK {
            let upper = Block::new(self.blocks[at].entries.split_off(BLOCK / 2));
            self.blocks[at].greatest_high = greatest_high(&self.blocks[at].entries);
            self.fences.insert(at + 1, upper.entries[0].place());
            self.blocks.insert(at + 1, upper);
            at = self.block_of(entry.place());
        }
        let block = &mut self.blocks[at];
        let position = block.entries.partition_point(|other| other.place() < entry.place());
        block.entries.insert(position, entry);
        block.greatest_high = block.greatest_high.max(entry.high);
        self.fences[at] = block.entries[0].place();
    }

    /// Removes the entry at a place; whether there was one.
    pub fn remove(&mut self, place: Place<O>) -> bool {
        let at = self.block_of(place);
        let Some(block) = self.blocks.get_mut(at) else { return false };
        let Ok(position) = block.entries.binary_search_by_key(&place, Entry::place) else { return false };
        let removed = block.entries.remove(position);
        if removed.high == block.greatest_high {
            block.greatest_high = greatest_high(&block.entries);
        }
        match block.entries.first() {
            Some(first) => self.fences[at] = first.place(),
            None => {
                self.blocks.remove(at);
                self.fences.remove(at);
            }
        }
        self.merge_at(at.saturating_sub(1));
        true
    }

    /// Merges a block with the next if both together fill half of one.
    fn merge_at(&mut self, at: usize) {
        let Some([first, second]) = self.blocks.get_mut(at..at + 2) else { return };
        if first.entries.len() + second.entries.len() <= BLOCK / 2 {
            first.entries.append(&mut second.entries);
            first.greatest_high = first.greatest_high.max(second.greatest_high);
            self.blocks.remove(at + 1);
            self.fences.remove(at + 1);
        }
    }

    /// Visits the entries with keys from `first` to `last`, except for blocks without a high end of at least `high`.
    #[inline]
    pub fn scan(&self, first: O::Key, last: O::Key, high: O, mut visit: impl FnMut(&Entry<O>)) {
        let from = self.block_of((first, 0)).min(self.blocks.len());
        for (fence, block) in self.fences[from..].iter().zip(&self.blocks[from..]) {
            if fence.0 > last {
                return;
            }
            if block.greatest_high >= high {
                let from = block.entries.partition_point(|entry| entry.key < first);
                let upper = &block.entries[from..];
                upper.iter().take_while(|entry| entry.key <= last).for_each(&mut visit);
            }
        }
    }

    /// Every entry, in order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry<O>> {
        self.blocks.iter().flat_map(|block| &block.entries)
    }

    /// Frees memory reserved for growth.
    pub fn defragment(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.entries.shrink_to_fit());
        self.blocks.shrink_to_fit();
        self.fences.shrink_to_fit();
    }

    /// Checks the invariants, except for the order of entries.
    pub fn validate(&self) -> Result<(), String> {
        for (block, fence) in self.blocks.iter().zip(&self.fences) {
            let sized = (1..=BLOCK).contains(&block.entries.len());
            if !sized
                || block.entries[0].place() != *fence
                || block.greatest_high != greatest_high(&block.entries)
            {
                return Err("a block has a wrong size, fence or greatest high end".into());
            }
        }
        if self.fences.len() != self.blocks.len() {
            return Err(format!("{} fences for {} blocks", self.fences.len(), self.blocks.len()));
        }
        Ok(())
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        let entries: usize = self.blocks.iter().map(|block| block.entries.capacity()).sum();
        entries * size_of::<Entry<O>>()
            + self.blocks.capacity() * size_of::<Block<O>>()
            + self.fences.capacity() * size_of::<Place<O>>()
    }
}
