//! Events from Arrow data: all types, all faults.

use arrow_array::builder::{Int32Builder, ListBuilder, StringBuilder, StringDictionaryBuilder};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::*;
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Fields, TimeUnit};
use std::sync::Arc;
use tamis_conformance::event::{fault, schema, shown};
use tamis_core::event::{ArrowReader, Rows};
use tamis_core::{Error, MICROS_PER_DAY};

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let columns = columns.into_iter().map(|(name, array)| (name, array, true));
    RecordBatch::try_from_iter_with_nullable(columns).expect("columns of one length")
}

/// All rows of a batch, as text.
fn read_batch(names: &[&str], batch: &RecordBatch) -> Result<Vec<String>, Error> {
    let schema = schema(names);
    let reader = ArrowReader::new(batch, &schema)?;
    assert_eq!(reader.len(), batch.num_rows());
    let mut rows = Rows::default();
    (0..reader.len()).try_for_each(|row| reader.read(row, &mut rows))?;
    Ok((0..rows.len()).map(|row| shown(&schema, &rows, row)).collect())
}

fn column(array: impl Array + 'static) -> Result<Vec<String>, Error> {
    read_batch(&["a"], &batch(vec![("a", Arc::new(array))]))
}

fn reads_column(array: impl Array + 'static, expected: &[&str]) {
    let kind = array.data_type().clone();
    let expected: Vec<String> =
        expected.iter().map(|v| if v.is_empty() { String::new() } else { format!("a={v}") }).collect();
    assert_eq!(column(array).unwrap_or_else(|error| unreachable!("{kind}: {error}")), expected, "{kind}");
}

#[test]
fn arrow_scalars() {
    reads_column(NullArray::new(2), &["", ""]);
    reads_column(BooleanArray::from(vec![Some(true), None, Some(false)]), &["TRUE", "", "FALSE"]);
    reads_column(Int8Array::from(vec![Some(i8::MIN), None]), &["-128", ""]);
    reads_column(Int16Array::from(vec![i16::MAX]), &["32767"]);
    reads_column(Int32Array::from(vec![i32::MIN]), &["-2147483648"]);
    reads_column(
        Int64Array::from(vec![i64::MIN, i64::MAX]),
        &["-9223372036854775808", "9223372036854775807"],
    );
    reads_column(UInt8Array::from(vec![u8::MAX]), &["255"]);
    reads_column(UInt16Array::from(vec![u16::MAX]), &["65535"]);
    reads_column(UInt32Array::from(vec![u32::MAX]), &["4294967295"]);
    reads_column(UInt64Array::from(vec![Some(i64::MAX as u64), None]), &["9223372036854775807", ""]);
    reads_column(Float32Array::from(vec![0.5, f32::NAN, f32::INFINITY]), &["0.5", "", "inf"]);
    reads_column(Float64Array::from(vec![Some(0.1), Some(f64::NAN), None]), &["0.1", "", ""]);
    let halves = Float16Array::from_iter_values([1.5f32, f32::NAN].map(half_of));
    reads_column(halves, &["1.5", ""]);
}

/// The half-precision value of a float, by way of Arrow's own type.
fn half_of(value: f32) -> <types::Float16Type as ArrowPrimitiveType>::Native {
    <types::Float16Type as ArrowPrimitiveType>::Native::from_f32(value)
}

#[test]
fn arrow_texts() {
    let values = vec![Some("x"), None, Some(""), Some("größer als zwölf Bytes 😀")];
    let expected = ["'x'", "", "''", "'größer als zwölf Bytes 😀'"];
    reads_column(StringArray::from(values.clone()), &expected);
    reads_column(LargeStringArray::from(values.clone()), &expected);
    reads_column(StringViewArray::from(values), &expected);
}

