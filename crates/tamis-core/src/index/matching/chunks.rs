//! How threads share many rows.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of threads to use: as given, or one per core.
pub(in crate::index) fn workers(threads: Option<NonZeroUsize>) -> usize {
    threads.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get)
}

/// Applies `work` to ranges of at most `chunk` rows on several threads; results are in the order of the rows. `threads` is
/// the number of workers, by default one per core. A worker that is done takes the next range.
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
        return (0..chunks).map(|at| work(range(at))).collect();
    }
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= chunks {
                return done;
            }
            done.push((at, work(range(at))));
        }
    };
    let mut done = std::thread::scope(|scope| {
        let others: Vec<_> = (1..workers.min(chunks)).map(|_| scope.spawn(worker)).collect();
        let mut done = worker();
        for other in others {
            match other.join() {
                Ok(more) => done.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}
