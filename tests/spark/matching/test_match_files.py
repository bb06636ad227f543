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
from tamis.spark import IndexRef, build_index, match, match_files
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
    (tmp_path / "day 1").mkdir()
    pq.write_table(table.slice(0, 100), tmp_path / "day 1/a.parquet", row_group_size=30)
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
    files: list[str | Path] = [f"file://{folder}/b.parquet", folder / "day 1/a.parquet"]
    rows = match_files(spark, files, index, output="array", groups=2).collect()
    assert len(rows) == len(EVENTS)
    assert sorted((row["event_id"], id) for row in rows for id in row["ids"]) == EXPECTED


def test_as_many_tasks_as_bytes_ask_for(
    spark: SparkSession, index: IndexRef, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_files, "_TASK_BYTES", 1)
    (listing,) = parquet_files.list_files([str(folder)])
    assert len(parquet_files.split(listing.files, ["event_id"])) == 7
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


def test_a_file_without_the_column_of_events_is_named(
    spark: SparkSession, index: IndexRef, tmp_path: Path
) -> None:
    pq.write_table(as_json(EVENTS), tmp_path / "a.parquet")
    pq.write_table(pa.table({"event_id": [1]}), tmp_path / "b.parquet")
    with pytest.raises(PythonException, match=r"b\.parquet has no column 'event'"):
        match_files(spark, tmp_path, index).collect()


# --- columns that not every file has, and types that Spark cannot name -------------------------------


def test_columns_that_the_first_file_does_not_have(spark: SparkSession, tmp_path: Path) -> None:
    rules = {1: "age > 30", 2: "country = 'US'", 3: "u.q = 5", 4: "country is null"}
    index = build_index(spark.createDataFrame(as_rules(rules)), tmp_path / "store")
    folder = tmp_path / "events"
    folder.mkdir()
    pq.write_table(pa.table({"event_id": [1], "age": [31]}), folder / "a.parquet")
    u = pa.array([{"q": 5, "r": "x"}])
    pq.write_table(pa.table({"event_id": [2], "country": ["US"], "u": u}), folder / "b.parquet")
    pq.write_table(pa.table({"event_id": [3], "age": [31.5], "u": [{"q": 5.0}]}), folder / "c.parquet")
    assert frame_rows(match_files(spark, folder, index)) == [
        (1, 1),
        (1, 4),
        (2, 2),
        (2, 3),
        (3, 1),
        (3, 3),
        (3, 4),
    ]


def test_files_whose_types_contradict_each_other(spark: SparkSession, tmp_path: Path) -> None:
    index = build_index(spark.createDataFrame(as_rules({1: "age > 30"})), tmp_path / "store")
    folder = tmp_path / "events"
    folder.mkdir()
    pq.write_table(pa.table({"event_id": [1], "age": [31]}), folder / "a.parquet")
    pq.write_table(pa.table({"event_id": [2], "age": ["31"]}), folder / "b.parquet")
    with pytest.raises(tamis.FileError, match=r"'age' is bigint in .*a\.parquet and string in .*b\.parquet"):
        match_files(spark, folder, index)


def test_types_that_spark_cannot_name(spark: SparkSession, tmp_path: Path) -> None:
    rules = {1: "half = 1.5", 2: "view = 'v'", 3: "word = 'w'", 4: "any(words) = 'w'", 5: "s.view = 'v'"}
    index = build_index(spark.createDataFrame(as_rules(rules)), tmp_path / "store")
    words = pa.array(["w"]).dictionary_encode()
    table = pa.table(
        {
            "event_id": [1],
            "half": pa.array([1.5], pa.float16()),
            "view": pa.array(["v"], pa.string_view()),
            "word": words,
            "words": pa.ListArray.from_arrays([0, 1], words),
            "s": pa.StructArray.from_arrays([pa.array(["v"], pa.string_view())], ["view"]),
        }
    )
    pq.write_table(table, tmp_path / "e.parquet")
    assert frame_rows(match_files(spark, tmp_path / "e.parquet", index)) == [(1, id) for id in rules]


