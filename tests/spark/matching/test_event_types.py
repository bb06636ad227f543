"""Types of event columns: read as their owner meant them, or refused before any task runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.spark.support.frames import frame_rows
from tests.spark.support.workload import as_rules

from tamis.spark import IndexRef, build_index, match, match_files

RULES = {
    1: "m.a = 1",
    2: "s.m.a = 2",
    3: "u.q = 5",
    4: "at > DATE '2026-01-01'",
    5: "m.b is null and m is not null",
}


@pytest.fixture(scope="module")
def index(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> IndexRef:
    return build_index(spark.createDataFrame(as_rules(RULES)), tmp_path_factory.mktemp("store"))


def test_maps_are_objects(spark: SparkSession, index: IndexRef) -> None:
    events = spark.sql("""
        SELECT 1 AS event_id, map('a', 1, 'b', 2) AS m, named_struct('m', map('a', 2)) AS s, 1 AS x
        UNION ALL SELECT 2, map('z', 1), named_struct('m', NULL), 1
        UNION ALL SELECT 3, NULL, NULL, 1
    """)
    assert frame_rows(match(events, index)) == [(1, 1), (1, 2), (2, 5)]


def test_variants_are_read_as_json(spark: SparkSession, index: IndexRef) -> None:
    events = spark.sql("""
        SELECT 1 AS event_id, parse_json('{"u": {"q": 5}, "m": {"a": 1.0}}') AS payload
        UNION ALL SELECT 2, parse_json('{"u": {"q": "5"}}')
        UNION ALL SELECT 3, NULL
    """)
    assert frame_rows(match(events, index)) == [(1, 1), (1, 3), (1, 5)]
    assert frame_rows(match(events, index, json_col="payload")) == [(1, 1), (1, 3), (1, 5)]
    beside = events.selectExpr("*", "map('a', 1) AS m")
    with pytest.raises(ValueError, match="column 'payload' may hold it"):
        match(beside, index)


@pytest.mark.parametrize(
    ("column", "named"),
    [
        ("INTERVAL '1' DAY AS at", "column 'at' is interval day"),
        ("INTERVAL '1' YEAR AS at", "column 'at' is interval year"),
        ("array(INTERVAL '1' DAY) AS at", "column 'at' is array<interval day>"),
        ("named_struct('m', map('a', INTERVAL '1' DAY)) AS s", "column 's.m.a' is interval day"),
        ("named_struct('q', INTERVAL '1' DAY) AS u", "column 'u.q' is interval day"),
        ("parse_json('1') AS u", "column 'u.q' is variant"),
    ],
)
def test_types_that_expressions_cannot_compare(
    spark: SparkSession, index: IndexRef, column: str, named: str
) -> None:
    events: DataFrame = spark.sql(f"SELECT 1 AS event_id, 1 AS x, {column}")
    with pytest.raises((TypeError, ValueError), match=named):
        match(events, index)


def test_decimals_are_numbers_and_binaries_are_present(spark: SparkSession, tmp_path: Path) -> None:
    rules = {
        1: "d = 1.5",
        2: "s.d = 12345678901234567",
        3: "any(l) = 0.25",
        4: "m.k = 2",
        5: "b IS NOT NULL",
        6: "b = 'x'",
        7: "b IS NULL",
    }
    index = build_index(spark.createDataFrame(as_rules(rules)), tmp_path / "index")
    events = spark.sql("""
        SELECT 1 AS event_id, CAST(1.5 AS DECIMAL(9, 2)) AS d,
            named_struct('d', CAST(12345678901234567 AS DECIMAL(38, 3))) AS s,
            array(CAST(0.25 AS DECIMAL(5, 2)), NULL) AS l, map('k', CAST(2 AS DECIMAL(9, 2))) AS m, X'00' AS b
        UNION ALL SELECT 2, NULL, NULL, NULL, NULL, NULL
    """)
    expected = [(1, 1), (1, 2), (1, 3), (1, 4), (1, 5), (2, 7)]
    assert frame_rows(match(events, index)) == expected
    events.coalesce(1).write.parquet(str(tmp_path / "events"))
    assert frame_rows(match_files(spark, tmp_path / "events", index)) == expected
    maps = spark.sql("SELECT 1 AS event_id, map('d', CAST(1.5 AS DECIMAL(9, 2))) AS event")
    assert frame_rows(match(maps, index)) == [(1, 1), (1, 7)]


def test_columns_that_no_rule_refers_to_may_have_any_type(spark: SparkSession, index: IndexRef) -> None:
    events = spark.sql("""
        SELECT 1 AS event_id, map('a', 1) AS m, X'00' AS bytes, INTERVAL '1' DAY AS took,
            named_struct('q', 5, 'price', CAST(1 AS DECIMAL(9, 2))) AS u
    """)
    assert frame_rows(match(events, index)) == [(1, 1), (1, 3), (1, 5)]
