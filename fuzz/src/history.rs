//! A history of adds, replacements, removals, matches, observations, compactions and saves on one engine, against the model
//! of `tamis-conformance`: the reference evaluation of every expression.
//!
//! An input is two bytes for the engine and its settings, then steps of four bytes: what to do, to which id, and the seed of
//! the expression or event. So every input is a valid history; libFuzzer inserts, removes, repeats and joins steps, and keeps
//! the histories that reach new branches. `crates/tamis-core/tests/suite/engines` runs the same kind of histories without
//! that guidance.
//!
//! Bytes as the random numbers of the generators (proptest's `PassThrough`) would let a mutation change one predicate, but
//! proptest splits them in halves at every nested strategy and rejects the zeros that follow for ever.

use proptest::prelude::*;
use tamis_baselines::ALL;
use tamis_conformance::event::GivenEvent;
use tamis_conformance::generate::{event, expression};
use tamis_conformance::model::{CheckedIndex, Step};
use tamis_conformance::seeded::Draw;
use tamis_core::engine::registry::{OptionValue, Options};
use tamis_core::expr::{Expr, Missing};
use tamis_core::index::{Id, Index, LoadOptions};

/// Steps per history. A thousand would spend the time on matching one large index.
const MAX_STEPS: usize = 60;
/// Ids in use: few, so that duplicates, replacements and removals of present ids are frequent.
const IDS: u8 = 12;

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
    let mut checked = empty(engine, setting);
    let (steps, _) = steps.as_chunks::<4>();
    for step in steps.iter().take(MAX_STEPS) {
        STRATEGIES.with(|strategies| perform(*step, strategies, &mut checked));
        checked.index.validate().expect("a sound index");
    }
    checked.check_contents();
}

fn empty(engine: u8, setting: u8) -> CheckedIndex {
    let engines: Vec<_> = ALL.iter().collect();
    let engine = engines[usize::from(engine) % engines.len()];
    let missing = if setting & 1 == 0 { Missing::Unknown } else { Missing::False };
    let mut options = Options::new();
    // Segments of few members, so that some are merged within a short history.
    if engine.name == "compiled" && setting & 2 == 0 {
        options.insert("recent".into(), OptionValue::Int(2));
        options.insert("fanout".into(), OptionValue::Int(2));
    }
    CheckedIndex::new(ALL, engine.name, options, missing)
}

fn perform([action, id, seed @ ..]: [u8; 4], strategies: &Strategies, checked: &mut CheckedIndex) {
    let number = id % IDS;
    let id = match number % 3 {
        0 => Id::from(number.to_string().as_str()),
        _ => Id::from(i64::from(number)),
    };
    let mut draw = Draw::new(u16::from_le_bytes(seed).into());
    match action % 16 {
        0..6 => checked.apply(&Step::Add(id, draw.one(&strategies.expression))),
        6 => checked.apply(&Step::Replace(id, draw.one(&strategies.expression))),
        7..9 => checked.apply(&Step::Remove(id)),
        9..13 => checked.apply(&Step::Match(vec![draw.one(&strategies.event)])),
        13 => checked.apply(&Step::Observe(vec![draw.one(&strategies.event)])),
        14 => checked.index.compact().expect("compaction"),
        _ => {
            let written = checked.index.to_bytes();
            let opened = Index::from_bytes_with_registry(ALL, &written, &LoadOptions::default());
            checked.index = opened.expect("what was written opens");
            checked.check_contents();
        }
    }
}
