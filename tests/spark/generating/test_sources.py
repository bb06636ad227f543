"""Workloads as data sources: read in partitions, streamed with exact offsets, refused with reasons."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from tests.spark.support.slow_workers import retry_slow_starts

from tamis import workloads
from tamis.spark.generating.stream_reader import WorkloadStreamReader
from tamis.spark.sources import ConjunctionSource, TreeSource, register_sources

SMALL = {"dimensions": "20", "event_size": "5..9", "size": "1..3", "match_probability": "0.01", "seed": "3"}
SPEC = workloads.ConjunctionSpec(dimensions=20, event_size=(5, 9), size=(1, 3), match_probability=0.01)
TREES = {"dimensions": "50", "event_size": "10..20", "predicate_pool": "1000", "subexpression_pool": "1000"}


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    register_sources(spark)
    return spark


def ids(frame: DataFrame, column: str) -> list[int]:
    return sorted(row[column] for row in frame.select(column).collect())


def test_reading_is_drawing(session: SparkSession) -> None:
    local = pa.table(workloads.generate_subscriptions(SPEC, 0, 500, seed=3).to_pydict())
    read = session.read.format("tamis.begen").options(**SMALL, kind="subscriptions", rows="500")
    for partitions in ("1", "3"):
        frame = read.option("partitions", partitions).load()
        assert frame.orderBy("id").toArrow().equals(local)


def test_layouts(session: SparkSession) -> None:
    for layout in ("json", "columns", "map"):
        local = workloads.generate_events(SPEC, 0, 50, seed=3, layout=layout)
        read = session.read.format("tamis.begen").options(**SMALL, kind="events", rows="50", layout=layout)
        assert read.load().orderBy("event_id").toArrow().to_pylist() == local.to_pylist()


def test_nested_expressions_and_presets(session: SparkSession) -> None:
    spec = workloads.TreeSpec(
        dimensions=50, event_size=(10, 20), predicate_pool=1_000, subexpression_pool=1_000
    )
    read = session.read.format("tamis.abegen").options(**TREES, kind="subscriptions", rows="40", seed="8")
    assert [row["expression"] for row in read.load().orderBy("id").collect()] == (
        workloads.generate_subscriptions(spec, 0, 40, seed=8)["expression"].to_pylist()
    )
    read = session.read.format("tamis.abegen").options(paper="opindex-cnf", kind="subscriptions", rows="5")
    assert read.load().count() == 5


def test_no_rows(session: SparkSession) -> None:
    assert session.read.format("tamis.begen").options(**SMALL, kind="events", rows="0").load().count() == 0


def test_a_stream_ends_where_it_shall_and_goes_on_from_its_checkpoint(
    session: SparkSession, tmp_path: Path
) -> None:
    stream_to_the_end(session, tmp_path, rows="1000")
    stream_to_the_end(session, tmp_path, rows="1500")
    planned = sorted((tmp_path / "checkpoint" / "offsets").glob("[0-9]*"), key=lambda file: int(file.name))
    ends = [json.loads(file.read_text().splitlines()[-1])["row"] for file in planned]
    assert sorted(set(ends)) == [400, 800, 1_000, 1_400, 1_500]
    written = session.read.parquet(str(tmp_path / "out")).orderBy("id").toArrow()
    local = workloads.generate_subscriptions(SPEC, 0, 1_500, seed=3)
    assert written.to_pylist() == local.to_pylist()


def stream_to_the_end(session: SparkSession, folder: Path, rows: str) -> None:
    """Write all rows to a folder, continuing from its checkpoint."""
    stream = session.readStream.format("tamis.begen").options(
        **SMALL, kind="subscriptions", rows=rows, rows_per_batch="400", partitions="2"
    )

    def write_all() -> None:
        query = (
            stream.load()
            .writeStream.format("parquet")
            .option("path", str(folder / "out"))
            .option("checkpointLocation", str(folder / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()

    retry_slow_starts(write_all)


def test_offsets_are_row_numbers_and_batches_can_be_read_again() -> None:
    source = ConjunctionSource({**SMALL, "kind": "events", "rows_per_batch": "100", "partitions": "3"})
    reader = source.streamReader(source.schema())
    assert isinstance(reader, WorkloadStreamReader)
    limit = reader.getDefaultReadLimit()
    first = reader.latestOffset(reader.initialOffset(), limit)
    second = reader.latestOffset(first, limit)
    assert (first, second) == ({"row": 100}, {"row": 200})
    parts = reader.partitions(first, second)
    assert [(part.start, part.stop) for part in parts] == [(100, 133), (133, 166), (166, 200)]
    assert reader.partitions(second, second) == []
    for _ in range(2):
        drawn = pa.Table.from_batches([batch for part in parts for batch in reader.read(part)])
        expected = workloads.generate_events(SPEC, 100, 100, seed=3)
        assert drawn.to_pylist() == expected.to_pylist()
    with pytest.raises(ValueError, match="option rows is missing"):
        reader.prepareForTriggerAvailableNow()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "option kind is missing; accepted is one of subscriptions, events"),
        ({"kind": "rules"}, "option kind is 'rules'"),
        (
            {"kind": "events", "dimension": "3"},
            "tamis.begen has no option dimension; accepted are kind, rows",
        ),
        ({"kind": "events", "depth": "3"}, "tamis.begen has no option depth"),
        ({"kind": "events", "dimensions": "many"}, "dimensions is 'many'; accepted is a whole number"),
        ({"kind": "events", "event_size": "3..4..5"}, "or two as in 3..7"),
        ({"kind": "events", "alpha": "-1"}, "alpha is -1.0; accepted is a number from 0"),
        ({"kind": "events", "rows": "-1"}, "option rows is '-1'; accepted is a whole number from 0"),
        ({"kind": "events", "seed": "x"}, "option seed is 'x'; accepted is a whole number"),
        ({"kind": "events", "layout": "xml"}, "option layout is 'xml'"),
        ({"kind": "events", "paper": "b-tree"}, "paper is 'b-tree'; accepted is one of ps-tree"),
        ({"kind": "events", "paper": "a-tree"}, "a-tree is a TreeSpec; tamis.begen takes a ConjunctionSpec"),
        ({"kind": "events", "paper": "ps-tree", "manner": "ads"}, "exclude each other"),
    ],
)
def test_wrong_options_are_named(options: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("..", r"\.\.")):
        ConjunctionSource(options)


def test_errors_reach_the_user(session: SparkSession) -> None:
    with pytest.raises((AnalysisException, PySparkException), match="has no option dimension"):
        session.read.format("tamis.begen").options(kind="events", dimension="3").load()
    with pytest.raises((AnalysisException, PySparkException), match="option rows is missing"):
        session.read.format("tamis.abegen").options(**TREES, kind="events").load().count()


def test_names() -> None:
    assert ConjunctionSource.name() == "tamis.begen" and TreeSource.name() == "tamis.abegen"
