"""`match_files`: Parquet files that workers read themselves."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PythonException
from pyspark.sql import SparkSession
from tests.spark.support.frames import frame_rows
from tests.spark.support.workload import as_columns, as_json, as_rules, events, plain_matches, subscriptions

import tamis
from tamis.spark import IndexRef, build_index, match_files
from tamis.spark.matching import parquet_files

RULES = subscriptions(300)
EVENTS = events(250)
EXPECTED = sorted(plain_matches(RULES, EVENTS))


@pytest.fixture(scope="module")
def index(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> IndexRef:
    return build_index(spark.createDataFrame(as_rules(RULES)), tmp_path_factory.mktemp("store"), shards=2)


@pytest.fixture(params=["columns", "json"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Events in two files of several row groups, one in a folder of its own, and files that are no data."""
    table = as_columns(EVENTS) if request.param == "columns" else as_json(EVENTS)
    (tmp_path / "day=1").mkdir()
    pq.write_table(table.slice(0, 100), tmp_path / "day=1/a.parquet", row_group_size=30)
    pq.write_table(table.slice(100), tmp_path / "b.parquet", row_group_size=64)
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "_temporary").mkdir()
    (tmp_path / "_temporary/half.parquet").write_bytes(b"PAR1")
    return tmp_path


def test_folders(spark: SparkSession, index: IndexRef, folder: Path) -> None:
    found = match_files(spark, folder, index)
    assert found.schema.simpleString() == "struct<event_id:bigint,id:bigint>"
    assert frame_rows(found) == EXPECTED


def test_files_as_uris(spark: SparkSession, index: IndexRef, folder: Path) -> None:
    files: list[str | Path] = [f"file://{folder}/b.parquet", folder / "day=1/a.parquet"]
    rows = match_files(spark, files, index, output="array", groups=2).collect()
    assert len(rows) == len(EVENTS)
    assert sorted((row["event_id"], id) for row in rows for id in row["ids"]) == EXPECTED


def test_as_many_tasks_as_bytes_ask_for(
    spark: SparkSession, index: IndexRef, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_files, "_TASK_BYTES", 1)
    assert len(parquet_files.split(parquet_files.find_files([str(folder)]), ["event_id"])) == 7
    found = match_files(spark, folder, index, top_k=1)
    assert found.rdd.getNumPartitions() == 7
    assert len({row["event_id"] for row in found.collect()}) == len({event for event, _ in EXPECTED})


def test_maps_and_types_that_spark_does_not_have(spark: SparkSession, tmp_path: Path) -> None:
    rules = build_index(spark.createDataFrame(as_rules({1: "x = 2", 2: "y = 'b'"})), tmp_path / "store")
    maps = pa.table(
        {
            "event_id": pa.array(["a", "b"]).dictionary_encode(),
            "event": pa.array([[("x", 2)], None], pa.map_(pa.string(), pa.int64())),
        }
    )
    pq.write_table(maps, tmp_path / "maps.parquet")
    found = match_files(spark, tmp_path / "maps.parquet", rules).collect()
    assert [tuple(row) for row in found] == [("a", 1)]
    columns = pa.table(
        {
            "event_id": pa.array([1, 2], pa.uint32()),
            "x": pa.array([2, None], pa.int8()),
            "y": pa.array(["b", "c"], pa.large_string()).dictionary_encode(),
        }
    )
    texts = pa.table({"event_id": [1], "event": pa.array(['{"x": 2}']).dictionary_encode()})
    pq.write_table(texts, tmp_path / "texts.parquet")
    found = match_files(spark, tmp_path / "texts.parquet", rules).collect()
    assert [tuple(row) for row in found] == [(1, 1)]
    pq.write_table(columns, tmp_path / "columns.parquet")
    found = match_files(spark, tmp_path / "columns.parquet", rules).collect()
    assert sorted(tuple(row) for row in found) == [(1, 1), (1, 2)]


def test_an_id_that_is_an_attribute_too(spark: SparkSession, tmp_path: Path) -> None:
    rules = build_index(spark.createDataFrame(as_rules({1: "event_id > 5"})), tmp_path / "store")
    pq.write_table(pa.table({"event_id": [5, 6]}), tmp_path / "e.parquet")
    found = match_files(spark, tmp_path / "e.parquet", rules, attr_cols=["event_id"]).collect()
    assert [tuple(row) for row in found] == [(6, 1)]


def test_files_without_rows(spark: SparkSession, index: IndexRef, tmp_path: Path) -> None:
    pq.write_table(as_json([]), tmp_path / "none.parquet")
    assert match_files(spark, tmp_path, index).collect() == []


def test_what_is_no_parquet(spark: SparkSession, index: IndexRef, tmp_path: Path) -> None:
    with pytest.raises(tamis.FileError, match="is neither a Parquet file nor a folder with Parquet files"):
        match_files(spark, tmp_path / "nothing", index)
    with pytest.raises(tamis.FileError, match="is neither a Parquet file nor a folder with Parquet files"):
        match_files(spark, tmp_path, index)
    (tmp_path / "x.parquet").write_text("no")
    with pytest.raises(tamis.FileError, match="cannot be read as Parquet"):
        match_files(spark, tmp_path / "x.parquet", index)


def test_a_file_with_another_schema_is_named(spark: SparkSession, index: IndexRef, tmp_path: Path) -> None:
    pq.write_table(as_json(EVENTS), tmp_path / "a.parquet")
    pq.write_table(pa.table({"event_id": [1]}), tmp_path / "b.parquet")
    with pytest.raises(PythonException, match=r"b\.parquet has no column 'event'"):
        match_files(spark, tmp_path, index).collect()
