//! Parsing many expressions ahead of their insertion, on other cores.
//!
//! Each worker has two channels, one for texts and one for results. Chunks are dealt to the workers in turn and their
//! results are received in the same turn, which keeps the order of the batch.

use crate::error::Result;
use crate::expr::Expr;
use std::collections::VecDeque;
use std::sync::mpsc::channel;

/// Minimum expressions for which threads are started; fewer are parsed on the inserting thread.
const MIN_FOR_THREADS: usize = 256;
/// Expressions per message to a worker. Two messages per worker are in memory at a time.
const CHUNK: usize = 64;
/// Maximum workers: insertion takes longer than parsing, so more would be idle.
const MAX_WORKERS: usize = 4;

/// A parsed expression and its text.
pub(in crate::index) type Parsed = (Box<str>, Expr);

/// A message to a worker.
struct Work<S> {
    sources: Vec<S>,
    /// Inserted expressions to drop: freeing memory is fastest on the thread that allocated it.
    used: Vec<Expr>,
}

/// Parses the sources of a batch and calls `take` with each result and its label, in order, until `take` returns an error.
/// `take` returns the expression, unless it keeps it, for its worker to drop.
pub(in crate::index) fn parse_ahead<L, S: Send, P: Send>(
    mut batch: impl Iterator<Item = (L, S)>,
    parse: impl Fn(S) -> Result<P> + Sync,
    mut take: impl FnMut(L, Result<P>) -> Result<Option<Expr>>,
) -> Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let first: Vec<(L, S)> = batch.by_ref().take(MIN_FOR_THREADS).collect();
    let workers = if first.len() < MIN_FOR_THREADS { 0 } else { (cores - 1).min(MAX_WORKERS) };
    let mut batch = first.into_iter().chain(batch).fuse();
    std::thread::scope(|scope| {
        let parse = &parse;
        let start_worker = |_| {
            let (send_work, work) = channel::<Work<S>>();
            let (send_parsed, parsed) = channel::<Vec<Result<P>>>();
            let worker = move || {
                for Work { sources, used } in work {
                    drop(used);
                    if send_parsed.send(sources.into_iter().map(parse).collect()).is_err() {
                        return;
                    }
                }
            };
            // If the system refuses a thread, fewer workers do.
            std::thread::Builder::new().spawn_scoped(scope, worker).ok()?;
            Some((send_work, parsed))
        };
        let workers: Vec<_> = (0..workers).filter_map(start_worker).collect();
        if workers.is_empty() {
            return batch.try_for_each(|(label, source)| take(label, parse(source)).map(drop));
        }
        // Chunks being parsed, in order: the worker and the labels.
        let mut in_flight = VecDeque::new();
        let mut used: Vec<Vec<Expr>> = workers.iter().map(|_| Vec::new()).collect();
        let mut turns = (0..workers.len()).cycle();
        loop {
            while in_flight.len() < 2 * workers.len() {
                let (labels, sources): (Vec<L>, Vec<S>) = batch.by_ref().take(CHUNK).unzip();
                let (false, Some(worker)) = (labels.is_empty(), turns.next()) else { break };
                let work = Work { sources, used: std::mem::take(&mut used[worker]) };
                // A worker ends early only by a panic, which the scope reports.
                let _ = workers[worker].0.send(work);
                in_flight.push_back((worker, labels));
            }
            let Some((worker, labels)) = in_flight.pop_front() else { return Ok(()) };
            let Ok(parsed) = workers[worker].1.recv() else { return Ok(()) };
            for (label, parsed) in labels.into_iter().zip(parsed) {
                used[worker].extend(take(label, parsed)?);
            }
        }
    })
}
