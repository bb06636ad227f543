//! A history of adds, replacements, removals, matches and saves on one engine, against the reference evaluation and
//! `scan`.
//!
//! An input is a sequence of steps of four bytes: what to do, to which id, and the seed of the expression or event, which
//! the generators of `tamis-conformance` draw. So every input is a valid history; libFuzzer inserts, removes, repeats and
//! joins steps, and keeps the histories that reach new branches. `crates/tamis-core/tests/suite/engines` runs the same kind
//! of histories without that guidance.
//!
//! Bytes as the random numbers of the generators (proptest's `PassThrough`) would let a mutation change one predicate, but
//! proptest splits them in halves at every nested strategy and rejects the zeros that follow for ever.

use proptest::prelude::*;
use tamis_conformance::event::{GivenEvent, write_row};
use tamis_conformance::generate::{event, expression};
use tamis_conformance::seeded::Draw;
use tamis_core::Error;
use tamis_core::engine::registry::{OptionValue, Options, Registry};
use tamis_core::event::Rows;
use tamis_core::expr::{Expr, Missing, Truth};
use tamis_core::index::{Id, Index, Settings, Source};

/// Steps per history. A thousand would spend the time on matching one large index.
const MAX_STEPS: usize = 60;
/// Ids in use: few, so that duplicates, replacements and removals of present ids are frequent.
const IDS: u8 = 12;

#[derive(Debug)]
enum Step {
    Add(Id, Expr),
    Replace(Id, Expr),
    Remove(Id),
    Match(GivenEvent),
    Observe(GivenEvent),
    Compact,
    Save,
}

impl Step {
    fn new([action, id, seed @ ..]: [u8; 4], strategies: &Strategies) -> Step {
        let number = id % IDS;
        let id = if number.is_multiple_of(3) {
            Id::from(number.to_string().as_str())
        } else {
            Id::from(i64::from(number))
        };
        let mut draw = Draw::new(u16::from_le_bytes(seed).into());
        match action % 16 {
            0..6 => Step::Add(id, draw.one(&strategies.expression)),
            6 => Step::Replace(id, draw.one(&strategies.expression)),
            7..9 => Step::Remove(id),
            9..13 => Step::Match(draw.one(&strategies.event)),
            13 => Step::Observe(draw.one(&strategies.event)),
            14 => Step::Compact,
            _ => Step::Save,
        }
    }
}

struct Strategies {
    expression: BoxedStrategy<Expr>,
    event: BoxedStrategy<GivenEvent>,
}

thread_local! {
    /// Made once: making them takes longer than drawing from them.
    static STRATEGIES: Strategies = Strategies { expression: expression(), event: event() };
}

/// Checks one history.
pub fn check(data: &[u8]) {
    let Some((&[engine, setting], steps)) = data.split_first_chunk::<2>() else {
        return;
    };
    let (steps, _) = steps.as_chunks::<4>();
    let mut checked = Checked::new(engine, setting);
    for step in steps.iter().take(MAX_STEPS) {
        let step = STRATEGIES.with(|strategies| Step::new(*step, strategies));
        checked.apply(&step);
        checked.index.validate().expect("a sound index");
    }
    checked.check_contents();
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
            Step::Observe(event) => {
                let schema = self.index.schema();
                let mut rows = Rows::default();
                write_row(event, &schema, &mut rows);
                self.index.observe_rows(&schema, &rows).expect("a fresh schema");
                self.check_match(event);
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
