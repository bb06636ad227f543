//! Random histories: sequences of additions, replacements, removals, observations and matches, checked against the
//! [`model`](crate::model) after every step. Each function runs every engine of a registry and panics on the first
//! difference.

use crate::event::{Given, GivenEvent};
use crate::generate::{event, expression};
use crate::model::{CheckedIndex, Step, matches_of, rows_of, text_of};
use crate::seeded::{Draw, seed};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tamis_core::engine::registry::{OptionValue, Options, Registry};
use tamis_core::expr::{Expr, Limits, Missing, parse};
use tamis_core::index::{Id, Source};

const BOTH: [Missing; 2] = [Missing::Unknown, Missing::False];

/// Both types, and numbers that look alike in both.
fn id(bound: i64) -> impl Strategy<Value = Id> {
    (0..bound, any::<bool>()).prop_map(
        |(n, text)| {
            if text { Id::from(n.to_string().as_str()) } else { Id::from(n) }
        },
    )
}

/// A step on an index of up to `2 * ids` subscriptions.
pub fn step(ids: i64) -> impl Strategy<Value = Step> {
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

/// Up to 30 steps with few ids, many times; a failure is shrunk to a minimal history.
pub fn short(registry: &'static Registry, cases: u32) {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let outcome = TestRunner::new(config).run(&prop::collection::vec(step(5), 1..30), |steps| {
        for engine in registry.iter() {
            for missing in BOTH {
                let mut checked = CheckedIndex::new(registry, engine.name, Options::new(), missing);
                for step in &steps {
                    checked.apply(step);
                    checked.check_contents();
                }
            }
        }
        Ok(())
    });
    outcome.expect("every engine does what the model does");
}

/// Thousands of steps on one index, so that numbers are used again and structures grow and shrink.
pub fn long(registry: &'static Registry, steps: usize) {
    let seed = printed_seed();
    let step = step(150);
    for engine in registry.iter() {
        for missing in BOTH {
            let mut draw = Draw::new(seed);
            let mut checked = CheckedIndex::new(registry, engine.name, Options::new(), missing);
            for round in 0..steps {
                checked.apply(&draw.one(&step));
                if round % 100 == 0 {
                    checked.check_contents();
                }
            }
            checked.check_contents();
            assert!(checked.model.len() > 20, "the history leaves subscriptions in the index");
        }
    }
}

