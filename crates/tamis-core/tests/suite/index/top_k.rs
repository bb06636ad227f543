//! The best matches of many events: those of the single call, which in turn are those of the reference evaluation.

use std::num::NonZeroUsize;
use tamis_conformance::event::{GivenEvent, write_row};
use tamis_conformance::generate::{event, expression};
use tamis_conformance::seeded::{Draw, seed};
use tamis_core::engine::registry::Registry;
use tamis_core::event::Rows;
use tamis_core::expr::{Condition, Expr, Missing, Truth};
use tamis_core::index::{EventWeights, Id, Index, RankedMatches, Settings, Source, Weighting};
use tamis_core::{Error, Schema};

/// More than are matched at a time, and no multiple of that.
const EVENTS: usize = 300;

/// An index beside what it should hold, in order of insertion.
struct Checked {
    index: Index,
    missing: Missing,
    model: Vec<(Id, Expr)>,
    matches: usize,
}

/// What the attributes of an event count, beside what is passed for it.
#[derive(Clone, Default)]
struct Given {
    named: Vec<(&'static str, f64)>,
    weights: EventWeights,
}

impl Given {
    fn new(named: &[(&'static str, f64)]) -> Given {
        let mut weights = EventWeights::default();
        named.iter().for_each(|(name, weight)| weights.set(name, *weight).expect("a weight"));
        Given { named: named.to_vec(), weights }
    }

    fn of(&self, condition: &Condition) -> f64 {
        let named = self.named.iter().find(|(name, _)| *name == condition.attribute.name);
        named.map_or(1.0, |(_, weight)| *weight)
    }
}

impl Checked {
    fn new(engine: &str, missing: Missing) -> Checked {
        let settings = Settings { engine: engine.into(), missing, ..Settings::default() };
        Checked { index: Index::new(settings).expect("an index"), missing, model: Vec::new(), matches: 0 }
    }

    /// Some subscriptions more, some fewer, some replaced.
    fn change(&mut self, draw: &mut Draw, round: usize) {
        let expression = expression();
        for n in 0..120 {
            let (number, expr) = (round * 1_000 + n, draw.one(&expression));
            let id =
                if n % 5 == 0 { Id::from(format!("{number}").as_str()) } else { Id::from(number as i64) };
            // An engine may find an expression too complex.
            if self.index.add(id.clone(), Source::Expr(expr.clone().into())).is_ok() {
                self.model.push((id, expr));
            }
        }
        for _ in 0..30 {
            let (id, _) = self.model.remove(draw.below(self.model.len()));
            self.index.remove(&id).expect("a present id");
            let (at, expr) = (draw.below(self.model.len()), draw.one(&expression));
            if self.index.replace(&self.model[at].0, Source::Expr(expr.clone().into())).is_ok() {
                self.model[at].1 = expr;
            }
        }
    }

    fn expected(&self, schema: &Schema, rows: &Rows, row: usize, given: &Given) -> Vec<(Id, f64)> {
        let truth = |expr: &Expr| expr.evaluate_row(schema, rows, row, self.missing);
        sort_all(&self.model, truth, |condition| given.of(condition))
    }

    fn check(&mut self, events: &[GivenEvent], each: &[Given]) {
        let schema = self.index.schema();
        let mut rows = Rows::default();
        events.iter().for_each(|event| write_row(event, &schema, &mut rows));
        let same = Given::new(&[("n", 0.5), ("s", 0.0), ("nobody asks", 7.0)]);
        let own: Vec<EventWeights> = each.iter().map(|given| given.weights.clone()).collect();
        for (weights, given) in [
            (Weighting::Same(&same.weights), &vec![same.clone(); events.len()][..]),
            (Weighting::Same(&EventWeights::default()), &vec![Given::default(); events.len()]),
            (Weighting::Each(&own), each),
        ] {
            let expected: Vec<_> =
                (0..events.len()).map(|row| self.expected(&schema, &rows, row, &given[row])).collect();
            self.matches += expected.iter().map(Vec::len).sum::<usize>();
            for (k, threads) in [(0, 1), (1, 3), (3, 1), (3, 2), (usize::MAX, 2)] {
                let threads = NonZeroUsize::new(threads);
                let ranked = self.index.top_k_rows(&schema, &rows, k, weights, threads);
                let ranked = ranked.expect("a fresh schema").expect("scores");
                assert_eq!(ranked.matches.offsets.len(), events.len() + 1);
                assert_eq!(ranked.matches.ids.len(), ranked.scores.len());
                for (row, expected) in expected.iter().enumerate() {
                    let expected = &expected[..k.min(expected.len())];
                    assert_eq!(slice(&ranked, row), expected, "{:?}", events[row]);
                    if row % 8 == 0 {
                        let single = self.index.top_k(&schema, &rows, row, k, &given[row].weights);
                        assert_eq!(single.expect("a fresh schema").expect("scores"), expected);
                    }
                }
            }
        }
    }
}

/// All matches with their scores, best first: each predicate is an expression of its own.
pub fn sort_all(
    model: &[(Id, Expr)],
    truth: impl Fn(&Expr) -> Truth,
    weight: impl Fn(&Condition) -> f64,
) -> Vec<(Id, f64)> {
    let score = |expr: &Expr| {
        let mut sum = 0.0;
        expr.for_each_condition(false, &mut |condition, negated| {
            let wanted = if negated { Truth::False } else { Truth::True };
            if truth(&Expr::Condition(condition.clone())) == wanted {
                sum += condition.weight * weight(condition);
            }
        });
        sum
    };
    let matching = model.iter().filter(|(_, expr)| truth(expr) == Truth::True);
    let mut ranked: Vec<_> = matching.map(|(id, expr)| (id.clone(), score(expr))).collect();
    ranked.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    ranked
}

pub(super) fn slice(ranked: &RankedMatches, row: usize) -> Vec<(Id, f64)> {
    let offsets = &ranked.matches.offsets;
    (offsets[row] as usize..offsets[row + 1] as usize)
        .map(|at| (ranked.matches.ids.get(at), ranked.scores[at]))
        .collect()
}

#[test]
fn many_events_get_what_each_gets_alone() {
    let seed = seed();
    println!("TAMIS_SEED={seed}");
    for engine in Registry::CORE.iter() {
        for missing in [Missing::Unknown, Missing::False] {
            let (mut draw, event) = (Draw::new(seed), event());
            let mut checked = Checked::new(engine.name, missing);
            for round in 0..3 {
                checked.change(&mut draw, round);
                let events: Vec<GivenEvent> = (0..EVENTS).map(|_| draw.one(&event)).collect();
                let each =
                    [Given::default(), Given::new(&[("n", 3.0)]), Given::new(&[("s", 0.1), ("b", 2.0)])];
                let each: Vec<Given> = (0..EVENTS).map(|_| each[draw.below(each.len())].clone()).collect();
                checked.check(&events, &each);
                if round == 1 {
                    checked.index.compact().expect("nothing in the way");
                    checked.check(&events, &each);
                }
            }
            assert!(checked.matches > 10_000, "{} matches are too few to be ranked", checked.matches);
        }
    }
}

#[test]
fn no_events_and_no_subscriptions() {
    for engine in Registry::CORE.iter() {
        let checked = Checked::new(engine.name, Missing::Unknown);
        let (schema, mut rows, none) = (checked.index.schema(), Rows::default(), EventWeights::default());
        for events in 0..2 {
            let ranked = checked.index.top_k_rows(&schema, &rows, 3, Weighting::Same(&none), None);
            let ranked = ranked.expect("a fresh schema").expect("scores");
            assert_eq!(ranked.matches.offsets, vec![0; events + 1]);
            assert!(ranked.scores.is_empty());
            rows.finish_row();
        }
    }
}

#[test]
fn there_are_weights_for_every_event_or_the_call_fails() {
    let checked = Checked::new("auto", Missing::Unknown);
    let (schema, mut rows) = (checked.index.schema(), Rows::default());
    rows.finish_row();
    for weights in [&[][..], &[EventWeights::default(), EventWeights::default()]] {
        let ranked = checked.index.top_k_rows(&schema, &rows, 3, Weighting::Each(weights), None);
        let error = ranked.expect("a fresh schema").expect_err("another number of weights");
        assert!(matches!(error, Error::Event { attribute: None, .. }), "{error}");
        assert!(error.to_string().contains(&format!("weights of {} events for 1 events", weights.len())));
    }
}
