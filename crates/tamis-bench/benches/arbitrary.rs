//! Arbitrary expressions with shared subexpressions, after ABE-Gen: an engine against a tight scan, in one process.
//!
//! The tight scan evaluates every expression on the generator's own typed graph, in minimal code. It is slow, so it is
//! timed on 10 events; the expected answers for all events come from an evaluation of each node once, and an engine
//! with a wrong answer ends the run. Engines are built from text and then timed through the whole index, on one thread,
//! from the JSON text of an event to the ids. The fastest of three passes (`--passes`) counts.
//!
//! Two tables: `full`, the engine with default options at full size, and `variants`, the engine with one option changed
//! at a time, at a tenth of the size because each variant is built separately. Engines given by `--engine` replace the
//! default ones, in the full table unless `--only` names the other.
//!
//! `cargo bench -p tamis-bench --bench arbitrary -- [--subs N] [--variant-subs N] [--events N] [--passes N]
//! [--engine NAME[,option=VALUE]...]... [--only full|variants] [--quick] [--json FILE]`

use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;
use tamis_bench::workload::abe::Abe;
use tamis_bench::workload::{self, Answer, TypedEvent, Workload};
use tamis_core::engine::registry::{OptionValue, Options};
use tamis_core::event::{JsonReader, Rows};
use tamis_core::index::{Id, Index, Settings, Source};

const DIMENSIONS: u64 = 1_000;
/// Events that the tight scan is timed on: one takes a second at a million expressions.
const SCANNED: usize = 10;

const ENGINE: &str = "a_tree";
/// The default, and one option changed each.
const VARIANTS: &[&str] = &[
    ENGINE,
    "a_tree,zero_suppression=false",
    "a_tree,propagation_on_demand=false",
    "a_tree,reorganize=false",
    "a_tree,self_adjust=false",
    "a_tree,access=random",
];

type Choice = (String, Options);

struct Arguments {
    subscriptions: usize,
    variant_subscriptions: usize,
    events: usize,
    passes: usize,
    engines: Vec<Choice>,
    only: Option<String>,
    json: Option<PathBuf>,
}

fn arguments() -> Arguments {
    let mut found = Arguments {
        subscriptions: 1_000_000,
        variant_subscriptions: 100_000,
        events: 200,
        passes: 3,
        engines: Vec::new(),
        only: None,
        json: None,
    };
    let mut given = std::env::args().skip(1);
    while let Some(option) = given.next() {
        let mut value = || given.next().unwrap_or_else(|| usage(&option));
        let number = |text: String| match text.parse() {
            Ok(number) if number > 0 => number,
            _ => usage(&option),
        };
        match option.as_str() {
            "--subs" => found.subscriptions = number(value()),
            "--variant-subs" => found.variant_subscriptions = number(value()),
            "--quick" => (found.subscriptions, found.variant_subscriptions) = (20_000, 20_000),
            "--events" => found.events = number(value()),
            "--passes" => found.passes = number(value()),
            "--engine" => found.engines.push(engine(&value()).unwrap_or_else(|| usage(&option))),
            "--only" => found.only = Some(value()),
            "--json" => found.json = Some(value().into()),
            // Cargo adds it.
            "--bench" => {}
            _ => usage(&option),
        }
    }
    if found.only.as_ref().is_some_and(|only| only != "full" && only != "variants") {
        usage("--only");
    }
    found
}

/// `name,option=value,...`; a value is a switch, a whole number, or a word.
fn engine(text: &str) -> Option<Choice> {
    let mut parts = text.split(',');
    let name = parts.next()?.to_owned();
    let option = |part: &str| {
        let (option, value) = part.split_once('=')?;
        let value = match (value.parse(), value.parse()) {
            (Ok(switch), _) => OptionValue::Bool(switch),
            (_, Ok(number)) => OptionValue::Int(number),
            _ => OptionValue::Text(value.to_owned()),
        };
        Some((option.to_owned(), value))
    };
    Some((name, parts.map(option).collect::<Option<_>>()?))
}

