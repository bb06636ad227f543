//! Runs the definitions in `benchmarks/` and writes what it measured as JSON to standard output.
//!
//! `cargo run --release -p tamis-bench -- [--definitions FOLDER] [--only NAME,...] [--engines NAME,...] [--quick]
//! [--subscriptions N] [--write FOLDER] [--expect] [--list]`
//!
//! `--engines` measures only these competitors and the yardstick. `--subscriptions` gives every case that size, one
//! per set of parameters. `--write` writes the cases that Python runs as well to a folder. `--expect` only generates the cases
//! and prints their totals, for the definitions. Progress goes to standard error. A wrong answer ends the run with
//! exit code 1 and is all that is printed; a wrong option ends it with exit code 2.

use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::exit;
use std::time::Duration;
use tamis_bench::case::{Case, totals};
use tamis_bench::competitor::{self, TIGHT_SCAN};
use tamis_bench::definition::{CaseDefinition, Definition};
use tamis_bench::measure::{TimeBudget, measure};
use tamis_bench::report;

const THOROUGH: TimeBudget = TimeBudget {
    checking: Duration::from_secs(8),
    pass: Duration::from_millis(300),
    timing: Duration::from_secs(1),
    passes: 3,
};
const QUICK: TimeBudget = TimeBudget {
    checking: Duration::from_secs(2),
    pass: Duration::from_millis(20),
    timing: Duration::from_millis(50),
    passes: 3,
};
/// Maximum build time of a competitor that is built one subscription at a time.
const LONGEST_BUILD: Duration = Duration::from_secs(60);

struct Arguments {
    definitions: PathBuf,
    only: Option<Vec<String>>,
    engines: Option<Vec<String>>,
    quick: bool,
    subscriptions: Option<usize>,
    write: Option<PathBuf>,
    expect: bool,
    list: bool,
}

fn arguments() -> Arguments {
    let mut found = Arguments {
        definitions: "benchmarks".into(),
        only: None,
        engines: None,
        quick: false,
        subscriptions: None,
        write: None,
        expect: false,
        list: false,
    };
    let mut given = std::env::args().skip(1);
    while let Some(option) = given.next() {
        let mut value = || given.next().unwrap_or_else(|| fail(&format!("{option} needs a value")));
        let names = |text: String| Some(text.split(',').map(str::to_owned).collect());
        match option.as_str() {
            "--definitions" => found.definitions = value().into(),
            "--only" => found.only = names(value()),
            "--engines" => found.engines = names(value()),
            "--quick" => found.quick = true,
            "--subscriptions" => match value().parse() {
                Ok(number) if number > 0 => found.subscriptions = Some(number),
                _ => fail("--subscriptions needs a number above 0"),
            },
            "--write" => found.write = Some(value().into()),
            "--expect" => found.expect = true,
            "--list" => found.list = true,
            _ => fail(&format!(
                "unknown option {option}; known: --definitions FOLDER, --only NAME,..., --engines NAME,..., --quick, \
                 --subscriptions N, --write FOLDER, --expect, --list"
            )),
        }
    }
    found
}

fn fail(message: &str) -> ! {
    eprintln!("tamis-bench: {message}");
    exit(2)
}

fn main() {
    let arguments = arguments();
    let mut definitions = Definition::read_all(&arguments.definitions).unwrap_or_else(|error| fail(&error));
    let known: Vec<&str> = definitions.iter().map(|definition| definition.name.as_str()).collect();
    check_names("--only", arguments.only.as_deref(), &known);
    check_names("--engines", arguments.engines.as_deref(), &competitor::names());
    definitions
        .retain(|definition| arguments.only.as_ref().is_none_or(|only| only.contains(&definition.name)));
    if arguments.list {
        definitions.iter().for_each(|definition| println!("{}\t{}", definition.name, definition.title));
        return;
    }
    let mut results = Vec::new();
    for definition in &definitions {
        for case in cases(definition, &arguments) {
            results.push(run(definition, &case, &arguments));
        }
    }
    println!("{:#}", json!(results));
}

fn check_names(option: &str, given: Option<&[String]>, known: &[&str]) {
    let unknown = given.unwrap_or_default().iter().find(|name| !known.contains(&name.as_str()));
    if let Some(unknown) = unknown {
        fail(&format!("{option}: there is no {unknown:?}; there are: {}", known.join(", ")));
    }
}

/// The cases to run: the quick ones or the others. With `--subscriptions`, the first case of each label in that size;
/// its totals are then unknown.
fn cases(definition: &Definition, arguments: &Arguments) -> Vec<CaseDefinition> {
    let chosen = definition.cases.iter().filter(|case| case.quick == arguments.quick || arguments.expect);
    let Some(subscriptions) = arguments.subscriptions else { return chosen.cloned().collect() };
    let mut cases: Vec<CaseDefinition> = Vec::new();
    for case in chosen {
        if !cases.iter().any(|other| other.label == case.label) {
            cases.push(case.resized(subscriptions));
        }
    }
    cases
}

fn run(definition: &Definition, case: &CaseDefinition, arguments: &Arguments) -> Value {
    let title = [&definition.name, &case.label, &case.subscriptions.to_string()];
    let title = title.into_iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(" ");
    eprintln!("{title}: generating");
    let generator = definition.generator(case).unwrap_or_else(|error| fail(&error.to_string()));
    let drawn = Case::draw(&generator, case);
    eprintln!("{title}: matching {} events for the right answers", drawn.events.len());
    let answers = drawn.answers();
    let found = totals(&answers);
    if arguments.expect {
        eprintln!("{title}: expected = {{ matches = {}, sum = {} }}", found.matches, found.sum);
        return report::case(definition, case, found, None, None, Vec::new());
    }
    if let Some(expected) = case.expected.filter(|expected| *expected != found) {
        println!("{}", report::changed(&title, expected, found));
        exit(1);
    }
    let written = title.replace(' ', "-");
    let write = arguments.write.as_ref().filter(|_| case.python);
    if let Some(folder) = write {
        let folder = folder.join(&written);
        drawn
            .write(&answers, &folder)
            .unwrap_or_else(|error| fail(&format!("{}: {error}", folder.display())));
    }
    let budget = if arguments.quick { QUICK } else { THOROUGH };
    let (mut figures, mut reading) = (Vec::new(), None);
    for name in competitor::names() {
        if !is_selected(name, &drawn, arguments) {
            continue;
        }
        if let Some(reason) = definition.left_out(name, case.subscriptions) {
            figures.push(report::absent(name, reason));
            continue;
        }
        eprintln!("{title}: {name}");
        let mut built = match competitor::build(name, &drawn, case.options(name), LONGEST_BUILD) {
            Ok(built) => built,
            Err(reason) => {
                figures.push(report::absent(name, &reason));
                continue;
            }
        };
        match measure(&mut *built, &answers, budget) {
            Ok(timings) => figures.push(report::competitor(name, &*built, &timings)),
            Err(wrong) => {
                println!("{}", report::wrong(&title, name, &drawn, &wrong));
                exit(1);
            }
        }
        reading = reading.or(built.reading());
    }
    report::case(definition, case, found, write.map(|_| written.as_str()), reading, figures)
}

/// The yardstick is always measured: the tight scan where there is one, `scan` elsewhere.
fn is_selected(name: &str, case: &Case, arguments: &Arguments) -> bool {
    let is_yardstick = name == if case.tight.is_some() { TIGHT_SCAN } else { "scan" };
    let is_named = arguments.engines.as_ref().is_none_or(|engines| engines.iter().any(|given| given == name));
    is_yardstick || (is_named && (name != TIGHT_SCAN || case.tight.is_some()))
}
