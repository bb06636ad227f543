//! Python mappings to event rows.

use super::scalars::{ScalarKind, decimal, scalar_kind};
use super::type_name;
use crate::interruption::{Length, ROWS_PER_CHECK, detached};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyIterator, PyList, PyMapping, PySet,
    PyString, PyTuple, PyType,
};
use tamis_core::event::{EventSource, Rows, Slot};
use tamis_core::{AttrId, Error, Schema, micros_of_date};

/// The types of the module `datetime`, imported once.
struct DatetimeTypes {
    date: Py<PyType>,
    datetime: Py<PyType>,
    /// 1970-01-01 without a time zone: subtracted from naive times.
    naive_epoch: Py<PyAny>,
    /// 1970-01-01 in UTC: subtracted from aware times.
    aware_epoch: Py<PyAny>,
    /// `timedelta(microseconds=1)`, to divide differences by.
    microsecond: Py<PyAny>,
}

static DATETIME_TYPES: PyOnceLock<DatetimeTypes> = PyOnceLock::new();

/// Days from 0001-01-01 to 1970-01-01, as `date.toordinal` counts.
const EPOCH_ORDINAL: i64 = 719_163;

fn datetime_types(py: Python<'_>) -> PyResult<&'static DatetimeTypes> {
    DATETIME_TYPES.get_or_try_init(py, || {
        let module = py.import("datetime")?;
        let datetime = module.getattr("datetime")?;
        let utc = module.getattr("timezone")?.getattr("utc")?;
        let with_zone = PyDict::new(py);
        with_zone.set_item("tzinfo", utc)?;
        let microsecond = PyDict::new(py);
        microsecond.set_item("microseconds", 1)?;
        Ok(DatetimeTypes {
            date: module.getattr("date")?.cast_into::<PyType>()?.unbind(),
            naive_epoch: datetime.call1((1970, 1, 1))?.unbind(),
            aware_epoch: datetime.call((1970, 1, 1), Some(&with_zone))?.unbind(),
            datetime: datetime.cast_into::<PyType>()?.unbind(),
            microsecond: module.getattr("timedelta")?.call((), Some(&microsecond))?.unbind(),
        })
    })
}

/// An error of the core, or an exception that Python code raised while an event was read.
pub enum MappingError {
    Core(Error),
    Python(PyErr),
}

impl From<PyErr> for MappingError {
    fn from(error: PyErr) -> MappingError {
        MappingError::Python(error)
    }
}

impl From<Error> for MappingError {
    fn from(error: Error) -> MappingError {
        MappingError::Core(error)
    }
}

impl MappingError {
    pub fn exception(self, py: Python<'_>) -> PyErr {
        match self {
            MappingError::Python(error) => error,
            MappingError::Core(error) => crate::errors::exception(py, error),
        }
    }
}

/// Mappings as a source of events: one portion. Read attached; all else runs detached.
pub struct MappingSource<'a, 'py> {
    py: Python<'py>,
    mappings: Mappings<'a, 'py>,
    /// Of what is done with the events.
    length: Length,
}

enum Mappings<'a, 'py> {
    One(&'a Bound<'py, PyAny>),
    Many(&'a Bound<'py, PyList>),
}

impl<'a, 'py> MappingSource<'a, 'py> {
    /// A single event; errors name no row.
    pub fn one(event: &'a Bound<'py, PyAny>) -> MappingSource<'a, 'py> {
        MappingSource { py: event.py(), mappings: Mappings::One(event), length: Length::Short }
    }

    /// One event per element; errors name the row.
    pub fn many(events: &'a Bound<'py, PyList>, length: Length) -> MappingSource<'a, 'py> {
        MappingSource { py: events.py(), mappings: Mappings::Many(events), length }
    }
}

impl EventSource for MappingSource<'_, '_> {
    type Error = MappingError;

    fn read(&mut self, schema: &Schema, rows: &mut Rows) -> Result<(), MappingError> {
        match self.mappings {
            Mappings::One(event) => read_event(event, schema, rows),
            Mappings::Many(events) => events.iter().enumerate().try_for_each(|(row, event)| {
                if row % ROWS_PER_CHECK == 0 {
                    self.py.check_signals()?;
                }
                match read_event(&event, schema, rows) {
                    Err(MappingError::Core(error)) => Ok(rows.accept(Err(error), row)?),
                    outcome => outcome,
                }
            }),
        }
    }

    fn unlocked<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        detached(self.py, self.length, work)
    }
}

/// Appends one event to the rows. After an error nothing of it remains.
fn read_event(event: &Bound<'_, PyAny>, schema: &Schema, rows: &mut Rows) -> Result<(), MappingError> {
    let mut reader = MappingReader { schema, rows, path: String::new() };
    let result = reader.mapping(event);
    match result {
        Ok(()) => rows.finish_row(),
        Err(_) => rows.abandon_row(),
    }
    result
}

