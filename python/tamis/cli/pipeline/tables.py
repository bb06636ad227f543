"""Tables as commands name them: files and folders, whose format follows from their names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tamis.cli.exits import CommandError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ENDINGS = {".parquet": "parquet", ".json": "json", ".jsonl": "json", ".ndjson": "json", ".csv": "csv"}


def read_table(spark: SparkSession, path: str, format: str | None = None) -> DataFrame:
    """Read a table.

    Raises:
        CommandError: It is not there, or its format cannot be told.
    """
    from tamis.spark.versions import spark_uri

    format = format or format_of(path)
    if format == "csv":
        return spark.read.csv(spark_uri(path), header=True, inferSchema=True)
    return spark.read.format(format).load(spark_uri(path))


def format_of(path: str) -> str:
    """Tell the format of a file by its ending, that of a folder by those of its files.

    >>> format_of("s3://bucket/events.jsonl")
    'json'
    """
    if (known := _ENDINGS.get(Path(path).suffix.lower())) is not None:
        _require(path)
        return known
    if "://" in path:
        return "parquet"
    _require(path)
    inside = (file for file in sorted(Path(path).rglob("*")) if not file.name.startswith((".", "_")))
    found = next((_ENDINGS[file.suffix.lower()] for file in inside if file.suffix.lower() in _ENDINGS), None)
    if found is None:
        raise CommandError(
            f"{path}: error: neither its name nor what is in it tells the format; --format does, with one of "
            f"{', '.join(dict.fromkeys(_ENDINGS.values()))}"
        )
    return found


def refuse_existing(out: str, overwrite: bool) -> None:
    """Stop before the work if there is something where its result is to go.

    Raises:
        CommandError: There is, and it is not to be replaced.
    """
    if not overwrite and "://" not in out and Path(out).exists():
        raise CommandError(f"{out}: error: it is there already; name another folder, or give --overwrite")


def mode_of(overwrite: bool) -> str:
    """Give the mode in which Spark writes."""
    return "overwrite" if overwrite else "error"


def _require(path: str) -> None:
    if "://" not in path and not Path(path).exists():
        raise CommandError(f"{path}: error: no such file or folder")
