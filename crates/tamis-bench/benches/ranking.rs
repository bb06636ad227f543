//! The best k of the matches against all matches: `compiled` with random weights, on one thread.
//!
//! Conjunctions in few and in many dimensions, of which an event matches one in a thousand or one in ten. Every answer is
//! compared with that of a typed evaluation that sorts all matches, before anything is timed; then plain matching and
//! ranking are timed in alternation, and the fastest of some passes counts.
//!
//! `cargo bench -p tamis-bench --bench ranking -- [--subs N] [--only dense|sparse] [--passes N] [--quick]`

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};
use tamis_bench::random::Random;
use tamis_bench::workload::conj::Conj;
use tamis_bench::workload::{self, Workload};
use tamis_core::event::{JsonReader, Rows};
use tamis_core::index::{EventWeights, Groups, Id, Index, Settings, Source, TopK, Weighting};

const KS: [usize; 3] = [1, 5, 20];

/// Maximum events whose answers are compared: a typed evaluation takes 10 ms each.
const CHECKED: usize = 100;

struct Arguments {
    subscriptions: usize,
    only: Option<String>,
    passes: usize,
}

fn arguments() -> Arguments {
    let mut found = Arguments { subscriptions: 1_000_000, only: None, passes: 5 };
    let mut given = std::env::args().skip(1);
    while let Some(option) = given.next() {
        let mut value = || given.next().unwrap_or_else(|| usage(&option));
        match option.as_str() {
            "--subs" => found.subscriptions = value().parse().unwrap_or_else(|_| usage(&option)),
            "--quick" => found.subscriptions = 20_000,
            "--only" => found.only = Some(value()),
            "--passes" => found.passes = value().parse().unwrap_or_else(|_| usage(&option)),
            // Cargo adds it.
            "--bench" => {}
            _ => usage(&option),
        }
    }
    found
}

fn usage(option: &str) -> ! {
    eprintln!(
        "wrong or incomplete option {option}; known: --subs N, --only dense|sparse, --passes N, --quick"
    );
    std::process::exit(2)
}

/// The text of each subscription with a weight for each predicate, and the sum of these.
fn weighted(workload: &Conj) -> Vec<(String, f64)> {
    let mut random = Random::new();
    let weighted = |n: usize| {
        let mut sum = 0.0;
        let parts: Vec<String> = workload
            .text(n)
            .split(" and a")
            .enumerate()
            .map(|(at, part)| {
                let weight = random.below(1_000) as f64 / 100.0;
                sum += weight;
                format!("{}{part} ^ {weight}", if at == 0 { "" } else { "a" })
            })
            .collect();
        (parts.join(" and "), sum)
    };
    (0..workload.len()).map(weighted).collect()
}

fn main() {
    let arguments = arguments();
    for (name, dimensions) in [("dense", 100), ("sparse", 30_000)] {
        for (share, events) in [("0.1%", 1_000), ("10%", 10)] {
            if arguments.only.as_ref().is_none_or(|only| only == name) {
                let workload = Conj::around(arguments.subscriptions, dimensions, events);
                run(&format!("{name}, {share} matching"), &workload, arguments.passes);
            }
        }
    }
}

fn run(name: &str, workload: &Conj, passes: usize) {
    let rules = weighted(workload);
    let index = Index::new(Settings { engine: "compiled".into(), ..Settings::default() }).expect("an index");
    let started = Instant::now();
    let batch =
        rules.iter().enumerate().map(|(n, (text, _))| (Id::from(n as i64), Source::from(text.as_str())));
    index.add_many(batch).expect("valid expressions");
    let build = started.elapsed().as_secs_f64();
    let memory = index.memory();

    let (schema, mut rows, mut reader) = (index.schema(), Rows::default(), JsonReader::default());
    for event in workload.events() {
        reader.read(workload::json(event).as_bytes(), &schema, &mut rows).expect("valid JSON");
    }
    let one = NonZeroUsize::new(1);
    let none = EventWeights::default();
    let rank = |top_k: TopK<'_>| {
        let ranked = index.top_k_rows(&schema, &rows, top_k, Weighting::Same(&none), one);
        ranked.expect("a fresh schema").expect("scores")
    };
    let groups = Groups::new((0..rules.len() as i64).map(|id| (Id::from(id), Id::from(id % 1_000))));
    let grouped = TopK { k: 5, groups: Some((&groups, NonZeroUsize::MIN)) };
    check(workload, &rules, |k| rank(k.into()), &rank(grouped));

    let matches = index.match_rows(&schema, &rows, one, false).expect("a fresh schema");
    let time = |work: &dyn Fn()| {
        let started = Instant::now();
        work();
        started.elapsed()
    };
    let plain = || drop(std::hint::black_box(index.match_rows(&schema, &rows, one, false)));
    let mut fastest = [Duration::MAX; KS.len() + 2];
    // The second pass is batched, and the faster way is known from the third on.
    plain();
    for _ in 0..passes {
        fastest[0] = fastest[0].min(time(&plain));
        for (at, k) in KS.into_iter().enumerate() {
            fastest[at + 1] = fastest[at + 1].min(time(&|| drop(std::hint::black_box(rank(k.into())))));
        }
        let last = fastest.len() - 1;
        fastest[last] = fastest[last].min(time(&|| drop(std::hint::black_box(rank(grouped)))));
    }
    let micros = |duration: Duration| duration.as_secs_f64() * 1e6 / workload.events().len() as f64;
    println!(
        "{name}: {} rules, {} events, {:.0} matches per event, answers checked; build {build:.2} s, engine {} B/rule",
        workload.len(),
        workload.events().len(),
        matches.ids.len() as f64 / workload.events().len() as f64,
        memory.engine / workload.len(),
    );
    println!("  {:<24} {:>10.1} us/event", "all matches", micros(fastest[0]));
    let labels = KS.map(|k| format!("top {k}")).into_iter().chain(["top 5 of 1,000 groups".into()]);
    for (label, duration) in labels.zip(&fastest[1..]) {
        let ratio = fastest[0].as_secs_f64() / duration.as_secs_f64();
        println!("  {label:<24} {:>10.1} us/event {ratio:>8.2} times as fast", micros(*duration));
    }
}

/// Compares the best with sorting all matches of a typed evaluation.
fn check(
    workload: &Conj,
    rules: &[(String, f64)],
    rank: impl Fn(usize) -> tamis_core::index::RankedMatches,
    grouped: &tamis_core::index::RankedMatches,
) {
    let ranked = KS.map(&rank);
    for (row, event) in workload.events().iter().enumerate().take(CHECKED) {
        let mut all: Vec<(f64, u32)> =
            workload.matching(event).into_iter().map(|n| (rules[n as usize].1, n)).collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let found = |ranked: &tamis_core::index::RankedMatches| -> Vec<(f64, Id)> {
            let ends = &ranked.matches.offsets[row..row + 2];
            (ends[0] as usize..ends[1] as usize)
                .map(|at| (ranked.scores[at], ranked.matches.ids.get(at)))
                .collect()
        };
        let expected = |n: &(f64, u32)| (n.0, Id::from(i64::from(n.1)));
        for (k, ranked) in KS.iter().zip(&ranked) {
            let expected: Vec<_> = all.iter().take(*k).map(expected).collect();
            assert_eq!(found(ranked), expected, "top {k} of event {row}");
        }
        let mut seen = std::collections::HashSet::new();
        let first = all.iter().filter(|(_, n)| seen.insert(n % 1_000)).take(5).map(expected);
        assert_eq!(found(grouped), first.collect::<Vec<_>>(), "the best of groups of event {row}");
    }
}
