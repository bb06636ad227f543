"""Workloads drawn by Spark equal those drawn without it, for any number of partitions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from tamis import workloads
from tamis.spark.generating.workload import generate_events, generate_subscriptions
from tamis.workloads import Layout, Spec

ROWS = 3_000
SMALL = workloads.ConjunctionSpec(
    dimensions=20, text_dimensions=4, text_share=0.2, event_size=(5, 9), size=(1, 3), match_probability=0.01
)
TREES = workloads.TreeSpec(dimensions=50, event_size=(10, 20), predicate_pool=1_000, subexpression_pool=1_000)


def table(frame: DataFrame, key: str) -> pa.Table:
    return frame.orderBy(key).toArrow()


@pytest.mark.parametrize(("spec", "divisions"), [(SMALL, (1, 2, 7)), (TREES, (7,))], ids=["flat", "nested"])
def test_partitions_do_not_matter(spark: SparkSession, spec: Spec, divisions: tuple[int, ...]) -> None:
    subscriptions = pa.table(workloads.generate_subscriptions(spec, 0, ROWS, seed=5).to_pydict())
    events = pa.table(workloads.generate_events(spec, 0, ROWS, seed=5).to_pydict())
    for partitions in divisions:
        made = generate_subscriptions(spark, spec, ROWS, seed=5, partitions=partitions)
        assert table(made, "id").equals(subscriptions)
        made = generate_events(spark, spec, ROWS, seed=5, partitions=partitions)
        assert table(made, "event_id").equals(events)


def test_the_partitions_asked_for_are_made(spark: SparkSession) -> None:
    def sizes(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pydict({"rows": [sum(len(batch) for batch in batches)]})

    made = generate_subscriptions(spark, SMALL, 70, seed=1, partitions=7).mapInArrow(sizes, "rows bigint")
    assert [row["rows"] for row in made.collect()] == [10] * 7


@pytest.mark.parametrize("layout", ["json", "columns", "map"])
def test_layouts_are_those_made_without_spark(spark: SparkSession, layout: Layout) -> None:
    local = workloads.generate_events(SMALL, 0, 200, seed=2, layout=layout)
    made = generate_events(spark, SMALL, 200, seed=2, partitions=3, layout=layout)
    assert made.columns == local.schema.names
    assert table(made, "event_id").to_pylist() == local.to_pylist()


def test_no_rows(spark: SparkSession) -> None:
    assert generate_subscriptions(spark, SMALL, 0, seed=1).collect() == []
    assert generate_events(spark, SMALL, 0, seed=1, layout="columns").collect() == []


def test_wrong_arguments_are_named(spark: SparkSession) -> None:
    with pytest.raises(ValueError, match="rows is -1; accepted is 0 or more"):
        generate_subscriptions(spark, SMALL, -1, seed=1)
    with pytest.raises(ValueError, match="partitions is 0"):
        generate_events(spark, SMALL, 10, seed=1, partitions=0)
    with pytest.raises(ValueError, match='layout is \'rows\'; accepted is "json", "columns" or "map"'):
        generate_events(spark, SMALL, 10, seed=1, layout="rows")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at most 5,000"):
        generate_events(spark, workloads.paper("ps-tree-sparse"), 10, seed=1, layout="columns")
    with pytest.raises(ValueError, match=r"match_probability is 1\.0; accepted is at most"):
        generate_subscriptions(spark, replace(SMALL, size=(1, 12), match_probability=1.0), 10, seed=1)
