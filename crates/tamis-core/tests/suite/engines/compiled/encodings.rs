//! Tests and interval ends at the limits of their widths: 1, 2 and 4 bytes.

use super::workload::pick;
use super::{BOTH, compare, statistic};
use tamis_conformance::event::{Given, GivenEvent};
use tamis_conformance::seeded::{Draw, seed};
use tamis_core::expr::Missing;

/// More than 65,536 spaces in a dimension: interval ends of 4 bytes, and tests that do not fit into 8 bytes.
#[test]
fn more_spaces_than_a_wide_test_holds() {
    const MANY: i64 = 70_000;
    let mut draw = Draw::new(seed());
    let mut texts: Vec<String> = Vec::new();
    for n in 0..MANY {
        let (small, far) = (draw.below(50), n + draw.below(40_000) as i64);
        texts.push(match draw.below(6) {
            0 => format!("big = {n} and small = {small}"),
            1 => format!("big between {n} and {far} and small < {small} and other > {}", draw.below(300)),
            2 => format!("big != {n} and small = {small} and name = 'w{n}'"),
            3 => format!("small = {small} and (big < {n} or name != 'w{n}') and other = {}", draw.below(300)),
            4 => format!("any(list) = {n} and small > {small} or name = 'w{n}'"),
            _ => {
                format!("big not between {n} and {far} and other = {} and small >= {small}", draw.below(300))
            }
        });
    }
    let event = |draw: &mut Draw| -> GivenEvent {
        let big = draw.below(MANY as usize) as i64;
        let near = |draw: &mut Draw| Given::Int(draw.below(MANY as usize) as i64);
        vec![
            ("big".into(), if draw.below(9) == 0 { Given::Float(big as f64 + 0.5) } else { Given::Int(big) }),
            ("small".into(), Given::Int(draw.below(52) as i64)),
            ("other".into(), Given::Int(draw.below(302) as i64)),
            ("name".into(), Given::Text(format!("w{}", draw.below(MANY as usize)))),
            ("list".into(), Given::List((0..draw.below(4)).map(|_| near(draw)).collect())),
        ]
    };
    let events: Vec<GivenEvent> = (0..600).map(|_| event(&mut draw)).collect();
    let indexes = compare("large", &texts, &events, Missing::Unknown);
    assert_eq!(statistic(&indexes[1], "events_together"), 600);
}

/// As many spaces as one byte distinguishes, some fewer and some more: tests that end there, that wrap, and beyond.
#[test]
fn as_many_spaces_as_a_narrow_test_holds() {
    for values in [120, 126, 127, 128, 130, 260] {
        let mut draw = Draw::new(seed());
        // Each number from 0 on is a space, and so is what lies between two of them.
        let mut texts: Vec<String> = (0..values).map(|n| format!("a = {n} or b = {n} or c = {n}")).collect();
        let predicate = |draw: &mut Draw, attribute: &str| {
            let (low, more) = (draw.below(values + 2), draw.below(values / 2));
            match draw.below(5) {
                0 => format!("{attribute} = {low}"),
                1 => format!("{attribute} != {low}"),
                2 => format!("{attribute} >= {low}"),
                3 => format!("{attribute} not between {low} and {}", low + more),
                _ => format!("{attribute} between {low} and {}", low + more),
            }
        };
        for _ in 0..3_000 {
            let both: Vec<String> = (0..2 + draw.below(5))
                .map(|_| {
                    let of = pick(&mut draw, &["a", "b", "c", "d"]);
                    predicate(&mut draw, of)
                })
                .collect();
            texts.push(both.join(" and "));
        }
        let value = |draw: &mut Draw| match draw.below(3) {
            0 => Given::Float(draw.below(values + 3) as f64 - 0.5),
            _ => Given::Int(draw.below(values + 3) as i64),
        };
        let event = |draw: &mut Draw| -> GivenEvent {
            let names = ["a", "b", "c", "d"].into_iter().filter(|_| draw.below(3) > 0).collect::<Vec<_>>();
            names.into_iter().map(|name| (name.into(), value(draw))).collect()
        };
        let events: Vec<GivenEvent> = (0..600).map(|_| event(&mut draw)).collect();
        for missing in BOTH {
            compare(&format!("{values} values"), &texts, &events, missing);
        }
    }
}

/// More entries of complex tests, from subexpressions, than a test of 4 bytes can refer to.
#[test]
fn more_complex_tests_than_a_narrow_test_refers_to() {
    let text = |n: i64| format!("a = {} and (big between {n} and {} or b = 1)", n % 100, 60_000 + n);
    let texts: Vec<String> = (0..50_000).map(text).collect();
    let mut draw = Draw::new(seed());
    let events: Vec<GivenEvent> = (0..64)
        .map(|_| {
            let (a, big) = (draw.below(100) as i64, draw.below(110_000) as i64);
            vec![("a".into(), Given::Int(a)), ("big".into(), Given::Int(big))]
        })
        .collect();
    compare("entries", &texts, &events, Missing::Unknown);
}
