"""Decimals, large integers, UUIDs, enumerations and bytes: numbers, texts, or present."""

from __future__ import annotations

import decimal
import enum
import json
import re
import uuid
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.unit.events.test_arrow import matched

import tamis
from tamis import Index, attr, parse


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


MEANINGS: list[tuple[Any, str, bool | None]] = [
    # Whole decimals are exact integers; others are what a literal of the same text is.
    (decimal.Decimal(5), "x = 5", True),
    (decimal.Decimal("5.00"), "x = 5", True),
    (decimal.Decimal("9007199254740993"), "x = 9007199254740993", True),
    (decimal.Decimal("9.007199254740993E+15"), "x = 9007199254740993", True),
    (decimal.Decimal("0.1"), "x = 0.1", True),
    (decimal.Decimal("123456789.012345"), "x = 123456789.012345", True),
    (decimal.Decimal("0.10000000000000000001"), "x = 0.1", True),
    (decimal.Decimal("1E+30"), "x = 1e30", True),
    (decimal.Decimal("1E+999999999"), "x > 1e300", True),
    (decimal.Decimal("Infinity"), "x > 1e300", True),
    (decimal.Decimal("NaN"), "x is null", True),
    (decimal.Decimal("sNaN"), "x is null", True),
    ([decimal.Decimal("2.5"), None], "any(x) = 2.5", True),
    # Beyond 63 bits the nearest float.
    (2**63, "x > 9223372036854775807", True),
    (2**64 - 1, "x = 18446744073709551615.0", True),
    (np.uint64(2**63), "x = 9.223372036854775808e18", True),
    (uuid.UUID(int=1), "x = '00000000-0000-0000-0000-000000000001'", True),
    (Color.RED, "x = 'red'", True),
    (Level.HIGH, "x = 3", True),
    ([Color.RED], "any(x) = 'red'", True),
    (pd.NA, "x is null", True),
    (pd.NaT, "x is null", True),
    # Bytes are there, but of no kind.
    (b"x", "x is null", False),
    (b"x", "x = 'x'", None),
    (bytearray(b"x"), "x is not null", True),
]


@pytest.mark.parametrize(
    ("value", "expression", "expected"), MEANINGS, ids=[f"{v!r}: {e}" for v, e, _ in MEANINGS]
)
def test_meaning(value: Any, expression: str, expected: bool | None) -> None:
    event = {"x": value}
    assert parse(expression).evaluate(event) is expected
    index = Index()
    index.add(1, expression)
    assert index.match(event) == ([1] if expected else [])


def test_unsigned_integers_in_json() -> None:
    index = Index()
    index.add_many({1: "x > 9223372036854775807", 2: "any(l) = 1.8446744073709551615e19", 3: "y = 1"})
    assert index.match_json('{"x": 9223372036854775808, "l": [18446744073709551615, 2], "y": 1}') == [1, 2, 3]
    assert index.match_json('{"x": 9223372036854775807, "y": 1}') == [3]
    for digits in ("18446744073709551616", "-9223372036854775809"):
        with pytest.raises(tamis.EventError, match=f"the integer {digits} does not fit 64 bits"):
            index.match_json(f'{{"x": {digits}}}')


def test_random_decimals_equal_the_literal_of_their_text() -> None:
    rng = np.random.default_rng(11)
    for digits in rng.integers(1, 10**15, 300):
        value = decimal.Decimal(int(digits)).scaleb(-int(rng.integers(0, 18)))
        text = f"{value:f}"
        for rule in (parse(f"x = {text}"), attr("x") == value):
            assert rule.evaluate({"x": value}) is True, text
            assert rule.evaluate({"x": json.loads(text)}) is True, text
        scale = max(0, -int(value.as_tuple().exponent))
        column = pa.array([value], pa.decimal128(38, scale))
        assert matched(pa.table({"x": column}), equal=f"x = {text}") == [(0, "equal")], text


def test_literals_of_the_builder() -> None:
    assert str(attr("x") == decimal.Decimal("5.00")) == "x = 5"
    assert str(attr("x") < decimal.Decimal("0.1")) == "x < 0.1"
    assert str(attr("x").is_in([Color.RED, uuid.UUID(int=1)])) == (
        "x IN ('red', '00000000-0000-0000-0000-000000000001')"
    )
    with pytest.raises(tamis.ParseError, match="NaN is a missing value"):
        _ = attr("x") == decimal.Decimal("NaN")


def test_a_uuid_is_an_id() -> None:
    index, id = Index(), uuid.uuid4()
    index.add(id, "x = 1")  # type: ignore[arg-type]
    assert index.match({"x": 1}) == [str(id)]
    assert id in index and str(id) in index
    with pytest.raises(tamis.DuplicateId):
        index.add(str(id), "x = 2")
    index.remove(id)  # type: ignore[arg-type]
    assert len(index) == 0


def test_decimals_are_numbers() -> None:
    exact = decimal.Decimal("9007199254740993")
    columns = {
        "a": pa.array([exact], pa.decimal128(20, 0)),
        "b": pa.array([decimal.Decimal("0.10")], pa.decimal32(5, 2)),
        "c": pa.array([decimal.Decimal("5.00")], pa.decimal256(50, 2)),
        "d": pa.array([[decimal.Decimal("2.5"), None]], pa.list_(pa.decimal64(9, 1))),
        "e": pa.array([None], pa.decimal128(9, 2)),
        "f": pa.array([2**63], pa.uint64()),
    }
    nested = pa.StructArray.from_arrays(list(columns.values()), list(columns))
    rules = [
        "a = 9007199254740993",
        "b = 0.1",
        "c = 5",
        "any(d) = 2.5",
        "e is null",
        "f > 9223372036854775807",
    ]
    for prefix, table in (("", pa.table(columns)), ("s.", pa.table({"s": nested}))):
        named = {rule: re.sub(r"\b([a-f])\b", rf"{prefix}\1", rule) for rule in rules}
        assert matched(table, **named) == [(0, rule) for rule in rules]


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(1)])
def test_binaries_are_present_or_missing(kind: pa.DataType) -> None:
    table = pa.table({"x": pa.array([b"x", None], kind)})
    rules = {"null": "x is null", "not null": "x is not null", "text": "x = 'x'", "other": "x != 'y'"}
    assert matched(table, **rules) == [(0, "not null"), (1, "null")]
