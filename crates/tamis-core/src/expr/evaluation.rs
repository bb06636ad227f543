//! The reference semantics: three-valued evaluation of the syntax tree, node by node.
//!
//! Engines do not use it. It explains single results, decides which predicates count in a score, and is the oracle of
//! the tests.

use super::normal::Missing;
use super::syntax::{Comparison, Condition, Expr, Op, Quantifier};
use crate::event::{Event, EventSlots, Rows};
use crate::schema::Schema;
use crate::value::{Literal, Value};
use ipnet::IpNet;
use std::net::IpAddr;

/// Kleene's three truth values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Truth {
    /// The expression does not hold.
    False,
    /// An attribute is missing or its value is of another kind.
    Unknown,
    /// The expression holds: the event matches.
    True,
}

impl Truth {
    fn of(value: bool) -> Truth {
        if value { Truth::True } else { Truth::False }
    }

    fn not(self) -> Truth {
        match self {
            Truth::False => Truth::True,
            Truth::Unknown => Truth::Unknown,
            Truth::True => Truth::False,
        }
    }

    fn negated_if(self, negated: bool) -> Truth {
        if negated { self.not() } else { self }
    }

    fn xor(self, other: Truth) -> Truth {
        match (self, other) {
            (Truth::Unknown, _) | (_, Truth::Unknown) => Truth::Unknown,
            (a, b) => Truth::of(a != b),
        }
    }

    /// `TRUE`, `FALSE` or `UNKNOWN`.
    pub fn name(self) -> &'static str {
        match self {
            Truth::False => "FALSE",
            Truth::Unknown => "UNKNOWN",
            Truth::True => "TRUE",
        }
    }
}

/// AND: the minimum in the order FALSE < UNKNOWN < TRUE.
fn all(truths: impl Iterator<Item = Truth>) -> Truth {
    truths.min().unwrap_or(Truth::True)
}

/// OR: the maximum in the same order.
fn any(truths: impl Iterator<Item = Truth>) -> Truth {
    truths.max().unwrap_or(Truth::False)
}

/// What evaluation reads: an event, and the schema that maps names to its attributes.
#[derive(Clone, Copy)]
struct Context<'a> {
    schema: &'a Schema,
    event: &'a Event<'a>,
    missing: Missing,
}

impl<'a> Context<'a> {
    fn value(&self, condition: &Condition) -> Value<'a> {
        match self.schema.get(&condition.attribute.name) {
            Some(attribute) => self.event.value(attribute),
            None => Value::Missing,
        }
    }
}

impl Expr {
    /// A schema with the attributes of this expression.
    pub fn schema(&self) -> Schema {
        let mut schema = Schema::default();
        self.for_each_condition(false, &mut |condition, _| {
            schema.intern(&condition.attribute.name);
        });
        schema
    }

    /// The truth of the expression for a row; `schema` is the one that the rows were read with.
    pub fn evaluate_row(&self, schema: &Schema, rows: &Rows, row: usize, missing: Missing) -> Truth {
        let mut slots = EventSlots::default();
        let event = &slots.load(rows, row, schema.len());
        self.truth(Context { schema, event, missing })
    }

    /// As [`Expr::evaluate_row`], for every node of the expression.
    pub fn explain_row(&self, schema: &Schema, rows: &Rows, row: usize, missing: Missing) -> Explanation {
        let mut slots = EventSlots::default();
        let event = &slots.load(rows, row, schema.len());
        self.explain(Context { schema, event, missing })
    }

    fn truth(&self, context: Context<'_>) -> Truth {
        let mut operands = self.children().iter().map(|child| child.truth(context));
        match self {
            Expr::Const(constant) => Truth::of(*constant),
            Expr::Condition(condition) => {
                condition.truth(context.value(condition), context.event, context.missing)
            }
            Expr::Not(_) => operands.next().map_or(Truth::Unknown, Truth::not),
            Expr::And(_) => all(operands),
            Expr::Or(_) => any(operands),
            Expr::Xor(_) => operands.reduce(Truth::xor).unwrap_or(Truth::False),
            Expr::Xnor(_) => operands.reduce(|a, b| a.xor(b).not()).unwrap_or(Truth::True),
        }
    }

