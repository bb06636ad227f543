"""`build_index`: versions, shards, bad rows, failed and repeated tasks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark import TaskContext
from pyspark.errors import PythonException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tests.spark.support.frames import frame_rows
from tests.spark.support.workload import as_columns, as_json, as_rules, events, plain_matches, subscriptions

import tamis
from tamis.spark import build_index, match, open_index, publish, read_quarantine, vacuum
from tamis.spark.build.shard_builder import ShardBuilder

BAD = {"a": "x > 1", "b": "x >", "c": None, "d": "y = 'q"}


def refused(
    spark: SparkSession, folder: Path, rows: Sequence[tuple[object, ...]], id_type: str = "string"
) -> dict[str | None, str]:
    table = spark.createDataFrame(rows, f"id {id_type}, expression string")
    ref = build_index(table, folder, shards=2, on_error="quarantine")
    lost = read_quarantine(spark, ref).collect()
    assert ref.quarantined == len(lost)
    assert ref.subscriptions + ref.quarantined == len(rows)
    return {row["id"]: row["reason"] for row in lost}


def test_a_version_is_what_its_manifest_lists(spark: SparkSession, tmp_path: Path) -> None:
    rules = subscriptions(100)
    ref = build_index(spark.createDataFrame(as_rules(rules)), tmp_path, version="v1", shards=4)
    assert (ref.version, ref.subscriptions, ref.shards, ref.id_type) == ("v1", 100, 4, "bigint")
    manifest = json.loads((tmp_path / "versions/v1/manifest.json").read_text())
    files = {shard["path"]: shard for shard in manifest["layers"][0]["shards"]}
    assert len(files) == 4 and sum(file["rows"] for file in files.values()) == 100
    for path, file in files.items():
        assert (tmp_path / path).stat().st_size == file["bytes"]
        assert len(tamis.Index.load(tmp_path / path)) == file["rows"]
    assert set(manifest["attributes"]) == {"age", "price", "country", "vip", "tags"}
    assert (tmp_path / "CURRENT").read_text() == "v1\n"
    assert open_index(spark, tmp_path) == ref == open_index(spark, str(tmp_path), "v1")
    assert open_index(spark, f"file://{tmp_path}").digest == ref.digest


def test_shards_have_ids_in_order_whatever_came_first(spark: SparkSession, tmp_path: Path) -> None:
    rules = spark.createDataFrame(as_rules(subscriptions(200))).orderBy(F.rand(3))
    build_index(rules, tmp_path, version="v", shards=3)
    shards = [list(tamis.Index.load(path)) for path in tmp_path.glob("versions/v/shard-*.tamis")]
    assert [sorted(ids) for ids in shards] == shards
    assert sorted(id for ids in shards for id in ids) == list(range(200))


def test_one_shard_by_default(spark: SparkSession, tmp_path: Path) -> None:
    assert build_index(spark.createDataFrame(as_rules(subscriptions(50))), tmp_path).shards == 1


def test_a_version_that_is_not_published(spark: SparkSession, tmp_path: Path) -> None:
    table = spark.createDataFrame([(1, {"a": 1})], "event_id int, event map<string,int>")
    first = build_index(spark.createDataFrame([(1, "a = 1")], "id int, expression string"), tmp_path)
    more = spark.createDataFrame([(1, "a = 1"), (2, "a > 0")], "id int, expression string")
    second = build_index(more, tmp_path, publish=False)
    assert open_index(spark, tmp_path) == first
    assert match(table, second).count() == 2
    publish(spark, tmp_path, second.version)
    assert open_index(spark, tmp_path) == second
    publish(spark, tmp_path, first.version)
    assert open_index(spark, tmp_path) == first


def test_the_first_bad_row_is_named_with_its_place(spark: SparkSession, tmp_path: Path) -> None:
    table = spark.createDataFrame(list(BAD.items()), "id string, expression string")
    with pytest.raises(tamis.ParseError) as caught:
        build_index(table, tmp_path, shards=1)
    message = str(caught.value)
    assert message.startswith("rule 'b': line 1, column 4") and "^" in message
    assert "2 more rows cannot be indexed; on_error='quarantine' lists them" in message
    with pytest.raises(tamis.FileError, match="has no current version; it has no versions"):
        open_index(spark, tmp_path)


def test_bad_rows_are_set_aside_with_the_reason(spark: SparkSession, tmp_path: Path) -> None:
    rows = [*BAD.items(), ("twice", "x = 1"), ("twice", "x = 2"), (None, "x = 3")]
    lost = refused(spark, tmp_path, rows)
    assert set(lost) == {"b", "c", "d", "twice", None}
    assert "^" in lost["b"] and lost["c"] == "the expression is null"
    assert lost["twice"] == "the id 'twice' occurs more than once"
    assert lost[None] == "the id is null"
    table = spark.createDataFrame([(1, '{"x": 2}')], "event_id int, event string")
    assert [row["id"] for row in match(table, open_index(spark, tmp_path)).collect()] == ["a"]


def test_quarantine_of_nothing(spark: SparkSession, tmp_path: Path) -> None:
    assert refused(spark, tmp_path, [(1, "a"), (2, "b")], "bigint") == {}


def test_all_rows_may_be_bad(spark: SparkSession, tmp_path: Path) -> None:
    assert set(refused(spark, tmp_path, [(1, "a >"), (2, None)], "bigint")) == {"1", "2"}


def test_engines_that_take_conjunctions_only(spark: SparkSession, tmp_path: Path) -> None:
    wide = " and ".join(f"(a{n} = 1 or b{n} = 1)" for n in range(24))
    table = spark.createDataFrame([(1, "a = 1"), (2, wide), (3, "b >")], "id int, expression string")
    ref = build_index(table, tmp_path, engine="pst_hash", on_error="quarantine")
    assert {row["id"] for row in read_quarantine(spark, ref).collect()} == {"2", "3"}
    with pytest.raises(tamis.TooComplex, match="rule 2"):
        build_index(table.where("id < 3"), tmp_path, engine="pst_hash")


def test_duplicates_are_an_error(spark: SparkSession, tmp_path: Path) -> None:
    table = spark.createDataFrame([(5, "a"), (6, "b"), (5, "c")], "id int, expression string")
    with pytest.raises(tamis.DuplicateId, match="the id 5 occurs more than once"):
        build_index(table, tmp_path, shards=3)


def test_expressions_that_never_match_are_no_trouble(spark: SparkSession, tmp_path: Path) -> None:
    table = spark.createDataFrame([(5, "a > 3 and a < 1"), (6, "true")], "id int, expression string")
    assert build_index(table, tmp_path).subscriptions == 2


def test_wrong_arguments(spark: SparkSession, tmp_path: Path) -> None:
    good = spark.createDataFrame([(1, "a")], "id int, expression string")
    with pytest.raises(TypeError, match="'id' is double; ids are strings or integers"):
        build_index(good.withColumn("id", F.lit(1.5)), tmp_path)
    with pytest.raises(TypeError, match="'expression' is int; expressions are strings"):
        build_index(good.withColumn("expression", F.lit(1)), tmp_path)
    with pytest.raises(ValueError, match="no column 'rule'; there are id, expression"):
        build_index(good, tmp_path, expr_col="rule")
    with pytest.raises(ValueError, match="shards is 0"):
        build_index(good, tmp_path, shards=0)
    with pytest.raises(ValueError, match="on_error is 'ignore'"):
        build_index(good, tmp_path, on_error="ignore")  # type: ignore[arg-type]
    for name in ("current", "a/b", ".hidden", ""):
        with pytest.raises(ValueError, match="is not a version name"):
            build_index(good, tmp_path, version=name)
    build_index(good, tmp_path, version="once")
    with pytest.raises(tamis.FileError, match="already has a version 'once', and versions are immutable"):
        build_index(good, tmp_path, version="once")
    with pytest.raises(ValueError, match="pyarrow cannot open"):
        build_index(good, "nowhere://bucket/x")


def test_other_columns_and_names(spark: SparkSession, tmp_path: Path) -> None:
    table = spark.createDataFrame([(1, "x = 1", "a = 1")], "number smallint, id string, rule string")
    ref = build_index(table, tmp_path, id_col="number", expr_col="rule")
    assert ref.id_type == "bigint"
    found = match(spark.createDataFrame([(7, 1)], "event_id int, a int"), ref).collect()
    assert [tuple(row) for row in found] == [(7, 1)]


@pytest.mark.parametrize("layout", [as_columns, as_json], ids=["columns", "json"])
def test_a_sample_of_events_changes_no_answer(spark: SparkSession, tmp_path: Path, layout: object) -> None:
    rules, drawn = subscriptions(200), events(150)
    table = spark.createDataFrame(layout(drawn))  # type: ignore[operator]
    ref = build_index(spark.createDataFrame(as_rules(rules)), tmp_path, version="v", stats=table, shards=2)
    assert len(list(tmp_path.glob("versions/v/observed-*.parquet"))) == 1
    assert frame_rows(match(table, ref)) == sorted(plain_matches(rules, drawn))


def test_no_events_to_observe(spark: SparkSession, tmp_path: Path) -> None:
    rules = spark.createDataFrame(as_rules(subscriptions(20)))
    none = spark.createDataFrame([], "event_id int, event map<string,int>")
    assert build_index(rules, tmp_path, stats=none).subscriptions == 20


def test_a_missing_shard_is_named(spark: SparkSession, tmp_path: Path) -> None:
    rules = spark.createDataFrame([(1, "a = 1")], "id int, expression string")
    ref = build_index(rules, tmp_path, version="v")
    next(tmp_path.glob("versions/v/shard-*")).unlink()
    with pytest.raises(PythonException, match=r"versions/v/shard-00000-.* is missing from"):
        match(spark.createDataFrame([(1, 1)], "event_id int, a int"), ref).collect()


def test_versions_that_are_not_there(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(tamis.FileError, match="has no current version; it has no versions"):
        open_index(spark, tmp_path / "nothing")
    build_index(
        spark.createDataFrame([(1, "a")], "id int, expression string"), tmp_path, version="v1", publish=False
    )
    with pytest.raises(tamis.FileError, match="has no current version; existing versions: v1"):
        open_index(spark, tmp_path)
    with pytest.raises(tamis.FileError, match="has no version 'v2'; existing versions: v1"):
        open_index(spark, tmp_path, "v2")
    with pytest.raises(tamis.FileError, match="has no version 'v2'"):
        publish(spark, tmp_path, "v2")
    (tmp_path / "CURRENT").write_text("v")
    with pytest.raises(tamis.FileError, match="truncated: 'v'; publish a version again"):
        open_index(spark, tmp_path)


class FailsAtFirst(ShardBuilder):
    """A builder that writes all and then fails, at the first attempt."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        written = list(super().__call__(batches))
        context = TaskContext.get()
        assert context is not None
        if context.attemptNumber() == 0:
            raise RuntimeError("as if the machine had gone")
        yield from written


