//! Two claims of the OpIndex paper (PVLDB 2014) on `op_index`: disjunctions of conjunctions (DNF) against conjunctions of
//! disjunctions (CNF), and the prefix operator.
//!
//! `forms`: subscriptions of 1 to `clauses` clauses with 1 to 3 predicates each, over 20,000 attributes with 200 values;
//! events of 40 attributes. The same clauses are read as a DNF, matched with `form=dnf`, and as a CNF, matched with
//! `form=cnf`. One sweep varies the number of subscriptions, the other the number of clauses.
//!
//! `prefix`: subscriptions of 1 to 7 predicates over 10,000 integer and 100 text attributes, of which a given percentage are
//! prefixes of words and the others equalities of integers; events of 20 integers and 20 words. One sweep varies the
//! percentage, the other the length of the prefixes.
//!
//! `scan` answers the first 20 events of each size first, and a wrong answer ends the run. Times are from rows to numbers,
//! on one thread; the fastest of five passes counts.
//!
//! `cargo bench -p tamis-bench --bench normal_forms -- [--only forms|prefix] [--subs N] [--quick]`

use std::num::NonZeroUsize;
use std::time::Instant;
use tamis_bench::random::Random;
use tamis_core::engine::registry::OptionValue;
use tamis_core::event::{JsonReader, Rows};
use tamis_core::index::{Id, Index, Matches, Settings, Source};

const PASSES: usize = 5;
/// Events that `scan` answers.
const CHECKED: usize = 20;
const EVENTS: usize = 200;

fn index(engine: &str, form: &str, subscriptions: &[String]) -> (Index, f64) {
    let options = match engine {
        "op_index" => [("form".to_owned(), OptionValue::Text(form.into()))].into(),
        _ => Default::default(),
    };
    let index =
        Index::new(Settings { engine: engine.into(), options, ..Settings::default() }).expect("an engine");
    let started = Instant::now();
    let batch = (0..).zip(subscriptions).map(|(n, text)| (Id::from(n), Source::from(text.as_str())));
    index.add_many(batch).expect("valid expressions");
    (index, started.elapsed().as_secs_f64())
}

fn rows(index: &Index, events: &[String]) -> Rows {
    let (mut reader, mut rows) = (JsonReader::default(), Rows::default());
    for event in events {
        reader.read(event.as_bytes(), &index.schema(), &mut rows).expect("valid JSON");
    }
    rows
}

fn matches(index: &Index, rows: &Rows, ordered: bool) -> Matches {
    index.match_rows(&index.schema(), rows, NonZeroUsize::new(1), ordered).expect("a fresh schema")
}

fn answers(index: &Index, events: &[String]) -> (Vec<i64>, Vec<Id>) {
    let Matches { offsets, ids } = matches(index, &rows(index, events), true);
    (offsets, (0..ids.len()).map(|at| ids.get(at)).collect())
}

/// Prints a line of results.
fn run(label: &str, form: &str, subscriptions: &[String], events: &[String]) {
    let (op_index, build) = index("op_index", form, subscriptions);
    let checked = &events[..CHECKED];
    let scan = answers(&index("scan", "", subscriptions).0, checked);
    assert_eq!(answers(&op_index, checked), scan, "{label}: a wrong answer");
    let rows = rows(&op_index, events);
    let found = matches(&op_index, &rows, false).ids.len();
    let pass = |_| {
        let started = Instant::now();
        std::hint::black_box(matches(&op_index, &rows, false));
        started.elapsed()
    };
    let fastest = (0..PASSES).map(pass).min().unwrap_or_default();
    let micros = fastest.as_secs_f64() * 1e6 / events.len() as f64;
    let stats = op_index.engine_stats();
    let stat = |name: &str| stats.iter().find(|(found, _)| *found == name).map_or(0, |(_, value)| *value);
    println!(
        "  {label:<34}{micros:>12.1}{:>12.1}{build:>10.2}{:>14}{:>14}{:>12}",
        found as f64 / events.len() as f64,
        stat("placements"),
        stat("entries"),
        op_index.memory().engine / subscriptions.len(),
    );
}

fn header(title: &str) {
    println!("{title}; answers checked");
    println!(
        "  {:<34}{:>12}{:>12}{:>10}{:>14}{:>14}{:>12}",
        "", "us/event", "matches", "build s", "placements", "entries", "B/sub"
    );
}

const ATTRIBUTES: u64 = 20_000;
const VALUES: u64 = 200;

