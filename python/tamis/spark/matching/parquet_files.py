"""Parquet files of events: found, read and divided into tasks where the files are readable."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from tamis import FileError
from tamis.spark.store.folder import Folder

# Compressed bytes per task: small tasks are dominated by their start, large ones leave cores idle at the end.
_TASK_BYTES = 16 << 20
_CONCURRENT_FOOTERS = 16

# What marks the root of a table whose folder also holds files that are no longer part of it.
_TABLE_MARKS = {
    "_delta_log/*": ("Delta", "delta"),
    "metadata/*.metadata.json": ("Iceberg", "iceberg"),
    ".hoodie/*": ("Hudi", "hudi"),
}


@dataclass(frozen=True)
class Listing:
    """The Parquet files of a path.

    Attributes:
        uri: The path, a file or a folder.
        files: The files.
        partitioned: Whether a folder between the path and a file has a name like ``column=value``.
    """

    uri: str
    files: list[str]
    partitioned: bool


def list_files(uris: list[str]) -> list[Listing]:
    """List the Parquet files of files and folders, given as absolute URIs.

    Raises:
        FileError: A URI is neither a file nor a folder with Parquet files, or is a table of a format that
            keeps files which are no longer part of the table.
    """
    return [_list(uri) for uri in uris]


def _list(uri: str) -> Listing:
    folder = Folder.at(uri)
    prefix = "" if folder.is_local else uri.removesuffix(folder.root)
    if folder.is_file:
        return Listing(uri, [prefix + folder.root], partitioned=False)
    entries = sorted(entry.path for entry in folder.entries())
    _refuse_table_format(uri, folder, entries)
    below = [path for path in entries if _is_data(path)]
    if not below:
        raise FileError(f"{uri} is neither a Parquet file nor a folder with Parquet files", path=uri)
    partitioned = any("=" in part for path in below for part in path.split("/")[:-1])
    return Listing(uri, [f"{prefix}{folder.root}/{path}" for path in below], partitioned)


def table_format(uri: str) -> str | None:
    """Return the name of the Spark format of a folder that is the root of a Delta, Iceberg or Hudi table."""
    folder = Folder.at(uri)
    return next((reader for _, reader in _marks_at(folder.filesystem, folder.root)), None)


def _marks_at(filesystem: pafs.FileSystem, root: str) -> Iterator[tuple[str, str]]:
    """Find the marks of table formats directly below a folder, without a listing of the folder."""
    for mark, table in _TABLE_MARKS.items():
        inner, _, pattern = mark.partition("/")
        selector = pafs.FileSelector(f"{root}/{inner}", allow_not_found=True)
        if any(fnmatch(info.base_name, pattern) for info in filesystem.get_file_info(selector)):
            yield table


def _refuse_table_format(uri: str, folder: Folder, entries: list[str]) -> None:
    """Refuse tables whose folders hold files that are no longer part of them.

    The mark may lie in the folder, below it, or above it, if the folder is a part of a table.
    """
    below = (
        table
        for path in entries
        for mark, table in _TABLE_MARKS.items()
        if fnmatch(path, mark) or fnmatch(path, f"*/{mark}")
    )
    parents = folder.root.split("/")
    above = (
        table
        for depth in range(len(parents) - 1, 0, -1)
        for table in _marks_at(folder.filesystem, "/".join(parents[:depth]))
    )
    found = next(below, None) or next(above, None)
    if found is not None:
        name, reader = found
        raise FileError(
            f"{uri} belongs to a table of {name}, whose folder may hold files that are no longer part of the "
            f'table; read it with spark.read.format("{reader}") and pass the DataFrame to tamis.spark.match',
            path=uri,
        )


def read_schemas(files: list[str]) -> list[pa.Schema]:
    """Read the schemas of Parquet files."""
    with ThreadPoolExecutor(_CONCURRENT_FOOTERS) as pool:
        return list(pool.map(_read_schema, files))


def _read_schema(file: str) -> pa.Schema:
    with open_parquet(file) as parquet:
        return parquet.schema_arrow


def split(files: list[str], columns: list[str]) -> list[list[tuple[str, int]]]:
    """Divide the row groups of files into tasks of about `_TASK_BYTES` bytes of the columns.

    Returns:
        For each task its row groups, as pairs of a file and a row group number.
    """
    with ThreadPoolExecutor(_CONCURRENT_FOOTERS) as pool:
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


def open_parquet(file: str) -> pq.ParquetFile:
    """Open a Parquet file.

    Raises:
        FileError: It cannot be read.
    """
    folder = Folder.at(file)
    try:
        return pq.ParquetFile(folder.root, filesystem=folder.filesystem)
    except (OSError, pa.ArrowInvalid) as error:
        raise FileError(f"{file} cannot be read as Parquet: {error}", path=file) from error


def _row_group_bytes(file: str, columns: set[str]) -> list[int]:
    with open_parquet(file) as parquet:
        metadata = parquet.metadata
    groups = (metadata.row_group(number) for number in range(metadata.num_row_groups))
    return [
        sum(
            chunk.total_compressed_size
            for chunk in (group.column(number) for number in range(group.num_columns))
            if chunk.path_in_schema.split(".")[0] in columns
        )
        for group in groups
    ]


def _is_data(path: str) -> bool:
    return path.endswith(".parquet") and not any(part.startswith(("_", ".")) for part in path.split("/"))