/// Reads one mapping into the open row.
struct MappingReader<'r> {
    schema: &'r Schema,
    rows: &'r mut Rows,
    /// Dotted path of the mapping being read: empty at the top, `user.` inside `user`.
    path: String,
}

impl MappingReader<'_> {
    fn mapping(&mut self, event: &Bound<'_, PyAny>) -> Result<(), MappingError> {
        if let Ok(dict) = event.cast::<PyDict>() {
            return self.dict(dict);
        }
        let Ok(mapping) = event.cast::<PyMapping>() else {
            let message = format!("an event is a mapping, not {}", type_name(event));
            return Err(Error::Event { attribute: None, message }.into());
        };
        mapping.items()?.iter().try_for_each(|item| {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            self.entry(&key, &value)
        })
    }

    /// Reading a value may run Python code (a mapping, a time zone, an array), and that code may change the dict.
    fn dict(&mut self, dict: &Bound<'_, PyDict>) -> Result<(), MappingError> {
        let (len, mut read) = (dict.len(), 0);
        // The iterator panics if it is asked for another entry of a dict that has changed.
        for (key, value) in dict.iter().take(len) {
            self.entry(&key, &value)?;
            read += 1;
            if dict.len() != len {
                break;
            }
        }
        if read == len && dict.len() == len {
            return Ok(());
        }
        Err(refused("the mapping has changed while it was read; pass a copy"))
    }

    fn entry(&mut self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> Result<(), MappingError> {
        let Ok(text) = key.cast::<PyString>() else {
            let message = format!("the name of an attribute is a str, not {}", type_name(key));
            return Err(Error::Event { attribute: None, message }.into());
        };
        // No expression refers to a name that is not UTF-8.
        let Ok(name) = text.to_str() else {
            return Ok(());
        };
        let prefix = self.path.len();
        let path = if prefix == 0 {
            self.schema.path(name)
        } else {
            self.path.push_str(name);
            let path = self.schema.path(&self.path);
            self.path.truncate(prefix);
            path
        };
        let Some(path) = path else {
            return Ok(());
        };
        if let Some(attribute) = path.attribute {
            self.attribute(attribute, name, value)?;
        }
        if path.has_subpaths && is_mapping(value) {
            self.path.push_str(name);
            self.path.push('.');
            self.mapping(value)?;
            self.path.truncate(prefix);
        }
        Ok(())
    }

    fn attribute(
        &mut self,
        attribute: AttrId,
        name: &str,
        value: &Bound<'_, PyAny>,
    ) -> Result<(), MappingError> {
        let slot = self.value(value).map_err(|error| match error {
            MappingError::Core(Error::Event { attribute: None, message }) => {
                Error::event(&format!("{}{name}", self.path), message).into()
            }
            other => other,
        })?;
        self.rows.set(attribute, slot);
        Ok(())
    }

    fn value(&mut self, value: &Bound<'_, PyAny>) -> Result<Slot, MappingError> {
        let elements = if let Ok(list) = value.cast::<PyList>() {
            list.try_iter()?
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            tuple.try_iter()?
        } else if value.is_instance_of::<PySet>() || value.is_instance_of::<PyFrozenSet>() {
            value.try_iter()?
        } else {
            return self.scalar(value);
        };
        self.list(elements)
    }

    fn list(&mut self, elements: Bound<'_, PyIterator>) -> Result<Slot, MappingError> {
        let mut list = self.rows.list();
        for element in elements {
            let element = element?;
            let slot = if is_list(&element) { Slot::Other } else { self.scalar(&element)? };
            list.push(self.rows, slot);
        }
        Ok(list.finish(self.rows)?)
    }

    fn scalar(&mut self, value: &Bound<'_, PyAny>) -> Result<Slot, MappingError> {
        if let Ok(text) = value.cast::<PyString>() {
            let text =
                text.to_str().map_err(|_| refused("a lone surrogate, which cannot be written as UTF-8"))?;
            return Ok(self.rows.text_slot(text)?);
        }
        if let Ok(value) = value.cast::<PyBool>() {
            return Ok(Slot::Bool(value.is_true()));
        }
        if value.is_instance_of::<PyInt>() {
            let signed = value.extract().map(Slot::Int);
            let fits = signed.or_else(|_| value.extract().map(Rows::unsigned_slot));
            return fits.map_err(|_| refused("an integer that does not fit 64 bits"));
        }
        if let Ok(value) = value.cast::<PyFloat>() {
            return Ok(Rows::float_slot(value.value()));
        }
        if value.is_none() {
            return Ok(Slot::Missing);
        }
        if is_mapping(value) {
            return Ok(Slot::Other);
        }
        let py = value.py();
        let types = datetime_types(py)?;
        if value.is_instance(types.datetime.bind(py))? {
            return instant(value, types);
        }
        if value.is_instance(types.date.bind(py))? {
            let days: i64 = value.call_method0(pyo3::intern!(py, "toordinal"))?.extract()?;
            let micros = i32::try_from(days - EPOCH_ORDINAL).ok().and_then(micros_of_date);
            return micros.map(Slot::Time).ok_or_else(|| refused("a date out of range"));
        }
        if value.is_instance_of::<PyBytes>() || value.is_instance_of::<PyByteArray>() {
            return Ok(Slot::Other);
        }
        match scalar_kind(value)? {
            Some(ScalarKind::Decimal) => decimal(value),
            Some(ScalarKind::Uuid) => Ok(self.rows.text_slot(&value.str()?.to_cow()?)?),
            Some(ScalarKind::Enum) => self.value(&value.getattr(pyo3::intern!(py, "value"))?),
            Some(ScalarKind::NotAvailable) => Ok(Slot::Missing),
            None => self.numpy(value),
        }
    }

    /// Arrays and scalars of numpy, through their Python values.
    fn numpy(&mut self, value: &Bound<'_, PyAny>) -> Result<Slot, MappingError> {
        let unsupported = || {
            refused(&format!(
                "a value of type {}; values are bool, int, float, Decimal, str, UUID, date, datetime, None, lists of them, and mappings",
                type_name(value)
            ))
        };
        let kind = value.getattr("dtype").and_then(|dtype| dtype.getattr("kind")?.extract::<String>());
        match kind.as_deref() {
            Ok("b" | "i" | "u" | "f" | "U") => {}
            Ok("M") => return self.numpy_times(value),
            _ => return Err(unsupported()),
        }
        let plain = value.call_method0("tolist")?;
        if plain.get_type().is(value.get_type()) {
            return Err(unsupported());
        }
        self.value(&plain)
    }

    /// A `datetime64` of numpy, or an array of them. numpy rounds and overflows without a word, so the conversion to
    /// microseconds is done back and compared.
    fn numpy_times(&mut self, value: &Bound<'_, PyAny>) -> Result<Slot, MappingError> {
        let micros = value.call_method1("astype", ("datetime64[us]",))?;
        let back = micros.call_method1("astype", (value.getattr("dtype")?,))?;
        // As bytes: `NaT` is not equal to itself.
        if !value.call_method0("tobytes")?.eq(back.call_method0("tobytes")?)? {
            return Err(refused(NANOSECONDS));
        }
        let plain = micros.call_method1("astype", ("int64",))?.call_method0("tolist")?;
        let time = |micros: i64| if micros == NOT_A_TIME { Slot::Missing } else { Slot::Time(micros) };
        let Ok(elements) = plain.cast::<PyList>() else {
            return Ok(time(plain.extract()?));
        };
        let mut list = self.rows.list();
        for element in elements {
            // An array of more dimensions is a list of lists.
            let slot = element.extract().map_or(Slot::Other, time);
            list.push(self.rows, slot);
        }
        Ok(list.finish(self.rows)?)
    }
}

