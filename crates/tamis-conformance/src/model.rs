//! An index beside what it should hold. The expected answers come from the reference evaluation of the expressions as
//! written, which shares no code with any engine.

use crate::event::{GivenEvent, write_row};
use std::num::NonZeroUsize;
use tamis_core::engine::registry::{Options, Registry, Takes};
use tamis_core::event::Rows;
use tamis_core::expr::{Expr, Missing, Truth};
use tamis_core::index::{EventWeights, Id, Index, Matches, Settings, Source};
use tamis_core::{Error, Schema};

/// One operation of a user.
#[derive(Clone, Debug)]
pub enum Step {
    /// Adds a subscription; the id may be present.
    Add(Id, Expr),
    /// Adds a batch, in which an id may be present or occur twice.
    AddMany(Vec<(Id, Expr)>),
    /// Replaces a subscription; the id may be absent.
    Replace(Id, Expr),
    /// Removes a subscription; the id may be absent.
    Remove(Id),
    /// Matches events.
    Match(Vec<GivenEvent>),
    /// Observes events.
    Observe(Vec<GivenEvent>),
}

/// An index beside what it should hold.
pub struct CheckedIndex {
    /// The index under test.
    pub index: Index,
    /// What it should hold, in order of insertion.
    pub model: Vec<(Id, Expr)>,
    missing: Missing,
    /// Whether the engine may refuse an expression as too complex.
    may_refuse: bool,
    /// Whether the engine returns matches only; otherwise it may return more.
    exact: bool,
}

impl CheckedIndex {
    /// An empty index.
    pub fn new(
        registry: &'static Registry,
        engine: &str,
        options: Options,
        missing: Missing,
    ) -> CheckedIndex {
        let info = registry.find(engine).expect("an engine of the registry");
        let settings = Settings { engine: engine.into(), options, missing, ..Settings::default() };
        CheckedIndex {
            index: Index::with_registry(registry, settings).expect("an index"),
            model: Vec::new(),
            missing,
            may_refuse: info.takes != Takes::All,
            exact: info.exact,
        }
    }

    fn position(&self, id: &Id) -> Option<usize> {
        self.model.iter().position(|(other, _)| other == id)
    }

    /// Performs a step on index and model and checks its outcome.
    pub fn apply(&mut self, step: &Step) {
        match step {
            Step::Add(id, expr) => {
                let outcome = self.index.add(id.clone(), text_of(expr));
                match (outcome, self.position(id)) {
                    (Ok(_), None) => self.model.push((id.clone(), expr.clone())),
                    (Err(Error::DuplicateId(named)), Some(_)) => assert_eq!(named, *id),
                    (Err(error), None) if self.may_refuse && error.is_too_complex() => {}
                    (other, position) => unreachable!("adding {id}, which is at {position:?}: {other:?}"),
                }
            }
            Step::AddMany(batch) => self.add_many(batch),
            Step::Replace(id, expr) => {
                let outcome = self.index.replace(id, Source::Expr(expr.clone().into()));
                match (outcome, self.position(id)) {
                    (Ok(_), Some(at)) => self.model[at].1 = expr.clone(),
                    (Err(Error::UnknownId(named)), None) => assert_eq!(named, *id),
                    (Err(error), Some(_)) if self.may_refuse && error.is_too_complex() => {}
                    (other, position) => unreachable!("replacing {id}, which is at {position:?}: {other:?}"),
                }
            }
            Step::Remove(id) => match (self.index.remove(id), self.position(id)) {
                (Ok(()), Some(at)) => drop(self.model.remove(at)),
                (Err(Error::UnknownId(named)), None) => assert_eq!(named, *id),
                (other, position) => unreachable!("removing {id}, which is at {position:?}: {other:?}"),
            },
            Step::Match(events) => self.check_matches(events),
            Step::Observe(events) => self.observe(events),
        }
    }

    fn add_many(&mut self, batch: &[(Id, Expr)]) {
        let first_bad = (0..batch.len()).find(|&row| {
            let id = &batch[row].0;
            self.position(id).is_some() || batch[..row].iter().any(|(earlier, _)| earlier == id)
        });
        let given = batch.iter().map(|(id, expr)| (id.clone(), text_of(expr)));
        match (self.index.add_many(given), first_bad) {
            (Ok(_), None) => self.model.extend(batch.iter().cloned()),
            (Err(Error::Row { error, .. }), _) if self.may_refuse && error.is_too_complex() => {}
            (Err(Error::Row { row, error }), Some(bad)) => {
                assert_eq!(row, bad);
                assert!(matches!(*error, Error::DuplicateId(_)), "{error}");
            }
            (other, bad) => unreachable!("first bad row {bad:?}: {other:?}"),
        }
    }

