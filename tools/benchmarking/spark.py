"""The pipeline on Spark beside native matching: the same index, the same events, the same machine.

Each method matches all events and is timed. Nothing is printed unless all methods found the same matches.
"""

from __future__ import annotations

import dataclasses
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tamis
from benchmarking import record, tables
from benchmarking.memory import peak_of_workers
from benchmarking.runner import WrongAnswer
from benchmarking.spark_methods import Events, Method, Pass, compare, methods
from tamis.cli.exits import CommandError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tamis.spark import IndexRef

RESULT = record.RESULTS / "spark.json"
# Of a run in another size; not kept in the repository.
OTHER_RESULT = record.RESULTS / "spark-quick.json"

PRESET = "ps-tree-sparse"
SEED = 1
FULL, QUICK = 1_000_000, 20_000
# Every match of an event is scored to find the best, so a part of the events has to do.
_PART_FOR_BEST = 10

HEADINGS = ("", "cores", "events", "seconds", "events/s", "events/s per core", "to native per core")


@dataclass(frozen=True)
class Figures:
    """The time of one method for its events: the median of its passes."""

    name: str
    question: str
    cores: int
    events: int
    matches: int
    passes: int
    seconds: float

    @property
    def rate(self) -> float:
        """Events a second."""
        return self.events / self.seconds

    @property
    def rate_per_core(self) -> float:
        """Events a second for each core it may use."""
        return self.rate / self.cores


@dataclass(frozen=True)
class SparkRun:
    """What one call measured. The first figures of a question are those of one native thread."""

    machine: str
    spark: str
    preset: str
    seed: int
    subscriptions: int
    events: int
    build_seconds: float
    index_bytes: int
    build_worker_peak_bytes: int | None
    figures: list[Figures]


def main(subscriptions: int, events: int, keep: Path | None = None, output: Path | None = None) -> int:
    """Measure, print a table in Markdown, write the result; give 1 if two methods disagree, 2 without Java.

    Args:
        subscriptions: Number of subscriptions.
        events: Number of events.
        keep: A folder for generated tables and the index, to be used again; by default a temporary one.
        output: The file of the result.
    """
    output = output or (RESULT if subscriptions == events == FULL else OTHER_RESULT)
    with tempfile.TemporaryDirectory(prefix="tamis-bench-") if keep is None else nullcontext(keep) as folder:
        try:
            run = measure(Path(folder).absolute(), subscriptions, events)
        except WrongAnswer as wrong:
            print(wrong)
            return 1
        except CommandError as missing:
            _say(str(missing))
            return 2
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(dataclasses.asdict(run), indent=2) + "\n", encoding="utf-8")
    print(markdown(run))
    _say(f"written to {record.shown(output)}")
    return 0


def measure(folder: Path, subscriptions: int, events: int) -> SparkRun:
    """Generate tables that the folder lacks, build, and match by every method.

    Raises:
        WrongAnswer: Two methods found different matches.
    """
    from tamis.cli.pipeline.session import session
    from tamis.spark import generate_events, generate_subscriptions, match_files
    from tamis.workloads import paper

    with session(f"local[{os.cpu_count() or 1}]") as spark:
        # Several files for each core, so that none is idle at the end.
        partitions = 4 * spark.sparkContext.defaultParallelism

        def drawn(what: str, draw: Callable[..., DataFrame], rows: int) -> Path:
            place = folder / f"{what}-{rows}"
            # A table of an earlier run can be used: its content depends on the number of rows alone.
            if not (place / "_SUCCESS").exists():
                _say(f"generating {rows:,} {what}")
                table = draw(spark, paper(PRESET), rows, seed=SEED, partitions=partitions)
                table.write.mode("overwrite").parquet(str(place))
            return place

        rules = drawn("subscriptions", generate_subscriptions, subscriptions)
        every, few = (
            Events(drawn("events", generate_events, rows), rows)
            for rows in (events, max(1, events // _PART_FOR_BEST))
        )
        ref, shard, build_seconds = _build(spark, rules, folder / "index")
        peak = peak_of_workers()
        index = tamis.Index.load(shard)
        _say("warming workers")
        match_files(spark, few.folder, ref).count()
        found: list[tuple[Method, list[Pass]]] = []
        for method in methods(spark, ref, index, every, few):
            _say(method.name)
            found.append((method, method.passes()))
        compare(found)
        return SparkRun(
            machine=record.machine(),
            spark=f"{spark.version}, {spark.conf.get('spark.master')}",
            preset=PRESET,
            seed=SEED,
            subscriptions=subscriptions,
            events=events,
            build_seconds=build_seconds,
            index_bytes=shard.stat().st_size,
            build_worker_peak_bytes=peak,
            figures=[figures_of(method, passes) for method, passes in found],
        )


def figures_of(method: Method, passes: list[Pass]) -> Figures:
    """The figures of a method whose passes all found the same."""
    return Figures(
        name=method.name,
        question=method.question,
        cores=method.cores,
        events=method.events.rows,
        matches=passes[0].matches,
        passes=len(passes),
        seconds=statistics.median(each.seconds for each in passes),
    )


def markdown(run: SparkRun) -> str:
    """The run in a few lines and a table."""
    every = run.figures[0]
    peak = run.build_worker_peak_bytes
    facts = [
        f"{run.machine}; Spark {run.spark}.",
        f"{run.subscriptions:,} subscriptions in one shard, {run.events:,} events ({run.preset}, seed "
        f"{run.seed}); an event matches {tables.number(every.matches / every.events)} on average.",
        f"Built in {tables.number(run.build_seconds)} s: {tables.number(run.index_bytes / 1e6)} MB, "
        f"{tables.number(run.index_bytes / run.subscriptions)} bytes a subscription"
        + (
            "." if peak is None else f"; the worker that built it had {tables.number(peak / 1e6)} MB at most."
        ),
    ]
    native = {figures.question: figures for figures in reversed(run.figures)}
    rows = [HEADINGS, ("---", *["---:"] * (len(HEADINGS) - 1))]
    rows += [
        (
            figures.name,
            str(figures.cores),
            f"{figures.events:,}",
            tables.number(figures.seconds),
            tables.number(figures.rate),
            tables.number(figures.rate_per_core),
            tables.number(figures.rate_per_core / native[figures.question].rate_per_core),
        )
        for figures in run.figures
    ]
    return "\n".join([*facts, "", tables.lines(rows)])


def _build(spark: SparkSession, rules: Path, store: Path) -> tuple[IndexRef, Path, float]:
    from tamis.spark import build_index

    _say("building the index")
    began = time.perf_counter()
    ref = build_index(spark.read.parquet(str(rules)), store, shards=1)
    seconds = time.perf_counter() - began
    (shard,) = (store / "versions" / ref.version).glob("shard-*.tamis")
    return ref, shard, seconds


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
