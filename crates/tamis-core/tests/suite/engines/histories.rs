//! The one suite of all engines: random histories against the reference evaluation of what the user wrote, which
//! shares no code with any engine, and against `scan`.

use proptest::prelude::*;
use std::num::NonZeroUsize;
use tamis_conformance::event::{GivenEvent, write_row};
use tamis_conformance::generate::{event, expression};
use tamis_conformance::seeded::{Draw, seed};
use tamis_core::engine::registry::{OptionValue, Registry};
use tamis_core::event::Rows;
use tamis_core::expr::{Expr, Missing, Truth};
use tamis_core::index::{EventWeights, Id, Index, Settings, Source};
use tamis_core::{Error, Schema};

/// One thing a user does.
#[derive(Clone, Debug)]
enum Step {
    Add(Id, Expr),
    AddMany(Vec<(Id, Expr)>),
    Replace(Id, Expr),
    Remove(Id),
    Match(Vec<GivenEvent>),
    Observe(Vec<GivenEvent>),
}

/// Both types, and numbers that look alike in both.
fn id(bound: i64) -> impl Strategy<Value = Id> {
    (0..bound, any::<bool>()).prop_map(
        |(n, text)| {
            if text { Id::from(n.to_string().as_str()) } else { Id::from(n) }
        },
    )
}

fn step(ids: i64) -> impl Strategy<Value = Step> {
    let pair = || (id(ids), expression());
    prop_oneof![
        4 => pair().prop_map(|(id, expr)| Step::Add(id, expr)),
        1 => prop::collection::vec(pair(), 0..6).prop_map(Step::AddMany),
        1 => pair().prop_map(|(id, expr)| Step::Replace(id, expr)),
        2 => id(ids).prop_map(Step::Remove),
        3 => prop::collection::vec(event(), 1..4).prop_map(Step::Match),
        1 => prop::collection::vec(event(), 0..8).prop_map(Step::Observe),
    ]
}

/// An index beside what it should hold, in order of insertion.
struct Checked {
    index: Index,
    missing: Missing,
    model: Vec<(Id, Expr)>,
}

impl Checked {
    fn new(engine: &str, missing: Missing) -> Checked {
        Checked::with_options(engine, &[], missing)
    }

    fn with_options(engine: &str, options: &[(&str, Setting)], missing: Missing) -> Checked {
        let value = |setting| match setting {
            Int(number) => OptionValue::Int(number),
            Off => OptionValue::Bool(false),
            Word(word) => OptionValue::Text(word.into()),
        };
        let options = options.iter().map(|(name, setting)| ((*name).to_owned(), value(*setting))).collect();
        let settings = Settings { engine: engine.into(), options, missing, ..Settings::default() };
        Checked { index: Index::new(settings).expect("an index"), missing, model: Vec::new() }
    }

    fn place(&self, id: &Id) -> Option<usize> {
        self.model.iter().position(|(other, _)| other == id)
    }

    /// Does the step and checks its outcome.
    fn apply(&mut self, step: &Step) {
        match step {
            Step::Add(id, expr) => {
                let outcome = self.index.add(id.clone(), text(expr));
                match (outcome, self.place(id)) {
                    (Ok(_), None) => self.model.push((id.clone(), expr.clone())),
                    (Err(Error::DuplicateId(named)), Some(_)) => assert_eq!(named, *id),
                    (Err(Error::TooComplex { .. }), None) => {}
                    (other, place) => unreachable!("adding {id} to place {place:?}: {other:?}"),
                }
            }
            Step::AddMany(batch) => self.add_many(batch),
            Step::Replace(id, expr) => {
                let outcome = self.index.replace(id, Source::Expr(expr.clone().into()));
                match (outcome, self.place(id)) {
                    (Ok(_), Some(place)) => self.model[place].1 = expr.clone(),
                    (Err(Error::UnknownId(named)), None) => assert_eq!(named, *id),
                    (Err(Error::TooComplex { .. }), Some(_)) => {}
                    (other, place) => unreachable!("replacing {id} at place {place:?}: {other:?}"),
                }
            }
            Step::Remove(id) => match (self.index.remove(id), self.place(id)) {
                (Ok(()), Some(place)) => drop(self.model.remove(place)),
                (Err(Error::UnknownId(named)), None) => assert_eq!(named, *id),
                (other, place) => unreachable!("removing {id} at place {place:?}: {other:?}"),
            },
            Step::Match(events) => self.check_matches(events),
            Step::Observe(events) => self.observe(events),
        }
    }

