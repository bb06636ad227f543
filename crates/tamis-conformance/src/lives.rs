//! Random lives of indexes, one after another, for as long as the caller lets them: an engine, options, a mode for missing
//! values and a history of a few hundred operations, each drawn from the seed and the number of the life.

use crate::event::GivenEvent;
use crate::generate::{event, expression};
use crate::model::{CheckedIndex, Step};
use crate::seeded::Draw;
use tamis_core::engine::registry::{EngineInfo, OptionKind, OptionValue, Options, Registry};
use tamis_core::expr::{Expr, Missing};
use tamis_core::index::Id;

/// Expressions and events of a life: drawing them takes longer than most operations, so they are used several times.
const POOL: usize = 40;

/// Operations and comparisons so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Indexes that were made.
    pub lives: u64,
    /// Updates, matched events and observations. A batch counts once for each of its members.
    pub operations: u64,
    /// Pairs of a subscription and an event whose answer was compared with the reference.
    pub answers: u64,
}

/// Runs lives from number `first` on, while `goes_on` says so between two of them. The first difference from the model is
/// printed, and the error names the life, which `first` repeats.
pub fn run(
    registry: &'static Registry,
    seed: u64,
    first: u64,
    mut goes_on: impl FnMut(Totals) -> bool,
) -> Result<Totals, String> {
    let mut totals = Totals::default();
    while goes_on(totals) {
        let number = first + totals.lives;
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| live(registry, seed, number)));
        let Ok((operations, answers)) = outcome else {
            return Err(format!("life {number} of seed {seed} differs from the reference"));
        };
        totals.lives += 1;
        totals.operations += operations;
        totals.answers += answers;
    }
    Ok(totals)
}

/// One life; its operations and compared answers.
fn live(registry: &'static Registry, seed: u64, number: u64) -> (u64, u64) {
    let mut draw = Draw::new(seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let engines: Vec<&EngineInfo> = registry.iter().collect();
    let engine = engines[draw.below(engines.len())];
    let options = options(engine, &mut draw);
    let missing = if draw.below(2) == 0 { Missing::Unknown } else { Missing::False };
    let pool = Pool::new([6, 40, 200][draw.below(3)], &mut draw);
    let mut checked = CheckedIndex::new(registry, engine.name, options, missing);
    let (mut operations, mut answers) = (0, 0);
    for round in 0..300 + draw.below(700) {
        let step = pool.step(&mut draw);
        let (members, events) = match &step {
            Step::Add(..) | Step::Replace(..) | Step::Remove(_) => (1, 0),
            Step::AddMany(batch) => (batch.len(), 0),
            Step::Match(events) | Step::Observe(events) => (events.len(), events.len()),
        };
        checked.apply(&step);
        operations += members as u64;
        answers += (events * checked.model.len()) as u64;
        if round % 50 == 0 {
            checked.check_contents();
        }
    }
    checked.check_contents();
    (operations, answers)
}

/// What the steps of a life are made of.
struct Pool {
    /// Integers and their texts, which are different ids.
    ids: Vec<Id>,
    expressions: Vec<Expr>,
    events: Vec<GivenEvent>,
}

impl Pool {
    fn new(ids: i64, draw: &mut Draw) -> Pool {
        let (expression, event) = (expression(), event());
        Pool {
            ids: (0..ids / 2).flat_map(|n| [Id::from(n), Id::from(n.to_string().as_str())]).collect(),
            expressions: (0..POOL).map(|_| draw.one(&expression)).collect(),
            events: (0..POOL).map(|_| draw.one(&event)).collect(),
        }
    }

    fn step(&self, draw: &mut Draw) -> Step {
        let id = |draw: &mut Draw| self.ids[draw.below(self.ids.len())].clone();
        let expression = |draw: &mut Draw| self.expressions[draw.below(POOL)].clone();
        let events = |draw: &mut Draw| -> Vec<GivenEvent> {
            (0..1 + draw.below(4)).map(|_| self.events[draw.below(POOL)].clone()).collect()
        };
        match draw.below(12) {
            0..4 => Step::Add(id(draw), expression(draw)),
            4 => Step::AddMany((0..draw.below(6)).map(|_| (id(draw), expression(draw))).collect()),
            5 => Step::Replace(id(draw), expression(draw)),
            6..8 => Step::Remove(id(draw)),
            8..11 => Step::Match(events(draw)),
            _ => Step::Observe(events(draw)),
        }
    }
}

/// About half of an engine's options, at their bounds, near their lower bound or as by default.
fn options(engine: &EngineInfo, draw: &mut Draw) -> Options {
    let mut options = Options::new();
    for option in engine.options {
        if draw.below(2) == 0 {
            continue;
        }
        let value = match &option.kind {
            OptionKind::Switch { .. } => OptionValue::Bool(draw.below(2) == 0),
            OptionKind::WholeNumber { range, .. } => {
                OptionValue::Int((range.start() + draw.below(6)).min(*range.end()) as i64)
            }
            OptionKind::Number { default, range } => {
                OptionValue::Float([*range.start(), *default, *range.end()][draw.below(3)])
            }
            OptionKind::Choice { words, .. } => OptionValue::Text(words[draw.below(words.len())].to_owned()),
        };
        options.insert(option.name.to_owned(), value);
    }
    options
}
