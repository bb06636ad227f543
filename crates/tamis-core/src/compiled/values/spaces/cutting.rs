//! Where do the predicates of a dimension cut it, and how are its spaces laid out?

use super::{DimensionScale, ValueSpaces};
use crate::compiled::limits::{SegmentLimits, SegmentOverflow};
use crate::expr::{Cut, Test, ValueSet};
use crate::number::Number;
use smol_str::SmolStr;
use xxhash_rust::xxh3::xxh3_64;

/// Maximum entries of a table by integer.
const MAX_TABLE: u64 = 1 << 20;

/// Entries of a table per cut, at most, beside a constant.
const TABLE_PER_CUT: u64 = 4;

/// Cuts among numbers from which on there is no table: an entry has 15 bits for a space.
const MAX_TABLE_CUTS: usize = (1 << 15) - 8;

/// Collects the cuts of a dimension.
#[derive(Debug, Default)]
pub(in crate::compiled) struct DimensionCuts {
    numbers: Vec<Cut<Number>>,
    times: Vec<i64>,
    texts: Vec<Cut<SmolStr>>,
    /// Whether some predicate accepts a range of strings.
    ordered_texts: bool,
    /// Whether some predicate accepts missing values: then every kind is distinguished from them.
    missing: bool,
    uses_numbers: bool,
    uses_times: bool,
    uses_texts: bool,
    uses_bools: bool,
    uses_other: bool,
}

impl DimensionCuts {
    /// Adds the ends of the values that a test accepts.
    pub fn add(&mut self, test: &Test) {
        match test {
            Test::Number { low, high } => {
                self.uses_numbers = true;
                self.numbers.extend((*low != Number::MIN).then_some(Cut { at: *low, after: false }));
                self.numbers.extend((*high != Number::MAX).then_some(Cut { at: *high, after: true }));
            }
            Test::Text(text) => {
                self.uses_texts = true;
                self.texts.extend([false, true].map(|after| Cut { at: text.clone(), after }));
            }
            // Only whether the value is a string.
            Test::Pattern { or_missing, .. } | Test::Cidr { or_missing, .. } => {
                self.uses_texts = true;
                self.missing |= or_missing;
            }
            test => {
                if let Some(set) = test.to_set() {
                    self.add_set(&set);
                }
            }
        }
    }

    /// Gives lists a space of their own.
    pub fn distinguish_lists(&mut self) {
        self.uses_other = true;
    }

    fn add_set(&mut self, set: &ValueSet) {
        self.missing |= set.missing;
        self.uses_other |= set.other;
        self.uses_bools |= set.bools != [false, false];
        self.uses_numbers |= !set.numbers.is_empty();
        self.uses_times |= !set.times.is_empty();
        self.uses_texts |= !set.texts.is_empty();
        self.numbers.extend_from_slice(set.numbers.cuts());
        self.times.extend(set.times.cuts().iter().filter_map(Cut::instant_above));
        self.texts.extend_from_slice(set.texts.cuts());
        self.ordered_texts |= !set.texts.is_points() && !set.texts.clone().complement().is_points();
    }

    /// Sorts the cuts and keeps each once.
    fn normalize(&mut self) {
        let all = self.missing;
        for uses in [
            &mut self.uses_numbers,
            &mut self.uses_times,
            &mut self.uses_texts,
            &mut self.uses_bools,
            &mut self.uses_other,
        ] {
            *uses |= all;
        }
        // `a > 7` cuts behind 7, not before the float that follows it.
        self.numbers.iter_mut().for_each(|cut| *cut = cut.clone().canonical());
        self.numbers.sort_unstable();
        self.numbers.dedup();
        self.times.sort_unstable();
        self.times.dedup();
        self.texts.sort_unstable();
        self.texts.dedup();
        if !self.ordered_texts {
            // A hash table holds the strings themselves.
            self.texts.retain(|cut| !cut.after);
        }
    }
}

/// Lays out the spaces of all dimensions.
pub(in crate::compiled) struct ValueSpacesBuilder<'l> {
    limits: &'l SegmentLimits,
    scales: Vec<DimensionScale>,
    tables: Vec<u16>,
    number_bits: Vec<u64>,
    number_flags: Vec<u8>,
    times: Vec<i64>,
    text_ends: Vec<u32>,
    text_after: Vec<u8>,
    text: Vec<u8>,
    hash_slots: Vec<u32>,
}

