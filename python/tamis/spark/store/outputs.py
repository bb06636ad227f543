"""Checks, where Spark runs, that output does not overlap what is read."""

from __future__ import annotations

import os
from collections.abc import Iterable

from pyspark.sql import DataFrame, SparkSession

from tamis.files.overlap import refuse_overlap
from tamis.spark.store.remote_call import remote_call
from tamis.spark.store.uris import store_uri


def check_output(
    spark: SparkSession,
    out: str | os.PathLike[str],
    read: Iterable[str | os.PathLike[str] | None],
    literal: Iterable[str | os.PathLike[str]] = (),
) -> None:
    """Check an output before it is written, as `refuse_overlap` does; None is no input.

    Raises:
        FileError: The output overlaps an input.
    """
    tables = [store_uri(path) for path in read if path is not None]
    remote_call(spark, refuse_overlap, store_uri(out), tables, [store_uri(path) for path in literal])


def check_output_of_tables(out: str, *tables: DataFrame | None) -> None:
    """Check that an output does not contain a file that tables are read from; None is no table.

    The output is a path or URI as Spark takes it: nothing is decoded. A table knows its files and not the
    folder that was named, so an output inside that folder passes.

    Raises:
        FileError: The output is or contains such a file.
    """
    known = [table for table in tables if table is not None and not table.isStreaming]
    files = sorted({file for table in known for file in table.inputFiles()})
    if files:
        remote_call(known[0].sparkSession, refuse_overlap, out, [], files)