    fn add_many(&mut self, batch: &[(Id, Expr)]) {
        let first_bad = (0..batch.len()).find(|&row| {
            let id = &batch[row].0;
            self.place(id).is_some() || batch[..row].iter().any(|(earlier, _)| earlier == id)
        });
        let given = batch.iter().map(|(id, expr)| (id.clone(), text(expr)));
        match (self.index.add_many(given), first_bad) {
            (Ok(_), None) => self.model.extend(batch.iter().cloned()),
            (Err(Error::Row { error, .. }), _) if matches!(*error, Error::TooComplex { .. }) => {}
            (Err(Error::Row { row, error }), Some(bad)) => {
                assert_eq!(row, bad);
                assert!(matches!(*error, Error::DuplicateId(_)), "{error}");
            }
            (other, bad) => unreachable!("first bad row {bad:?}: {other:?}"),
        }
    }

    fn check_matches(&self, events: &[GivenEvent]) {
        let schema = self.index.schema();
        let mut rows = Rows::default();
        events.iter().for_each(|event| write_row(event, &schema, &mut rows));
        let threads = NonZeroUsize::new(2);
        let ordered = self.index.match_rows(&schema, &rows, threads, true).expect("a fresh schema");
        let unordered = self.index.match_rows(&schema, &rows, threads, false).expect("a fresh schema");
        for (row, event) in events.iter().enumerate() {
            let expected = self.expected(&schema, &rows, row);
            let found = self.index.match_row(&schema, &rows, row).expect("a fresh schema");
            assert_eq!(found, expected, "{event:?}");
            assert_eq!(slice(&ordered, row), expected, "{event:?}");
            let mut any_order = slice(&unordered, row);
            any_order.sort();
            let mut expected = expected;
            expected.sort();
            assert_eq!(any_order, expected, "{event:?}");
            self.check_top_k(&schema, &rows, row);
        }
    }

    /// Nothing that can be asked may change, whatever the engine makes of the events.
    fn observe(&self, events: &[GivenEvent]) {
        let schema = self.index.schema();
        let mut rows = Rows::default();
        events.iter().for_each(|event| write_row(event, &schema, &mut rows));
        self.index.observe_rows(&schema, &rows).expect("a fresh schema");
        self.index.validate().expect("a sound index");
        self.check_matches(events);
    }

    fn expected(&self, schema: &Schema, rows: &Rows, row: usize) -> Vec<Id> {
        let holds = |expr: &Expr| expr.evaluate_row(schema, rows, row, self.missing) == Truth::True;
        self.model.iter().filter(|(_, expr)| holds(expr)).map(|(id, _)| id.clone()).collect()
    }

    /// Scores are sums over single predicates, each evaluated as an expression of its own.
    fn check_top_k(&self, schema: &Schema, rows: &Rows, row: usize) {
        let mut weights = EventWeights::default();
        weights.set("n", 0.5).expect("a weight");
        let score = |expr: &Expr| {
            let mut sum = 0.0;
            expr.for_each_condition(false, &mut |condition, negated| {
                let wanted = if negated { Truth::False } else { Truth::True };
                let alone = Expr::Condition(condition.clone());
                if alone.evaluate_row(schema, rows, row, self.missing) == wanted {
                    sum += condition.weight * if condition.attribute.name == "n" { 0.5 } else { 1.0 };
                }
            });
            sum
        };
        let matching = self.expected(schema, rows, row);
        let mut best: Vec<(Id, f64)> = self
            .model
            .iter()
            .filter(|(id, _)| matching.contains(id))
            .map(|(id, expr)| (id.clone(), score(expr)))
            .collect();
        best.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        best.truncate(3);
        let found =
            self.index.top_k(schema, rows, row, 3, &weights).expect("a fresh schema").expect("scores");
        assert_eq!(found, best);
    }

