//! A history of adds, replacements, removals, matches and saves on one engine, against the reference evaluation and
//! `scan`.
//!
//! The bytes are the random numbers of the generators in `tamis-conformance`: every input is a valid history, and a
//! mutated byte changes one choice. `crates/tamis-core/tests/suite/engines` runs the same kind of histories with random
//! numbers; here the counters of branches decide which histories are kept and extended.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::sync::OnceLock;
use tamis_conformance::event::{GivenEvent, write_row};
use tamis_conformance::generate::{event, expression};
use tamis_core::Error;
use tamis_core::engine::registry::{OptionValue, Options, Registry};
use tamis_core::event::Rows;
use tamis_core::expr::{Expr, Missing, Truth};
use tamis_core::index::{Id, Index, Settings, Source};
use xxhash_rust::xxh3::xxh3_64;

/// Operations per history. A thousand would spend the time on matching one large index.
const MAX_STEPS: usize = 40;
/// Ids in use: few, so that duplicates, replacements and removals of present ids are frequent.
const IDS: i64 = 12;

#[derive(Clone, Debug)]
enum Step {
    Add(Id, Expr),
    Replace(Id, Expr),
    Remove(Id),
    Match(GivenEvent),
    Observe(Vec<GivenEvent>),
    Compact,
    Save,
}

fn step() -> impl Strategy<Value = Step> {
    let id =
        || (0..IDS).prop_map(|n| if n % 3 == 0 { Id::from(n.to_string().as_str()) } else { Id::from(n) });
    prop_oneof![
        6 => (id(), expression()).prop_map(|(id, expr)| Step::Add(id, expr)),
        1 => (id(), expression()).prop_map(|(id, expr)| Step::Replace(id, expr)),
        2 => id().prop_map(Step::Remove),
        4 => event().prop_map(Step::Match),
        1 => prop::collection::vec(event(), 0..4).prop_map(Step::Observe),
        1 => Just(Step::Compact),
        1 => Just(Step::Save),
    ]
}

/// Checks one history.
pub fn check(data: &[u8]) {
    let Some((&[engine, setting], choices)) = data.split_first_chunk::<2>() else {
        return;
    };
    if choices.is_empty() {
        return;
    }
    let rng = TestRng::from_seed(RngAlgorithm::PassThrough, &[choices, filler()].concat());
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let count = 1 + usize::from(setting >> 2) % MAX_STEPS;
    let Ok(steps) = prop::collection::vec(step(), count).new_tree(&mut runner) else {
        return;
    };
    let mut checked = Checked::new(engine, setting);
    for step in steps.current() {
        checked.apply(&step);
        checked.index.validate().expect("a sound index");
    }
    checked.check_contents();
}

/// Random numbers for when the input has no more. Zeros, which proptest would go on with, make it reject draws for ever.
fn filler() -> &'static [u8] {
    /// More than any history takes: an expression takes at most 4 KiB.
    const BYTES: usize = 8 * 1024 * MAX_STEPS;
    static FILLER: OnceLock<Vec<u8>> = OnceLock::new();
    FILLER.get_or_init(|| {
        (0..BYTES as u64 / 8).flat_map(|block| xxh3_64(&block.to_le_bytes()).to_le_bytes()).collect()
    })
}

/// An index, a `scan` with the same content, and that content in order of insertion.
struct Checked {
    index: Index,
    scan: Index,
    missing: Missing,
    model: Vec<(Id, Expr)>,
}

impl Checked {
    fn new(engine: u8, setting: u8) -> Checked {
        // An engine that is not exact may report more than the model has.
        let engines: Vec<_> = Registry::CORE.iter().filter(|engine| engine.exact).collect();
        let engine = engines[usize::from(engine) % engines.len()];
        let missing = if setting & 1 == 0 { Missing::Unknown } else { Missing::False };
        let mut options = Options::new();
        // Segments of few members, so that some are merged within a short history.
        if engine.name == "compiled" && setting & 2 == 0 {
            options.insert("recent".into(), OptionValue::Int(2));
            options.insert("fanout".into(), OptionValue::Int(2));
        }
        let make = |engine: &str, options: Options| {
            let settings = Settings { engine: engine.into(), options, missing, ..Settings::default() };
            Index::new(settings).expect("valid settings")
        };
        let (index, scan) = (make(engine.name, options), make("scan", Options::new()));
        Checked { index, scan, missing, model: Vec::new() }
    }