fn usage(option: &str) -> ! {
    eprintln!(
        "wrong or incomplete option {option}; known: --subs N, --variant-subs N, --events N, --passes N, \
         --engine NAME[,option=VALUE], --only full|variants, --quick, --json FILE"
    );
    std::process::exit(2)
}

fn main() {
    let arguments = arguments();
    let selected = |table: &str| arguments.only.as_ref().is_none_or(|only| only == table);
    let named = |names: &[&str]| names.iter().filter_map(|name| engine(name)).collect::<Vec<_>>();
    let mut results = Vec::new();
    let given = &arguments.engines;
    if selected("full") {
        let engines = if given.is_empty() { named(&[ENGINE]) } else { given.clone() };
        results.extend(table("full", arguments.subscriptions, &engines, &arguments));
    }
    if selected("variants") && (given.is_empty() || arguments.only.is_some()) {
        let engines = if given.is_empty() { named(VARIANTS) } else { given.clone() };
        results.extend(table("variants", arguments.variant_subscriptions, &engines, &arguments));
    }
    if let Some(path) = &arguments.json {
        std::fs::write(path, format!("{:#}\n", json!({"results": results}))).expect("a file to write to");
    }
}

/// What the rows of a table have in common.
struct Measure<'m> {
    table: &'m str,
    workload: &'m Abe,
    events: &'m [TypedEvent],
    answers: Vec<Answer>,
    /// Microseconds per event of the tight scan.
    scan_micros: f64,
    /// Bytes per subscription of the engine `scan`, which shares no subexpressions.
    unshared_bytes: usize,
    passes: usize,
}

/// An engine's row.
struct Figures {
    /// Microseconds per event.
    micros: f64,
    /// Seconds.
    build: f64,
    /// Bytes per subscription.
    engine_bytes: usize,
    /// Bytes per subscription.
    index_bytes: usize,
    stats: Vec<(&'static str, u64)>,
}

fn table(name: &str, subscriptions: usize, engines: &[Choice], arguments: &Arguments) -> Vec<Value> {
    let workload = Abe::new(subscriptions, DIMENSIONS);
    let events = &workload.events()[..arguments.events.min(workload.events().len())];
    let answers: Vec<Answer> = events.iter().map(|event| workload.answer_once(event)).collect();
    let scanned = events.len().min(SCANNED);
    let scan = |_| {
        let started = Instant::now();
        let plain: Vec<Answer> = events[..scanned].iter().map(|event| workload.answer(event)).collect();
        let took = started.elapsed();
        assert_eq!(plain, answers[..scanned], "{name}: the tight scan disagrees with the expected answers");
        took
    };
    let fastest = (0..arguments.passes).map(scan).min().unwrap_or_default();
    let scan_micros = fastest.as_secs_f64() * 1e6 / scanned as f64;
    let matches: u64 = answers.iter().map(|answer| answer.0).sum();
    println!(
        "{name}: {subscriptions} expressions, {DIMENSIONS} dimensions, {} events, {:.0} matches per event, answers \
         checked; the scan is timed on {scanned} events",
        events.len(),
        matches as f64 / events.len() as f64
    );
    println!(
        "  {:<34} {:>12} {:>9} {:>9} {:>12} {:>12}   against the first: time, build, engine bytes",
        "", "us/event", "ratio", "build s", "engine B/sub", "index B/sub"
    );
    println!("  {:<34} {scan_micros:>12.1} {:>9.1}", "tight scan", 1.0);
    let (unshared, _) = build(&workload, "scan", &Options::new());
    let (unshared_bytes, unshared_index) = bytes(&unshared, subscriptions);
    drop(unshared);
    println!(
        "  {:<34} {:>12} {:>9} {:>9} {unshared_bytes:>12} {unshared_index:>12}",
        "engine scan, nothing shared", "", "", ""
    );
    let measure = Measure {
        table: name,
        workload: &workload,
        events,
        answers,
        scan_micros,
        unshared_bytes,
        passes: arguments.passes,
    };
    let mut first = None;
    let mut rows = Vec::new();
    for (engine, options) in engines {
        let shown: Vec<String> = options.iter().map(|(option, value)| format!("{option}={value}")).collect();
        let figures = time(&measure, engine, options);
        rows.push(measure.as_json(engine, &shown, &figures));
        measure.show(&format!("{engine} {}", shown.join(" ")), &figures, first.as_ref());
        first.get_or_insert(figures);
    }
    rows
}

impl Measure<'_> {
    fn show(&self, label: &str, figures: &Figures, first: Option<&Figures>) {
        let Figures { micros, build, engine_bytes, index_bytes, stats } = figures;
        let against = first.map_or_else(String::new, |first| {
            let bytes = *engine_bytes as f64 / first.engine_bytes as f64;
            format!("   {:.2}, {:.2}, {bytes:.2}", micros / first.micros, build / first.build)
        });
        println!(
            "  {label:<34} {micros:>12.1} {:>9.1} {build:>9.2} {engine_bytes:>12} {index_bytes:>12}{against}",
            self.scan_micros / micros
        );
        let stats: Vec<String> = stats.iter().map(|(name, value)| format!("{name} {value}")).collect();
        println!("    {}", stats.join(", "));
    }

