//! The thread that merges segments. It is started when there is work and ends when there is none.

use super::Shared;
use crate::error::Result;
use parking_lot::{Condvar, Mutex};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// State of the thread, and of merging as such.
#[derive(Default)]
pub(super) struct Background {
    state: Mutex<State>,
    /// The process that is merging segments, in the thread or in a call of `compact`. Not a lock: a child that is forked
    /// meanwhile would never get it.
    merging: Mutex<Option<u32>>,
    /// Notified when a merge ends.
    merged: Condvar,
    /// Why merging ended for good: a damaged file, or a fault in tamis itself. Answers and updates go on without it.
    fault: Mutex<Option<String>>,
    /// The smallest number of members that exceeded the limits of a segment; `None` if none did.
    smallest_overflow: Mutex<Option<usize>>,
}

#[derive(Default)]
struct State {
    /// The process whose thread runs: after a fork the child has no thread.
    running: Option<u32>,
    /// Enough events were observed to rebuild all segments.
    observed: bool,
}

enum Job {
    Merge,
    Everything,
}

impl Background {
    /// Waits until no other merge runs. The next one runs when the result is dropped.
    pub fn alone(&self) -> Alone<'_> {
        let process = std::process::id();
        let mut merging = self.merging.lock();
        while *merging == Some(process) {
            self.merged.wait(&mut merging);
        }
        *merging = Some(process);
        Alone(self)
    }

    pub fn fault(&self) -> Option<String> {
        self.fault.lock().clone()
    }

    pub fn fail(&self, fault: String) {
        self.fault.lock().get_or_insert(fault);
    }

    /// The smallest number of members that exceeded the limits of a segment.
    pub fn smallest_overflow(&self) -> Option<usize> {
        *self.smallest_overflow.lock()
    }

    /// Remembers that a segment of this many members exceeded a limit.
    pub fn note_overflow(&self, members: Option<usize>) {
        let mut smallest = self.smallest_overflow.lock();
        *smallest = smallest.into_iter().chain(members).min();
    }
}

/// The right to merge.
pub(super) struct Alone<'b>(&'b Background);

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        *self.0.merging.lock() = None;
        self.0.merged.notify_one();
    }
}

impl Shared {
    /// Starts the thread if there is work. Called after every change.
    pub fn wake(self: &Arc<Shared>) {
        self.start(false);
    }

    /// Starts the thread to rebuild all segments.
    pub fn wake_for_observed(self: &Arc<Shared>) {
        self.start(true);
    }

    fn start(self: &Arc<Shared>, observed: bool) {
        let mut state = self.background.state.lock();
        state.observed |= observed;
        // A running thread checks for work under this lock before it ends.
        if state.running == Some(std::process::id()) || self.job(&state).is_none() {
            return;
        }
        let shared = self.clone();
        let thread = std::thread::Builder::new().name("tamis-merge".into());
        // Without a thread the next change tries again.
        if thread.spawn(move || shared.work()).is_ok() {
            state.running = Some(std::process::id());
        }
    }

    fn job(&self, state: &State) -> Option<Job> {
        if self.stopped.load(Ordering::Relaxed) || self.background.fault().is_some() {
            return None;
        }
        if state.observed {
            return Some(Job::Everything);
        }
        (!self.plan(&self.snapshot()).is_empty()).then_some(Job::Merge)
    }

    fn work(self: Arc<Shared>) {
        loop {
            let job = {
                let mut state = self.background.state.lock();
                let Some(job) = self.job(&state) else {
                    state.running = None;
                    return;
                };
                state.observed &= !matches!(job, Job::Everything);
                job
            };
            let done = catch_unwind(AssertUnwindSafe(|| self.do_job(job)));
            match done {
                Ok(Ok(())) => {}
                Ok(Err(error)) => self.background.fail(error.to_string()),
                // Snapshots are published whole, so nothing is left half done.
                Err(_) => self.background.fail("a fault in tamis itself ended it".into()),
            }
        }
    }

    fn do_job(self: &Arc<Shared>, job: Job) -> Result<()> {
        match job {
            Job::Merge => self.merge(|next| Ok(self.plan(next))).map(drop),
            Job::Everything => self.compact(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Segmented;
    use crate::compiled::INFO;
    use crate::engine::registry::OptionValues;
    use crate::index::backend::Backend;
    use crate::index::{Id, Settings, Source};

    #[test]
    fn without_compaction_everything_else_goes_on() {
        let index = Segmented::new(&Settings::default(), &OptionValues::defaults(INFO.options));
        index.0.background.fail("a reason".into());
        for n in 0..2_000 {
            let parsed = Source::from("a = 1").parsed(&index.0.limits).expect("an expression");
            index.add(Id::from(n), parsed).expect("added");
        }
        assert_eq!(index.0.snapshot().segments.len(), 2_000 / 64, "nothing is merged");
        assert_eq!(index.ids().len(), 2_000);
        assert_eq!(index.validate(), Err("compaction: a reason".into()));
        index.0.snapshot().validate().expect("a sound snapshot");
    }

    /// A child of a fork has the state of its parent's merge, but not its thread.
    #[test]
    fn a_merge_in_another_process_is_not_waited_for() {
        let index = Segmented::new(&Settings::default(), &OptionValues::defaults(INFO.options));
        let parsed = Source::from("a = 1").parsed(&index.0.limits).expect("an expression");
        index.add(Id::from(1), parsed).expect("added");
        *index.0.background.merging.lock() = Some(std::process::id() + 1);
        index.0.background.state.lock().running = Some(std::process::id() + 1);
        index.compact().expect("compacted");
        assert_eq!(index.0.snapshot().segments.len(), 1);
    }
}
