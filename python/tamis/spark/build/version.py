"""Builds all shards of a version, one task per shard, and writes the version's manifest."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

import tamis
from tamis import InternalError
from tamis.expression import Missing
from tamis.spark.build.shard_builder import RESULT_COLUMNS, ShardBuilder
from tamis.spark.columns import column_type, exact_column, id_type
from tamis.spark.store import version_files
from tamis.spark.store.manifest import IndexRef, Layer, Manifest, StoredFile
from tamis.spark.store.remote_call import remote_call

OnError = Literal["raise", "quarantine"]

# Every event visits every shard, so few large shards are best; a build task must hold a shard in memory.
SHARD_ROWS = 2_000_000


@dataclass(frozen=True)
class Publication:
    """Makes a version the current one when it is written, if `expected` is current; None accepts any."""

    expected: str | None = None


@dataclass(frozen=True)
class VersionSettings:
    """The name of the version to build, its store, and the settings of its index."""

    uri: str
    version: str
    engine: str
    missing: Missing
    options: Mapping[str, bool | int | float | str]


def build_version(
    rows: DataFrame,
    settings: VersionSettings,
    *,
    shards: int | None,
    on_error: OnError,
    sample: StoredFile | None = None,
    parent: tuple[IndexRef, Manifest] | None = None,
    publication: Publication | None = None,
) -> IndexRef:
    """Build all shards of a version and write its manifest; with a parent, as a delta upon it.

    `rows` has the columns `id`, `expression` and `op`. Without a publication the current version stays.

    Raises:
        PublishConflict: Another version than the publication expects is current; the version was not written.
    """
    if on_error not in ("raise", "quarantine"):
        raise ValueError(f"on_error is {on_error!r}, must be 'raise' or 'quarantine'")
    if shards is None:
        shards = max(1, math.ceil(rows.count() / SHARD_ROWS))
    if shards < 1:
        raise ValueError(f"shards is {shards}, must be at least 1")
    results = _run_builders(rows, settings, shards, sample, None if parent is None else parent[0])
    files = {kind: _files(results, kind) for kind in ("shard", "changed", "quarantine")}
    if files["quarantine"] and on_error == "raise":
        raise _first_error(results)
    attributes = {name for row in results for name in row["attributes"] or ()}
    own = Layer(settings.version, files["shard"], files["changed"])
    replaced = sum(row["replaced"] or 0 for row in results)
    base = None if parent is None else parent[1]
    manifest = Manifest(
        version=settings.version,
        created=time.time(),
        id_type=id_type(rows, "id"),
        engine=settings.engine,
        missing=settings.missing,
        options=dict(settings.options),
        subscriptions=(base.subscriptions if base else 0) - replaced + sum(f.rows for f in own.shards),
        attributes=tuple(sorted(attributes.union(base.attributes if base else ()))),
        layers=(*(base.layers if base else ()), own),
        quarantine=files["quarantine"],
        observed=sample,
    )
    spark, uri = rows.sparkSession, settings.uri
    if publication is None:
        return remote_call(spark, version_files.commit, uri, manifest)
    return remote_call(spark, version_files.commit_as_current, uri, manifest, publication.expected)


def rule_columns(rules: DataFrame, id_col: str, expr_col: str) -> DataFrame:
    """Add the columns `id` and `expression` from the columns that hold them.

    Raises:
        TypeError: A column has a type that ids or expressions cannot have.
    """
    expression = column_type(rules.schema, expr_col)
    if not isinstance(expression, StringType):
        raise TypeError(f"column {expr_col!r} is {expression.simpleString()}; expressions are strings")
    ids = exact_column(id_col).cast(id_type(rules, id_col))
    return rules.withColumns({"id": ids, "expression": exact_column(expr_col)})


def _run_builders(
    rows: DataFrame,
    settings: VersionSettings,
    shards: int,
    sample: StoredFile | None,
    parent: IndexRef | None,
) -> list[Row]:
    builder = ShardBuilder(
        settings.uri,
        version_files.folder_of(settings.version),
        settings.engine,
        settings.missing,
        settings.options,
        sample,
        parent,
    )
    shard = F.pmod(F.xxhash64("id"), F.lit(shards)).cast("int").alias("shard")
    return (
        # `repartition` would hash several shards into one task.
        rows.select(shard, "id", "expression", "op")
        .repartitionById(shards, "shard")
        # Sorted, so that equal scores rank by id whatever the number of shards.
        .sortWithinPartitions("id")
        .mapInArrow(builder, RESULT_COLUMNS)
        .collect()
    )


def _files(results: list[Row], kind: str) -> tuple[StoredFile, ...]:
    """Return the files of a kind in the order of their shards."""
    rows = sorted((row for row in results if row["kind"] == kind), key=lambda row: int(row["shard"]))
    if len({row["shard"] for row in rows}) < len(rows):
        raise InternalError(f"two tasks wrote the same shard: {[row['path'] for row in rows]}")
    return tuple(
        StoredFile(row["path"], row["bytes"], row["sha256"], row["header"], row["rows"]) for row in rows
    )


def _first_error(results: list[Row]) -> Exception:
    """Return the error of the first rejected row, with the number of the others."""
    rejected = sorted((row for row in results if row["fault"]), key=lambda row: int(row["shard"]))
    first, more = rejected[0], sum(row["rows"] for row in rejected) - 1
    kind = cast(type[Exception], getattr(tamis, first["fault"]))
    others = f"\n{more} more rows cannot be indexed; on_error='quarantine' lists them" if more else ""
    return kind(first["reason"] + others)
