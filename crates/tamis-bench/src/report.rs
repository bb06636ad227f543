//! The JSON of a run: one object per case, one per competitor within it.

use crate::case::Case;
use crate::competitor::Competitor;
use crate::definition::{CaseDefinition, Definition, Totals};
use crate::measure::{Timing, Timings, WrongAnswer};
use serde_json::{Value, json};
use std::time::Duration;

/// A case with all its measurements; `written` is the folder that `--write` put it in.
pub fn case(
    definition: &Definition,
    case: &CaseDefinition,
    totals: Totals,
    written: Option<&str>,
    reading: Option<Duration>,
    competitors: Vec<Value>,
) -> Value {
    let micros = reading.map(|time| time.as_secs_f64() * 1e6 / case.events as f64);
    json!({
        "workload": definition.name,
        "title": definition.title,
        "label": case.label,
        "subscriptions": case.subscriptions,
        "events": case.events,
        "seed": case.seed,
        "matches": totals.matches,
        "sum": totals.sum,
        "picture": case.picture,
        "written": written,
        "reading_json_microseconds_per_event": micros,
        "competitors": competitors,
    })
}

/// A competitor's figures.
pub fn competitor(name: &str, built: &dyn Competitor, timings: &Timings) -> Value {
    let bytes = built.bytes();
    json!({
        "name": name,
        "build_seconds": built.build().map(|time| time.as_secs_f64()),
        "engine_bytes_per_subscription": bytes.map(|(engine, _)| engine),
        "index_bytes_per_subscription": bytes.map(|(_, index)| index),
        "events_checked": timings.checked,
        "single": timing(&timings.single),
        "batch": timings.batch.as_ref().map(timing),
    })
}

fn timing(timing: &Timing) -> Value {
    json!({
        "microseconds_per_event": timing.micros,
        "quickest": timing.spread.0,
        "slowest": timing.spread.1,
        "events": timing.events,
        "passes": timing.passes,
    })
}

/// A competitor that has no figures, and why.
pub fn absent(name: &str, reason: &str) -> Value {
    json!({"name": name, "absent": reason})
}

/// The only output of a run in which a competitor gave a wrong answer.
pub fn wrong(title: &str, competitor: &str, case: &Case, wrong: &WrongAnswer) -> String {
    let few = |numbers: &[u32]| -> String {
        let shown = numbers.iter().take(5).map(|n| format!("\n    {n}: {}", case.subscriptions[*n as usize]));
        let more =
            if numbers.len() > 5 { format!("\n    and {} more", numbers.len() - 5) } else { String::new() };
        shown.collect::<String>() + &more
    };
    format!(
        "{title}: {competitor} is wrong about event {}: {}\n  not found: {}{}\n  found, but not right or twice: {}{}",
        wrong.event,
        crate::generate::json(&case.events[wrong.event]),
        wrong.missing.len(),
        few(&wrong.missing),
        wrong.surplus.len(),
        few(&wrong.surplus),
    )
}

/// The only output of a run whose generator does not produce the totals of the definition.
pub fn changed(title: &str, expected: Totals, found: Totals) -> String {
    format!(
        "{title}: its events match {} times with sum {}, but the definition says {} and {}: the generator has changed",
        found.matches, found.sum, expected.matches, expected.sum
    )
}
