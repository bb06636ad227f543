//! Many string patterns on one attribute: shared automata (`a_tree`) against one test per pattern (`scan`).
//!
//! Words are random, three to eight letters long; a text has about 100 bytes. Answers are compared before anything is
//! timed, and a wrong one ends the run. Then, on one thread, the fastest of five passes over all texts counts.
//!
//! `cargo bench -p tamis-bench --bench patterns -- [--quick]`

use std::num::NonZeroUsize;
use std::time::Instant;
use tamis_bench::random::Random;
use tamis_core::event::{JsonReader, Rows};
use tamis_core::index::{Id, Index, Matches, Settings, Source};

const TEXTS: usize = 200;
const PASSES: usize = 5;

fn word(random: &mut Random) -> String {
    (0..3 + random.below(6)).map(|_| char::from(b'a' + random.below(26) as u8)).collect()
}

/// The name of a form of patterns, and the expression of two words.
type Shape = (&'static str, fn(&str, &str) -> String);

const SHAPES: &[Shape] = &[
    ("contains(x, 'foo')", |a, _| format!("contains(x, '{a}')")),
    ("endswith(x, 'foo')", |a, _| format!("endswith(x, '{a}')")),
    ("x like '%foo%bar%'", |a, b| format!("x like '%{a}%{b}%'")),
    ("x ilike '%foo%bar%'", |a, b| format!("x ilike '%{a}%{b}%'")),
    ("x rlike 'foo[0-9]+bar'", |a, b| format!("x rlike '{a}[0-9]+{b}'")),
];

struct Timed {
    index: Index,
    rows: Rows,
}

impl Timed {
    fn new(engine: &str, expressions: &[String], texts: &[String]) -> Timed {
        let settings = Settings { engine: engine.into(), ..Settings::default() };
        let index = Index::new(settings).expect("a known engine");
        let rows = (0..).zip(expressions).map(|(n, text)| (Id::from(n), Source::from(text.as_str())));
        index.add_many(rows).expect("valid expressions");
        let (mut reader, mut rows) = (JsonReader::default(), Rows::default());
        for text in texts {
            let event = serde_json::json!({ "x": text }).to_string();
            reader.read(event.as_bytes(), &index.schema(), &mut rows).expect("valid JSON");
        }
        Timed { index, rows }
    }

    fn matches(&self) -> Matches {
        let schema = self.index.schema();
        self.index.match_rows(&schema, &self.rows, NonZeroUsize::new(1), true).expect("a fresh schema")
    }

    fn answers(&self) -> (Vec<i64>, Vec<Id>) {
        let Matches { offsets, ids } = self.matches();
        (offsets, (0..ids.len()).map(|at| ids.get(at)).collect())
    }

    /// Microseconds per text in the fastest pass.
    fn time(&self) -> f64 {
        let pass = |_| {
            let started = Instant::now();
            std::hint::black_box(self.matches());
            started.elapsed()
        };
        (0..PASSES).map(pass).min().unwrap_or_default().as_secs_f64() * 1e6 / TEXTS as f64
    }
}

fn main() {
    let sizes: &[usize] =
        if std::env::args().any(|word| word == "--quick") { &[100] } else { &[1_000, 10_000] };
    println!("microseconds per text of 100 bytes; answers checked");
    println!("  {:<26}{:>10}{:>12}{:>12}{:>9}", "pattern", "patterns", "one by one", "a_tree", "ratio");
    for (name, expression) in SHAPES {
        for size in sizes {
            let mut random = Random::new();
            let mut pair = || (word(&mut random), word(&mut random));
            let expressions: Vec<String> =
                (0..*size).map(|_| pair()).map(|(a, b)| expression(&a, &b)).collect();
            let texts: Vec<String> = (0..TEXTS)
                .map(|_| (0..15).map(|_| word(&mut random)).collect::<Vec<_>>().join(" "))
                .collect();
            let [scan, tree] = ["scan", "a_tree"].map(|engine| Timed::new(engine, &expressions, &texts));
            assert_eq!(tree.answers(), scan.answers(), "{name}: a wrong answer");
            let (one_by_one, shared) = (scan.time(), tree.time());
            println!("  {name:<26}{size:>10}{one_by_one:>12.1}{shared:>12.1}{:>9.1}", one_by_one / shared);
        }
    }
}
