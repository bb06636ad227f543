"""Targeting columns become rules; predicates on rare attributes get larger weights."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.spark.support.ingested import bad_rows, good_rows

import tamis
from tamis.spark import ingest

STARTS = datetime.datetime(2026, 11, 15, 10, 30, 0, 5)
ADS = (
    "ad long, channels array<string>, blocked array<string>, min_age int, max_age int, budget decimal(6,2), "
    "hobbies array<string>, starts timestamp, extra string, "
    "places array<struct<region: string, positions: array<int>>>"
)
EMPTY: tuple[Any, ...] = (*[None] * 9,)
TARGETING: list[ingest.Condition] = [
    ingest.Allowed("channels", "channel"),
    ingest.Excluded("blocked", "region"),
    ingest.Range("min_age", "max_age", "age"),
    ingest.AnyOf(ingest.Range("budget", None, "spend"), ingest.Allowed("hobbies", "interests", each="list")),
    ingest.Range("starts", None, "at"),
    ingest.ExpressionColumn("extra"),
    ingest.Alternatives("places", (ingest.Allowed("region"), ingest.Allowed("positions", "position"))),
]


def test_targeting_columns_are_expressions(spark: SparkSession) -> None:
    rows: list[tuple[Any, ...]] = [
        (1, ["pc", "it's"], ["CA"], 18, 35, Decimal("9.50"), ["cars"], STARTS, "vip or a = 1",
         [("DE", [1, 2]), (None, [3])]),
        (2, *EMPTY),
        (3, [], [], None, 65, None, [], None, None, []),
        (4, None, None, 40, 18, None, None, None, None, None),
        (5, ["pc", None], *EMPTY[1:]),
        (6, *EMPTY[:7], "vip or", None),
        (7, *EMPTY[:8], [None]),
        (8, None, None, 21, None, None, ["x"], None, None, None),
    ]  # fmt: skip
    found = ingest.profiles(spark.createDataFrame(rows, ADS), "ad", TARGETING)
    assert good_rows(found) == {
        1: "channel IN ('pc', 'it''s') AND region NOT IN ('CA') AND age BETWEEN 18 AND 35 AND "
        "(spend >= 9.5 OR any(interests) IN ('cars')) AND at >= TIMESTAMP '2026-11-15 10:30:00.000005' AND "
        "(vip OR a = 1) AND (region IN ('DE') AND position IN (1, 2) OR position IN (3))",
        2: "TRUE",
        3: "age <= 65",
        8: "age >= 21 AND any(interests) IN ('x')",
    }
    reasons = bad_rows(found)
    assert reasons["4"] == ("min_age", "the range from 40 to 18 is empty")
    assert reasons["5"][0] == "channels" and "None is no literal" in reasons["5"][1]
    assert reasons["6"][0] == "extra" and reasons["6"][1].startswith("line 1, column 7")
    assert reasons["7"] == ("places", "an alternative is a struct, not None")


def test_written_is_an_expression_column() -> None:
    assert ingest.Written is ingest.ExpressionColumn
    assert str(ingest.Written("e").expression({"e": "a = 1"})) == "a = 1"


def test_excluded_from_lists() -> None:
    condition = ingest.Excluded("blocked", "tags", each="list")
    expression = condition.expression({"blocked": ["x"]})
    assert expression is not None
    assert expression.evaluate({"tags": ["a", "x"]}) is False and expression.evaluate({"tags": ["a"]}) is True


def test_wrong_targeting_is_refused(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(2, *EMPTY)], ADS)
    with pytest.raises(ValueError, match="there is no column 'colour'"):
        ingest.profiles(rows, "ad", [ingest.Allowed("colour")])
    with pytest.raises(ValueError, match="no conditions"):
        ingest.profiles(rows, "ad", [])
    with pytest.raises(ValueError, match="has no column"):
        ingest.Range(None, None, "age")
    with pytest.raises(ValueError, match="at least one"):
        ingest.AnyOf()
    missing = ingest.Alternatives("places", (ingest.Allowed("country"),))
    found = ingest.profiles(spark.createDataFrame([(1, *EMPTY[:8], [("DE", None)])], ADS), "ad", [missing])
    assert bad_rows(found)["1"] == ("places", "there is no field 'country'; there are 'region', 'positions'")


def test_rare_attributes_weigh_more(spark: SparkSession) -> None:
    rules = spark.createDataFrame(
        [
            (1, "a = 1 and not (b = 2 or a > 3)"),
            (2, "a = 1 ^ 9 xor c in (1, 'x')"),
            (3, "a = 1 xnor TRUE"),
            (4, "a = 1 and a < 5"),
            (5, "a ="),
        ],
        "id int, expression string",
    )
    found = ingest.weighted(rules, seed=1)
    texts = good_rows(found)
    assert set(texts) == {1, 2, 3, 4} and list(bad_rows(found)) == ["5"]
    given = {row["id"]: row["expression"] for row in rules.collect()}
    for id, text in texts.items():
        for event in ({"a": 1}, {"a": 4, "b": 2, "c": "x"}, {"a": 0, "c": 1}, {}):
            assert tamis.parse(text).evaluate(event) == tamis.parse(given[id]).evaluate(event)
        for leaf in tamis.parse(text).explain({}).predicates():
            inverse = 0.25 if leaf.text.startswith("a") else 1.0
            assert leaf.weight is None or inverse <= leaf.weight < 1.3 * inverse
    assert good_rows(ingest.weighted(rules.repartition(3), seed=1)) == texts