impl<'l> ValueSpacesBuilder<'l> {
    pub fn new(limits: &'l SegmentLimits) -> ValueSpacesBuilder<'l> {
        ValueSpacesBuilder {
            limits,
            scales: Vec::new(),
            tables: Vec::new(),
            number_bits: Vec::new(),
            number_flags: Vec::new(),
            times: Vec::new(),
            text_ends: Vec::new(),
            text_after: Vec::new(),
            text: Vec::new(),
            hash_slots: Vec::new(),
        }
    }

    /// Number of dimensions so far, which is the number of the next one.
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    /// Adds a dimension.
    pub fn add(&mut self, mut cuts: DimensionCuts) -> Result<(), SegmentOverflow> {
        cuts.normalize();
        let mut count = 1;
        let mut take = |used: bool, spaces: usize| {
            let base = if used { count } else { 0 };
            count += if used { spaces } else { 0 };
            // Checked below, before it is used.
            base as u32
        };
        let mut scale = DimensionScale {
            number_base: take(cuts.uses_numbers, cuts.numbers.len() + 1),
            time_base: take(cuts.uses_times, cuts.times.len() + 1),
            text_base: take(cuts.uses_texts, cuts.texts.len() + 1),
            bool_base: take(cuts.uses_bools, 2),
            other: take(cuts.uses_other, 1),
            whole: 1,
            ..DimensionScale::default()
        };
        scale.count = self.limits.spaces(count)?;
        self.add_numbers(&mut scale, &cuts.numbers)?;
        scale.time_start = self.limits.items(self.times.len(), "cuts of times")?;
        scale.time_cuts = cuts.times.len() as u32;
        self.times.extend(cuts.times);
        self.add_texts(&mut scale, &cuts.texts, cuts.ordered_texts)?;
        self.scales.push(scale);
        Ok(())
    }

    /// Adds a dimension whose only space, 1, means that a pattern was found. Returns its number.
    pub fn add_flag(&mut self) -> usize {
        self.scales.push(DimensionScale { count: 2, ..DimensionScale::default() });
        self.scales.len() - 1
    }

    fn add_numbers(
        &mut self,
        scale: &mut DimensionScale,
        cuts: &[Cut<Number>],
    ) -> Result<(), SegmentOverflow> {
        scale.number_cuts = cuts.len() as u32;
        let integer = |cut: &Cut<Number>| if let Number::Int(at) = cut.at { Some(at) } else { None };
        let whole = cuts.iter().all(|cut| integer(cut).is_some());
        scale.whole = u32::from(whole);
        let ends = cuts.first().and_then(integer).zip(cuts.last().and_then(integer));
        if let Some((low, high)) = ends.filter(|_| whole && cuts.len() < MAX_TABLE_CUTS) {
            // One more integer behind the last cut, so that the value behind a cut that is behind it is in the table.
            let span = high.abs_diff(low).saturating_add(2);
            let max_span = MAX_TABLE.min(TABLE_PER_CUT * cuts.len() as u64 + 64);
            if span <= max_span && high < i64::MAX {
                scale.table_low = low;
                scale.table_len = span as u32;
                return self.add_table(scale, cuts, low..=high + 1);
            }
        }
        scale.number_start = self.limits.items(self.number_bits.len(), "cuts of numbers")?;
        for cut in cuts {
            let (bits, float) = match cut.at {
                Number::Int(at) => (at as u64, 0),
                Number::Float(at) => (at.to_bits(), 2),
            };
            self.number_bits.push(bits);
            self.number_flags.push(float | u8::from(cut.after));
        }
        Ok(())
    }

    /// Adds the table of a range of integers. Its spaces are below 2^15: numbers come first, with fewer than
    /// [`MAX_TABLE_CUTS`] cuts.
    fn add_table(
        &mut self,
        scale: &mut DimensionScale,
        cuts: &[Cut<Number>],
        integers: std::ops::RangeInclusive<i64>,
    ) -> Result<(), SegmentOverflow> {
        scale.number_start = self.limits.items(self.tables.len(), "entries of number tables")?;
        let mut cut = cuts.iter().peekable();
        let mut space = scale.number_base;
        for value in integers {
            while cut.next_if(|cut| !cut.after && cut.at == Number::Int(value)).is_some() {
                space += 1;
            }
            let cut_behind = cut.next_if(|cut| cut.at == Number::Int(value)).is_some();
            self.tables.push((space as u16) << 1 | u16::from(cut_behind));
            space += u32::from(cut_behind);
        }
        Ok(())
    }

    fn add_texts(
        &mut self,
        scale: &mut DimensionScale,
        texts: &[Cut<SmolStr>],
        ordered: bool,
    ) -> Result<(), SegmentOverflow> {
        scale.text_start = self.limits.items(self.text_ends.len(), "distinct strings")?;
        scale.text_cuts = texts.len() as u32;
        for cut in texts {
            self.text.extend(cut.at.as_bytes());
            self.text_ends.push(self.limits.string_bytes(self.text.len())?);
            self.text_after.push(u8::from(cut.after));
        }
        if ordered || texts.is_empty() {
            return Ok(());
        }
        let slots = (2 * texts.len()).next_power_of_two().max(2);
        let start = self.hash_slots.len();
        self.limits.items(start + slots, "slots of string tables")?;
        scale.hash_start = start as u32;
        scale.hash_mask = slots as u32 - 1;
        self.hash_slots.resize(start + slots, 0);
        for (number, cut) in (1..).zip(texts) {
            let mut slot = xxh3_64(cut.at.as_bytes()) as u32 & scale.hash_mask;
            while self.hash_slots[start + slot as usize] != 0 {
                slot = (slot + 1) & scale.hash_mask;
            }
            self.hash_slots[start + slot as usize] = number;
        }
        Ok(())
    }

    pub fn finish(self) -> ValueSpaces {
        ValueSpaces {
            scales: self.scales.into(),
            tables: self.tables.into(),
            number_bits: self.number_bits.into(),
            number_flags: self.number_flags.into(),
            times: self.times.into(),
            text_ends: self.text_ends.into(),
            text_after: self.text_after.into(),
            text: self.text.into(),
            hash_slots: self.hash_slots.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiled::limits::SegmentLimits;

    fn text(text: &str) -> DimensionCuts {
        let mut cuts = DimensionCuts::default();
        cuts.add(&Test::Text(text.into()));
        cuts
    }

    fn numbers(count: i64) -> DimensionCuts {
        let mut cuts = DimensionCuts::default();
        for n in 0..count {
            cuts.add(&Test::Number { low: Number::Int(n), high: Number::Int(n) });
        }
        cuts
    }

    /// Each end of a string is checked before it is narrowed to 32 bits.
    #[test]
    fn strings_beyond_the_limit_are_refused() {
        let limits = SegmentLimits { string_bytes: 5, ..SegmentLimits::default() };
        let mut builder = ValueSpacesBuilder::new(&limits);
        assert!(builder.add(text("abc")).is_ok());
        assert_eq!(builder.add(text("abc")).map_err(|overflow| overflow.limit), Err(5), "six bytes in all");
    }

    #[test]
    fn spaces_beyond_the_limit_are_refused() {
        let limits = SegmentLimits { spaces: 10, ..SegmentLimits::default() };
        assert!(ValueSpacesBuilder::new(&limits).add(numbers(4)).is_ok(), "nine spaces and that of missing");
        assert!(ValueSpacesBuilder::new(&limits).add(numbers(5)).is_err());
        let limits = SegmentLimits { array_items: 9, ..SegmentLimits::default() };
        let mut builder = ValueSpacesBuilder::new(&limits);
        assert!((0..3).all(|_| builder.add(text("a")).is_ok()));
        assert!((0..3).any(|_| builder.add(text("a")).is_err()), "two slots for each string");
    }

    /// The largest table has spaces that fit into 15 bits.
    #[test]
    fn entries_of_number_tables_do_not_wrap() {
        for count in [16_000, MAX_TABLE_CUTS as i64 / 2 - 1, MAX_TABLE_CUTS as i64] {
            let limits = SegmentLimits::default();
            let mut builder = ValueSpacesBuilder::new(&limits);
            builder.add(numbers(count)).expect("within the limits");
            let spaces = builder.finish();
            let table: &[u16] = &spaces.tables;
            assert!(table.is_sorted_by(|a, b| a >> 1 <= b >> 1), "{count}");
            spaces.validate().expect("sound");
        }
    }
}
