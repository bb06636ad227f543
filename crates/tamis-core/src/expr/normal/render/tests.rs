//! The text of predicates.

use crate::expr::{Limits, Missing, Normalizer, Predicate, parse};
use crate::schema::Schema;

/// The single predicate of an expression on `x`.
fn predicate(text: &str, missing: Missing) -> Predicate {
    let expr = parse(text, &Limits::default()).expect("an expression");
    let (mut schema, mut normalizer) = (Schema::default(), Normalizer::default());
    let normal = normalizer.normalize(&expr, &mut schema, missing);
    let [predicate] = normal.predicates() else {
        unreachable!("{text}: {:?}", normal.predicates());
    };
    predicate.clone()
}

fn rendered(text: &str) -> String {
    predicate(text, Missing::Unknown).text("x")
}

#[test]
fn canonical_text_is_reproduced() {
    for text in [
        "x = 3",
        "x != 3",
        "x < 5",
        "x <= 5",
        "x > 0.1",
        "x >= -0.1",
        "x > 5 AND x <= 7",
        "x BETWEEN 18 AND 35",
        "x NOT BETWEEN 18 AND 35",
        "x <= 5 OR x > 7",
        "x IN (1, 2)",
        "x NOT IN (1, 2)",
        "x IN (1, 2) OR x >= 5",
        "x > 1.7976931348623157e308",
        "x <= 1.7976931348623157e308",
        "x IN (TRUE, 1, DATE '2026-11-15', 'a')",
        "x = 1 OR x != 'a' OR x IS NULL",
        "x = TRUE",
        "x IN (FALSE, TRUE)",
        "x < DATE '2026-11-15'",
        "x > TIMESTAMP '2026-11-15 10:00:00'",
        "x BETWEEN DATE '2026-11-15' AND DATE '2026-11-16'",
        "x = 'it''s'",
        "x > 'a' AND x < 'c'",
        "startswith(x, 'eu-')",
        "NOT startswith(x, 'eu-')",
        "x LIKE '%bob%'",
        "x NOT LIKE '%bob%'",
        "x RLIKE '^a+$'",
        "contains(x, '%')",
        "NOT contains(x, '%')",
        "in_cidr(x, '10.0.0.0/8', '::/0')",
        "NOT in_cidr(x, '10.0.0.0/8')",
        "x IS NULL",
        "x IS NOT NULL",
        "x NOT BETWEEN 1 AND 0",
        "x >= ''",
        "any(x) = 'a'",
        "all(x) NOT IN (1, 2)",
        "all(x) NOT LIKE 'a_'",
        "any(x) BETWEEN 1 AND 0",
        "NOT endswith(any(x), 'a')",
        "NOT in_cidr(all(x), '10.0.0.0/8')",
    ] {
        assert_eq!(rendered(text), text);
    }
}

#[test]
fn equivalent_texts_have_one_rendering() {
    for (text, expected) in [
        ("not x > 5", "x <= 5"),
        ("x >= 18 and x <= 35", "x BETWEEN 18 AND 35"),
        ("x < 1 or x > 3", "x NOT BETWEEN 1 AND 3"),
        ("x < 5 or x >= 5", "x NOT BETWEEN 1 AND 0"),
        ("x <= 5 or x > 5", "x NOT BETWEEN 1 AND 0"),
        ("x = 'b' or x = 'a'", "x IN ('a', 'b')"),
        ("x like 'eu-%'", "startswith(x, 'eu-')"),
        ("x like '%'", "x >= ''"),
        ("not x", "x = FALSE"),
        ("x < TIMESTAMP '2026-11-15 00:00:00'", "x < DATE '2026-11-15'"),
        ("not any(x) < 3", "all(x) >= 3"),
    ] {
        assert_eq!(rendered(text), expected, "{text}");
    }
}

#[test]
fn a_missing_value_is_rendered_as_is_null() {
    for (text, expected) in [
        ("x != 3", "x != 3 OR x IS NULL"),
        ("not x > 3", "x <= 3 OR x IS NULL"),
        ("x not like '%a%'", "x NOT LIKE '%a%' OR x IS NULL"),
        ("not in_cidr(x, '10.0.0.0/8')", "NOT in_cidr(x, '10.0.0.0/8') OR x IS NULL"),
        ("any(x) != 3", "any(x): x != 3 OR x IS NULL"),
        ("any(x) not in (1, 'a')", "any(x): x IS NULL"),
        ("all(x) not between 1 and 3", "all(x): x NOT BETWEEN 1 AND 3 OR x IS NULL"),
    ] {
        assert_eq!(predicate(text, Missing::False).text("x"), expected, "{text}");
    }
}

#[test]
fn keywords_are_quoted() {
    assert_eq!(predicate("x = 3", Missing::Unknown).text("user.age"), "user.age = 3");
    assert_eq!(predicate("x = 3", Missing::Unknown).text("in"), "\"in\" = 3");
}
