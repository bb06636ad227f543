//! The spaces of a batch of events as tests of 4 bytes see them: one array of 2 bytes per event and dimension.

use crate::compiled::arena::test_encoding::NarrowSpace;
use crate::compiled::values::event_spaces::EventSpaces;

/// Narrow spaces by event and dimension. Reused from batch to batch: only what was set is cleared.
#[derive(Debug, Default)]
pub(in crate::compiled) struct NarrowSpaces {
    /// [`NarrowSpace`]s, `1 << bits` for each event.
    spaces: Vec<u16>,
    /// Binary logarithm of the dimensions an event has room for.
    bits: u32,
    /// The dimension behind the last one, where every event has space 1.
    padding: usize,
}

impl NarrowSpaces {
    /// Makes room for a batch. There is one dimension more than `dimensions`.
    pub fn begin(&mut self, events: usize, dimensions: usize) {
        self.padding = dimensions;
        self.bits = (dimensions + 1).next_power_of_two().trailing_zeros();
        if self.spaces.len() < events << self.bits {
            self.spaces.resize(events << self.bits, NarrowSpace::ABSENT.0);
        }
    }

    /// Sets the spaces of an event.
    pub fn set(&mut self, event: usize, event_spaces: &EventSpaces) {
        let spaces = &mut self.spaces[event << self.bits..][..1 << self.bits];
        spaces[self.padding] = NarrowSpace::new(1).0;
        for (dimension, _) in event_spaces.present() {
            let space = event_spaces.by_dimension().of(*dimension);
            spaces[*dimension as usize] = NarrowSpace::new(space).0;
        }
    }

    /// Clears what was set for an event.
    pub fn clear(&mut self, event: usize, event_spaces: &EventSpaces) {
        let spaces = &mut self.spaces[event << self.bits..][..1 << self.bits];
        spaces[self.padding] = NarrowSpace::ABSENT.0;
        for (dimension, _) in event_spaces.present() {
            spaces[*dimension as usize] = NarrowSpace::ABSENT.0;
        }
    }

    #[inline(always)]
    pub fn view(&self) -> NarrowSpacesView<'_> {
        NarrowSpacesView { spaces: &self.spaces, bits: self.bits }
    }
}

/// The spaces of all events, borrowed.
#[derive(Clone, Copy)]
pub(in crate::compiled) struct NarrowSpacesView<'s> {
    spaces: &'s [u16],
    bits: u32,
}

impl<'s> NarrowSpacesView<'s> {
    /// The spaces of an event.
    #[inline(always)]
    pub fn of(self, event: usize) -> EventNarrowSpaces<'s> {
        EventNarrowSpaces { all: self.spaces, start: event << self.bits, mask: (1 << self.bits) - 1 }
    }
}

/// The spaces of one event.
#[derive(Clone, Copy)]
pub(in crate::compiled) struct EventNarrowSpaces<'s> {
    all: &'s [u16],
    start: usize,
    /// Dimensions modulo a power of two.
    mask: u32,
}

impl EventNarrowSpaces<'_> {
    /// The space in a dimension; any space if there is no such dimension: a mask instead of a branch.
    #[inline(always)]
    pub fn of(self, dimension: u32) -> u16 {
        self.all[self.start + (dimension & self.mask) as usize]
    }
}
