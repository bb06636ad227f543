"""Matches a stream of events while rules change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tamis.spark.build.changes import apply_changes
from tamis.spark.build.compaction import compact
from tamis.spark.matching.stream import match_stream
from tamis.spark.store.versions import publish

if TYPE_CHECKING:
    from tamis.cli.demo.demo_run import DemoRun

BATCHES = 3
_MAX_BATCH_EVENTS = 5_000


def run_stream(demo: DemoRun) -> tuple[list[str], int]:
    """Match three batches: before rules change, after it, and after compaction.

    Returns:
        The version of each batch, and the number of events in all.
    """
    spark, store = demo.spark, demo.path("index")
    incoming = demo.folder / "stream/events"
    incoming.mkdir(parents=True)
    query = match_stream(
        spark.readStream.schema("event_id bigint, event string").parquet(str(incoming)),
        index_uri=store,
        out=demo.path("stream/matches"),
        checkpoint=demo.path("stream/checkpoint"),
    )
    try:
        _feed(demo, incoming, 0)
        query.processAllAvailable()

        _changes(demo.read("subscriptions")).write.parquet(demo.path("changes"))
        apply_changes(demo.read("changes"), store, version="second", publish=False)
        publish(spark, store, "second")
        _feed(demo, incoming, 1)
        query.processAllAvailable()

        compact(spark, store, version="third")
        _feed(demo, incoming, 2)
        query.processAllAvailable()
    finally:
        query.stop()
    return versions_of(demo.folder), min(BATCHES * batch_size(demo.events), demo.events)


def batch_size(events: int) -> int:
    """Return the number of events of a batch."""
    return max(1, min(events // BATCHES, _MAX_BATCH_EVENTS))


def versions_of(folder: Path) -> list[str]:
    """Return the version of each batch, in order, from the pins in the stream's checkpoint."""
    pins = (folder / f"stream/checkpoint/pins/{number}.json" for number in range(BATCHES))
    return [str(json.loads(pin.read_text())["version"]) for pin in pins]


def _feed(demo: DemoRun, incoming: Path, number: int) -> None:
    """Add the file of a batch to the stream's folder, atomically."""
    size = batch_size(demo.events)
    aside = demo.folder / f"stream/aside-{number}"
    some = demo.read("events").where(F.col("event_id").between(number * size, (number + 1) * size - 1))
    some.coalesce(1).write.parquet(str(aside))
    (written,) = aside.glob("part-*.parquet")
    written.rename(incoming / f"{number}.parquet")


def _changes(rules: DataFrame) -> DataFrame:
    """Of every 100 rules, delete one, narrow one, and add one."""
    number, upsert = F.pmod("id", F.lit(100)), F.lit("upsert").alias("op")
    none = F.lit(None).cast("string").alias("expression")
    narrowed = F.concat("expression", F.lit(" AND a0 IS NOT NULL")).alias("expression")
    deleted = rules.where(number == 0).select("id", none, F.lit("delete").alias("op"))
    replaced = rules.where(number == 1).select("id", narrowed, upsert)
    added = rules.where(number == 2).select((-F.col("id")).alias("id"), "expression", upsert)
    return deleted.unionByName(replaced).unionByName(added)