    /// Checks every way of matching. An engine that is not exact must return every match, each once.
    pub fn check_matches(&self, events: &[GivenEvent]) {
        let schema = self.index.schema();
        let rows = rows_of(events, &schema);
        let threads = NonZeroUsize::new(2);
        let ordered = self.index.match_rows(&schema, &rows, threads, true).expect("a fresh schema");
        let unordered = self.index.match_rows(&schema, &rows, threads, false).expect("a fresh schema");
        for (row, event) in events.iter().enumerate() {
            let expected = self.expected(&schema, &rows, row);
            let found = self.index.match_row(&schema, &rows, row).expect("a fresh schema").to_vec();
            let (ordered, mut unordered) = (matches_of(&ordered, row), matches_of(&unordered, row));
            assert_eq!(found, ordered, "{event:?}");
            unordered.sort();
            let mut sorted = found.clone();
            sorted.sort();
            assert_eq!(unordered, sorted, "{event:?}");
            if self.exact {
                assert_eq!(found, expected, "{}: {event:?}", self.differing(&found, &expected));
                self.check_top_k(&schema, &rows, row);
            } else {
                self.check_superset(&found, &expected, event);
            }
        }
    }

    /// The subscriptions that one of two answers lacks.
    fn differing(&self, found: &[Id], expected: &[Id]) -> String {
        let differs = |id: &Id| found.contains(id) != expected.contains(id);
        let texts =
            self.model.iter().filter(|(id, _)| differs(id)).map(|(id, expr)| format!("{id:?}: {expr}"));
        texts.collect::<Vec<_>>().join("; ")
    }

    fn check_superset(&self, found: &[Id], expected: &[Id], event: &GivenEvent) {
        let missed: Vec<&Id> = expected.iter().filter(|id| !found.contains(id)).collect();
        assert!(missed.is_empty(), "{missed:?} are missing: {event:?}");
        let in_order = self.model.iter().map(|(id, _)| id).filter(|id| found.contains(id));
        assert!(found.iter().eq(in_order), "{found:?} are not in order, or not once: {event:?}");
    }

    /// Observation may change no answer.
    fn observe(&self, events: &[GivenEvent]) {
        let schema = self.index.schema();
        self.index.observe_rows(&schema, &rows_of(events, &schema)).expect("a fresh schema");
        self.index.validate().expect("a sound index");
        self.check_matches(events);
    }

    fn expected(&self, schema: &Schema, rows: &Rows, row: usize) -> Vec<Id> {
        let holds = |expr: &Expr| expr.evaluate_row(schema, rows, row, self.missing) == Truth::True;
        self.model.iter().filter(|(_, expr)| holds(expr)).map(|(id, _)| id.clone()).collect()
    }

    /// The best matches are those of sorting all and cutting. A score is a sum over single predicates, each evaluated as an
    /// expression of its own.
    fn check_top_k(&self, schema: &Schema, rows: &Rows, row: usize) {
        let mut weights = EventWeights::default();
        weights.set("n", 0.5).expect("a weight");
        let score = |expr: &Expr| {
            let mut sum = 0.0;
            expr.for_each_condition(false, &mut |condition, negated| {
                let satisfying = if negated { Truth::False } else { Truth::True };
                let alone = Expr::Condition(condition.clone());
                if alone.evaluate_row(schema, rows, row, self.missing) == satisfying {
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

    /// Checks invariants, ids and expressions.
    pub fn check_contents(&self) {
        self.index.validate().expect("a sound index");
        assert_eq!(self.index.len(), self.model.len());
        assert_eq!(self.index.ids(), self.model.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>());
        for (id, expr) in &self.model {
            assert!(self.index.contains(id));
            assert_eq!(self.index.expression(id).expect("a present id"), *expr);
        }
    }
}

/// An expression as its text.
pub fn text_of(expr: &Expr) -> Source {
    Source::from(expr.to_string().as_str())
}

/// Events as rows.
pub fn rows_of(events: &[GivenEvent], schema: &Schema) -> Rows {
    let mut rows = Rows::default();
    events.iter().for_each(|event| write_row(event, schema, &mut rows));
    rows
}

/// The ids that a row matches.
pub fn matches_of(matches: &Matches, row: usize) -> Vec<Id> {
    (matches.offsets[row]..matches.offsets[row + 1]).map(|at| matches.ids.get(at as usize)).collect()
}
