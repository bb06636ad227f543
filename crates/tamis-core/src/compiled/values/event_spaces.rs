//! An event in spaces.

use crate::compiled::values::spaces::SpacesView;
use crate::event::{Event, Slot};

/// The spaces of an event.
#[derive(Clone, Copy)]
pub(in crate::compiled) struct SpacesByDimension<'e>(&'e [u32]);

impl SpacesByDimension<'_> {
    /// The space in a dimension, 0 if the event has none; any space if there is no such dimension. There are as many
    /// as a power of two, so this is a mask, not a branch.
    #[inline(always)]
    pub fn of(self, dimension: u32) -> u32 {
        self.0[dimension as usize & (self.0.len() - 1)]
    }
}

/// The elements of a list.
#[derive(Clone, Copy, Debug)]
struct List {
    dimension: u32,
    /// Where they begin and end in `elements`.
    start: u32,
    end: u32,
    /// Where its bits begin, and how many words they are.
    bits: u32,
    words: u32,
}

/// The spaces of the elements of a list.
#[derive(Clone, Copy)]
pub(in crate::compiled) struct Elements<'e> {
    /// Ascending.
    pub spaces: &'e [u32],
    bits: &'e [u64],
}

impl Elements<'_> {
    /// Whether one of them is in an interval.
    #[inline]
    pub fn any_between(&self, low: u32, high: u32) -> bool {
        if low == high {
            return self.bits.get(low as usize / 64).is_some_and(|bits| bits >> (low % 64) & 1 == 1);
        }
        let at = self.spaces.partition_point(|space| *space < low);
        self.spaces.get(at).is_some_and(|space| *space <= high)
    }
}

/// An event's values as spaces. Reused from event to event; only what was set is cleared.
#[derive(Debug, Default)]
pub(in crate::compiled) struct Located {
    /// By dimension; 0 where the event has nothing. For lists of elements, 1 if there are any. As long as a power of
    /// two, and longer than there are dimensions.
    spaces: Vec<u32>,
    /// The dimension that every event has.
    filler: usize,
    /// Dimensions with a value, and the space; elements of a list one by one.
    present: Vec<(u32, u32)>,
    /// Spaces of the elements of all lists, ascending in each.
    elements: Vec<u32>,
    lists: Vec<List>,
    /// For each list a bit for every space: whether it is that of an element.
    bits: Vec<u64>,
}

impl Located {
    pub fn present(&self) -> &[(u32, u32)] {
        &self.present
    }

    #[inline(always)]
    pub fn spaces(&self) -> SpacesByDimension<'_> {
        SpacesByDimension(&self.spaces)
    }

    fn put(&mut self, dimension: u32, space: u32) {
        self.spaces[dimension as usize] = space;
    }

    pub fn set(&mut self, dimension: u32, space: u32) {
        self.put(dimension, space);
        self.present.push((dimension, space));
    }

    /// As [`Located::set`] to 1, if it is not set already.
    pub fn set_once(&mut self, dimension: u32) {
        if self.spaces[dimension as usize] == 0 {
            self.set(dimension, 1);
        }
    }

    pub fn clear(&mut self) {
        for at in 0..self.present.len() {
            self.put(self.present[at].0, 0);
        }
        if self.filler < self.spaces.len() {
            self.put(self.filler as u32, 0);
        }
        for list in &self.lists {
            for space in &self.elements[list.start as usize..list.end as usize] {
                self.bits[list.bits as usize + *space as usize / 64] = 0;
            }
        }
        self.present.clear();
        self.elements.clear();
        self.lists.clear();
    }

    /// Locates all values of an event.
    pub fn locate_values(
        &mut self,
        spaces: &SpacesView<'_>,
        elements: &[[u32; 2]],
        event: &Event<'_>,
        attributes: usize,
    ) {
        // At least one more, which every event has.
        let dimensions = (spaces.len() + 1).next_power_of_two();
        self.spaces.resize(dimensions, 0);
        self.filler = spaces.len();
        self.put(self.filler as u32, 1);
        for cell in event.cells() {
            let attribute = cell.attribute.index();
            // Others came with later subscriptions.
            if attribute >= attributes {
                continue;
            }
            let space = spaces.of_slot(attribute, cell.slot, event);
            if space > 0 {
                self.set(attribute as u32, space);
            }
            if let Slot::List(list) = cell.slot
                && let Ok(at) = elements.binary_search_by_key(&cell.attribute.0, |[attribute, _]| *attribute)
            {
                let dimension = elements[at][1];
                let start = self.elements.len();
                let located = event.elements(list).map(|value| spaces.of_value(dimension as usize, value));
                self.elements.extend(located);
                self.elements[start..].sort_unstable();
                self.list(dimension, start, spaces.count(dimension));
                let mut last = 0;
                for at in start..self.elements.len() {
                    let space = self.elements[at];
                    if space != last {
                        self.present.push((dimension, space));
                        self.put(dimension, 1);
                    }
                    last = space;
                }
            }
        }
    }

    /// Takes the elements from a place on as a list of their own.
    fn list(&mut self, dimension: u32, start: usize, spaces: u32) {
        let words = spaces as usize / 64 + 1;
        let bits = self.lists.last().map_or(0, |last| last.bits + last.words);
        self.bits.resize(self.bits.len().max(bits as usize + words), 0);
        for space in &self.elements[start..] {
            self.bits[bits as usize + *space as usize / 64] |= 1 << (space % 64);
        }
        let (start, end) = (start as u32, self.elements.len() as u32);
        self.lists.push(List { dimension, start, end, bits, words: words as u32 });
    }

    /// The elements of a list; `None` if the value is no list.
    #[inline]
    pub fn elements(&self, dimension: u32) -> Option<Elements<'_>> {
        let list = self.lists.iter().find(|list| list.dimension == dimension)?;
        let spaces = &self.elements[list.start as usize..list.end as usize];
        Some(Elements { spaces, bits: &self.bits[list.bits as usize..][..list.words as usize] })
    }
}
