//! BE*-Tree against BE-Tree, and the best k against all matches, on the workloads of the BE*-Tree paper (figures 6 to 9).
//!
//! Conjunctions of 5 to 11 small ranges over 400 attributes, events of 15 values. Values are drawn around the centers of
//! clusters in each attribute. A share of the subscriptions is generated from the events, so that an event matches a given
//! share of all. Attributes are drawn uniformly or by Zipf's law; weights are the inverse frequency of the attribute times a
//! normal variable (0.8, 0.05).
//!
//! A typed scan answers every event first, matches as well as the best 1 and 5 with scores; an engine with a wrong answer ends
//! the run. The fastest of three passes counts, through the whole index, from read rows to ids, on one thread.
//!
//! `cargo bench -p tamis-bench --bench be_trees -- [--figure 6|7|8|9]... [--scale PERCENT] [--engine NAME[,option=N]...]...
//! [--passes N] [--json FILE]`

use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::time::Instant;
use tamis_bench::random::Random;
use tamis_core::engine::registry::{OptionValue, Options};
use tamis_core::event::{Rows, Slot};
use tamis_core::index::{EventWeights, Id, Index, RankedMatches, Settings, Source, Weighting};

const ATTRIBUTES: usize = 400;
const EVENT_SIZE: usize = 15;

/// One point of a figure.
#[derive(Clone, Copy)]
struct Point {
    figure: u32,
    zipf: bool,
    subscriptions: usize,
    cardinality: u64,
    /// Clusters per attribute; 0 draws values from all of the domain.
    clusters: u64,
    cluster_size: u64,
    /// Share of the subscriptions that an event matches.
    probability: f64,
}

const BASE: Point = Point {
    figure: 0,
    zipf: false,
    subscriptions: 100_000,
    cardinality: 250_000_000,
    clusters: 4,
    cluster_size: 100,
    probability: 0.001,
};

fn points() -> Vec<Point> {
    let mut points = Vec::new();
    for zipf in [false, true] {
        let base = Point { zipf, ..BASE };
        for cardinality in [2_500, 250_000, 25_000_000, 250_000_000] {
            points.push(Point { figure: 6, cardinality, ..base });
        }
        for clusters in [2, 6, 16, 26, 0] {
            points.push(Point { figure: 7, clusters, ..base });
        }
        for cluster_size in [25, 100, 400, 800] {
            points.push(Point { figure: 7, cluster_size, ..base });
        }
        for subscriptions in [100_000, 300_000, 1_000_000] {
            points.push(Point { figure: 8, subscriptions, ..base });
        }
        for probability in [0.0001, 0.001, 0.01, 0.09] {
            points.push(Point { figure: 9, subscriptions: 300_000, probability, ..base });
        }
    }
    points
}

/// A range with a weight.
struct Range {
    attribute: usize,
    low: i64,
    high: i64,
    weight: f64,
}

struct Workload {
    subscriptions: Vec<Vec<Range>>,
    /// Attributes in ascending order, and their values.
    events: Vec<Vec<(usize, i64)>>,
}

impl Workload {
    fn new(point: &Point) -> Workload {
        let mut random = Random::new();
        let centers: Vec<Vec<u64>> = (0..ATTRIBUTES)
            .map(|_| (0..point.clusters).map(|_| random.below(point.cardinality)).collect())
            .collect();
        let seeds = (1.0 / point.probability).clamp(8.0, 200.0) as usize;
        let events: Vec<Vec<(usize, i64)>> = (0..seeds)
            .map(|_| {
                let mut attributes = random.distinct(EVENT_SIZE, |random| attribute(point, random));
                attributes.sort_unstable();
                attributes.into_iter().map(|at| (at, value(point, &centers[at], &mut random))).collect()
            })
            .collect();
        let from_event = (point.probability * seeds as f64).min(1.0);
        let mut subscriptions: Vec<Vec<Range>> = (0..point.subscriptions)
            .map(|_| {
                let size = 5 + random.below(7) as usize;
                let cells: Vec<(usize, i64)> = if random.unit() < from_event {
                    let event = &events[random.below(seeds as u64) as usize];
                    random.distinct(size, |random| event[random.below(EVENT_SIZE as u64) as usize])
                } else {
                    let attributes = random.distinct(size, |random| attribute(point, random));
                    attributes.into_iter().map(|at| (at, value(point, &centers[at], &mut random))).collect()
                };
                let mut range = |(attribute, value): (usize, i64)| {
                    let (below, above) = (random.below(4) as i64, random.below(4) as i64);
                    Range { attribute, low: value - below, high: value + above, weight: 0.0 }
                };
                cells.into_iter().map(&mut range).collect()
            })
            .collect();
        let mut frequency = vec![0u32; ATTRIBUTES];
        subscriptions.iter().flatten().for_each(|range| frequency[range.attribute] += 1);
        let mean = subscriptions.iter().map(Vec::len).sum::<usize>() as f64 / ATTRIBUTES as f64;
        for range in subscriptions.iter_mut().flatten() {
            // The sum of 12 uniform variables minus 6 is nearly normal.
            let normal = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
            let inverse = mean / f64::from(frequency[range.attribute]);
            range.weight = ((0.8 + 0.05 * normal) * inverse * 1e4).round().max(1.0) / 1e4;
        }
        Workload { subscriptions, events }
    }

