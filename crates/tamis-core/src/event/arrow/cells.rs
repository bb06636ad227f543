//! Readers of single cells, one per Arrow type. A reader is made once per batch and column, and allocates nothing per cell.
//!
//! Data from outside is only said to be sound. So offsets of lists, keys of dictionaries and strings are checked where they
//! are used: a wrong one is an error of its cell, never memory of others.

use super::strings::{string, string_view};
use crate::event::rows::{Rows, Slot};
use crate::time;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, GenericListArray, OffsetSizeTrait};
use arrow_schema::{DataType, TimeUnit};
use std::ops::Range;

/// Reads the cell of a row; text and list elements are appended to the rows. The error says what is wrong with the value.
pub(super) type CellReader = Box<dyn Fn(usize, &mut Rows) -> Result<Slot, String> + Send + Sync>;

/// The reader of a column's cells; the error names an Arrow type that has no meaning as a value.
pub(super) fn reader(array: &ArrayRef) -> Result<CellReader, String> {
    macro_rules! cells {
        ($typed:expr, |$value:ident, $rows:ident| $slot:expr) => {{
            let typed = $typed.clone();
            Box::new(move |row: usize, $rows: &mut Rows| {
                if typed.is_null(row) {
                    return Ok(Slot::Missing);
                }
                let $value = typed.value(row);
                $slot
            })
        }};
    }
    macro_rules! texts {
        ($typed:expr, $string:expr) => {{
            let typed = $typed.clone();
            Box::new(move |row: usize, rows: &mut Rows| {
                if typed.is_null(row) {
                    return Ok(Slot::Missing);
                }
                let text = $string(&typed, row).map_err(|fault| format!("a string that is {fault}"))?;
                rows.text_slot(text).map_err(|error| error.to_string())
            })
        }};
    }
    macro_rules! ints {
        ($type:ty) => {
            cells!(array.as_primitive::<$type>(), |value, _rows| Ok(Slot::Int(i64::from(value))))
        };
    }
    macro_rules! decimals {
        ($type:ty) => {{
            let typed = array.as_primitive::<$type>().clone();
            Box::new(move |row: usize, _: &mut Rows| {
                if typed.is_null(row) {
                    return Ok(Slot::Missing);
                }
                let text = typed.value_as_string(row);
                Rows::decimal_slot(&text).ok_or_else(|| format!("the decimal {text} is no number"))
            })
        }};
    }
    macro_rules! times {
        ($type:ty, $factor:expr) => {
            cells!(array.as_primitive::<$type>(), |value, _rows| {
                value
                    .checked_mul($factor)
                    .map(Slot::Time)
                    .ok_or_else(|| format!("the time {value} does not fit 64 bits of microseconds"))
            })
        };
    }
    let read: CellReader = match array.data_type() {
        DataType::Null => Box::new(|_, _| Ok(Slot::Missing)),
        DataType::Boolean => cells!(array.as_boolean(), |value, _rows| Ok(Slot::Bool(value))),
        DataType::Int8 => ints!(Int8Type),
        DataType::Int16 => ints!(Int16Type),
        DataType::Int32 => ints!(Int32Type),
        DataType::Int64 => ints!(Int64Type),
        DataType::UInt8 => ints!(UInt8Type),
        DataType::UInt16 => ints!(UInt16Type),
        DataType::UInt32 => ints!(UInt32Type),
        DataType::UInt64 => {
            cells!(array.as_primitive::<UInt64Type>(), |value, _rows| Ok(Rows::unsigned_slot(value)))
        }
        DataType::Decimal32(..) => decimals!(Decimal32Type),
        DataType::Decimal64(..) => decimals!(Decimal64Type),
        DataType::Decimal128(..) => decimals!(Decimal128Type),
        DataType::Decimal256(..) => decimals!(Decimal256Type),
        DataType::Float16 => {
            cells!(array.as_primitive::<Float16Type>(), |value, _rows| Ok(Rows::float_slot(f64::from(value))))
        }
        DataType::Float32 => {
            cells!(array.as_primitive::<Float32Type>(), |value, _rows| Ok(Rows::float_slot(f64::from(value))))
        }
        DataType::Float64 => {
            cells!(array.as_primitive::<Float64Type>(), |value, _rows| Ok(Rows::float_slot(value)))
        }
        DataType::Utf8 => texts!(array.as_string::<i32>(), string),
        DataType::LargeUtf8 => texts!(array.as_string::<i64>(), string),
        DataType::Utf8View => texts!(array.as_string_view(), string_view),
        DataType::Date32 => cells!(array.as_primitive::<Date32Type>(), |value, _rows| {
            time::micros_of_date(value)
                .map(Slot::Time)
                .ok_or_else(|| format!("the date {value} does not fit 64 bits of microseconds"))
        }),
        DataType::Date64 => times!(Date64Type, 1_000),
        DataType::Timestamp(TimeUnit::Second, _) => times!(TimestampSecondType, 1_000_000),
        DataType::Timestamp(TimeUnit::Millisecond, _) => times!(TimestampMillisecondType, 1_000),
        DataType::Timestamp(TimeUnit::Microsecond, _) => times!(TimestampMicrosecondType, 1),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            cells!(array.as_primitive::<TimestampNanosecondType>(), |value, _rows| {
                if value % 1_000 == 0 {
                    Ok(Slot::Time(value / 1_000))
                } else {
                    Err(format!("the time {value} ns would lose precision: cast the column to microseconds"))
                }
            })
        }
        DataType::Dictionary(_, _) => dictionary(array, reader)?,
        DataType::List(_) => lists(array.as_list::<i32>())?,
        DataType::LargeList(_) => lists(array.as_list::<i64>())?,
        DataType::FixedSizeList(_, size) => {
            let lists = array.as_fixed_size_list().clone();
            let elements = Elements::new(lists.values())?;
            let size = *size as usize;
            Box::new(move |row, rows| {
                elements.list(lists.is_null(row), Some(row * size..(row + 1) * size), rows)
            })
        }
        DataType::Struct(_)
        | DataType::Map(_, _)
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => presence(array),
        other => {
            return Err(format!(
                "a column of Arrow type {other} has no meaning as a value; cast it to a boolean, integer, float, decimal, string, date, timestamp or a list of them"
            ));
        }
    };
    Ok(read)
}