    fn explain(&self, context: Context<'_>) -> Explanation {
        let truth = self.truth(context);
        let (mut value, mut weight, mut reason) = (None, None, None);
        if let Expr::Condition(condition) = self {
            let found = context.value(condition);
            value = Some(context.event.describe(found));
            weight = Some(condition.weight);
            reason = condition.mismatch(found, context.event).filter(|_| truth == Truth::Unknown);
        }
        Explanation {
            text: match self {
                Expr::Const(_) | Expr::Condition(_) => self.to_string(),
                Expr::Not(_) => "NOT".into(),
                Expr::And(_) => "AND".into(),
                Expr::Or(_) => "OR".into(),
                Expr::Xor(_) => "XOR".into(),
                Expr::Xnor(_) => "XNOR".into(),
            },
            summary: match self {
                Expr::Condition(condition) => condition.summary(),
                _ => None,
            },
            truth,
            value,
            weight,
            reason,
            children: self.children().iter().map(|child| child.explain(context)).collect(),
        }
    }
}

/// Why an expression is TRUE, FALSE or UNKNOWN for an event.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The connective, or the predicate's canonical text.
    pub text: String,
    /// The text of a predicate with long lists and patterns abbreviated, if that is shorter.
    pub summary: Option<String>,
    /// Its truth for the event.
    pub truth: Truth,
    /// The event's value, for a predicate.
    pub value: Option<String>,
    /// The predicate's weight, for a predicate.
    pub weight: Option<f64>,
    /// Why a predicate is UNKNOWN although there is a value: the value's kind, and the kind that is wanted.
    pub reason: Option<String>,
    /// The operands.
    pub children: Vec<Explanation>,
}

impl Condition {
    /// The truth of the predicate for an event; `value` is that of its attribute.
    pub(crate) fn truth(&self, value: Value<'_>, event: &Event<'_>, missing: Missing) -> Truth {
        let on_missing = missing.truth();
        match (self.attribute.quantifier, value) {
            (None, value) => self.op.truth(value, on_missing),
            (Some(_), Value::Missing) => on_missing,
            (Some(quantifier), Value::List(list)) => {
                let elements = event.elements(list).map(|element| self.op.truth(element, on_missing));
                match quantifier {
                    Quantifier::Any => any(elements),
                    Quantifier::All => all(elements),
                }
            }
            (Some(_), _) => Truth::Unknown,
        }
    }

    /// The truth of the predicate for events without its attribute.
    pub(crate) fn truth_without(&self, missing: Missing) -> Truth {
        match self.attribute.quantifier {
            None => self.op.truth(Value::Missing, missing.truth()),
            Some(_) => missing.truth(),
        }
    }
}

impl Missing {
    fn truth(self) -> Truth {
        match self {
            Missing::Unknown => Truth::Unknown,
            Missing::False => Truth::False,
        }
    }
}

impl Op {
    fn truth(&self, value: Value<'_>, on_missing: Truth) -> Truth {
        // NOT IN, NOT LIKE and the like are NOT applied to the operator, for a missing value too.
        let (truth, negated) = match self {
            Op::IsNull { negated } => {
                return Truth::of(matches!(value, Value::Missing)).negated_if(*negated);
            }
            Op::Compare(comparison, literal) => {
                let negated = matches!(comparison, Comparison::NotEqual);
                let order = value.compare(literal);
                let truth = order.map(|order| Truth::of(comparison.accepts(order) != negated));
                (truth.unwrap_or(Truth::Unknown), negated)
            }
            Op::Between { negated, low, high } => {
                let above = value.compare(low).map_or(Truth::Unknown, |order| Truth::of(order.is_ge()));
                let below = value.compare(high).map_or(Truth::Unknown, |order| Truth::of(order.is_le()));
                (above.min(below), *negated)
            }
            Op::In { negated, literals } => {
                (any(literals.iter().map(|literal| equals(value, literal))), *negated)
            }
            Op::Matches { negated, pattern } => (text(value, |text| Some(pattern.matches(text))), *negated),
            Op::InCidr(networks) => (text(value, |text| in_networks(text, networks)), false),
            Op::IsTrue => (equals(value, &Literal::Bool(true)), false),
        };
        let truth = if matches!(value, Value::Missing) { on_missing } else { truth };
        truth.negated_if(negated)
    }
}

fn equals(value: Value<'_>, literal: &Literal) -> Truth {
    value.compare(literal).map_or(Truth::Unknown, |order| Truth::of(order.is_eq()))
}

fn text(value: Value<'_>, test: impl Fn(&str) -> Option<bool>) -> Truth {
    match value {
        Value::Text(text) => test(text).map_or(Truth::Unknown, Truth::of),
        _ => Truth::Unknown,
    }
}

/// Whether an address is in one of the networks; `None` if the text is not an address.
pub(crate) fn in_networks(text: &str, networks: &[IpNet]) -> Option<bool> {
    let address: IpAddr = text.parse().ok()?;
    Some(networks.iter().any(|network| network.contains(&address)))
}
