//! Answers first, times second.
//!
//! A competitor is asked about a few events to learn how slow it is; if all events would take too long, it competes on
//! the first ones only. Every answer to an event it competes on is compared with the right one, in both ways of
//! asking, before the first pass is timed. Then passes are repeated until the time is used up, and the median counts.

use crate::case::Answers;
use crate::competitor::Competitor;
use std::time::{Duration, Instant};

/// Events that even the slowest competes on: fewer would say more about the events than about the competitor.
const FEWEST: usize = 10;

/// How much time a measurement may take.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// All answers of a competitor, once.
    pub checking: Duration,
    /// One pass over the events; fewer events are timed where all would take longer.
    pub pass: Duration,
    /// All passes of one way of asking.
    pub timing: Duration,
    /// Passes at least, unless they take five times as long as they should.
    pub passes: usize,
}

/// Figures of one way of asking.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Microseconds an event: the median of all passes.
    pub micros: f64,
    /// The quickest and the slowest pass.
    pub spread: (f64, f64),
    /// Events of a pass.
    pub events: usize,
    /// Passes.
    pub passes: usize,
}

/// Figures of a competitor.
pub struct Timings {
    /// Events whose answers were compared.
    pub checked: usize,
    /// One call for each event.
    pub single: Timing,
    /// One call for all events, where there is such a call.
    pub batch: Option<Timing>,
}

/// A wrong answer.
pub struct Wrong {
    /// The event's number.
    pub event: usize,
    /// Numbers that should have been found.
    pub missing: Vec<u32>,
    /// Numbers that should not, or that were found twice.
    pub surplus: Vec<u32>,
}

/// Times a competitor that answers rightly.
pub fn measure(
    competitor: &mut dyn Competitor,
    answers: &Answers,
    patience: Patience,
) -> Result<Timings, Wrong> {
    let cost = cost(competitor, answers.len());
    let within = |time: Duration| {
        ((time.as_secs_f64() / cost) as usize).clamp(answers.len().min(FEWEST), answers.len())
    };
    let checked = within(patience.checking);
    for (event, right) in answers.iter().enumerate().take(checked) {
        compare(event, &competitor.numbers(event), right)?;
    }
    for (event, found) in competitor.numbers_of_many(checked).unwrap_or_default().iter().enumerate() {
        compare(event, found, &answers[event])?;
    }
    let events = within(patience.pass).min(checked);
    let single = passes(events, patience, || {
        for event in 0..events {
            std::hint::black_box(competitor.one(event));
        }
    });
    let has_batch = competitor.many(events);
    let batch = has_batch.then(|| {
        passes(events, patience, || {
            competitor.many(events);
        })
    });
    Ok(Timings { checked, single, batch })
}

/// Seconds an event, roughly.
fn cost(competitor: &mut dyn Competitor, events: usize) -> f64 {
    let few = events.min(3);
    // The first one pays for what is made on first use.
    competitor.one(0);
    let started = Instant::now();
    for event in 0..few {
        std::hint::black_box(competitor.one(event));
    }
    (started.elapsed().as_secs_f64() / few as f64).max(1e-9)
}

fn passes(events: usize, patience: Patience, mut pass: impl FnMut()) -> Timing {
    let mut taken: Vec<f64> = Vec::new();
    let started = Instant::now();
    loop {
        let begun = Instant::now();
        pass();
        taken.push(begun.elapsed().as_secs_f64() * 1e6 / events as f64);
        let elapsed = started.elapsed();
        let are_enough = taken.len() >= patience.passes || elapsed > 5 * patience.timing;
        if are_enough && elapsed >= patience.timing {
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

fn compare(event: usize, found: &[u32], right: &[u32]) -> Result<(), Wrong> {
    if found == right {
        return Ok(());
    }
    let missing = right.iter().filter(|number| found.binary_search(number).is_err()).copied().collect();
    let twice = found.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
    let surplus = found.iter().filter(|number| right.binary_search(number).is_err()).copied();
    Err(Wrong { event, missing, surplus: surplus.chain(twice).collect() })
}
