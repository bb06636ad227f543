"""Workloads as data sources of Spark: `spark.read.format("tamis.begen")` and `spark.readStream`.

`register_sources` registers them with a session. All options are strings:

| option | meaning |
| --- | --- |
| `kind` | `subscriptions` or `events` |
| `rows` | the number of rows; a stream without it is endless |
| `seed` | the seed of all random numbers, 0 by default |
| `paper`, `manner` | the preset to start from |
| `layout` | of events: `json`, `columns` or `map` |
| `partitions` | the number of partitions of a read, or of each micro-batch of a stream |
| `rows_per_batch` | the rows of each micro-batch of a stream |
| any parameter of the spec | its value, as `dimensions=300` or `size=3..7` |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from tamis.spark.generating.source_options import RowRange, SourceOptions
from tamis.spark.generating.workload import spark_schema
from tamis.workloads.generation import Workload
from tamis.workloads.specs import ConjunctionSpec, NormalFormSpec, Spec, TreeSpec


class WorkloadReader(DataSourceReader):
    """Reads a workload in partitions.

    Args:
        options: The parsed options.
    """

    def __init__(self, options: SourceOptions) -> None:
        if options.rows is None:
            raise ValueError("option rows is missing; accepted is the number of rows to read")
        self._options, self._rows = options, options.rows
        # On the driver, so that calibration runs once and not in every task.
        self._workload = Workload.of(options.spec, options.seed)

    def partitions(self) -> list[RowRange]:
        """Return the row numbers of each task."""
        return self._options.row_ranges(0, self._rows)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Draw the rows of a partition."""
        # For a source without partitions Spark runs one task with an empty partition.
        if isinstance(partition, RowRange):
            yield from self._options.draw(self._workload, partition.start, partition.stop)


class _WorkloadSource(DataSource):
    takes: tuple[type[Spec], ...]

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(dict(options))
        self._options = SourceOptions.parse(options, self.takes, self.name())

    def schema(self) -> StructType:
        """Return the columns of the rows."""
        return spark_schema(self._options.schema)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Read all rows."""
        return WorkloadReader(self._options)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Read rows batch by batch. Needs Spark 4.2."""
        from tamis.spark.generating.stream_reader import WorkloadStreamReader

        return WorkloadStreamReader(self._options)


class ConjunctionSource(_WorkloadSource):
    """`tamis.begen`: conjunctions and their events."""

    takes = (ConjunctionSpec,)

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "tamis.begen"


class TreeSource(_WorkloadSource):
    """`tamis.abegen`: nested expressions, or normal forms, and their events."""

    takes = (TreeSpec, NormalFormSpec)

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "tamis.abegen"


def register_sources(spark: SparkSession) -> None:
    """Register `tamis.begen` and `tamis.abegen` with a session."""
    spark.dataSource.register(ConjunctionSource)
    spark.dataSource.register(TreeSource)
