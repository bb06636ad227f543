"""Matching events in Parquet files that workers read themselves, past Spark's rows.

Turning rows into Arrow is what `match` spends most on. Here a worker reads the columns it needs of some row
groups, already in Arrow, and only matches go through Spark.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import PySparkTypeError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import LongType, StructType

from tamis.errors import FileError
from tamis.spark.calling import call
from tamis.spark.files import Folder
from tamis.spark.manifest import IndexRef
from tamis.spark.matcher import Matcher, Output
from tamis.spark.planning import Request, plan_for
from tamis.spark.versions import store_uri

# Bytes of columns that make a task: short tasks cost their start, long ones leave cores idle at the end.
_TASK_BYTES = 16 << 20
_BATCH_ROWS = 8192
_FOOTERS_AT_ONCE = 16


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
    """Find the subscriptions that each event in Parquet files satisfies; the fastest way.

    Workers read the files with pyarrow, row group by row group. All files have the schema of the first;
    columns that stand only in names of folders are not read.

    Args:
        spark: The session.
        paths: Parquet files, or folders of them at any depth, where workers can reach them. Names that begin
            with ``_`` or ``.`` are left out, as Spark does.
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
    request = Request(
        event_id_col=event_id_col,
        attr_cols=attr_cols,
        json_col=json_col,
        map_col=map_col,
        top_k=top_k,
        weights_col=weights_col,
        groups=groups,
        output=output,
    )
    places = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files = call(spark, find_files, [store_uri(place) for place in places])
    plan = plan_for(spark, _spark_schema(call(spark, read_schema, files[0])), index, request)
    columns = [*plan.leading, *plan.layout.columns]
    tasks = call(spark, split, files, columns)
    rows = [(number, file, group) for number, task in enumerate(tasks) for file, group in task]
    splits = spark.createDataFrame(rows, "task int, file string, row_group int")
    splits = splits.repartitionById(max(1, len(tasks)), "task").sortWithinPartitions("file", "row_group")
    readers = (FileMatcher(matcher, tuple(columns)) for matcher in plan.matchers(plan.layout))
    return plan.joined([splits.mapInArrow(reader, plan.schema) for reader in readers])


@dataclass(frozen=True)
class FileMatcher:
    """The task: names of files and numbers of row groups in, matches of their events out."""

    matcher: Matcher
    columns: tuple[str, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Match all events of all row groups."""
        return self.matcher(self._events(batches))

    def _events(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # A column may be named twice, as an id and as an attribute; Parquet reads it once.
        wanted = list(dict.fromkeys(self.columns))
        for batch in batches:
            for file, group in zip(batch["file"].to_pylist(), batch["row_group"].to_pylist(), strict=True):
                with _open(file) as parquet:
                    _check_columns(file, parquet.schema_arrow.names, wanted)
                    for read in parquet.iter_batches(_BATCH_ROWS, row_groups=[group], columns=wanted):
                        yield pa.RecordBatch.from_arrays(
                            [read.column(name) for name in self.columns], names=self.columns
                        )


def find_files(places: list[str]) -> list[str]:
    """List the Parquet files of files and folders, which `store_uri` has named.

    Raises:
        FileError: There is none.
    """
    found = []
    for place in places:
        folder = Folder.at(place)
        prefix = "" if folder.is_local else place.removesuffix(folder.root)
        if folder.is_file:
            found.append(prefix + folder.root)
            continue
        below = sorted(entry.path for entry in folder.entries() if _is_data(entry.path))
        if not below:
            raise FileError(f"{place} is no Parquet file and no folder of them", path=place)
        found += [f"{prefix}{folder.root}/{path}" for path in below]
    return found


def read_schema(file: str) -> pa.Schema:
    """Read the schema of a Parquet file."""
    with _open(file) as parquet:
        return parquet.schema_arrow


def split(files: list[str], columns: list[str]) -> list[list[tuple[str, int]]]:
    """Divide the row groups of files into tasks of about the same number of bytes to read."""
    with ThreadPoolExecutor(_FOOTERS_AT_ONCE) as pool:
        sizes = list(pool.map(lambda file: _row_group_bytes(file, set(columns)), files))
    tasks: list[list[tuple[str, int]]] = []
    room = 0
    for file, groups in zip(files, sizes, strict=True):
        for group, size in enumerate(groups):
            if room < size or not tasks:
                tasks.append([])
                room = _TASK_BYTES
            tasks[-1].append((file, group))
            room -= size
    return tasks


def _spark_schema(schema: pa.Schema) -> StructType:
    """Give the schema that `match` would see; columns of types that Spark has no word for are left out."""
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


def _row_group_bytes(file: str, columns: set[str]) -> list[int]:
    with _open(file) as parquet:
        metadata = parquet.metadata
    groups = (metadata.row_group(number) for number in range(metadata.num_row_groups))
    return [
        sum(
            chunk.total_compressed_size
            for chunk in (group.column(place) for place in range(group.num_columns))
            if chunk.path_in_schema.split(".")[0] in columns
        )
        for group in groups
    ]


def _check_columns(file: str, there: list[str], wanted: list[str]) -> None:
    for column in wanted:
        if column not in there:
            raise FileError(f"{file} has no column {column!r}; there are {', '.join(there)}", path=file)


def _is_data(path: str) -> bool:
    return path.endswith(".parquet") and not any(part.startswith(("_", ".")) for part in path.split("/"))


def _open(file: str) -> pq.ParquetFile:
    folder = Folder.at(file)
    try:
        return pq.ParquetFile(folder.root, filesystem=folder.filesystem)
    except (OSError, pa.ArrowInvalid) as error:
        raise FileError(f"{file} cannot be read as Parquet: {error}", path=file) from error
