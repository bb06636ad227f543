//! Values become small integers: each dimension is cut into numbered spaces.
//!
//! A *dimension* is what one test compares: the value of an attribute, the elements of its list, or whether a string
//! matches one pattern. The ends of all predicates cut its values into spaces (PS-Tree's disjoint predicate spaces, in
//! flat form), numbered from 1. Space 0 stands for a missing value, and for every value that no predicate distinguishes
//! from a missing one. All values of a space satisfy the same predicates, so a predicate is a set of spaces, mostly one
//! interval.
//!
//! | kind | spaces |
//! | --- | --- |
//! | numbers | between neighbouring cuts; found in a table if all cuts are integers close together, else by binary search |
//! | instants | between neighbouring cuts |
//! | strings | one each, found by hash, and one for all others; between cuts if there are ranges or prefixes |
//! | Booleans | two |
//! | lists, objects | one |
//!
//! | file | question it answers |
//! | --- | --- |
//! | `mod` | which arrays hold the spaces of all dimensions? |
//! | `cutting` | where do the predicates of a dimension cut it? |
//! | `lookup` | which space does a value belong to? |
//! | `accepting` | which spaces does a predicate accept? |
//! | `bounds` | do the spaces of a file that is opened stay inside their arrays? |
//!
//! A cut before an integer differs from a cut behind it: 7.5 lies behind the 7 of `a <= 7` and before the 8 of `a >= 8`,
//! in a space of its own.

mod accepting;
mod bounds;
mod cutting;
mod lookup;

pub(in crate::compiled) use cutting::{DimensionCuts, ValueSpacesBuilder};
pub(in crate::compiled) use lookup::ValueSpacesView;

use crate::storage::{Array, Sections, SectionsWriter};
use bytemuck::{Pod, Zeroable};

/// A set of spaces: intervals in ascending order, disjoint and not adjacent.
pub(in crate::compiled) type SpaceSet = Vec<(u32, u32)>;

/// How the space of a value is found in one dimension. Starts are positions in the arrays of [`ValueSpaces`]. The first
/// space of a kind is 0 if no predicate distinguishes the kind from a missing value.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(in crate::compiled) struct DimensionScale {
    /// The lowest integer of the table.
    table_low: i64,
    /// Where the table begins, or the sorted cuts of numbers if there is no table.
    number_start: u32,
    /// Entries of the table; 0 without one.
    table_len: u32,
    /// Cuts among the numbers.
    number_cuts: u32,
    /// Where the cuts of instants begin.
    time_start: u32,
    /// Cuts among the instants.
    time_cuts: u32,
    /// Where the strings begin.
    text_start: u32,
    /// Cuts among the strings, or single strings if there is a hash table.
    text_cuts: u32,
    /// Where the slots of the hash table begin.
    hash_start: u32,
    /// One less than the number of slots, a power of two; 0 if strings are ordered.
    hash_mask: u32,
    /// First space of numbers.
    number_base: u32,
    /// First space of instants.
    time_base: u32,
    /// First space of strings.
    text_base: u32,
    /// Space of FALSE; that of TRUE follows.
    bool_base: u32,
    /// Space of lists and objects.
    other: u32,
    /// Number of spaces, space 0 included.
    count: u32,
    /// 1 if all cuts of numbers are at integers.
    whole: u32,
}

/// The spaces of all dimensions.
#[derive(Clone, Debug, Default)]
pub(in crate::compiled) struct ValueSpaces {
    /// By dimension.
    scales: Array<DimensionScale>,
    /// By integer: twice its space, one more if there is a cut right behind it.
    tables: Array<u16>,
    /// Cuts of numbers, ascending in each dimension: the integer, or the bits of the float.
    number_bits: Array<u64>,
    /// Of each such cut: 1 if behind the number, 2 if the number is a float.
    number_flags: Array<u8>,
    /// Cuts before instants, ascending in each dimension: microseconds since 1970.
    times: Array<i64>,
    /// Where each string ends in `text`; it begins where the one before ends.
    text_ends: Array<u32>,
    /// Of each string: 1 if the cut is behind it.
    text_after: Array<u8>,
    /// Bytes of all strings.
    text: Array<u8>,
    /// Numbers of strings within their dimension, from 1; 0 in free slots.
    hash_slots: Array<u32>,
}

impl ValueSpaces {
    pub fn view(&self) -> ValueSpacesView<'_> {
        ValueSpacesView {
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

    /// Number of dimensions.
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    /// Number of spaces of a dimension, space 0 included.
    pub fn count(&self, dimension: u32) -> u32 {
        self.scales[dimension as usize].count
    }

    /// First and last space of strings; `None` if no predicate distinguishes strings from missing values.
    pub fn texts(&self, dimension: u32) -> Option<(u32, u32)> {
        let scale = &self.scales[dimension as usize];
        (scale.text_base > 0).then(|| (scale.text_base, scale.text_base + scale.text_cuts))
    }

    /// The space of lists and objects.
    pub fn other(&self, dimension: u32) -> u32 {
        self.scales[dimension as usize].other
    }

    /// Relative weight of each space if nothing is known of the events: 1, or the number of integers it holds where
    /// integers are found in a table.
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

    /// Bytes of all strings.
    pub fn string_bytes(&self) -> usize {
        self.text.len()
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

    /// Writes nine sections from a tag on.
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

    /// What [`ValueSpaces::write`] wrote.
    pub fn open(sections: &Sections, tags: u32) -> Result<ValueSpaces, String> {
        let spaces = ValueSpaces {
            scales: sections.take(tags)?,
            tables: sections.take(tags + 1)?,
            number_bits: sections.take(tags + 2)?,
            number_flags: sections.take(tags + 3)?,
            times: sections.take(tags + 4)?,
            text_ends: sections.take(tags + 5)?,
            text_after: sections.take(tags + 6)?,
            text: sections.take(tags + 7)?,
            hash_slots: sections.take(tags + 8)?,
        };
        spaces.check_bounds()?;
        Ok(spaces)
    }

    /// Checks that cuts ascend and that the spaces of all kinds are numbered without gaps.
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
            if !bounds::spaces_follow_each_other(scale) {
                return wrong("the spaces are not numbered without gaps");
            }
        }
        Ok(())
    }
}