    fn as_json(&self, engine: &str, options: &[String], figures: &Figures) -> Value {
        let stats = figures.stats.iter().map(|(name, value)| ((*name).to_owned(), json!(value)));
        json!({
            "table": self.table,
            "subscriptions": self.workload.len(),
            "events": self.events.len(),
            "engine": engine,
            "options": options,
            "scan_microseconds_per_event": self.scan_micros,
            "microseconds_per_event": figures.micros,
            "ratio": self.scan_micros / figures.micros,
            "build_seconds": figures.build,
            "engine_bytes_per_subscription": figures.engine_bytes,
            "index_bytes_per_subscription": figures.index_bytes,
            "unshared_bytes_per_subscription": self.unshared_bytes,
            "stats": stats.collect::<serde_json::Map<_, _>>(),
        })
    }
}

/// An index over all expressions, and the seconds it took to build it from text.
fn build(workload: &Abe, engine: &str, options: &Options) -> (Index, f64) {
    let settings = Settings { engine: engine.into(), options: options.clone(), ..Settings::default() };
    let index = Index::new(settings).unwrap_or_else(|error| usage(&error.to_string()));
    let text = |n| (Id::from(n as i64), Source::from(workload.text(n).as_str()));
    let batch: Vec<(Id, Source)> = (0..workload.len()).map(text).collect();
    let started = Instant::now();
    index.add_many(batch).expect("valid expressions");
    let took = started.elapsed().as_secs_f64();
    (index, took)
}

/// Bytes per subscription, of the engine and of the whole index.
fn bytes(index: &Index, subscriptions: usize) -> (usize, usize) {
    let memory = index.memory();
    let total = memory.engine + memory.ids + memory.texts + memory.attributes;
    (memory.engine / subscriptions, total / subscriptions)
}

fn time(measure: &Measure<'_>, engine: &str, options: &Options) -> Figures {
    let (index, build) = build(measure.workload, engine, options);
    let schema = index.schema();
    let events: Vec<String> = measure.events.iter().map(workload::json).collect();
    let (mut reader, mut rows) = (JsonReader::default(), Rows::default());
    let mut matched = || {
        rows.clear();
        for event in &events {
            reader.read(event.as_bytes(), &schema, &mut rows).expect("valid JSON");
        }
        index.match_rows(&schema, &rows, NonZeroUsize::new(1), false).expect("a fresh schema")
    };
    let found = matched();
    for (row, (answer, expected)) in workload::answers_of(&found).iter().zip(&measure.answers).enumerate() {
        assert_eq!(answer, expected, "{}: {engine} has a wrong answer for event {row}", measure.table);
    }
    let pass = |_| {
        let started = Instant::now();
        std::hint::black_box(matched());
        started.elapsed()
    };
    let fastest = (0..measure.passes).map(pass).min().unwrap_or_default();
    let (engine_bytes, index_bytes) = bytes(&index, measure.workload.len());
    Figures {
        micros: fastest.as_secs_f64() * 1e6 / events.len() as f64,
        build,
        engine_bytes,
        index_bytes,
        stats: index.engine_stats(),
    }
}
