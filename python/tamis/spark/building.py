"""A table of subscriptions to a version of a stored index."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from tamis import errors
from tamis.errors import InternalError
from tamis.expression import Missing
from tamis.index import Index
from tamis.spark import store
from tamis.spark.calling import call
from tamis.spark.columns import column_type, id_type, named
from tamis.spark.manifest import IndexRef, Layer, Manifest, StoredFile
from tamis.spark.sampling import write_sample
from tamis.spark.shards import UPSERT, WRITTEN, ShardBuilder
from tamis.spark.versions import store_uri

OnError = Literal["raise", "quarantine"]

# An event visits every shard, so shards are few; but what one task builds must fit its memory.
SHARD_ROWS = 2_000_000


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
    """Index a table of subscriptions, a task for each shard, as a version of a store.

    The version exists once all of it is written; a build that fails leaves the one in use as it is.

    Args:
        subscriptions: A row for each subscription.
        uri: The store's folder, which workers must reach: a path they share, or what pyarrow can open.
        version: The version's name; by default one that sorts by time.
        shards: How many files to make; by default one for every 2,000,000 rows begun, which takes counting
            them.
        id_col: The column of ids: strings or integers, each once.
        expr_col: The column of expressions.
        engine: As `tamis.Index` takes. Workers share the memory of ``auto`` and ``compiled`` only.
        missing: As `tamis.Index` takes.
        options: As `tamis.Index` takes.
        stats: A sample of past events, in any layout that `match` finds by itself, to lay the index out for;
            4,096 of them are used.
        on_error: What to do about rows that cannot be indexed: ``"raise"`` names the first; ``"quarantine"``
            leaves them out and keeps them with the reason, for `read_quarantine`.
        publish: Whether to put the version in use at once.

    Raises:
        ParseError: An expression is none; the message has the id, the reason and the place.
        DuplicateId: An id is there more than once.
        InvalidId: An id is null.
        FileError: There is a version of that name.
    """
    spark = subscriptions.sparkSession
    place = store_uri(uri)
    Index(engine, missing, options)  # refuses what no worker could use
    rows = keyed(subscriptions, id_col, expr_col).withColumn("op", F.lit(UPSERT))
    recipe = Recipe(place, call(spark, store.reserve, place, version), engine, missing, dict(options or {}))
    sample = None if stats is None else write_sample(stats, place, store.folder_of(recipe.version))
    ref = build_version(rows, recipe, shards=shards, sample=sample, on_error=on_error)
    if publish:
        call(spark, store.move_current, place, ref.version)
    return ref


@dataclass(frozen=True)
class Recipe:
    """Which version is built where, and with what settings."""

    uri: str
    version: str
    engine: str
    missing: Missing
    options: Mapping[str, bool | int | float | str]


def build_version(
    rows: DataFrame,
    recipe: Recipe,
    *,
    shards: int | None,
    on_error: OnError,
    sample: StoredFile | None = None,
    parent: tuple[IndexRef, Manifest] | None = None,
) -> IndexRef:
    """Build all shards of a version and write its manifest; with a parent, as a layer upon it.

    `rows` has the columns `id`, `expression` and `op`.
    """
    if on_error not in ("raise", "quarantine"):
        raise ValueError(f"on_error is {on_error!r}, must be 'raise' or 'quarantine'")
    if shards is None:
        shards = max(1, math.ceil(rows.count() / SHARD_ROWS))
    if shards < 1:
        raise ValueError(f"shards is {shards}, must be at least 1")
    builder = ShardBuilder(
        recipe.uri,
        store.folder_of(recipe.version),
        recipe.engine,
        recipe.missing,
        recipe.options,
        sample,
        None if parent is None else parent[0],
    )
    shard = F.pmod(F.xxhash64("id"), F.lit(shards)).cast("int").alias("shard")
    written = (
        # Not `repartition`, which would hash several shards into one task.
        rows.select(shard, "id", "expression", "op")
        .repartitionById(shards, "shard")
        # Ids in order: then equal scores rank by id, however many shards there are.
        .sortWithinPartitions("id")
        .mapInArrow(builder, WRITTEN)
        .collect()
    )
    files = {kind: _files(written, kind) for kind in ("shard", "changed", "quarantine")}
    if files["quarantine"] and on_error == "raise":
        raise _first_fault(written)
    attributes = {name for row in written for name in row["attributes"] or ()}
    own = Layer(recipe.version, files["shard"], files["changed"])
    known = sum(row["replaced"] or 0 for row in written)
    before = None if parent is None else parent[1]
    manifest = Manifest(
        version=recipe.version,
        created=time.time(),
        id_type=id_type(rows, "id"),
        engine=recipe.engine,
        missing=recipe.missing,
        options=dict(recipe.options),
        subscriptions=(before.subscriptions if before else 0) - known + sum(f.rows for f in own.shards),
        attributes=tuple(sorted(attributes.union(before.attributes if before else ()))),
        layers=(*(before.layers if before else ()), own),
        quarantine=files["quarantine"],
        observed=sample,
    )
    return call(rows.sparkSession, store.finish, recipe.uri, manifest)


def keyed(subscriptions: DataFrame, id_col: str, expr_col: str) -> DataFrame:
    """Give a table of subscriptions the columns `id` and `expression`.

    Raises:
        TypeError: A column is of another type than it must be.
    """
    expression = column_type(subscriptions.schema, expr_col)
    if not isinstance(expression, StringType):
        raise TypeError(f"column {expr_col!r} is {expression.simpleString()}; expressions are strings")
    ids = named(id_col).cast(id_type(subscriptions, id_col))
    return subscriptions.withColumns({"id": ids, "expression": named(expr_col)})


def _files(written: list[Row], kind: str) -> tuple[StoredFile, ...]:
    """Collect the files of a kind in the order of their shards."""
    rows = sorted((row for row in written if row["kind"] == kind), key=lambda row: int(row["shard"]))
    if len({row["shard"] for row in rows}) < len(rows):
        raise InternalError(f"two tasks wrote the same shard: {[row['path'] for row in rows]}")
    return tuple(
        StoredFile(row["path"], row["bytes"], row["sha256"], row["header"], row["rows"]) for row in rows
    )


def _first_fault(written: list[Row]) -> Exception:
    faults = sorted((row for row in written if row["fault"]), key=lambda row: int(row["shard"]))
    first, more = faults[0], sum(row["rows"] for row in faults) - 1
    kind = cast(type[Exception], getattr(errors, first["fault"]))
    others = f"\n{more} more rows cannot be indexed; on_error='quarantine' lists them" if more else ""
    return kind(first["reason"] + others)
