//! Many growing lists in one array: no list has an allocation of its own, and a list is eight bytes to refer to.

/// A list's place. The default is an empty list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Block {
    /// In units.
    start: u32,
    len: u32,
}

impl Block {
    pub const EMPTY: Block = Block { start: 0, len: 0 };

    pub fn len(self) -> usize {
        self.len as usize
    }

    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// The lists. Room comes in a few sizes, multiples of `UNIT` items; freed room is used again for the same size.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks<T, const UNIT: usize> {
    items: Vec<T>,
    /// By size: where free room is.
    free: Vec<Vec<u32>>,
}

/// The size that holds `units`: 1, 2, 3, 4, 6, 8, 12, 16, ... and its number.
fn size_for(units: usize) -> (usize, usize) {
    if units <= 2 {
        return (units, units);
    }
    let power = usize::BITS as usize - 1 - (units - 1).leading_zeros() as usize;
    let (half, full) = (3 << (power - 1), 2 << power);
    if units <= half { (half, 2 * power + 1) } else { (full, 2 * power + 2) }
}

impl<T: Copy + Default, const UNIT: usize> Blocks<T, UNIT> {
    fn units(len: usize) -> usize {
        len.div_ceil(UNIT)
    }

    /// The items of a list.
    #[inline]
    pub fn get(&self, block: Block) -> &[T] {
        &self.items[block.start as usize * UNIT..][..block.len as usize]
    }

    /// The items of a list, to be changed.
    pub fn get_mut(&mut self, block: Block) -> &mut [T] {
        &mut self.items[block.start as usize * UNIT..][..block.len as usize]
    }

    /// A new list of `len` default items.
    pub fn make(&mut self, len: usize) -> Block {
        let block = self.allot(len);
        self.get_mut(block).fill(T::default());
        block
    }

    /// A new list with the items of another.
    pub fn copy(&mut self, block: Block) -> Block {
        let made = self.allot(block.len());
        let from = block.start as usize * UNIT;
        self.items.copy_within(from..from + block.len(), made.start as usize * UNIT);
        made
    }

    fn allot(&mut self, len: usize) -> Block {
        let (units, size) = size_for(Self::units(len));
        let start = match self.free.get_mut(size).and_then(Vec::pop) {
            Some(start) => start,
            None => {
                let start = self.items.len() / UNIT;
                // Doubling would leave up to half of a large index empty.
                if self.items.capacity() - self.items.len() < units * UNIT {
                    self.items.reserve_exact((units * UNIT).max(self.items.len() / 4));
                }
                self.items.resize(self.items.len() + units * UNIT, T::default());
                start as u32
            }
        };
        Block { start, len: len as u32 }
    }

    /// Gives a list's room back.
    pub fn release(&mut self, block: Block) {
        if block.is_empty() {
            return;
        }
        let (_, size) = size_for(Self::units(block.len()));
        if self.free.len() <= size {
            self.free.resize(size + 1, Vec::new());
        }
        self.free[size].push(block.start);
    }

    /// Appends items to a list.
    pub fn extend(&mut self, block: &mut Block, items: &[T]) {
        let len = block.len() + items.len();
        self.set_len(block, len);
        let from = block.start as usize * UNIT + len - items.len();
        self.items[from..from + items.len()].copy_from_slice(items);
    }

    /// Takes `count` items out of a list, at `at`.
    pub fn cut_out(&mut self, block: &mut Block, at: usize, count: usize) {
        self.get_mut(*block).copy_within(at + count.., at);
        self.set_len(block, block.len() - count);
    }

    /// Takes an item out of a list whose order does not matter.
    pub fn swap_out(&mut self, block: &mut Block, at: usize) {
        let last = block.len() - 1;
        self.get_mut(*block).swap(at, last);
        self.set_len(block, last);
    }

    /// Changes the length; what was there stays as far as it fits.
    fn set_len(&mut self, block: &mut Block, len: usize) {
        if size_for(Self::units(len)) == size_for(Self::units(block.len())) {
            block.len = len as u32;
            return;
        }
        let moved = self.allot(len);
        let from = block.start as usize * UNIT;
        self.items.copy_within(from..from + len.min(block.len()), moved.start as usize * UNIT);
        self.release(*block);
        *block = moved;
    }

    /// Moves all lists together, in the order given, so that no room is left between them and little behind.
    pub fn settle<'b>(&mut self, lists: impl Iterator<Item = &'b mut Block>) {
        let mut items = Vec::with_capacity(self.items.len());
        for list in lists {
            let (units, _) = size_for(Self::units(list.len()));
            let start = items.len();
            items.extend_from_slice(self.get(*list));
            items.resize(start + units * UNIT, T::default());
            list.start = (start / UNIT) as u32;
        }
        settle(&mut items);
        self.items = items;
        self.free.clear();
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        let free: usize = self.free.iter().map(|starts| starts.capacity() * size_of::<u32>()).sum();
        self.items.capacity() * size_of::<T>() + free
    }
}

/// Gives back room for growth, but a little, so that the next item is cheap.
pub(crate) fn settle<T>(items: &mut Vec<T>) {
    items.shrink_to(items.len() + items.len() / 64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_hold_what_they_are_for() {
        let mut sizes: Vec<_> = (0..5_000).map(size_for).collect();
        for (units, (size, _)) in sizes.iter().enumerate() {
            assert!(*size >= units && *size <= units + units / 2 + 1, "{units} in {size}");
        }
        sizes.dedup();
        assert!(sizes.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
    }

    #[test]
    fn lists_keep_their_items() {
        let mut blocks = Blocks::<u32, 4>::default();
        let mut model: Vec<(Block, Vec<u32>)> = vec![(Block::default(), Vec::new()); 20];
        let mut state = 7u32;
        for round in 0..20_000u32 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let at = (state >> 8) as usize % model.len();
            let (block, items) = &mut model[at];
            match state >> 28 {
                0 => {
                    blocks.release(*block);
                    *block = Block::default();
                    items.clear();
                }
                1..8 if items.len() > 3 => {
                    let from = (state >> 16) as usize % (items.len() - 2);
                    blocks.cut_out(block, from, 2);
                    items.drain(from..from + 2);
                }
                _ => {
                    blocks.extend(block, &[round, state, at as u32]);
                    items.extend([round, state, at as u32]);
                }
            }
            model.iter().for_each(|(block, items)| assert_eq!(blocks.get(*block), items));
        }
        let before = blocks.items.len();
        blocks.settle(model.iter_mut().rev().map(|(block, _)| block));
        assert!(blocks.items.len() <= before);
        model.iter().for_each(|(block, items)| assert_eq!(blocks.get(*block), items));
        let copy = blocks.copy(model[0].0);
        assert_eq!(blocks.get(copy), model[0].1);
    }
}
