//! Any number of events in flat arrays.

use super::ListRef;
use crate::error::{Error, Result};
use crate::schema::AttrId;
use crate::value::Value;

/// A value in 16 bytes; text and lists point into the [`Rows`] that made it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Slot {
    /// Absent, null or NaN.
    #[default]
    Missing,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float, not NaN.
    Float(f64),
    /// A timestamp, or a date's midnight, in microseconds.
    Time(i64),
    /// Bytes of the text arena.
    Text {
        /// First byte.
        start: u32,
        /// Number of bytes.
        len: u32,
    },
    /// A range of the element array.
    List(ListRef),
    /// Present, but of no kind that predicates compare.
    Other,
}

/// An attribute of an event and its value.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// Which attribute.
    pub attribute: AttrId,
    /// Its value, never missing once the row is finished.
    pub slot: Slot,
}

/// Event rows: one event per row, each a run of cells. [`Rows::clear`] keeps the memory for the next events.
///
/// The last row is open until [`Rows::finish_row`] ends it or [`Rows::abandon_row`] drops it.
#[derive(Debug, Default)]
pub struct Rows {
    /// Row `i` is `cells[ends[i - 1]..ends[i]]`; the open row is what follows the last end.
    ends: Vec<usize>,
    /// The cells of all rows. Each attribute occurs at most once per row.
    cells: Vec<Cell>,
    /// All strings, concatenated; at most 4 GiB.
    text: String,
    /// All list elements, list by list.
    elements: Vec<Slot>,
    /// By attribute: position of its last cell. Valid only if that cell lies in the open row and names the attribute.
    last_cells: Vec<u32>,
    /// Whether an event that cannot be read becomes an empty row.
    is_tolerant: bool,
    /// The events that could not be read, with the rows they became.
    bad: Vec<(usize, BadEvent)>,
}

