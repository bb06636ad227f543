"""Workloads as DataFrames: every worker draws its own rows from their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, LongType, MapType, StringType, StructField, StructType

from tamis.workloads.events.layouts import Layout, event_schema
from tamis.workloads.generation import SUBSCRIPTION_SCHEMA, Workload
from tamis.workloads.sampling.counters import Numbers
from tamis.workloads.specs import Spec

# Maximum rows and cells (rows x columns) of an output batch.
_MAX_ROWS = 8_192
_MAX_CELLS = 1_000_000


def generate_subscriptions(
    spark: SparkSession, spec: Spec, rows: int, *, seed: int, partitions: int | None = None
) -> DataFrame:
    """Draw subscriptions, numbered from 0.

    The rows are those of `tamis.workloads.generate_subscriptions`, for any number of partitions.

    Args:
        spark: The session.
        spec: The parameters of the workload.
        rows: The number of rows.
        seed: The seed of all random numbers.
        partitions: The number of partitions; None lets Spark choose.

    Returns:
        The columns `id`, bigint, and `expression`, string.

    Raises:
        ValueError: The spec's match probability cannot be reached.
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

    The rows are those of `tamis.workloads.generate_events`, for any number of partitions.

    Args:
        spark: The session.
        spec: The parameters of the workload.
        rows: The number of rows.
        seed: The seed of all random numbers.
        partitions: The number of partitions; None lets Spark choose.
        layout: "json" gives a column `event` of JSON text, "columns" one typed column per attribute, null
            where the event lacks it, "map" a column `event` of type map<string, string>.

    Returns:
        The column `event_id`, bigint, and those of the layout.

    Raises:
        ValueError: The layout is unknown, or the spec's match probability cannot be reached.
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
    """Draw the subscriptions of batches of row numbers."""
    for batch in numbers:
        for rows in slices(batch.column(0).to_numpy(), len(SUBSCRIPTION_SCHEMA)):
            yield workload.subscriptions(rows)


def event_batches(
    workload: Workload, layout: Layout, numbers: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Draw the events of batches of row numbers."""
    columns = len(event_schema(workload.spec, layout))
    for batch in numbers:
        for rows in slices(batch.column(0).to_numpy(), columns):
            yield workload.events(rows, layout)


def slices(rows: Numbers, columns: int) -> Iterator[Numbers]:
    """Divide row numbers into slices of at most `_MAX_ROWS` rows and `_MAX_CELLS` cells."""
    step = max(1, min(_MAX_ROWS, _MAX_CELLS // columns))
    for first in range(0, len(rows), step):
        yield np.asarray(rows[first : first + step])


def spark_schema(schema: pa.Schema) -> StructType:
    """Return the Spark schema of the same columns."""
    kinds: dict[pa.DataType, DataType] = {
        pa.int64(): LongType(),
        pa.string(): StringType(),
        pa.map_(pa.string(), pa.string()): MapType(StringType(), StringType()),
    }
    return StructType([StructField(field.name, kinds[field.type]) for field in schema])
