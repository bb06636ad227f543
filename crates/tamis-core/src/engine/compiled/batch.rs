//! placeholder
use super::matching::{CompiledScratch, View};
use crate::event::{EventSlots, Rows};
use std::ops::Range;

#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub ends: Vec<usize>,
    pub subs: Vec<u32>,
}
#[derive(Debug, Default)]
pub(super) struct BatchScratch {
    slots: EventSlots,
}
#[derive(Debug, Default)]
pub(super) struct Paths {}
impl Paths {
    pub fn match_rows(
        &self,
        view: &View<'_>,
        rows: &Rows,
        range: Range<usize>,
        attributes: usize,
        scratch: &mut CompiledScratch,
        found: &mut Batch,
    ) {
        let mut slots = std::mem::take(&mut scratch.batch.slots);
        for row in range {
            view.match_event(&slots.load(rows, row, attributes), scratch, &mut found.subs);
            found.ends.push(found.subs.len());
        }
        scratch.batch.slots = slots;
    }
    pub fn stats(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}
