//! Signals that arrive while a long call runs: Ctrl-C, or any other that Python code handles.
//!
//! Python runs the handlers of signals on its main thread only. So a long call of the main thread runs on a thread of its
//! own, while the main thread looks for signals every [`PAUSE`]. If a handler raises, the call is asked to end; an update
//! then leaves the index as it was, or is complete. The main thread holds no lock of the index meanwhile, so a handler may
//! use the index itself.
//!
//! Cost: starting a thread, about 30 us. Callers decide by the size of their batch whether it is worth that
//! ([`Length`]); short calls and calls of other threads run where they are.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use tamis_core::Interruption;
use tamis_core::index::{Id, Source};

/// Time between two looks for signals: people do not notice it, and it costs nothing beside the call.
const PAUSE: Duration = Duration::from_millis(50);

/// Python objects that are read between two looks for signals: about 1 ms.
pub const ROWS_PER_CHECK: usize = 1_024;

/// Events of a batch from which on a call is long, however few rules there are: 1 ms and more.
const MANY_EVENTS: usize = 4_096;

/// Events times rules from which on a call is long: about 1 ms where an index looks at one rule in a thousand.
const MANY_PAIRS: usize = 1 << 26;

/// The same for engines that may look at every rule: 1 ms and more.
const MANY_SCANNED_PAIRS: usize = 1 << 17;

/// Rules of a batch from which on adding it is long.
const MANY_RULES: usize = 256;

/// Bytes of text from which on adding a batch is long.
const MUCH_TEXT: usize = 1 << 18;

thread_local! {
    /// What a handler has raised during a call of this thread; taken when the call returns to Python.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Whether a call may take long enough to be interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    Short,
    Long,
}

impl Length {
    fn long_if(is_long: bool) -> Length {
        if is_long { Length::Long } else { Length::Short }
    }

    /// Of adding a batch of rules.
    pub fn of_adding(batch: &[(Id, Source)]) -> Length {
        let bytes = |(_, source): &(Id, Source)| if let Source::Text(text) = source { text.len() } else { 0 };
        Length::long_if(batch.len() >= MANY_RULES || batch.iter().map(bytes).sum::<usize>() >= MUCH_TEXT)
    }

    /// Of applying changes.
    pub fn of_changing(changes: usize) -> Length {
        Length::long_if(changes >= MANY_RULES)
    }

    /// Of matching events against rules; `None` if the number of events is not known.
    pub fn of_matching(events: Option<usize>, rules: usize, engine: &str) -> Length {
        let pairs = if engine == "compiled" { MANY_PAIRS } else { MANY_SCANNED_PAIRS };
        let is_long = |events: usize| events >= MANY_EVENTS || events.saturating_mul(rules) >= pairs;
        Length::long_if(events.is_none_or(is_long))
    }
}

/// Runs a call detached from the interpreter. What a handler raises meanwhile is raised by [`check`].
pub fn detached<T: Send>(py: Python<'_>, length: Length, call: impl FnOnce() -> T + Send) -> T {
    if length == Length::Short || !is_main_thread(py) {
        return py.detach(call);
    }
    let interruption = Interruption::default();
    // Taken by whoever runs the call: the thread, or this one if the system refuses a thread.
    let call = Mutex::new(Some(|| interruption.run(call)));
    let run = || {
        let call = call.lock().ok().and_then(|mut call| call.take());
        call.map(|call| call())
    };
    std::thread::scope(|scope| {
        let (send_end, mut end) = channel::<()>();
        let thread = std::thread::Builder::new().spawn_scoped(scope, || {
            // Dropped when the thread ends, by a panic too.
            let _send_end = send_end;
            run()
        });
        let result = match thread {
            Ok(thread) => {
                // A receiver can be moved into detached code, and so can a mutable borrow of it.
                let wait = |end: &mut Receiver<()>| py.detach(move || end.recv_timeout(PAUSE));
                while wait(&mut end) == Err(RecvTimeoutError::Timeout) {
                    if let Err(raised) = py.check_signals() {
                        interruption.request();
                        RAISED.with_borrow_mut(|first| _ = first.get_or_insert(raised));
                    }
                }
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }
            Err(_) => py.detach(run),
        };
        match result {
            Some(result) => result,
            None => unreachable!("nobody else takes the call"),
        }
    })
}

/// As [`detached`]; raises what a handler has raised meanwhile.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    length: Length,
    call: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let result = detached(py, length, call);
    check().map(|()| result)
}

/// Raises what a handler has raised during the calls of this thread that have ended.
pub fn check() -> PyResult<()> {
    RAISED.take().map_or(Ok(()), Err)
}

/// The exception for a call that was interrupted.
pub fn interrupted() -> PyErr {
    RAISED.take().unwrap_or_else(|| PyKeyboardInterrupt::new_err(()))
}

fn is_main_thread(py: Python<'_>) -> bool {
    let compare = || -> PyResult<bool> {
        let threading = py.import("threading")?;
        let main = threading.call_method0(pyo3::intern!(py, "main_thread"))?;
        threading.call_method0(pyo3::intern!(py, "get_ident"))?.eq(main.getattr(pyo3::intern!(py, "ident"))?)
    };
    compare().unwrap_or(false)
}
