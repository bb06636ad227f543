//! Everything becomes small integers: which space does a value belong to?
//!
//! A *dimension* is what one test looks at: the value of an attribute, the elements of its list, or whether a text
//! matches one pattern. The values of a dimension are cut into spaces (PS-Tree's disjoint predicate spaces, in flat
//! form), numbered from 1; space 0 stands for missing, and for every value that no predicate tells from a missing one.
//! All values of a space satisfy the same predicates, so that a predicate is a set of spaces, mostly one interval.
//!
//! | kind | spaces |
//! | --- | --- |
//! | numbers | between neighbouring cuts; found in a table where all cuts are integers close together, else by bisection |
//! | instants | between neighbouring cuts |
//! | strings | one for each, found by its hash, and one for all others; between cuts where there are ranges or prefixes |
//! | Booleans | two |
//! | lists, objects | one |
//!
//! | file | question it answers |
//! | --- | --- |
//! | `mod` | which space does a value belong to? |
//! | `cutting` | where do the predicates of a dimension cut it, and how are the spaces laid out? |
//! | `accepting` | which spaces does a predicate accept? |
//!
//! Cuts before and behind an integer are different ones: 7.5 lies behind the 7 of `a <= 7` and before the 8 of
//! `a >= 8`, in a space of its own.

mod accepting;
mod cutting;

pub(in crate::compiled) use cutting::{Cuts, SpacesBuilder};

use crate::event::{Event, Slot};
use crate::expr::Cut;
use crate::number::Number;
use crate::storage::{Array, Sections, SectionsWriter};
use crate::value::Value;
use bytemuck::{Pod, Zeroable};
use std::cmp::Ordering;
use xxhash_rust::xxh3::xxh3_64;

/// A set of spaces: intervals in ascending order, disjoint and not adjacent.
pub(in crate::compiled) type Intervals = Vec<(u32, u32)>;

/// How a dimension finds the space of a value. All starts are places in the arrays of [`Spaces`].
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(in crate::compiled) struct Scale {
    /// The lowest integer of the table.
    table_low: i64,
    /// Where the table, or the sorted cuts of numbers, begin.
    number_start: u32,
    /// How many entries the table has; 0 without one.
    table_len: u32,
    /// How many cuts there are among the numbers.
    number_cuts: u32,
    time_start: u32,
    time_cuts: u32,
    text_start: u32,
    /// Cuts, or single strings if [`Scale::hashed`].
    text_cuts: u32,
    /// Where the slots of the hash table begin.
    hash_start: u32,
    /// One less than the number of slots, a power of two; 0 if strings are ordered.
    hash_mask: u32,
    /// The first space of each kind; 0 if the kind is not told from missing.
    number_base: u32,
    time_base: u32,
    text_base: u32,
    bool_base: u32,
    /// The space of lists and objects.
    other: u32,
    /// How many spaces there are, space 0 included.
    pub count: u32,
    /// Whether the cuts of numbers are all integers.
    whole: u32,
}

/// All dimensions whose tests look at values.
#[derive(Clone, Debug, Default)]
pub(in crate::compiled) struct Spaces {
    scales: Array<Scale>,
    /// By integer: twice its space, one more if there is a cut right behind it.
    tables: Array<u16>,
    /// Cuts of numbers, ascending: the integer, or the bits of the float.
    number_bits: Array<u64>,
    /// Of each: 1 if behind the number, 2 if the number is a float.
    number_flags: Array<u8>,
    /// Cuts before instants, ascending.
    times: Array<i64>,
    /// Where each string ends in `text`; it begins where the one before ends.
    text_ends: Array<u32>,
    /// 1 if the cut is behind the string.
    text_after: Array<u8>,
    text: Array<u8>,
    /// Numbers of strings from 1; 0 in free slots.
    hash_slots: Array<u32>,
}

