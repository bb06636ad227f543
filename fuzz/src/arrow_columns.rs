//! Arrow columns from bytes, each with the values that its cells stand for.
//!
//! A column is drawn as a type and its cells; nulls have arbitrary bytes beneath them, lists have gaps, and every column
//! may be a slice of a longer one.

use arbitrary::{Result, Unstructured};
use arrow_array::types::*;
use arrow_array::*;
use arrow_buffer::{ArrowNativeType, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Fields};
use std::sync::Arc;
use tamis_conformance::event::Given;
use tamis_core::micros_of_date;

/// What a cell stands for.
#[derive(Clone, Debug)]
pub enum Meaning {
    /// A value; [`Given::List`] and [`Given::Object`] also where the cell is an element of a list.
    Value(Given),
    /// A value that cannot be read without loss, or not at all.
    Unreadable,
    /// The fields of a struct.
    Fields(Vec<(String, Meaning)>),
}

/// A column and the meaning of each of its cells. `None` as meanings: a type that is no value.
pub struct Column {
    pub array: ArrayRef,
    pub meanings: Option<Vec<Meaning>>,
}

/// Levels of types within types.
const MAX_DEPTH: usize = 3;
/// Cells that a slice leaves out, at most, at either end.
const MAX_CUT: usize = 3;

/// A column of `len` cells.
pub fn column(input: &mut Unstructured<'_>, len: usize, depth: usize) -> Result<Column> {
    let (before, after) = if input.ratio(1, 4)? {
        (input.int_in_range(0..=MAX_CUT)?, input.int_in_range(0..=MAX_CUT)?)
    } else {
        (0, 0)
    };
    let whole = whole_column(input, before + len + after, depth)?;
    let meanings = whole.meanings.map(|meanings| meanings[before..before + len].to_vec());
    Ok(Column { array: whole.array.slice(before, len), meanings })
}

fn whole_column(input: &mut Unstructured<'_>, len: usize, depth: usize) -> Result<Column> {
    let kinds = if depth < MAX_DEPTH { 27 } else { 20 };
    let int = |value: i64| Meaning::Value(Given::Int(value));
    let float = |value: f64| Meaning::Value(Given::Float(value));
    let time = |micros: Option<i64>| micros.map_or(Meaning::Unreadable, |at| Meaning::Value(Given::Time(at)));
    match input.int_in_range(0..=kinds)? {
        0 => Ok(valued(Arc::new(NullArray::new(len)), vec![missing(); len])),
        1 => booleans(input, len),
        2 => primitive::<Int8Type>(input, len, |value| int(value.into())),
        3 => primitive::<Int16Type>(input, len, |value| int(value.into())),
        4 => primitive::<Int32Type>(input, len, |value| int(value.into())),
        5 => primitive::<Int64Type>(input, len, int),
        6 => primitive::<UInt8Type>(input, len, |value| int(value.into())),
        7 => primitive::<UInt16Type>(input, len, |value| int(value.into())),
        8 => primitive::<UInt32Type>(input, len, |value| int(value.into())),
        9 => primitive::<UInt64Type>(input, len, |value| {
            Meaning::Value(i64::try_from(value).map_or(Given::Float(value as f64), Given::Int))
        }),
        10 => primitive::<Float32Type>(input, len, |value| float(value.into())),
        11 => primitive::<Float64Type>(input, len, float),
        12 => primitive::<Date32Type>(input, len, |day| time(micros_of_date(day))),
        13 => primitive::<Date64Type>(input, len, |value| time(value.checked_mul(1_000))),
        14 => primitive::<TimestampSecondType>(input, len, |value| time(value.checked_mul(1_000_000))),
        15 => primitive::<TimestampMillisecondType>(input, len, |value| time(value.checked_mul(1_000))),
        16 => primitive::<TimestampMicrosecondType>(input, len, |value| time(Some(value))),
        17 => primitive::<TimestampNanosecondType>(input, len, |value| {
            time((value % 1_000 == 0).then_some(value / 1_000))
        }),
        18 => texts(input, len),
        19 => {
            let cells: Vec<&[u8]> = vec![b"x"; len];
            Ok(valued(Arc::new(BinaryArray::from(cells)), vec![Meaning::Value(Given::Object); len]))
        }
        20 => {
            let cells = vec![Some(1); len];
            Ok(Column { array: Arc::new(Time32SecondArray::from(cells)), meanings: None })
        }
        21 | 22 => dictionary(input, len, depth),
        23 => list::<i32>(input, len, depth),
        24 => list::<i64>(input, len, depth),
        25 => fixed_size_list(input, len, depth),
        26 => maps(input, len, depth),
        _ => structs(input, len, depth),
    }
}

fn missing() -> Meaning {
    Meaning::Value(Given::Missing)
}

fn valued(array: ArrayRef, meanings: Vec<Meaning>) -> Column {
    Column { array, meanings: Some(meanings) }
}

