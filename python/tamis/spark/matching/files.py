"""Matches events in Parquet files that workers read themselves, without Spark's rows.

Converting rows to Arrow is the largest cost of `match`. Here a worker reads the needed columns of some row
groups directly as Arrow, and only matches pass through Spark.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import IntegerType, StringType, StructType

from tamis import FileError
from tamis.spark.event_encoding import TypedColumns
from tamis.spark.matching.file_schema import merge_schemas
from tamis.spark.matching.job import prepare_job
from tamis.spark.matching.parquet_files import list_files, open_parquet, read_schemas, split
from tamis.spark.matching.partitions import Partitions, find_partitions
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

    Workers read the files with pyarrow, row group by row group. A file may lack attributes that others have.
    Partition columns, which exist only in the names of folders, have the names, types and values that Spark
    gives them.

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
        FileError: There is no Parquet file, or one cannot be read; files contradict each other; or a folder
            is a table of Delta, Iceberg or Hudi: read it with `spark.read` and pass it to `match`.
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
    listings = remote_call(spark, list_files, uris)
    files = [file for listing in listings for file in listing.files]
    schema = merge_schemas(files, remote_call(spark, read_schemas, files))
    partitions = find_partitions(spark, listings)
    job = prepare_job(spark, partitions.merge_into(schema.fields), index, request)
    columns = [*job.leading_columns, *job.encoding.columns]
    schema.check(columns)
    # Only attributes may be missing from a file.
    attributes = job.encoding.columns if isinstance(job.encoding, TypedColumns) else ()
    tasks = remote_call(spark, split, files, columns)
    splits = _split_table(spark, tasks, partitions)
    splits = splits.repartitionById(max(1, len(tasks)), "task").sortWithinPartitions("file", "row_group")
    names = tuple(field.name for field in partitions.fields)
    file_tasks = (
        FileMatchTask(task, tuple(columns), frozenset(attributes), names) for task in job.tasks(job.encoding)
    )
    return job.merge([splits.mapInArrow(task, job.schema) for task in file_tasks])


def _split_table(
    spark: SparkSession, tasks: list[list[tuple[str, int]]], partitions: Partitions
) -> DataFrame:
    """Return a row for each row group: its task, its file, its number, the values of partition columns."""
    schema = StructType().add("task", IntegerType()).add("file", StringType()).add("row_group", IntegerType())
    for number, field in enumerate(partitions.fields):
        schema.add(f"partition {number}", field.dataType)
    rows = [
        (number, file, group, *partitions.of(file))
        for number, task in enumerate(tasks)
        for file, group in task
    ]
    return spark.createDataFrame(rows, schema)


@dataclass(frozen=True)
class FileMatchTask:
    """The task: file names, row group numbers and partition values in, matches of their events out.

    Attributes:
        task: Matches batches.
        columns: The columns of a batch.
        attributes: Those of them that a file may lack.
        partitions: The names of the partition columns.
    """

    task: MatchTask
    columns: tuple[str, ...]
    attributes: frozenset[str]
    partitions: tuple[str, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Match all events of all row groups."""
        return self.task(self._events(batches))

    def _events(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for row in range(batch.num_rows):
                file, group = batch["file"][row].as_py(), batch["row_group"][row].as_py()
                values = (batch.column(3 + number)[row] for number in range(len(self.partitions)))
                yield from self._row_group(file, group, dict(zip(self.partitions, values, strict=True)))

    def _row_group(self, file: str, group: int, partition: dict[str, pa.Scalar]) -> Iterator[pa.RecordBatch]:
        with open_parquet(file) as parquet:
            existing = set(parquet.schema_arrow.names)
            # A column may occur twice, as id and as attribute; Parquet reads it once.
            stored = [name for name in dict.fromkeys(self.columns) if name not in partition]
            present = [name for name in stored if name in existing]
            for name in stored:
                if name not in existing and name not in self.attributes:
                    known = ", ".join(parquet.schema_arrow.names)
                    raise FileError(f"{file} has no column {name!r}; there are {known}", path=file)
            for read in parquet.iter_batches(_BATCH_ROWS, row_groups=[group], columns=present):
                rows = read.num_rows
                columns = {
                    **{name: pa.nulls(rows) for name in stored},
                    **{name: read.column(name) for name in present},
                    **{name: pa.repeat(value, rows) for name, value in partition.items()},
                }
                yield pa.RecordBatch.from_arrays([columns[name] for name in self.columns], names=self.columns)
