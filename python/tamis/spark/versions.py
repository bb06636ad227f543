"""Versions of a stored index: open, publish, vacuum, and what was refused."""

from __future__ import annotations

import os
from datetime import timedelta

from pyspark.sql import DataFrame, SparkSession

from tamis.spark import store
from tamis.spark.calling import call
from tamis.spark.files import Folder
from tamis.spark.manifest import IndexRef


def store_uri(uri: str | os.PathLike[str]) -> str:
    """Give a place that means the same in every process: those on this machine become absolute paths.

    >>> store_uri("s3://bucket/index/"), store_uri("file:///data/my%20index")
    ('s3://bucket/index', '/data/my index')
    """
    text = os.fspath(uri)
    elsewhere = "://" in text and not text.startswith("file:")
    return text.rstrip("/") if elsewhere else Folder.at(text).root


def spark_uri(place: str | os.PathLike[str]) -> str:
    """Give a URI that Spark takes as meant, whatever its working folder and its default filesystem are.

    Nothing is escaped in it: Spark reads the path of a URI letter by letter.

    >>> spark_uri("hdfs://here/events/"), spark_uri("/data/50% off #1")
    ('hdfs://here/events', 'file:///data/50% off #1')
    """
    uri = store_uri(place)
    return uri if "://" in uri else f"file://{uri}"


def open_index(spark: SparkSession, uri: str | os.PathLike[str], version: str = "current") -> IndexRef:
    """Refer to a version of a stored index; nothing of the index itself is read.

    Args:
        spark: The session.
        uri: The store.
        version: A version's name, or ``"current"`` for the one that is in use now.

    Raises:
        FileError: There is no such version; the message says which there are.
    """
    return call(spark, store.resolve, store_uri(uri), version)


def publish(spark: SparkSession, uri: str | os.PathLike[str], version: str) -> None:
    """Put a version in use: whoever opens `current` from now on gets it. Going back works the same way.

    Raises:
        FileError: There is no such version.
    """
    call(spark, store.move_current, store_uri(uri), version)


def vacuum(
    spark: SparkSession,
    uri: str | os.PathLike[str],
    keep: int = 3,
    *,
    grace: timedelta = timedelta(days=1),
) -> list[str]:
    """Remove old versions, and what tasks that failed or ran twice have left.

    The version in use stays, and so does everything that a kept delta builds on.

    Args:
        spark: The session.
        uri: The store.
        keep: How many of the youngest versions stay.
        grace: Nothing younger is removed: a build or a stream may be about to refer to it. It should exceed
            the longest build, and the longest time a stream may stand still within a batch.

    Returns:
        The paths that were removed, from the store's root.
    """
    if keep < 1:
        raise ValueError(f"keep is {keep}, must be at least 1")
    if grace < timedelta():
        raise ValueError(f"grace is {grace}, must not be negative")
    return call(spark, store.sweep, store_uri(uri), keep, grace.total_seconds())


def read_quarantine(spark: SparkSession, index: IndexRef) -> DataFrame:
    """Read the rows that were refused when a version was written.

    Returns:
        The columns ``id``, ``expression`` and ``reason``, all strings.
    """
    schema = "id string, expression string, reason string"
    files = call(spark, store.pinned_manifest, index).quarantine
    if not files:
        return spark.createDataFrame([], schema)
    folder = spark_uri(index.uri)
    # Only what the manifest lists: a task that ran twice has left another file beside it.
    return spark.read.schema(schema).parquet(*(f"{folder}/{file.path}" for file in files))
