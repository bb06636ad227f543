"""`match_stream`: each batch has one version, and its matches are written exactly once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.spark.support.frames import add_file, file_rows
from tests.spark.support.workload import as_json, as_rules, events, plain_matches, subscriptions

import tamis
from tamis.spark import apply_changes, build_index, match_stream, publish
from tamis.spark.matching.stream import pin
from tamis.spark.store import version_files

EVENTS = events(90)


def add_batch(folder: Path, number: int) -> list[dict[str, Any]]:
    """Add the file of a batch to the stream's folder; return its events."""
    some = EVENTS[number * 30 : number * 30 + 30]
    add_file(as_json(some), folder / f"{number}.parquet")
    return some


def stream_of(spark: SparkSession, folder: Path) -> DataFrame:
    return (
        spark.readStream.schema("event_id bigint, event string")
        .option("maxFilesPerTrigger", 1)
        .parquet(str(folder))
    )


def run(spark: SparkSession, folder: Path, **kw: Any) -> None:
    query = match_stream(
        stream_of(spark, folder / "events"),
        index_uri=folder / "store",
        out=folder / "out",
        checkpoint=folder / "checkpoint",
        trigger={"availableNow": True},
        **kw,
    )
    query.awaitTermination()


def written(folder: Path, batch: int) -> list[tuple[Any, ...]]:
    return file_rows(folder / f"out/batch_id={batch}")


def pinned(folder: Path) -> dict[int, str]:
    pins = (folder / "checkpoint/pins").glob("*.json")
    return {int(path.stem): json.loads(path.read_text())["version"] for path in pins}


def test_each_batch_has_the_version_that_is_in_use(spark: SparkSession, tmp_path: Path) -> None:
    rules: dict[Any, str] = dict(subscriptions(100))
    build_index(spark.createDataFrame(as_rules(rules)), tmp_path / "store", version="v1")
    first = add_batch(tmp_path / "events", 0)
    run(spark, tmp_path)
    before = sorted(plain_matches(rules, first))
    assert written(tmp_path, 0) == before

    rules[1000] = "true"
    del rules[5]
    rows = [(1000, "true", "upsert"), (5, None, "delete")]
    changes = spark.createDataFrame(rows, "id int, expression string, op string")
    apply_changes(changes, tmp_path / "store", version="v2")
    second = add_batch(tmp_path / "events", 1)
    run(spark, tmp_path)
    assert written(tmp_path, 0) == before
    assert written(tmp_path, 1) == sorted(plain_matches(rules, second))
    assert pinned(tmp_path) == {0: "v1", 1: "v2"}
    assert spark.read.parquet(str(tmp_path / "out")).columns == ["event_id", "id", "batch_id"]


def test_a_repeated_batch_has_its_version_and_replaces_what_it_wrote(
    spark: SparkSession, tmp_path: Path
) -> None:
    rules = subscriptions(100)
    build_index(spark.createDataFrame(as_rules(rules)), tmp_path / "store", version="v1")
    first = add_batch(tmp_path / "events", 0)
    run(spark, tmp_path)
    build_index(spark.createDataFrame(as_rules({7: "true"})), tmp_path / "store", version="v2")
    # As if the process had died after writing the matches and before Spark had noted that the batch is done.
    commits = [path for path in (tmp_path / "checkpoint/commits").iterdir() if path.name.endswith("0")]
    assert commits
    for path in (tmp_path / "checkpoint/commits").iterdir():
        path.unlink()
    second = add_batch(tmp_path / "events", 1)
    run(spark, tmp_path)
    assert written(tmp_path, 0) == sorted(plain_matches(rules, first))
    assert written(tmp_path, 1) == sorted(plain_matches({7: "true"}, second))
    assert pinned(tmp_path) == {0: "v1", 1: "v2"}


def test_arguments_of_match(spark: SparkSession, tmp_path: Path) -> None:
    rules = subscriptions(60)
    build_index(spark.createDataFrame(as_rules(rules)), tmp_path / "store")
    some = add_batch(tmp_path / "events", 2)
    run(spark, tmp_path, output="array", json_col="event")
    rows = pq.read_table(tmp_path / "out/batch_id=0", partitioning=None).to_pylist()
    assert len(rows) == 30
    found = {(row["event_id"], id) for row in rows for id in row["ids"]}
    assert found == plain_matches(rules, some)


def test_wrong_arguments(spark: SparkSession, tmp_path: Path) -> None:
    add_batch(tmp_path / "events", 0)
    with pytest.raises(tamis.FileError, match="has no current version"):
        run(spark, tmp_path)
    build_index(spark.createDataFrame(as_rules({1: "true"})), tmp_path / "store")
    with pytest.raises(TypeError, match="topk"):
        run(spark, tmp_path, topk=3)
    with pytest.raises(ValueError, match="output is 'lists'"):
        run(spark, tmp_path, output="lists")
    table = spark.createDataFrame(as_json(EVENTS))
    with pytest.raises(ValueError, match="events is not a stream; match takes tables"):
        match_stream(table, index_uri=tmp_path / "store", out=tmp_path, checkpoint=tmp_path)


def test_pins(spark: SparkSession, tmp_path: Path) -> None:
    uri, pins = str(tmp_path / "store"), str(tmp_path / "pins")
    rules = spark.createDataFrame(as_rules({1: "true"}))
    first = build_index(rules, uri, version="v1")
    assert pin(uri, pins, 0) == first
    second = build_index(rules, uri, version="v2")
    assert (pin(uri, pins, 0), pin(uri, pins, 1)) == (first, second)
    publish(spark, uri, "v1")
    assert (pin(uri, pins, 1), pin(uri, pins, 1000)) == (second, first)
    assert sorted(path.name for path in (tmp_path / "pins").iterdir()) == ["1.json", "1000.json"]
    # A version that went away is named, not replaced by another.
    manifest = tmp_path / "store/versions/v2/manifest.json"
    manifest.write_text(manifest.read_text().replace('"subscriptions": 1', '"subscriptions": 2'))
    with pytest.raises(tamis.FileError, match="batch 1 began with another content of version 'v2'"):
        pin(uri, pins, 1)
    manifest.unlink()
    with pytest.raises(tamis.FileError, match="has no version 'v2'; existing versions: v1"):
        pin(uri, pins, 1)
    assert version_files.current_version(uri) == "v1"
