//! JSON text to rows, without building a tree: values that no expression refers to are skipped unparsed.

use super::EventSource;
use super::rows::{Rows, Slot};
use crate::error::{Error, Interruption, Result};
use crate::schema::Schema;
use jiter::{Jiter, JiterError, NumberAny, NumberInt, Peek};

/// Reads events from JSON objects; reuses its buffers from one to the next.
#[derive(Debug, Default)]
pub struct JsonReader {
    /// Dotted path of the object being read: empty at the top, `user.` inside `user`.
    path: String,
    /// Buffer for strings with escapes, decoded.
    tape: Vec<u8>,
}

impl JsonReader {
    /// Reads one object as one row. After an error nothing of it stays in `rows`.
    pub fn read(&mut self, json: &[u8], schema: &Schema, rows: &mut Rows) -> Result<()> {
        let mut jiter = Jiter::with_tape(json, std::mem::take(&mut self.tape)).with_allow_inf_nan();
        self.path.clear();
        let mut event = EventReader { json, schema, rows, path: &mut self.path };
        let result = event.top(&mut jiter).map_err(|fault| fault.into_error(&jiter, &self.path));
        self.tape = jiter.into_tape();
        match result {
            Ok(()) => rows.finish_row(),
            Err(_) => rows.abandon_row(),
        }
        result
    }
}

/// JSON objects as a source of events: one portion.
#[derive(Debug)]
pub struct JsonSource<'t> {
    reader: JsonReader,
    texts: JsonTexts<'t>,
}

#[derive(Debug)]
enum JsonTexts<'t> {
    One(&'t [u8]),
    Many(Vec<&'t [u8]>),
}

impl<'t> JsonSource<'t> {
    /// A single object; errors name no row.
    pub fn one(text: &'t [u8]) -> JsonSource<'t> {
        JsonSource { reader: JsonReader::default(), texts: JsonTexts::One(text) }
    }

    /// One object per text; errors name the row.
    pub fn many(texts: Vec<&'t [u8]>) -> JsonSource<'t> {
        JsonSource { reader: JsonReader::default(), texts: JsonTexts::Many(texts) }
    }
}

impl EventSource for JsonSource<'_> {
    type Error = Error;

    fn read(&mut self, schema: &Schema, rows: &mut Rows) -> Result<()> {
        match &self.texts {
            JsonTexts::One(text) => self.reader.read(text, schema, rows),
            JsonTexts::Many(texts) => texts.iter().enumerate().try_for_each(|(row, text)| {
                Interruption::check()?;
                let outcome = self.reader.read(text, schema, rows);
                rows.accept(outcome, row)
            }),
        }
    }
}

/// The lines of newline-delimited JSON that are not blank, each with its number from 0.
pub fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    text.split(|&b| b == b'\n').enumerate().filter(|(_, line)| !line.trim_ascii().is_empty())
}

/// Why an object is no event.
enum Fault {
    /// It is not JSON.
    Json(JiterError),
    /// A value is valid JSON but no event value; `name` is the last part of the attribute's path.
    Value { name: String, message: String },
    /// The rows are full.
    Event(Error),
}

impl From<JiterError> for Fault {
    fn from(error: JiterError) -> Fault {
        Fault::Json(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Event(error)
    }
}

impl Fault {
    fn into_error(self, jiter: &Jiter<'_>, path: &str) -> Error {
        match self {
            Fault::Event(error) => error,
            Fault::Value { name, message } => Error::event(&format!("{path}{name}"), message),
            Fault::Json(error) => {
                let message = format!("not a JSON event: {}", error.description(jiter));
                Error::Event { attribute: None, message }
            }
        }
    }
}

/// Reads one object into the open row.
struct EventReader<'r> {
    /// The whole text, for the digits of integers that do not fit.
    json: &'r [u8],
    schema: &'r Schema,
    rows: &'r mut Rows,
    /// As [`JsonReader::path`].
    path: &'r mut String,
}

impl EventReader<'_> {
    fn top(&mut self, jiter: &mut Jiter<'_>) -> Result<(), Fault> {
        self.object(jiter)?;
        jiter.finish()?;
        Ok(())
    }

    /// The members of an object; the next thing to read is its opening brace.
    fn object(&mut self, jiter: &mut Jiter<'_>) -> Result<(), Fault> {
        let mut first = true;
        loop {
            let prefix = self.path.len();
            let key = if first { jiter.next_object()? } else { jiter.next_key()? };
            first = false;
            let Some(key) = key else {
                return Ok(());
            };
            let path = if prefix == 0 {
                self.schema.path(key)
            } else {
                self.path.push_str(key);
                let path = self.schema.path(self.path);
                self.path.truncate(prefix);
                path
            };
            let Some(path) = path else {
                jiter.next_skip()?;
                continue;
            };
            // The key borrows the parser, which has to move on. Copied only if an expression refers to it.
            let name = key.to_owned();
            let peek = jiter.peek()?;
            if peek == Peek::Object && path.has_subpaths {
                if let Some(attribute) = path.attribute {
                    self.rows.set(attribute, Slot::Other);
                }
                self.path.push_str(&name);
                self.path.push('.');
                self.object(jiter)?;
                self.path.truncate(prefix);
            } else if let Some(attribute) = path.attribute {
                let slot = self.value(jiter, peek, &name)?;
                self.rows.set(attribute, slot);
            } else {
                jiter.known_skip(peek)?;
            }
        }
    }

    fn value(&mut self, jiter: &mut Jiter<'_>, peek: Peek, name: &str) -> Result<Slot, Fault> {
        if peek != Peek::Array {
            return self.scalar(jiter, peek, name);
        }
        let mut list = self.rows.list();
        let mut next = jiter.known_array()?;
        while let Some(peek) = next {
            let slot = self.scalar(jiter, peek, name)?;
            list.push(self.rows, slot);
            next = jiter.array_step()?;
        }
        Ok(list.finish(self.rows)?)
    }

    fn scalar(&mut self, jiter: &mut Jiter<'_>, peek: Peek, name: &str) -> Result<Slot, Fault> {
        match peek {
            Peek::Null => jiter.known_null().map(|()| Slot::Missing).map_err(Fault::from),
            Peek::True | Peek::False => jiter.known_bool(peek).map(Slot::Bool).map_err(Fault::from),
            Peek::String => Ok(self.rows.text_slot(jiter.known_str()?)?),
            Peek::Array | Peek::Object => jiter.known_skip(peek).map(|()| Slot::Other).map_err(Fault::from),
            _ => {
                let start = jiter.current_index();
                match jiter.known_number(peek) {
                    Ok(NumberAny::Int(NumberInt::Int(value))) => Ok(Slot::Int(value)),
                    Ok(NumberAny::Float(value)) => Ok(Rows::float_slot(value)),
                    Err(error) => {
                        let digits = integer_text(&self.json[start..]).ok_or(error)?;
                        let Ok(value) = digits.parse() else {
                            let message = format!("the integer {digits} does not fit 64 bits");
                            return Err(Fault::Value { name: name.to_owned(), message });
                        };
                        // The failed attempt has not moved on.
                        jiter.known_number_bytes(peek)?;
                        Ok(Rows::unsigned_slot(value))
                    }
                }
            }
        }
    }
}

/// The digits at the beginning, if they make an integer too large for 64 bits.
fn integer_text(json: &[u8]) -> Option<&str> {
    let length = json.iter().take_while(|b| b.is_ascii_digit() || **b == b'-').count();
    let digits = std::str::from_utf8(&json[..length]).ok()?;
    (length > 18 && digits.parse::<i64>().is_err()).then_some(digits)
}
