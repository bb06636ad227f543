//! Random expressions and events: every operator and kind, over few attributes and few values, so that matches,
//! merges and contradictions are frequent.

use crate::event::{Given, GivenEvent};
use ipnet::IpNet;
use proptest::prelude::*;
use proptest::sample::select;
use std::sync::Arc;
use tamis_core::expr::{
    Attribute, Comparison, Condition, Connective, Expr, Limits, Op, PatternKind, Quantifier, TextPattern,
};
use tamis_core::{Literal, MICROS_PER_DAY, Number};

/// What an attribute mostly holds; one in six values and literals is of another kind.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Flavour {
    Number,
    Text,
    Bool,
    Time,
    Address,
}

/// Name, flavour, and whether it mostly holds a list of that flavour.
const ATTRIBUTES: &[(&str, Flavour, bool)] = &[
    ("n", Flavour::Number, false),
    ("user.age", Flavour::Number, false),
    ("s", Flavour::Text, false),
    ("my \"attr\"", Flavour::Text, false),
    ("größe", Flavour::Time, false),
    ("flag", Flavour::Bool, false),
    ("ip", Flavour::Address, false),
    ("tags", Flavour::Text, true),
    ("in", Flavour::Number, true),
];

const NUMBERS: &[Number] = &[
    Number::Int(9_007_199_254_740_991),
    Number::Int(9_007_199_254_740_992),
    Number::Int(9_007_199_254_740_993),
    Number::Int(i64::MAX),
    Number::Int(i64::MAX - 1),
    Number::Int(i64::MIN),
    Number::Float(9_223_372_036_854_775_808.0),
    Number::Float(-9_223_372_036_854_777_856.0),
    Number::Float(0.5),
    Number::Float(-0.5),
    Number::Float(1.5),
    Number::Float(1.75),
    Number::Float(3.5),
    Number::Float(2.000_000_000_000_000_4),
    Number::Float(5e-324),
    Number::Float(-1e308),
];

const TEXTS: &[&str] =
    &["", "a", "b", "ab", "abc", "A", "it's", "é", "É", "😀", "a\"b", "a%", "10", "x\ny", "\u{10ffff}"];
const ADDRESSES: &[&str] = &["10.0.0.1", "10.1.2.3", "192.168.0.1", "::1", "2001:db8::7", "nowhere"];
const NETWORKS: &[&str] =
    &["10.0.0.0/8", "10.1.0.0/16", "0.0.0.0/0", "192.168.0.1/32", "::/0", "2001:db8::/32"];

const PATTERNS: &[(PatternKind, &str)] = &[
    (PatternKind::Like, "a%"),
    (PatternKind::Like, "%b"),
    (PatternKind::Like, "%a%"),
    (PatternKind::Like, "a"),
    (PatternKind::Like, "a_"),
    (PatternKind::Like, "%"),
    (PatternKind::Like, "_%b_"),
    (PatternKind::Like, "a\\%"),
    (PatternKind::Like, "\u{10ffff}%"),
    (PatternKind::ILike, "A%"),
    (PatternKind::ILike, "é"),
    (PatternKind::Regex, "^[ab]+$"),
    (PatternKind::Regex, "(?i)A"),
    (PatternKind::Regex, "\\d"),
    (PatternKind::Regex, "it's"),
];
const FUNCTIONS: &[(PatternKind, &str)] = &[
    (PatternKind::Prefix, "a"),
    (PatternKind::Prefix, ""),
    (PatternKind::Prefix, "it'"),
    (PatternKind::Suffix, "b"),
    (PatternKind::Suffix, "\""),
    (PatternKind::Contains, "b"),
    (PatternKind::Contains, "%"),
];

/// One flavour most of the time, any at others.
fn mostly(flavour: Flavour) -> impl Strategy<Value = Flavour> {
    let any = select(vec![Flavour::Number, Flavour::Text, Flavour::Bool, Flavour::Time, Flavour::Address]);
    prop_oneof![5 => Just(flavour), 1 => any]
}

fn number() -> BoxedStrategy<Number> {
    prop_oneof![3 => (0i64..5).prop_map(Number::Int), 1 => select(NUMBERS)].boxed()
}

fn text(pool: &'static [&'static str]) -> BoxedStrategy<String> {
    select(pool).prop_map(str::to_owned).boxed()
}

/// Days around one date, and moments around its midnight.
fn micros() -> BoxedStrategy<i64> {
    let day = (20_770i64..20_774).prop_map(|day| day * MICROS_PER_DAY);
    (day, prop_oneof![3 => Just(0i64), 1 => -1i64..2]).prop_map(|(day, offset)| day + offset).boxed()
}

fn literal_of(flavour: Flavour) -> BoxedStrategy<Literal> {
    match flavour {
        Flavour::Number => number().prop_map(Literal::Number).boxed(),
        Flavour::Text => text(TEXTS).prop_map(|text| Literal::Text(text.into())).boxed(),
        Flavour::Address => text(ADDRESSES).prop_map(|text| Literal::Text(text.into())).boxed(),
        Flavour::Bool => any::<bool>().prop_map(Literal::Bool).boxed(),
        Flavour::Time => {
            let date = (20_770i32..20_774).prop_map(Literal::Date);
            prop_oneof![date, micros().prop_map(Literal::Timestamp)].boxed()
        }
    }
}

fn literal(flavour: Flavour) -> BoxedStrategy<Literal> {
    mostly(flavour).prop_flat_map(literal_of).boxed()
}

