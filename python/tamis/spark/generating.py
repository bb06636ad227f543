"""Workloads made where they are needed: every worker draws its own rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, LongType, MapType, StringType, StructField, StructType

from tamis.workloads.counters import Numbers
from tamis.workloads.generation import SUBSCRIPTION_SCHEMA, Workload
from tamis.workloads.layouts import Layout, event_schema
from tamis.workloads.specs import Spec

# Bounds of an output batch, so that many columns do not make it large.
_MOST_ROWS = 8_192
_MOST_CELLS = 1_000_000


def generate_subscriptions(
    spark: SparkSession, spec: Spec, rows: int, *, seed: int, partitions: int | None = None
) -> DataFrame:
    """Draw subscriptions, numbered from 0.

    The rows are those of `tamis.workloads.generate_subscriptions`, whatever the number of partitions.

    Args:
        spark: The session.
        spec: What the workload is made of.
        rows: How many.
        seed: What all random numbers depend on.
        partitions: Into how many partitions to divide them; Spark chooses if None.

    Returns:
        The columns `id`, bigint, and `expression`, string.

    Raises:
        ValueError: If the share of matches the spec asks for cannot be met.
    """
    drawn = partial(subscription_batches, Workload.of(spec, seed))
    return _numbers(spark, rows, partitions).mapInArrow(drawn, spark_schema(SUBSCRIPTION_SCHEMA))


def generate_events(
    spark: SparkSession,
    spec: Spec,
    rows: int,
    *,
    seed: int,
    partitions: int | None = None,
    layout: Layout = "json",
) -> DataFrame:
    """Draw events, numbered from 0.

    The rows are those of `tamis.workloads.generate_events`, whatever the number of partitions.

    Args:
        spark: The session.
        spec: What the workload is made of.
        rows: How many.
        seed: What all random numbers depend on.
        partitions: Into how many partitions to divide them; Spark chooses if None.
        layout: "json" gives a column `event` with JSON text, "columns" a typed column for each attribute,
            null where the event lacks it, "map" a column `event` of type map<string, string>.

    Returns:
        The column `event_id`, bigint, and those of the layout.

    Raises:
        ValueError: If there is no such layout, or the share of matches the spec asks for cannot be met.
    """
    schema = spark_schema(event_schema(spec, layout))
    drawn = partial(event_batches, Workload.of(spec, seed), layout)
    return _numbers(spark, rows, partitions).mapInArrow(drawn, schema)


def _numbers(spark: SparkSession, rows: int, partitions: int | None) -> DataFrame:
    if rows < 0:
        raise ValueError(f"rows is {rows}; accepted is 0 or more")
    if partitions is not None and partitions < 1:
        raise ValueError(f"partitions is {partitions}; accepted is None or 1 or more")
    return spark.range(0, rows, 1, partitions)


def subscription_batches(workload: Workload, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The subscriptions of batches of row numbers."""
    for batch in numbers:
        for rows in portions(batch.column(0).to_numpy(), len(SUBSCRIPTION_SCHEMA)):
            yield workload.subscriptions(rows)


def event_batches(
    workload: Workload, layout: Layout, numbers: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The events of batches of row numbers."""
    columns = len(event_schema(workload.spec, layout))
    for batch in numbers:
        for rows in portions(batch.column(0).to_numpy(), columns):
            yield workload.events(rows, layout)


def portions(rows: Numbers, columns: int) -> Iterator[Numbers]:
    """Cut row numbers so that a batch of so many columns stays small."""
    step = max(1, min(_MOST_ROWS, _MOST_CELLS // columns))
    for first in range(0, len(rows), step):
        yield np.asarray(rows[first : first + step])


def spark_schema(schema: pa.Schema) -> StructType:
    """The same columns for Spark."""
    kinds: dict[pa.DataType, DataType] = {
        pa.int64(): LongType(),
        pa.string(): StringType(),
        pa.map_(pa.string(), pa.string()): MapType(StringType(), StringType()),
    }
    return StructType([StructField(field.name, kinds[field.type]) for field in schema])
