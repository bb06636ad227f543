//! Parsing many expressions ahead of the insertion, on the other cores.

use crate::error::Result;
use crate::expr::Expr;
use std::collections::VecDeque;
use std::sync::mpsc::channel;

/// How many expressions are worth a thread. Fewer are parsed where they are inserted.
const MANY: usize = 256;
/// How many a worker takes at a time. All that are on their way are in memory, and each may be large.
const CHUNK: usize = 64;
/// Inserting is the longer part: more workers would wait.
const WORKERS: usize = 4;

/// A parsed expression and its text.
pub(super) type Parsed = (Box<str>, Expr);

/// What a worker is sent.
struct Work<S> {
    sources: Vec<S>,
    /// Expressions that served their purpose. Who made them is quickest to free them.
    spent: Vec<Expr>,
}

/// Parses the sources of a batch and hands over each result with its label, in order, until `take` returns an
/// error. `take` gives the expression back when it needs it no more.
pub(super) fn parse_ahead<L, S: Send>(
    mut batch: impl Iterator<Item = (L, S)>,
    parse: impl Fn(S) -> Result<Parsed> + Sync,
    mut take: impl FnMut(L, Result<Parsed>) -> Result<Expr>,
) -> Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let first: Vec<(L, S)> = batch.by_ref().take(MANY).collect();
    let workers = if first.len() < MANY { 0 } else { (cores - 1).min(WORKERS) };
    let mut batch = first.into_iter().chain(batch).fuse();
    std::thread::scope(|scope| {
        let parse = &parse;
        let lane = |_| {
            let (send_work, work) = channel::<Work<S>>();
            let (send_parsed, parsed) = channel::<Vec<Result<Parsed>>>();
            let worker = move || {
                for Work { sources, spent } in work {
                    drop(spent);
                    if send_parsed.send(sources.into_iter().map(parse).collect()).is_err() {
                        return;
                    }
                }
            };
            // Without a thread there is a lane less.
            std::thread::Builder::new().spawn_scoped(scope, worker).ok()?;
            Some((send_work, parsed))
        };
        let lanes: Vec<_> = (0..workers).filter_map(lane).collect();
        if lanes.is_empty() {
            return batch.try_for_each(|(label, source)| take(label, parse(source)).map(drop));
        }
        let mut waiting = VecDeque::new();
        let mut spent: Vec<Vec<Expr>> = lanes.iter().map(|_| Vec::new()).collect();
        // Lanes take turns, so that results come back in the order they were sent.
        let mut turns = (0..lanes.len()).cycle();
        loop {
            while waiting.len() < 2 * lanes.len() {
                let (labels, sources): (Vec<L>, Vec<S>) = batch.by_ref().take(CHUNK).unzip();
                let (false, Some(lane)) = (labels.is_empty(), turns.next()) else { break };
                let work = Work { sources, spent: std::mem::take(&mut spent[lane]) };
                // A worker ends early only by a panic, which the scope reports.
                let _ = lanes[lane].0.send(work);
                waiting.push_back((lane, labels));
            }
            let Some((lane, labels)) = waiting.pop_front() else { return Ok(()) };
            let Ok(parsed) = lanes[lane].1.recv() else { return Ok(()) };
            for (label, parsed) in labels.into_iter().zip(parsed) {
                spent[lane].push(take(label, parsed)?);
            }
        }
    })
}
