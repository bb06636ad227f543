//! An event as spaces: one number per dimension, found once per event.

use crate::compiled::build::conditions::element_dimension;
use crate::compiled::values::spaces::ValueSpacesView;
use crate::event::{Event, Slot};

/// The spaces of an event by dimension.
#[derive(Clone, Copy)]
pub(in crate::compiled) struct SpaceByDimension<'e>(&'e [u32]);

impl SpaceByDimension<'_> {
    /// The space in a dimension, 0 if the event has none; any space if there is no such dimension. The length is a power
    /// of two, so this is a mask instead of a branch.
    #[inline(always)]
    pub fn of(self, dimension: u32) -> u32 {
        self.0[dimension as usize & (self.0.len() - 1)]
    }
}

/// The elements of one list value.
#[derive(Clone, Copy, Debug)]
struct ElementRange {
    dimension: u32,
    /// Where they begin and end in `elements`.
    start: u32,
    end: u32,
    /// Where its bitmap begins in `bits`, and its number of words.
    bits: u32,
    words: u32,
}

/// The spaces of a list's elements.
#[derive(Clone, Copy)]
pub(in crate::compiled) struct ElementSpaces<'e> {
    /// Ascending.
    pub spaces: &'e [u32],
    /// One bit per space.
    bits: &'e [u64],
}

impl ElementSpaces<'_> {
    /// Whether the space of some element is in an interval.
    #[inline]
    pub fn any_between(&self, low: u32, high: u32) -> bool {
        if low == high {
            return self.bits.get(low as usize / 64).is_some_and(|bits| bits >> (low % 64) & 1 == 1);
        }
        let at = self.spaces.partition_point(|space| *space < low);
        self.spaces.get(at).is_some_and(|space| *space <= high)
    }
}

/// The spaces of an event. Reused from event to event: only what was set is cleared.
#[derive(Debug, Default)]
pub(in crate::compiled) struct EventSpaces {
    /// By dimension; 0 if the event has no value there. For list elements, 1 if there are any. The length is a power of
    /// two above the number of dimensions.
    spaces: Vec<u32>,
    /// The dimension behind the last one, where every event has space 1.
    padding: usize,
    /// Dimensions with a value, and the space; once per distinct element of a list.
    present: Vec<(u32, u32)>,
    /// Spaces of the elements of all lists, ascending in each.
    elements: Vec<u32>,
    lists: Vec<ElementRange>,
    /// One bit per space for each list.
    bits: Vec<u64>,
}

impl EventSpaces {
    /// Dimensions with a value, and the space.
    pub fn present(&self) -> &[(u32, u32)] {
        &self.present
    }

    #[inline(always)]
    pub fn by_dimension(&self) -> SpaceByDimension<'_> {
        SpaceByDimension(&self.spaces)
    }

    fn put(&mut self, dimension: u32, space: u32) {
        self.spaces[dimension as usize] = space;
    }

    /// Sets the space of a dimension that has none.
    pub fn set(&mut self, dimension: u32, space: u32) {
        self.put(dimension, space);
        self.present.push((dimension, space));
    }

    /// Sets space 1 of a dimension, unless it is set.
    pub fn set_once(&mut self, dimension: u32) {
        if self.spaces[dimension as usize] == 0 {
            self.set(dimension, 1);
        }
    }

    /// Clears what was set.
    pub fn clear(&mut self) {
        for at in 0..self.present.len() {
            self.put(self.present[at].0, 0);
        }
        if self.padding < self.spaces.len() {
            self.put(self.padding as u32, 0);
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

    /// Sets the spaces of an event's values and list elements. Attributes from `attributes` on are ignored: the segment
    /// does not know them.
    pub fn set_values(
        &mut self,
        spaces: &ValueSpacesView<'_>,
        elements: &[[u32; 2]],
        event: &Event<'_>,
        attributes: usize,
    ) {
        let dimensions = (spaces.len() + 1).next_power_of_two();
        self.spaces.resize(dimensions, 0);
        self.padding = spaces.len();
        self.put(self.padding as u32, 1);
        for cell in event.cells() {
            let attribute = cell.attribute.index();
            if attribute >= attributes {
                continue;
            }
            let space = spaces.of_slot(attribute, cell.slot, event);
            if space > 0 {
                self.set(attribute as u32, space);
            }
            if let Slot::List(list) = cell.slot
                && let Some(dimension) = element_dimension(elements, cell.attribute)
            {
                let start = self.elements.len();
                let values = event.elements(list);
                self.elements.extend(values.map(|value| spaces.of_value(dimension as usize, value)));
                self.elements[start..].sort_unstable();
                self.set_list(dimension, start, spaces.count(dimension));
            }
        }
    }

    /// Makes a list of the elements from a position on, which ascend. The dimension has this many spaces.
    fn set_list(&mut self, dimension: u32, start: usize, spaces: u32) {
        let words = spaces as usize / 64 + 1;
        let bits = self.lists.last().map_or(0, |last| last.bits + last.words);
        self.bits.resize(self.bits.len().max(bits as usize + words), 0);
        let mut last = 0;
        for at in start..self.elements.len() {
            let space = self.elements[at];
            self.bits[bits as usize + space as usize / 64] |= 1 << (space % 64);
            if space != last {
                self.present.push((dimension, space));
                self.put(dimension, 1);
            }
            last = space;
        }
        let (start, end) = (start as u32, self.elements.len() as u32);
        self.lists.push(ElementRange { dimension, start, end, bits, words: words as u32 });
    }

    /// The elements of a list; `None` if the value is no list.
    #[inline]
    pub fn elements(&self, dimension: u32) -> Option<ElementSpaces<'_>> {
        let list = self.lists.iter().find(|list| list.dimension == dimension)?;
        let spaces = &self.elements[list.start as usize..list.end as usize];
        Some(ElementSpaces { spaces, bits: &self.bits[list.bits as usize..][..list.words as usize] })
    }
}
