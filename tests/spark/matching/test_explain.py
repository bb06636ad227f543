"""`explain`: why events match rules or do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.spark.support.workload import as_columns, as_json, as_rules

from tamis.spark import apply_changes, build_index, explain, match, open_index

RULES = {1: "age >= 18 and country = 'US'", 2: "age > 90 or vip", 3: "true"}
EVENTS: list[dict[str, Any]] = [{"event_id": 7, "age": 20, "country": "US"}, {"event_id": 8, "age": 17}]


@pytest.mark.parametrize("layout", [as_columns, as_json], ids=["columns", "json"])
def test_matches_and_misses(spark: SparkSession, tmp_path: Path, layout: object) -> None:
    table = spark.createDataFrame(layout(EVENTS))  # type: ignore[operator]
    index = build_index(spark.createDataFrame(as_rules(RULES)), tmp_path, shards=2)
    rows = explain(match(table, index), table, index)
    assert rows.schema.simpleString() == "struct<event_id:bigint,id:bigint,truth:string,why:string>"
    shown = {(row["event_id"], row["id"]): row for row in rows.collect()}
    assert set(shown) == {(7, 1), (7, 3), (8, 3)} and {row["truth"] for row in shown.values()} == {"TRUE"}
    assert shown[7, 1]["why"].splitlines() == [
        "TRUE     AND",
        "TRUE       age >= 18   (20)",
        "TRUE       country = 'US'   ('US')",
    ]
    misses = spark.createDataFrame([(8, 1), (8, 2), (8, 99), (100, 1)], "event_id bigint, id int")
    missed = {row["id"]: row for row in explain(misses, table, index).collect()}
    assert {id: row["truth"] for id, row in missed.items()} == {1: "FALSE", 2: "UNKNOWN", 99: None}
    assert missed[99]["why"] == "there is no rule 99"


def test_a_sample_only(spark: SparkSession, tmp_path: Path) -> None:
    table = spark.createDataFrame(as_json(EVENTS))
    index = build_index(spark.createDataFrame(as_rules(RULES)), tmp_path)
    assert explain(match(table, index), table, index, limit=2).count() == 2
    with pytest.raises(ValueError, match="limit is 0"):
        explain(match(table, index), table, index, limit=0)
    texts = spark.createDataFrame([(7, "1")], "event_id bigint, id string")
    with pytest.raises(TypeError, match="'id' must be bigint"):
        explain(texts, table, index)


def test_what_a_delta_says(spark: SparkSession, tmp_path: Path) -> None:
    table = spark.createDataFrame(as_json(EVENTS))
    build_index(spark.createDataFrame(as_rules(RULES)), tmp_path)
    rows = [(1, "age < 0", "upsert"), (3, None, "delete")]
    apply_changes(spark.createDataFrame(rows, "id int, expression string, op string"), tmp_path)
    pairs = spark.createDataFrame([(7, 1), (7, 3)], "event_id bigint, id bigint")
    shown = explain(pairs, table, open_index(spark, tmp_path)).collect()
    assert {row["id"]: row["why"] for row in shown} == {
        1: "FALSE    age < 0   (20)",
        3: "there is no rule 3",
    }