/// The integer that stands for `NaT` in numpy.
const NOT_A_TIME: i64 = i64::MIN;

const NANOSECONDS: &str = "a time that would lose precision: round it to microseconds";

/// Microseconds since the epoch; naive times are UTC. `NaT` of pandas, which is not equal to itself, is missing.
fn instant(value: &Bound<'_, PyAny>, types: &DatetimeTypes) -> Result<Slot, MappingError> {
    let py = value.py();
    if value.ne(value)? {
        return Ok(Slot::Missing);
    }
    // A `Timestamp` of pandas is a `datetime` whose nanoseconds the difference below would drop.
    if !value.get_type().is(types.datetime.bind(py))
        && let Ok(nanoseconds) = value.getattr(pyo3::intern!(py, "nanosecond"))
        && nanoseconds.is_truthy()?
    {
        return Err(refused(NANOSECONDS));
    }
    // As Python defines it: a zone that gives no offset leaves the time naive.
    let naive = value.call_method0(pyo3::intern!(py, "utcoffset"))?.is_none();
    let epoch = if naive { &types.naive_epoch } else { &types.aware_epoch };
    let micros = value.sub(epoch.bind(py))?.floor_div(types.microsecond.bind(py))?;
    Ok(Slot::Time(micros.extract()?))
}

pub(super) fn refused(message: &str) -> MappingError {
    Error::Event { attribute: None, message: message.to_owned() }.into()
}

fn is_mapping(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyDict>() || value.cast::<PyMapping>().is_ok()
}

/// Whether an element of a list is a list itself, arrays of numpy included.
fn is_list(value: &Bound<'_, PyAny>) -> bool {
    if value.is_instance_of::<PyString>()
        || value.is_instance_of::<PyInt>()
        || value.is_instance_of::<PyFloat>()
    {
        return false;
    }
    value.is_instance_of::<PyList>()
        || value.is_instance_of::<PyTuple>()
        || value.is_instance_of::<PySet>()
        || value.is_instance_of::<PyFrozenSet>()
        || value.getattr("ndim").and_then(|dimensions| dimensions.extract::<usize>()).is_ok_and(|n| n > 0)
}