    fn text(&self, n: usize) -> String {
        let ranges = self.subscriptions[n].iter();
        let terms = ranges.map(|range| {
            format!("a{} between {} and {} ^ {}", range.attribute, range.low, range.high, range.weight)
        });
        terms.collect::<Vec<_>>().join(" and ")
    }

    /// The matches of an event in ascending order, with their scores.
    fn matching(&self, event: &[(usize, i64)]) -> Vec<(i64, f64)> {
        let mut values = [i64::MIN; ATTRIBUTES];
        event.iter().for_each(|(attribute, value)| values[*attribute] = *value);
        let holds = |range: &Range| {
            let value = values[range.attribute];
            range.low <= value && value <= range.high
        };
        let matching = self.subscriptions.iter().enumerate().filter(|(_, ranges)| ranges.iter().all(holds));
        let score = |ranges: &[Range]| ranges.iter().fold(0.0, |sum, range| sum + range.weight);
        matching.map(|(n, ranges)| (n as i64, score(ranges))).collect()
    }
}

/// An attribute: uniform, or the nth with a probability proportional to 1 / n.
fn attribute(point: &Point, random: &mut Random) -> usize {
    if !point.zipf {
        return random.below(ATTRIBUTES as u64) as usize;
    }
    let drawn = ((ATTRIBUTES as f64 + 1.0).ln() * random.unit()).exp() as usize;
    drawn.clamp(1, ATTRIBUTES) - 1
}

fn value(point: &Point, centers: &[u64], random: &mut Random) -> i64 {
    if centers.is_empty() {
        return random.below(point.cardinality) as i64;
    }
    let offset = random.below(point.cluster_size) as i64 - point.cluster_size as i64 / 2;
    (*random.pick(centers) as i64 + offset).clamp(0, point.cardinality as i64 - 1)
}

/// `name,option=number,...`
fn engine(text: &str) -> Option<(String, Options)> {
    let mut parts = text.split(',');
    let name = parts.next()?.to_owned();
    let option = |part: &str| {
        let (option, value) = part.split_once('=')?;
        let value = value.parse().map_or_else(|_| OptionValue::Text(value.to_owned()), OptionValue::Int);
        Some((option.to_owned(), value))
    };
    Some((name, parts.map(option).collect::<Option<_>>()?))
}

fn usage(option: &str) -> ! {
    eprintln!(
        "wrong or incomplete option {option}; known: --figure 6|7|8|9, --scale PERCENT, --engine NAME[,option=N], \
         --passes N, --json FILE"
    );
    std::process::exit(2)
}

fn main() {
    let (mut figures, mut scale, mut passes, mut engines, mut json_file) =
        (Vec::new(), 100, 3, Vec::new(), None);
    let mut given = std::env::args().skip(1);
    while let Some(option) = given.next() {
        let mut value = || given.next().unwrap_or_else(|| usage(&option));
        let number = |text: String| text.parse().unwrap_or_else(|_| usage(&option));
        match option.as_str() {
            "--figure" => figures.push(number(value()) as u32),
            "--scale" => scale = number(value()),
            "--passes" => passes = number(value()),
            "--engine" => engines.push(engine(&value()).unwrap_or_else(|| usage(&option))),
            "--json" => json_file = Some(value()),
            // Cargo adds it.
            "--bench" => {}
            _ => usage(&option),
        }
    }
    if engines.is_empty() {
        engines = ["be_star_tree", "be_tree"].map(|name| (name.to_owned(), Options::new())).into();
    }
    let mut results = Vec::new();
    for mut point in points() {
        if figures.is_empty() || figures.contains(&point.figure) {
            point.subscriptions = point.subscriptions * scale / 100;
            results.extend(run(&point, &engines, passes));
        }
    }
    if let Some(path) = json_file {
        std::fs::write(path, format!("{:#}\n", json!(results))).expect("a file to write to");
    }
}

