"""The sample of past events that shards are optimized for, stored as a file of the version."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from tamis.spark.event_encoding import (
    EventEncoding,
    JsonColumn,
    MapColumn,
    TypedColumns,
    check_column_types,
    find_encoding,
    worker_columns,
)
from tamis.spark.store.folder import Folder
from tamis.spark.store.manifest import StoredFile

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# `Index.observe` keeps at most this many events.
SAMPLE_ROWS = 4096

_FILE_COLUMNS = "path string, bytes bigint, sha256 string, header string, rows bigint"
# Metadata of the Parquet file: how its columns encode events.
_ENCODING_KEY = b"tamis.layout"
_ENCODINGS = {b"columns": TypedColumns, b"json": JsonColumn, b"map": MapColumn}


def write_sample(events: DataFrame, uri: str, folder: str) -> StoredFile | None:
    """Write a sample of events into a folder of the store, from a task: the driver does not see the events.

    Returns:
        The file, or None if there are no events.
    """
    encoding = find_encoding(events.schema, exclude=("event_id",))
    check_column_types(encoding, events.schema, encoding.columns)
    encoding, columns = worker_columns(encoding, events.schema)
    sample = events.select(*columns).limit(SAMPLE_ROWS).coalesce(1)
    files = sample.mapInArrow(_SampleWriter(uri, folder, encoding), _FILE_COLUMNS).collect()
    return StoredFile(**files[0].asDict()) if files else None


def read_sample(path: Path) -> Any:
    """Read a sample in a form that `Index.observe` accepts."""
    table = pq.read_table(path)
    kind = _ENCODINGS[table.schema.metadata[_ENCODING_KEY]]
    encoding: EventEncoding = kind(table.column_names if kind is TypedColumns else table.column_names[0])
    return encoding.observations(table)


def copy_sample(uri: str, sample: StoredFile, folder: str) -> StoredFile:
    """Copy a sample into another folder of the store."""
    store, path = Folder.at(uri), _sample_path(folder)
    store.write(path, store.read(sample.path))
    return StoredFile(path, sample.bytes, sample.sha256, sample.header, sample.rows)


def _sample_path(folder: str) -> str:
    return f"{folder}/observed-{uuid.uuid4().hex[:12]}.parquet"


@dataclass(frozen=True)
class _SampleWriter:
    """The task: events in, the description of the file that holds them out."""

    uri: str
    folder: str
    encoding: EventEncoding

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        first = next(batches, None)
        if first is None:
            return
        table = pa.Table.from_batches(chain([first], batches)).rename_columns(self.encoding.columns)
        if table.num_rows == 0:
            return
        kind = next(name for name, encoding in _ENCODINGS.items() if isinstance(self.encoding, encoding))
        path = _sample_path(self.folder)
        with Folder.at(self.uri).writing(path) as local:
            pq.write_table(table.replace_schema_metadata({_ENCODING_KEY: kind}), local)
            stored = StoredFile.of(path, local, table.num_rows)
        yield pa.RecordBatch.from_pylist([asdict(stored)])
