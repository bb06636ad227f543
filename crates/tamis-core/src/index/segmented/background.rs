//! The thread that merges segments. It is started when there is work and ends when there is none.
//!
//! Segments may be mapped from a file that is cut short or unmounted once the index is gone, and reading them would then
//! end the process. So the thread reads segments only under a [`SegmentReading`], which is not given any more after the
//! index was dropped or closed: dropping waits until the thread has given its own back (a few rules are parsed), closing
//! until the thread has ended (a segment is built).

use super::Shared;
use super::compaction::AttributeNumbers;
use crate::error::{Error, Result};
use crate::index::sync::Mutex;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Time between two looks at a merge or a thread that is waited for: these take longer.
const PAUSE: Duration = Duration::from_millis(1);

/// State of the thread, and of merging as such.
#[derive(Default)]
pub(super) struct Background {
    state: Mutex<State>,
    /// The process that is merging segments, in the thread or in a call of `compact`. Not a lock: a child that is forked
    /// meanwhile would never get it.
    merging: Mutex<Option<u32>>,
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
    /// The process in which a merge reads segments: after a fork the child has no such merge.
    reading: Option<u32>,
}

enum Job {
    /// Merge some segments.
    Merge,
    /// Build all segments again, with the observed events.
    Everything,
    /// Build all segments again, without unused attributes.
    DropUnused,
}

impl Background {
    /// Waits until no other merge runs. The next one runs when the result is dropped.
    pub fn alone(&self) -> Alone<'_> {
        let process = std::process::id();
        loop {
            let mut merging = self.merging.lock();
            if *merging != Some(process) {
                *merging = Some(process);
                return Alone(self);
            }
            drop(merging);
            std::thread::sleep(PAUSE);
        }
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
    }
}

/// The right to read the segments that are merged.
pub(super) struct SegmentReading<'b>(&'b Background);

impl Drop for SegmentReading<'_> {
    fn drop(&mut self) {
        self.0.state.lock().reading = None;
    }
}

impl Shared {
    /// The right to read segments; an error once the index is dropped or closed. The caller merges alone.
    pub fn read_segments(&self) -> Result<SegmentReading<'_>> {
        let mut state = self.background.state.lock();
        if self.stopped.load(Ordering::Relaxed) {
            return Err(Error::Option("the index was closed; its segments are not merged any more".into()));
        }
        state.reading = Some(std::process::id());
        Ok(SegmentReading(&self.background))
    }

    /// Stops the thread and waits until it reads no segment.
    pub fn stop_reading(&self) {
        self.stop(|state| state.reading);
    }

    /// Stops the thread and waits until it has ended.
    pub fn stop_thread(&self) {
        self.stop(|state| state.running.or(state.reading));
    }

    /// Stops the thread and waits while it is `busy` in this process.
    fn stop(&self, busy: impl Fn(&State) -> Option<u32>) {
        loop {
            let state = self.background.state.lock();
            self.stopped.store(true, Ordering::Relaxed);
            if busy(&state) != Some(std::process::id()) {
                return;
            }
            drop(state);
            std::thread::sleep(PAUSE);
        }
    }

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
        let snapshot = self.snapshot();
        if state.observed {
            return Some(Job::Everything);
        }
        if snapshot.has_many_unused() {
            return Some(Job::DropUnused);
        }
        (!self.plan(&snapshot).is_empty()).then_some(Job::Merge)
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
                // The merge was given up.
                Ok(Err(_)) if self.stopped.load(Ordering::Relaxed) => {}
                Ok(Err(error)) => self.background.fail(error.to_string()),
                // Snapshots are published whole, so nothing is left half done.
                Err(_) => self.background.fail("a fault in tamis itself ended it".into()),
            }
        }
    }

    fn do_job(self: &Arc<Shared>, job: Job) -> Result<()> {
        match job {
            Job::Merge => self.merge().map(drop),
            Job::Everything => self.compact(AttributeNumbers::Kept),
            Job::DropUnused => self.compact(AttributeNumbers::Anew),
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

    #[test]
    fn a_stop_returns_when_the_thread_has_ended() {
        for rules in [100, 1_000, 4_000] {
            let index = Segmented::new(&Settings::default(), &OptionValues::defaults(INFO.options));
            for n in 0..rules {
                let parsed = Source::from("a = 1").parsed(&index.0.limits).expect("an expression");
                index.add(Id::from(n), parsed).expect("added");
            }
            index.stop();
            let state = index.0.background.state.lock();
            assert_eq!((state.running, state.reading), (None, None));
            assert!(index.0.job(&state).is_none(), "and none is started");
        }
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