/// Borrowed arrays, so that the hot loop does not unpack them again and again.
#[derive(Clone, Copy)]
pub(in crate::compiled) struct SpacesView<'a> {
    scales: &'a [Scale],
    tables: &'a [u16],
    number_bits: &'a [u64],
    number_flags: &'a [u8],
    times: &'a [i64],
    text_ends: &'a [u32],
    text_after: &'a [u8],
    text: &'a [u8],
    hash_slots: &'a [u32],
}

impl Spaces {
    pub fn view(&self) -> SpacesView<'_> {
        SpacesView {
            scales: &self.scales,
            tables: &self.tables,
            number_bits: &self.number_bits,
            number_flags: &self.number_flags,
            times: &self.times,
            text_ends: &self.text_ends,
            text_after: &self.text_after,
            text: &self.text,
            hash_slots: &self.hash_slots,
        }
    }

    /// How many dimensions there are.
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    /// How many spaces a dimension has, space 0 included.
    pub fn count(&self, dimension: u32) -> u32 {
        self.scales[dimension as usize].count
    }

    /// The spaces of all strings, from the first to the last; `None` if strings are not told from missing.
    pub fn texts(&self, dimension: u32) -> Option<(u32, u32)> {
        let scale = &self.scales[dimension as usize];
        (scale.text_base > 0).then(|| (scale.text_base, scale.text_base + scale.text_cuts))
    }

    /// The space of lists and objects.
    pub fn other(&self, dimension: u32) -> u32 {
        self.scales[dimension as usize].other
    }

    /// How likely each space is if nothing is known of the events: as likely as another, but integers that are close
    /// together count each.
    pub fn weights(&self, dimension: u32, weights: &mut Vec<f32>) {
        let scale = &self.scales[dimension as usize];
        weights.clear();
        weights.resize(scale.count as usize, 1.0);
        if let Some(missing) = weights.first_mut() {
            *missing = 0.0;
        }
        if scale.table_len > 0 {
            let numbers = scale.number_base as usize..=(scale.number_base + scale.number_cuts) as usize;
            weights[numbers].fill(0.0);
            for entry in &self.tables[scale.number_start as usize..][..scale.table_len as usize] {
                weights[(entry >> 1) as usize] += 1.0;
            }
        }
    }

    pub fn memory(&self) -> usize {
        self.scales.memory()
            + self.tables.memory()
            + self.number_bits.memory()
            + self.number_flags.memory()
            + self.times.memory()
            + self.text_ends.memory()
            + self.text_after.memory()
            + self.text.memory()
            + self.hash_slots.memory()
    }

    pub fn write(&self, out: &mut SectionsWriter, tags: u32) {
        out.put(tags, &self.scales);
        out.put(tags + 1, &self.tables);
        out.put(tags + 2, &self.number_bits);
        out.put(tags + 3, &self.number_flags);
        out.put(tags + 4, &self.times);
        out.put(tags + 5, &self.text_ends);
        out.put(tags + 6, &self.text_after);
        out.put(tags + 7, &self.text);
        out.put(tags + 8, &self.hash_slots);
    }

    pub fn open(sections: &Sections, tags: u32) -> Result<Spaces, String> {
        Ok(Spaces {
            scales: sections.take(tags)?,
            tables: sections.take(tags + 1)?,
            number_bits: sections.take(tags + 2)?,
            number_flags: sections.take(tags + 3)?,
            times: sections.take(tags + 4)?,
            text_ends: sections.take(tags + 5)?,
            text_after: sections.take(tags + 6)?,
            text: sections.take(tags + 7)?,
            hash_slots: sections.take(tags + 8)?,
        })
    }

    /// Checks that cuts ascend and that spaces are numbered without gaps.
    pub fn validate(&self) -> Result<(), String> {
        let view = self.view();
        for (dimension, scale) in self.scales.iter().enumerate() {
            let wrong = |what: &str| Err(format!("compiled: {what} of dimension {dimension}"));
            if scale.table_len == 0 {
                let cuts = scale.number_start..scale.number_start + scale.number_cuts;
                if !cuts.clone().map(|at| view.number_cut(at as usize)).is_sorted_by(|a, b| a < b) {
                    return wrong("the cuts of numbers do not ascend");
                }
            }
            let times = &self.times[scale.time_start as usize..][..scale.time_cuts as usize];
            if !times.is_sorted_by(|a, b| a < b) {
                return wrong("the cuts of instants do not ascend");
            }
            let texts =
                (scale.text_start..scale.text_start + scale.text_cuts).map(|at| view.text_cut(at as usize));
            if !texts.is_sorted_by(|a, b| a < b) {
                return wrong("the strings do not ascend");
            }
            let sizes = [
                (scale.number_base, scale.number_cuts + 1),
                (scale.time_base, scale.time_cuts + 1),
                (scale.text_base, scale.text_cuts + 1),
                (scale.bool_base, 2),
                (scale.other, 1),
            ];
            let mut next = 1;
            for (base, size) in sizes.into_iter().filter(|(base, _)| *base > 0) {
                if base != next {
                    return wrong("the spaces are not numbered one after another");
                }
                next += size;
            }
            // A flag has no kinds, and one space.
            let is_flag = next == 1 && scale.count == 2;
            if next != scale.count && !is_flag {
                return wrong("the number of spaces is not right");
            }
        }
        Ok(())
    }
}

