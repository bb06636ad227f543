"""Events of the past that shards are laid out for, kept as a file of the version."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from tamis.spark.files import Folder
from tamis.spark.layouts import (
    ColumnsLayout,
    JsonLayout,
    Layout,
    MapLayout,
    carried,
    check_types,
    find_layout,
)
from tamis.spark.manifest import StoredFile

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The engine keeps as many of the events it is shown.
SAMPLE_ROWS = 4096

_WRITTEN = "path string, bytes bigint, sha256 string, header string, rows bigint"
_LAYOUT = b"tamis.layout"
_LAYOUTS = {b"columns": ColumnsLayout, b"json": JsonLayout, b"map": MapLayout}


def write_sample(events: DataFrame, uri: str, folder: str) -> StoredFile | None:
    """Write a sample of events into a folder of the store, without carrying it over the driver.

    Returns:
        The file, or None if there are no events.
    """
    layout = find_layout(events.schema, other_than=("event_id",))
    check_types(layout, events.schema)
    layout, columns = carried(layout, events.schema)
    few = events.select(*columns).limit(SAMPLE_ROWS).coalesce(1)
    written = few.mapInArrow(_Writer(uri, folder, layout), _WRITTEN).collect()
    return StoredFile(**written[0].asDict()) if written else None


def read_sample(path: Path) -> Any:
    """Read a sample as `Index.observe` takes it."""
    table = pq.read_table(path)
    kind = _LAYOUTS[table.schema.metadata[_LAYOUT]]
    layout: Layout = kind(table.column_names if kind is ColumnsLayout else table.column_names[0])
    return layout.observable(table)


def copy_sample(uri: str, sample: StoredFile, folder: str) -> StoredFile:
    """Copy a sample into another folder of the store."""
    place = Folder.at(uri)
    path = f"{folder}/observed-{uuid.uuid4().hex[:12]}.parquet"
    place.write(path, place.read(sample.path))
    return StoredFile(path, sample.bytes, sample.sha256, sample.header, sample.rows)


@dataclass(frozen=True)
class _Writer:
    uri: str
    folder: str
    layout: Layout

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        first = next(batches, None)
        if first is None:
            return
        table = pa.Table.from_batches(chain([first], batches)).rename_columns(self.layout.columns)
        if table.num_rows == 0:
            return
        kind = next(name for name, layout in _LAYOUTS.items() if isinstance(self.layout, layout))
        path = f"{self.folder}/observed-{uuid.uuid4().hex[:12]}.parquet"
        with Folder.at(self.uri).writing(path) as local:
            pq.write_table(table.replace_schema_metadata({_LAYOUT: kind}), local)
            written = StoredFile.of(path, local, table.num_rows)
        yield pa.RecordBatch.from_pylist([asdict(written)])
