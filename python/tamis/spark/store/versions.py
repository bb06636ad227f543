"""Versions of a stored index, with a Spark session: open, publish, vacuum, read the quarantine."""

from __future__ import annotations

import os
import warnings
from datetime import timedelta

from pyspark.sql import DataFrame, SparkSession

from tamis.spark.store import version_files
from tamis.spark.store.manifest import IndexRef
from tamis.spark.store.remote_call import remote_call
from tamis.spark.store.uris import spark_uri, store_uri
from tamis.spark.store.version_files import RemovedFiles


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


def publish(
    spark: SparkSession, uri: str | os.PathLike[str], version: str, *, expected: str | None = None
) -> None:
    """Make a version the current one. Publishing an older version is how to go back to it.

    Args:
        spark: The session.
        uri: The store.
        version: The version's name.
        expected: Publish only if this version is current. A delta that was built with ``publish=False`` lacks
        what
            others have published since: name the version that was current before.

    Raises:
        PublishConflict: Another version than the expected one is current.
        FileError: The version does not exist.
    """
    remote_call(spark, version_files.move_current, store_uri(uri), version, expected)


def vacuum(
    spark: SparkSession,
    uri: str | os.PathLike[str],
    keep: int = 3,
    *,
    grace: timedelta = timedelta(days=1),
) -> RemovedFiles:
    """Remove old versions, and files of tasks that failed or ran twice.

    The current version is kept, and so are all files that a kept delta refers to. A version whose manifest
    cannot be read is kept, with all files that it may refer to: its own, and those that are older than the
    manifest. There is a warning for each.

    Args:
        spark: The session.
        uri: The store.
        keep: The number of newest versions to keep.
        grace: The minimum age of a file to be removed. It should exceed the longest build and the longest
            micro-batch of a stream: their files are not listed in a manifest yet, or still in use.

    Returns:
        The paths of the removed files, relative to the store; the attribute ``damaged`` lists manifests that
        cannot be read, with the reason.
    """
    if keep < 1:
        raise ValueError(f"keep is {keep}, must be at least 1")
    if grace < timedelta():
        raise ValueError(f"grace is {grace}, must not be negative")
    removed = remote_call(spark, version_files.sweep, store_uri(uri), keep, grace.total_seconds())
    for manifest in removed.damaged:
        warnings.warn(f"vacuum kept a version that cannot be read: {manifest}", stacklevel=2)
    return removed


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
