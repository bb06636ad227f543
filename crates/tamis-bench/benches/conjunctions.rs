//! Conjunctions in few and in many dimensions, after BE-Gen: every engine against a tight scan, in one process.
//!
//! The tight scan is the fastest loop in minimal code: typed arrays, small integers, no kinds, no nulls, no ids. It is
//! specific to this workload. It answers every event first, and an engine with a wrong answer ends the run. Engines are
//! then timed through the whole index, on one thread, from the JSON text of an event to the ids; the fastest of three
//! passes (`--passes`) counts.
//!
//! `cargo bench -p tamis-bench --bench conjunctions -- [--subs N] [--engine NAME[,option=N]...]... [--observe]
//! [--passes N] [--only dense|sparse|gem-3|...|gem-9] [--quick] [--json FILE]`
//!
//! `gem-N` has the cases of Figure N of the GEM-Tree paper; they are run only if named.

use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;
use tamis_baselines::ALL;
use tamis_bench::workload::conj::Conj;
use tamis_bench::workload::gem::Gem;
use tamis_bench::workload::{self, Answer, Workload};
use tamis_core::engine::registry::{Family, OptionValue, Options};
use tamis_core::event::{JsonReader, Rows};
use tamis_core::index::{Id, Index, Settings, Source};

/// Events that the tight scan is timed on; it answers all of them.
const SCANNED: usize = 20;

struct Arguments {
    subscriptions: usize,
    engines: Vec<(String, Options)>,
    only: Option<String>,
    observe: bool,
    passes: usize,
    json: Option<PathBuf>,
}

fn arguments() -> Arguments {
    let mut found = Arguments {
        subscriptions: 1_000_000,
        engines: Vec::new(),
        only: None,
        observe: false,
        passes: 3,
        json: None,
    };
    let mut given = std::env::args().skip(1);
    while let Some(option) = given.next() {
        let mut value = || given.next().unwrap_or_else(|| usage(&option));
        match option.as_str() {
            "--subs" => found.subscriptions = value().parse().unwrap_or_else(|_| usage(&option)),
            "--quick" => found.subscriptions = 20_000,
            "--engine" => found.engines.push(engine(&value()).unwrap_or_else(|| usage(&option))),
            "--only" => found.only = Some(value()),
            "--passes" => found.passes = value().parse().unwrap_or_else(|_| usage(&option)),
            "--observe" => found.observe = true,
            "--json" => found.json = Some(value().into()),
            // Cargo adds it.
            "--bench" => {}
            _ => usage(&option),
        }
    }
    if found.engines.is_empty() {
        let indexed = ALL.iter().filter(|engine| engine.family != Family::Baseline);
        found.engines = indexed.map(|engine| (engine.name.to_owned(), Options::new())).collect();
    }
    found
}

/// `name,option=value,...`, where a value is a number, true or false
fn engine(text: &str) -> Option<(String, Options)> {
    let mut parts = text.split(',');
    let name = parts.next()?.to_owned();
    let option = |part: &str| {
        let (option, value) = part.split_once('=')?;
        let value = value.parse().map(OptionValue::Bool).or_else(|_| value.parse().map(OptionValue::Int));
        Some((option.to_owned(), value.ok()?))
    };
    Some((name, parts.map(option).collect::<Option<_>>()?))
}

fn usage(option: &str) -> ! {
    eprintln!(
        "wrong or incomplete option {option}; known: --subs N, --engine NAME[,option=N], --only dense|sparse|gem-N, \
         --observe, --passes N, --quick, --json FILE"
    );
    std::process::exit(2)
}

fn main() {
    let arguments = arguments();
    let mut results = Vec::new();
    for (name, dimensions) in [("dense", 100), ("sparse", 30_000)] {
        if arguments.only.as_ref().is_none_or(|only| only == name) {
            results.extend(run(name, &Conj::new(arguments.subscriptions, dimensions), &arguments));
        }
    }
    let figure = arguments.only.as_ref().and_then(|only| only.strip_prefix("gem-")?.parse().ok());
    for (label, times, gem) in figure.map(Gem::figure).unwrap_or_default() {
        results.extend(run(&label, &gem.draw(arguments.subscriptions * times), &arguments));
    }
    if let Some(path) = &arguments.json {
        let all = json!({"subscriptions": arguments.subscriptions, "results": results});
        std::fs::write(path, format!("{all:#}\n")).expect("a file to write to");
    }
}

