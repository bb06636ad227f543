"""Adds, replaces and removes rules of the current version, as a delta version."""

from __future__ import annotations

import os

from pyspark.sql import DataFrame
from pyspark.sql.types import StringType

from tamis import PublishConflict
from tamis.spark.build.version import OnError, Publication, VersionSettings, build_version, rule_columns
from tamis.spark.columns import column_type, exact_column, id_type
from tamis.spark.store import version_files
from tamis.spark.store.manifest import IndexRef
from tamis.spark.store.outputs import check_output_of_tables
from tamis.spark.store.remote_call import remote_call
from tamis.spark.store.uris import store_uri


def apply_changes(
    changes: DataFrame,
    uri: str | os.PathLike[str],
    *,
    version: str | None = None,
    shards: int | None = None,
    id_col: str = "id",
    expr_col: str = "expression",
    op_col: str = "op",
    on_error: OnError = "raise",
    publish: bool = True,
    attempts: int = 8,
) -> IndexRef:
    """Add, replace and remove rules of the current version, as a delta version.

    Only the changes are written; the delta refers to the files of earlier versions. All changes become
    visible together, when the version is published. Deltas make workers slower to start and somewhat slower
    to match, so call `compact` from time to time.

    Of several calls at the same time one publishes first. The others find that another version became
    current, and build their changes again, upon that version: no change is lost, and the last to publish wins
    for an id that several change. What a refused attempt wrote is in no manifest; `vacuum` removes it.

    Args:
        changes: One row per change, at most one per id. The expression of a removal is ignored; removing an
            unknown id is not an error.
        uri: The store.
        version: The version's name; by default one that sorts by time.
        shards: As in `build_index`.
        id_col: The column of ids, of the index's id type.
        expr_col: The column of expressions.
        op_col: The column that says ``upsert`` or ``delete``.
        on_error: As in `build_index`. Quarantined rows change nothing.
        publish: Whether to make the version the current one. Without it nothing is compared: give `publish`
        the
            current version of now as ``expected``.
        attempts: The maximum number of times to build the changes.

    Raises:
        ParseError: An expression does not parse.
        DuplicateId: An id has several changes.
        PublishConflict: In each attempt another version became current meanwhile; nothing was changed.
        FileError: The store has no current version.
    """
    if attempts < 1:
        raise ValueError(f"attempts is {attempts}, must be at least 1")
    spark = changes.sparkSession
    store = store_uri(uri)
    check_output_of_tables(store, changes)
    operation = column_type(changes.schema, op_col)
    if not isinstance(operation, StringType):
        raise TypeError(
            f"column {op_col!r} is {operation.simpleString()}; accepted are the strings 'upsert' and 'delete'"
        )
    rows = changes.withColumn("op", exact_column(op_col))
    for left in reversed(range(attempts)):
        parent = remote_call(spark, version_files.read_manifest, store)
        if id_type(changes, id_col) != parent.id_type:
            raise TypeError(
                f"column {id_col!r} must be {parent.id_type}, the type of ids of version {parent.version!r}"
            )
        name = remote_call(spark, version_files.reserve, store, version)
        try:
            return build_version(
                rule_columns(rows, id_col, expr_col),
                VersionSettings(store, name, parent.engine, parent.missing, parent.options),
                shards=shards,
                on_error=on_error,
                sample=parent.observed,
                parent=(IndexRef.to(store, parent), parent),
                publication=Publication(parent.version) if publish else None,
            )
        except PublishConflict:
            if not left:
                raise
    raise AssertionError("the last attempt returns or raises")
