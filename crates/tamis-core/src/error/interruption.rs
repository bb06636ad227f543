//! Long calls that end early on request: a batch that is being added, matched or merged when the user presses Ctrl-C.
//!
//! A caller runs a call under an [`Interruption`] and may request its end from another thread. Loops of the call ask every
//! few milliseconds; a call without an interruption is never ended. A request is an error like any other: an update
//! leaves the index as it was, or it is complete.
//!
//! A call has a state of its own on its thread, so that no function between the caller and the loop has a parameter for it.
//! Workers of a call run under the interruption of the thread that started them.

use super::{Error, Result};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    /// The interruption that this thread's call runs under, if any.
    static CURRENT: RefCell<Option<Interruption>> = const { RefCell::new(None) };
}

/// The end of a call, requested or not.
#[derive(Clone, Debug, Default)]
pub struct Interruption(Arc<AtomicBool>);

/// The payload of an unwinding that ends an interrupted call; [`Error::catch`] makes it [`Error::Interrupted`].
pub(super) struct Interrupted;

/// Restores the interruption that a thread ran under before.
struct Restored(Option<Interruption>);

impl Drop for Restored {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

impl Interruption {
    /// Requests the end of the call.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the end is requested.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Runs a call under this interruption.
    pub fn run<T>(&self, call: impl FnOnce() -> T) -> T {
        let _restored = Restored(CURRENT.replace(Some(self.clone())));
        call()
    }

    /// The interruption of this thread's call; one that nobody can request if there is none.
    pub(crate) fn current() -> Interruption {
        CURRENT.with_borrow(|current| current.clone().unwrap_or_default())
    }

    /// An error if the end of this thread's call is requested. Takes a few ns.
    pub(crate) fn check() -> Result<()> {
        let is_requested = |current: &Option<Interruption>| current.as_ref().is_some_and(Self::is_requested);
        if CURRENT.with_borrow(is_requested) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// As [`Interruption::check`], for functions that return no error: unwinds to [`Error::catch`]. What the call has begun
    /// must be left whole by unwinding.
    pub(crate) fn unwind_if_requested() {
        if Interruption::check().is_err() {
            std::panic::resume_unwind(Box::new(Interrupted));
        }
    }
}
