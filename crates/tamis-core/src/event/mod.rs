//! Events: rows of (attribute, value) cells, filled from mappings, JSON or Arrow data, read by engines.
//!
//! | file | question it answers |
//! | --- | --- |
//! | `rows` | how are many events stored in flat arrays? |
//! | `source` | how are events read, whatever they are made of? |
//! | `json` | how is JSON text read into rows? |
//! | `arrow` | how are record batches read into rows? |
//!
//! [`Rows`] stores any number of events in four flat arrays: a cell is 24 bytes. [`EventSlots`] scatters one row into an
//! array indexed by attribute, so that an engine reads a value with one array access; it clears only the slots it filled.

mod arrow;
mod json;
mod rows;
mod source;

pub use arrow::{ArrowReader, ArrowSource, ArrowSourceError, arrow_text};
pub use json::{JsonReader, JsonSource, lines as json_lines};
pub use rows::{BadEvent, Cell, ElementsWriter, Rows, Slot};
pub use source::EventSource;

use crate::schema::AttrId;
use crate::value::Value;
use std::fmt::Write as _;

/// A range of list elements in [`Rows`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListRef {
    /// First element in the element array.
    start: u32,
    /// Number of elements.
    len: u32,
}

impl ListRef {
    /// Number of elements.
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether the list has no elements.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// One row, indexed by attribute. Reused from event to event without allocation.
#[derive(Debug, Default)]
pub struct EventSlots {
    /// By attribute; `Slot::Missing` where the current row has no cell.
    slots: Vec<Slot>,
    /// Attributes of the current row: the slots to clear before the next one.
    filled: Vec<AttrId>,
}

impl EventSlots {
    /// Scatters row `row` into the slots; `attributes` is the size of the schema it was read with.
    pub fn load<'a>(&'a mut self, rows: &'a Rows, row: usize, attributes: usize) -> Event<'a> {
        for attribute in self.filled.drain(..) {
            self.slots[attribute.index()] = Slot::Missing;
        }
        if self.slots.len() < attributes {
            self.slots.resize(attributes, Slot::Missing);
        }
        let cells = rows.row(row);
        for cell in cells {
            self.slots[cell.attribute.index()] = cell.slot;
            self.filled.push(cell.attribute);
        }
        Event { slots: &self.slots, cells, rows }
    }
}

/// One event, as engines read it.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// By attribute; shorter than the schema never, longer possibly.
    slots: &'a [Slot],
    /// The present attributes.
    cells: &'a [Cell],
    /// The arrays that texts and lists of the slots point into.
    rows: &'a Rows,
}

impl<'a> Event<'a> {
    /// The attribute's value; missing if the event has none.
    #[inline]
    pub fn value(&self, attribute: AttrId) -> Value<'a> {
        match self.slots.get(attribute.index()) {
            Some(slot) => self.rows.value(*slot),
            None => Value::Missing,
        }
    }

    /// The attribute's slot, for tests that need no text.
    #[inline]
    pub fn slot(&self, attribute: AttrId) -> Slot {
        self.slots.get(attribute.index()).copied().unwrap_or(Slot::Missing)
    }

    /// The value a slot of this event stands for.
    #[inline]
    pub fn resolve(&self, slot: Slot) -> Value<'a> {
        self.rows.value(slot)
    }

    /// Length of the slot array: greater than every attribute number of the event.
    pub fn attributes(&self) -> usize {
        self.slots.len()
    }

    /// The present attributes, each once, in no particular order.
    pub fn cells(&self) -> &'a [Cell] {
        self.cells
    }

    /// The elements of a list of this event.
    pub fn elements(&self, list: ListRef) -> impl Iterator<Item = Value<'a>> + use<'a> {
        let rows = self.rows;
        rows.element_slots(list).iter().map(move |slot| rows.value(*slot))
    }

    /// A value as text for people; long lists are cut.
    pub fn describe(&self, value: Value<'_>) -> String {
        const SHOWN: usize = 10;
        let Value::List(list) = value else {
            return value.to_string();
        };
        let mut text = String::from("[");
        for (i, element) in self.elements(list).take(SHOWN).enumerate() {
            let _ = write!(text, "{}{element}", if i > 0 { ", " } else { "" });
        }
        text.push_str(if list.len() > SHOWN { ", …]" } else { "]" });
        text
    }
}
