"""The task that workers run: batches of events in, matches out, all shards in one pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tamis import EventError, Index
from tamis.spark.columns import arrow_id_type
from tamis.spark.event_encoding import AttributeWeights, EventEncoding
from tamis.spark.store.manifest import IndexRef
from tamis.spark.store.shard_cache import open_shards

Output = Literal["rows", "array"]

# Matches per call to aim at: they amortize the call, and bound the memory of a worker.
_TARGET_MATCHES = 1 << 19
# Rows per output batch: one event may match millions of rules.
_MAX_OUTPUT_ROWS = 1 << 16
# Events per call: begins with 32, and follows the matches per event up to 8,192.
_FIRST_EVENTS = 32
_MAX_EVENTS = 8192


@dataclass(frozen=True)
class EventMatches:
    """The matches of a slice of events: those of event i are at `offsets[i]` up to `offsets[i + 1]`."""

    offsets: np.ndarray[tuple[int], np.dtype[np.int64]]
    ids: pa.Array
    scores: pa.Array | None = None


@dataclass(frozen=True)
class MatchTask:
    """The task. A batch holds the event ids, the weights if there are any, then the columns of the encoding.

    Attributes:
        ref: The version to match with.
        encoding: How a batch encodes events.
        schema: The columns to emit.
        output: One row per match, or one per event.
        top_k: The number of best matches to emit per event; None for all.
        leading: The number of columns before those of the encoding: 1, or 2 with weights.
        group: The group of shards to match with.
        groups: The number of groups that shards are divided into.
    """

    ref: IndexRef
    encoding: EventEncoding
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
                count = 1
                for matches in self._match(shards, part):
                    count += len(matches.ids)
                    yield from write(part.column(0), matches)
                fitting = _TARGET_MATCHES * part.num_rows // count
                size = min(max(fitting, 1), 4 * size, _MAX_EVENTS)

    def _match(self, shards: list[Index], part: pa.RecordBatch) -> Iterator[EventMatches]:
        events = pa.RecordBatch.from_arrays(part.columns[self.leading :], names=self.encoding.columns)
        try:
            if self.top_k is not None:
                yield self._top_k(shards, part, events, self.top_k)
                return
            by_shard = (_shard_matches(shard, self.encoding, events) for shard in shards)
            if self.output == "rows":
                yield from by_shard
            else:
                yield _merged(list(by_shard), part.num_rows)
        except EventError as error:
            if error.row is None:
                raise
            id = part.column(0)[error.row].as_py()
            raise EventError(f"event {id!r}: {error}", attribute=error.attribute, row=error.row) from error

    def _top_k(
        self, shards: list[Index], part: pa.RecordBatch, events: pa.RecordBatch, k: int
    ) -> EventMatches:
        """Rank each event's matches over all shards."""
        weights: AttributeWeights = _weights(part.column(1)) if self.leading > 1 else {}
        schema = pa.schema(
            [("event", pa.int64()), ("id", arrow_id_type(self.ref.id_type)), ("score", pa.float64())]
        )
        # The cast matters for an empty shard, whose ids have no type.
        ranked = [self.encoding.top_k(shard, events, k, weights).to_arrow().cast(schema) for shard in shards]
        return _best(pa.concat_tables([schema.empty_table(), *ranked]), part.num_rows, k)

    def _rows(self, event_ids: pa.Array, matches: EventMatches) -> Iterator[pa.RecordBatch]:
        """Emit one row per match, in batches of at most `_MAX_OUTPUT_ROWS`."""
        events = np.repeat(np.arange(len(event_ids)), np.diff(matches.offsets))
        for start in range(0, len(events), _MAX_OUTPUT_ROWS):
            rows = slice(start, start + _MAX_OUTPUT_ROWS)
            columns = [event_ids.take(pa.array(events[rows])), matches.ids[rows]]
            if matches.scores is not None:
                columns.append(matches.scores[rows])
            yield self._batch(columns)

    def _arrays(self, event_ids: pa.Array, matches: EventMatches) -> Iterator[pa.RecordBatch]:
        """Emit one row per event."""
        offsets = pa.array(matches.offsets.astype(np.int32))
        lists = [matches.ids] if matches.scores is None else [matches.ids, matches.scores]
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
        """Cast columns to the exact types of the schema: Spark accepts no others."""
        typed = [
            column if column.type == field.type else column.cast(field.type)
            for column, field in zip(columns, self.schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(typed, schema=self.schema)


def _shard_matches(shard: Index, encoding: EventEncoding, events: pa.RecordBatch) -> EventMatches:
    matches = encoding.match(shard, events)
    return EventMatches(np.asarray(matches.offsets), pa.array(matches.ids))


def _merged(parts: list[EventMatches], events: int) -> EventMatches:
    """Merge the matches of several shards, event by event."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return EventMatches(np.zeros(events + 1, np.int64), pa.nulls(0))
    offsets = np.sum([part.offsets for part in parts], axis=0)
    # Target position of a match: the start of its event, plus the matches of earlier shards for the event.
    targets, filled = [], np.zeros(events, np.int64)
    for part in parts:
        counts = np.diff(part.offsets)
        starts = np.repeat(offsets[:-1] + filled - part.offsets[:-1], counts)
        targets.append(np.arange(len(part.ids)) + starts)
        filled += counts
    order = np.empty(offsets[-1], np.int64)
    order[np.concatenate(targets)] = np.arange(offsets[-1])
    ids = pa.concat_arrays([part.ids for part in parts])
    return EventMatches(offsets, pc.take(ids, pa.array(order)))


def _best(ranked: pa.Table, events: int, k: int) -> EventMatches:
    """Keep the k best matches of each event: highest score first, equal scores by id."""
    by = [("event", "ascending"), ("score", "descending"), ("id", "ascending")]
    order = pc.sort_indices(ranked, by)
    counts = np.bincount(ranked["event"].to_numpy(), minlength=events)
    # The matches of an event are adjacent in this order, so a rank is the distance from the event's first.
    rank = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    best = ranked.take(order.filter(pa.array(rank < k)))
    offsets = np.cumsum([0, *np.minimum(counts, k)])
    return EventMatches(offsets, best["id"].combine_chunks(), best["score"].combine_chunks())


def _weights(maps: pa.MapArray) -> list[dict[str, float]]:
    """Return the weights of each event; null means no weights."""
    # Two flat lists of keys and values convert several times faster than one map at a time.
    ends = maps.offsets.to_pylist()
    keys = maps.keys[ends[0] : ends[-1]].to_pylist()
    values = maps.items[ends[0] : ends[-1]].to_pylist()
    pairs = zip(keys, values, strict=True)
    by_event = (dict(islice(pairs, end - start)) for start, end in pairwise(ends))
    valid = maps.is_valid().to_pylist()
    return [weights if is_valid else {} for weights, is_valid in zip(by_event, valid, strict=True)]
