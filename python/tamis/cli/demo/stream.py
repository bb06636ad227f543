"""A stream of events, and subscriptions that change while it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tamis.spark.changing import apply_changes, compact
from tamis.spark.streaming import match_stream
from tamis.spark.versions import publish

if TYPE_CHECKING:
    from tamis.cli.demo.pipeline import Pipeline

BATCHES = 3
_LARGEST_BATCH = 5_000


def run_stream(pipeline: Pipeline) -> tuple[list[str], int]:
    """Match three batches: before subscriptions change, after that, and after the changes are folded in.

    Returns:
        The version of each batch, and how many events there were in all.
    """
    spark, store = pipeline.spark, pipeline.path("index")
    incoming = pipeline.folder / "stream/events"
    incoming.mkdir(parents=True)
    query = match_stream(
        spark.readStream.schema("event_id bigint, event string").parquet(str(incoming)),
        index_uri=store,
        out=pipeline.path("stream/matches"),
        checkpoint=pipeline.path("stream/checkpoint"),
    )
    try:
        _feed(pipeline, incoming, 0)
        query.processAllAvailable()

        _changes(pipeline.read("subscriptions")).write.parquet(pipeline.path("changes"))
        apply_changes(pipeline.read("changes"), store, version="second", publish=False)
        publish(spark, store, "second")
        _feed(pipeline, incoming, 1)
        query.processAllAvailable()

        compact(spark, store, version="third")
        _feed(pipeline, incoming, 2)
        query.processAllAvailable()
    finally:
        query.stop()
    return versions_of(pipeline.folder), min(BATCHES * batch_size(pipeline.events), pipeline.events)


def batch_size(events: int) -> int:
    """How many of so many events make a batch."""
    return max(1, min(events // BATCHES, _LARGEST_BATCH))


def versions_of(folder: Path) -> list[str]:
    """The version of each batch, in order, as the stream has written it down."""
    pins = (folder / f"stream/checkpoint/pins/{number}.json" for number in range(BATCHES))
    return [str(json.loads(pin.read_text())["version"]) for pin in pins]


def _feed(pipeline: Pipeline, incoming: Path, number: int) -> None:
    """Let the events of a batch appear, all at once, as a stream of files needs it."""
    size = batch_size(pipeline.events)
    aside = pipeline.folder / f"stream/aside-{number}"
    some = pipeline.read("events").where(F.col("event_id").between(number * size, (number + 1) * size - 1))
    some.coalesce(1).write.parquet(str(aside))
    (written,) = aside.glob("part-*.parquet")
    written.rename(incoming / f"{number}.parquet")


def _changes(subscriptions: DataFrame) -> DataFrame:
    """Of every hundred subscriptions, one goes, one asks for more than before, and one is added."""
    place, upsert = F.pmod("id", F.lit(100)), F.lit("upsert").alias("op")
    nothing = F.lit(None).cast("string").alias("expression")
    more = F.concat("expression", F.lit(" AND a0 IS NOT NULL")).alias("expression")
    gone = subscriptions.where(place == 0).select("id", nothing, F.lit("delete").alias("op"))
    narrowed = subscriptions.where(place == 1).select("id", more, upsert)
    added = subscriptions.where(place == 2).select((-F.col("id")).alias("id"), "expression", upsert)
    return gone.unionByName(narrowed).unionByName(added)