impl<'a> SpacesView<'a> {
    /// How many dimensions there are.
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    /// How many spaces a dimension has, space 0 included.
    #[inline]
    pub fn count(&self, dimension: u32) -> u32 {
        self.scales[dimension as usize].count
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
    fn of_int(&self, scale: &Scale, value: i64) -> u32 {
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
            // Cuts before and behind one integer stand next to each other.
            let before = bits.partition_point(|bits| (*bits as i64) < value);
            let at_it = bits.get(before).is_some_and(|bits| *bits as i64 == value);
            before + usize::from(at_it && self.number_flags[start + before] & 1 == 0)
        } else {
            self.cuts_before(start, len, Number::Int(value))
        };
        scale.number_base + passed as u32
    }

    fn of_fraction(&self, scale: &Scale, value: f64, number: Number) -> u32 {
        if scale.number_base == 0 {
            return 0;
        }
        if scale.table_len == 0 {
            let passed = self.cuts_before(scale.number_start as usize, scale.number_cuts as usize, number);
            return scale.number_base + passed as u32;
        }
        // Just behind the integer below it.
        let below = value.floor();
        // In this order it does not overflow: the table may end with the greatest integer.
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

    /// How many of the cuts lie before a number.
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

    fn number_cut(&self, at: usize) -> Cut<Number> {
        let (bits, flags) = (self.number_bits[at], self.number_flags[at]);
        let number =
            if flags & 2 == 0 { Number::Int(bits as i64) } else { Number::Float(f64::from_bits(bits)) };
        Cut { at: number, after: flags & 1 == 1 }
    }

    fn string(&self, at: usize) -> &'a [u8] {
        let start = if at == 0 { 0 } else { self.text_ends[at - 1] as usize };
        &self.text[start..self.text_ends[at] as usize]
    }

    fn text_cut(&self, at: usize) -> (&'a [u8], u8) {
        (self.string(at), self.text_after[at])
    }

    fn of_text(&self, scale: &Scale, text: &str) -> u32 {
        let (start, text) = (scale.text_start as usize, text.as_bytes());
        if scale.hash_mask > 0 {
            let mut slot = xxh3_64(text) as u32 & scale.hash_mask;
            // A damaged table may have no free slot: one round is enough.
            for _ in 0..=scale.hash_mask {
                let number = self.hash_slots[(scale.hash_start + slot) as usize];
                if number == 0 {
                    return scale.text_base;
                }
                if self.string(start + number as usize - 1) == text {
                    return scale.text_base + number;
                }
                slot = (slot + 1) & scale.hash_mask;
            }
            return scale.text_base;
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
}
