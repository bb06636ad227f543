//! The foundation: parsing and normalizing expressions, and `scan`, which every other engine is compared with.
//!
//! Measured on one thread, on the workloads of `workload/` (seed and sizes there):
//! - adding conjunctions given as text, in predicates per second, as a whole and by step;
//! - `scan`, in predicates evaluated per second. Their number is counted beforehand by an evaluation of the normalized
//!   expressions that stops where `scan` stops.
//!
//! Before anything is timed, the answers are compared with those of the workload; a wrong one ends the run.
//!
//! `cargo bench -p tamis-bench --bench foundation -- [--subs N] [--quick] [--json FILE] [--dump FOLDER]`

use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tamis_bench::workload::abe::Abe;
use tamis_bench::workload::conj::Conj;
use tamis_bench::workload::{self, Workload};
use tamis_core::Schema;
use tamis_core::engine::SubId;
use tamis_core::engine::registry::{Options, Registry};
use tamis_core::event::{Event, EventSlots, JsonReader, Rows};
use tamis_core::expr::{Limits, Missing, Node, NodeId, Normal, Normalizer, Root, parse};
use tamis_core::index::{Id, Index, Settings, Source};

/// Events per pass.
const EVENTS: usize = 5;
/// Passes, of which the fastest counts.
const PASSES: usize = 3;

struct Arguments {
    subscriptions: usize,
    json: Option<PathBuf>,
    dump: Option<PathBuf>,
}

fn arguments() -> Arguments {
    let mut found = Arguments { subscriptions: 1_000_000, json: None, dump: None };
    let mut given = std::env::args().skip(1);
    while let Some(option) = given.next() {
        let mut value = || given.next().unwrap_or_else(|| usage(&option));
        match option.as_str() {
            "--subs" => found.subscriptions = value().parse().unwrap_or_else(|_| usage(&option)),
            "--quick" => found.subscriptions = 20_000,
            "--json" => found.json = Some(value().into()),
            "--dump" => found.dump = Some(value().into()),
            // Cargo adds it.
            "--bench" => {}
            _ => usage(&option),
        }
    }
    found
}

fn usage(option: &str) -> ! {
    eprintln!("wrong or incomplete option {option}; known: --subs N, --quick, --json FILE, --dump FOLDER");
    std::process::exit(2)
}

fn main() {
    let arguments = arguments();
    let n = arguments.subscriptions;
    let mut results = vec![add_many(&Conj::new(n, 100))];
    let mut run = |name: &str, workload: &dyn Workload| {
        if let Some(folder) = &arguments.dump {
            workload.dump(&folder.join(name)).expect("a folder to write to");
        }
        results.push(scan(name, workload));
    };
    run("conj_dense", &Conj::new(n, 100));
    run("conj_sparse", &Conj::new(n, 30_000));
    run("abe", &Abe::new(n, 1_000));
    if let Some(path) = &arguments.json {
        write_json(path, &json!({"subscriptions": n, "results": results}));
    }
}

fn write_json(path: &Path, value: &Value) {
    std::fs::write(path, format!("{value:#}\n")).expect("a file to write to");
}

fn rate(count: u64, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64() / 1e6
}

/// Adds all subscriptions of a workload as one batch, and times the steps one by one.
fn add_many(workload: &Conj) -> Value {
    let texts: Vec<String> = (0..workload.len()).map(|n| workload.text(n)).collect();
    let predicates = workload.predicates() as u64;
    let limits = Limits::default();

    let batch = texts.iter().enumerate().map(|(n, text)| (Id::from(n as i64), Source::from(text.as_str())));
    let index =
        Index::new(Settings { engine: "scan".into(), ..Settings::default() }).expect("scan is an engine");
    let started = Instant::now();
    let never = index.add_many(batch).expect("valid expressions");
    let total = started.elapsed();
    assert!(never.is_empty() && index.len() == texts.len());
    drop(index);

    let started = Instant::now();
    for text in &texts {
        std::hint::black_box(parse(text, &limits).expect("a valid expression"));
    }
    let parsing = started.elapsed();

    let mut engine = Registry::CORE
        .find("scan")
        .and_then(|scan| scan.create(&Options::new(), &limits))
        .expect("an engine");
    let (mut schema, mut normalizer, mut inserting) =
        (Schema::default(), Normalizer::default(), Duration::ZERO);
    for (block, texts) in texts.chunks(10_000).enumerate() {
        let parsed: Vec<_> =
            texts.iter().map(|text| parse(text, &limits).expect("a valid expression")).collect();
        let started = Instant::now();
        for (n, expr) in parsed.iter().enumerate() {
            let normal = normalizer.normalize(expr, &mut schema, Missing::Unknown);
            engine.insert(SubId((block * 10_000 + n) as u32), normal).expect("scan takes all");
        }
        inserting += started.elapsed();
    }

    println!("adding {} conjunctions, {predicates} predicates, as text, to scan", texts.len());
    println!("  {:<22} {:>10} {:>24}", "", "seconds", "million predicates/s");
    for (part, time) in [("all of add_many", total), ("parse", parsing), ("normalize and insert", inserting)]
    {
        println!("  {part:<22} {:>10.2} {:>24.2}", time.as_secs_f64(), rate(predicates, time));
    }
    json!({
        "name": "add_many",
        "predicates": predicates,
        "seconds": total.as_secs_f64(),
        "parse_seconds": parsing.as_secs_f64(),
        "normalize_and_insert_seconds": inserting.as_secs_f64(),
        "million_predicates_per_second": rate(predicates, total),
    })
}

