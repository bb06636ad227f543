"""Rows of catalogs become rules or events; an item matches the rule made from it."""

from __future__ import annotations

import datetime
import json
import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tests.spark.support.ingested import bad_rows, good_rows

import tamis
from tamis.spark import ingest

PRODUCTS = (
    "sku string, brand string, price double, cost decimal(10,2), big decimal(38,0), stock long, day date, "
    'seen timestamp, used boolean, tags array<string>, `odd "name` string, '
    "specs struct<ram: int, cpu: struct<ghz: double>>, more map<string,string>, raw binary"
)
DAY, SEEN = datetime.date(2026, 11, 15), datetime.datetime(2026, 11, 15, 10, 30, 0, 5)
ROWS: list[tuple[Any, ...]] = [
    ("a", "It's", 580.0, Decimal("19.99"), None, 2**63 - 1, DAY, SEEN, True,
     ["x", "x'y"], "q\"", (8, (2.5,)), {"hdd size": "1"}, None),
    ("b", None, float("nan"), Decimal("5.00"), Decimal(10**30), None, None, None, False,
     [], None, (None, None), {}, None),
    ("none", *[None] * 13),
    ("bytes", *[None] * 12, b"x"),
    ("inf", None, float("inf"), *[None] * 11),
]  # fmt: skip


def test_rows_are_wishes(spark: SparkSession) -> None:
    rows = spark.createDataFrame(ROWS, PRODUCTS)
    found = ingest.table(rows, "sku")
    assert good_rows(found) == {
        "a": "brand = 'It''s' AND price = 580 AND cost = 19.99 AND stock = 9223372036854775807 AND "
        "day = DATE '2026-11-15' AND seen = TIMESTAMP '2026-11-15 10:30:00.000005' AND used = TRUE AND "
        "any(tags) = 'x' AND any(tags) = 'x''y' AND \"odd \"\"name\" = 'q\"' AND specs.ram = 8 AND "
        "specs.cpu.ghz = 2.5 AND \"more.hdd size\" = '1'",
        "b": "cost = 5 AND big = 1e30 AND used = FALSE",
    }
    reasons = bad_rows(found)
    assert reasons["none"] == ("", "all columns are null: the rule would match every event")
    assert reasons["bytes"][0] == "raw" and "not bytes" in reasons["bytes"][1]
    assert reasons["inf"][0] == "price" and "infinity has no text" in reasons["inf"][1]


def test_wishes_have_tolerance(spark: SparkSession) -> None:
    rows = spark.createDataFrame(ROWS[:1], PRODUCTS)
    tolerance: dict[str, ingest.catalog.Tolerance] = {
        "price": ingest.Relative(0.1),
        "cost": 1,
        "day": datetime.timedelta(days=2),
    }
    found = ingest.table(rows, "sku", columns=["price", "cost", "day"], tolerance=tolerance)
    days = "day BETWEEN DATE '2026-11-13' AND DATE '2026-11-17'"
    assert good_rows(found) == {"a": f"price BETWEEN 522 AND 638 AND cost BETWEEN 18.99 AND 20.99 AND {days}"}
    wrong = ingest.table(rows, "sku", columns=["brand", "stock"], tolerance={"brand": 1, "stock": 1})
    assert bad_rows(wrong)["a"] == ("brand", "the tolerance 1 does not fit a value of type str")
    over = bad_rows(ingest.table(rows, "sku", columns=["stock"], tolerance={"stock": 1}))["a"]
    assert over[0] == "stock" and "64 bits" in over[1]


def test_common_attributes_stay_more_often(spark: SparkSession) -> None:
    rows = spark.range(300).select(
        F.col("id").cast("string").alias("id"),
        F.lit(1).alias("common"),
        F.when(F.col("id") % 100 == 0, F.lit(2)).alias("rare"),
    )
    texts = good_rows(ingest.table(rows, "id", at_most=1, seed=3))
    both = [text for id, text in texts.items() if int(id) % 100 == 0]
    assert len(texts) == 300 and len(both) == 3 and set(both) <= {"common = 1", "rare = 2"}
    assert good_rows(ingest.table(rows.repartition(5), "id", at_most=1, seed=3)) == texts
    with pytest.raises(ValueError, match="at_most is 0"):
        ingest.table(rows, "id", at_most=0)


def test_the_draw_follows_the_weights() -> None:
    rule = ingest.catalog.RowRule(("a", "b"), {}, 1, 0, {"a": 3.0, "b": 1.0})
    drawn = [rule(id, {"a": 1, "b": 1}) for id in range(4_000)]
    # 3 of 4, give or take six standard deviations; the draw is the same in every run.
    assert abs(drawn.count("a = 1") / 4_000 - 0.75) < 6 * math.sqrt(0.75 * 0.25 / 4_000)


