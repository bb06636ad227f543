"""Explains why events match rules or do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame

from tamis.spark.columns import exact_column, id_type
from tamis.spark.event_encoding import EventEncoding, worker_columns
from tamis.spark.matching.job import prepare_job
from tamis.spark.matching.request import MatchRequest
from tamis.spark.store.manifest import IndexRef
from tamis.spark.store.shard_cache import open_shards


def explain(
    pairs: DataFrame,
    events: DataFrame,
    index: IndexRef | DataFrame,
    *,
    event_id_col: str = "event_id",
    id_col: str = "id",
    attr_cols: Iterable[str] | None = None,
    json_col: str | None = None,
    map_col: str | None = None,
    limit: int = 100,
) -> DataFrame:
    """Explain why events match rules or do not, for a sample of pairs.

    Args:
        pairs: One row per pair of an event id and a rule id, matches or misses.
        events: The events, as in `match`.
        index: The index they were matched with, as in `match`.
        event_id_col: The column of event ids, in both tables.
        id_col: The column of rule ids in `pairs`.
        attr_cols: As in `match`.
        json_col: As in `match`.
        map_col: As in `match`.
        limit: The maximum number of pairs to explain.

    Returns:
        The event id, ``id``, ``truth`` (``TRUE``, ``FALSE`` or ``UNKNOWN``; null if the rule does not exist)
        and ``why``: the expression as a tree, with the truth of each node and the event's values. Pairs of
        unknown events are left out.
    """
    if limit < 1:
        raise ValueError(f"limit is {limit}, must be at least 1")
    request = MatchRequest(event_id_col=event_id_col, attr_cols=attr_cols, json_col=json_col, map_col=map_col)
    job = prepare_job(events.sparkSession, events.schema, index, request)
    if id_type(pairs, id_col) != job.ref.id_type:
        raise TypeError(f"column {id_col!r} must be {job.ref.id_type}, the type of ids of the index")
    encoding, columns = worker_columns(job.encoding, events.schema)
    requested = pairs.select(
        exact_column(event_id_col).alias("tamis event"),
        exact_column(id_col).cast(job.ref.id_type).alias("tamis id"),
    )
    known = events.select(exact_column(event_id_col).alias("tamis event"), *columns)
    joined = requested.limit(limit).join(known, "tamis event")
    names = [f"tamis {number}" for number in range(len(columns))]
    event_type = job.schema[0].dataType.simpleString()
    return joined.select("tamis event", "tamis id", *names).mapInArrow(
        _ExplainTask(job.ref, encoding, event_id_col),
        f"`{event_id_col}` {event_type}, id {job.ref.id_type}, truth string, why string",
    )


@dataclass(frozen=True)
class _ExplainTask:
    """The task: event id, rule id and event in, explanation out."""

    ref: IndexRef
    encoding: EventEncoding
    event_id_col: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        shards = open_shards(self.ref)
        for batch in batches:
            events = pa.RecordBatch.from_arrays(batch.columns[2:], names=self.encoding.columns)
            truths: list[str | None] = []
            whys: list[str] = []
            for id, event in zip(batch.column(1).to_pylist(), self.encoding.mappings(events), strict=True):
                shard = next((shard for shard in shards if id in shard), None)
                if shard is None:
                    truths.append(None)
                    whys.append(f"there is no rule {id!r}")
                else:
                    explanation = shard.explain(id, event)
                    truths.append(explanation.truth)
                    whys.append(str(explanation))
            yield pa.RecordBatch.from_arrays(
                [*batch.columns[:2], pa.array(truths, pa.string()), pa.array(whys, pa.string())],
                names=[self.event_id_col, "id", "truth", "why"],
            )
