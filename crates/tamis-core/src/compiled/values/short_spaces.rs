//! The spaces of the events that walk together, as tests in four bytes see them: one array for all.

use crate::compiled::arena::test_encoding::Short;
use crate::compiled::values::event_spaces::Located;

/// Spaces by event and dimension. Reused; only what was set is cleared.
#[derive(Debug, Default)]
pub(in crate::compiled) struct Shorts {
    spaces: Vec<u16>,
    /// There is room for two to the power of this many dimensions.
    bits: u32,
    /// The dimension that every event has.
    filler: usize,
}

impl Shorts {
    /// Makes room for so many events with so many dimensions, and one more.
    pub fn begin(&mut self, events: usize, dimensions: usize) {
        self.filler = dimensions;
        self.bits = (dimensions + 1).next_power_of_two().trailing_zeros();
        if self.spaces.len() < events << self.bits {
            self.spaces.resize(events << self.bits, Short::NOTHING.0);
        }
    }

    /// Sets the spaces of an event.
    pub fn set(&mut self, event: usize, located: &Located) {
        let spaces = &mut self.spaces[event << self.bits..][..1 << self.bits];
        spaces[self.filler] = Short::new(1).0;
        for (dimension, _) in located.present() {
            spaces[*dimension as usize] = Short::new(located.spaces().of(*dimension)).0;
        }
    }

    /// Clears what was set for an event.
    pub fn clear(&mut self, event: usize, located: &Located) {
        let spaces = &mut self.spaces[event << self.bits..][..1 << self.bits];
        spaces[self.filler] = Short::NOTHING.0;
        for (dimension, _) in located.present() {
            spaces[*dimension as usize] = Short::NOTHING.0;
        }
    }

    /// The spaces of all events.
    #[inline(always)]
    pub fn all(&self) -> AllShorts<'_> {
        AllShorts { spaces: &self.spaces, bits: self.bits }
    }
}

/// The spaces of all events.
#[derive(Clone, Copy)]
pub(in crate::compiled) struct AllShorts<'s> {
    spaces: &'s [u16],
    bits: u32,
}

impl<'s> AllShorts<'s> {
    /// The spaces of an event.
    #[inline(always)]
    pub fn of(self, event: usize) -> ShortSpaces<'s> {
        ShortSpaces { all: self.spaces, start: event << self.bits, last: (1 << self.bits) - 1 }
    }
}

/// The spaces of one event.
#[derive(Clone, Copy)]
pub(in crate::compiled) struct ShortSpaces<'s> {
    all: &'s [u16],
    start: usize,
    last: u32,
}

impl ShortSpaces<'_> {
    /// The space in a dimension, or any if there is no such dimension: this is a mask, not a branch.
    #[inline(always)]
    pub fn of(self, dimension: u32) -> u16 {
        self.all[self.start + (dimension & self.last) as usize]
    }
}
