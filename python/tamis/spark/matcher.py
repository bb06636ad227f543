"""What a worker does with events: batches in, matches out, every shard in one pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tamis.errors import EventError
from tamis.index import Index
from tamis.spark.columns import arrow_id_type
from tamis.spark.layouts import EachWeights, Layout
from tamis.spark.loading import open_shards
from tamis.spark.manifest import IndexRef

Output = Literal["rows", "array"]

# Matches found at a time: enough to keep the core busy, few enough for any worker's memory.
_MATCHES = 1 << 19
# Rows that leave at a time.
_ROWS_OUT = 1 << 16
_FIRST_EVENTS = 32
_MOST_EVENTS = 8192


@dataclass(frozen=True)
class Found:
    """Matches of some events: those of event i are at `offsets[i]` up to `offsets[i + 1]`."""

    offsets: np.ndarray[tuple[int], np.dtype[np.int64]]
    ids: pa.Array
    scores: pa.Array | None = None


@dataclass(frozen=True)
class Matcher:
    """The task. Batches hold the event's id, the weights if there are any, then the columns of the layout.

    Attributes:
        ref: The version to match with.
        layout: How events lie in a batch.
        schema: What comes out, type by type.
        output: A row for each match, or one for each event.
        top_k: How many of the best matches to give; None for all.
        leading: How many columns stand in front of the layout's: the event's id, or that and weights.
        group: Which group of shards to ask.
        groups: Into how many groups shards are divided.
    """

    ref: IndexRef
    layout: Layout
    schema: pa.Schema
    output: Output
    top_k: int | None = None
    leading: int = 1
    group: int = 0
    groups: int = 1

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Match batch by batch."""
        shards = open_shards(self.ref, self.group, self.groups)
        write = self._rows if self.output == "rows" else self._arrays
        size = _FIRST_EVENTS
        for batch in batches:
            start = 0
            while start < batch.num_rows:
                part = batch.slice(start, size)
                start += part.num_rows
                matches = 1
                for found in self._find(shards, part):
                    matches += len(found.ids)
                    yield from write(part.column(0), found)
                fitting = _MATCHES * part.num_rows // matches
                size = min(max(fitting, 1), 4 * size, _MOST_EVENTS)

    def _find(self, shards: list[Index], part: pa.RecordBatch) -> Iterator[Found]:
        events = pa.RecordBatch.from_arrays(part.columns[self.leading :], names=self.layout.columns)
        try:
            if self.top_k is not None:
                yield self._best(shards, part, events, self.top_k)
                return
            each = (_matches_of(shard, self.layout, events) for shard in shards)
            if self.output == "rows":
                yield from each
            else:
                yield _joined(list(each), part.num_rows)
        except EventError as error:
            if error.row is None:
                raise
            id = part.column(0)[error.row].as_py()
            raise EventError(f"event {id!r}: {error}", attribute=error.attribute, row=error.row) from error

    def _best(self, shards: list[Index], part: pa.RecordBatch, events: pa.RecordBatch, k: int) -> Found:
        """Rank each event's matches over all shards."""
        weights: EachWeights = _weights(part.column(1)) if self.leading > 1 else {}
        schema = pa.schema(
            [("event", pa.int64()), ("id", arrow_id_type(self.ref.id_type)), ("score", pa.float64())]
        )
        # A shard without subscriptions knows no type of ids.
        each = [self.layout.top_k(shard, events, k, weights).to_arrow().cast(schema) for shard in shards]
        return _first(pa.concat_tables([schema.empty_table(), *each]), part.num_rows, k)

    def _rows(self, event_ids: pa.Array, found: Found) -> Iterator[pa.RecordBatch]:
        """One row for each match, so many at a time."""
        events = np.repeat(np.arange(len(event_ids)), np.diff(found.offsets))
        for start in range(0, len(events), _ROWS_OUT):
            rows = slice(start, start + _ROWS_OUT)
            columns = [event_ids.take(pa.array(events[rows])), found.ids[rows]]
            if found.scores is not None:
                columns.append(found.scores[rows])
            yield self._batch(columns)

    def _arrays(self, event_ids: pa.Array, found: Found) -> Iterator[pa.RecordBatch]:
        """One row for each event."""
        offsets = pa.array(found.offsets.astype(np.int32))
        lists = [found.ids] if found.scores is None else [found.ids, found.scores]
        types = [field.type for field in self.schema][1:]
        yield self._batch(
            [
                event_ids,
                *(
                    pa.ListArray.from_arrays(offsets, values.cast(kind.value_type), type=kind)
                    for values, kind in zip(lists, types, strict=True)
                ),
            ]
        )

    def _batch(self, columns: list[pa.Array]) -> pa.RecordBatch:
        """Give columns their exact types: Spark takes no others."""
        typed = [
            column if column.type == field.type else column.cast(field.type)
            for column, field in zip(columns, self.schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(typed, schema=self.schema)


def _matches_of(shard: Index, layout: Layout, events: pa.RecordBatch) -> Found:
    matches = layout.match(shard, events)
    return Found(np.asarray(matches.offsets), pa.array(matches.ids))


def _joined(parts: list[Found], events: int) -> Found:
    """Bring what several shards found together, event by event."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Found(np.zeros(events + 1, np.int64), pa.nulls(0))
    offsets = np.sum([part.offsets for part in parts], axis=0)
    # Where each match goes: its event's place, behind what earlier shards found for it.
    places, taken = [], np.zeros(events, np.int64)
    for part in parts:
        counts = np.diff(part.offsets)
        places.append(np.arange(len(part.ids)) + np.repeat(offsets[:-1] + taken - part.offsets[:-1], counts))
        taken += counts
    order = np.empty(offsets[-1], np.int64)
    order[np.concatenate(places)] = np.arange(offsets[-1])
    ids = pa.concat_arrays([part.ids for part in parts])
    return Found(offsets, pc.take(ids, pa.array(order)))


def _first(ranked: pa.Table, events: int, k: int) -> Found:
    """Keep the k best matches of each event: highest scores first, equal ones by id."""
    by = [("event", "ascending"), ("score", "descending"), ("id", "ascending")]
    order = pc.sort_indices(ranked, by)
    counts = np.bincount(ranked["event"].to_numpy(), minlength=events)
    # In this order an event's matches lie side by side, so each knows how many are better.
    better = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    best = ranked.take(order.filter(pa.array(better < k)))
    offsets = np.cumsum([0, *np.minimum(counts, k)])
    return Found(offsets, best["id"].combine_chunks(), best["score"].combine_chunks())


def _weights(maps: pa.MapArray) -> list[dict[str, float]]:
    """Give the weights of each event; null is none."""
    # Keys and values as two flat lists take a fraction of the time that maps take one by one.
    ends = maps.offsets.to_pylist()
    keys = maps.keys[ends[0] : ends[-1]].to_pylist()
    values = maps.items[ends[0] : ends[-1]].to_pylist()
    pairs = zip(keys, values, strict=True)
    each = (dict(islice(pairs, end - start)) for start, end in pairwise(ends))
    given = maps.is_valid().to_pylist()
    return [weights if is_given else {} for weights, is_given in zip(each, given, strict=True)]
