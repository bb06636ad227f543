"""Tables named on the command line: files and folders, with the format of their names.

Paths are checked where Spark runs, which with Spark Connect is another machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tamis.cli.exits import CommandError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_Result = TypeVar("_Result")

_ENDINGS = {".parquet": "parquet", ".json": "json", ".jsonl": "json", ".ndjson": "json", ".csv": "csv"}


def read_table(spark: SparkSession, path: str, format: str | None = None) -> DataFrame:
    """Read a table.

    Raises:
        CommandError: It does not exist, or its format is unknown.
    """
    from tamis.spark.store.uris import spark_uri

    format = format or format_of(spark, path)
    if format == "csv":
        return spark.read.csv(spark_uri(path), header=True, inferSchema=True)
    try:
        return spark.read.format(format).load(spark_uri(path))
    # Spark has no class of its own for this error.
    except Exception as error:
        if "DATA_SOURCE_NOT_FOUND" not in str(error):
            raise
        raise CommandError(
            f"{path}: error: this Spark has no reader for the format {format}; add its package, for example "
            "with spark.jars.packages in spark-defaults.conf"
        ) from None


def format_of(spark: SparkSession, path: str) -> str:
    """Return the format of a file by its ending, or of a folder by the endings of its files.

    Raises:
        CommandError: It does not exist, or its format is unknown.
    """
    by_name = _ENDINGS.get(Path(path).suffix.lower())
    if _is_remote(path):
        # Not listed; Parquet is the most common format.
        return by_name or "parquet"
    if not _call(spark, path_exists, path):
        raise CommandError(f"{path}: error: no such file or folder")
    found = by_name or _call(spark, format_in_folder, path)
    if found is None:
        raise CommandError(
            f"{path}: error: the format is unknown; set --format to one of "
            f"{', '.join(dict.fromkeys(_ENDINGS.values()))}"
        )
    return found


def check_output(
    spark: SparkSession, out: str, overwrite: bool, read: Sequence[str | None], literal: Sequence[str] = ()
) -> None:
    """Check an output before the work and before anything is removed.

    Args:
        spark: The session.
        out: The output.
        overwrite: Whether it may exist.
        read: Tables that are read; None is no table.
        literal: Stores, and other outputs, whose paths have no wildcards.

    Raises:
        FileError: It overlaps an input.
        CommandError: It exists, and is not to be overwritten.
    """
    from tamis.spark.store import outputs

    outputs.check_output(spark, out, read, literal)
    refuse_existing(spark, out, overwrite)


def refuse_existing(spark: SparkSession, out: str, overwrite: bool) -> None:
    """Check that the output does not exist, before the work.

    Raises:
        CommandError: It exists, and is not to be overwritten.
    """
    if not overwrite and not _is_remote(out) and _call(spark, path_exists, out):
        raise CommandError(f"{out}: error: it already exists; name another folder, or give --overwrite")


def path_exists(path: str) -> bool:
    """Return whether a file or folder exists, on the machine where this runs."""
    return Path(path).exists()


def format_in_folder(path: str) -> str | None:
    """Return the format of the files in a folder, on the machine where this runs; None if unknown.

    A table of Delta, Iceberg or Hudi has Parquet files, too, but not all of them are part of it.
    """
    from tamis.spark.matching.parquet_files import table_format

    if Path(path).is_dir() and (found := table_format(path)) is not None:
        return found
    files = (file for file in sorted(Path(path).rglob("*")) if not file.name.startswith((".", "_")))
    known = (_ENDINGS.get(file.suffix.lower()) for file in files)
    return next((format for format in known if format is not None), None)


def _is_remote(path: str) -> bool:
    """Return whether a path is a URI of an object store or the like."""
    from tamis.spark.store.uris import store_uri

    return "://" in store_uri(path)


def _call(spark: SparkSession, function: Callable[[str], _Result], path: str) -> _Result:
    from tamis.spark.store.remote_call import remote_call
    from tamis.spark.store.uris import store_uri

    return remote_call(spark, function, store_uri(path))


def write_mode(overwrite: bool) -> str:
    """Return the mode in which Spark writes."""
    return "overwrite" if overwrite else "error"
