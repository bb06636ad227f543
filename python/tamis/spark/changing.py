"""Subscriptions that come, go and change: deltas upon a version, and one version of them all again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from tamis.spark import store
from tamis.spark.building import OnError, Recipe, build_version, keyed
from tamis.spark.calling import call
from tamis.spark.columns import arrow_id_type, column_type, id_type, named
from tamis.spark.files import Folder
from tamis.spark.loading import dead_ids, open_shard
from tamis.spark.manifest import IndexRef
from tamis.spark.sampling import copy_sample
from tamis.spark.shards import UPSERT
from tamis.spark.versions import store_uri

_ROWS_OUT = 8192


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
) -> IndexRef:
    """Add, replace and remove subscriptions of the version in use, as a delta version.

    Only what changed is written; the version refers to the files of those before it. All changes are seen at
    once, when the version is published. Deltas make workers slower to start and somewhat slower to match, so
    `compact` from time to time. Two of these at a time do not mix: the second to publish is refused.

    Args:
        changes: A row for each change, one for an id. The expression of a removal is not looked at; removing
            what is not there is no error.
        uri: The store.
        version: The version's name; by default one that sorts by time.
        shards: As in `build_index`.
        id_col: The column of ids, of the type that the index has.
        expr_col: The column of expressions.
        op_col: The column that says ``upsert`` or ``delete``.
        on_error: As in `build_index`. What is set aside changes nothing.
        publish: Whether to put the version in use at once.

    Raises:
        ParseError: An expression is none.
        DuplicateId: An id has several changes.
        FileError: The store has no version in use, or another is in use by now.
    """
    spark = changes.sparkSession
    place = store_uri(uri)
    operation = column_type(changes.schema, op_col)
    if not isinstance(operation, StringType):
        raise TypeError(f"column {op_col!r} is {operation.simpleString()}; it says 'upsert' or 'delete'")
    parent = call(spark, store.read_manifest, place)
    if id_type(changes, id_col) != parent.id_type:
        raise TypeError(
            f"column {id_col!r} must be {parent.id_type}, as the ids of version {parent.version!r}"
        )
    rows = keyed(changes.withColumn("op", named(op_col)), id_col, expr_col)
    name = call(spark, store.reserve, place, version)
    ref = build_version(
        rows,
        Recipe(place, name, parent.engine, parent.missing, parent.options),
        shards=shards,
        on_error=on_error,
        sample=parent.observed,
        parent=(IndexRef.to(place, parent), parent),
    )
    if publish:
        call(spark, store.move_current, place, ref.version, parent.version)
    return ref


def compact(
    spark: SparkSession,
    uri: str | os.PathLike[str],
    *,
    version: str | None = None,
    shards: int | None = None,
    publish: bool = True,
) -> IndexRef:
    """Make one version without deltas of the version in use; nothing is done if it has none.

    Args:
        spark: The session.
        uri: The store.
        version: The version's name; by default one that sorts by time.
        shards: As in `build_index`.
        publish: Whether to put the version in use at once.

    Raises:
        FileError: The store has no version in use, or another is in use by now.
    """
    place = store_uri(uri)
    before = call(spark, store.read_manifest, place)
    ref = IndexRef.to(place, before)
    if len(before.layers) == 1:
        return ref
    name = call(spark, store.reserve, place, version)
    sample = before.observed and call(spark, copy_sample, place, before.observed, store.folder_of(name))
    files = spark.range(0, ref.shards, 1, max(1, ref.shards))
    alive = files.mapInArrow(_ShardReader(ref), f"id {ref.id_type}, expression string")
    folded = build_version(
        alive.withColumn("op", F.lit(UPSERT)),
        Recipe(place, name, before.engine, before.missing, before.options),
        shards=shards,
        on_error="raise",
        sample=sample,
    )
    if publish:
        call(spark, store.move_current, place, folded.version, before.version)
    return folded


@dataclass(frozen=True)
class _ShardReader:
    """The task: numbers of shards in, the subscriptions that are alive in them out."""

    ref: IndexRef

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        manifest = store.pinned_manifest(self.ref)
        folder, dead = Folder.at(self.ref.uri), dead_ids(self.ref.uri, manifest)
        kind = arrow_id_type(self.ref.id_type)
        for number in (number for batch in batches for number in batch.column(0).to_pylist()):
            depth, shard = manifest.shards[number]
            index = open_shard(folder, shard, dead[depth])
            ids = list(index)
            for start in range(0, len(ids), _ROWS_OUT):
                some = ids[start : start + _ROWS_OUT]
                texts = pa.array([str(index[id]) for id in some], pa.string())
                yield pa.RecordBatch.from_arrays([pa.array(some, kind), texts], names=["id", "expression"])
