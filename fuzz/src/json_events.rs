//! JSON text to event, against `serde_json`.
//!
//! Whatever `serde_json` reads as an object is read, with the same values, or refused because an integer does not fit
//! 64 bits. tamis reads more than that (`NaN`, `Infinity`) and does not look into values that no rule refers to, so what
//! `serde_json` refuses proves nothing. After a refusal no value of the refused event is left in the rows.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;
use tamis_conformance::event::{Given, GivenEvent, schema, shown, write_row};
use tamis_core::event::{JsonReader, Rows, json_lines};
use tamis_core::{Error, Schema};

/// Attributes that rules refer to: some lead on to others, one has a dot within a key.
const ATTRIBUTES: &[&str] = &["a", "b", "a.b", "a.b.c", "user.age", "tags", ""];

/// Checks one text, as one event and as lines.
pub fn check(data: &[u8]) {
    let schema = schema(ATTRIBUTES);
    let mut reader = JsonReader::default();
    check_one(data, &schema, &mut reader);
    for (_, line) in json_lines(data).take(8) {
        check_one(line, &schema, &mut reader);
    }
}

fn check_one(json: &[u8], schema: &Schema, reader: &mut JsonReader) {
    let mut rows = Rows::default();
    let outcome = reader.read(json, schema, &mut rows);
    let expected = serde_json::from_slice::<Node>(json).ok();
    match (&outcome, expected) {
        (Ok(()), Some(Node::Object(members))) => {
            let mut event = GivenEvent::new();
            flatten("", &members, schema, &mut event);
            let mut expected = Rows::default();
            write_row(&event, schema, &mut expected);
            assert_eq!(plain(schema, &rows), plain(schema, &expected), "{}", lossy(json));
        }
        (Ok(()), Some(_)) => unreachable!("an event that is no object: {}", lossy(json)),
        (Err(Error::Event { message, .. }), Some(Node::Object(_))) => {
            assert!(message.contains("does not fit 64 bits"), "{}: {message}", lossy(json));
        }
        (Ok(()) | Err(Error::Event { .. }), _) => {}
        (Err(error), _) => unreachable!("{}: {error}", lossy(json)),
    }
    let rows_read = usize::from(outcome.is_ok());
    assert_eq!(rows.len(), rows_read);
    reader.read(b"{}", schema, &mut rows).expect("the empty event");
    assert!(rows.row(rows_read).is_empty(), "left over from {}", lossy(json));
}

/// The row as text. JSON's `-0` is an integer here and a float for `serde_json`; they are equal.
fn plain(schema: &Schema, rows: &Rows) -> String {
    shown(schema, rows, 0).replace("-0.0", "0").replace("0.0", "0")
}

fn lossy(json: &[u8]) -> String {
    String::from_utf8_lossy(json).into_owned()
}

/// The attributes an object gives a value, in the order of the text: the last one of equal names counts.
fn flatten(prefix: &str, members: &[(String, Node)], schema: &Schema, event: &mut GivenEvent) {
    for (key, node) in members {
        let name = format!("{prefix}{key}");
        let Some(path) = schema.path(&name) else {
            continue;
        };
        if path.attribute.is_some() {
            event.push((name.clone(), node.given()));
        }
        if let (true, Node::Object(members)) = (path.has_subpaths, node) {
            flatten(&format!("{name}."), members, schema, event);
        }
    }
}

/// A JSON value that keeps every member of an object, equal keys included.
enum Node {
    Scalar(Given),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl Node {
    fn given(&self) -> Given {
        match self {
            Node::Scalar(given) => given.clone(),
            Node::Object(_) => Given::Object,
            Node::List(nodes) => Given::List(nodes.iter().map(Node::given).collect()),
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Scalar(Given::Missing))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Scalar(Given::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Scalar(Given::Int(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        // Integers past 64 bits with a sign are refused where they count; elsewhere any value does.
        Ok(Node::Scalar(i64::try_from(value).map_or(Given::Float(value as f64), Given::Int)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Scalar(Given::Float(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Scalar(Given::Text(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Node, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = sequence.next_element()? {
            nodes.push(node);
        }
        Ok(Node::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Node::Object(members))
    }
}
