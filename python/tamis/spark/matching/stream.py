"""Matches a stream while rules change.

Every micro-batch is matched with one version, which is written down (pinned) before the batch runs and read
again if Spark repeats the batch. The matches of a batch replace those of an earlier attempt. So the matches
of each event are written exactly once, and are those of the version that was current when its batch began.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from tamis import FileError
from tamis.spark.matching.request import MatchRequest
from tamis.spark.matching.table import match
from tamis.spark.store import version_files
from tamis.spark.store.folder import Folder
from tamis.spark.store.manifest import IndexRef
from tamis.spark.store.manifest_fields import Fields
from tamis.spark.store.outputs import check_output
from tamis.spark.store.remote_call import remote_call
from tamis.spark.store.uris import spark_uri, store_uri

# Spark repeats at most the last batch; older pins are kept for inspection.
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
    """Match a stream of events, and write the matches of each micro-batch to its own folder, exactly once.

    A version that is published while the stream runs is used from the next batch on.

    Args:
        events: A streaming DataFrame.
        index_uri: The store, which must have a current version.
        out: The folder for matches, as Parquet in ``batch_id=0``, ``batch_id=1`` and so on. It belongs to the
            checkpoint: with another checkpoint, batch numbers begin with 0 again.
        checkpoint: The folder where Spark keeps its position in the stream. The folder ``pins`` in it holds
            the version of each batch.
        trigger: Arguments of `DataStreamWriter.trigger`, such as ``{"processingTime": "10 seconds"}`` or
            ``{"availableNow": True}``.
        kw: Further arguments of `match`: ``event_id_col``, ``json_col``, ``top_k``, ``output`` and so on.

    Raises:
        FileError: The store has no current version; or two of the store, `out` and `checkpoint` overlap.
        TypeError: `kw` has an argument that `match` does not take.
    """
    if not events.isStreaming:
        raise ValueError("events is not a stream; match takes tables")
    MatchRequest(**kw)
    check_output(events.sparkSession, out, [], [index_uri, checkpoint])
    check_output(events.sparkSession, checkpoint, [], [index_uri])
    store = store_uri(index_uri)
    remote_call(events.sparkSession, version_files.read_manifest, store)
    batch = BatchMatcher(store, spark_uri(out), f"{store_uri(checkpoint)}/pins", dict(kw))
    writer = events.writeStream.foreachBatch(batch).option("checkpointLocation", spark_uri(checkpoint))
    return (writer.trigger(**trigger) if trigger else writer).start()


@dataclass(frozen=True)
class BatchMatcher:
    """Matches a micro-batch. Runs on the driver; under Spark Connect, in a process of the server."""

    index_uri: str
    out: str
    pins: str
    options: Mapping[str, Any]

    def __call__(self, events: DataFrame, batch_id: int) -> None:
        """Match a batch, and replace the matches of an earlier attempt."""
        index = pin(self.index_uri, self.pins, batch_id)
        matches = match(events, index, **self.options)
        matches.write.mode("overwrite").parquet(f"{self.out}/batch_id={batch_id}")


def pin(index_uri: str, pins: str, batch_id: int) -> IndexRef:
    """Return the version of a batch: the pinned one, or else the current one, which is pinned.

    Raises:
        FileError: The pinned version was removed or replaced.
    """
    folder, name = Folder.at(pins), f"{batch_id}.json"
    try:
        content = Fields.parse(folder.read(name), "the pin")
        version, digest = content.version("version"), content.sha256("digest")
    except ValueError as error:
        raise FileError(
            f"the pin {pins}/{name} is damaged: {error}; without it the batch uses the current version",
            path=name,
        ) from error
    except FileNotFoundError:
        ref = version_files.resolve(index_uri)
        folder.write(name, json.dumps({"version": ref.version, "digest": ref.digest}).encode())
        folder.remove(f"{batch_id - _PINS_KEPT}.json")
        return ref
    ref = version_files.resolve(index_uri, version)
    if ref.digest != digest:
        raise FileError(f"batch {batch_id} began with another content of version {ref.version!r}", path=name)
    return ref
