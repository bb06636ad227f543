"""A workload as a stream: batches of rows whose numbers go on and on."""

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

from tamis.spark.sources import Request, RowRange
from tamis.workloads.generation import Workload


class WorkloadStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads a workload batch by batch.

    An offset is the number of the next row. Rows follow from their numbers, so a batch that is read again,
    after a failure or from a checkpoint, is the same.

    Args:
        request: What the options ask for.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._workload = Workload.of(request.spec, request.seed)

    def initialOffset(self) -> dict[str, Any]:
        """Begin with row 0."""
        return {"row": 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        """So many rows a batch as the option says."""
        return ReadMaxRows(self._request.rows_per_batch)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        """Go on by a batch, or to the end where all is asked for and there is an end."""
        last, row = self._request.rows, int(start["row"])
        if isinstance(limit, ReadAllAvailable) and last is not None:
            return {"row": max(row, last)}
        step = limit.max_rows if isinstance(limit, ReadMaxRows) else self._request.rows_per_batch
        return {"row": row + step if last is None else max(row, min(row + step, last))}

    def prepareForTriggerAvailableNow(self) -> None:
        """Make sure that there is an end to reach."""
        if self._request.rows is None:
            raise ValueError("option rows is missing; a stream that shall end needs the number of its rows")

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[RowRange]:
        """Divide a batch."""
        return self._request.divided(int(start["row"]), int(end["row"]))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Draw the rows of a partition."""
        assert isinstance(partition, RowRange)
        yield from self._request.draw(self._workload, partition.start, partition.stop)