#[test]
fn arrow_times() {
    reads_column(
        Date32Array::from(vec![Some(20_772), Some(-1), None]),
        &["2026-11-15 00:00:00", "1969-12-31 00:00:00", ""],
    );
    reads_column(Date64Array::from(vec![20_772 * 86_400_000]), &["2026-11-15 00:00:00"]);
    reads_column(TimestampSecondArray::from(vec![1]), &["1970-01-01 00:00:01"]);
    reads_column(TimestampMillisecondArray::from(vec![-1]), &["1969-12-31 23:59:59.999"]);
    reads_column(TimestampMicrosecondArray::from(vec![1]), &["1970-01-01 00:00:00.000001"]);
    reads_column(
        TimestampNanosecondArray::from(vec![1_000, -1_000]),
        &["1970-01-01 00:00:00.000001", "1969-12-31 23:59:59.999999"],
    );
    // A zone says how to show an instant, not which one it is.
    let zoned = TimestampMicrosecondArray::from(vec![MICROS_PER_DAY]).with_timezone("+02:00");
    reads_column(zoned, &["1970-01-02 00:00:00"]);
    for (fault_column, part) in [
        (column(TimestampNanosecondArray::from(vec![1_001])), "precision"),
        (column(TimestampSecondArray::from(vec![i64::MAX])), "does not fit"),
        (column(TimestampMillisecondArray::from(vec![i64::MIN])), "does not fit"),
        (column(Date64Array::from(vec![i64::MAX])), "does not fit"),
    ] {
        let (attribute, message) = fault(fault_column);
        assert_eq!(attribute.as_deref(), Some("a"));
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn arrow_dictionaries() {
    let mut words = StringDictionaryBuilder::<Int8Type>::new();
    for word in [Some("x"), None, Some("y"), Some("x")] {
        words.append_option(word);
    }
    let words = words.finish();
    reads_column(words.slice(1, 3), &["", "'y'", "'x'"]);
    reads_column(words, &["'x'", "", "'y'", "'x'"]);
    let nothing = DictionaryArray::<Int32Type>::new(
        Int32Array::new_null(2),
        Arc::new(StringArray::from(Vec::<&str>::new())),
    );
    reads_column(nothing, &["", ""]);
    let null_value = DictionaryArray::<Int32Type>::new(
        Int32Array::from(vec![0, 1]),
        Arc::new(StringArray::from(vec![None, Some("x")])),
    );
    reads_column(null_value, &["", "'x'"]);
    let numbers = DictionaryArray::<Int32Type>::new(
        Int32Array::from(vec![1, 0]),
        Arc::new(Int64Array::from(vec![7, 8])),
    );
    reads_column(numbers, &["8", "7"]);
}

fn int_lists() -> ListArray {
    let mut lists = ListBuilder::new(Int32Builder::new());
    lists.append_value([Some(1), None, Some(3)]);
    lists.append_null();
    lists.append_value([]);
    lists.append_value([Some(4)]);
    lists.finish()
}

#[test]
fn arrow_lists() {
    reads_column(int_lists(), &["[1, missing, 3]", "", "[]", "[4]"]);
    reads_column(int_lists().slice(2, 2), &["[]", "[4]"]);
    let mut texts = ListBuilder::new(StringBuilder::new());
    texts.append_value([Some("x"), Some("it's")]);
    reads_column(texts.finish(), &["['x', 'it''s']"]);
    let field = Arc::new(Field::new_list_field(DataType::Float64, true));
    let values: ArrayRef = Arc::new(Float64Array::from(vec![0.5, f64::NAN, 2.5, 3.5]));
    let large = LargeListArray::new(
        field.clone(),
        OffsetBuffer::new(ScalarBuffer::from(vec![0i64, 3, 4])),
        values.clone(),
        None,
    );
    reads_column(large, &["[0.5, missing, 2.5]", "[3.5]"]);
    let fixed = FixedSizeListArray::new(field, 2, values, Some(NullBuffer::from(vec![true, true])));
    reads_column(fixed.slice(1, 1), &["[2.5, 3.5]"]);
    reads_column(fixed, &["[0.5, missing]", "[2.5, 3.5]"]);
}

#[test]
fn arrow_lists_of_lists_and_objects() {
    let inner: ArrayRef = Arc::new(int_lists());
    let field = Arc::new(Field::new_list_field(inner.data_type().clone(), true));
    let outer = ListArray::new(field, OffsetBuffer::new(ScalarBuffer::from(vec![0, 2, 4])), inner, None);
    reads_column(outer, &["[a nested value, missing]", "[a nested value, a nested value]"]);
    let objects: ArrayRef = Arc::new(people());
    let field = Arc::new(Field::new_list_field(objects.data_type().clone(), true));
    let list = ListArray::new(field, OffsetBuffer::new(ScalarBuffer::from(vec![0, 3])), objects, None);
    reads_column(list, &["[a nested value, missing, a nested value]"]);
}

/// `{age, home: {zip}}`, the second one null.
fn people() -> StructArray {
    let home_fields = Fields::from(vec![Field::new("zip", DataType::Utf8, true)]);
    let zip: ArrayRef = Arc::new(StringArray::from(vec![Some("10115"), Some("hidden"), None]));
    let home: ArrayRef = Arc::new(StructArray::new(home_fields.clone(), vec![zip], None));
    let age: ArrayRef = Arc::new(Int32Array::from(vec![Some(20), Some(99), None]));
    let fields = Fields::from(vec![
        Field::new("age", DataType::Int32, true),
        Field::new("home", DataType::Struct(home_fields), true),
    ]);
    StructArray::new(fields, vec![age, home], Some(NullBuffer::from(vec![true, false, true])))
}

#[test]
fn arrow_structs_reach_dotted_paths() {
    let people = batch(vec![("user", Arc::new(people()))]);
    let names = ["user", "user.age", "user.home.zip"];
    let expected = ["user=a nested value user.age=20 user.home.zip='10115'", "", "user=a nested value"];
    assert_eq!(read_batch(&names, &people).expect("structs"), expected);
    assert_eq!(read_batch(&names, &people.slice(1, 2)).expect("structs"), expected[1..]);
    assert_eq!(read_batch(&["user.age"], &people).expect("structs"), ["user.age=20", "", ""]);
    let flat = batch(vec![
        ("user", Arc::new(self::people())),
        ("user.age", Arc::new(Int32Array::from(vec![None, Some(2), Some(3)]))),
    ]);
    assert_eq!(
        read_batch(&["user.age"], &flat).expect("the last one given wins"),
        ["", "user.age=2", "user.age=3"]
    );
}

#[test]
fn arrow_slices_and_empty_batches() {
    let whole = batch(vec![("a", Arc::new(Int64Array::from(vec![Some(1), None, Some(3), Some(4)])))]);
    assert_eq!(read_batch(&["a"], &whole.slice(1, 2)).expect("a slice"), ["", "a=3"]);
    assert!(read_batch(&["a"], &whole.slice(0, 0)).expect("no rows").is_empty());
    assert_eq!(read_batch(&["b"], &whole).expect("no column of interest"), ["", "", "", ""]);
    let reader = ArrowReader::new(&whole.slice(0, 0), &schema(&["a"])).expect("no rows");
    assert!(reader.is_empty());
}

#[test]
fn decimals_are_numbers() {
    let decimals = |values: Vec<i128>, scale| {
        let array = Decimal128Array::from(values).with_precision_and_scale(38, scale);
        Arc::new(array.expect("a scale")) as ArrayRef
    };
    let shown = |array| read_batch(&["a"], &batch(vec![("a", array)])).expect("decimals");
    assert_eq!(shown(decimals(vec![150, 200, -1], 2)), ["a=1.5", "a=2", "a=-0.01"]);
    assert_eq!(shown(decimals(vec![i128::from(i64::MAX)], 0)), ["a=9223372036854775807"]);
    assert_eq!(shown(decimals(vec![12], -1)), ["a=120"]);
    let wide = Decimal256Array::from(vec![arrow_buffer::i256::from_i128(7)]);
    let wide = wide.with_precision_and_scale(50, 1).expect("a scale");
    assert_eq!(shown(Arc::new(wide)), ["a=0.7"]);
    let narrow = Decimal32Array::from(vec![Some(5), None]).with_precision_and_scale(5, 1).expect("a scale");
    assert_eq!(shown(Arc::new(narrow)), ["a=0.5", ""]);
}

#[test]
fn binaries_are_present_or_missing() {
    let binaries: Vec<ArrayRef> = vec![
        Arc::new(BinaryArray::from(vec![Some(&b"x"[..]), None])),
        Arc::new(LargeBinaryArray::from(vec![Some(&b"x"[..]), None])),
        Arc::new(BinaryViewArray::from(vec![Some(&b"x"[..]), None])),
    ];
    for array in binaries {
        let kind = array.data_type().clone();
        let shown = read_batch(&["a"], &batch(vec![("a", array)])).expect("binaries");
        assert!(shown[0].starts_with("a=") && shown[1].is_empty(), "{kind}: {shown:?}");
    }
}

#[test]
fn arrow_types_without_a_meaning() {
    let unsupported: Vec<ArrayRef> = vec![
        Arc::new(Time32SecondArray::from(vec![1])),
        Arc::new(Time64MicrosecondArray::from(vec![1])),
        Arc::new(DurationMicrosecondArray::from(vec![1])),
        Arc::new(IntervalYearMonthArray::from(vec![1])),
        Arc::new(
            RunArray::<Int32Type>::try_new(&Int32Array::from(vec![1]), &Int32Array::from(vec![7]))
                .expect("a run"),
        ),
    ];
    for array in unsupported {
        let kind = array.data_type().clone();
        let ignored = batch(vec![("a", array.clone()), ("b", Arc::new(Int32Array::from(vec![1])))]);
        assert_eq!(read_batch(&["b"], &ignored).expect("no expression names it"), ["b=1"], "{kind}");
        let (attribute, message) = fault(read_batch(&["a"], &ignored));
        assert_eq!(attribute.as_deref(), Some("a"), "{kind}");
        assert!(message.contains(&kind.to_string()), "{kind}: {message}");
        let field = Arc::new(Field::new_list_field(kind.clone(), true));
        let list = ListArray::new(field, OffsetBuffer::new(ScalarBuffer::from(vec![0, 1])), array, None);
        let (attribute, _) = fault(column(list));
        assert_eq!(attribute.as_deref(), Some("a"), "a list of {kind}");
    }
}

#[test]
fn arrow_rows_are_unchanged_after_an_error() {
    let schema = schema(&["a", "b"]);
    let batch = batch(vec![
        ("a", Arc::new(StringArray::from(vec!["x", "y", "z"]))),
        ("b", Arc::new(TimestampSecondArray::from(vec![1, i64::MAX, 3]))),
    ]);
    let reader = ArrowReader::new(&batch, &schema).expect("known types");
    let mut rows = Rows::default();
    reader.read(0, &mut rows).expect("fits");
    let overflow = reader.read(1, &mut rows);
    assert!(
        matches!(&overflow, Err(Error::Event { attribute: Some(name), message })
        if name == "b" && message.contains("9223372036854775807")),
        "{overflow:?}"
    );
    reader.read(2, &mut rows).expect("fits");
    let [first, second] = [shown(&schema, &rows, 0), shown(&schema, &rows, 1)];
    assert!(first.starts_with("a='x' b=") && second.starts_with("a='z' b="), "{first}, {second}");
    assert_eq!(rows.len(), 2);
}

/// The time units Arrow knows, so that a further one does not go unnoticed.
#[test]
fn every_time_unit_is_read() {
    for unit in [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond] {
        let array = new_null_array(&DataType::Timestamp(unit, None), 1);
        assert_eq!(read_batch(&["a"], &batch(vec![("a", array)])).expect("a time"), [""], "{unit:?}");
    }
}

/// Maps from strings, one per row, of entries that follow each other.
fn maps(lens: &[i32], keys: Vec<&str>, values: ArrayRef, nulls: Option<NullBuffer>) -> MapArray {
    let offsets = lens.iter().scan(0, |end, len| {
        *end += len;
        Some(*end)
    });
    let offsets: Vec<i32> = std::iter::once(0).chain(offsets).collect();
    let fields = Fields::from(vec![
        Field::new("key", DataType::Utf8, false),
        Field::new("value", values.data_type().clone(), true),
    ]);
    let entries = StructArray::new(fields.clone(), vec![Arc::new(StringArray::from(keys)), values], None);
    let field = Arc::new(Field::new("entries", DataType::Struct(fields), false));
    MapArray::new(field, OffsetBuffer::new(ScalarBuffer::from(offsets)), entries, nulls, false)
}

#[test]
fn maps_are_read_like_nested_objects() {
    let names = ["m", "m.a", "m.b", "m.a.b", "s.m.a", "n.a.b"];
    let numbers: ArrayRef =
        Arc::new(Int64Array::from(vec![Some(1), Some(2), None, Some(4), Some(5), Some(6)]));
    // An entry that no expression refers to, a null, a key with a dot, an empty map, a key that occurs twice.
    let keys = vec!["a", "z", "b", "a.b", "a", "a"];
    let nulls = NullBuffer::from(vec![true, true, false, true, true]);
    let column: ArrayRef = Arc::new(maps(&[2, 2, 0, 0, 2], keys, numbers, Some(nulls)));
    let rows = read_batch(&names, &batch(vec![("m", column.clone())])).expect("maps");
    assert_eq!(
        rows,
        [
            "m=a nested value m.a=1",
            "m=a nested value m.a.b=4",
            "",
            "m=a nested value",
            "m=a nested value m.a=6"
        ]
    );
    let slice = read_batch(&names, &batch(vec![("m", column.slice(1, 4))])).expect("a slice");
    assert_eq!(slice, rows[1..]);
    // Within a struct that is null in some rows, and within a map.
    let fields = Fields::from(vec![Field::new("m", column.data_type().clone(), true)]);
    let valid = NullBuffer::from(vec![true, true, true, true, false]);
    let object = StructArray::new(fields, vec![column.clone()], Some(valid));
    let inner = read_batch(&names, &batch(vec![("s", Arc::new(object))])).expect("maps in structs");
    assert_eq!(inner, ["s.m.a=1", "", "", "", ""]);
    let outer = maps(&[5], vec!["z", "a", "b", "z", "z"], maps_of_b(5), None);
    let nested = read_batch(&names, &batch(vec![("n", Arc::new(outer))])).expect("maps in maps");
    assert_eq!(nested, ["n.a.b=1"]);
}

/// Maps with the one key "b": 0, 1, 2 and so on.
fn maps_of_b(len: i64) -> ArrayRef {
    let values: ArrayRef = Arc::new(Int64Array::from_iter_values(0..len));
    Arc::new(maps(&vec![1; len as usize], vec!["b"; len as usize], values, None))
}

#[test]
fn keys_of_maps_that_are_no_names_are_refused() {
    let fields = Fields::from(vec![
        Field::new("key", DataType::Int64, false),
        Field::new("value", DataType::Int64, true),
    ]);
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let entries = StructArray::new(fields.clone(), vec![numbers.clone(), numbers], None);
    let field = Arc::new(Field::new("entries", DataType::Struct(fields), false));
    let column =
        MapArray::new(field, OffsetBuffer::new(ScalarBuffer::from(vec![0, 1])), entries, None, false);
    let (attribute, message) = fault(read_batch(&["m.a"], &batch(vec![("m", Arc::new(column.clone()))])));
    assert_eq!(attribute.as_deref(), Some("m"));
    assert_eq!(message, "a map with keys of Arrow type Int64; strings are needed");
    assert_eq!(
        read_batch(&["m"], &batch(vec![("m", Arc::new(column))])).expect("present"),
        ["m=a nested value"]
    );
}

/// As in `{"u.q": 5, "u": None}`.
#[test]
fn a_null_object_erases_nothing() {
    let fields = Fields::from(vec![Field::new("q", DataType::Int64, true)]);
    let values: ArrayRef = Arc::new(Int64Array::from(vec![Some(6), Some(7), None]));
    let objects = StructArray::new(fields, vec![values], Some(NullBuffer::from(vec![false, true, true])));
    let flat: ArrayRef = Arc::new(Int64Array::from(vec![5, 5, 5]));
    let columns = vec![("u.q", flat), ("u", Arc::new(objects) as ArrayRef)];
    let rows = read_batch(&["u.q"], &batch(columns)).expect("rows");
    // The last value counts, also if it is null.
    assert_eq!(rows, ["u.q=5", "u.q=7", ""]);
}
