//! What matching returns, and how many rows are shared out among threads.

use super::IdColumn;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The schema grew since the events were read: an attribute they left out may matter now. Read them again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stale;

/// The matches of many events.
#[derive(Clone, Debug)]
pub struct Matches {
    /// Event `i` matched `ids[offsets[i]..offsets[i + 1]]`; begins with 0.
    pub offsets: Vec<i64>,
    /// The ids, event by event.
    pub ids: IdColumn,
}

impl Default for Matches {
    fn default() -> Matches {
        Matches { offsets: vec![0], ids: IdColumn::default() }
    }
}

impl Matches {
    /// Appends the matches of further events.
    pub fn append(&mut self, other: Matches) {
        let base = self.ids.len() as i64;
        self.offsets.extend(other.offsets.iter().skip(1).map(|offset| base + offset));
        self.ids.append(other.ids);
    }
}

/// How many threads work, if so many are asked for.
pub(super) fn workers(threads: Option<NonZeroUsize>) -> usize {
    threads.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get)
}

/// Works through `rows` in stretches of `chunk`; results come back in the order of the rows. `threads` is the number of
/// workers, by default one per core. Workers take chunks in turn.
pub(super) fn in_chunks<T: Send>(
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
