"""The steps of the demo; every one is a few calls of ``tamis.spark``."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from tamis.cli.demo.checking import Checker
from tamis.cli.demo.stream import run_stream
from tamis.cli.pipeline.steps import Steps
from tamis.spark import ingest
from tamis.spark.building import build_index
from tamis.spark.generating import generate_events, generate_subscriptions
from tamis.spark.manifest import IndexRef
from tamis.spark.matching import match
from tamis.spark.matching_files import match_files
from tamis.spark.profiling import profile_subscriptions, sample_events, save_profile
from tamis.spark.sampling import SAMPLE_ROWS
from tamis.spark.versions import open_index
from tamis.workloads import Spec, in_the_manner_of

SHARDS = 4
TOP = 3
# Enough for shares that a picture shows, and matched with every distinct predicate.
_SAMPLE = 500

# What a real table holds, too: rows to set aside, each with its reason.
_BAD_EXPRESSIONS = ("a1 >", "a1 between 3 and", "")
_BAD_EVENTS = ('{"a1": 3', "not JSON at all")


@dataclass(frozen=True)
class Pipeline:
    """A run of the demo.

    Attributes:
        spark: The session.
        folder: Where everything is written.
        subscriptions: How many to draw.
        events: How many to draw.
        seed: What all random numbers depend on.
        steps: Where each step is shown.
    """

    spark: SparkSession
    folder: Path
    subscriptions: int
    events: int
    seed: int
    steps: Steps

    def run(self) -> tuple[str, ...]:
        """Do everything; give what was checked, in sentences."""
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
        """Advertisements and visitors, with weights to rank by; an event matches one in a thousand."""
        return replace(in_the_manner_of("ads"), match_probability=0.001, weights="inverse-frequency")

    def path(self, name: str) -> str:
        """Give a place in the folder."""
        return str(self.folder / name)

    def read(self, name: str) -> DataFrame:
        """Read a table of the folder."""
        return self.spark.read.parquet(self.path(name))

    @property
    def index(self) -> IndexRef:
        """The version that was built first; later ones are for the stream."""
        return open_index(self.spark, self.path("index"), "first")

    def generate(self) -> None:
        """Draw subscriptions and events, and write them as JSON, a few bad ones among them."""
        spark, bad_ids = self.spark, range(self.subscriptions, self.subscriptions + len(_BAD_EXPRESSIONS))
        with self.steps.step("generate", "drawing subscriptions and events") as note:
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
            note.text = f"{self.subscriptions:,} subscriptions and {self.events:,} events, written as JSON"

    def ingest(self) -> None:
        """Check every row, and set bad ones aside."""
        with self.steps.step("ingest", "reading JSON, checking every row") as note:
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
            note.text = f"{note.rows - bad:,} good rows, {bad} bad ones set aside with their reasons"

    def profile(self) -> None:
        """Count what events hold and subscriptions ask for."""
        with self.steps.step("profile", "counting what events hold and subscriptions ask for") as note:
            kept = save_profile(self.read("events"), self.path("profile"), seed=self.seed)
            sample = sample_events(kept.sample(self.spark), _SAMPLE)
            asked = profile_subscriptions(self.read("subscriptions"), sample=sample, json_col="event")
            asked.write.parquet(self.path("profile/subscriptions"))
            attributes = kept.attributes(self.spark).count()
            note.rows = self.subscriptions + self.events
            note.text = f"{attributes} attributes; a sample of {min(self.events, SAMPLE_ROWS):,} events kept"

    def build(self) -> None:
        """Index the subscriptions, laid out for events such as those of the sample."""
        with self.steps.step("build", "indexing subscriptions") as note:
            sample = self.read("profile/sample")
            ref = build_index(
                self.read("subscriptions"), self.path("index"), version="first", shards=SHARDS, stats=sample
            )
            note.rows, note.unit = ref.subscriptions, "subscriptions"
            note.text = f"{ref.subscriptions:,} subscriptions in {ref.shards} shards, version {ref.version!r}"

    def match(self) -> None:
        """Match all events; workers read the files themselves."""
        with self.steps.step("match", "matching all events") as note:
            match_files(self.spark, self.path("events"), self.index).write.parquet(self.path("matches"))
            matches = self.read("matches").count()
            note.rows, note.unit = self.events, "events"
            note.text = (
                f"{self.events:,} events with {self.subscriptions:,} subscriptions: {matches:,} matches"
            )

    def rank(self) -> None:
        """Find the best matches of each event."""
        with self.steps.step("top-k", f"ranking the {TOP} best matches of each event") as note:
            best = match(self.read("events"), self.index, top_k=TOP)
            best.write.parquet(self.path("best"))
            note.rows, note.unit = self.events, "events"
            note.text = f"the {TOP} best of each event: {self.read('best').count():,} matches with scores"

    def stream(self) -> None:
        """Match a stream while subscriptions change."""
        with self.steps.step("stream", "matching a stream while subscriptions change") as note:
            versions, events = run_stream(self)
            note.rows, note.unit = events, "events"
            note.text = f"{events:,} events in {len(versions)} batches, with versions {', '.join(versions)}"

    def check(self) -> tuple[str, ...]:
        """Compare answers with those of a plain scan."""
        with self.steps.step("check", "comparing answers with a plain scan") as note:
            checker = Checker(self.folder, self.seed)
            checks = (checker.matches(), checker.best(TOP), checker.stream())
            note.rows, note.unit = checker.events, "events"
            note.text = f"{checker.events:,} events: all answers are equal"
        return checks
