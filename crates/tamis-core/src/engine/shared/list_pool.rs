//! Many growing lists in one array: no list has an allocation of its own, and a reference to a list has 8 bytes.
//!
//! A list owns a slot of the array whose size is one of a few size classes, multiples of `UNIT` items: 1, 2, 3, 4, 6, 8,
//! 12, 16 ... units, so at most half of a slot is unused. A list that outgrows its slot moves to a larger one; freed slots
//! are used again by lists of the same class.
//!
//! Invariant: slots in use and free slots are disjoint.
//!
//! Cost: appending O(items) amortized; removing O(list).

/// A list of a [`ListPool`]. The default is an empty list, which owns no slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListRef {
    /// Where its slot begins, in units.
    start: u32,
    /// Its length, in items.
    len: u32,
}

impl ListRef {
    /// The list without items.
    pub const EMPTY: ListRef = ListRef { start: 0, len: 0 };

    /// Number of items.
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether the list has no items.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// The array of all lists.
#[derive(Clone, Debug, Default)]
pub struct ListPool<T, const UNIT: usize> {
    /// All slots; a multiple of `UNIT` items.
    items: Vec<T>,
    /// By size class: where free slots begin, in units.
    free: Vec<Vec<u32>>,
}

/// The size in units of the smallest class that holds `units`, and the number of the class.
fn size_class(units: usize) -> (usize, usize) {
    if units <= 2 {
        return (units, units);
    }
    let power = usize::BITS as usize - 1 - (units - 1).leading_zeros() as usize;
    let (half, full) = (3 << (power - 1), 2 << power);
    if units <= half { (half, 2 * power + 1) } else { (full, 2 * power + 2) }
}

impl<T: Copy + Default, const UNIT: usize> ListPool<T, UNIT> {
    fn units(len: usize) -> usize {
        len.div_ceil(UNIT)
    }

    /// The items of a list.
    #[inline]
    pub fn get(&self, list: ListRef) -> &[T] {
        &self.items[list.start as usize * UNIT..][..list.len as usize]
    }

    /// The items of a list, mutable.
    pub fn get_mut(&mut self, list: ListRef) -> &mut [T] {
        &mut self.items[list.start as usize * UNIT..][..list.len as usize]
    }

    /// Allocates a list of `len` default items.
    pub fn allocate_default(&mut self, len: usize) -> ListRef {
        let list = self.allocate(len);
        self.get_mut(list).fill(T::default());
        list
    }

    /// Allocates a list with the items of another.
    pub fn copy(&mut self, list: ListRef) -> ListRef {
        let made = self.allocate(list.len());
        let from = list.start as usize * UNIT;
        self.items.copy_within(from..from + list.len(), made.start as usize * UNIT);
        made
    }

    fn allocate(&mut self, len: usize) -> ListRef {
        let (units, size) = size_class(Self::units(len));
        let start = match self.free.get_mut(size).and_then(Vec::pop) {
            Some(start) => start,
            None => {
                let start = self.items.len() / UNIT;
                // Doubling would leave up to half of a large pool unused.
                if self.items.capacity() - self.items.len() < units * UNIT {
                    self.items.reserve_exact((units * UNIT).max(self.items.len() / 4));
                }
                self.items.resize(self.items.len() + units * UNIT, T::default());
                start as u32
            }
        };
        ListRef { start, len: len as u32 }
    }

    /// Frees a list's slot.
    pub fn release(&mut self, list: ListRef) {
        if list.is_empty() {
            return;
        }
        let (_, size) = size_class(Self::units(list.len()));
        if self.free.len() <= size {
            self.free.resize(size + 1, Vec::new());
        }
        self.free[size].push(list.start);
    }

    /// Appends items to a list.
    pub fn extend(&mut self, list: &mut ListRef, items: &[T]) {
        let len = list.len() + items.len();
        self.set_len(list, len);
        let from = list.start as usize * UNIT + len - items.len();
        self.items[from..from + items.len()].copy_from_slice(items);
    }

    /// Removes `count` items from `at` on; the order of the others stays.
    pub fn remove_range(&mut self, list: &mut ListRef, at: usize, count: usize) {
        self.get_mut(*list).copy_within(at + count.., at);
        self.set_len(list, list.len() - count);
    }

    /// Removes an item; the last one takes its position.
    pub fn swap_remove(&mut self, list: &mut ListRef, at: usize) {
        let last = list.len() - 1;
        self.get_mut(*list).swap(at, last);
        self.set_len(list, last);
    }

    /// Changes the length; the items that fit stay.
    fn set_len(&mut self, list: &mut ListRef, len: usize) {
        if size_class(Self::units(len)) == size_class(Self::units(list.len())) {
            list.len = len as u32;
            return;
        }
        let moved = self.allocate(len);
        let from = list.start as usize * UNIT;
        self.items.copy_within(from..from + len.min(list.len()), moved.start as usize * UNIT);
        self.release(*list);
        *list = moved;
    }

    /// Moves all lists, which must be given, together in the order given, and frees the rest of the array.
    pub fn defragment<'l>(&mut self, lists: impl Iterator<Item = &'l mut ListRef>) {
        let mut items = Vec::with_capacity(self.items.len());
        for list in lists {
            let (units, _) = size_class(Self::units(list.len()));
            let start = items.len();
            items.extend_from_slice(self.get(*list));
            items.resize(start + units * UNIT, T::default());
            list.start = (start / UNIT) as u32;
        }
        shrink(&mut items);
        self.items = items;
        self.free.clear();
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        let free: usize = self.free.iter().map(|starts| starts.capacity() * size_of::<u32>()).sum();
        self.items.capacity() * size_of::<T>() + free
    }
}

/// Frees memory reserved for growth, except for 1/64 of the length, so that the next item does not reallocate.
pub fn shrink<T>(items: &mut Vec<T>) {
    items.shrink_to(items.len() + items.len() / 64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_hold_what_they_are_for() {
        let mut sizes: Vec<_> = (0..5_000).map(size_class).collect();
        for (units, (size, _)) in sizes.iter().enumerate() {
            assert!(*size >= units && *size <= units + units / 2 + 1, "{units} in {size}");
        }
        sizes.dedup();
        assert!(sizes.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
    }

    #[test]
    fn lists_keep_their_items() {
        let mut pool = ListPool::<u32, 4>::default();
        let mut model: Vec<(ListRef, Vec<u32>)> = vec![(ListRef::default(), Vec::new()); 20];
        let mut state = 7u32;
        for round in 0..20_000u32 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let at = (state >> 8) as usize % model.len();
            let (list, items) = &mut model[at];
            match state >> 28 {
                0 => {
                    pool.release(*list);
                    *list = ListRef::default();
                    items.clear();
                }
                1..8 if items.len() > 3 => {
                    let from = (state >> 16) as usize % (items.len() - 2);
                    pool.remove_range(list, from, 2);
                    items.drain(from..from + 2);
                }
                _ => {
                    pool.extend(list, &[round, state, at as u32]);
                    items.extend([round, state, at as u32]);
                }
            }
            model.iter().for_each(|(list, items)| assert_eq!(pool.get(*list), items));
        }
        let before = pool.items.len();
        pool.defragment(model.iter_mut().rev().map(|(list, _)| list));
        assert!(pool.items.len() <= before);
        model.iter().for_each(|(list, items)| assert_eq!(pool.get(*list), items));
        let copy = pool.copy(model[0].0);
        assert_eq!(pool.get(copy), model[0].1);
    }
}
