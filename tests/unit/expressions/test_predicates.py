"""Expressions are taken apart rightly, one by one and many at once."""

from __future__ import annotations

import datetime
import pickle
from dataclasses import FrozenInstanceError

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis import Limits, Predicate, attr, dissect, parse

TEXTS = st.recursive(
    st.sampled_from(
        ["a = 1", "any(b) > 2.5 ^ 3", "c", "d not in ('x', 'y''z')", "e is null", "true", "f like '%'"]
    ),
    lambda inner: st.one_of(
        inner.map(lambda text: f"not ({text})"),
        st.tuples(inner, st.sampled_from(["and", "or", "xor", "xnor"]), inner).map(
            lambda parts: f"({parts[0]}) {parts[1]} ({parts[2]})"
        ),
    ),
    max_leaves=8,
)
DAY = datetime.date(2026, 11, 15)
NOON = datetime.datetime(2026, 11, 15, 12, 0, 0, 5)


@pytest.mark.parametrize(
    ("text", "operator", "values", "kind"),
    [
        ("x = 1", "=", (1,), "number"),
        ("x != 0.5", "!=", (0.5,), "number"),
        ("x < 'é'", "<", ("é",), "text"),
        ("x <= TRUE", "<=", (True,), "bool"),
        ("x > DATE '2026-11-15'", ">", (DAY,), "time"),
        ("x >= TIMESTAMP '2026-11-15 12:00:00.000005'", ">=", (NOON,), "time"),
        ("x BETWEEN 1 AND 2.5", "BETWEEN", (1, 2.5), "number"),
        ("x NOT BETWEEN DATE '2026-11-15' AND TIMESTAMP '2026-11-15 12:00:00.000005'", "NOT BETWEEN",
         (DAY, NOON), "time"),
        ("x BETWEEN 1 AND 'a'", "BETWEEN", (1, "a"), "mixed"),
        ("x IN ('a', 'it''s')", "IN", ("a", "it's"), "text"),
        ("x NOT IN (1, 'a')", "NOT IN", (1, "a"), "mixed"),
        ("x IS NULL", "IS NULL", (), "presence"),
        ("x IS NOT NULL", "IS NOT NULL", (), "presence"),
        ("x LIKE 'a%'", "LIKE", ("a%",), "text"),
        ("x NOT LIKE 'a%'", "NOT LIKE", ("a%",), "text"),
        ("x ILIKE 'a_'", "ILIKE", ("a_",), "text"),
        ("x NOT RLIKE '^a'", "NOT RLIKE", ("^a",), "text"),
        ("startswith(x, 'a')", "startswith", ("a",), "text"),
        ("endswith(x, '')", "endswith", ("",), "text"),
        ("contains(x, ', ')", "contains", (", ",), "text"),
        ("in_cidr(x, '10.0.0.0/8', 'fe80::/10')", "in_cidr", ("10.0.0.0/8", "fe80::/10"), "text"),
        ("x", "TRUE", (), "bool"),
        # Years that Python has not got.
        ("x = DATE '0000-01-01'", "=", ("DATE '0000-01-01'",), "time"),
        ("x < TIMESTAMP '0000-01-01 00:00:00'", "<", ("TIMESTAMP '0000-01-01 00:00:00'",), "time"),
    ],
)  # fmt: skip
def test_operators(text: str, operator: str, values: tuple[object, ...], kind: str) -> None:
    (found,) = parse(text).predicates()
    assert found == Predicate(text, "x", None, operator, values, kind, False, 1.0)  # type: ignore[arg-type]
    assert [type(value) for value in found.values] == [type(value) for value in values]
    assert str(found) == text and parse(found.text) == parse(text)


def test_what_stands_around_a_predicate() -> None:
    expression = parse("not (any(tags) = 'a' ^ 2 and not all(\"odd name\") > 3) or a.b not in (1) xor true")
    assert [
        (found.attribute, found.quantifier, found.operator, found.negated, found.weight, found.text)
        for found in expression.predicates()
    ] == [
        ("tags", "any", "=", True, 2.0, "any(tags) = 'a'"),
        ("odd name", "all", ">", False, 1.0, 'all("odd name") > 3'),
        ("a.b", None, "NOT IN", False, 1.0, "a.b NOT IN (1)"),
    ]
    assert parse("true").predicates() == []
    assert (attr("x") == 1).predicates() == parse("x = 1").predicates()


def test_predicates_are_plain_data() -> None:
    (found,) = parse("x = 1").predicates()
    assert pickle.loads(pickle.dumps(found)) == found and hash(found) == hash(
        pickle.loads(pickle.dumps(found))
    )
    with pytest.raises(FrozenInstanceError):
        found.text = "y"  # type: ignore[misc]


@given(st.lists(TEXTS, max_size=6))
def test_many_are_one_by_one(texts: list[str]) -> None:
    parts = dissect(texts)
    rows = parts.predicates.to_pylist()
    expected = [(row, found) for row, text in enumerate(texts) for found in parse(text).predicates()]
    assert len(rows) == len(expected)
    for given_row, (row, found) in zip(rows, expected, strict=True):
        assert given_row["row"] == row
        names = ("text", "attribute", "quantifier", "operator", "kind", "negated", "weight")
        assert [given_row[name] for name in names] == [getattr(found, name) for name in names]
        assert len(given_row["values"]) == len(found.values)
    assert parts.expressions["error"].null_count == len(texts)
    counts = parts.expressions["predicates"].to_pylist()
    assert counts == [len(parse(text).predicates()) for text in texts]


def test_what_dissect_takes() -> None:
    texts = ["a > 1", None, "a >", "b and c ^ 2"]
    expected = dissect(texts)
    assert expected.expressions["predicates"].to_pylist() == [1, None, None, 2]
    null, bad = expected.expressions["error"].to_pylist()[1:3]
    assert null == "the expression is null" and bad.startswith("line 1, column 4: found the end")
    assert expected.predicates["row"].to_pylist() == [0, 3, 3]
    assert expected.predicates["values"].to_pylist() == [["1"], [], []]
    for column in (
        pa.array(texts),
        pa.array(texts, pa.large_string()),
        pa.chunked_array([texts[:1], texts[1:]]),
        pl.Series(texts),
        iter(texts),
    ):
        assert dissect(column) == expected
    assert dissect([parse("a > 1")]).predicates["text"].to_pylist() == ["a > 1"]
    empty = dissect([])
    assert (len(empty.expressions), len(empty.predicates)) == (0, 0)
    assert empty.predicates.schema == expected.predicates.schema
    assert dissect(["a > 1"], Limits(max_length=3)).expressions["predicates"].to_pylist() == [None]
    numbers = dissect(pa.array([1])).expressions["error"].to_pylist()
    assert numbers == ['the column "expression" is of Arrow type Int64; cast it to strings']
    latin = pa.array([b"a = '\xe9'"]).view(pa.string())
    assert dissect(latin).expressions["error"].to_pylist() == ["the expression is not UTF-8"]
    for wrong in ("a > 1", 7):
        with pytest.raises(TypeError, match="dissect takes many expressions"):
            dissect(wrong)
    with pytest.raises(tamis.OptionError):
        dissect([], Limits(max_depth=10_000))