    fn place(&self, id: &Id) -> Option<usize> {
        self.model.iter().position(|(other, _)| other == id)
    }

    fn apply(&mut self, step: &Step) {
        match step {
            Step::Add(id, expr) => match (self.index.add(id.clone(), text(expr)), self.place(id)) {
                (Ok(_), None) => {
                    self.scan.add(id.clone(), text(expr)).expect("scan takes what others take");
                    self.model.push((id.clone(), expr.clone()));
                }
                (Err(Error::DuplicateId(named)), Some(_)) => assert_eq!(named, *id),
                (Err(Error::TooComplex { .. }), None) => {}
                (other, place) => unreachable!("adding {id} with place {place:?}: {other:?}"),
            },
            Step::Replace(id, expr) => match (self.index.replace(id, text(expr)), self.place(id)) {
                (Ok(_), Some(place)) => {
                    self.scan.replace(id, text(expr)).expect("scan takes what others take");
                    self.model[place].1 = expr.clone();
                }
                (Err(Error::UnknownId(named)), None) => assert_eq!(named, *id),
                (Err(Error::TooComplex { .. }), Some(_)) => {}
                (other, place) => unreachable!("replacing {id} at {place:?}: {other:?}"),
            },
            Step::Remove(id) => match (self.index.remove(id), self.place(id)) {
                (Ok(()), Some(place)) => {
                    self.scan.remove(id).expect("scan has the same ids");
                    self.model.remove(place);
                }
                (Err(Error::UnknownId(named)), None) => assert_eq!(named, *id),
                (other, place) => unreachable!("removing {id} at {place:?}: {other:?}"),
            },
            Step::Match(event) => self.check_match(event),
            Step::Observe(events) => {
                let schema = self.index.schema();
                let mut rows = Rows::default();
                events.iter().for_each(|event| write_row(event, &schema, &mut rows));
                self.index.observe_rows(&schema, &rows).expect("a fresh schema");
                events.iter().for_each(|event| self.check_match(event));
            }
            Step::Compact => self.index.compact().expect("compaction"),
            Step::Save => {
                let bytes = self.index.to_bytes();
                self.index = Index::from_bytes(&bytes).expect("what was written opens");
                self.check_contents();
            }
        }
    }

    fn check_match(&self, event: &GivenEvent) {
        let matched = |index: &Index| {
            let schema = index.schema();
            let mut rows = Rows::default();
            write_row(event, &schema, &mut rows);
            index.match_row(&schema, &rows, 0).expect("a fresh schema").to_vec()
        };
        let schema = self.scan.schema();
        let mut rows = Rows::default();
        write_row(event, &schema, &mut rows);
        let holds = |expr: &Expr| expr.evaluate_row(&schema, &rows, 0, self.missing) == Truth::True;
        let expected: Vec<Id> =
            self.model.iter().filter(|(_, expr)| holds(expr)).map(|(id, _)| id.clone()).collect();
        assert_eq!(matched(&self.scan), expected, "scan, {event:?}");
        assert_eq!(matched(&self.index), expected, "{}, {event:?}", self.index.engine_name());
    }

    fn check_contents(&self) {
        assert_eq!(self.index.len(), self.model.len());
        assert_eq!(self.index.ids(), self.model.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>());
        for (id, expr) in &self.model {
            assert_eq!(self.index.expression(id).expect("a present id"), *expr);
        }
    }
}

fn text(expr: &Expr) -> Source {
    Source::from(expr.to_string().as_str())
}
