"""Methods to match the events of a folder, on Spark and without, each timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pyarrow.parquet as pq

import tamis
from benchmarking.runner import WrongAnswer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tamis import Matches, RankedMatches
    from tamis.results import Id
    from tamis.spark import IndexRef

BEST = 5

# How many events are compared id by id.
_SAMPLED = 100
_BATCH_EVENTS = 8_192
# Short passes are repeated.
_ENOUGH_SECONDS = 10.0
_MOST_PASSES = 5


@dataclass(frozen=True)
class Events:
    """A folder of Parquet files with the columns `event_id`, from 0 up, and `event`, JSON."""

    folder: Path
    rows: int

    @property
    def step(self) -> int:
        """Each event whose number this divides is compared id by id."""
        return max(1, self.rows // _SAMPLED)

    def batches(self) -> Iterator[tuple[list[int], list[str]]]:
        """Read numbers and texts in batches of `_BATCH_EVENTS`."""
        for file in sorted(self.folder.glob("*.parquet")):
            for batch in pq.ParquetFile(file).iter_batches(_BATCH_EVENTS, columns=["event_id", "event"]):
                yield batch["event_id"].to_pylist(), batch["event"].to_pylist()


@dataclass
class Pass:
    """All events answered once: how long it took, how many matches there were, the ids of some events."""

    seconds: float = 0.0
    matches: int = 0
    sample: dict[int, list[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Method:
    """A method to match events. Methods with the same question must find the same matches."""

    name: str
    question: Literal["all", "best"]
    cores: int
    events: Events
    answer: Callable[[], Pass]

    def passes(self) -> list[Pass]:
        """Answer all events, several times if that is quick."""
        done: list[Pass] = []
        while len(done) < _MOST_PASSES and sum(each.seconds for each in done) < _ENOUGH_SECONDS:
            done.append(self.answer())
        return done


def methods(
    spark: SparkSession, ref: IndexRef, index: tamis.Index, events: Events, few: Events
) -> Iterator[Method]:
    """Every method to match all events, and to find the best matches of a few."""
    from tamis.spark import match, match_files

    cores = spark.sparkContext.defaultParallelism
    for threads in sorted({1, cores}):
        name = f"`Index.match_json_many`, {_threads(threads)}, no Spark"
        yield Method(name, "all", threads, events, partial(natively, index, events, threads))

    def files(chosen: Events, top_k: int | None) -> DataFrame:
        return match_files(spark, chosen.folder, ref, output="array", top_k=top_k)

    def table(chosen: Events, top_k: int | None) -> DataFrame:
        return match(spark.read.parquet(str(chosen.folder)), ref, output="array", top_k=top_k)

    calls: dict[str, Callable[[Events, int | None], DataFrame]] = {"match_files": files, "match": table}
    for name, call in calls.items():
        answer = partial(on_spark, partial(call, events, None), events.step)
        yield Method(f'`{name}(..., output="array")`', "all", cores, events, answer)
    for threads in sorted({1, cores}):
        name = f"`Index.top_k_json_many`, k={BEST}, {_threads(threads)}, no Spark"
        yield Method(name, "best", threads, few, partial(natively, index, few, threads, BEST))
    for name, call in calls.items():
        answer = partial(on_spark, partial(call, few, BEST), few.step)
        yield Method(f'`{name}(..., output="array", top_k={BEST})`', "best", cores, few, answer)


def _threads(count: int) -> str:
    return f"{count} thread{'s' * (count > 1)}"


def natively(index: tamis.Index, events: Events, threads: int, best: int | None = None) -> Pass:
    """Match JSON that is in memory already: what reading it takes does not count."""
    done = Pass()
    for numbers, lines in events.batches():
        began = time.perf_counter()
        found: Matches | RankedMatches
        if best is None:
            found = index.match_json_many(lines, threads=threads)
        else:
            found = index.top_k_json_many(lines, best, threads=threads)
        done.seconds += time.perf_counter() - began
        done.matches += len(found.ids)
        sampled = (row for row, number in enumerate(numbers) if number % events.step == 0)
        done.sample |= {numbers[row]: _ids(found[row]) for row in sampled}
    return done


def _ids(matches: list[Id] | list[tuple[Id, float]]) -> list[int]:
    return sorted(int(match[0] if isinstance(match, tuple) else match) for match in matches)


def on_spark(matches: Callable[[], DataFrame], step: int) -> Pass:
    """Match on Spark and count there; only the ids of some events are collected with the count."""
    from pyspark.sql import functions as F

    began = time.perf_counter()
    sampled = F.when(F.col("event_id") % step == 0, F.struct("event_id", "ids"))
    counted = matches().agg(F.sum(F.size("ids")).alias("matches"), F.collect_list(sampled).alias("sample"))
    row = counted.collect()[0]
    seconds = time.perf_counter() - began
    sample = {each["event_id"]: sorted(each["ids"]) for each in row["sample"]}
    return Pass(seconds, row["matches"] or 0, sample)


def compare(found: list[tuple[Method, list[Pass]]]) -> None:
    """Compare the matches of all methods with the same question.

    Raises:
        WrongAnswer: Two differ; the text says where.
    """
    first: dict[str, tuple[Method, Pass]] = {}
    for method, passes in found:
        for done in passes:
            other, right = first.setdefault(method.question, (method, done))
            if done.sample.keys() != right.sample.keys():
                raise WrongAnswer(f"{method.name} and {other.name} did not answer the same events")
            for event, ids in done.sample.items():
                if ids != right.sample[event]:
                    both = sorted({*ids} ^ {*right.sample[event]})
                    raise WrongAnswer(
                        f"{method.name} and {other.name} differ about event {event}: only one has {both[:20]}"
                    )
            if done.matches != right.matches:
                raise WrongAnswer(
                    f"{method.name} found {done.matches:,} matches, {other.name} {right.matches:,}"
                )
