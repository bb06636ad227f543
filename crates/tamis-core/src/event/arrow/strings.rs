//! Strings of Arrow arrays, with every offset and every byte checked.
//!
//! The accessors of `arrow_array` trust offsets, views and UTF-8, because data of Rust was checked when it was made. Data
//! from outside was not: a wrong offset would read memory of others. Lengths of buffers are trusted; they come from the
//! producer, or from the last offset where the C data interface passes none.
//!
//! Cost: two comparisons per cell, and the check for UTF-8.

use arrow_array::cast::AsArray;
use arrow_array::{Array, GenericStringArray, OffsetSizeTrait, StringViewArray};
use arrow_schema::DataType;

/// Maximum bytes of a string that a view holds itself.
const INLINE: usize = 12;

/// The string of a row that is not null. The error says what the string is.
pub(super) fn string<O: OffsetSizeTrait>(array: &GenericStringArray<O>, row: usize) -> Result<&str, String> {
    let offsets = array.value_offsets();
    let (start, end) = (offsets[row].to_usize(), offsets[row + 1].to_usize());
    let range = start.zip(end).map(|(start, end)| start..end);
    // A slice of more bytes would be undefined; a negative last offset leads to one.
    let data = array.values();
    let bytes = if data.len() <= isize::MAX as usize { data.as_slice() } else { &[] };
    let value = range.and_then(|range| bytes.get(range));
    utf8(value.ok_or_else(|| format!("damaged: from offset {:?} to {:?}", offsets[row], offsets[row + 1]))?)
}

/// As [`string`], for views.
pub(super) fn string_view(array: &StringViewArray, row: usize) -> Result<&str, String> {
    let view = &array.views()[row];
    // Four bytes each: length, prefix, buffer, offset. Views are little-endian in memory.
    let [length, _, buffer, offset] = [0, 32, 64, 96].map(|shift| (*view >> shift) as u32 as usize);
    let value = if length <= INLINE {
        bytemuck::bytes_of(view).get(4..4 + length)
    } else {
        let data = array.data_buffers().get(buffer).filter(|data| data.len() <= isize::MAX as usize);
        data.and_then(|data| data.as_slice().get(offset..offset + length))
    };
    utf8(value.ok_or_else(|| {
        format!("damaged: a view of {length} bytes from byte {offset} of buffer {buffer} on")
    })?)
}

fn utf8(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|_| "not UTF-8".into())
}

/// The string of a row that is not null, of an array of any string type; `None` if the array has another type.
pub fn arrow_text(array: &dyn Array, row: usize) -> Option<Result<&str, String>> {
    Some(match array.data_type() {
        DataType::Utf8 => string(array.as_string::<i32>(), row),
        DataType::LargeUtf8 => string(array.as_string::<i64>(), row),
        DataType::Utf8View => string_view(array.as_string_view(), row),
        _ => return None,
    })
}
