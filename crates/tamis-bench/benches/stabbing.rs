//! Table 3 of the PS-Tree paper (section 7.5): which of the stored intervals contain a point?
//!
//! The paper times 100K intervals and 100K points without saying how they are drawn; elsewhere its attributes have up to
//! 1,000 values. Here low ends and points are uniform over `--values` (1,000), lengths uniform up to `--length` (60,
//! which takes the Interval-Tree about as long as the paper reports).
//!
//! Before anything is timed, the structures answer all points, and the scan the first 200; every answer (number of
//! intervals, sum of their numbers) is compared, and a wrong one ends the run. Then each structure makes five passes on
//! one thread, the structures in turn, and the fastest pass counts: building, `count` over all points, and `stab` over
//! all points, which writes every number. The scan answers 200 points; its times are scaled up to all.
//!
//! `cargo bench -p tamis-bench --bench stabbing -- [--intervals N] [--points N] [--values N] [--length N]
//! [--quick] [--json FILE]`

use serde_json::{Value, json};
use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tamis_baselines::stabbing::{IntervalTree, SegmentTree};
use tamis_bench::random::Random;
use tamis_bench::workload::Answer;
use tamis_core::space::{PsStabbing, Stabbing, StabbingScan};

/// One line per structure. The first is the scan, the oracle of all others.
const STRUCTURES: &[Structure] = &[
    structure::<StabbingScan>("SCAN"),
    structure::<IntervalTree>("Interval-Tree"),
    structure::<SegmentTree>("Segment-Tree"),
    structure::<PsStabbing>("PS-Tree"),
];

/// The structure that ratios refer to; without it, the fastest of each column.
const REFERENCE: &str = "PS-Tree";

const PASSES: usize = 5;
/// Number of points that the scan answers.
const SCANNED: usize = 200;

type Interval = (i64, i64);

struct Structure {
    name: &'static str,
    build: fn(&[Interval]) -> Box<dyn Passes>,
}

const fn structure<S: Stabbing + 'static>(name: &'static str) -> Structure {
    Structure { name, build: |intervals| Box::new(S::build(intervals)) }
}

/// A structure under test. Dynamic dispatch per pass, not per query.
trait Passes {
    fn count_all(&self, points: &[i64]);
    fn stab_all(&self, points: &[i64]);
    fn answers(&self, points: &[i64]) -> Vec<Answer>;
    fn bytes(&self) -> usize;
    fn check(&self) -> Result<(), String>;
}

impl<S: Stabbing> Passes for S {
    fn count_all(&self, points: &[i64]) {
        for point in points {
            black_box(self.count(black_box(*point)));
        }
    }

    fn stab_all(&self, points: &[i64]) {
        let mut found = Vec::new();
        for point in points {
            found.clear();
            self.stab(black_box(*point), &mut found);
            black_box(found.as_slice());
        }
    }

    fn answers(&self, points: &[i64]) -> Vec<Answer> {
        let mut found = Vec::new();
        let mut answer = |&point| {
            found.clear();
            self.stab(point, &mut found);
            assert_eq!(self.count(point), found.len(), "count and stab differ at {point}");
            (found.len() as u64, found.iter().map(|number| u64::from(*number)).sum())
        };
        points.iter().map(&mut answer).collect()
    }

    fn bytes(&self) -> usize {
        self.memory()
    }

    fn check(&self) -> Result<(), String> {
        self.validate()
    }
}

struct Arguments {
    intervals: usize,
    points: usize,
    values: u64,
    length: u64,
    json: Option<PathBuf>,
}

fn arguments() -> Arguments {
    let mut found = Arguments { intervals: 100_000, points: 100_000, values: 1_000, length: 60, json: None };
    let mut given = std::env::args().skip(1);
    while let Some(option) = given.next() {
        let mut value = || given.next().unwrap_or_else(|| usage(&option));
        match option.as_str() {
            "--intervals" => found.intervals = value().parse().unwrap_or_else(|_| usage(&option)),
            "--points" => found.points = value().parse().unwrap_or_else(|_| usage(&option)),
            "--values" => found.values = value().parse().unwrap_or_else(|_| usage(&option)),
            "--length" => found.length = value().parse().unwrap_or_else(|_| usage(&option)),
            "--quick" => (found.intervals, found.points) = (10_000, 10_000),
            "--json" => found.json = Some(value().into()),
            // Cargo adds it.
            "--bench" => {}
            _ => usage(&option),
        }
    }
    found
}

fn usage(option: &str) -> ! {
    eprintln!(
        "wrong or incomplete option {option}; known: --intervals N, --points N, --values N, --length N, --quick, --json FILE"
    );
    std::process::exit(2)
}

/// The fastest pass of each kind, in time for all points.
struct Times {
    build: Duration,
    count: Duration,
    stab: Duration,
}

