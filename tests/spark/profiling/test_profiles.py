"""Profiles of small tables are exact, in every layout."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import tamis
from tamis.spark.profiling import (
    Profile,
    profile,
    profile_events,
    profile_subscriptions,
    sample_events,
    save_profile,
    selectivities,
)


def by_attribute(found: DataFrame) -> dict[str, dict[str, Any]]:
    return {row["attribute"]: row.asDict(recursive=True) for row in found.collect()}


COLUMNS = (
    "event_id long, age int, price double, `odd.name` string, cost decimal(10,2), day date, seen timestamp, "
    "vip boolean, tags array<string>, never string, user struct<zip: string, geo: struct<lat: double>>"
)
DAY, SEEN = datetime.date(2026, 11, 15), datetime.datetime(2026, 11, 15, 10, 30)
TYPED: list[tuple[Any, ...]] = [
    (1, 20, 1.5, "it's", Decimal("19.99"), DAY, SEEN, True, ["a", "b"], None, ("75011", (48.5,))),
    (2, 30, float("nan"), "it's", None, None, None, None, [], None, (None, None)),
    (3, 30, None, "\N{GRINNING FACE}", Decimal("0.01"), None, None, False, None, None, None),
    (4, None, float("inf"), None, None, None, None, None, None, None, None),
    (5, *[None] * 10),
]


def test_typed_columns(spark: SparkSession) -> None:
    rows = by_attribute(profile_events(spark.createDataFrame(TYPED, COLUMNS), top=2))
    assert set(rows) == {
        *("age", "price", "odd.name", "cost", "day", "seen", "vip", "tags", "user.zip", "user.geo.lat")
    }
    assert {row["events"] for row in rows.values()} == {5}
    age = rows["age"]
    assert (age["present"], age["frequency"], age["missing"]) == (3, 0.6, pytest.approx(0.4))
    assert (age["number"], age["text"], age["distinct"]) == (3, 0, 2)
    assert (age["number_min"], age["number_max"], age["text_min"], age["time_min"]) == (20, 30, None, None)
    assert age["top"] == [
        {"value": "30", "share": pytest.approx(2 / 3)},
        {"value": "20", "share": pytest.approx(1 / 3)},
    ]
    price = rows["price"]
    assert (price["present"], price["number_min"], price["number_max"]) == (2, 1.5, float("inf"))
    odd = rows["odd.name"]
    assert (odd["text"], odd["text_min"], odd["text_max"]) == (3, "it's", "\N{GRINNING FACE}")
    assert (rows["cost"]["number_min"], rows["cost"]["number_max"]) == (0.01, 19.99)
    assert (rows["day"]["time"], rows["seen"]["time_min"]) == (1, SEEN)
    assert rows["day"]["time_max"] == datetime.datetime(2026, 11, 15)
    assert (rows["vip"]["bool"], rows["vip"]["distinct"]) == (2, 2)
    tags = rows["tags"]
    assert (tags["list"], tags["present"], tags["distinct"], tags["top"]) == (2, 2, None, [])
    assert rows["user.geo.lat"]["number_max"] == 48.5
    # The order of the rows, and the mean size of an event.
    present = [row["present"] for row in rows.values()]
    assert present == sorted(present, reverse=True)
    assert sum(row["frequency"] for row in rows.values()) == pytest.approx(18 / 5)


def test_chosen_columns(spark: SparkSession) -> None:
    events = spark.createDataFrame(TYPED, COLUMNS)
    assert set(by_attribute(profile_events(events, attr_cols=["age", "never"]))) == {"age"}


JSON: list[str | None] = [
    '{"age": 20, "user": {"zip": "75011", "geo": {"lat": 48.5, "deep": {"e": 1}}}, "tags": ["a"], "x": null}',
    '{"age": "20", "vip": true, "e": {}}',
    '{"age": 30.5, "big": 123456789012345678901234567890}',
    "{}",
    " {}",
    "[1]",
    '{"age":',
    None,
]


def test_json_knows_kinds_and_goes_into_objects(spark: SparkSession) -> None:
    events = spark.createDataFrame(list(enumerate(JSON)), "event_id long, event string")
    rows = by_attribute(profile_events(events))
    names = {"age", "user.zip", "user.geo.lat", "user.geo.deep", "tags", "vip", "big", "e"}
    assert set(rows) == names
    age = rows["age"]
    assert (age["events"], age["present"], age["number"], age["text"], age["distinct"]) == (5, 3, 2, 1, 3)
    assert (age["number_min"], age["number_max"], age["text_min"]) == (20, 30.5, "20")
    assert (rows["user.geo.deep"]["object"], rows["e"]["object"], rows["tags"]["list"]) == (1, 1, 1)
    assert rows["big"]["number_max"] == pytest.approx(1.2345678901234568e29)
    assert rows["vip"]["top"] == [{"value": "true", "share": 1.0}]
    flat = by_attribute(profile_events(events, nesting=1))
    assert flat["user"]["object"] == 1 and "user.zip" not in flat


def test_maps(spark: SparkSession) -> None:
    events = spark.createDataFrame(
        [(1, {"a": "x", "b c": None}), (2, {"a": "y"}), (3, {}), (4, None)],
        "event_id int, m map<string,string>",
    )
    rows = by_attribute(profile(events))
    assert set(rows) == {"a"}
    assert (rows["a"]["events"], rows["a"]["frequency"], rows["a"]["text_max"]) == (4, 0.5, "y")
    numbers = spark.createDataFrame([(1, {"a": 1.5})], "event_id int, m map<string,double>")
    assert by_attribute(profile_events(numbers, map_col="m"))["a"]["number_min"] == 1.5


def test_layouts_are_named_once(spark: SparkSession) -> None:
    events = spark.createDataFrame([(1, "{}")], "event_id int, event string")
    with pytest.raises(ValueError, match="attr_cols, json_col and map_col exclude each other"):
        profile_events(events, json_col="event", attr_cols=["event"])
    with pytest.raises(ValueError, match="there is no column 'm'"):
        profile_events(events, map_col="m")
    with pytest.raises(TypeError, match="a map with string keys is needed"):
        profile_events(events, map_col="event")
    with pytest.raises(ValueError, match="top is 0"):
        profile_events(events, top=0)
    with pytest.raises(ValueError, match="nesting is 0"):
        profile_events(events, nesting=0)


def test_no_events_no_attributes(spark: SparkSession) -> None:
    found = profile_events(spark.createDataFrame([], "event_id int, event string"))
    assert found.collect() == [] and found.columns[:4] == ["attribute", "events", "present", "frequency"]


RULES = [
    "age > 30 and country = 'US'",
    "age > 30 and age < 40",
    "\"odd ' name\" in ('a', 'b') or not (vip and any(tags) like 'x%')",
    "age between 7 and 3 ^ 2.5",
    "TRUE",
    "age >",
    None,
]


@pytest.fixture
def rules(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(list(enumerate(RULES)), "id long, expression string")


def aspects(found: DataFrame) -> dict[tuple[str, str | None, str | None], tuple[Any, ...]]:
    return {(row[0], row[1], row[2]): tuple(row)[3:] for row in found.collect()}


def test_subscriptions(rules: DataFrame) -> None:
    found = aspects(profile(rules))
    assert found["all", None, None] == (5, 1.0, 8, None)
    assert found["bad", None, None] == (2, None, 0, None)
    assert found["attribute", "age", None] == (3, 0.6, 4, None)
    assert found["attribute", "odd ' name", None] == (1, 0.2, 1, None)
    assert found["operator", None, ">"] == (2, 0.4, 2, None)
    assert found["operator", None, "TRUE"][0] == found["operator", None, "LIKE"][0] == 1
    assert found["attribute operator", "age", "<"] == (1, 0.2, 1, None)
    assert found["kind", None, "number"] == (3, 0.6, 4, None)
    assert {key[2]: row[0] for key, row in found.items() if key[0] == "size"} == {
        "0": 1,
        "1": 1,
        "2": 2,
        "3": 1,
    }
    assert {key[2]: row[0] for key, row in found.items() if key[0] == "depth"} == {"1": 2, "2": 2, "4": 1}
    assert {key[2]: row[0] for key, row in found.items() if key[0] == "conjunctions"} == {"1": 4, "4": 1}


EVENTS: list[dict[str, Any]] = [
    {"age": 35, "country": "US"},
    {"age": 50, "country": "DE", "vip": True, "tags": ["xy"]},
    {"age": 20, "country": "US", "odd ' name": "a"},
    {},
]


def expected() -> dict[str, float]:
    """What `tamis` itself says of each predicate and each event."""
    texts = {
        *("age > 30", "country = 'US'", "age < 40", "age BETWEEN 7 AND 3", "vip", "any(tags) LIKE 'x%'"),
        "\"odd ' name\" IN ('a', 'b')",
    }
    return {text: sum(tamis.parse(text).evaluate(e) is True for e in EVENTS) / len(EVENTS) for text in texts}


def samples(spark: SparkSession) -> dict[str, DataFrame]:
    lines = [(n, json.dumps(event)) for n, event in enumerate(EVENTS)]
    typed = [
        (n, *(event.get(name) for name in ("age", "country", "vip", "tags", "odd ' name")))
        for n, event in enumerate(EVENTS)
    ]
    columns = "event_id int, age int, country string, vip boolean, tags array<string>, `odd ' name` string"
    return {
        "json": spark.createDataFrame(lines, "event_id int, event string"),
        "columns": spark.createDataFrame(typed, columns),
    }


def test_selectivities_are_those_of_the_sample(spark: SparkSession, rules: DataFrame) -> None:
    for sample in samples(spark).values():
        rows = selectivities(rules, sample).collect()
        assert {row["predicate"]: row["selectivity"] for row in rows} == expected()
        assert {row["predicate"]: row["predicates"] for row in rows}["age > 30"] == 2
    words = spark.createDataFrame(
        [(1, {"country": "US"}), (2, {"country": "DE", "x": None})], "event_id int, m map<string,string>"
    )
    found = {row["predicate"]: row["selectivity"] for row in selectivities(rules, words).collect()}
    assert (found["country = 'US'"], found["age > 30"]) == (0.5, 0.0)
    unknown = selectivities(rules, samples(spark)["json"].limit(0)).collect()
    assert {row["selectivity"] for row in unknown} == {None} and len(unknown) == len(expected())


def test_a_profile_joins_selectivities(spark: SparkSession, rules: DataFrame) -> None:
    found = aspects(profile_subscriptions(rules, sample=samples(spark)["json"]))
    share = expected()
    assert found["attribute operator", "age", ">"][3] == share["age > 30"] == 0.5
    ages = (2 * share["age > 30"] + share["age < 40"] + share["age BETWEEN 7 AND 3"]) / 4
    assert found["attribute", "age", None][3] == pytest.approx(ages)
    assert found["operator", None, "="][3] == 0.5
    assert found["size", None, "2"][3] is None
    assert len(found) == len(aspects(profile_subscriptions(rules)))


def test_samples_are_the_same_however_events_are_stored(spark: SparkSession) -> None:
    events = spark.range(1000).select(F.col("id").alias("event_id"), F.lit("{}").alias("event"))
    drawn = [row["event_id"] for row in sample_events(events, 50, seed=7).collect()]
    other = events.repartition(7).orderBy(F.desc("event_id"))
    assert drawn == [row["event_id"] for row in sample_events(other, 50, seed=7).collect()]
    assert len(set(drawn)) == 50
    assert drawn != [row["event_id"] for row in sample_events(events, 50, seed=8).collect()]
    assert sample_events(events.limit(3), 50).count() == 3
    with pytest.raises(ValueError, match="rows is 0"):
        sample_events(events, 0)
    with pytest.raises(ValueError, match="there is no column 'event_id'"):
        sample_events(events.select("event"))


def test_a_kept_profile_teaches_an_index(spark: SparkSession, rules: DataFrame, tmp_path: Path) -> None:
    kept = save_profile(samples(spark)["columns"], str(tmp_path / "p") + "/", rows=3)
    assert kept == Profile(str(tmp_path / "p"))
    assert by_attribute(kept.attributes(spark))["age"]["frequency"] == 0.75
    sample = kept.sample(spark)
    assert sample.count() == 3 and sample.columns[:2] == ["event_id", "age"]
    index = tamis.Index()
    index.add_many({n: text for n, text in enumerate(RULES[:3]) if text})
    index.observe(sample.toArrow())
    index.compact()
    assert index.match(EVENTS[0]) == [0, 1]