fn run(point: &Point, engines: &[(String, Options)], passes: usize) -> Vec<Value> {
    let workload = Workload::new(point);
    let answers: Vec<_> = workload.events.iter().map(|event| workload.matching(event)).collect();
    let found: usize = answers.iter().map(Vec::len).sum();
    println!(
        "figure {}: {}, {} subscriptions, {} values, {} clusters of {}, {:.3}% match ({} events)",
        point.figure,
        if point.zipf { "zipf" } else { "uniform" },
        point.subscriptions,
        point.cardinality,
        point.clusters,
        point.cluster_size,
        100.0 * found as f64 / (answers.len() * point.subscriptions) as f64,
        answers.len()
    );
    engines.iter().map(|engine| time(point, &workload, &answers, engine, passes)).collect()
}

fn time(
    point: &Point,
    workload: &Workload,
    answers: &[Vec<(i64, f64)>],
    (engine, options): &(String, Options),
    passes: usize,
) -> Value {
    let settings = Settings { engine: engine.clone(), options: options.clone(), ..Settings::default() };
    let index = Index::new(settings).unwrap_or_else(|error| usage(&error.to_string()));
    let texts: Vec<String> = (0..point.subscriptions).map(|n| workload.text(n)).collect();
    let started = Instant::now();
    let batch = texts.iter().enumerate().map(|(n, text)| (Id::from(n as i64), Source::from(text.as_str())));
    index.add_many(batch).expect("valid expressions");
    let build = started.elapsed().as_secs_f64();
    drop(texts);
    let schema = index.schema();
    let mut rows = Rows::default();
    for event in &workload.events {
        for (attribute, value) in event {
            if let Some(attribute) = schema.get(&format!("a{attribute}")) {
                rows.set(attribute, Slot::Int(*value));
            }
        }
        rows.finish_row();
    }
    let (weights, one) = (EventWeights::default(), NonZeroUsize::new(1));
    let all = || index.match_rows(&schema, &rows, one, false).expect("a fresh schema");
    let best = |k: usize| {
        let ranked = index.top_k_rows(&schema, &rows, k, Weighting::Same(&weights), one);
        ranked.expect("a fresh schema").expect("scores")
    };
    let matches = all();
    for (row, expected) in answers.iter().enumerate() {
        let range = matches.offsets[row] as usize..matches.offsets[row + 1] as usize;
        let mut found: Vec<Id> = range.map(|at| matches.ids.get(at)).collect();
        found.sort();
        assert!(
            found.iter().cloned().eq(expected.iter().map(|(n, _)| Id::from(*n))),
            "{engine}, event {row}"
        );
    }
    [1, 5].into_iter().for_each(|k| check_best(&best(k), answers, k, engine));
    let seconds = |pass: &dyn Fn()| {
        let timed = |_| {
            let started = Instant::now();
            pass();
            started.elapsed().as_secs_f64()
        };
        (0..passes).map(timed).fold(f64::INFINITY, f64::min)
    };
    let micros = |pass: &dyn Fn()| seconds(pass) * 1e6 / answers.len() as f64;
    let us = micros(&|| drop(std::hint::black_box(all())));
    let [us_1, us_5] = [1, 5].map(|k| micros(&|| drop(std::hint::black_box(best(k)))));
    let saved = |top: f64| 100.0 * (top / us - 1.0);
    println!(
        "  {engine:<14} all {us:>9.1} us/event   top-1 {us_1:>9.1} ({:>+6.1}%)   top-5 {us_5:>9.1} ({:>+6.1}%)   build {build:.2} s, {} B/sub",
        saved(us_1),
        saved(us_5),
        index.memory().engine / point.subscriptions
    );
    json!({
        "figure": point.figure,
        "zipf": point.zipf,
        "subscriptions": point.subscriptions,
        "cardinality": point.cardinality,
        "clusters": point.clusters,
        "cluster_size": point.cluster_size,
        "probability": point.probability,
        "engine": engine,
        "options": options.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>(),
        "all_us": us,
        "top_1_us": us_1,
        "top_5_us": us_5,
        "build_seconds": build,
        "stats": index.engine_stats().into_iter().map(|(k, v)| (k.to_owned(), json!(v))).collect::<serde_json::Map<_, _>>(),
    })
}

/// The best k are those of sorting all matches and cutting.
fn check_best(found: &RankedMatches, answers: &[Vec<(i64, f64)>], k: usize, engine: &str) {
    for (row, expected) in answers.iter().enumerate() {
        let mut expected = expected.clone();
        expected.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        expected.truncate(k);
        let range = found.matches.offsets[row] as usize..found.matches.offsets[row + 1] as usize;
        let found = range.map(|at| (found.matches.ids.get(at), found.scores[at]));
        let expected = expected.into_iter().map(|(n, score)| (Id::from(n), score));
        assert!(found.eq(expected), "{engine}: wrong best {k} of event {row}");
    }
}
