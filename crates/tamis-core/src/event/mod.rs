//! Events: rows of (attribute, value) cells, filled from mappings, JSON or Arrow, read by engines.
//!
//! [`Rows`] holds any number of events in four flat arrays. [`EventSlots`] spreads one row over an array with a
//! place per attribute, so that engines read a value in one step; it clears only the places it filled.

mod arrow;
mod json;
mod rows;

pub use arrow::ArrowReader;
pub use json::{JsonReader, lines as json_lines};
pub use rows::{Cell, ElementsWriter, Rows, Slot};

use crate::schema::AttrId;
use crate::value::Value;
use std::fmt::Write as _;

/// A list's place in [`Rows`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListRef {
    start: u32,
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

/// One row spread over a place per attribute. Reused from event to event without allocation.
#[derive(Debug, Default)]
pub struct EventSlots {
    /// By attribute; `Slot::Missing` wherever the current row has no cell.
    slots: Vec<Slot>,
    /// The places to clear before the next row.
    filled: Vec<AttrId>,
}

impl EventSlots {
    /// Spreads row `row`; `attributes` is the size of the schema it was read with.
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

/// One event, as engines see it.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    slots: &'a [Slot],
    cells: &'a [Cell],
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

    /// How many attributes the event could have: one more than the greatest number.
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