/// An event that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadEvent {
    /// Its number among all events, from 0.
    pub event: usize,
    /// The attribute with the value that has no meaning; `None` if the event as a whole has none.
    pub attribute: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl Rows {
    /// Rows in which an event that cannot be read becomes an empty row, listed in [`Rows::bad`].
    pub fn tolerant() -> Rows {
        Rows { is_tolerant: true, ..Rows::default() }
    }

    /// The events that could not be read, with the rows they became.
    pub fn bad(&self) -> &[(usize, BadEvent)] {
        &self.bad
    }

    /// Takes the outcome of reading one of many events, by its number. A bad event is listed if the rows are tolerant;
    /// otherwise the error names its number.
    pub fn accept(&mut self, outcome: Result<()>, event: usize) -> Result<()> {
        match outcome {
            Err(Error::Event { attribute, message }) if self.is_tolerant => {
                self.bad.push((self.len(), BadEvent { event, attribute, message }));
                self.finish_row();
                Ok(())
            }
            outcome => outcome.map_err(|error| error.at_row(event)),
        }
    }

    /// Number of finished rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no finished row.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Removes all rows; keeps the memory.
    pub fn clear(&mut self) {
        self.ends.clear();
        self.cells.clear();
        self.text.clear();
        self.elements.clear();
        self.bad.clear();
    }

    /// The cells of a finished row.
    pub fn row(&self, row: usize) -> &[Cell] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.cells[start..self.ends[row]]
    }

    fn open_start(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Sets an attribute of the open row; the last value set wins.
    pub fn set(&mut self, attribute: AttrId, slot: Slot) {
        let index = attribute.index();
        if self.last_cells.len() <= index {
            self.last_cells.resize(index + 1, 0);
        }
        let last = self.last_cells[index] as usize;
        if last >= self.open_start() && self.cells.get(last).is_some_and(|cell| cell.attribute == attribute) {
            self.cells[last].slot = slot;
        } else if slot != Slot::Missing {
            self.last_cells[index] = self.cells.len() as u32;
            self.cells.push(Cell { attribute, slot });
        }
    }

    /// Appends a string to the text; returns its slot.
    pub fn text_slot(&mut self, text: &str) -> Result<Slot> {
        let (start, len) = (self.text.len(), text.len());
        if start + len > u32::MAX as usize {
            return Err(Error::Event {
                attribute: None,
                message: "more than 4 GiB of text in one batch".into(),
            });
        }
        self.text.push_str(text);
        Ok(Slot::Text { start: start as u32, len: len as u32 })
    }

    /// The slot of a float; NaN is missing.
    pub fn float_slot(value: f64) -> Slot {
        if value.is_nan() { Slot::Missing } else { Slot::Float(value) }
    }

    /// The slot of an integer beyond 64 bits with a sign but within 64 bits without: the nearest float.
    pub fn unsigned_slot(value: u64) -> Slot {
        i64::try_from(value).map_or(Slot::Float(value as f64), Slot::Int)
    }

    /// The slot of a decimal number, which is written with digits and at most one point: an integer if it is whole and fits
    /// 64 bits, else the float that a literal of the same text is. `None` if the text is no number.
    pub fn decimal_slot(text: &str) -> Option<Slot> {
        let whole = match text.split_once('.') {
            Some((whole, fraction)) if fraction.bytes().all(|digit| digit == b'0') => Some(whole),
            Some(_) => None,
            None => Some(text),
        };
        match whole.and_then(|whole| whole.parse().ok()) {
            Some(integer) => Some(Slot::Int(integer)),
            None => text.parse().ok().map(Rows::float_slot),
        }
    }

    /// Begins a list; elements are pushed through the writer.
    pub fn list(&mut self) -> ElementsWriter {
        ElementsWriter { start: self.elements.len() }
    }

    /// Ends the open row.
    pub fn finish_row(&mut self) {
        let start = self.open_start();
        // A value that was set and then set to null is missing after all.
        let mut at = start;
        while at < self.cells.len() {
            if self.cells[at].slot == Slot::Missing {
                self.cells.swap_remove(at);
            } else {
                at += 1;
            }
        }
        self.ends.push(self.cells.len());
    }

    /// Appends a finished row of other rows. After an error nothing of it remains.
    pub fn copy_row(&mut self, other: &Rows, row: usize) -> Result<()> {
        self.copy_row_numbered(other, row, Some)
    }

    /// As [`Rows::copy_row`], with other numbers for attributes; those without one are left out.
    pub fn copy_row_numbered(
        &mut self,
        other: &Rows,
        row: usize,
        number: impl Fn(AttrId) -> Option<AttrId>,
    ) -> Result<()> {
        for cell in other.row(row) {
            let Some(attribute) = number(cell.attribute) else { continue };
            match self.copy_slot(other, cell.slot) {
                Ok(slot) => self.set(attribute, slot),
                Err(error) => {
                    self.abandon_row();
                    return Err(error);
                }
            }
        }
        self.finish_row();
        Ok(())
    }

    fn copy_slot(&mut self, other: &Rows, slot: Slot) -> Result<Slot> {
        match slot {
            Slot::Text { .. } => match other.value(slot) {
                Value::Text(text) => self.text_slot(text),
                _ => Ok(slot),
            },
            Slot::List(list) => {
                // Collected before the list begins, because a list is one range of the element array.
                let elements =
                    other.element_slots(list).iter().map(|element| self.copy_slot(other, *element));
                let elements: Vec<Slot> = elements.collect::<Result<_>>()?;
                let mut writer = self.list();
                elements.into_iter().for_each(|element| writer.push(self, element));
                writer.finish(self)
            }
            simple => Ok(simple),
        }
    }

    /// Drops what was set since the last finished row.
    pub fn abandon_row(&mut self) {
        self.cells.truncate(self.open_start());
    }

    /// The value of a slot of these rows.
    #[inline]
    pub fn value(&self, slot: Slot) -> Value<'_> {
        match slot {
            Slot::Missing => Value::Missing,
            Slot::Bool(value) => Value::Bool(value),
            Slot::Int(value) => Value::Int(value),
            Slot::Float(value) => Value::Float(value),
            Slot::Time(value) => Value::Time(value),
            Slot::Text { start, len } => {
                Value::Text(&self.text[start as usize..start as usize + len as usize])
            }
            Slot::List(list) => Value::List(list),
            Slot::Other => Value::Other,
        }
    }

    /// The slots of a list's elements.
    pub fn element_slots(&self, list: ListRef) -> &[Slot] {
        &self.elements[list.start as usize..list.start as usize + list.len()]
    }
}