/// `None`: no null bitmap at all.
fn nulls(input: &mut Unstructured<'_>, len: usize) -> Result<Option<NullBuffer>> {
    if input.ratio(1, 3)? {
        return Ok(None);
    }
    let valid: Vec<bool> = (0..len).map(|_| input.ratio(3, 4)).collect::<Result<_>>()?;
    Ok(Some(NullBuffer::from(valid)))
}

fn or_missing(nulls: Option<&NullBuffer>, at: usize, meaning: impl FnOnce() -> Meaning) -> Meaning {
    if nulls.is_some_and(|nulls| nulls.is_null(at)) { missing() } else { meaning() }
}

fn primitive<T: ArrowPrimitiveType>(
    input: &mut Unstructured<'_>,
    len: usize,
    meaning: impl Fn(T::Native) -> Meaning,
) -> Result<Column>
where
    T::Native: for<'a> arbitrary::Arbitrary<'a>,
{
    let values: Vec<T::Native> = (0..len)
        .map(|_| match input.ratio(1, 2)? {
            true => Ok(T::Native::usize_as(input.int_in_range(0..=5)?)),
            false => input.arbitrary(),
        })
        .collect::<Result<_>>()?;
    let nulls = nulls(input, len)?;
    let meanings = (0..len).map(|at| or_missing(nulls.as_ref(), at, || meaning(values[at]))).collect();
    let array = PrimitiveArray::<T>::new(ScalarBuffer::from(values), nulls);
    Ok(valued(Arc::new(array), meanings))
}

fn booleans(input: &mut Unstructured<'_>, len: usize) -> Result<Column> {
    let values: Vec<bool> = (0..len).map(|_| input.arbitrary()).collect::<Result<_>>()?;
    let nulls = nulls(input, len)?;
    let meanings = (0..len)
        .map(|at| or_missing(nulls.as_ref(), at, || Meaning::Value(Given::Bool(values[at]))))
        .collect();
    Ok(valued(Arc::new(BooleanArray::new(values.into(), nulls)), meanings))
}

fn texts(input: &mut Unstructured<'_>, len: usize) -> Result<Column> {
    const TEXTS: &[&str] = &["", "a", "b", "it's", "more than twelve bytes", "é😀", "10"];
    let cells: Vec<Option<&str>> = (0..len)
        .map(|_| Ok(if input.ratio(1, 5)? { None } else { Some(*input.choose(TEXTS)?) }))
        .collect::<Result<_>>()?;
    let meanings = cells.iter().map(|cell| match cell {
        Some(text) => Meaning::Value(Given::Text((*text).to_owned())),
        None => missing(),
    });
    let array: ArrayRef = match input.int_in_range(0..=2)? {
        0 => Arc::new(StringArray::from(cells.clone())),
        1 => Arc::new(LargeStringArray::from(cells.clone())),
        _ => Arc::new(StringViewArray::from(cells.clone())),
    };
    Ok(valued(array, meanings.collect()))
}

fn dictionary(input: &mut Unstructured<'_>, len: usize, depth: usize) -> Result<Column> {
    let size = input.int_in_range(0..=4)?;
    let values = column(input, size, depth + 1)?;
    let keys: Vec<Option<i8>> = (0..len)
        .map(|_| match size == 0 || input.ratio(1, 5)? {
            true => Ok(None),
            false => Ok(Some(input.int_in_range(0..=size - 1)? as i8)),
        })
        .collect::<Result<_>>()?;
    let meanings = values.meanings.map(|meanings| {
        keys.iter().map(|key| key.map_or_else(missing, |key| whole(&meanings[key as usize]))).collect()
    });
    let array = DictionaryArray::<Int8Type>::new(Int8Array::from(keys), values.array);
    Ok(Column { array: Arc::new(array), meanings })
}

/// The meaning of a cell whose fields cannot be referred to: a struct inside a dictionary or a list.
fn whole(meaning: &Meaning) -> Meaning {
    match meaning {
        Meaning::Fields(_) => Meaning::Value(Given::Object),
        other => other.clone(),
    }
}

fn element(meanings: &[Meaning]) -> Meaning {
    let mut elements = Vec::with_capacity(meanings.len());
    for meaning in meanings {
        match whole(meaning) {
            Meaning::Value(given) => elements.push(given),
            _ => return Meaning::Unreadable,
        }
    }
    Meaning::Value(Given::List(elements))
}

fn list<O: OffsetSizeTrait>(input: &mut Unstructured<'_>, len: usize, depth: usize) -> Result<Column> {
    let mut offsets = vec![input.int_in_range(0..=1usize)?];
    for at in 0..len {
        offsets.push(offsets[at] + input.int_in_range(0..=3usize)?);
    }
    let unused = input.int_in_range(0..=1usize)?;
    let values = column(input, offsets[len] + unused, depth + 1)?;
    let nulls = nulls(input, len)?;
    let nested = is_list(values.array.data_type());
    let meanings = values.meanings.filter(|_| !nested).map(|meanings| {
        (0..len)
            .map(|at| or_missing(nulls.as_ref(), at, || element(&meanings[offsets[at]..offsets[at + 1]])))
            .collect()
    });
    let field = Arc::new(Field::new("item", values.array.data_type().clone(), true));
    let meanings = meanings.or_else(|| nested.then(|| of_lists(&values.array, &offsets, nulls.as_ref())));
    let offsets: Vec<O> = offsets.into_iter().map(O::usize_as).collect();
    let array = GenericListArray::<O>::new(
        field,
        OffsetBuffer::new(ScalarBuffer::from(offsets)),
        values.array,
        nulls,
    );
    Ok(Column { array: Arc::new(array), meanings })
}

