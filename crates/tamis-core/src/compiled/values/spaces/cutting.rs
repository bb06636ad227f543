//! Where the predicates of a dimension cut it, and how its spaces are laid out.

use super::{Scale, Spaces};
use crate::expr::{Cut, Test, ValueSet};
use crate::number::Number;
use smol_str::SmolStr;
use xxhash_rust::xxh3::xxh3_64;

/// A table may have so many entries, and no more than a few for each cut.
const LONGEST_TABLE: u64 = 1 << 20;

/// Collects the cuts of a dimension.
#[derive(Debug, Default)]
pub struct Cuts {
    numbers: Vec<Cut<Number>>,
    times: Vec<i64>,
    texts: Vec<Cut<SmolStr>>,
    /// Whether some predicate accepts some, but not only single strings.
    ordered_texts: bool,
    /// Whether some predicate accepts a missing value: then every kind must be told from it.
    missing: bool,
    uses_numbers: bool,
    uses_times: bool,
    uses_texts: bool,
    uses_bools: bool,
    uses_other: bool,
}

impl Cuts {
    /// Takes part in the ends of a test's set.
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
            // Only whether there is a string.
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

    /// Lists are to be told from missing.
    pub fn needs_lists(&mut self) {
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

    fn settle(&mut self) {
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
            // Only the strings themselves are kept.
            self.texts.retain(|cut| !cut.after);
        }
    }
}

/// Lays out all dimensions.
#[derive(Default)]
pub struct SpacesBuilder {
    scales: Vec<Scale>,
    tables: Vec<u16>,
    number_bits: Vec<u64>,
    number_flags: Vec<u8>,
    times: Vec<i64>,
    text_ends: Vec<u32>,
    text_after: Vec<u8>,
    text: Vec<u8>,
    hash_slots: Vec<u32>,
}

impl SpacesBuilder {
    /// The next dimension. Its number is how many there were before.
    pub fn add(&mut self, mut cuts: Cuts) {
        cuts.settle();
        let mut scale = Scale { count: 1, whole: 1, ..Scale::default() };
        let mut take = |used: bool, spaces: usize| {
            let base = if used { scale.count } else { 0 };
            scale.count += if used { spaces as u32 } else { 0 };
            base
        };
        let number_base = take(cuts.uses_numbers, cuts.numbers.len() + 1);
        let time_base = take(cuts.uses_times, cuts.times.len() + 1);
        let text_base = take(cuts.uses_texts, cuts.texts.len() + 1);
        let bool_base = take(cuts.uses_bools, 2);
        let other = take(cuts.uses_other, 1);
        scale = Scale { number_base, time_base, text_base, bool_base, other, ..scale };
        self.add_numbers(&mut scale, &cuts.numbers);
        scale.time_start = self.times.len() as u32;
        scale.time_cuts = cuts.times.len() as u32;
        self.times.extend(cuts.times);
        self.add_texts(&mut scale, &cuts.texts, cuts.ordered_texts);
        self.scales.push(scale);
    }

    /// A dimension that only tells TRUE, in space 1, from the rest.
    pub fn add_flag(&mut self) {
        self.scales.push(Scale { count: 2, ..Scale::default() });
    }

    fn add_numbers(&mut self, scale: &mut Scale, cuts: &[Cut<Number>]) {
        scale.number_cuts = cuts.len() as u32;
        let integer = |cut: &Cut<Number>| if let Number::Int(at) = cut.at { Some(at) } else { None };
        let whole = cuts.iter().all(|cut| integer(cut).is_some());
        scale.whole = u32::from(whole);
        let ends = cuts.first().and_then(integer).zip(cuts.last().and_then(integer));
        if let Some((low, high)) = ends.filter(|_| whole && cuts.len() < (1 << 15) - 8) {
            // One more integer behind the last cut, so that the value behind a cut that is behind it is in the table.
            let span = high.abs_diff(low).saturating_add(2);
            if span <= LONGEST_TABLE && span <= 4 * cuts.len() as u64 + 64 && high < i64::MAX {
                scale.table_low = low;
                scale.table_len = span as u32;
                scale.number_start = self.tables.len() as u32;
                let mut cut = cuts.iter().peekable();
                let mut space = scale.number_base;
                for value in low..=high + 1 {
                    while cut.next_if(|cut| !cut.after && cut.at == Number::Int(value)).is_some() {
                        space += 1;
                    }
                    let cut_behind = cut.next_if(|cut| cut.at == Number::Int(value)).is_some();
                    self.tables.push((space as u16) << 1 | u16::from(cut_behind));
                    space += u32::from(cut_behind);
                }
                return;
            }
        }
        scale.number_start = self.number_bits.len() as u32;
        for cut in cuts {
            let (bits, float) = match cut.at {
                Number::Int(at) => (at as u64, 0),
                Number::Float(at) => (at.to_bits(), 2),
            };
            self.number_bits.push(bits);
            self.number_flags.push(float | u8::from(cut.after));
        }
    }

    fn add_texts(&mut self, scale: &mut Scale, texts: &[Cut<SmolStr>], ordered: bool) {
        scale.text_start = self.text_ends.len() as u32;
        scale.text_cuts = texts.len() as u32;
        for cut in texts {
            self.text.extend(cut.at.as_bytes());
            self.text_ends.push(self.text.len() as u32);
            self.text_after.push(u8::from(cut.after));
        }
        if ordered || texts.is_empty() {
            return;
        }
        let slots = (2 * texts.len()).next_power_of_two().max(2) as u32;
        scale.hash_start = self.hash_slots.len() as u32;
        scale.hash_mask = slots - 1;
        self.hash_slots.resize((scale.hash_start + slots) as usize, 0);
        for (number, cut) in (1..).zip(texts) {
            let mut slot = xxh3_64(cut.at.as_bytes()) as u32 & scale.hash_mask;
            while self.hash_slots[(scale.hash_start + slot) as usize] != 0 {
                slot = (slot + 1) & scale.hash_mask;
            }
            self.hash_slots[(scale.hash_start + slot) as usize] = number;
        }
    }

    pub fn finish(self) -> Spaces {
        Spaces {
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