@pytest.mark.parametrize("kind", [pa.time64("us"), pa.duration("s")])
def test_a_type_that_is_no_value_is_refused_where_a_rule_refers_to_it(
    spark: SparkSession, tmp_path: Path, kind: pa.DataType
) -> None:
    table = pa.table({"event_id": [1], "age": [31], "took": pa.nulls(1, kind)})
    pq.write_table(table, tmp_path / "e.parquet")
    unused = build_index(spark.createDataFrame(as_rules({1: "age > 30"})), tmp_path / "unused")
    assert frame_rows(match_files(spark, tmp_path / "e.parquet", unused)) == [(1, 1)]
    used = build_index(spark.createDataFrame(as_rules({1: "took > 30"})), tmp_path / "used")
    with pytest.raises(TypeError, match=r"column 'took' is .*, which expressions cannot compare"):
        match_files(spark, tmp_path / "e.parquet", used)


# --- layouts of folders ------------------------------------------------------------------------------


def test_partition_columns_are_those_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    rules = {
        1: "country = 'US'",
        2: "day = DATE '2026-11-01'",
        3: "shard = 2",
        4: "country is null",
        5: "age > 30",
    }
    index = build_index(spark.createDataFrame(as_rules(rules)), tmp_path / "store")
    places = [("US", "2026-11-01", 1), ("50% off/#1", "2026-11-02", 2), (None, "2026-11-01", 10)]
    rows = [(number, 31 + number, *place) for number, place in enumerate(places)]
    frame = spark.createDataFrame(rows, "event_id int, age int, country string, day string, shard int")
    frame.write.partitionBy("country", "day", "shard").parquet(str(tmp_path / "events"))
    expected = frame_rows(match(spark.read.parquet(str(tmp_path / "events")), index))
    assert expected == [(0, 1), (0, 2), (0, 5), (1, 3), (1, 5), (2, 2), (2, 4), (2, 5)]
    assert frame_rows(match_files(spark, tmp_path / "events", index)) == expected
    assert frame_rows(match_files(spark, tmp_path / "events", index, groups=2)) == expected


def test_files_beside_partitions_are_refused(spark: SparkSession, index: IndexRef, tmp_path: Path) -> None:
    (tmp_path / "day=1").mkdir()
    pq.write_table(as_columns(EVENTS), tmp_path / "day=1/a.parquet")
    pq.write_table(as_columns(EVENTS), tmp_path / "b.parquet")
    with pytest.raises(tamis.FileError, match="do not name the same partition columns"):
        match_files(spark, tmp_path, index)


@pytest.mark.parametrize(
    ("mark", "format"),
    [
        ("_delta_log/00000000000000000000.json", "delta"),
        ("metadata/v1.metadata.json", "iceberg"),
        (".hoodie/hoodie.properties", "hudi"),
    ],
)
def test_tables_with_files_that_are_no_longer_theirs(
    spark: SparkSession, index: IndexRef, tmp_path: Path, mark: str, format: str
) -> None:
    table = tmp_path / "tables/events"
    (table / "day=1").mkdir(parents=True)
    pq.write_table(as_columns(EVENTS), table / "day=1/removed.parquet")
    (table / mark).parent.mkdir()
    (table / mark).write_text("{}")
    advice = rf'spark\.read\.format\("{format}"\) and pass the DataFrame'
    # The table, a part of it, and a folder of tables.
    for folder in (table, table / "day=1", tmp_path / "tables"):
        with pytest.raises(tamis.FileError, match=advice):
            match_files(spark, folder, index)


def test_events_in_a_column_beside_others_are_not_overlooked(spark: SparkSession, tmp_path: Path) -> None:
    index = build_index(
        spark.createDataFrame(as_rules({1: "age > 30 and country = 'US'"})), tmp_path / "store"
    )
    events = spark.createDataFrame([(1, '{"age": 31}', "US")], "event_id int, event string, country string")
    with pytest.raises(
        ValueError, match="rules refer to 'age', which is no column, but column 'event' may hold"
    ):
        match(events, index)
    assert match(events, index, attr_cols=["country"]).collect() == []