    fn check_contents(&self) {
        self.index.validate().expect("a sound index");
        assert_eq!(self.index.len(), self.model.len());
        assert_eq!(self.index.ids(), self.model.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>());
        for (id, expr) in &self.model {
            assert!(self.index.contains(id));
            assert_eq!(self.index.expression(id).expect("a present id"), *expr);
        }
    }
}

fn text(expr: &Expr) -> Source {
    Source::from(expr.to_string().as_str())
}

fn slice(matches: &tamis_core::index::Matches, row: usize) -> Vec<Id> {
    (matches.offsets[row]..matches.offsets[row + 1]).map(|at| matches.ids.get(at as usize)).collect()
}

fn run(steps: &[Step]) {
    for engine in Registry::CORE.iter() {
        for missing in [Missing::Unknown, Missing::False] {
            let mut checked = Checked::new(engine.name, missing);
            for step in steps {
                checked.apply(step);
                checked.check_contents();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn short_histories(steps in prop::collection::vec(step(5), 1..30)) {
        run(&steps);
    }
}

/// Thousands of steps on one index, so that numbers are used again, structures shrink and grow.
#[test]
fn long_histories() {
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    let step = step(150);
    for engine in Registry::CORE.iter() {
        for missing in [Missing::Unknown, Missing::False] {
            let mut draw = Draw::new(seed);
            let mut checked = Checked::new(engine.name, missing);
            for round in 0..4_000 {
                checked.apply(&draw.one(&step));
                if round % 100 == 0 {
                    checked.check_contents();
                }
            }
            checked.check_contents();
            assert!(checked.model.len() > 20, "the history keeps subscriptions in the index");
        }
    }
}

/// The value of an option.
#[derive(Clone, Copy)]
enum Setting {
    Int(i64),
    Off,
    Word(&'static str),
}

use Setting::{Int, Off, Word};

/// Options that send subscriptions down the paths that are rare by default. No option changes an answer.
const OPTIONS: &[(&str, &[(&str, Setting)])] = &[
    ("pst_bloom", &[("max_spaces", Int(1)), ("max_signed", Int(0))]),
    ("pst_bloom", &[("max_spaces", Int(2)), ("max_signed", Int(1000)), ("signature_bits", Int(1))]),
    ("pst_bloom", &[("max_signed", Int(1000)), ("signature_bits", Int(64))]),
    ("pst_hash", &[("access_predicates", Int(1)), ("max_spaces", Int(2))]),
    (
        "pst_hash",
        &[
            ("access_predicates", Int(2)),
            ("long_list", Int(0)),
            ("max_cells", Int(3)),
            ("max_spaces", Int(1)),
        ],
    ),
    ("pst_hash", &[("access_predicates", Int(2)), ("long_list", Int(3)), ("max_cells", Int(1000))]),
    ("pst_hash", &[("access_predicates", Int(3)), ("long_list", Int(0)), ("max_cells", Int(8))]),
    ("pst_hash", &[("access_predicates", Int(4)), ("long_list", Int(0)), ("max_cells", Int(1000))]),
    ("a_tree", &[("max_spaces", Int(1)), ("reorganize", Off)]),
    ("a_tree", &[("max_spaces", Int(3)), ("access", Word("random"))]),
    ("a_tree", &[("zero_suppression", Off)]),
    ("a_tree", &[("propagation_on_demand", Off), ("self_adjust", Off)]),
    ("a_tree", &[("unique_ids", Off)]),
    ("compiled", &[("recent", Int(1)), ("fanout", Int(2))]),
    ("compiled", &[("recent", Int(3)), ("fanout", Int(2))]),
    ("compiled", &[("recent", Int(7)), ("fanout", Int(5)), ("path", Word("together"))]),
    ("compiled", &[("recent", Int(4)), ("path", Word("one_by_one"))]),
];

#[test]
fn options_change_no_answer() {
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    let step = step(60);
    for (at, (engine, options)) in OPTIONS.iter().enumerate() {
        let missing = if at % 3 == 0 { Missing::False } else { Missing::Unknown };
        let mut draw = Draw::new(seed.wrapping_add(at as u64));
        let mut checked = Checked::with_options(engine, options, missing);
        for round in 0..1_000 {
            checked.apply(&draw.one(&step));
            if round % 10 == 0 {
                checked.check_contents();
            }
        }
        checked.check_contents();
    }
    for engine in Registry::CORE.iter() {
        let untried = |option: &&&'static str| {
            !OPTIONS
                .iter()
                .any(|(name, options)| *name == engine.name && options.iter().any(|(o, _)| o == *option))
        };
        assert_eq!(
            engine.options.iter().map(|option| &option.name).find(untried),
            None,
            "{} has an option that is not tried",
            engine.name
        );
    }
}

/// Emptied and filled again many times: whatever is left behind must not matter.
#[test]
fn waves() {
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    let (expression, event) = (expression(), event());
    for engine in Registry::CORE.iter() {
        let mut draw = Draw::new(seed);
        let mut checked = Checked::new(engine.name, Missing::Unknown);
        for wave in 0..12 {
            for n in 0..250 {
                checked.apply(&Step::Add(Id::from(n), draw.one(&expression)));
            }
            checked.apply(&Step::Match((0..5).map(|_| draw.one(&event)).collect()));
            let left = if wave % 3 == 2 { 0 } else { 40 };
            while checked.model.len() > left {
                let at = draw.below(checked.model.len());
                let id = checked.model[at].0.clone();
                checked.apply(&Step::Remove(id));
                if checked.model.len().is_multiple_of(50) {
                    checked.check_contents();
                    checked.apply(&Step::Match(vec![draw.one(&event)]));
                }
            }
        }
        assert_eq!(checked.index.len(), 0);
    }
}

/// Every engine against `scan` on one larger index.
#[test]
fn engines_agree_with_scan() {
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    let mut draw = Draw::new(seed);
    let subscriptions: Vec<Expr> = (0..3_000).map(|_| draw.one(&expression())).collect();
    let events: Vec<GivenEvent> = (0..100).map(|_| draw.one(&event())).collect();
    let mut answers = Vec::new();
    for engine in Registry::CORE.iter() {
        let checked = Checked::new(engine.name, Missing::Unknown);
        let mut held = Vec::new();
        for (n, expr) in subscriptions.iter().enumerate() {
            match checked.index.add(Id::from(n as i64), text(expr)) {
                Ok(_) => held.push(true),
                Err(Error::TooComplex { .. }) => held.push(false),
                Err(error) => unreachable!("{expr}: {error}"),
            }
        }
        let schema = checked.index.schema();
        let mut rows = Rows::default();
        events.iter().for_each(|event| write_row(event, &schema, &mut rows));
        let matches = checked.index.match_rows(&schema, &rows, None, true).expect("a fresh schema");
        let found: Vec<Vec<Id>> = (0..events.len()).map(|row| slice(&matches, row)).collect();
        answers.push((engine.name, held, found));
    }
    let scan = answers.iter().find(|(name, ..)| *name == "scan").expect("scan is an engine");
    assert!(scan.2.iter().map(Vec::len).sum::<usize>() > 10_000, "matches are frequent");
    for (name, held, found) in &answers {
        for (row, (found, reference)) in found.iter().zip(&scan.2).enumerate() {
            let takes = |id: &&Id| {
                if let Id::Int(n) = id { held[*n as usize] } else { false }
            };
            let reference: Vec<&Id> = reference.iter().filter(takes).collect();
            assert_eq!(found.iter().collect::<Vec<_>>(), reference, "{name}, event {row}");
        }
    }
}
