//! Values with a meaning of their own: list elements, missing elements, the smallest and largest integers.

use super::{BOTH, compare};
use tamis_conformance::event::{Given, GivenEvent};
use tamis_core::expr::Missing;

/// Several elements of a list lead to one expression, which is reported once.
#[test]
fn several_elements_match_once() {
    let texts = ["any(l) in (1, 3, 5, 7, 9, 11)", "any(l) in (1, 3)", "any(l) > 2 and any(l) < 8"];
    let list =
        |numbers: &[i64]| vec![("l".into(), Given::List(numbers.iter().map(|n| Given::Int(*n)).collect()))];
    let events: Vec<GivenEvent> =
        [&[1, 3, 5][..], &[2, 4], &[1, 1, 9, 12], &[]].iter().map(|numbers| list(numbers)).collect();
    let events: Vec<GivenEvent> = events.iter().cycle().take(600).cloned().collect();
    compare("elements", &texts.map(str::to_owned), &events, Missing::Unknown);
}

/// In the closed world an element may be missing, too.
#[test]
fn missing_elements_are_elements() {
    let texts = ["any(l) != 3", "a = 1 and any(l) not in (1, 2)", "a = 1 or not all(m) = 1"];
    let lists = [vec![Given::Missing], vec![Given::Int(3), Given::Missing], vec![Given::Int(3)], vec![]];
    let events: Vec<GivenEvent> = (0..600)
        .map(|n| {
            let list = Given::List(lists[n % 4].clone());
            vec![("l".into(), list.clone()), ("m".into(), list), ("a".into(), Given::Int(n as i64 % 3))]
        })
        .collect();
    for missing in BOTH {
        compare("missing", &texts.map(str::to_owned), &events, missing);
    }
}

/// Tables by integer that end with the largest or begin with the smallest one.
#[test]
fn integers_at_the_ends() {
    let ends = [i64::MAX, i64::MAX - 1, i64::MAX - 2, i64::MIN, i64::MIN + 1];
    for end in ends {
        let texts: Vec<String> = ["=", "!=", "<=", ">=", "<", ">"].map(|op| format!("a {op} {end}")).into();
        let values = ends.into_iter().map(Given::Int).chain(
            [0.5, -0.5, 9.223_372_036_854_775e18, -9.223_372_036_854_776e18, 1e300, f64::INFINITY]
                .map(Given::Float),
        );
        let events: Vec<GivenEvent> = values.map(|value| vec![("a".into(), value)]).collect();
        compare("ends", &texts, &events, Missing::Unknown);
        compare("point", &texts[..1], &events, Missing::Unknown);
        compare("range", &texts[2..4], &events, Missing::Unknown);
    }
}