/// Cells that are present or missing, and of no kind that predicates compare.
fn presence(array: &ArrayRef) -> CellReader {
    let array = array.clone();
    Box::new(move |row, _| Ok(if array.is_null(row) { Slot::Missing } else { Slot::Other }))
}

/// Cells of a dictionary column; `of_values` makes the reader of its values.
fn dictionary(
    array: &ArrayRef,
    of_values: fn(&ArrayRef) -> Result<CellReader, String>,
) -> Result<CellReader, String> {
    let dictionary = array.as_any_dictionary();
    let values = of_values(dictionary.values())?;
    let (keys, len) = (positions(dictionary.keys()), dictionary.values().len());
    let nulls = dictionary.keys().logical_nulls();
    Ok(Box::new(move |row, rows| match &nulls {
        Some(nulls) if nulls.is_null(row) => Ok(Slot::Missing),
        _ if keys[row] < len => values(keys[row], rows),
        _ => Err(format!("a key beyond the {len} values of the dictionary: the data is damaged")),
    }))
}

/// The keys of a dictionary as positions; negative ones are beyond every dictionary.
fn positions(keys: &dyn Array) -> Vec<usize> {
    macro_rules! positions {
        ($($key:ident => $type:ty),*) => {
            match keys.data_type() {
                $(DataType::$key => {
                    let keys = keys.as_primitive::<$type>().values().iter();
                    keys.map(|key| usize::try_from(*key).unwrap_or(usize::MAX)).collect()
                })*
                _ => vec![usize::MAX; keys.len()],
            }
        };
    }
    positions!(
        Int8 => Int8Type, Int16 => Int16Type, Int32 => Int32Type, Int64 => Int64Type,
        UInt8 => UInt8Type, UInt16 => UInt16Type, UInt32 => UInt32Type, UInt64 => UInt64Type
    )
}

/// Cells of a list column.
fn lists<O: OffsetSizeTrait>(array: &GenericListArray<O>) -> Result<CellReader, String> {
    let lists = array.clone();
    let elements = Elements::new(lists.values())?;
    Ok(Box::new(move |row, rows| {
        let offsets = lists.value_offsets();
        let range = offsets[row].to_usize().zip(offsets[row + 1].to_usize());
        elements.list(lists.is_null(row), range.map(|(start, end)| start..end), rows)
    }))
}

/// The elements of all lists of a column.
struct Elements {
    read: CellReader,
    /// Number of elements.
    len: usize,
}

impl Elements {
    fn new(values: &ArrayRef) -> Result<Elements, String> {
        Ok(Elements { read: element_reader(values)?, len: values.len() })
    }

    /// Reads a range of the elements as a list.
    fn list(&self, is_null: bool, range: Option<Range<usize>>, rows: &mut Rows) -> Result<Slot, String> {
        if is_null {
            return Ok(Slot::Missing);
        }
        let inside = range.filter(|range| range.start <= range.end && range.end <= self.len);
        let range = inside.ok_or_else(|| {
            format!("a list whose offsets leave its {} elements: the data is damaged", self.len)
        })?;
        let mut writer = rows.list();
        for element in range {
            let slot = (self.read)(element, rows)?;
            writer.push(rows, slot);
        }
        writer.finish(rows).map_err(|error| error.to_string())
    }
}

/// Elements that are lists or objects themselves are present, but of no comparable kind: the elements of a list must lie
/// side by side, so no other list may be read between them.
fn element_reader(values: &ArrayRef) -> Result<CellReader, String> {
    match values.data_type() {
        DataType::Dictionary(_, _) => dictionary(values, element_reader),
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(_, _) => Ok(presence(values)),
        _ => reader(values),
    }
}
