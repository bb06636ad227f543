"""What the report shows, read from what the demo has written."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyspark
from pyspark.sql import functions as F

from tamis.cli.demo.stream import BATCHES, versions_of
from tamis.spark import store
from tamis.spark.calling import call
from tamis.spark.report import Attribute, Batch, Run, Shard
from tamis.spark.versions import open_index

if TYPE_CHECKING:
    from tamis.cli.demo.pipeline import Pipeline

# A picture of more is not read.
_SHOWN_ATTRIBUTES = 12


def gather(pipeline: Pipeline, checks: tuple[str, ...]) -> Run:
    """Collect what there is to show; every number comes from the tables or the manifest."""
    return Run(
        title="tamis on Spark: a run of the whole pipeline",
        settings={
            "workload": 'tamis.workloads.in_the_manner_of("ads"), match_probability=0.001, with weights',
            "subscriptions": f"{pipeline.subscriptions:,}",
            "events": f"{pipeline.events:,}",
            "seed": str(pipeline.seed),
            "Spark": f"{pyspark.__version__} on {pipeline.spark.conf.get('spark.master')}",
            "cores": str(os.cpu_count()),
            "Python": sys.version.split()[0],
        },
        steps=tuple(pipeline.steps.done),
        matched=_matched(pipeline),
        attributes=tuple(_attributes(pipeline)),
        shards=_shards(pipeline),
        batches=tuple(_batches(pipeline)),
        checks=checks,
    )


def _matched(pipeline: Pipeline) -> dict[int, int]:
    """For each number of matches, how many events have so many; as few rows as there are such numbers."""
    counts = pipeline.read("matches").groupBy("event_id").agg(F.count("*").alias("matches"))
    every = pipeline.read("events").select("event_id").join(counts, "event_id", "left")
    numbers = every.groupBy(F.coalesce("matches", F.lit(0)).alias("matches")).agg(
        F.count("*").alias("events")
    )
    return {row["matches"]: row["events"] for row in numbers.collect()}


def _attributes(pipeline: Pipeline) -> Iterator[Attribute]:
    held = pipeline.read("profile/attributes").select("attribute", "frequency")
    asked = pipeline.read("profile/subscriptions").where("aspect = 'attribute'")
    joined = held.join(asked.select("attribute", "share", "selectivity"), "attribute", "left")
    for row in joined.orderBy(F.desc("frequency"), "attribute").limit(_SHOWN_ATTRIBUTES).collect():
        yield Attribute(row["attribute"], row["frequency"], row["share"] or 0.0, row["selectivity"])


def _shards(pipeline: Pipeline) -> tuple[Shard, ...]:
    manifest = call(pipeline.spark, store.pinned_manifest, pipeline.index)
    return tuple(
        Shard(f"shard {number}", file.rows, file.bytes) for number, (_, file) in enumerate(manifest.shards)
    )


def _batches(pipeline: Pipeline) -> Iterator[Batch]:
    for number, version in zip(range(BATCHES), versions_of(pipeline.folder), strict=True):
        ref = open_index(pipeline.spark, pipeline.path("index"), version)
        events = pipeline.read(f"stream/events/{number}.parquet").count()
        matches = pipeline.read(f"stream/matches/batch_id={number}").count()
        yield Batch(number, version, ref.subscriptions, events, matches)
