//! Correctness first, then time.
//!
//! A few events give an estimate of the time per event; if all events would exceed the budget, only the first ones are
//! used. Every answer to a used event is compared with the right one, from the call for one event and from the call for
//! many, before the first pass is timed. Passes are repeated until the budget is used up; the median is reported.

use crate::case::Answers;
use crate::competitor::Competitor;
use std::time::{Duration, Instant};

/// Minimum events per measurement: with fewer, the choice of events outweighs the competitor.
const FEWEST: usize = 10;

/// Time limits of one measurement.
#[derive(Clone, Copy, Debug)]
pub struct TimeBudget {
    /// All answers of a competitor, once.
    pub checking: Duration,
    /// One pass over the events; fewer events are timed where all would take longer.
    pub pass: Duration,
    /// All passes of one kind of call.
    pub timing: Duration,
    /// Minimum number of passes, unless they exceed five times `timing`.
    pub passes: usize,
}

/// Figures of one kind of call.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Microseconds per event: the median of all passes.
    pub micros: f64,
    /// Microseconds per event of the fastest and of the slowest pass.
    pub spread: (f64, f64),
    /// Events per pass.
    pub events: usize,
    /// Number of passes.
    pub passes: usize,
}

/// Figures of a competitor.
pub struct Timings {
    /// Events whose answers were compared.
    pub checked: usize,
    /// One call per event.
    pub single: Timing,
    /// One call for all events, where there is such a call.
    pub batch: Option<Timing>,
}

/// A wrong answer.
pub struct WrongAnswer {
    /// The event's number.
    pub event: usize,
    /// Numbers that should have been found.
    pub missing: Vec<u32>,
    /// Numbers that should not, or that were found twice.
    pub surplus: Vec<u32>,
}

/// Times a competitor after all its answers proved right.
pub fn measure(
    competitor: &mut dyn Competitor,
    answers: &Answers,
    budget: TimeBudget,
) -> Result<Timings, WrongAnswer> {
    let cost = cost(competitor, answers.len());
    let within = |time: Duration| {
        ((time.as_secs_f64() / cost) as usize).clamp(answers.len().min(FEWEST), answers.len())
    };
    let checked = within(budget.checking);
    for (event, right) in answers.iter().enumerate().take(checked) {
        compare(competitor.is_exact(), event, &competitor.numbers(event), right)?;
    }
    for (event, found) in competitor.numbers_of_many(checked).unwrap_or_default().iter().enumerate() {
        compare(competitor.is_exact(), event, found, &answers[event])?;
    }
    let events = within(budget.pass).min(checked);
    let single = passes(events, budget, || {
        for event in 0..events {
            std::hint::black_box(competitor.one(event));
        }
    });
    let has_batch = competitor.many(events);
    let batch = has_batch.then(|| {
        passes(events, budget, || {
            competitor.many(events);
        })
    });
    Ok(Timings { checked, single, batch })
}

/// Estimated seconds per event.
fn cost(competitor: &mut dyn Competitor, events: usize) -> f64 {
    let few = events.min(3);
    // The first call pays for lazily built parts.
    competitor.one(0);
    let started = Instant::now();
    for event in 0..few {
        std::hint::black_box(competitor.one(event));
    }
    (started.elapsed().as_secs_f64() / few as f64).max(1e-9)
}

fn passes(events: usize, budget: TimeBudget, mut pass: impl FnMut()) -> Timing {
    let mut taken: Vec<f64> = Vec::new();
    let started = Instant::now();
    loop {
        let begun = Instant::now();
        pass();
        taken.push(begun.elapsed().as_secs_f64() * 1e6 / events as f64);
        let elapsed = started.elapsed();
        let are_enough = taken.len() >= budget.passes || elapsed > 5 * budget.timing;
        if are_enough && elapsed >= budget.timing {
            break;
        }
    }
    taken.sort_by(f64::total_cmp);
    Timing {
        micros: taken[taken.len() / 2],
        spread: (taken[0], taken[taken.len() - 1]),
        events,
        passes: taken.len(),
    }
}

/// A competitor that is not exact may find more, but each once.
fn compare(is_exact: bool, event: usize, found: &[u32], right: &[u32]) -> Result<(), WrongAnswer> {
    if found == right {
        return Ok(());
    }
    let missing: Vec<u32> =
        right.iter().filter(|number| found.binary_search(number).is_err()).copied().collect();
    let twice = found.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
    let surplus = found.iter().filter(|number| right.binary_search(number).is_err()).copied();
    let surplus: Vec<u32> = if is_exact { surplus.chain(twice).collect() } else { twice.collect() };
    match missing.is_empty() && surplus.is_empty() {
        true => Ok(()),
        false => Err(WrongAnswer { event, missing, surplus }),
    }
}