class RunsTwice(ShardBuilder):
    """A builder that does all of it twice, as speculation does on two machines, and is heard once."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        received = list(batches)
        list(super().__call__(iter(received)))
        return super().__call__(iter(received))


@pytest.mark.parametrize("builder", [FailsAtFirst, RunsTwice])
def test_tasks_that_fail_or_run_twice_do_no_harm(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, builder: type[ShardBuilder]
) -> None:
    rules, drawn = subscriptions(100), events(60)
    monkeypatch.setattr("tamis.spark.build.version.ShardBuilder", builder)
    table = spark.createDataFrame(as_rules({**rules, -1: "a >"}))
    ref = build_index(table, tmp_path, version="v", shards=2, on_error="quarantine")
    assert len(list(tmp_path.glob("versions/v/shard-*"))) == 4
    assert (ref.shards, ref.subscriptions, ref.quarantined) == (2, 100, 1)
    assert read_quarantine(spark, ref).count() == 1
    events_table = spark.createDataFrame(as_json(drawn))
    assert frame_rows(match(events_table, ref)) == sorted(plain_matches(rules, drawn))
    assert vacuum(spark, tmp_path) == []
    assert len(vacuum(spark, tmp_path, grace=timedelta())) == 3
    assert frame_rows(match(events_table, ref)) == sorted(plain_matches(rules, drawn))


class GetsTwoShards(ShardBuilder):
    """A builder that is given rows of two shards."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            mixed = [pa.array([row % 2 for row in range(len(batch))], pa.int32()), *batch.columns[1:]]
            return super().__call__(iter([pa.RecordBatch.from_arrays(mixed, schema=batch.schema)]))
        return iter([])


def test_a_task_has_one_shard_or_fails(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tamis.spark.build.version.ShardBuilder", GetsTwoShards)
    with pytest.raises(PythonException, match="one task got the shards"):
        build_index(spark.createDataFrame(as_rules(subscriptions(20))), tmp_path, shards=1)
    with pytest.raises(tamis.FileError, match="has no current version; it has no versions"):
        open_index(spark, tmp_path)


def test_large_ids_keep_their_value(spark: SparkSession, tmp_path: Path) -> None:
    ids = [2**63 - 1, -(2**63), 0]
    table = spark.createDataFrame(pa.table({"id": ids, "expression": ["a = 1"] * 3}))
    ref = build_index(table, tmp_path, shards=2)
    found = match(spark.createDataFrame([(1, 1)], "event_id int, a int"), ref).collect()
    assert sorted(row["id"] for row in found) == sorted(ids)
