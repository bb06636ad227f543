"""A workload as a stream of micro-batches of consecutive rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from tamis.spark.generating.source_options import RowRange, SourceOptions
from tamis.workloads.generation import Workload


class WorkloadStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads a workload batch by batch.

    An offset is the number of the next row. A row depends on its number alone, so a batch that is read again,
    after a failure or from a checkpoint, has the same rows.

    Args:
        options: The parsed options.
    """

    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._workload = Workload.of(options.spec, options.seed)

    def initialOffset(self) -> dict[str, Any]:
        """Start at row 0."""
        return {"row": 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        """Return the limit that the option `rows_per_batch` sets."""
        return ReadMaxRows(self._options.rows_per_batch)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        """Advance by one batch; or to the end, if Spark reads all available rows of a finite stream."""
        last, row = self._options.rows, int(start["row"])
        if isinstance(limit, ReadAllAvailable) and last is not None:
            return {"row": max(row, last)}
        step = limit.max_rows if isinstance(limit, ReadMaxRows) else self._options.rows_per_batch
        return {"row": row + step if last is None else max(row, min(row + step, last))}

    def prepareForTriggerAvailableNow(self) -> None:
        """Check that the stream is finite."""
        if self._options.rows is None:
            raise ValueError("option rows is missing; the trigger availableNow needs the number of rows")

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[RowRange]:
        """Divide a batch into partitions."""
        return self._options.row_ranges(int(start["row"]), int(end["row"]))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Draw the rows of a partition."""
        assert isinstance(partition, RowRange)
        yield from self._options.draw(self._workload, partition.start, partition.stop)
