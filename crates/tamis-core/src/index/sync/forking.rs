//! Forks of a process whose threads use indexes.
//!
//! A fork copies the memory of all threads, but only the forking thread runs in the child. A lock that another thread holds
//! at that moment would stay locked in the child, and the data behind it would be half changed. So a thread enters a gate
//! before it waits for its first lock and leaves it after it has released its last one. [`before_fork`] closes the gate and
//! waits until all threads have left; [`after_fork_in_parent`] and [`after_fork_in_child`] open it. The host calls the three
//! around each fork (the Python binding through `os.register_at_fork`).
//!
//! Invariant: while the gate is closed, only the forking thread holds a lock of an index. So the child inherits whole states
//! and free locks.
//!
//! Cost: two atomic additions per outermost lock, on one of [`SHARDS`] counters. A fork takes as long as the longest update
//! that has begun, because an update holds its lock until it is done.

use crate::engine::shared::keyed_hash::keyed_hash;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::MutexGuard;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Number of counters. Threads are dealt to them in turn, so that few write to the same cache line.
const SHARDS: usize = 16;

/// Time between two looks at the gate: far below the cost of a fork.
const PAUSE: Duration = Duration::from_micros(100);

/// A counter that has a pair of cache lines for itself.
#[repr(align(128))]
struct Shard(AtomicUsize);

/// Threads inside the gate; a thread that turns back at a closed gate counts for a moment, too.
static INSIDE: [Shard; SHARDS] = [const { Shard(AtomicUsize::new(0)) }; SHARDS];

/// Forks that have begun and not ended: the gate is closed unless this is 0.
static FORKS: AtomicUsize = AtomicUsize::new(0);

/// Threads that have chosen a shard.
static THREADS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// How often this thread has entered and not left.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// The shard of this thread; [`SHARDS`] until it is chosen.
    static SHARD: Cell<usize> = const { Cell::new(SHARDS) };
    /// Whether this thread is forking. It may enter the closed gate: other at-fork handlers run on it.
    static IS_FORKING: Cell<bool> = const { Cell::new(false) };
}

fn counter() -> &'static AtomicUsize {
    if SHARD.get() == SHARDS {
        SHARD.set(THREADS.fetch_add(1, Ordering::Relaxed) % SHARDS);
    }
    &INSIDE[SHARD.get()].0
}

/// The right to hold locks. Bound to its thread: a guard of the standard library is not `Send`, but `Sync`.
pub(in crate::index) struct Inside(PhantomData<MutexGuard<'static, ()>>);

impl Inside {
    /// Enters the gate; waits while a fork is under way, unless this thread is inside already.
    pub fn enter() -> Inside {
        loop {
            if let Some(inside) = Inside::try_enter() {
                return inside;
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// As [`Inside::enter`]; `None` if it would wait.
    pub fn try_enter() -> Option<Inside> {
        if DEPTH.get() == 0 {
            let counter = counter();
            // Sequential consistency: either this thread sees the fork, or the fork sees this thread.
            counter.fetch_add(1, Ordering::SeqCst);
            if FORKS.load(Ordering::SeqCst) > 0 && !IS_FORKING.get() {
                counter.fetch_sub(1, Ordering::SeqCst);
                return None;
            }
        }
        Some(Inside::deeper())
    }

    /// Whether this thread is inside.
    pub fn is_here() -> bool {
        DEPTH.get() > 0
    }

    /// Enters the gate, closed or not, on behalf of a thread that is inside and waits for this one.
    pub fn enter_for_another() -> Inside {
        if DEPTH.get() == 0 {
            counter().fetch_add(1, Ordering::SeqCst);
        }
        Inside::deeper()
    }

    fn deeper() -> Inside {
        DEPTH.set(DEPTH.get() + 1);
        Inside(PhantomData)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let depth = DEPTH.get() - 1;
        DEPTH.set(depth);
        if depth == 0 {
            counter().fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Waits until no other thread holds a lock of an index, and keeps it so. The thread that calls this then forks and calls
/// [`after_fork_in_parent`] in the parent, also if the fork fails, and [`after_fork_in_child`] in the child.
pub fn before_fork() {
    // Drawn now if it is not: another thread that draws it would never end in the child.
    keyed_hash(&());
    IS_FORKING.set(true);
    FORKS.fetch_add(1, Ordering::SeqCst);
    let own = usize::from(DEPTH.get() > 0);
    while INSIDE.iter().map(|shard| shard.0.load(Ordering::SeqCst)).sum::<usize>() > own {
        std::thread::sleep(PAUSE);
    }
}

/// Ends a fork in the parent: other threads go on.
pub fn after_fork_in_parent() {
    // Without `before_fork` there is nothing to end.
    if IS_FORKING.replace(false) {
        FORKS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Ends a fork in the child, which has no other thread: forks that others had begun do not end here, and nobody else is
/// inside.
pub fn after_fork_in_child() {
    IS_FORKING.set(false);
    FORKS.store(0, Ordering::SeqCst);
    INSIDE.iter().for_each(|shard| shard.0.store(0, Ordering::SeqCst));
    if DEPTH.get() > 0 {
        counter().store(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::sync::Mutex;
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc::channel;

    /// Other tests of this process only wait a moment longer for their locks.
    #[test]
    fn a_fork_waits_for_locks_and_locks_wait_for_a_fork() {
        let (locked, waiting, released) =
            (Mutex::<u32>::default(), AtomicBool::new(false), AtomicBool::new(false));
        let (entered, has_entered) = channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut value = locked.lock();
                let _ = entered.send(());
                while !waiting.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
                // The gate is closed by now, or will be: neither keeps a thread out that is inside.
                drop(Inside::enter());
                std::thread::scope(|workers| {
                    workers.spawn(|| drop(Inside::enter_for_another()));
                });
                *value = 1;
                released.store(true, Ordering::SeqCst);
            });
            has_entered.recv().expect("the thread has entered");
            waiting.store(true, Ordering::SeqCst);
            before_fork();
            assert!(released.load(Ordering::SeqCst), "a thread held a lock at the fork");
            let outsider = scope.spawn(|| *locked.lock());
            assert!(scope.spawn(|| Inside::try_enter().is_none()).join().expect("no panic"));
            assert_eq!(*locked.lock(), 1, "the forking thread is let in");
            *locked.lock() = 2;
            after_fork_in_parent();
            assert_eq!(outsider.join().expect("no panic"), 2, "the lock was free before the fork was over");
        });
    }
}