/// A list being filled. Lists do not nest, so its elements are one range of the element array.
#[derive(Debug)]
pub struct ElementsWriter {
    /// Its first element in the element array.
    start: usize,
}

impl ElementsWriter {
    /// Adds an element.
    pub fn push(&mut self, rows: &mut Rows, slot: Slot) {
        rows.elements.push(slot);
    }

    /// The slot of the finished list.
    pub fn finish(self, rows: &Rows) -> Result<Slot> {
        match (u32::try_from(self.start), u32::try_from(rows.elements.len() - self.start)) {
            (Ok(start), Ok(len)) => Ok(Slot::List(ListRef { start, len })),
            _ => Err(Error::Event {
                attribute: None,
                message: "more than 4 billion list elements in one batch".into(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_wins_and_null_removes() {
        let (a, b) = (AttrId(0), AttrId(7));
        let mut rows = Rows::default();
        rows.set(a, Slot::Int(1));
        rows.set(b, Slot::Int(2));
        rows.set(a, Slot::Int(3));
        rows.finish_row();
        rows.set(b, Slot::Int(4));
        rows.set(a, Slot::Int(5));
        rows.set(b, Slot::Missing);
        rows.finish_row();
        rows.set(a, Slot::Int(6));
        rows.abandon_row();
        rows.finish_row();
        let cells = |row| rows.row(row).iter().map(|c| (c.attribute.0, c.slot)).collect::<Vec<_>>();
        assert_eq!(cells(0), [(0, Slot::Int(3)), (7, Slot::Int(2))]);
        assert_eq!(cells(1), [(0, Slot::Int(5))]);
        assert_eq!(cells(2), []);
    }

    #[test]
    fn decimals_are_integers_if_whole() {
        let slot = |text| Rows::decimal_slot(text);
        assert_eq!(slot("12.00"), Some(Slot::Int(12)));
        assert_eq!(slot("-9223372036854775808"), Some(Slot::Int(i64::MIN)));
        assert_eq!(slot("9223372036854775808"), Some(Slot::Float(9_223_372_036_854_775_808.0)));
        assert_eq!(slot("0.1"), Some(Slot::Float(0.1)));
        assert_eq!(slot("-0.000"), Some(Slot::Int(0)));
        assert_eq!(slot("x"), None);
        assert_eq!(Rows::unsigned_slot(1 << 63), Slot::Float(9_223_372_036_854_775_808.0));
    }

    #[test]
    fn rows_are_copied_with_their_texts_and_lists() {
        let mut rows = Rows::default();
        let text = rows.text_slot("other").expect("room");
        rows.set(AttrId(1), text);
        rows.finish_row();
        let mut list = rows.list();
        for word in ["a", "bc"] {
            let slot = rows.text_slot(word).expect("room");
            list.push(&mut rows, slot);
        }
        list.push(&mut rows, Slot::Int(7));
        let list = list.finish(&rows).expect("room");
        rows.set(AttrId(3), list);
        rows.set(AttrId(2), Slot::Bool(true));
        rows.finish_row();
        let mut copy = Rows::default();
        for row in [1, 0, 1] {
            copy.copy_row(&rows, row).expect("room");
        }
        assert_eq!(copy.len(), 3);
        let text = |slot: &Slot| copy.value(*slot).to_string();
        assert_eq!(text(&copy.row(1)[0].slot), "'other'");
        let Slot::List(list) = copy.row(2)[0].slot else { unreachable!("a list") };
        assert_eq!(copy.element_slots(list).iter().map(text).collect::<Vec<_>>(), ["'a'", "'bc'", "7"]);
        assert_eq!(copy.row(2)[1].slot, Slot::Bool(true));
    }
}
