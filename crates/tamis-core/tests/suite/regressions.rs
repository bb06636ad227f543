//! Faults that fuzzing found, each as small as it can be and with a name of its own.

use arrow_array::builder::{Int32Builder, ListBuilder};
use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, DictionaryArray, Int8Array, ListArray, RecordBatch};
use arrow_buffer::OffsetBuffer;
use arrow_schema::Field;
use std::sync::Arc;
use tamis_conformance::event::{schema, shown};
use tamis_core::event::{ArrowReader, Rows};

/// The elements of the inner list became elements of the outer one.
#[test]
fn lists_of_a_dictionary_of_lists_do_not_mix_their_elements() {
    let mut inner = ListBuilder::new(Int32Builder::new());
    inner.append_value([Some(1), Some(2)]);
    inner.append_null();
    let keys = Int8Array::from(vec![Some(0), None, Some(1)]);
    let values: ArrayRef = Arc::new(DictionaryArray::<Int8Type>::new(keys, Arc::new(inner.finish())));
    let field = Arc::new(Field::new("item", values.data_type().clone(), true));
    let lists = ListArray::new(field, OffsetBuffer::from_lengths([3]), values, None);
    let batch = RecordBatch::try_from_iter([("a", Arc::new(lists) as ArrayRef)]).expect("a batch");
    let (schema, mut rows) = (schema(&["a"]), Rows::default());
    ArrowReader::new(&batch, &schema).expect("a readable type").read(0, &mut rows).expect("readable values");
    assert_eq!(shown(&schema, &rows, 0), "a=[a nested value, missing, missing]");
}
