"""Partition columns: columns whose values stand in the names of folders, such as ``country=US``.

Spark's own file index finds them, so that names, types and null mean what they mean to `spark.read`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructField, StructType

from tamis import FileError
from tamis.spark.columns import exact_column
from tamis.spark.matching.parquet_files import Listing
from tamis.spark.store.uris import spark_uri

# The columns that Spark's reader of binary files has for every file.
_FILE_COLUMNS = ("path", "modificationTime", "length", "content")


@dataclass
class Partitions:
    """The partition columns of some files.

    Attributes:
        fields: Columns with their types, as Spark infers them.
        values: The values of each file, in the order of the columns. A file without any has no entry.
    """

    fields: list[StructField] = field(default_factory=list)
    values: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    def of(self, file: str) -> tuple[Any, ...]:
        """Return the values of a file."""
        return self.values.get(file, (None,) * len(self.fields))

    def merge_into(self, columns: StructType) -> StructType:
        """Return the columns of files together with the partition columns, which have precedence."""
        names = {partition.name for partition in self.fields}
        others = [column for column in columns.fields if column.name not in names]
        return StructType([*others, *self.fields])


def find_partitions(spark: SparkSession, listings: Iterable[Listing]) -> Partitions:
    """Ask Spark for the partition columns of folders.

    Raises:
        FileError: Folders of partitions and other files lie side by side.
    """
    folders = [listing for listing in listings if listing.partitioned]
    if not folders:
        return Partitions()
    # This reader lists files without reading them, whatever they hold.
    reader = spark.read.format("binaryFile").option("pathGlobFilter", "*.parquet")
    try:
        index = reader.load([spark_uri(listing.uri) for listing in folders])
        fields = [field for field in index.schema.fields if field.name not in _FILE_COLUMNS]
        rows = index.select("path", *(exact_column(field.name) for field in fields)).collect()
    except PySparkException as error:
        raise FileError(_advice(folders, str(error)), path=folders[0].uri) from error
    values = {_file_name(row["path"]): tuple(row)[1:] for row in rows}
    expected = {file for listing in folders for file in listing.files}
    if unexpected := sorted(expected ^ values.keys()):
        raise FileError(_advice(folders, f"{unexpected[0]} is in no partition"), path=unexpected[0])
    return Partitions(fields, values)


def _advice(folders: list[Listing], reason: str) -> str:
    uris = ", ".join(listing.uri for listing in folders)
    return (
        f"the folders below {uris} do not name the same partition columns for all files "
        f"({reason.splitlines()[0]}); match them one by one, or read them with spark.read and pass the "
        "DataFrame to tamis.spark.match"
    )


def _file_name(uri: str) -> str:
    """Return the name of a file as `list_files` has it. Spark writes a local path as ``file:/path``."""
    if uri.startswith("file:"):
        return "/" + uri.removeprefix("file:").lstrip("/")
    return uri
