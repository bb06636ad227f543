"""Versions of a stored index, with a Spark session: open, publish, vacuum, read the quarantine."""

from __future__ import annotations

import os
from datetime import timedelta

from pyspark.sql import DataFrame, SparkSession

from tamis.spark.store import version_files
from tamis.spark.store.manifest import IndexRef
from tamis.spark.store.remote_call import remote_call
from tamis.spark.store.uris import spark_uri, store_uri


def open_index(spark: SparkSession, uri: str | os.PathLike[str], version: str = "current") -> IndexRef:
    """Return a reference to a version of a stored index. Only the manifest is read.

    Args:
        spark: The session.
        uri: The store.
        version: A version's name, or ``"current"`` for the current version.

    Raises:
        FileError: The version does not exist; the message lists the versions that do.
    """
    return remote_call(spark, version_files.resolve, store_uri(uri), version)


def publish(spark: SparkSession, uri: str | os.PathLike[str], version: str) -> None:
    """Make a version the current one. Publishing an older version is how to go back to it.

    Raises:
        FileError: The version does not exist.
    """
    remote_call(spark, version_files.move_current, store_uri(uri), version)


def vacuum(
    spark: SparkSession,
    uri: str | os.PathLike[str],
    keep: int = 3,
    *,
    grace: timedelta = timedelta(days=1),
) -> list[str]:
    """Remove old versions, and files of tasks that failed or ran twice.

    The current version is kept, and so are all files that a kept delta refers to.

    Args:
        spark: The session.
        uri: The store.
        keep: The number of newest versions to keep.
        grace: The minimum age of a file to be removed. It should exceed the longest build and the longest
            micro-batch of a stream: their files are not listed in a manifest yet, or still in use.

    Returns:
        The paths of the removed files, relative to the store.
    """
    if keep < 1:
        raise ValueError(f"keep is {keep}, must be at least 1")
    if grace < timedelta():
        raise ValueError(f"grace is {grace}, must not be negative")
    return remote_call(spark, version_files.sweep, store_uri(uri), keep, grace.total_seconds())


def read_quarantine(spark: SparkSession, index: IndexRef) -> DataFrame:
    """Read the rows that were rejected when a version was built.

    Returns:
        The columns ``id``, ``expression`` and ``reason``, all strings.
    """
    schema = "id string, expression string, reason string"
    files = remote_call(spark, version_files.pinned_manifest, index).quarantine
    if not files:
        return spark.createDataFrame([], schema)
    folder = spark_uri(index.uri)
    # Listed files only: a task that ran twice has left a second file in the folder.
    return spark.read.schema(schema).parquet(*(f"{folder}/{file.path}" for file in files))
