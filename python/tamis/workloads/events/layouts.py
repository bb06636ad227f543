"""Layouts of events: a JSON column, one column per attribute, or a map column."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tamis.workloads.events.rows import Events
from tamis.workloads.specs import Spec
from tamis.workloads.subscriptions.predicate_text import value_cells
from tamis.workloads.text_cells import cells, join_cells, names, words

Layout = Literal["json", "columns", "map"]

_MAX_COLUMNS = 5_000
_BEFORE = cells(["{", ","])
_BEHIND = cells(["", "}"])
_QUOTE = cells(["", '"'])


def event_schema(spec: Spec, layout: Layout) -> pa.Schema:
    """Return the columns of events.

    Raises:
        ValueError: The layout is unknown, or there are more attributes than a table may have columns.
    """
    number = pa.field("event_id", pa.int64())
    if layout == "json":
        return pa.schema([number, pa.field("event", pa.string())])
    if layout == "map":
        return pa.schema([number, pa.field("event", pa.map_(pa.string(), pa.string()))])
    if layout != "columns":
        raise ValueError(f'layout is {layout!r}; accepted is "json", "columns" or "map"')
    if spec.dimensions > _MAX_COLUMNS:
        raise ValueError(
            f'layout "columns" makes a column of each of the {spec.dimensions:,} attributes; accepted are at '
            f'most {_MAX_COLUMNS:,}: use "json" or "map"'
        )
    first_text = spec.dimensions - spec.text_dimensions
    kinds = [pa.int64() if attribute < first_text else pa.string() for attribute in range(spec.dimensions)]
    return pa.schema([number, *(pa.field(f"a{attribute}", kind) for attribute, kind in enumerate(kinds))])


def event_columns(events: Events, layout: Layout) -> list[pa.Array]:
    """Return the columns of the layout without `event_id`."""
    if layout == "json":
        return [_json(events)]
    if layout == "map":
        return [_map(events)]
    return _columns(events)


def _json(events: Events) -> pa.StringArray:
    """Return one JSON object per event, without spaces."""
    domain, attributes, ends = events.domain, events.attributes, np.cumsum(events.sizes)
    first, last = np.ones(len(attributes), np.int64), np.zeros(len(attributes), np.int64)
    first[ends - events.sizes], last[ends - 1] = 0, 1
    quote = [np.take(_QUOTE, domain.is_text(attributes).astype(np.int64))] if domain.has_text else []
    pieces = [
        np.take(_BEFORE, first),
        np.take(names(domain.absent, '"', '":'), attributes),
        *quote,
        *value_cells(domain, attributes, events.values),
        *quote,
        np.take(_BEHIND, last),
    ]
    return join_cells(pieces, len(attributes), ends)


def _map(events: Events) -> pa.MapArray:
    """Return one map of strings per event."""
    domain, attributes = events.domain, events.attributes
    count, each = len(attributes), np.arange(1, len(attributes) + 1)
    keys = join_cells([np.take(names(domain.absent, "", ""), attributes)], count, each)
    items = join_cells(value_cells(domain, attributes, events.values), count, each)
    offsets = np.concatenate([[0], np.cumsum(events.sizes)]).astype(np.int32)
    return pa.MapArray.from_arrays(pa.array(offsets), keys, items)


def _columns(events: Events) -> list[pa.Array]:
    """Return one column per attribute, null where an event lacks it."""
    domain, rows = events.domain, len(events.sizes)
    values = np.full((domain.absent, rows), -1, np.int64)
    values[events.attributes, np.repeat(np.arange(rows), events.sizes)] = events.values
    length, each = domain.spec.word_length, np.arange(1, rows + 1)
    columns = []
    for attribute, column in enumerate(values):
        missing = column < 0
        if attribute < domain.first_text:
            columns.append(pa.array(column, mask=missing))
        else:
            spelled = join_cells([words(column, length, np.where(missing, 0, length))], rows, each)
            columns.append(_with_nulls(spelled, missing))
    return columns


def _with_nulls(column: pa.StringArray, missing: NDArray[np.bool_]) -> pa.Array:
    kept = np.where(missing, 0, np.arange(len(column)))
    return column.take(pa.array(kept, mask=missing))
