//! Which space does a value belong to?
//!
//! Cost: one array access for integers in a table, one hash for strings that are compared by equality only, a binary
//! search over the cuts otherwise.

use super::DimensionScale;
use crate::event::{Event, Slot};
use crate::expr::Cut;
use crate::number::Number;
use crate::value::Value;
use std::cmp::Ordering;
use xxhash_rust::xxh3::xxh3_64;

/// Slots of a hash table that are probed. Rules can be chosen so that all their strings have one slot: then the string is
/// found by binary search, in logarithmic instead of linear time.
const MAX_PROBES: usize = 64;

/// The arrays of [`ValueSpaces`](super::ValueSpaces), borrowed once for many lookups.
#[derive(Clone, Copy)]
pub(in crate::compiled) struct ValueSpacesView<'a> {
    pub(super) scales: &'a [DimensionScale],
    pub(super) tables: &'a [u16],
    pub(super) number_bits: &'a [u64],
    pub(super) number_flags: &'a [u8],
    pub(super) times: &'a [i64],
    pub(super) text_ends: &'a [u32],
    pub(super) text_after: &'a [u8],
    pub(super) text: &'a [u8],
    pub(super) hash_slots: &'a [u32],
}

impl<'a> ValueSpacesView<'a> {
    /// Number of dimensions.
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    /// Number of spaces of a dimension, space 0 included.
    #[inline]
    pub fn count(&self, dimension: u32) -> u32 {
        self.scales[dimension as usize].count
    }

    /// As [`ValueSpacesView::count`]; `None` if there is no such dimension.
    pub fn get_count(&self, dimension: u32) -> Option<u32> {
        self.scales.get(dimension as usize).map(|scale| scale.count)
    }

    /// The space of a slot of the event.
    #[inline]
    pub fn of_slot(&self, dimension: usize, slot: Slot, event: &Event<'_>) -> u32 {
        let scale = &self.scales[dimension];
        match slot {
            Slot::Int(value) => self.of_int(scale, value),
            _ => self.of_value(dimension, event.resolve(slot)),
        }
    }

    /// The space of a value.
    pub fn of_value(&self, dimension: usize, value: Value<'_>) -> u32 {
        let scale = &self.scales[dimension];
        match value {
            Value::Missing => 0,
            Value::Int(value) => self.of_int(scale, value),
            Value::Float(value) => match Number::from_f64(value) {
                Some(Number::Int(value)) => self.of_int(scale, value),
                Some(number) => self.of_fraction(scale, value, number),
                None => 0,
            },
            Value::Time(value) if scale.time_base > 0 => {
                let cuts = &self.times[scale.time_start as usize..][..scale.time_cuts as usize];
                scale.time_base + cuts.partition_point(|cut| *cut <= value) as u32
            }
            Value::Text(text) if scale.text_base > 0 => self.of_text(scale, text),
            Value::Bool(value) if scale.bool_base > 0 => scale.bool_base + u32::from(value),
            Value::List(_) | Value::Other => scale.other,
            _ => 0,
        }
    }

    #[inline]
    fn of_int(&self, scale: &DimensionScale, value: i64) -> u32 {
        if scale.number_base == 0 {
            return 0;
        }
        if scale.table_len > 0 {
            let at = value.wrapping_sub(scale.table_low) as u64;
            if at < u64::from(scale.table_len) {
                return u32::from(self.tables[scale.number_start as usize + at as usize] >> 1);
            }
            return scale.number_base + if value < scale.table_low { 0 } else { scale.number_cuts };
        }
        let (start, len) = (scale.number_start as usize, scale.number_cuts as usize);
        let passed = if scale.whole == 1 {
            let bits = &self.number_bits[start..start + len];
            // DimensionCuts before and behind one integer stand next to each other.
            let before = bits.partition_point(|bits| (*bits as i64) < value);
            let at_it = bits.get(before).is_some_and(|bits| *bits as i64 == value);
            before + usize::from(at_it && self.number_flags[start + before] & 1 == 0)
        } else {
            self.cuts_before(start, len, Number::Int(value))
        };
        scale.number_base + passed as u32
    }

