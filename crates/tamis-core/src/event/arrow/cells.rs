//! Readers of single cells, one per Arrow type. A reader is made once per batch and column, and allocates nothing per cell.

use crate::event::rows::{Rows, Slot};
use crate::time;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, BinaryArray, LargeBinaryArray};
use arrow_schema::{DataType, TimeUnit};

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
    macro_rules! ints {
        ($type:ty) => {
            cells!(array.as_primitive::<$type>(), |value, _rows| Ok(Slot::Int(i64::from(value))))
        };
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
        DataType::UInt64 => cells!(array.as_primitive::<UInt64Type>(), |value, _rows| {
            i64::try_from(value)
                .map(Slot::Int)
                .map_err(|_| format!("the integer {value} does not fit 64 bits with a sign"))
        }),
        DataType::Float16 => {
            cells!(array.as_primitive::<Float16Type>(), |value, _rows| Ok(Rows::float_slot(f64::from(value))))
        }
        DataType::Float32 => {
            cells!(array.as_primitive::<Float32Type>(), |value, _rows| Ok(Rows::float_slot(f64::from(value))))
        }
        DataType::Float64 => {
            cells!(array.as_primitive::<Float64Type>(), |value, _rows| Ok(Rows::float_slot(value)))
        }
        // Data from outside is only said to be UTF-8, so it is read as bytes and checked.
        DataType::Utf8 => {
            cells!(BinaryArray::from(array.as_string::<i32>().clone()), |value, rows| text(value, rows))
        }
        DataType::LargeUtf8 => {
            cells!(LargeBinaryArray::from(array.as_string::<i64>().clone()), |value, rows| text(value, rows))
        }
        DataType::Utf8View => {
            cells!(array.as_string_view().clone().to_binary_view(), |value, rows| text(value, rows))
        }
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
        DataType::List(_) => {
            let lists = array.as_list::<i32>().clone();
            let elements = element_reader(lists.values())?;
            Box::new(move |row, rows| {
                let offsets = lists.value_offsets();
                list(lists.is_null(row), offsets[row] as usize..offsets[row + 1] as usize, &elements, rows)
            })
        }
        DataType::LargeList(_) => {
            let lists = array.as_list::<i64>().clone();
            let elements = element_reader(lists.values())?;
            Box::new(move |row, rows| {
                let offsets = lists.value_offsets();
                list(lists.is_null(row), offsets[row] as usize..offsets[row + 1] as usize, &elements, rows)
            })
        }
        DataType::FixedSizeList(_, size) => {
            let lists = array.as_fixed_size_list().clone();
            let elements = element_reader(lists.values())?;
            let size = *size as usize;
            Box::new(move |row, rows| list(lists.is_null(row), row * size..(row + 1) * size, &elements, rows))
        }
        DataType::Struct(_) => {
            let objects = array.as_struct().clone();
            Box::new(move |row, _| Ok(if objects.is_null(row) { Slot::Missing } else { Slot::Other }))
        }
        other => {
            return Err(format!(
                "a column of Arrow type {other} has no meaning as a value; cast it to a boolean, integer, float, string, date, timestamp or a list of them"
            ));
        }
    };
    Ok(read)
}

/// Cells of a dictionary column; `of_values` makes the reader of its values.
fn dictionary(
    array: &ArrayRef,
    of_values: fn(&ArrayRef) -> Result<CellReader, String>,
) -> Result<CellReader, String> {
    let dictionary = array.as_any_dictionary();
    // All keys are null, and normalizing them would panic.
    if dictionary.values().is_empty() {
        return Ok(Box::new(|_, _| Ok(Slot::Missing)));
    }
    let (keys, values) = (dictionary.normalized_keys(), of_values(dictionary.values())?);
    let nulls = dictionary.keys().logical_nulls();
    Ok(Box::new(move |row, rows| match &nulls {
        Some(nulls) if nulls.is_null(row) => Ok(Slot::Missing),
        _ => values(keys[row], rows),
    }))
}

/// Elements that are lists or objects themselves are present, but of no comparable kind: the elements of a list must lie
/// side by side, so no other list may be read between them.
fn element_reader(values: &ArrayRef) -> Result<CellReader, String> {
    match values.data_type() {
        DataType::Dictionary(_, _) => dictionary(values, element_reader),
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(_, _) => {
            let values = values.clone();
            Ok(Box::new(move |row, _| Ok(if values.is_null(row) { Slot::Missing } else { Slot::Other })))
        }
        _ => reader(values),
    }
}

fn list(
    is_null: bool,
    range: std::ops::Range<usize>,
    elements: &CellReader,
    rows: &mut Rows,
) -> Result<Slot, String> {
    if is_null {
        return Ok(Slot::Missing);
    }
    let mut writer = rows.list();
    for element in range {
        let slot = elements(element, rows)?;
        writer.push(rows, slot);
    }
    writer.finish(rows).map_err(|error| error.to_string())
}

fn text(value: &[u8], rows: &mut Rows) -> Result<Slot, String> {
    let value = std::str::from_utf8(value).map_err(|_| "a string that is not UTF-8")?;
    rows.text_slot(value).map_err(|error| error.to_string())
}
