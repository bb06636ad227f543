"""`match`: every layout, output and option gives the matches of plain tamis."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from tests.spark.support.frames import frame_rows
from tests.spark.support.workload import (
    as_columns,
    as_json,
    as_rules,
    attributes_of,
    events,
    plain_index,
    plain_matches,
    subscriptions,
)

import tamis
from tamis.spark import IndexRef, build_index, match
from tamis.spark.matching.job import prepare_job
from tamis.spark.matching.request import MatchRequest

RULES = subscriptions(300)
EVENTS = events(200)
EXPECTED = plain_matches(RULES, EVENTS)


@pytest.fixture(scope="module")
def index(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> IndexRef:
    """Three shards, so that answers have to be brought together."""
    return build_index(spark.createDataFrame(as_rules(RULES)), tmp_path_factory.mktemp("store"), shards=3)


def same(matches: DataFrame, expected: set[tuple[Any, Any]] = EXPECTED) -> None:
    """Each expected pair is there once, and nothing else."""
    assert frame_rows(matches) == sorted(expected)


def test_the_workload_has_something_to_find() -> None:
    assert 2_000 < len(EXPECTED) < 40_000


def test_typed_columns(spark: SparkSession, index: IndexRef) -> None:
    found = match(spark.createDataFrame(as_columns(EVENTS)), index)
    assert found.schema.simpleString() == "struct<event_id:bigint,id:bigint>"
    same(found)


def test_json(spark: SparkSession, index: IndexRef) -> None:
    table = spark.createDataFrame(as_json(EVENTS))
    same(match(table, index))
    renamed = table.withColumnRenamed("event", "body").withColumn("more", F.lit("{}"))
    same(match(renamed, index, json_col="body"))


def test_maps_of_strings_and_of_numbers(spark: SparkSession, tmp_path: Path) -> None:
    rules = {"x": "country = 'US'", "y": "country like '日%' or age = '5'", "z": "age is null"}
    rows = [(1, {"country": "US", "age": "5"}), (2, {"country": '日"\\\n'}), (3, {}), (4, None)]
    table = spark.createDataFrame(rows, "event_id int, event map<string,string>")
    index = build_index(spark.createDataFrame(as_rules(rules)), tmp_path / "s", shards=2)
    same(match(table, index), {(1, "x"), (1, "y"), (2, "y"), (2, "z"), (3, "z"), (4, "z")})

    rules = {"a": "x > 1.5", "b": "x is null", "c": "y = 3"}
    doubles = [(1, {"x": float("inf")}), (2, {"x": float("nan")}), (3, {"x": 1.0, "y": 3.0})]
    numbers = spark.createDataFrame(doubles, "event_id int, event map<string,double>")
    index = build_index(spark.createDataFrame(as_rules(rules)), tmp_path / "n", shards=2)
    same(match(numbers, index, map_col="event"), {(1, "a"), (2, "b"), (3, "c")})


def test_maps_agree_with_plain_tamis(spark: SparkSession, index: IndexRef) -> None:
    ages = [{"event_id": e["event_id"], **({"age": e["age"]} if "age" in e else {})} for e in EVENTS]
    table = spark.createDataFrame(
        [(event["event_id"], attributes_of(event)) for event in ages],
        "event_id bigint, event map<string,int>",
    )
    same(match(table, index), plain_matches(RULES, ages))


def test_an_array_for_each_event(spark: SparkSession, index: IndexRef) -> None:
    table = spark.createDataFrame(as_json([*EVENTS, {"event_id": 999}]))
    found = match(table, index, output="array")
    assert found.schema.simpleString() == "struct<event_id:bigint,ids:array<bigint>>"
    rows = found.collect()
    assert len(rows) == len(EVENTS) + 1
    lone = [id for _, id in plain_matches(RULES, [{"event_id": 999}])]
    assert sorted(next(row["ids"] for row in rows if row["event_id"] == 999)) == sorted(lone)
    assert sorted((row["event_id"], id) for row in rows if row["event_id"] != 999 for id in row["ids"]) == (
        sorted(EXPECTED)
    )


def best(k: int, weights: dict[str, float] | None = None) -> list[tuple[Any, ...]]:
    # Rules are added in the order of their ids, so that equal scores rank by id here, too.
    plain = plain_index(RULES)
    return [
        (event["event_id"], id, score)
        for event in EVENTS
        for id, score in plain.top_k(attributes_of(event), k, weights)
    ]


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("layout", [as_columns, as_json])
def test_top_k(spark: SparkSession, index: IndexRef, layout: Any, groups: int) -> None:
    found = match(spark.createDataFrame(layout(EVENTS)), index, top_k=3, groups=groups)
    assert found.schema.simpleString() == "struct<event_id:bigint,id:bigint,score:double>"
    assert frame_rows(found) == sorted(best(3))


@pytest.mark.parametrize("groups", [1, 3])
def test_top_k_with_weights_as_arrays(spark: SparkSession, index: IndexRef, groups: int) -> None:
    table = spark.createDataFrame(as_json(EVENTS)).withColumn(
        "weights", F.create_map(F.lit("age"), F.lit(0.25), F.lit("vip"), F.lit(4.0))
    )
    found = match(table, index, top_k=2, weights_col="weights", groups=groups, output="array")
    assert found.schema.simpleString() == "struct<event_id:bigint,ids:array<bigint>,scores:array<double>>"
    rows = {row["event_id"]: list(zip(row["ids"], row["scores"], strict=True)) for row in found.collect()}
    assert len(rows) == len(EVENTS)
    expected = best(2, {"age": 0.25, "vip": 4.0})
    assert [(event, *pair) for event in sorted(rows) for pair in rows[event]] == expected


def test_top_k_with_weights_of_each_event(spark: SparkSession, tmp_path: Path) -> None:
    rules = {
        "b": "a > 1 or b > 1",
        "ä": "a > 1 ^ 2",
        "a": "b > 1 and a is not null",
        "none": "a > 1 and a < 1",
    }
    events = [
        (1, {"a": 2.0, "b": 3.0}),
        (2, {"a": 2.0, "b": 3.0}),
        (3, {"b": 2.0}),
        (4, None),
        (5, {"a": 2.0}),
    ]
    weights: list[dict[str, float] | None] = [{"a": 0.5}, None, {"b": 3.0, "c": 1.0}, {"a": 2.0}, {}]
    rows = [(event, values, given) for (event, values), given in zip(events, weights, strict=True)]
    schema = "event_id int, event map<string,double>, weights map<string,float>"
    table = spark.createDataFrame(rows, schema)
    index = build_index(spark.createDataFrame(as_rules(rules)), tmp_path, shards=2)
    asked: dict[str, Any] = {"map_col": "event", "weights_col": "weights", "top_k": 2}
    plain = plain_index({id: rules[id] for id in sorted(rules)})
    expected = [
        (event, *pair)
        for (event, values), given in zip(events, weights, strict=True)
        for pair in plain.top_k(values or {}, 2, given)
    ]
    assert frame_rows(match(table, index, **asked)) == sorted(expected)
    assert expected[:2] == [(1, "a", 1.5), (1, "b", 1.5)]
    bad = table.withColumn("weights", F.create_map(F.lit("a"), -F.col("event_id").cast("double")))
    with pytest.raises(PythonException, match=r"event \d: row \d: .*the weight -\d is not finite and >= 0"):
        match(bad, index, **asked).collect()


def test_groups_of_shards(spark: SparkSession, index: IndexRef) -> None:
    table = spark.createDataFrame(as_json(EVENTS))
    same(match(table, index, groups=2))
    rows = match(table, index, groups=4, output="array").collect()
    assert sorted((row["event_id"], id) for row in rows for id in row["ids"]) == sorted(EXPECTED)
    assert len(rows) == len(EVENTS)


def test_a_table_of_subscriptions_just_works(spark: SparkSession) -> None:
    # This makes one shard, which takes ways of its own.
    rules, texts = spark.createDataFrame(as_rules(RULES)), spark.createDataFrame(as_json(EVENTS))
    same(match(spark.createDataFrame(as_columns(EVENTS)), rules))
    rows = match(texts, rules, output="array").collect()
    assert sorted((row["event_id"], id) for row in rows for id in row["ids"]) == sorted(EXPECTED)
    assert frame_rows(match(texts, rules, top_k=3)) == sorted(best(3))


def test_where_temporary_indexes_are(spark: SparkSession, tmp_path: Path) -> None:
    rules, texts = spark.createDataFrame(as_rules(RULES)), spark.createDataFrame(as_json(EVENTS))
    spark.conf.set("spark.tamis.scratch", str(tmp_path))
    try:
        same(match(texts, rules))
    finally:
        spark.conf.unset("spark.tamis.scratch")
    assert len(list(tmp_path.glob("tamis-*/CURRENT"))) == 1


def test_string_ids_and_event_ids_of_any_type(spark: SparkSession, tmp_path: Path) -> None:
    rules = {"ä": "x > 1", "b c": "x > 2"}
    index = build_index(spark.createDataFrame(as_rules(rules)), tmp_path)
    at = datetime(2026, 11, 15, 10, tzinfo=UTC)
    for kind, name in (("string", "e"), ("date", date(2026, 11, 15)), ("timestamp", at), ("smallint", 7)):
        table = spark.createDataFrame([(name, 2), (None, 3)], f"e {kind}, x int")
        found = match(table, index, event_id_col="e")
        assert found.schema.simpleString() == f"struct<e:{kind},id:string>"
        shown = found.select(F.col("e").cast("string"), "id").collect()
        expected = {table.select(F.col("e").cast("string")).first()[0], None}  # type: ignore[index]
        assert {row["e"] for row in shown} == expected
        assert sorted(row["id"] for row in shown) == ["b c", "ä", "ä"]


def test_nested_and_odd_columns(spark: SparkSession, tmp_path: Path) -> None:
    rules = {1: "user.address.zip = '75011'", 2: '"odd name" > 3', 3: "flat.name = 1", 4: "event_id = 9"}
    index = build_index(spark.createDataFrame(as_rules(rules)), tmp_path)
    rows = [(9, (("75011",),), 4, 1), (10, None, None, None)]
    schema = "event_id int, user struct<address:struct<zip:string>>, `odd name` int, `flat.name` int"
    table = spark.createDataFrame(rows, schema)
    same(match(table, index), {(9, 1), (9, 2), (9, 3)})
    same(match(table, index, attr_cols=["event_id", "user"]), {(9, 1), (9, 4)})


def test_times_and_lists_in_columns(spark: SparkSession, tmp_path: Path) -> None:
    rules = {
        1: "day < DATE '2026-01-01'",
        2: "at >= TIMESTAMP '2026-11-15 10:00:00'",
        3: "all(numbers) > 1",
        4: "f = 0.5",
    }
    index = build_index(spark.createDataFrame(as_rules(rules)), tmp_path)
    rows = [(1, date(2025, 1, 1), datetime(2026, 11, 15, 10), [2, 3], 0.5), (2, None, None, None, None)]
    table = spark.createDataFrame(rows, "event_id int, day date, at timestamp, numbers array<int>, f float")
    same(match(table, index), {(1, 1), (1, 2), (1, 3), (1, 4)})
    assert {row["id"] for row in match(table, index, top_k=9).collect()} == {1, 2, 3, 4}


def test_only_columns_that_are_referred_to_reach_workers(spark: SparkSession, index: IndexRef) -> None:
    table = spark.createDataFrame(as_columns(EVENTS)).withColumn("money", F.lit(1).cast("decimal(9,2)"))
    job = prepare_job(spark, table.schema, index, MatchRequest())
    assert job.encoding.columns == ("age", "price", "country", "vip", "tags")
    same(match(table, index))


def test_no_events_and_no_subscriptions(spark: SparkSession, index: IndexRef, tmp_path: Path) -> None:
    assert match(spark.createDataFrame(as_columns([])), index).collect() == []
    empty = build_index(spark.createDataFrame([], "id string, expression string"), tmp_path)
    assert (empty.subscriptions, empty.shards) == (0, 0)
    table = spark.createDataFrame(as_json(EVENTS))
    assert match(table, empty).collect() == []
    assert all(row["ids"] == [] for row in match(table, empty, output="array").collect())
    assert match(table, empty, top_k=2).collect() == []


def test_one_event_may_match_more_than_a_batch_holds(spark: SparkSession, tmp_path: Path) -> None:
    rules = pa.table({"id": pa.array(range(70_000)), "expression": pa.array(["a = 1"] * 70_000)})
    index = build_index(spark.createDataFrame(rules), tmp_path)
    table = spark.createDataFrame([(n, 1) for n in range(5)], "event_id int, a int")
    counts = match(table, index).groupBy("event_id").agg(F.count("*"), F.countDistinct("id")).collect()
    assert [tuple(row)[1:] for row in counts] == [(70_000, 70_000)] * 5


def test_what_cannot_be_matched_is_refused_at_once(spark: SparkSession, index: IndexRef) -> None:
    table = spark.createDataFrame(as_columns(EVENTS))
    with pytest.raises(ValueError, match="no column 'nope'; there are event_id, age"):
        match(table, index, event_id_col="nope")
    with pytest.raises(ValueError, match="exclude each other"):
        match(table, index, json_col="country", map_col="country")
    with pytest.raises(TypeError, match="'age' is bigint; JSON is read from a string"):
        match(table, index, json_col="age")
    with pytest.raises(TypeError, match="'age' is bigint; a map with string keys"):
        match(table, index, map_col="age")
    with pytest.raises(TypeError, match="weights are a map<string,double>"):
        match(table, index, top_k=1, weights_col="age")
    with pytest.raises(ValueError, match="no effect without top_k"):
        match(table, index, weights_col="age")
    for wrong in ({"top_k": 0}, {"groups": 0}, {"output": "lists"}, {"event_id_col": "id"}):
        with pytest.raises(ValueError):
            match(table, index, **wrong)
    capitals = table.select("event_id", F.col("age").alias("Age"), F.col("country").alias("Country"))
    with pytest.raises(ValueError, match="no rule refers to any of the columns Age, Country"):
        match(capitals, index)
    with pytest.raises(TypeError, match=r"'age' is interval day.*cast it to bigint"):
        match(table.withColumn("age", F.expr("INTERVAL '1' DAY")), index)


def test_a_bad_event_is_named(spark: SparkSession, index: IndexRef) -> None:
    table = spark.createDataFrame([("good", "{}"), ("bad", '{"age":')], "event_id string, event string")
    with pytest.raises(PythonException, match=r"event 'bad': row .*not a JSON event"):
        match(table, index).collect()


def test_closed_world(spark: SparkSession, tmp_path: Path) -> None:
    rules = spark.createDataFrame(as_rules({1: "not a = 1"}))
    table = spark.createDataFrame([(1, "{}"), (2, None)], "event_id int, json string")
    same(match(table, build_index(rules, tmp_path / "unknown")), set())
    same(match(table, build_index(rules, tmp_path / "false", missing="false")), {(1, 1), (2, 1)})


def test_other_engines(spark: SparkSession, tmp_path: Path) -> None:
    table = spark.createDataFrame(as_json(EVENTS))
    index = build_index(spark.createDataFrame(as_rules(RULES)), tmp_path, engine="a_tree", shards=2)
    same(match(table, index))
    with pytest.raises(tamis.OptionError):
        build_index(spark.createDataFrame(as_rules(RULES)), tmp_path, engine="nope")