/// Whether cells of a type are lists, also by way of a dictionary.
fn is_list(kind: &DataType) -> bool {
    match kind {
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(_, _) => true,
        DataType::Dictionary(_, values) => is_list(values),
        _ => false,
    }
}

/// Lists of lists: elements are present or missing, and nothing else of them is read.
fn of_lists(values: &ArrayRef, offsets: &[usize], nulls: Option<&NullBuffer>) -> Vec<Meaning> {
    let nulls_of_values = values.logical_nulls();
    let is_null = |at| nulls_of_values.as_ref().is_some_and(|nulls| nulls.is_null(at));
    let element = |at: usize| if is_null(at) { Given::Missing } else { Given::Object };
    offsets
        .windows(2)
        .enumerate()
        .map(|(at, range)| {
            or_missing(nulls, at, || Meaning::Value(Given::List((range[0]..range[1]).map(element).collect())))
        })
        .collect()
}

fn fixed_size_list(input: &mut Unstructured<'_>, len: usize, depth: usize) -> Result<Column> {
    let size = input.int_in_range(1..=3usize)?;
    let values = column(input, len * size, depth + 1)?;
    let nulls = nulls(input, len)?;
    let offsets: Vec<usize> = (0..=len).map(|at| at * size).collect();
    let meanings = if is_list(values.array.data_type()) {
        Some(of_lists(&values.array, &offsets, nulls.as_ref()))
    } else {
        values.meanings.map(|meanings| {
            (0..len)
                .map(|at| or_missing(nulls.as_ref(), at, || element(&meanings[offsets[at]..offsets[at + 1]])))
                .collect()
        })
    };
    let field = Arc::new(Field::new("item", values.array.data_type().clone(), true));
    let array = FixedSizeListArray::new(field, size as i32, values.array, nulls);
    Ok(Column { array: Arc::new(array), meanings })
}

fn maps(input: &mut Unstructured<'_>, len: usize, depth: usize) -> Result<Column> {
    let mut offsets = vec![input.int_in_range(0..=1i32)?];
    for at in 0..len {
        offsets.push(offsets[at] + input.int_in_range(0..=3i32)?);
    }
    let entries = offsets[len] as usize;
    let keys: Vec<&str> =
        (0..entries).map(|_| Ok(*input.choose(&["a", "b", "a.b", "c"])?)).collect::<Result<_>>()?;
    let values = column(input, entries, depth + 1)?;
    let nulls = nulls(input, len)?;
    let meanings = values.meanings.map(|meanings| {
        let entry = |at: usize| (keys[at].to_owned(), meanings[at].clone());
        let fields = |at: usize| {
            Meaning::Fields((offsets[at]..offsets[at + 1]).map(|at| entry(at as usize)).collect())
        };
        (0..len).map(|at| or_missing(nulls.as_ref(), at, || fields(at))).collect()
    });
    let fields: Fields = [
        Field::new("key", DataType::Utf8, false),
        Field::new("value", values.array.data_type().clone(), true),
    ]
    .into_iter()
    .collect();
    let keys: ArrayRef = Arc::new(StringArray::from(keys));
    let entries = StructArray::new(fields.clone(), vec![keys, values.array], None);
    let field = Arc::new(Field::new("entries", DataType::Struct(fields), false));
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    Ok(Column { array: Arc::new(MapArray::new(field, offsets, entries, nulls, false)), meanings })
}

fn structs(input: &mut Unstructured<'_>, len: usize, depth: usize) -> Result<Column> {
    let names = &["a", "b"][..input.int_in_range(1..=2usize)?];
    let columns: Vec<Column> = names.iter().map(|_| column(input, len, depth + 1)).collect::<Result<_>>()?;
    let nulls = nulls(input, len)?;
    let fields: Fields = names
        .iter()
        .zip(&columns)
        .map(|(name, column)| Field::new(*name, column.array.data_type().clone(), true))
        .collect();
    let meanings = columns.iter().map(|column| column.meanings.clone()).collect::<Option<Vec<_>>>();
    let meanings = meanings.map(|meanings| {
        let fields = |at: usize| {
            let of_field = |(name, column): (&&str, &Vec<Meaning>)| ((*name).to_owned(), column[at].clone());
            Meaning::Fields(names.iter().zip(&meanings).map(of_field).collect())
        };
        (0..len).map(|at| or_missing(nulls.as_ref(), at, || fields(at))).collect()
    });
    let arrays = columns.into_iter().map(|column| column.array).collect();
    Ok(Column { array: Arc::new(StructArray::new(fields, arrays, nulls)), meanings })
}
