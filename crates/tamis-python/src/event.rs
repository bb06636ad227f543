//! Python mappings to rows of events.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyDict, PyFloat, PyFrozenSet, PyInt, PyIterator, PyList, PyMapping, PySet, PyString, PyTuple,
    PyType,
};
use tamis_core::event::{Rows, Slot};
use tamis_core::{AttrId, Error, Schema, micros_of_date};

/// The types of `datetime`, imported once.
struct Clock {
    date: Py<PyType>,
    datetime: Py<PyType>,
    /// 1970-01-01 without and with a time zone, to subtract from.
    naive_epoch: Py<PyAny>,
    aware_epoch: Py<PyAny>,
    microsecond: Py<PyAny>,
}

static CLOCK: PyOnceLock<Clock> = PyOnceLock::new();

/// Days from 0001-01-01 to 1970-01-01, as `date.toordinal` counts.
const EPOCH_ORDINAL: i64 = 719_163;

fn clock(py: Python<'_>) -> PyResult<&'static Clock> {
    CLOCK.get_or_try_init(py, || {
        let module = py.import("datetime")?;
        let datetime = module.getattr("datetime")?;
        let utc = module.getattr("timezone")?.getattr("utc")?;
        let with_zone = PyDict::new(py);
        with_zone.set_item("tzinfo", utc)?;
        let microsecond = PyDict::new(py);
        microsecond.set_item("microseconds", 1)?;
        Ok(Clock {
            date: module.getattr("date")?.cast_into::<PyType>()?.unbind(),
            naive_epoch: datetime.call1((1970, 1, 1))?.unbind(),
            aware_epoch: datetime.call((1970, 1, 1), Some(&with_zone))?.unbind(),
            datetime: datetime.cast_into::<PyType>()?.unbind(),
            microsecond: module.getattr("timedelta")?.call((), Some(&microsecond))?.unbind(),
        })
    })
}

/// Either a fault of the event, or an exception that Python code raised while the event was read.
pub enum Fault {
    Event(Error),
    Python(PyErr),
}

impl From<PyErr> for Fault {
    fn from(error: PyErr) -> Fault {
        Fault::Python(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Event(error)
    }
}

impl Fault {
    /// As an exception, said of a row if there are several.
    pub fn exception(self, py: Python<'_>, row: Option<usize>) -> PyErr {
        match (self, row) {
            (Fault::Python(error), _) => error,
            (Fault::Event(error), Some(row)) => crate::errors::exception(py, error.at_row(row)),
            (Fault::Event(error), None) => crate::errors::exception(py, error),
        }
    }
}

/// Appends one event to the rows. After a fault nothing of it stays.
pub fn read_event(event: &Bound<'_, PyAny>, schema: &Schema, rows: &mut Rows) -> Result<(), Fault> {
    let mut reader = Reader { schema, rows, path: String::new() };
    let result = reader.mapping(event);
    match result {
        Ok(()) => rows.finish_row(),
        Err(_) => rows.abandon_row(),
    }
    result
}

struct Reader<'r> {
    schema: &'r Schema,
    rows: &'r mut Rows,
    /// Empty at the top, `user.` inside `user`.
    path: String,
}

impl Reader<'_> {
    fn mapping(&mut self, event: &Bound<'_, PyAny>) -> Result<(), Fault> {
        if let Ok(dict) = event.cast::<PyDict>() {
            return dict.iter().try_for_each(|(key, value)| self.entry(&key, &value));
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

    fn entry(&mut self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> Result<(), Fault> {
        let Ok(text) = key.cast::<PyString>() else {
            let message = format!("the name of an attribute is a str, not {}", type_name(key));
            return Err(Error::Event { attribute: None, message }.into());
        };
        // A name that is no UTF-8 cannot stand in an expression, so nothing refers to it.
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

    fn attribute(&mut self, attribute: AttrId, name: &str, value: &Bound<'_, PyAny>) -> Result<(), Fault> {
        let slot = self.value(value).map_err(|fault| match fault {
            Fault::Event(Error::Event { attribute: None, message }) => {
                Error::event(&format!("{}{name}", self.path), message).into()
            }
            other => other,
        })?;
        self.rows.set(attribute, slot);
        Ok(())
    }

    fn value(&mut self, value: &Bound<'_, PyAny>) -> Result<Slot, Fault> {
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

    fn list(&mut self, elements: Bound<'_, PyIterator>) -> Result<Slot, Fault> {
        let mut list = self.rows.list();
        for element in elements {
            let element = element?;
            let slot = if is_list(&element) { Slot::Other } else { self.scalar(&element)? };
            list.push(self.rows, slot);
        }
        Ok(list.finish(self.rows)?)
    }

    fn scalar(&mut self, value: &Bound<'_, PyAny>) -> Result<Slot, Fault> {
        if let Ok(text) = value.cast::<PyString>() {
            let text =
                text.to_str().map_err(|_| refused("a lone surrogate, which cannot be written as UTF-8"))?;
            return Ok(self.rows.text_slot(text)?);
        }
        if let Ok(value) = value.cast::<PyBool>() {
            return Ok(Slot::Bool(value.is_true()));
        }
        if value.is_instance_of::<PyInt>() {
            let fits = value.extract().map(Slot::Int);
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
        let clock = clock(py)?;
        if value.is_instance(clock.datetime.bind(py))? {
            return instant(value, clock);
        }
        if value.is_instance(clock.date.bind(py))? {
            let days: i64 = value.call_method0(pyo3::intern!(py, "toordinal"))?.extract()?;
            let micros = i32::try_from(days - EPOCH_ORDINAL).ok().and_then(micros_of_date);
            return micros.map(Slot::Time).ok_or_else(|| refused("a date out of range"));
        }
        self.numpy(value)
    }

    /// Arrays and scalars of numpy, through their Python values.
    fn numpy(&mut self, value: &Bound<'_, PyAny>) -> Result<Slot, Fault> {
        let unsupported = || {
            refused(&format!(
                "a value of type {}; values are bool, int, float, str, date, datetime, None, lists of them, and mappings",
                type_name(value)
            ))
        };
        let kind = value.getattr("dtype").and_then(|dtype| dtype.getattr("kind")?.extract::<String>());
        if !matches!(kind.as_deref(), Ok("b" | "i" | "u" | "f" | "U")) {
            return Err(unsupported());
        }
        let plain = value.call_method0("tolist")?;
        if plain.get_type().is(value.get_type()) {
            return Err(unsupported());
        }
        self.value(&plain)
    }
}

/// Microseconds since the epoch; naive times are UTC. `NaT` of pandas, which is not equal to itself, is missing.
fn instant(value: &Bound<'_, PyAny>, clock: &Clock) -> Result<Slot, Fault> {
    let py = value.py();
    if value.ne(value)? {
        return Ok(Slot::Missing);
    }
    // As Python defines it: a zone that gives no offset leaves the time naive.
    let naive = value.call_method0(pyo3::intern!(py, "utcoffset"))?.is_none();
    let epoch = if naive { &clock.naive_epoch } else { &clock.aware_epoch };
    let micros = value.sub(epoch.bind(py))?.floor_div(clock.microsecond.bind(py))?;
    Ok(Slot::Time(micros.extract()?))
}

fn refused(message: &str) -> Fault {
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

fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "an unknown type".into(), |name| name.to_string())
}
