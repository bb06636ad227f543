//! Random lives of all engines against the reference, for a number of operations or of seconds:
//! `cargo run --release -p tamis-baselines --example lives -- --operations 10000000`.
//!
//! Prints the totals so far every few seconds, one line of JSON each. A difference from the reference ends the
//! program with a message that names the life, and exit code 1.

use std::time::{Duration, Instant};
use tamis_baselines::ALL;
use tamis_conformance::lives::{self, Totals};
use tamis_conformance::seeded::seed;

/// Seconds between two lines of totals.
const INTERVAL: Duration = Duration::from_secs(5);

fn main() -> Result<(), String> {
    let (mut operations, mut seconds, mut first) = (u64::MAX, u64::MAX, 0);
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().and_then(|value| value.parse().ok());
        let value = value.ok_or_else(|| format!("{name} takes a whole number"))?;
        match name.as_str() {
            "--operations" => operations = value,
            "--seconds" => seconds = value,
            "--first" => first = value,
            _ => return Err(format!("{name}: expected --operations, --seconds or --first")),
        }
    }
    let (start, mut shown) = (Instant::now(), Instant::now());
    let totals = lives::run(ALL, seed(), first, |totals| {
        if shown.elapsed() >= INTERVAL {
            shown = Instant::now();
            show(totals, start);
        }
        totals.operations < operations && start.elapsed().as_secs() < seconds
    })?;
    show(totals, start);
    Ok(())
}

fn show(Totals { lives, operations, answers }: Totals, start: Instant) {
    let seconds = start.elapsed().as_secs_f64();
    println!(
        r#"{{"lives": {lives}, "operations": {operations}, "answers": {answers}, "seconds": {seconds:.1}}}"#
    );
}