fn pattern(pool: &'static [(PatternKind, &'static str)]) -> impl Strategy<Value = Arc<TextPattern>> {
    select(pool).prop_map(|(kind, source)| {
        Arc::new(TextPattern::new(kind, source, &Limits::default()).expect("valid"))
    })
}

fn comparison() -> impl Strategy<Value = Comparison> {
    use Comparison::*;
    select(vec![Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual])
}

fn op(flavour: Flavour, quantified: bool) -> BoxedStrategy<Op> {
    let compare = (comparison(), literal(flavour)).prop_map(|(comparison, at)| Op::Compare(comparison, at));
    let between = (any::<bool>(), literal(flavour), literal(flavour))
        .prop_map(|(negated, low, high)| Op::Between { negated, low, high });
    let list = (any::<bool>(), prop::collection::vec(literal(flavour), 1..4))
        .prop_map(|(negated, literals)| Op::In { negated, literals });
    let is_null = any::<bool>().prop_map(|negated| Op::IsNull { negated });
    let like =
        (any::<bool>(), pattern(PATTERNS)).prop_map(|(negated, pattern)| Op::Matches { negated, pattern });
    // NOT before a function is a NOT around it: the parser never puts it inside.
    let function = pattern(FUNCTIONS).prop_map(|pattern| Op::Matches { negated: false, pattern });
    let network = select(NETWORKS).prop_map(|network| network.parse::<IpNet>().expect("a network"));
    let cidr = prop::collection::vec(network, 1..3).prop_map(Op::InCidr);
    let texts = u32::from(flavour == Flavour::Text) * 6 + 1;
    prop_oneof![
        8 => compare,
        3 => between,
        3 => list,
        u32::from(!quantified) => is_null,
        texts => like,
        texts / 2 + 1 => function,
        u32::from(flavour == Flavour::Address) * 12 + 1 => cidr,
        u32::from(flavour == Flavour::Bool) * 12 + 1 => Just(Op::IsTrue),
    ]
    .boxed()
}

/// A predicate.
pub fn condition() -> BoxedStrategy<Condition> {
    let quantifier = |of_list: bool| {
        let quantified = select(vec![Some(Quantifier::Any), Some(Quantifier::All)]);
        let (often, seldom) = if of_list { (6, 1) } else { (1, 12) };
        prop_oneof![often => quantified, seldom => Just(None)]
    };
    let weight =
        prop_oneof![6 => Just(1.0), 1 => Just(0.0), 1 => Just(0.25), 1 => Just(1e-9), 1 => Just(2e10)];
    let parts = select(ATTRIBUTES).prop_flat_map(move |(name, flavour, of_list)| {
        quantifier(of_list).prop_flat_map(move |quantifier| {
            op(flavour, quantifier.is_some())
                .prop_map(move |op| (Attribute { name: name.into(), quantifier }, op))
        })
    });
    (parts, weight).prop_map(|((attribute, op), weight)| Condition { attribute, op, weight }).boxed()
}

/// An expression of up to a few dozen nodes.
pub fn expression() -> BoxedStrategy<Expr> {
    let connective = || {
        select(vec![
            Connective::And,
            Connective::And,
            Connective::Or,
            Connective::Or,
            Connective::Xor,
            Connective::Xnor,
        ])
    };
    let leaf =
        prop_oneof![30 => condition().prop_map(Expr::Condition), 1 => any::<bool>().prop_map(Expr::Const)];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let joined = (connective(), prop::collection::vec(inner.clone(), 2..5));
        prop_oneof![
            4 => joined.prop_map(|(connective, operands)| Expr::join(connective, operands)),
            1 => inner.prop_map(|expr| Expr::Not(Box::new(expr))),
        ]
    })
    .boxed()
}

fn scalar_of(flavour: Flavour) -> BoxedStrategy<Given> {
    match flavour {
        Flavour::Number => {
            let given = |number| match number {
                Number::Int(value) => Given::Int(value),
                Number::Float(value) => Given::Float(value),
            };
            let edge =
                select(vec![f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -0.0, 2.0, 9_007_199_254_740_992.0]);
            prop_oneof![6 => number().prop_map(given), 1 => edge.prop_map(Given::Float)].boxed()
        }
        Flavour::Text => text(TEXTS).prop_map(Given::Text).boxed(),
        Flavour::Address => text(ADDRESSES).prop_map(Given::Text).boxed(),
        Flavour::Bool => any::<bool>().prop_map(Given::Bool).boxed(),
        Flavour::Time => micros().prop_map(Given::Time).boxed(),
    }
}

fn scalar(flavour: Flavour) -> BoxedStrategy<Given> {
    let scalar = mostly(flavour).prop_flat_map(scalar_of);
    prop_oneof![20 => scalar, 1 => Just(Given::Missing), 1 => Just(Given::Object)].boxed()
}

fn list(flavour: Flavour) -> BoxedStrategy<Given> {
    let nested = Just(Given::List(vec![Given::Int(1)]));
    let element = prop_oneof![20 => scalar(flavour), 1 => nested];
    prop::collection::vec(element, 0..4).prop_map(Given::List).boxed()
}

/// An event in which each attribute is present most of the time.
pub fn event() -> BoxedStrategy<GivenEvent> {
    let mut columns: Vec<BoxedStrategy<(String, Given)>> = Vec::new();
    for &(name, flavour, of_list) in ATTRIBUTES {
        let (lists, scalars) = if of_list { (7, 1) } else { (1, 12) };
        let present = prop_oneof![lists => list(flavour), scalars => scalar(flavour)];
        let value = prop_oneof![4 => present, 1 => Just(Given::Missing)];
        columns.push(value.prop_map(move |value| (name.to_owned(), value)).boxed());
    }
    columns.boxed()
}
