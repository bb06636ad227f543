"""DataFrames and Parquet files: rows as sorted tuples for comparisons, and files for streams."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

RowTuple = tuple[Any, ...]


def frame_rows(frame: DataFrame) -> list[RowTuple]:
    """The rows of a DataFrame, sorted."""
    return sorted(tuple(row) for row in frame.collect())


def file_rows(path: Path | str) -> list[RowTuple]:
    """The rows of a Parquet file or folder without its partition columns, sorted."""
    return sorted(tuple(row.values()) for row in pq.read_table(path, partitioning=None).to_pylist())


def batch_rows(out: Path) -> list[RowTuple]:
    """The rows of all micro-batches that a stream wrote, sorted."""
    return sorted(row for batch in out.iterdir() for row in file_rows(batch))


def file_columns(path: Path | str, key: str, value: str) -> dict[Any, Any]:
    """Two columns of a Parquet file or folder, as a dict."""
    table = pq.read_table(path)
    return dict(zip(table[key].to_pylist(), table[value].to_pylist(), strict=True))


def add_file(table: pa.Table, path: Path) -> None:
    """Write a Parquet file that appears atomically, as a stream of files needs it."""
    partial = path.parent.parent / f"{path.name}.partial"
    path.parent.mkdir(exist_ok=True)
    pq.write_table(table, partial)
    partial.rename(path)