def test_rows_are_events(spark: SparkSession) -> None:
    rows = spark.createDataFrame(ROWS, PRODUCTS).drop("raw", "more")
    found = ingest.table_events(rows, "sku")
    types = dict(found.good.dtypes)
    assert (types["event_id"], types["cost"], types["big"], types["day"]) == (
        "string",
        "double",
        "double",
        "date",
    )
    assert found.good.count() == len(ROWS) and found.bad.count() == 0
    # A product answers the wish that was made of it.
    wishes = ingest.table(rows, "sku").good
    index = tamis.Index()
    index.add_many(wishes.select("id", "expression").toArrow())
    events = found.good.orderBy("event_id").toArrow()
    matched = index.match_arrow(events, ordered=True).to_pylist()
    names = events["event_id"].to_pylist()
    assert [(names[row["event"]], row["id"]) for row in matched] == [("a", "a"), ("b", "b")]


def test_rows_are_json_events(spark: SparkSession) -> None:
    rows = spark.createDataFrame(ROWS, PRODUCTS).drop("raw", "day", "seen")
    found = ingest.table_events(rows.union(rows.where("sku = 'b'")), "sku", layout="json")
    events = {id: json.loads(event) for id, event in good_rows(found).items()}
    assert set(events) == {"a", "none", "bytes"} and events["none"] == {}
    assert events["a"]["cost"] == 19.99 and events["a"]["stock"] == 2**63 - 1
    assert events["a"]["more"] == {"hdd size": "1"} and events["a"]["specs"] == {
        "ram": 8,
        "cpu": {"ghz": 2.5},
    }
    reasons = bad_rows(found)
    assert reasons["b"] == ("sku", "2 rows have this id; ids must be unique")
    assert reasons["inf"][0] == "price" and "infinite" in reasons["inf"][1]
    assert found.bad.count() == 3
    kept = good_rows(ingest.table_events(rows.union(rows), "sku", layout="json", duplicates="keep"))
    assert json.loads(kept["b"]) == {
        "cost": 5.0,
        "big": 1e30,
        "used": False,
        "tags": [],
        "specs": {},
        "more": {},
    }


def test_faults_deep_inside_are_found(spark: SparkSession) -> None:
    rows = spark.sql(
        "SELECT 1 AS id, array(named_struct('t', CAST(x'FF' AS string), 'd', 1D)) AS a, map('k', 1D) AS m "
        "UNION ALL SELECT 2, array(named_struct('t', 'x', 'd', double('inf'))), map('k', 1D) "
        "UNION ALL SELECT 3, array(null), map('k', double('-inf')) "
        "UNION ALL SELECT 4, array(null, named_struct('t', null, 'd', double('nan'))), null "
        "UNION ALL SELECT null, null, null"
    )
    found = ingest.table_events(rows, "id", layout="json")
    assert {id: json.loads(event) for id, event in good_rows(found).items()} == {4: {"a": [None, {}]}}
    reasons = bad_rows(found)
    assert reasons["1"] == ("a", "the text is not valid UTF-8")
    assert reasons["2"][0] == "a" and reasons["3"][0] == "m" and "infinite" in reasons["3"][1]
    assert reasons[None] == ("id", "the id is null")


def test_types_without_a_place_are_refused(spark: SparkSession) -> None:
    rows = spark.createDataFrame(ROWS, PRODUCTS)
    with pytest.raises(ValueError, match="column 'raw' is binary; attributes are"):
        ingest.table_events(rows.drop("more"), "sku")
    with pytest.raises(ValueError, match=r"column 'more' is map<string,string>; .* layout='json'"):
        ingest.table_events(rows, "sku")
    with pytest.raises(ValueError, match="column 'day' is date; JSON has no times"):
        ingest.table_events(rows, "sku", layout="json")
    with pytest.raises(ValueError, match="layout is 'map'"):
        ingest.table_events(rows, "sku", layout="map")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a column is named 'event_id'"):
        ingest.table_events(rows.select("sku", F.lit(1).alias("event_id")), "sku")
    with pytest.raises(ValueError, match="columns is the string 'brand'"):
        ingest.table(rows, "sku", columns="brand")
    with pytest.raises(ValueError, match="there is no column 'colour'"):
        ingest.table(rows, "sku", columns=["colour"])


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
scalars = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    st.dates(),
    st.datetimes(),
)


@given(st.dictionaries(names, st.one_of(scalars, st.lists(scalars, min_size=1, max_size=3)), min_size=1))
def test_every_row_answers_its_own_wish(row: dict[str, Any]) -> None:
    # Where one name is the beginning of another, "a" and "a.b", an event holds both; so does the rule.
    rule = ingest.catalog.RowRule(tuple(row), {}, None, 0, {})(1, row)
    assert tamis.parse(rule).evaluate(row) is True
