//! The suite itself: every definition runs and is right, and what is wrong is noticed.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;
use tamis_baselines::ALL;
use tamis_bench::case::{Answers, Case, totals};
use tamis_bench::competitor::Competitor;
use tamis_bench::definition::Definition;
use tamis_bench::dialect::python;
use tamis_bench::measure::{TimeBudget, measure};
use tamis_core::engine::registry::Takes;
use tamis_core::expr::{Limits, parse};

fn definitions() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks")
}

/// The workloads of papers are in folders of their own. Each folder with the options of the runner that verify it.
const FOLDERS: [(&str, &[&str]); 3] = [
    ("", &["--quick"]),
    ("opindex", &["--quick", "--engines", "compiled,op_index"]),
    ("atree", &["--quick", "--engines", "compiled,a_tree"]),
];

fn all_definitions() -> Vec<Definition> {
    let folders = FOLDERS[..2].iter().map(|(folder, _)| definitions().join(folder));
    folders.flat_map(|folder| Definition::read_all(&folder).expect("definitions")).collect()
}

fn runner(definitions: &Path, options: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tamis-bench"));
    command.arg("--definitions").arg(definitions).args(options).output().expect("the runner")
}

/// Verifies all engines and the crate on all workloads, and the totals of the definitions. On the workloads of papers, which
/// are many variations of few, two engines: the others take a minute there.
#[test]
fn every_definition_runs() {
    for (folder, options) in FOLDERS {
        let folder = definitions().join(folder);
        let done = runner(&folder, options);
        let shown = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success(), "{shown}{}", String::from_utf8_lossy(&done.stderr));
        let cases: Vec<Value> = serde_json::from_str(&shown).expect("JSON");
        assert_eq!(cases.len(), Definition::read_all(&folder).expect("definitions").len());
        if options.len() == 1 {
            cases.iter().for_each(every_engine_is_timed);
        }
    }
}

fn every_engine_is_timed(case: &Value) {
    let competitors = case["competitors"].as_array().expect("competitors");
    for engine in ALL.iter() {
        let found = competitors.iter().find(|competitor| competitor["name"] == engine.name);
        let found = found.unwrap_or_else(|| unreachable!("{}: {}", engine.name, case["workload"]));
        let is_timed = found["batch"]["microseconds_per_event"].as_f64().is_some_and(|time| time > 0.0);
        assert!(is_timed || engine.takes != Takes::All, "{}: {found}", case["workload"]);
    }
}

#[test]
fn every_case_says_what_it_matches() {
    for definition in all_definitions() {
        let name = &definition.name;
        assert!(definition.cases.iter().all(|case| case.expected.is_some()), "{name}");
        assert_eq!(definition.cases.iter().filter(|case| case.quick).count(), 1, "{name}");
        assert!(definition.cases.iter().any(|case| case.python && !case.quick), "{name}");
    }
}

/// Events are drawn before subscriptions, so that cases of different sizes can be compared.
#[test]
fn more_subscriptions_mean_the_same_events() {
    for definition in all_definitions() {
        let case = definition.cases.iter().find(|case| case.quick).expect("a quick case");
        let generator = definition.generator(case).expect("a generator");
        let [few, more] = [10, 20].map(|size| Case::draw(&generator, &case.resized(size)));
        assert_eq!(few.events, more.events, "{}", definition.name);
        assert_eq!((few.subscriptions.len(), more.subscriptions.len()), (10, 20));
    }
}

#[test]
fn a_changed_generator_is_noticed() {
    let folder = std::env::temp_dir().join(format!("tamis-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let text = std::fs::read_to_string(definitions().join("equalities.toml")).expect("a definition");
    std::fs::write(folder.join("equalities.toml"), text.replace("values = 100", "values = 99"))
        .expect("a file");
    let done = runner(&folder, &["--quick"]);
    std::fs::remove_dir_all(&folder).expect("a folder to remove");
    let shown = String::from_utf8_lossy(&done.stdout);
    assert_eq!(done.status.code(), Some(1));
    assert!(shown.starts_with("equalities 2000: its events match"), "{shown}");
    assert!(shown.ends_with("the generator has changed\n"), "{shown}");
}

#[test]
fn unknown_names_are_refused() {
    for options in [["--only", "nope"], ["--engines", "nope"], ["--subscriptions", "0"], ["--nope", ""]] {
        let done = runner(&definitions(), &options);
        assert_eq!(done.status.code(), Some(2), "{options:?}");
        assert!(done.stdout.is_empty());
        assert!(String::from_utf8_lossy(&done.stderr).starts_with("tamis-bench: "), "{options:?}");
    }
}

/// Answers event 1 with what it is told.
struct Liar {
    one: Vec<u32>,
    many: Vec<u32>,
}

impl Competitor for Liar {
    fn one(&mut self, event: usize) -> usize {
        self.numbers(event).len()
    }

    fn many(&mut self, _: usize) -> bool {
        true
    }

    fn numbers(&mut self, event: usize) -> Vec<u32> {
        if event == 1 { self.one.clone() } else { vec![7] }
    }

    fn numbers_of_many(&mut self, events: usize) -> Option<Vec<Vec<u32>>> {
        Some((0..events).map(|event| if event == 1 { self.many.clone() } else { vec![7] }).collect())
    }

    fn build(&self) -> Option<Duration> {
        None
    }

    fn bytes(&self) -> Option<(usize, usize)> {
        None
    }
}

#[test]
fn wrong_answers_are_noticed_in_both_ways_of_asking() {
    let moment = Duration::from_millis(1);
    let budget = TimeBudget { checking: Duration::from_secs(1), pass: moment, timing: moment, passes: 1 };
    let answers: Answers = vec![vec![7], vec![1, 2, 3], vec![7]];
    let right = vec![1, 2, 3];
    let wrong = |one: &[u32], many: &[u32]| {
        let found = measure(&mut Liar { one: one.into(), many: many.into() }, &answers, budget);
        found.err().map(|wrong| (wrong.event, wrong.missing, wrong.surplus))
    };
    assert_eq!(wrong(&right, &right), None);
    assert_eq!(wrong(&[1, 3], &right), Some((1, vec![2], vec![])));
    assert_eq!(wrong(&right, &[1, 2, 3, 9]), Some((1, vec![], vec![9])));
    assert_eq!(wrong(&right, &[1, 2, 2, 3]), Some((1, vec![], vec![2])));
}

#[test]
fn totals_are_counts_and_sums() {
    let found = totals(&vec![vec![1, 5], vec![], vec![4]]);
    assert_eq!((found.matches, found.sum), (3, 10));
}

#[test]
fn negations_stand_at_the_predicates_in_python() {
    let said = |text: &str| {
        let expr = parse(text, &Limits::default()).expect("an expression");
        python::expression(&expr).expect("Python")
    };
    assert_eq!(said("not (a = 1 and b > 2)"), r#"(g("a", 1) != 1) or (g("b", nan) <= 2)"#);
    assert_eq!(
        said("a = 1 xor b = 2"),
        r#"((g("a") == 1) and (g("b", 2) != 2)) or ((g("a", 1) != 1) and (g("b") == 2))"#
    );
    assert_eq!(
        said("a = 1 xnor b = 2"),
        r#"((g("a") == 1) and (g("b") == 2)) or ((g("a", 1) != 1) and (g("b", 2) != 2))"#
    );
    assert_eq!(said("a not between 1 and 2"), r#"not 1 <= g("a", 1) <= 2"#);
    assert_eq!(said("x ilike '%Foo%'"), r#"("foo" in g("x", '').lower())"#);
}
