"""Matches events in Parquet files that workers read themselves, without Spark's rows.

Converting rows to Arrow is the largest cost of `match`. Here a worker reads the needed columns of some row
groups directly as Arrow, and only matches pass through Spark.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.errors import PySparkTypeError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import LongType, StructType

from tamis import FileError
from tamis.spark.matching.job import prepare_job
from tamis.spark.matching.parquet_files import find_files, open_parquet, read_schema, split
from tamis.spark.matching.request import MatchRequest
from tamis.spark.matching.task import MatchTask, Output
from tamis.spark.store.manifest import IndexRef
from tamis.spark.store.remote_call import remote_call
from tamis.spark.store.uris import store_uri

_BATCH_ROWS = 8192


def match_files(
    spark: SparkSession,
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    index: IndexRef | DataFrame,
    *,
    event_id_col: str = "event_id",
    attr_cols: Iterable[str] | None = None,
    json_col: str | None = None,
    map_col: str | None = None,
    top_k: int | None = None,
    weights_col: str | None = None,
    groups: int = 1,
    output: Output = "rows",
) -> DataFrame:
    """Find the rules that each event in Parquet files matches. This is the fastest way to match on Spark.

    Workers read the files with pyarrow, row group by row group. All files must have the schema of the first;
    partition columns, which exist only in folder names, are not read.

    Args:
        spark: The session.
        paths: Parquet files, or folders of them at any depth, that workers can read. Names that begin with
            ``_`` or ``.`` are skipped, as Spark does.
        index: As in `match`.
        event_id_col: As in `match`.
        attr_cols: As in `match`.
        json_col: As in `match`.
        map_col: As in `match`.
        top_k: As in `match`.
        weights_col: As in `match`.
        groups: As in `match`.
        output: As in `match`.

    Raises:
        FileError: There is no Parquet file, or one cannot be read.
    """
    request = MatchRequest(
        event_id_col=event_id_col,
        attr_cols=attr_cols,
        json_col=json_col,
        map_col=map_col,
        top_k=top_k,
        weights_col=weights_col,
        groups=groups,
        output=output,
    )
    uris = [store_uri(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    files = remote_call(spark, find_files, uris)
    schema = _spark_schema(remote_call(spark, read_schema, files[0]))
    job = prepare_job(spark, schema, index, request)
    columns = [*job.leading_columns, *job.encoding.columns]
    tasks = remote_call(spark, split, files, columns)
    rows = [(number, file, group) for number, task in enumerate(tasks) for file, group in task]
    splits = spark.createDataFrame(rows, "task int, file string, row_group int")
    splits = splits.repartitionById(max(1, len(tasks)), "task").sortWithinPartitions("file", "row_group")
    file_tasks = (FileMatchTask(task, tuple(columns)) for task in job.tasks(job.encoding))
    return job.merge([splits.mapInArrow(task, job.schema) for task in file_tasks])


@dataclass(frozen=True)
class FileMatchTask:
    """The task: file names and row group numbers in, matches of their events out."""

    task: MatchTask
    columns: tuple[str, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Match all events of all row groups."""
        return self.task(self._events(batches))

    def _events(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # A column may occur twice, as id and as attribute; Parquet reads it once.
        distinct = list(dict.fromkeys(self.columns))
        for batch in batches:
            for file, group in zip(batch["file"].to_pylist(), batch["row_group"].to_pylist(), strict=True):
                with open_parquet(file) as parquet:
                    _check_columns(file, parquet.schema_arrow.names, distinct)
                    for read in parquet.iter_batches(_BATCH_ROWS, row_groups=[group], columns=distinct):
                        yield pa.RecordBatch.from_arrays(
                            [read.column(name) for name in self.columns], names=self.columns
                        )


def _spark_schema(schema: pa.Schema) -> StructType:
    """Return the schema that Spark would read; columns of types that Spark does not have are left out."""
    fields = StructType()
    for field in schema:
        if pa.types.is_unsigned_integer(field.type):
            fields.add(field.name, LongType())
            continue
        try:
            fields.add(field.name, from_arrow_type(field.type))
        except PySparkTypeError:
            continue
    return fields


def _check_columns(file: str, existing: list[str], needed: list[str]) -> None:
    for column in needed:
        if column not in existing:
            raise FileError(f"{file} has no column {column!r}; there are {', '.join(existing)}", path=file)
