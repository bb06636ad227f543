"""Rewrites a version with deltas as one version without."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tamis.spark.build.event_sample import copy_sample
from tamis.spark.build.shard_builder import UPSERT
from tamis.spark.build.version import Publication, VersionSettings, build_version
from tamis.spark.columns import arrow_id_type
from tamis.spark.store import version_files
from tamis.spark.store.folder import Folder
from tamis.spark.store.manifest import IndexRef
from tamis.spark.store.remote_call import remote_call
from tamis.spark.store.shard_cache import open_shard, superseded_ids
from tamis.spark.store.uris import store_uri

_BATCH_ROWS = 8192


def compact(
    spark: SparkSession,
    uri: str | os.PathLike[str],
    *,
    version: str | None = None,
    shards: int | None = None,
    publish: bool = True,
) -> IndexRef:
    """Merge the current version and its deltas into one version; does nothing if there are no deltas.

    Args:
        spark: The session.
        uri: The store.
        version: The version's name; by default one that sorts by time.
        shards: As in `build_index`.
        publish: Whether to make the version the current one.

    Raises:
        PublishConflict: Another version became current meanwhile; call it again.
        FileError: The store has no current version.
    """
    store = store_uri(uri)
    before = remote_call(spark, version_files.read_manifest, store)
    ref = IndexRef.to(store, before)
    if len(before.layers) == 1:
        return ref
    name = remote_call(spark, version_files.reserve, store, version)
    sample = before.observed and remote_call(
        spark, copy_sample, store, before.observed, version_files.folder_of(name)
    )
    numbers = spark.range(0, ref.shards, 1, max(1, ref.shards))
    rules = numbers.mapInArrow(_ShardReader(ref), f"id {ref.id_type}, expression string")
    return build_version(
        rules.withColumn("op", F.lit(UPSERT)),
        VersionSettings(store, name, before.engine, before.missing, before.options),
        shards=shards,
        on_error="raise",
        sample=sample,
        publication=Publication(before.version) if publish else None,
    )


@dataclass(frozen=True)
class _ShardReader:
    """The task: shard numbers in, the rules of those shards that no later layer changed out."""

    ref: IndexRef

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        manifest = version_files.pinned_manifest(self.ref)
        folder, superseded = Folder.at(self.ref.uri), superseded_ids(self.ref.uri, manifest)
        kind = arrow_id_type(self.ref.id_type)
        for number in (number for batch in batches for number in batch.column(0).to_pylist()):
            depth, shard = manifest.shards[number]
            index = open_shard(folder, shard, superseded[depth])
            ids = list(index)
            for start in range(0, len(ids), _BATCH_ROWS):
                chunk = ids[start : start + _BATCH_ROWS]
                texts = pa.array([str(index[id]) for id in chunk], pa.string())
                yield pa.RecordBatch.from_arrays([pa.array(chunk, kind), texts], names=["id", "expression"])
