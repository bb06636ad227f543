//! Forks of the interpreter's process: no other thread holds a lock of an index while the memory is copied.

use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict};
use tamis_core::index::{after_fork_in_child, after_fork_in_parent, before_fork};

/// Has Python call the core around every fork. Systems that cannot fork have no such registration.
pub fn register(py: Python<'_>) -> PyResult<()> {
    let os = py.import("os")?;
    if !os.hasattr("register_at_fork")? {
        return Ok(());
    }
    // Waiting runs detached: the threads that are waited for may need the interpreter.
    let before = PyCFunction::new_closure(py, None, None, |arguments, _| arguments.py().detach(before_fork))?;
    let in_parent = PyCFunction::new_closure(py, None, None, |_, _| after_fork_in_parent())?;
    let in_child = PyCFunction::new_closure(py, None, None, |_, _| after_fork_in_child())?;
    let hooks = PyDict::new(py);
    hooks.set_item("before", before)?;
    hooks.set_item("after_in_parent", in_parent)?;
    hooks.set_item("after_in_child", in_child)?;
    os.call_method("register_at_fork", (), Some(&hooks))?;
    Ok(())
}
