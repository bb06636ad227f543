"""The steps of the demo, each a few calls of ``tamis.spark``."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from tamis.cli.demo.scan_check import ScanCheck
from tamis.cli.demo.stream import run_stream
from tamis.cli.pipeline.step_log import StepLog
from tamis.spark import ingest
from tamis.spark.build.event_sample import SAMPLE_ROWS
from tamis.spark.build.index import build_index
from tamis.spark.generating.workload import generate_events, generate_subscriptions
from tamis.spark.matching.files import match_files
from tamis.spark.matching.table import match
from tamis.spark.profiling import profile_subscriptions, sample_events, save_profile
from tamis.spark.store.manifest import IndexRef
from tamis.spark.store.versions import open_index
from tamis.workloads import Spec, in_the_manner_of

SHARDS = 4
TOP = 3
# Events to compute selectivities from: each is matched with every distinct predicate.
_SELECTIVITY_EVENTS = 500

# Bad rows, as in real tables, for the quarantine.
_BAD_EXPRESSIONS = ("a1 >", "a1 between 3 and", "")
_BAD_EVENTS = ('{"a1": 3', "not JSON at all")


@dataclass(frozen=True)
class DemoRun:
    """A run of the demo.

    Attributes:
        spark: The session.
        folder: The output folder.
        subscriptions: The number of rules to draw.
        events: The number of events to draw.
        seed: The random seed.
        log: Shows and records the steps.
    """

    spark: SparkSession
    folder: Path
    subscriptions: int
    events: int
    seed: int
    log: StepLog

    def run(self) -> tuple[str, ...]:
        """Run all steps; return the results of the checks as sentences."""
        self.generate()
        self.ingest()
        self.profile()
        self.build()
        self.match()
        self.rank()
        self.stream()
        return self.check()

    @cached_property
    def spec(self) -> Spec:
        """Advertisements and visitors, with weights for top-k; an event matches 0.1% of the rules."""
        return replace(in_the_manner_of("ads"), match_probability=0.001, weights="inverse-frequency")

    def path(self, name: str) -> str:
        """Return a path in the output folder."""
        return str(self.folder / name)

    def read(self, name: str) -> DataFrame:
        """Read a table of the output folder."""
        return self.spark.read.parquet(self.path(name))

    @property
    def index(self) -> IndexRef:
        """The version without changes; later versions are for the stream."""
        return open_index(self.spark, self.path("index"), "first")

    def generate(self) -> None:
        """Draw rules and events, add a few bad rows, and write them as JSON."""
        spark, bad_ids = self.spark, range(self.subscriptions, self.subscriptions + len(_BAD_EXPRESSIONS))
        with self.log.step("generate", "drawing rules and events") as note:
            partitions = os.cpu_count() or 1
            drawn = generate_subscriptions(
                spark, self.spec, self.subscriptions, seed=self.seed, partitions=partitions
            )
            bad = spark.createDataFrame([*zip(bad_ids, _BAD_EXPRESSIONS, strict=True)], drawn.schema)
            drawn.unionByName(bad).write.json(self.path("raw/subscriptions"))
            events = generate_events(spark, self.spec, self.events, seed=self.seed, partitions=partitions)
            numbered = [*enumerate(_BAD_EVENTS, self.events)]
            events.unionByName(spark.createDataFrame(numbered, events.schema)).write.json(
                self.path("raw/events")
            )
            note.rows = self.subscriptions + self.events
            note.text = f"{self.subscriptions:,} rules and {self.events:,} events, written as JSON"

    def ingest(self) -> None:
        """Check every row, and quarantine bad ones."""
        with self.log.step("ingest", "reading JSON, checking every row") as note:
            rules = self.spark.read.schema("id bigint, expression string").json(
                self.path("raw/subscriptions")
            )
            log = self.spark.read.schema("event_id bigint, event string").json(self.path("raw/events"))
            checked = (
                ("subscriptions", ingest.subscriptions(rules)),
                ("events", ingest.json(log, json_col="event", id_col="event_id")),
            )
            bad = 0
            for name, ingested in checked:
                ingested.save(self.path(name), self.path(f"quarantine/{name}"))
                bad += self.read(f"quarantine/{name}").count()
            note.rows = self.subscriptions + self.events + bad
            note.text = f"{note.rows - bad:,} good rows, {bad} bad rows in quarantine with reasons"

    def profile(self) -> None:
        """Compute statistics of events and rules."""
        with self.log.step("profile", "computing statistics of events and rules") as note:
            saved = save_profile(self.read("events"), self.path("profile"), seed=self.seed)
            sample = sample_events(saved.sample(self.spark), _SELECTIVITY_EVENTS)
            aspects = profile_subscriptions(self.read("subscriptions"), sample=sample, json_col="event")
            aspects.write.parquet(self.path("profile/subscriptions"))
            attributes = saved.attributes(self.spark).count()
            note.rows = self.subscriptions + self.events
            note.text = f"{attributes} attributes; a sample of {min(self.events, SAMPLE_ROWS):,} events"

    def build(self) -> None:
        """Index the rules, optimized for the sample of events."""
        with self.log.step("build", "indexing rules") as note:
            sample = self.read("profile/sample")
            ref = build_index(
                self.read("subscriptions"), self.path("index"), version="first", shards=SHARDS, stats=sample
            )
            note.rows, note.unit = ref.subscriptions, "rules"
            note.text = f"{ref.subscriptions:,} rules in {ref.shards} shards, version {ref.version!r}"

    def match(self) -> None:
        """Match all events; workers read the files directly."""
        with self.log.step("match", "matching all events") as note:
            match_files(self.spark, self.path("events"), self.index).write.parquet(self.path("matches"))
            matches = self.read("matches").count()
            note.rows, note.unit = self.events, "events"
            note.text = f"{self.events:,} events with {self.subscriptions:,} rules: {matches:,} matches"

    def rank(self) -> None:
        """Rank the best matches of each event."""
        with self.log.step("top-k", f"ranking the {TOP} best matches of each event") as note:
            best = match(self.read("events"), self.index, top_k=TOP)
            best.write.parquet(self.path("best"))
            note.rows, note.unit = self.events, "events"
            note.text = f"the {TOP} best of each event: {self.read('best').count():,} matches with scores"

    def stream(self) -> None:
        """Match a stream while rules change."""
        with self.log.step("stream", "matching a stream while rules change") as note:
            versions, events = run_stream(self)
            note.rows, note.unit = events, "events"
            note.text = f"{events:,} events in {len(versions)} batches, with versions {', '.join(versions)}"

    def check(self) -> tuple[str, ...]:
        """Compare results with those of a plain scan."""
        with self.log.step("check", "comparing results with a plain scan") as note:
            check = ScanCheck(self.folder, self.seed)
            checks = (check.matches(), check.best(TOP), check.stream())
            note.rows, note.unit = check.events, "events"
            note.text = f"{check.events:,} events: all results are equal"
        return checks
