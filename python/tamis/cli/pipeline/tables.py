"""Tables as commands name them: files and folders, whose format follows from their names.

They are looked at where Spark is, which with Spark Connect is another machine.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tamis.cli.exits import CommandError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_Answer = TypeVar("_Answer")

_ENDINGS = {".parquet": "parquet", ".json": "json", ".jsonl": "json", ".ndjson": "json", ".csv": "csv"}


def read_table(spark: SparkSession, path: str, format: str | None = None) -> DataFrame:
    """Read a table.

    Raises:
        CommandError: It is not there, or its format cannot be told.
    """
    from tamis.spark.versions import spark_uri

    format = format or format_of(spark, path)
    if format == "csv":
        return spark.read.csv(spark_uri(path), header=True, inferSchema=True)
    return spark.read.format(format).load(spark_uri(path))


def format_of(spark: SparkSession, path: str) -> str:
    """Tell the format of a file by its ending, that of a folder by those of its files.

    Raises:
        CommandError: It is not there, or its format cannot be told.
    """
    named = _ENDINGS.get(Path(path).suffix.lower())
    if _is_elsewhere(path):
        # What is there would have to be listed; most often it is Parquet.
        return named or "parquet"
    if not _call(spark, is_there, path):
        raise CommandError(f"{path}: error: no such file or folder")
    found = named or _call(spark, format_within, path)
    if found is None:
        raise CommandError(
            f"{path}: error: neither its name nor what is in it tells the format; --format does, with one of "
            f"{', '.join(dict.fromkeys(_ENDINGS.values()))}"
        )
    return found


def refuse_existing(spark: SparkSession, out: str, overwrite: bool) -> None:
    """Stop before the work if there is something where its result is to go.

    Raises:
        CommandError: There is, and it is not to be replaced.
    """
    if not overwrite and not _is_elsewhere(out) and _call(spark, is_there, out):
        raise CommandError(f"{out}: error: it is there already; name another folder, or give --overwrite")


def is_there(path: str) -> bool:
    """Tell whether there is a file or folder on the machine that this runs on."""
    return Path(path).exists()


def format_within(path: str) -> str | None:
    """Tell the format of the files in a folder, on the machine that this runs on."""
    files = (file for file in sorted(Path(path).rglob("*")) if not file.name.startswith((".", "_")))
    known = (_ENDINGS.get(file.suffix.lower()) for file in files)
    return next((format for format in known if format is not None), None)


def _is_elsewhere(path: str) -> bool:
    """Tell whether a path is that of an object store or the like."""
    from tamis.spark.versions import store_uri

    return "://" in store_uri(path)


def _call(spark: SparkSession, function: Callable[[str], _Answer], path: str) -> _Answer:
    from tamis.spark.calling import call
    from tamis.spark.versions import store_uri

    return call(spark, function, store_uri(path))


def mode_of(overwrite: bool) -> str:
    """Give the mode in which Spark writes."""
    return "overwrite" if overwrite else "error"