fn main() {
    let arguments = arguments();
    let mut random = Random::new();
    let mut interval = || {
        let low = random.below(arguments.values) as i64;
        (low, low + random.below(arguments.length + 1) as i64)
    };
    let intervals: Vec<Interval> = (0..arguments.intervals).map(|_| interval()).collect();
    let points: Vec<i64> = (0..arguments.points).map(|_| random.below(arguments.values) as i64).collect();
    let built: Vec<Box<dyn Passes>> = STRUCTURES.iter().map(|s| (s.build)(&intervals)).collect();
    let matches = check_answers(&built, &points);
    println!(
        "{} intervals of length up to {}, {} points, {matches} matches, seed {}; all answers checked",
        intervals.len(),
        arguments.length,
        points.len(),
        Random::SEED
    );
    let times = measure(&intervals, &points);
    let bytes: Vec<usize> = built.iter().map(|structure| structure.bytes()).collect();
    print_table(&times, &bytes, points.len());
    if let Some(path) = &arguments.json {
        let value = json!({
            "intervals": intervals.len(),
            "values": arguments.values,
            "length": arguments.length,
            "points": points.len(),
            "matches": matches,
            "seed": Random::SEED,
            "results": results(&times, &bytes),
        });
        std::fs::write(path, format!("{value:#}\n")).expect("a file to write to");
    }
}

/// The points that a structure answers: all, or the first [`SCANNED`] for the scan, structure 0.
fn share(structure: usize, points: &[i64]) -> &[i64] {
    if structure == 0 { &points[..points.len().min(SCANNED)] } else { points }
}

/// Ends the run on a wrong answer; returns the number of matches.
fn check_answers(built: &[Box<dyn Passes>], points: &[i64]) -> u64 {
    let answers = |n: usize| {
        built[n].check().expect("a valid structure");
        built[n].answers(share(n, points))
    };
    let (scanned, expected) = (answers(0), answers(1));
    let differs = |n: usize, answers: &[Answer], expected: &[Answer]| {
        if let Some(at) = answers.iter().zip(expected).position(|(answer, expected)| answer != expected) {
            let (name, point, answer) = (STRUCTURES[n].name, points[at], answers[at]);
            unreachable!("{name} answers {answer:?} at {point}, not {:?}", expected[at]);
        }
    };
    differs(1, &expected, &scanned);
    for n in 2..built.len() {
        differs(n, &answers(n), &expected);
    }
    expected.iter().map(|(count, _)| count).sum()
}

fn measure(intervals: &[Interval], points: &[i64]) -> Vec<Times> {
    let timed = |pass: &mut dyn FnMut()| {
        let started = Instant::now();
        pass();
        started.elapsed()
    };
    let pass = |(n, structure): (usize, &Structure)| {
        let mut built = None;
        let build = timed(&mut || built = Some((structure.build)(black_box(intervals))));
        let built = built.expect("the pass has run");
        let share = share(n, points);
        let scale = points.len() as f64 / share.len().max(1) as f64;
        Times {
            build,
            count: timed(&mut || built.count_all(share)).mul_f64(scale),
            stab: timed(&mut || built.stab_all(share)).mul_f64(scale),
        }
    };
    let mut best: Vec<Times> = STRUCTURES.iter().enumerate().map(pass).collect();
    for _ in 1..PASSES {
        for (best, time) in best.iter_mut().zip(STRUCTURES.iter().enumerate().map(pass)) {
            best.build = best.build.min(time.build);
            best.count = best.count.min(time.count);
            best.stab = best.stab.min(time.stab);
        }
    }
    best
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn print_table(times: &[Times], bytes: &[usize], points: usize) {
    let reference = STRUCTURES.iter().position(|structure| structure.name == REFERENCE);
    let ratios = |column: &dyn Fn(&Times) -> Duration| -> Vec<f64> {
        let fastest = times.iter().map(column).min().unwrap_or_default();
        let unit = reference.map_or(fastest, |n| column(&times[n]));
        times.iter().map(|time| column(time).as_secs_f64() / unit.as_secs_f64()).collect()
    };
    let (counts, stabs) = (ratios(&|time| time.count), ratios(&|time| time.stab));
    println!(
        "  {:<14} {:>10} {:>11} {:>9} {:>11} {:>9} {:>10}",
        "", "build ms", "count ms", "ratio", "stab ms", "ratio", "memory MB"
    );
    for (n, structure) in STRUCTURES.iter().enumerate() {
        println!(
            "  {:<14} {:>10.2} {:>11.2} {:>9.2} {:>11.2} {:>9.2} {:>10.2}",
            structure.name,
            millis(times[n].build),
            millis(times[n].count),
            counts[n],
            millis(times[n].stab),
            stabs[n],
            bytes[n] as f64 / 1e6
        );
    }
    let unit = if reference.is_some() { REFERENCE } else { "the fastest" };
    print!("  times for all points, ratios to {unit}");
    if points > SCANNED {
        print!("; {} answered {SCANNED} points, its times are scaled up", STRUCTURES[0].name);
    }
    println!();
}

fn results(times: &[Times], bytes: &[usize]) -> Vec<Value> {
    let result = |(n, structure): (usize, &Structure)| {
        json!({
            "name": structure.name,
            "build_milliseconds": millis(times[n].build),
            "count_milliseconds": millis(times[n].count),
            "stab_milliseconds": millis(times[n].stab),
            "bytes": bytes[n],
        })
    };
    STRUCTURES.iter().enumerate().map(result).collect()
}
