"""Collects the data of the report from the tables that the demo wrote."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyspark
from pyspark.sql import functions as F

from tamis.cli.demo.stream import BATCHES, versions_of
from tamis.spark.report import Attribute, Batch, Run, Shard
from tamis.spark.store import version_files
from tamis.spark.store.remote_call import remote_call
from tamis.spark.store.versions import open_index

if TYPE_CHECKING:
    from tamis.cli.demo.demo_run import DemoRun

# Attributes in the chart; more would be unreadable.
_SHOWN_ATTRIBUTES = 12


def collect_report(demo: DemoRun, checks: tuple[str, ...]) -> Run:
    """Collect the data of the report; every number comes from the tables or the manifest."""
    return Run(
        title="tamis on Spark: a run of the whole pipeline",
        settings={
            "workload": 'tamis.workloads.in_the_manner_of("ads"), match_probability=0.001, with weights',
            "rules": f"{demo.subscriptions:,}",
            "events": f"{demo.events:,}",
            "seed": str(demo.seed),
            "Spark": f"{pyspark.__version__} on {demo.spark.conf.get('spark.master')}",
            "cores": str(os.cpu_count()),
            "Python": sys.version.split()[0],
        },
        steps=tuple(demo.log.done),
        matched=_matched(demo),
        attributes=tuple(_attributes(demo)),
        shards=_shards(demo),
        batches=tuple(_batches(demo)),
        checks=checks,
    )


def _matched(demo: DemoRun) -> dict[int, int]:
    """Return the number of events by number of matches. The driver collects one row per distinct number."""
    counts = demo.read("matches").groupBy("event_id").agg(F.count("*").alias("matches"))
    every = demo.read("events").select("event_id").join(counts, "event_id", "left")
    numbers = every.groupBy(F.coalesce("matches", F.lit(0)).alias("matches")).agg(
        F.count("*").alias("events")
    )
    return {row["matches"]: row["events"] for row in numbers.collect()}


def _attributes(demo: DemoRun) -> Iterator[Attribute]:
    in_events = demo.read("profile/attributes").select("attribute", "frequency")
    in_rules = demo.read("profile/subscriptions").where("aspect = 'attribute'")
    joined = in_events.join(in_rules.select("attribute", "share", "selectivity"), "attribute", "left")
    for row in joined.orderBy(F.desc("frequency"), "attribute").limit(_SHOWN_ATTRIBUTES).collect():
        yield Attribute(row["attribute"], row["frequency"], row["share"] or 0.0, row["selectivity"])


def _shards(demo: DemoRun) -> tuple[Shard, ...]:
    manifest = remote_call(demo.spark, version_files.pinned_manifest, demo.index)
    return tuple(
        Shard(f"shard {number}", file.rows, file.bytes) for number, (_, file) in enumerate(manifest.shards)
    )


def _batches(demo: DemoRun) -> Iterator[Batch]:
    for number, version in zip(range(BATCHES), versions_of(demo.folder), strict=True):
        ref = open_index(demo.spark, demo.path("index"), version)
        events = demo.read(f"stream/events/{number}.parquet").count()
        matches = demo.read(f"stream/matches/batch_id={number}").count()
        yield Batch(number, version, ref.subscriptions, events, matches)
