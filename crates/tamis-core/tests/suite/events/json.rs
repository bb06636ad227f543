//! Events from JSON text: all values, all faults.

use proptest::prelude::*;
use tamis_conformance::event::{fault, schema, shown};
use tamis_core::Error;
use tamis_core::event::{EventSlots, JsonReader, Rows, Slot, json_lines};

fn read(names: &[&str], json: &str) -> Result<String, Error> {
    let schema = schema(names);
    let mut rows = Rows::default();
    JsonReader::default().read(json.as_bytes(), &schema, &mut rows)?;
    Ok(shown(&schema, &rows, 0))
}

fn reads(names: &[&str], json: &str, expected: &str) {
    assert_eq!(read(names, json).unwrap_or_else(|error| unreachable!("{json}: {error}")), expected, "{json}");
}

#[test]
fn json_values() {
    reads(&["a"], r#"{"a": 1}"#, "a=1");
    reads(&["a"], r#"{"a": 1.0}"#, "a=1.0");
    reads(&["a"], r#"{"a": -0}"#, "a=0");
    reads(&["a"], r#"{"a": 1e3}"#, "a=1000.0");
    reads(&["a"], r#"{"a": true}"#, "a=TRUE");
    reads(&["a"], r#"{"a": null}"#, "");
    reads(&["a"], r#"{"a": {}}"#, "a=a nested value");
    reads(&["a"], r#"{"a": []}"#, "a=[]");
    reads(
        &["a"],
        r#"{"a": [1, "x", null, [2], {"b": 3}, false]}"#,
        "a=[1, 'x', missing, a nested value, a nested value, FALSE]",
    );
    reads(&["a"], "{}", "");
    reads(&["a"], " \n\t{ \"a\" : 1 } \r\n", "a=1");
    reads(&["a", "b"], r#"{"b": "x", "a": "y"}"#, "a='y' b='x'");
}

#[test]
fn json_numbers_at_the_limits() {
    reads(&["a"], r#"{"a": 9223372036854775807}"#, "a=9223372036854775807");
    reads(&["a"], r#"{"a": -9223372036854775808}"#, "a=-9223372036854775808");
    reads(&["a"], r#"{"a": 9007199254740993}"#, "a=9007199254740993");
    reads(&["a"], r#"{"a": 0.1}"#, "a=0.1");
    reads(&["a"], r#"{"a": 5e-324}"#, "a=5e-324");
    reads(&["a"], r#"{"a": 1.7976931348623157e308}"#, "a=1.7976931348623157e308");
    reads(&["a"], r#"{"a": 9223372036854775808.0}"#, "a=9.223372036854776e18");
    reads(&["a"], r#"{"a": Infinity}"#, "a=inf");
    reads(&["a"], r#"{"a": -Infinity}"#, "a=-inf");
    reads(&["a"], r#"{"a": NaN}"#, "");
    reads(&["a"], r#"{"a": [NaN, 1]}"#, "a=[missing, 1]");
    reads(&["a"], r#"{"a": 9223372036854775808}"#, "a=9.223372036854776e18");
    reads(&["a", "b"], r#"{"a": [18446744073709551615, 1], "b": 2}"#, "a=[1.8446744073709552e19, 1] b=2");
    for digits in ["-9223372036854775809", "18446744073709551616", &"9".repeat(400)] {
        for json in [format!("{{\"b\": 1, \"a\": {digits}}}"), format!("{{\"a\": [0, {digits}]}}")] {
            let (attribute, message) = fault(read(&["a", "b"], &json));
            assert_eq!(attribute.as_deref(), Some("a"), "{json}");
            assert!(message.contains(digits) && message.contains("64 bits"), "{message}");
        }
        // Nothing is said about what no expression looks at.
        reads(
            &["a"],
            &format!("{{\"x\": {digits}, \"y\": [{digits}], \"z\": {{\"a\": {digits}}}, \"a\": 1}}"),
            "a=1",
        );
    }
    let (attribute, _) = fault(read(&["user.age"], r#"{"user": {"age": 99999999999999999999}}"#));
    assert_eq!(attribute.as_deref(), Some("user.age"));
}

#[test]
fn json_strings() {
    reads(&["a"], r#"{"a": "\"\\\/\b\f\n\r\t"}"#, "a='\"\\/\u{8}\u{c}\n\r\t'");
    reads(&["a"], r#"{"a": "\u00e9\ud83d\ude00"}"#, "a='é😀'");
    reads(&["a"], "{\"a\": \"é😀\"}", "a='é😀'");
    reads(&["größe"], r#"{"gr\u00f6\u00dfe": 1}"#, "größe=1");
    reads(&["a"], r#"{"a": "it's"}"#, "a='it''s'");
    reads(&["a"], r#"{"a": "\u0000"}"#, "a='\0'");
    for bad in [
        r#"{"a": "\ud800"}"#,
        r#"{"a": "\udc00"}"#,
        r#"{"a": "\ud800\u0041"}"#,
        r#"{"a": "\x"}"#,
        r#"{"a": "open}"#,
    ] {
        fault(read(&["a"], bad));
    }
    let mut rows = Rows::default();
    let invalid = JsonReader::default().read(b"{\"a\": \"\xff\"}", &schema(&["a"]), &mut rows);
    assert!(matches!(invalid, Err(Error::Event { .. })));
}

#[test]
fn json_keys() {
    reads(&["a"], r#"{"a": 1, "a": 2}"#, "a=2");
    reads(&["a"], r#"{"a": 1, "a": null}"#, "");
    reads(&["user.age"], r#"{"user": {"age": 1}, "user.age": 2}"#, "user.age=2");
    reads(&["user.age"], r#"{"user.age": 2, "user": {"age": 1}}"#, "user.age=1");
    reads(&["user", "user.age"], r#"{"user": {"age": 1}}"#, "user=a nested value user.age=1");
    reads(&["user.age"], r#"{"user": 5}"#, "");
    reads(&["user.age"], r#"{"user": [{"age": 1}]}"#, "");
    reads(&["a.b.c"], r#"{"a": {"b": {"c": 1}}, "a.b": {"x": 2}}"#, "a.b.c=1");
    reads(&["a.b.c"], r#"{"a.b": {"c": 1}}"#, "a.b.c=1");
    reads(&["a.b.c"], r#"{"a": {"b.c": 1}}"#, "a.b.c=1");
    reads(&["b"], r#"{"a": {"b": 1}}"#, "");
}

#[test]
fn json_that_is_no_event() {
    for bad in [
        "",
        " ",
        "[]",
        "1",
        "null",
        "\"a\"",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\": 1",
        "{\"a\": 1,}",
        "{a: 1}",
        "{\"a\": 1} x",
        "{\"a\": 1}{\"a\": 2}",
        "{\"a\": 01}",
        "{\"a\": 1.}",
        "{\"a\": +1}",
        "{\"a\": tru}",
        "{'a': 1}",
        "{\"a\": [1, 2}",
        "{\"a\": [1,]}",
        "{\"x\": [1, }",
        "{\"a\": --1}",
        "{\"a\": undefined}",
    ] {
        let (attribute, message) = fault(read(&["a"], bad));
        assert_eq!(attribute, None, "{bad}");
        assert!(message.starts_with("not a JSON event"), "{bad}: {message}");
    }
}

/// However deep: an error or an answer, never a crash.
#[test]
fn json_nesting_is_bounded() {
    for depth in [100, 10_000, 1_000_000] {
        let arrays = format!("{{\"a\": {}{}}}", "[".repeat(depth), "]".repeat(depth));
        let objects = "{\"a\":".repeat(depth) + "1" + &"}".repeat(depth);
        let open = "{\"a\":".repeat(depth);
        for names in [&["a"][..], &["b"], &["a.a.a", "a"]] {
            for json in [&arrays, &objects] {
                match read(names, json) {
                    Ok(_) => {}
                    Err(Error::Event { attribute, .. }) => assert_eq!(attribute, None),
                    Err(other) => unreachable!("{other}"),
                }
            }
            fault(read(names, &open));
        }
    }
    // As deep as an attribute's name can lead: 64 dots.
    let deep = vec!["a"; 65].join(".");
    reads(&[&deep], &("{\"a\":".repeat(65) + "1" + &"}".repeat(65)), &format!("{deep}=1"));
}

#[test]
fn rows_are_unchanged_after_an_error() {
    let schema = schema(&["a", "b", "t"]);
    let (mut reader, mut rows) = (JsonReader::default(), Rows::default());
    reader.read(br#"{"a": "first", "t": [1, 2]}"#, &schema, &mut rows).expect("valid");
    for bad in [r#"{"a": "x", "b": 99999999999999999999}"#, r#"{"a": "x", "t": [1, 2"#, r#"{"a": 1} {"#, "[]"]
    {
        assert!(reader.read(bad.as_bytes(), &schema, &mut rows).is_err());
        assert_eq!(rows.len(), 1);
    }
    reader.read(br#"{"b": "second"}"#, &schema, &mut rows).expect("valid");
    assert_eq!(shown(&schema, &rows, 0), "a='first' t=[1, 2]");
    assert_eq!(shown(&schema, &rows, 1), "b='second'", "nothing of the refused rows shines through");
    rows.clear();
    assert!(rows.is_empty());
    reader.read(br#"{"t": []}"#, &schema, &mut rows).expect("valid");
    assert_eq!(shown(&schema, &rows, 0), "t=[]");
}

#[test]
fn json_lines_keep_their_numbers() {
    let lines: Vec<_> =
        json_lines(b"{}\n\n  \r\n{\"a\": 1}\r\n").map(|(n, line)| (n, line.trim_ascii().len())).collect();
    assert_eq!(lines, [(0, 2), (3, 8)]);
    assert_eq!(json_lines(b"").count(), 0);
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..60), text in "[\\[\\]{}:,\"a0-9.eE+\\\\ tnNI-]{0,40}") {
        let schema = schema(&["a", "a.a"]);
        for json in [bytes.as_slice(), text.as_bytes(), format!("{{\"a\":{text}}}").as_bytes()] {
            let mut rows = Rows::default();
            let outcome = JsonReader::default().read(json, &schema, &mut rows);
            prop_assert_eq!(rows.len(), usize::from(outcome.is_ok()));
        }
    }
}

#[test]
fn slots_forget_the_row_before() {
    let schema = schema(&["a", "b"]);
    let (mut reader, mut rows, mut slots) = (JsonReader::default(), Rows::default(), EventSlots::default());
    reader.read(br#"{"a": 1, "b": 2}"#, &schema, &mut rows).expect("valid");
    reader.read(br#"{"b": 3}"#, &schema, &mut rows).expect("valid");
    let (a, b) = (schema.get("a").expect("interned"), schema.get("b").expect("interned"));
    let first = slots.load(&rows, 0, schema.len());
    assert_eq!((first.slot(a), first.slot(b)), (Slot::Int(1), Slot::Int(2)));
    assert_eq!(first.cells().len(), 2);
    let second = slots.load(&rows, 1, schema.len());
    assert_eq!((second.slot(a), second.slot(b)), (Slot::Missing, Slot::Int(3)));
    assert_eq!(second.cells().len(), 1);
}
