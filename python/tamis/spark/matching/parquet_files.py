"""Parquet files of events: found, read and divided into tasks where the files are readable."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq

from tamis import FileError
from tamis.spark.store.folder import Folder

# Compressed bytes per task: small tasks are dominated by their start, large ones leave cores idle at the end.
_TASK_BYTES = 16 << 20
_CONCURRENT_FOOTERS = 16


def find_files(uris: list[str]) -> list[str]:
    """List the Parquet files of files and folders, given as absolute URIs.

    Raises:
        FileError: A URI is neither a file nor a folder with Parquet files.
    """
    found = []
    for uri in uris:
        folder = Folder.at(uri)
        prefix = "" if folder.is_local else uri.removesuffix(folder.root)
        if folder.is_file:
            found.append(prefix + folder.root)
            continue
        below = sorted(entry.path for entry in folder.entries() if _is_data(entry.path))
        if not below:
            raise FileError(f"{uri} is neither a Parquet file nor a folder with Parquet files", path=uri)
        found += [f"{prefix}{folder.root}/{path}" for path in below]
    return found


def read_schema(file: str) -> pa.Schema:
    """Read the schema of a Parquet file."""
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
