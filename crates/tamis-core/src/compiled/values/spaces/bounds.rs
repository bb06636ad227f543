//! Do the spaces of all dimensions stay inside their arrays? Checked when a file is opened.
//!
//! After this, no lookup leads outside an array, and every space that a lookup finds is below the number of spaces of its
//! dimension. Ranges of different dimensions may not overlap, in sum: so the spaces of all dimensions together are
//! proportional to the file. Whether cuts ascend is not checked: a lookup among others finds some space, the wrong one.
//!
//! Cost: one pass over scales, tables, hash slots and ends of strings.

use super::{DimensionScale, ValueSpaces};

/// Elements of each array that dimensions refer to, in sum.
#[derive(Default)]
struct UsedElements {
    tables: u64,
    numbers: u64,
    times: u64,
    texts: u64,
    slots: u64,
}

/// A range of an array, and the elements of all dimensions so far.
fn take(start: u32, len: u32, array: usize, used: &mut u64) -> Option<std::ops::Range<usize>> {
    *used += u64::from(len);
    let end = start as usize + len as usize;
    (end <= array && *used <= array as u64).then_some(start as usize..end)
}

impl ValueSpaces {
    /// Checks every dimension; the error names it.
    pub(super) fn check_bounds(&self) -> Result<(), String> {
        let lengths = [self.number_flags.len(), self.text_after.len()];
        if lengths != [self.number_bits.len(), self.text_ends.len()] {
            return Err("compiled: arrays of cuts with different lengths".into());
        }
        let ends = self.text_ends.as_slice();
        if !ends.is_sorted() || ends.last().is_some_and(|end| *end as usize > self.text.len()) {
            return Err("compiled: strings outside their array".into());
        }
        let mut used = UsedElements::default();
        for (dimension, scale) in self.scales.iter().enumerate() {
            let checked = self.check_ranges(scale, &mut used).filter(|()| spaces_follow_each_other(scale));
            checked.ok_or_else(|| format!("compiled: the spaces of dimension {dimension} lead outside"))?;
        }
        Ok(())
    }

    fn check_ranges(&self, scale: &DimensionScale, used: &mut UsedElements) -> Option<()> {
        if scale.table_len > 0 {
            let entries = take(scale.number_start, scale.table_len, self.tables.len(), &mut used.tables)?;
            scale.table_low.checked_add(i64::from(scale.table_len) - 1)?;
            let numbers = scale.number_base..=scale.number_base.checked_add(scale.number_cuts)?;
            let is_number = |entry: &u16| {
                let space = u32::from(entry >> 1);
                numbers.contains(&space) && numbers.contains(&(space + u32::from(entry & 1)))
            };
            if scale.number_base > 0 && !self.tables[entries].iter().all(is_number) {
                return None;
            }
        } else {
            take(scale.number_start, scale.number_cuts, self.number_bits.len(), &mut used.numbers)?;
        }
        take(scale.time_start, scale.time_cuts, self.times.len(), &mut used.times)?;
        take(scale.text_start, scale.text_cuts, self.text_ends.len(), &mut used.texts)?;
        if scale.hash_mask > 0 {
            let slots = scale.hash_mask.checked_add(1).filter(|slots| slots.is_power_of_two())?;
            let slots = take(scale.hash_start, slots, self.hash_slots.len(), &mut used.slots)?;
            if self.hash_slots[slots].iter().any(|number| *number > scale.text_cuts) {
                return None;
            }
        }
        Some(())
    }
}

/// Whether the spaces of all kinds are numbered without gaps, from 1.
pub(super) fn spaces_follow_each_other(scale: &DimensionScale) -> bool {
    let sizes = [
        (scale.number_base, scale.number_cuts.saturating_add(1)),
        (scale.time_base, scale.time_cuts.saturating_add(1)),
        (scale.text_base, scale.text_cuts.saturating_add(1)),
        (scale.bool_base, 2),
        (scale.other, 1),
    ];
    let mut next = 1_u32;
    for (base, size) in sizes.into_iter().filter(|(base, _)| *base > 0) {
        let Some(end) = next.checked_add(size).filter(|_| base == next) else { return false };
        next = end;
    }
    // The dimension of a pattern has no kinds of values, and one space.
    let is_flag = next == 1 && scale.count == 2;
    next == scale.count || is_flag
}
