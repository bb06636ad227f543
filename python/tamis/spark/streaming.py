"""Matching a stream while subscriptions change.

Every batch is matched with one version, written down before the batch runs and read again if it is repeated;
its matches replace whatever an attempt before it wrote. So each event's matches are there once, and answers
are those of the version that was in use when the batch began.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from tamis.errors import FileError
from tamis.spark import store
from tamis.spark.calling import call
from tamis.spark.files import Folder
from tamis.spark.manifest import IndexRef
from tamis.spark.matching import match
from tamis.spark.planning import Request
from tamis.spark.versions import spark_uri, store_uri

# Spark can repeat the last batch; how many more are kept is for those who look into what happened.
_PINS_KEPT = 1000


def match_stream(
    events: DataFrame,
    *,
    index_uri: str | os.PathLike[str],
    out: str | os.PathLike[str],
    checkpoint: str | os.PathLike[str],
    trigger: Mapping[str, Any] | None = None,
    **kw: Any,
) -> StreamingQuery:
    """Match a stream of events, and write each batch's matches to a folder of its own, exactly once.

    A version that is published while the stream runs is used from the next batch on.

    Args:
        events: A streaming DataFrame.
        index_uri: The store, with a version in use.
        out: Where matches go, as Parquet in folders ``batch_id=0``, ``batch_id=1`` and so on. It belongs to
            the checkpoint: another checkpoint begins with batch 0 again.
        checkpoint: Where Spark keeps its place in the stream. The versions of batches are kept there, too, in
            the folder ``pins``.
        trigger: What `DataStreamWriter.trigger` takes, such as ``{"processingTime": "10 seconds"}`` or
            ``{"availableNow": True}``.
        kw: What else `match` takes: ``event_id_col``, ``json_col``, ``top_k``, ``output`` and so on.

    Raises:
        FileError: The store has no version in use.
        TypeError: `kw` has an argument that `match` does not take.
    """
    if not events.isStreaming:
        raise ValueError("events is no stream; match takes tables")
    Request(**kw)
    place = store_uri(index_uri)
    call(events.sparkSession, store.read_manifest, place)
    batch = BatchMatcher(place, spark_uri(out), f"{store_uri(checkpoint)}/pins", dict(kw))
    writer = events.writeStream.foreachBatch(batch).option("checkpointLocation", spark_uri(checkpoint))
    return (writer.trigger(**trigger) if trigger else writer).start()


@dataclass(frozen=True)
class BatchMatcher:
    """What is done with a batch. It runs beside the driver, with Spark Connect in a process of the server."""

    index_uri: str
    out: str
    pins: str
    options: Mapping[str, Any]

    def __call__(self, events: DataFrame, batch_id: int) -> None:
        """Match a batch and write its matches in place of those of an attempt before it."""
        index = pin(self.index_uri, self.pins, batch_id)
        matches = match(events, index, **self.options)
        matches.write.mode("overwrite").parquet(f"{self.out}/batch_id={batch_id}")


def pin(index_uri: str, pins: str, batch_id: int) -> IndexRef:
    """Give the version of a batch: the one it had before, or the one in use now, which is then written down.

    Raises:
        FileError: The version of an earlier attempt is gone.
    """
    folder, name = Folder.at(pins), f"{batch_id}.json"
    try:
        pinned = json.loads(folder.read(name))
    except FileNotFoundError:
        ref = store.resolve(index_uri)
        folder.write(name, json.dumps({"version": ref.version, "digest": ref.digest}).encode())
        folder.remove(f"{batch_id - _PINS_KEPT}.json")
        return ref
    ref = store.resolve(index_uri, pinned["version"])
    if ref.digest != pinned["digest"]:
        raise FileError(
            f"batch {batch_id} was begun with another content of version {ref.version!r}", path=name
        )
    return ref