fn run(name: &str, workload: &Conj, arguments: &Arguments) -> Vec<Value> {
    let answers: Vec<Answer> = workload.events().iter().map(|event| workload.answer(event)).collect();
    let started = Instant::now();
    for event in workload.events().iter().take(SCANNED) {
        std::hint::black_box(workload.answer(event));
    }
    let scan = started.elapsed().as_secs_f64() * 1e6 / SCANNED.min(answers.len()) as f64;
    let matches: u64 = answers.iter().map(|answer| answer.0).sum();
    println!(
        "{name}: {} conjunctions, {} dimensions, {} events, {:.0} matches per event, answers checked",
        workload.len(),
        workload.dimensions(),
        answers.len(),
        matches as f64 / answers.len() as f64
    );
    println!(
        "  {:<44} {:>12} {:>9} {:>9} {:>12} {:>12}",
        "", "us/event", "ratio", "build s", "engine B/sub", "index B/sub"
    );
    println!("  {:<44} {scan:>12.1} {:>9.1}", "tight scan", 1.0);
    let engines = arguments.engines.iter();
    engines
        .map(|(engine, options)| time(name, workload, &answers, scan, engine, options, arguments))
        .collect()
}

#[allow(clippy::too_many_arguments, reason = "a benchmark's parameters are many")]
fn time(
    name: &str,
    workload: &Conj,
    answers: &[Answer],
    scan: f64,
    engine: &str,
    options: &Options,
    arguments: &Arguments,
) -> Value {
    let observe = arguments.observe;
    let settings = Settings { engine: engine.into(), options: options.clone(), ..Settings::default() };
    let index = Index::with_registry(ALL, settings).unwrap_or_else(|error| usage(&error.to_string()));
    let is_exact = ALL.find(engine).is_ok_and(|engine| engine.exact);
    let texts: Vec<String> = (0..workload.len()).map(|n| workload.text(n)).collect();
    let started = Instant::now();
    let batch = texts.iter().enumerate().map(|(n, text)| (Id::from(n as i64), Source::from(text.as_str())));
    index.add_many(batch).expect("valid expressions");
    let build = started.elapsed().as_secs_f64();
    drop(texts);

    let schema = index.schema();
    let events: Vec<String> = workload.events().iter().map(workload::json).collect();
    let (mut reader, mut rows) = (JsonReader::default(), Rows::default());
    let mut matched = |check: bool| {
        rows.clear();
        for event in &events {
            reader.read(event.as_bytes(), &schema, &mut rows).expect("valid JSON");
        }
        if check && observe {
            index.observe_rows(&schema, &rows).expect("a fresh schema");
        }
        index.match_rows(&schema, &rows, NonZeroUsize::new(1), false).expect("a fresh schema")
    };
    let found = matched(true);
    for (row, (answer, expected)) in workload::answers_of(&found).iter().zip(answers).enumerate() {
        let right = if is_exact { answer == expected } else { answer.0 >= expected.0 };
        assert!(right, "{name}: {engine} has a wrong answer for event {row}");
    }
    let surplus = found.ids.len() as u64 - answers.iter().map(|answer| answer.0).sum::<u64>();
    let pass = |_| {
        let started = Instant::now();
        std::hint::black_box(matched(false));
        started.elapsed()
    };
    let fastest = (0..arguments.passes).map(pass).min().unwrap_or_default();
    let micros = fastest.as_secs_f64() * 1e6 / answers.len() as f64;
    let memory = index.memory();
    let total = memory.engine + memory.ids + memory.texts + memory.attributes;
    let (per_engine, per_index) = (memory.engine / workload.len(), total / workload.len());
    let shown: Vec<String> = options.iter().map(|(option, value)| format!("{option}={value}")).collect();
    let label = format!("{engine} {}{}", shown.join(" "), if observe { " observed" } else { "" });
    println!(
        "  {label:<44} {micros:>12.1} {:>9.1} {build:>9.2} {per_engine:>12} {per_index:>12}",
        scan / micros
    );
    if surplus > 0 {
        println!("  {:<44} {surplus} false positives", "");
    }
    json!({
        "workload": name,
        "engine": engine,
        "options": shown,
        "observed": observe,
        "false_positives": surplus,
        "scan_microseconds_per_event": scan,
        "microseconds_per_event": micros,
        "ratio": scan / micros,
        "build_seconds": build,
        "engine_bytes_per_subscription": per_engine,
        "index_bytes_per_subscription": per_index,
        "stats": index.engine_stats().into_iter().map(|(k, v)| (k.to_owned(), json!(v))).collect::<serde_json::Map<_, _>>(),
    })
}