fn number_event(random: &mut Random) -> String {
    let attributes = random.distinct(40, |random| random.below(ATTRIBUTES));
    let pairs = attributes.iter().map(|n| format!("\"a{n}\": {}", random.below(VALUES)));
    format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
}

fn clause(random: &mut Random, connective: &str) -> String {
    let size = random.between(1, 3) as usize;
    let attributes = random.distinct(size, |random| random.below(ATTRIBUTES));
    let predicate = |n: u64| {
        let operator = *random.pick(&["=", "<=", ">="]);
        format!("a{n} {operator} {}", random.below(VALUES))
    };
    format!("({})", attributes.into_iter().map(predicate).collect::<Vec<_>>().join(connective))
}

/// Clauses with `inner` between their predicates and `outer` between them.
fn clauses(random: &mut Random, most: u64, inner: &str, outer: &str) -> String {
    let count = random.between(1, most);
    (0..count).map(|_| clause(random, inner)).collect::<Vec<_>>().join(outer)
}

fn run_forms(subscriptions: usize, most: u64) {
    for (form, inner, outer) in [("dnf", " and ", " or "), ("cnf", " or ", " and ")] {
        let mut random = Random::new();
        let events: Vec<String> = (0..EVENTS).map(|_| number_event(&mut random)).collect();
        let texts: Vec<String> =
            (0..subscriptions).map(|_| clauses(&mut random, most, inner, outer)).collect();
        run(&format!("{form}, {subscriptions} of 1 to {most} clauses"), form, &texts, &events);
    }
}

const TEXTS: u64 = 100;
const INTEGERS: u64 = 10_000;
const WORDS: usize = 20_000;

fn words(random: &mut Random) -> Vec<String> {
    let mut word = |_| -> String {
        let length = 3 + random.below(8);
        (0..length).map(|_| char::from(b'a' + random.skewed(26) as u8)).collect()
    };
    (0..WORDS).map(&mut word).collect()
}

/// 20 texts and 20 integers.
fn word_event(words: &[String], random: &mut Random) -> String {
    let texts = random.distinct(20, |random| random.below(TEXTS));
    let integers = random.distinct(20, |random| random.below(INTEGERS));
    let texts: Vec<String> = texts.iter().map(|n| format!("\"t{n}\": \"{}\"", random.pick(words))).collect();
    let integers = integers.iter().map(|n| format!("\"a{n}\": {}", random.below(VALUES)));
    let pairs: Vec<String> = texts.into_iter().chain(integers).collect();
    format!("{{{}}}", pairs.join(", "))
}

fn word_subscription(words: &[String], percent: u64, length: usize, random: &mut Random) -> String {
    let size = random.between(1, 7) as usize;
    let attributes = random.distinct(size, |random| match random.percent(percent) {
        true => (true, random.below(TEXTS)),
        false => (false, random.below(INTEGERS)),
    });
    let predicate = |(is_text, n): (bool, u64)| {
        if is_text {
            let word = random.pick(words);
            format!("startswith(t{n}, '{}')", &word[..length.min(word.len())])
        } else {
            format!("a{n} = {}", random.below(VALUES))
        }
    };
    attributes.into_iter().map(predicate).collect::<Vec<_>>().join(" and ")
}

fn run_prefix(subscriptions: usize, percent: u64, length: usize) {
    let mut random = Random::new();
    let words = words(&mut random);
    let events: Vec<String> = (0..EVENTS).map(|_| word_event(&words, &mut random)).collect();
    let texts: Vec<String> =
        (0..subscriptions).map(|_| word_subscription(&words, percent, length, &mut random)).collect();
    run(&format!("{percent}% prefixes of {length} bytes"), "auto", &texts, &events);
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let after = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)
    };
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let given = after("--subs").and_then(|text| text.parse().ok());
    let subscriptions: usize = given.unwrap_or(if quick { 5_000 } else { 1_000_000 });
    let only = |name: &str| after("--only").is_none_or(|only| only == name);
    if only("forms") {
        header("DNF and CNF, by subscriptions");
        for part in [8, 4, 2, 1] {
            run_forms(subscriptions / part, 5);
        }
        header("DNF and CNF, by clauses");
        for most in [1, 3, 5, 7, 9] {
            run_forms(subscriptions / 4, most);
        }
    }
    if only("prefix") {
        header(&format!("{subscriptions} subscriptions, by share of prefixes"));
        for percent in [0, 25, 50, 75, 100] {
            run_prefix(subscriptions, percent, 3);
        }
        header(&format!("{subscriptions} subscriptions, by length of prefixes"));
        for length in [1, 2, 4, 5, 6] {
            run_prefix(subscriptions, 100, length);
        }
    }
}
