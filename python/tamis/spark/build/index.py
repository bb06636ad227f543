"""Builds an index from a table of rules, as a version of a store."""

from __future__ import annotations

import os
from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tamis import Index
from tamis.expression import Missing
from tamis.spark.build.event_sample import write_sample
from tamis.spark.build.shard_builder import UPSERT
from tamis.spark.build.version import OnError, Publication, VersionSettings, build_version, rule_columns
from tamis.spark.store import version_files
from tamis.spark.store.manifest import IndexRef
from tamis.spark.store.outputs import check_output_of_tables
from tamis.spark.store.remote_call import remote_call
from tamis.spark.store.uris import store_uri


def build_index(
    subscriptions: DataFrame,
    uri: str | os.PathLike[str],
    *,
    version: str | None = None,
    shards: int | None = None,
    id_col: str = "id",
    expr_col: str = "expression",
    engine: str = "auto",
    missing: Missing = "unknown",
    options: Mapping[str, bool | int | float | str] | None = None,
    stats: DataFrame | None = None,
    on_error: OnError = "raise",
    publish: bool = True,
) -> IndexRef:
    """Index a table of rules as a version of a store, one task per shard.

    The version exists once all of it is written; a build that fails leaves the current version unchanged.

    Args:
        subscriptions: One row per rule.
        uri: The store's folder, which workers must reach: a shared path, or a URI that pyarrow opens.
        version: The version's name; by default one that sorts by time.
        shards: The number of shard files; by default one per 2,000,000 rows, rounded up, which takes counting
            the rows.
        id_col: The column of ids: strings or integers, each once.
        expr_col: The column of expressions.
        engine: As in `tamis.Index`. Workers share the memory of ``auto`` and ``compiled`` only.
        missing: As in `tamis.Index`.
        options: As in `tamis.Index`.
        stats: A sample of past events to optimize the index for, in any layout that `match` detects; up to
            4,096 events are used.
        on_error: What to do with rows that cannot be indexed: ``"raise"`` stops with the first of them;
            ``"quarantine"`` leaves them out and stores them with the reason, for `read_quarantine`.
        publish: Whether to make the version the current one.

    Raises:
        ParseError: An expression does not parse; the message has the id, the reason and the position.
        DuplicateId: Several rows have the same id.
        InvalidId: An id is null.
        FileError: A version of that name exists; or the store contains the files of `subscriptions` or
        `stats`.
    """
    spark = subscriptions.sparkSession
    store = store_uri(uri)
    check_output_of_tables(store, subscriptions, stats)
    Index(engine, missing, options)  # raises for settings that no worker could use
    rows = rule_columns(subscriptions, id_col, expr_col).withColumn("op", F.lit(UPSERT))
    name = remote_call(spark, version_files.reserve, store, version)
    settings = VersionSettings(store, name, engine, missing, dict(options or {}))
    sample = None if stats is None else write_sample(stats, store, version_files.folder_of(name))
    return build_version(
        rows,
        settings,
        shards=shards,
        sample=sample,
        on_error=on_error,
        publication=Publication() if publish else None,
    )