/// Matches [`EVENTS`] events with `scan`.
fn scan(name: &str, workload: &dyn Workload) -> Value {
    let index =
        Index::new(Settings { engine: "scan".into(), ..Settings::default() }).expect("scan is an engine");
    let texts = (0..workload.len()).map(|n| (Id::from(n as i64), Source::from(workload.text(n).as_str())));
    index.add_many(texts).expect("valid expressions");
    let schema = index.schema();
    let mut rows = Rows::default();
    for event in &workload.events()[..EVENTS] {
        JsonReader::default().read(workload::json(event).as_bytes(), &schema, &mut rows).expect("valid JSON");
    }
    let matches = check_answers(name, workload, &index, &schema, &rows);
    let evaluated = evaluated_predicates(workload, &schema, &rows);
    let pass = || {
        let started = Instant::now();
        index
            .match_rows(&schema, &rows, NonZeroUsize::new(1), false)
            .map(std::hint::black_box)
            .expect("a fresh schema");
        started.elapsed()
    };
    let time = (0..PASSES).map(|_| pass()).min().unwrap_or_default();
    let per_event = time.as_secs_f64() * 1e6 / EVENTS as f64;
    println!(
        "scan, {name}: {} subscriptions, {EVENTS} events, {matches} matches, answers checked",
        workload.len()
    );
    println!(
        "  {evaluated} predicates evaluated, {per_event:.0} us/event, {:.1} million predicates/s",
        rate(evaluated, time)
    );
    json!({
        "name": format!("scan_{name}"),
        "events": EVENTS,
        "matches": matches,
        "predicates_evaluated": evaluated,
        "microseconds_per_event": per_event,
        "million_predicates_per_second": rate(evaluated, time),
        "engine_bytes": index.memory().engine,
    })
}

/// Ends the run on a wrong answer; returns the number of matches.
fn check_answers(name: &str, workload: &dyn Workload, index: &Index, schema: &Schema, rows: &Rows) -> u64 {
    let found = index.match_rows(schema, rows, NonZeroUsize::new(1), false).expect("a fresh schema");
    let answers = workload::answers_of(&found);
    for (row, (answer, event)) in answers.iter().zip(&workload.events()[..EVENTS]).enumerate() {
        assert_eq!(*answer, workload.answer(event), "{name}: wrong answer for event {row}");
    }
    answers.iter().map(|answer| answer.0).sum()
}

/// Number of predicates that `scan` evaluates: operands from left to right until one decides, shared connectives once.
fn evaluated_predicates(workload: &dyn Workload, schema: &Schema, rows: &Rows) -> u64 {
    let (mut schema, mut normalizer) = (schema.clone(), Normalizer::default());
    let mut slots: Vec<EventSlots> = (0..rows.len()).map(|_| EventSlots::default()).collect();
    let events: Vec<Event<'_>> =
        slots.iter_mut().enumerate().map(|(row, slots)| slots.load(rows, row, schema.len())).collect();
    let mut evaluated = 0;
    for n in 0..workload.len() {
        let expr = parse(&workload.text(n), &Limits::default()).expect("a valid expression");
        let normal = normalizer.normalize(&expr, &mut schema, Missing::Unknown);
        let Root::Node(root) = normal.root() else { continue };
        for event in &events {
            let mut evaluation =
                Evaluation { normal, event, known: vec![None; normal.nodes().len()], evaluated: 0 };
            evaluation.holds(root);
            evaluated += evaluation.evaluated;
        }
    }
    evaluated
}

/// Evaluates one expression for one event as `scan` does, and counts predicates.
struct Evaluation<'w> {
    normal: &'w Normal,
    event: &'w Event<'w>,
    /// By node, for connectives only: `scan` evaluates a predicate once per occurrence.
    known: Vec<Option<bool>>,
    evaluated: u64,
}

impl Evaluation<'_> {
    fn holds(&mut self, node: NodeId) -> bool {
        if let Some(known) = self.known[node as usize] {
            return known;
        }
        let shape = self.normal.nodes()[node as usize];
        let children = self.normal.children(shape);
        let held = match shape {
            Node::Leaf(predicate) => {
                self.evaluated += 1;
                return self.normal.predicates()[predicate as usize].holds(self.event);
            }
            Node::And { .. } => children.iter().all(|&child| self.holds(child)),
            Node::Or { .. } => children.iter().any(|&child| self.holds(child)),
        };
        self.known[node as usize] = Some(held);
        held
    }
}
