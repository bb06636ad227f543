//! The published crate `a-tree`, which implements the same paper as our engine `a_tree`.
//!
//! It needs typed attributes beforehand and expressions in its own language; neither is timed. Every insertion visits all
//! roots, so building takes quadratic time and is aborted past a limit.

use super::Competitor;
use crate::case::Case;
use crate::dialect::a_tree::{AttributeKind, expression};
use crate::generate::{Event, Value};
use a_tree::{ATree, AttributeDefinition};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tamis_core::expr::{Condition, Expr, Limits, Op, parse};
use tamis_core::{Literal, Number};

/// Insertions between two checks of the time limit.
const STRIDE: usize = 500;

/// A tree over all subscriptions of a case.
pub struct ATreeCrate<'c> {
    tree: ATree<u32>,
    events: &'c [Event],
    /// Events in the crate's form, built on first use: with many attributes an event is large.
    made: Vec<a_tree::Event>,
    build: Duration,
}

impl ATreeCrate<'_> {
    /// Translates all expressions, then inserts them one at a time.
    pub fn build(case: &Case, longest: Duration) -> Result<ATreeCrate<'_>, String> {
        let refuse = |reason: String| format!("does not take it: {reason}");
        let parsed =
            |text: &String| parse(text, &Limits::default()).map_err(|error| refuse(error.to_string()));
        let parsed: Vec<Expr> = case.subscriptions.iter().map(parsed).collect::<Result<_, _>>()?;
        let kinds = kinds(&case.events, &parsed).map_err(refuse)?;
        let texts = parsed.iter().map(|expr| expression(expr, &kinds));
        let texts: Vec<String> = texts.collect::<Result<_, _>>().map_err(refuse)?;

        let definitions: Vec<AttributeDefinition> =
            kinds.iter().map(|(name, kind)| definition(name, *kind)).collect();
        let mut tree = ATree::new(&definitions).map_err(|error| refuse(error.to_string()))?;
        let started = Instant::now();
        for (n, text) in texts.iter().enumerate() {
            tree.insert(&(n as u32), text).map_err(|error| refuse(error.to_string()))?;
            if n % STRIDE == 0 && started.elapsed() > longest {
                let seconds = longest.as_secs();
                return Err(format!("given up: {n} of {} were built in {seconds} s", texts.len()));
            }
        }
        let build = started.elapsed();
        Ok(ATreeCrate { tree, events: &case.events, made: Vec::new(), build })
    }

    fn event(&mut self, event: usize) -> &a_tree::Event {
        while self.made.len() <= event {
            let mut builder = self.tree.make_event();
            for (name, value) in &self.events[self.made.len()] {
                let known = match value {
                    Value::Int(value) => builder.with_integer(name, *value),
                    Value::Thousandths(value) => builder.with_float(name, *value, 3),
                    Value::Text(text) => builder.with_string(name, text),
                    Value::Texts(texts) => {
                        builder.with_string_list(name, &texts.iter().map(String::as_str).collect::<Vec<_>>())
                    }
                };
                known.expect("every attribute of an event is defined");
            }
            self.made.push(builder.build().expect("an event"));
        }
        &self.made[event]
    }
}

/// The kind of every attribute: from the events that have it, otherwise from the literals it is compared with.
fn kinds(events: &[Event], expressions: &[Expr]) -> Result<BTreeMap<String, AttributeKind>, String> {
    let mut kinds = BTreeMap::new();
    for (name, value) in events.iter().flatten() {
        let kind = match value {
            Value::Int(_) => AttributeKind::Int,
            Value::Thousandths(_) => AttributeKind::Decimal,
            Value::Text(_) => AttributeKind::Text,
            Value::Texts(_) => AttributeKind::Texts,
        };
        kinds.insert(name.clone(), kind);
    }
    let mut fault = None;
    for expr in expressions {
        expr.for_each_condition(false, &mut |condition, _| {
            if !kinds.contains_key(condition.attribute.name.as_str()) {
                match compared_with(condition) {
                    Some(kind) => drop(kinds.insert(condition.attribute.name.to_string(), kind)),
                    None => fault = Some(format!("no event has attribute {}", condition.attribute.name)),
                }
            }
        });
    }
    fault.map_or(Ok(kinds), Err)
}

fn compared_with(condition: &Condition) -> Option<AttributeKind> {
    let literal = match &condition.op {
        Op::Compare(_, literal) | Op::Between { low: literal, .. } => literal,
        Op::In { literals, .. } => literals.first()?,
        _ => return None,
    };
    match (literal, condition.attribute.quantifier) {
        (Literal::Number(Number::Int(_)), None) => Some(AttributeKind::Int),
        (Literal::Number(Number::Float(_)), None) => Some(AttributeKind::Decimal),
        (Literal::Text(_), None) => Some(AttributeKind::Text),
        (Literal::Text(_), Some(_)) => Some(AttributeKind::Texts),
        _ => None,
    }
}

fn definition(name: &str, kind: AttributeKind) -> AttributeDefinition {
    match kind {
        AttributeKind::Int => AttributeDefinition::integer(name),
        AttributeKind::Decimal => AttributeDefinition::float(name),
        AttributeKind::Text => AttributeDefinition::string(name),
        AttributeKind::Texts => AttributeDefinition::string_list(name),
    }
}

impl Competitor for ATreeCrate<'_> {
    fn one(&mut self, event: usize) -> usize {
        self.event(event);
        let report = self.tree.search(&self.made[event]).expect("the crate matches");
        std::hint::black_box(report.matches()).len()
    }

    fn many(&mut self, _: usize) -> bool {
        false
    }

    fn numbers(&mut self, event: usize) -> Vec<u32> {
        self.event(event);
        let report = self.tree.search(&self.made[event]).expect("the crate matches");
        let mut numbers: Vec<u32> = report.matches().iter().map(|number| **number).collect();
        numbers.sort_unstable();
        numbers
    }

    fn numbers_of_many(&mut self, _: usize) -> Option<Vec<Vec<u32>>> {
        None
    }

    fn build(&self) -> Option<Duration> {
        Some(self.build)
    }

    fn bytes(&self) -> Option<(usize, usize)> {
        None
    }
}