    fn of_fraction(&self, scale: &DimensionScale, value: f64, number: Number) -> u32 {
        if scale.number_base == 0 {
            return 0;
        }
        if scale.table_len == 0 {
            let passed = self.cuts_before(scale.number_start as usize, scale.number_cuts as usize, number);
            return scale.number_base + passed as u32;
        }
        // A fraction lies right behind the integer below it.
        let below = value.floor();
        // This order of operations does not overflow if the table ends with the largest integer.
        let high = scale.table_low + (i64::from(scale.table_len) - 1);
        if number < Number::Int(scale.table_low) {
            return scale.number_base;
        }
        if number > Number::Int(high) {
            return scale.number_base + scale.number_cuts;
        }
        let entry = self.tables[scale.number_start as usize + (below as i64 - scale.table_low) as usize];
        u32::from(entry >> 1) + u32::from(entry & 1)
    }

    /// Number of cuts that lie before a number.
    fn cuts_before(&self, start: usize, len: usize, number: Number) -> usize {
        let (mut low, mut high) = (0, len);
        while low < high {
            let middle = usize::midpoint(low, high);
            let cut = self.number_cut(start + middle);
            let passed = match cut.at.cmp(&number) {
                Ordering::Less => true,
                Ordering::Equal => !cut.after,
                Ordering::Greater => false,
            };
            if passed { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// The cut of numbers at a position.
    pub(super) fn number_cut(&self, at: usize) -> Cut<Number> {
        let (bits, flags) = (self.number_bits[at], self.number_flags[at]);
        let number =
            if flags & 2 == 0 { Number::Int(bits as i64) } else { Number::Float(f64::from_bits(bits)) };
        Cut { at: number, after: flags & 1 == 1 }
    }

    /// The string at a position.
    fn string(&self, at: usize) -> &'a [u8] {
        let start = if at == 0 { 0 } else { self.text_ends[at - 1] as usize };
        &self.text[start..self.text_ends[at] as usize]
    }

    /// The string at a position, and 1 if the cut is behind it.
    pub(super) fn text_cut(&self, at: usize) -> (&'a [u8], u8) {
        (self.string(at), self.text_after[at])
    }

    /// The space of a string.
    pub(super) fn of_text(&self, scale: &DimensionScale, text: &str) -> u32 {
        let (start, text) = (scale.text_start as usize, text.as_bytes());
        if scale.hash_mask > 0 {
            let mut slot = xxh3_64(text) as u32 & scale.hash_mask;
            for _ in 0..MAX_PROBES {
                let number = self.hash_slots[(scale.hash_start + slot) as usize];
                if number == 0 {
                    return scale.text_base;
                }
                if self.string(start + number as usize - 1) == text {
                    return scale.text_base + number;
                }
                slot = (slot + 1) & scale.hash_mask;
            }
            return self.of_colliding_text(scale, text);
        }
        let (mut low, mut high) = (0, scale.text_cuts as usize);
        while low < high {
            let middle = usize::midpoint(low, high);
            let (at, after) = self.text_cut(start + middle);
            let passed = match at.cmp(text) {
                Ordering::Less => true,
                Ordering::Equal => after == 0,
                Ordering::Greater => false,
            };
            if passed { low = middle + 1 } else { high = middle }
        }
        scale.text_base + low as u32
    }

    /// The space of a string that the hash table does not find in few probes. The strings ascend.
    #[cold]
    fn of_colliding_text(&self, scale: &DimensionScale, text: &[u8]) -> u32 {
        let (start, len) = (scale.text_start as usize, scale.text_cuts as usize);
        let (mut low, mut high) = (0, len);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.string(start + middle) < text { low = middle + 1 } else { high = middle }
        }
        let is_it = low < len && self.string(start + low) == text;
        scale.text_base + if is_it { low as u32 + 1 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All strings are in one run of slots, which has no free slot.
    #[test]
    fn strings_of_one_hash_are_found_by_their_order() {
        let strings: Vec<String> = (0..1_024).map(|n| format!("{n:04}")).collect();
        let ends: Vec<u32> = (1..=1_024).map(|n| 4 * n).collect();
        let slots: Vec<u32> = (1..=1_024).rev().collect();
        let scale = DimensionScale {
            text_cuts: 1_024,
            hash_mask: 1_023,
            text_base: 1,
            count: 1_026,
            ..DimensionScale::default()
        };
        let text = strings.concat();
        let view = ValueSpacesView {
            scales: &[scale],
            tables: &[],
            number_bits: &[],
            number_flags: &[],
            times: &[],
            text_ends: &ends,
            text_after: &[0; 1_024],
            text: text.as_bytes(),
            hash_slots: &slots,
        };
        for (number, text) in (2..).zip(&strings) {
            assert_eq!(view.of_text(&scale, text), number, "{text}");
        }
        for text in ["", "0000a", "9999", "000"] {
            assert_eq!(view.of_text(&scale, text), 1, "{text}");
        }
    }
}
