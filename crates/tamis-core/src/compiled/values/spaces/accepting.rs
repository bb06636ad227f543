//! Which spaces does a predicate accept?
//!
//! The cuts of the predicate are among those of the dimension, so each space is accepted as a whole or not at all.

use super::{DimensionScale, SpaceSet, ValueSpaces, ValueSpacesView};
use crate::expr::{Cut, OrderedSet, Test, ValueSet};
use crate::number::Number;
use smol_str::SmolStr;

impl ValueSpaces {
    /// The spaces whose values a test accepts; space 0 if it accepts missing values. Patterns and networks: all strings.
    pub fn accepted(&self, dimension: u32, test: &Test) -> SpaceSet {
        let scale = &self.scales[dimension as usize];
        let view = self.view();
        let mut spaces = SpaceSet::new();
        match test {
            Test::Number { low, high } => {
                let low = (*low != Number::MIN).then_some(Cut { at: *low, after: false });
                let high = (*high != Number::MAX).then_some(Cut { at: *high, after: true });
                spaces.push(view.number_range(scale, low.as_ref(), high.as_ref()));
            }
            Test::Text(text) => {
                let space = view.of_text(scale, text);
                spaces.push((space, space));
            }
            Test::Pattern { or_missing, .. } | Test::Cidr { or_missing, .. } => {
                spaces.extend(or_missing.then_some((0, 0)));
                spaces.push((scale.text_base, scale.text_base + scale.text_cuts));
            }
            test => {
                if let Some(set) = test.to_set() {
                    view.accepted_set(scale, &set, &mut spaces);
                }
            }
        }
        joined(spaces)
    }
}

impl ValueSpacesView<'_> {
    fn accepted_set(&self, scale: &DimensionScale, set: &ValueSet, spaces: &mut SpaceSet) {
        spaces.extend(set.missing.then_some((0, 0)));
        spaces.extend(set.numbers.ranges().map(|(low, high)| self.number_range(scale, low, high)));
        let times = &self.times[scale.time_start as usize..][..scale.time_cuts as usize];
        for (low, high) in set.times.ranges() {
            let place =
                |cut: &Cut<i64>| cut.instant_above().map(|at| times.partition_point(|cut| *cut < at) as u32);
            let low = match low.map(place) {
                None => 0,
                // No instant is behind the last one.
                Some(None) => continue,
                Some(Some(at)) => at + 1,
            };
            let high = high.and_then(place).unwrap_or(scale.time_cuts);
            if low <= high {
                spaces.push((scale.time_base + low, scale.time_base + high));
            }
        }
        self.accepted_texts(scale, &set.texts, spaces);
        for (space, accepted) in (scale.bool_base..).zip(set.bools) {
            spaces.extend(accepted.then_some((space, space)));
        }
        spaces.extend(set.other.then_some((scale.other, scale.other)));
    }

    fn number_range(
        &self,
        scale: &DimensionScale,
        low: Option<&Cut<Number>>,
        high: Option<&Cut<Number>>,
    ) -> (u32, u32) {
        let base = scale.number_base;
        let low = low.map_or(0, |cut| self.cut_position(scale, cut.clone().canonical()) + 1);
        let high = high.map_or(scale.number_cuts, |cut| self.cut_position(scale, cut.clone().canonical()));
        (base + low, base + high)
    }

    /// Number of cuts before one of the cuts.
    fn cut_position(&self, scale: &DimensionScale, cut: Cut<Number>) -> u32 {
        if scale.table_len > 0 {
            let Number::Int(at) = cut.at else { return 0 };
            // The cut is in the table, unless a crafted file has rules that its dimensions were not made of.
            let offset = at.wrapping_sub(scale.table_low) as u64;
            let offset = usize::try_from(offset).ok().filter(|offset| *offset < scale.table_len as usize);
            let Some(offset) = offset else { return 0 };
            let entry = self.tables[scale.number_start as usize + offset];
            let at_it = u32::from(entry >> 1).saturating_sub(scale.number_base);
            return if cut.after { at_it } else { at_it.saturating_sub(1) };
        }
        let (mut low, mut high) = (0, scale.number_cuts as usize);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.number_cut(scale.number_start as usize + middle) < cut {
                low = middle + 1
            } else {
                high = middle
            }
        }
        low as u32
    }

    fn accepted_texts(&self, scale: &DimensionScale, texts: &OrderedSet<SmolStr>, spaces: &mut SpaceSet) {
        if texts.is_empty() {
            return;
        }
        if scale.hash_mask == 0 && scale.text_cuts > 0 {
            let cuts = scale.text_start as usize..(scale.text_start + scale.text_cuts) as usize;
            let position = |cut: &Cut<SmolStr>| {
                let cut = (cut.at.as_bytes(), u8::from(cut.after));
                let (mut low, mut high) = (cuts.start, cuts.end);
                while low < high {
                    let middle = usize::midpoint(low, high);
                    if self.text_cut(middle) < cut { low = middle + 1 } else { high = middle }
                }
                (low - cuts.start) as u32
            };
            for (low, high) in texts.ranges() {
                let low = low.map_or(0, |cut| position(cut) + 1);
                let high = high.map_or(scale.text_cuts, position);
                spaces.push((scale.text_base + low, scale.text_base + high));
            }
            return;
        }
        let point = |(low, _): (Option<&Cut<SmolStr>>, _)| low.map(|cut| self.of_text(scale, &cut.at));
        if texts.is_points() {
            spaces.extend(texts.ranges().filter_map(point).map(|space| (space, space)));
            return;
        }
        // All strings except some.
        let complement = texts.clone().complement();
        let mut next = scale.text_base;
        for excluded in complement.ranges().filter_map(point) {
            if next < excluded {
                spaces.push((next, excluded - 1));
            }
            next = excluded + 1;
        }
        let last = scale.text_base + scale.text_cuts;
        if next <= last {
            spaces.push((next, last));
        }
    }
}

/// Sorts intervals and joins those that overlap or are adjacent.
fn joined(mut spaces: SpaceSet) -> SpaceSet {
    spaces.retain(|(low, high)| low <= high);
    spaces.sort_unstable();
    let mut joined = SpaceSet::with_capacity(spaces.len());
    for (low, high) in spaces {
        match joined.last_mut() {
            Some(last) if low <= last.1 + 1 => last.1 = last.1.max(high),
            _ => joined.push((low, high)),
        }
    }
    joined
}
