"""Shapes of expressions are exact for every operator, name and nesting."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tamis
from tamis import attr
from tamis.spark.profiling import shape_of
from tamis.spark.profiling.selectivity import PredicateCount
from tamis.spark.profiling.subscriptions import AspectCount

NAMES = st.one_of(
    st.sampled_from(
        ["age", "a.b", "any", "and", "startswith", 'x" = 1', "odd ' name", "in", "été", "any(x)"]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8),
)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "number": st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False)),
    "text": st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    "time": st.one_of(st.dates(), st.datetimes()),
    "bool": st.booleans(),
}
COMPARISONS: dict[str, Callable[[tamis.Attribute, Any], tamis.Expression]] = {
    "=": lambda a, v: a == v,
    "!=": lambda a, v: a != v,
    "<": lambda a, v: a < v,
    "<=": lambda a, v: a <= v,
    ">": lambda a, v: a > v,
    ">=": lambda a, v: a >= v,
    "BETWEEN": lambda a, v: a.between(v, v),
    "IN": lambda a, v: a.is_in([v, v]),
    "NOT IN": lambda a, v: a.not_in([v]),
    "NOT BETWEEN": lambda a, v: tamis.parse(str(a.between(v, v)).replace(" BETWEEN ", " NOT BETWEEN ")),
}
OTHERS: dict[tuple[str, str], Callable[[tamis.Attribute], tamis.Expression]] = {
    ("LIKE", "text"): lambda a: a.like("= 1 OR x IN ('a')"),
    ("ILIKE", "text"): lambda a: a.ilike("%x"),
    ("RLIKE", "text"): lambda a: a.rlike("^NOT IN "),
    ("startswith", "text"): lambda a: a.startswith("a"),
    ("endswith", "text"): lambda a: a.endswith(""),
    ("contains", "text"): lambda a: a.contains("', '"),
    ("in_cidr", "text"): lambda a: a.in_cidr("10.0.0.0/8", "203.0.113.77"),
    ("IS NULL", "presence"): lambda a: a.is_null(),
    ("IS NOT NULL", "presence"): lambda a: a.is_not_null(),
    ("TRUE", "bool"): lambda a: a.is_true(),
    ("IN", "mixed"): lambda a: a.is_in([1, "b"]),
}
QUANTIFIED: dict[str | None, Callable[[tamis.Attribute], tamis.Attribute]] = {
    None: lambda a: a,
    "any": lambda a: a.any(),
    "all": lambda a: a.all(),
}


@given(st.data(), NAMES, st.sampled_from(list(QUANTIFIED)), st.sampled_from([None, 0.0, 1.0, 2.5]))
def test_predicates_are_what_they_were_built_as(
    data: st.DataObject, name: str, quantifier: str | None, weight: float | None
) -> None:
    attribute = QUANTIFIED[quantifier](attr(name))
    if data.draw(st.booleans()):
        kind = data.draw(st.sampled_from(list(VALUES)))
        operator = data.draw(st.sampled_from(list(COMPARISONS)))
        # A name that says BETWEEN itself cannot be negated by replacing the word.
        if operator == "NOT BETWEEN" and "BETWEEN" in name:
            operator = "BETWEEN"
        built = COMPARISONS[operator](attribute, data.draw(VALUES[kind]))
    else:
        operator, kind = data.draw(st.sampled_from(list(OTHERS)))
        # IS NULL asks about the attribute, not its elements.
        assume(quantifier is None or kind != "presence")
        built = OTHERS[operator, kind](attribute)
    weighted = built if weight is None else built.weight(weight)
    shape = shape_of(str(weighted))
    (found,) = shape.predicates
    assert (found.attribute, found.operator, found.quantifier, found.kind) == (
        name,
        operator,
        quantifier,
        kind,
    )
    assert found.text == str(built)
    assert (shape.depth, shape.conjunctions) == (1, 1)


@pytest.mark.parametrize(
    ("text", "predicates", "depth", "conjunctions"),
    [
        ("TRUE", 0, 1, 1),
        ("a", 1, 1, 1),
        ("a and b and c", 3, 2, 1),
        ("a or b or c", 3, 2, 3),
        ("(a or b) and (c or d or e)", 5, 3, 6),
        ("not (a and b)", 2, 3, 2),
        ("not (a or b)", 2, 3, 1),
        ("a xor b", 2, 2, 2),
        ("a xor b xor c", 3, None, 4),
        ("a xnor b", 2, 2, 2),
        ("not (a xor (b or c))", 3, 4, 3),
        ("(a or b) xor c", 3, 3, 3),
        ("a and a and a", 3, 2, 1),
        ("a in (1, 2, 3) and b not in (4, 5)", 2, 2, 1),
        (" and ".join(f"(a{n} or b{n})" for n in range(2_000)), 4_000, 3, float("inf")),
    ],
)
def test_shapes(text: str, predicates: int, depth: int | None, conjunctions: float) -> None:
    shape = shape_of(text)
    assert (len(shape.predicates), shape.conjunctions) == (predicates, conjunctions)
    assert depth is None or shape.depth == depth


def test_deep_nesting_is_no_recursion() -> None:
    limits = tamis.Limits(max_depth=1000)
    shape = shape_of("not (" * 400 + "a and b" + ")" * 400, limits)
    assert (shape.depth, shape.conjunctions, len(shape.predicates)) == (402, 1, 2)


def test_what_is_no_expression_is_refused() -> None:
    with pytest.raises(tamis.ParseError):
        shape_of("a >")


def test_dates_and_times_are_one_kind() -> None:
    built = attr("t") > datetime.date(2026, 11, 15)
    assert shape_of(str(built)).predicates[0].kind == "time"


def test_workers_count_what_shapes_tell() -> None:
    texts = ["a > 1 and a > 2 or not b in ('x')", "true", "a >", None, "a > 1", "not (a xor b)", "a > 1"]
    batches = [
        pa.record_batch([pa.array(texts, pa.string())], names=["e"]),
        pa.record_batch({"e": pa.array([], pa.string())}),
    ]
    shapes = [shape_of(text) for text in texts if text not in ("a >", None)]
    rows = {
        (row["aspect"], row["attribute"], row["value"]): (row["subscriptions"], row["predicates"])
        for batch in AspectCount(tamis.Limits()).run(iter(batches))
        for row in batch.to_pylist()
    }
    assert rows["all", None, None] == (5, sum(len(shape.predicates) for shape in shapes)) == (5, 7)
    assert rows["bad", None, None] == (2, 0)
    assert rows["attribute", "a", None] == (4, 5)
    assert rows["attribute operator", "a", ">"] == (3, 4)
    assert rows["operator", None, "IN"] == rows["kind", None, "text"] == (1, 1)
    assert rows["kind", None, "number"] == (3, 4)
    assert [rows["size", None, size] for size in "0123" if ("size", None, size) in rows] == [
        (1, 0),
        (2, 2),
        (1, 2),
        (1, 3),
    ]
    assert rows["depth", None, "3"] == (2, 5) and rows["conjunctions", None, "2"] == (2, 5)
    distinct = [
        row for batch in PredicateCount(tamis.Limits()).run(iter(batches)) for row in batch.to_pylist()
    ]
    assert {row["predicate"]: row["predicates"] for row in distinct} == {
        "a > 1": 3, "a > 2": 1, "b IN ('x')": 1, "a": 1, "b": 1
    }  # fmt: skip
