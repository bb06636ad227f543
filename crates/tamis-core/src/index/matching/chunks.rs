//! How threads share many rows.

use crate::error::Interruption;
use crate::index::sync::Inside;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of threads to use: as given, or one per core.
pub(in crate::index) fn workers(threads: Option<NonZeroUsize>) -> usize {
    threads.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get)
}

/// Applies `work` to ranges of at most `chunk` rows on several threads; results are in the order of the rows. `threads` is
/// the number of workers, by default one per core. A worker that is done takes the next range. Unwinds if the end of the
/// call is requested.
pub(in crate::index) fn in_chunks<T: Send>(
    rows: usize,
    chunk: usize,
    threads: Option<NonZeroUsize>,
    work: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    let chunks = rows.div_ceil(chunk);
    let workers = workers(threads);
    let range = |at: usize| at * chunk..rows.min((at + 1) * chunk);
    if workers.min(chunks) <= 1 {
        let guarded = |at| {
            Interruption::unwind_if_requested();
            work(range(at))
        };
        return (0..chunks).map(guarded).collect();
    }
    let (next, interruption) = (AtomicUsize::new(0), Interruption::current());
    let worker = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= chunks || interruption.is_requested() {
                return done;
            }
            done.push((at, work(range(at))));
        }
    };
    // A fork waits for this thread if it holds a lock, and this thread waits for its workers.
    let inside = Inside::is_here();
    let other = || {
        let _inside = inside.then(Inside::enter_for_another);
        interruption.run(worker)
    };
    let mut done = std::thread::scope(|scope| {
        // If the system refuses a thread, fewer workers do.
        let start = |_| std::thread::Builder::new().spawn_scoped(scope, other).ok();
        let others: Vec<_> = (1..workers.min(chunks)).filter_map(start).collect();
        let mut done = worker();
        for other in others {
            match other.join() {
                Ok(more) => done.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    Interruption::unwind_if_requested();
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}
