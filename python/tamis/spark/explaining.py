"""Why does an event match a subscription, or why not?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame

from tamis.spark.columns import id_type, named
from tamis.spark.layouts import Layout, carried
from tamis.spark.loading import open_shards
from tamis.spark.manifest import IndexRef
from tamis.spark.planning import Request, plan_for


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
    """Tell why events match subscriptions or do not, for some pairs of them.

    Args:
        pairs: A row for each pair, matches or misses: an event's id and a subscription's.
        events: The events, as `match` takes them.
        index: What they were matched with, as `match` takes it.
        event_id_col: The column of events' ids, in both tables.
        id_col: The column of subscriptions' ids in `pairs`.
        attr_cols: As in `match`.
        json_col: As in `match`.
        map_col: As in `match`.
        limit: How many pairs to explain at most.

    Returns:
        The event's id, ``id``, ``truth`` (``TRUE``, ``FALSE`` or ``UNKNOWN``; null if there is no such
        subscription) and ``why``, the expression as a tree with the truth of each part and the event's
        values. Pairs whose event is not there are left out.
    """
    if limit < 1:
        raise ValueError(f"limit is {limit}, must be at least 1")
    request = Request(event_id_col=event_id_col, attr_cols=attr_cols, json_col=json_col, map_col=map_col)
    plan = plan_for(events.sparkSession, events.schema, index, request)
    if id_type(pairs, id_col) != plan.ref.id_type:
        raise TypeError(f"column {id_col!r} must be {plan.ref.id_type}, as the ids of the index are")
    layout, columns = carried(plan.layout, events.schema)
    asked = pairs.select(
        named(event_id_col).alias("tamis event"), named(id_col).cast(plan.ref.id_type).alias("tamis id")
    )
    known = events.select(named(event_id_col).alias("tamis event"), *columns)
    joined = asked.limit(limit).join(known, "tamis event")
    names = [f"tamis {place}" for place in range(len(columns))]
    event_type = plan.schema[0].dataType.simpleString()
    return joined.select("tamis event", "tamis id", *names).mapInArrow(
        _Explainer(plan.ref, layout, event_id_col),
        f"`{event_id_col}` {event_type}, id {plan.ref.id_type}, truth string, why string",
    )


@dataclass(frozen=True)
class _Explainer:
    """The task: the ids of an event and of a subscription and the event in, the explanation out."""

    ref: IndexRef
    layout: Layout
    event_id_col: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        shards = open_shards(self.ref)
        for batch in batches:
            events = pa.RecordBatch.from_arrays(batch.columns[2:], names=self.layout.columns)
            truths: list[str | None] = []
            whys: list[str] = []
            for id, event in zip(batch.column(1).to_pylist(), self.layout.mappings(events), strict=True):
                shard = next((shard for shard in shards if id in shard), None)
                if shard is None:
                    truths.append(None)
                    whys.append(f"there is no subscription {id!r}")
                else:
                    explanation = shard.explain(id, event)
                    truths.append(explanation.truth)
                    whys.append(str(explanation))
            yield pa.RecordBatch.from_arrays(
                [*batch.columns[:2], pa.array(truths, pa.string()), pa.array(whys, pa.string())],
                names=[self.event_id_col, "id", "truth", "why"],
            )