/// Filled and emptied many times: whatever is left behind must not matter.
pub fn waves(registry: &'static Registry) {
    let seed = printed_seed();
    let (expression, event) = (expression(), event());
    for engine in registry.iter() {
        let mut draw = Draw::new(seed);
        let mut checked = CheckedIndex::new(registry, engine.name, Options::new(), Missing::Unknown);
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

/// Subscriptions that cut the values of others, each in another way; those of one attribute share their bounds.
const SPOTS: [&str; 4] = [
    "b = 7",
    "a between 2 and 6 and s = 'm'",
    "s >= 'k' and b in (3, 8, 11)",
    "(a < 4 or s like 'k%') and b != 1",
];

/// Adds and removes subscriptions at one spot, again and again: spaces are split and merged, and nothing is left behind.
/// Memory after 10,000 cycles is memory after 100, and answers stay right.
pub fn cycles(registry: &'static Registry) {
    let parsed = |text: &str| parse(text, &Limits::default()).expect("an expression");
    let spots = SPOTS.map(|text| Source::Expr(parsed(text).into()));
    let event = |n: i64| -> GivenEvent {
        let text = Given::Text(if n % 2 == 0 { "m" } else { "a" }.to_owned());
        vec![("a".into(), Given::Int(n)), ("b".into(), Given::Int(n % 3)), ("s".into(), text)]
    };
    for engine in registry.iter() {
        let mut checked = CheckedIndex::new(registry, engine.name, Options::new(), Missing::Unknown);
        for n in 0..5 {
            checked.apply(&Step::Add(Id::from(n), parsed(&format!("a = {n} and b = 1 and s > 'k'"))));
        }
        let run = |cycles: usize| {
            for _ in 0..cycles {
                for (spot, source) in (100..).zip(&spots) {
                    checked.index.add(Id::from(spot), source.clone()).expect("added");
                }
                for spot in 100..100 + spots.len() as i64 {
                    checked.index.remove(&Id::from(spot)).expect("a present id");
                }
            }
            checked.index.compact().expect("compacted");
            checked.check_contents();
            checked.index.memory()
        };
        let early = run(100);
        assert_eq!(run(9_900), early, "{}: memory after 10,000 cycles, and after 100", engine.name);
        checked.apply(&Step::Add(Id::from(9), parsed("a = 9 and b = 2")));
        checked.check_contents();
        checked.apply(&Step::Match((0..12).map(event).collect()));
    }
}

/// The value of an option, as a constant.
#[derive(Clone, Copy, Debug)]
pub enum Setting {
    /// A switch that is on by default.
    Off,
    /// A switch that is off by default.
    On,
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A choice.
    Word(&'static str),
}

impl Setting {
    fn value(self) -> OptionValue {
        match self {
            Setting::Off => OptionValue::Bool(false),
            Setting::On => OptionValue::Bool(true),
            Setting::Int(number) => OptionValue::Int(number),
            Setting::Float(number) => OptionValue::Float(number),
            Setting::Word(word) => OptionValue::Text(word.into()),
        }
    }
}

/// An engine and options that take subscriptions where defaults seldom do.
pub type OptionTrial = (&'static str, &'static [(&'static str, Setting)]);

/// No option changes an answer. The trials must cover every option of every engine of the registry.
pub fn options(registry: &'static Registry, trials: &[OptionTrial], steps: usize) {
    for engine in registry.iter() {
        for option in engine.options {
            let tried = |(name, options): &&OptionTrial| {
                *name == engine.name && options.iter().any(|(name, _)| *name == option.name)
            };
            assert!(
                trials.iter().any(|trial| tried(&trial)),
                "{}: {} is not tried",
                engine.name,
                option.name
            );
        }
    }
    let seed = printed_seed();
    let step = step(60);
    for (at, (engine, options)) in trials.iter().enumerate() {
        let missing = if at % 3 == 0 { Missing::False } else { Missing::Unknown };
        println!("{engine} {options:?}");
        let mut draw = Draw::new(seed.wrapping_add(at as u64));
        let options = options.iter().map(|(name, setting)| ((*name).to_owned(), setting.value())).collect();
        let mut checked = CheckedIndex::new(registry, engine, options, missing);
        for round in 0..steps {
            checked.apply(&draw.one(&step));
            if round % 10 == 0 {
                checked.check_contents();
            }
        }
        checked.check_contents();
    }
}

/// Every engine answers as `scan` does, on one index of 3,000 subscriptions; an engine that is not exact answers at
/// least that.
pub fn agreement_with_scan(registry: &'static Registry) {
    let mut draw = Draw::new(printed_seed());
    let subscriptions: Vec<Expr> = (0..3_000).map(|_| draw.one(&expression())).collect();
    let events: Vec<_> = (0..100).map(|_| draw.one(&event())).collect();
    let mut scan = Vec::new();
    let engines = registry.iter().filter(|engine| engine.name != "scan");
    for info in registry.find("scan").into_iter().chain(engines) {
        let index = CheckedIndex::new(registry, info.name, Options::new(), Missing::Unknown).index;
        let mut taken = Vec::new();
        for (n, expr) in subscriptions.iter().enumerate() {
            match index.add(Id::from(n as i64), text_of(expr)) {
                Ok(_) => taken.push(true),
                Err(error) if error.is_too_complex() => taken.push(false),
                Err(error) => unreachable!("{expr}: {error}"),
            }
        }
        let schema = index.schema();
        let rows = rows_of(&events, &schema);
        let matches = index.match_rows(&schema, &rows, None, true).expect("a fresh schema");
        let found: Vec<Vec<Id>> = (0..events.len()).map(|row| matches_of(&matches, row)).collect();
        if scan.is_empty() {
            assert!(found.iter().map(Vec::len).sum::<usize>() > 10_000, "matches are frequent");
            scan = found;
            continue;
        }
        for (row, (found, scan)) in found.iter().zip(&scan).enumerate() {
            let is_taken = |id: &&Id| if let Id::Int(n) = id { taken[*n as usize] } else { false };
            let expected: Vec<&Id> = scan.iter().filter(is_taken).collect();
            if info.exact {
                assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{}, event {row}", info.name);
            } else {
                assert!(expected.iter().all(|id| found.contains(id)), "{}, event {row}", info.name);
            }
        }
    }
}

/// The seed of long runs, printed so that a failure can be repeated.
fn printed_seed() -> u64 {
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    seed
}
