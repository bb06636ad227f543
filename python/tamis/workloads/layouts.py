"""The forms in which events are handed over."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tamis.workloads.cells import cells, joined, names, words
from tamis.workloads.events import Events
from tamis.workloads.specs import Spec
from tamis.workloads.wording import value_cells

Layout = Literal["json", "columns", "map"]

_MOST_COLUMNS = 5_000
_BEFORE = cells(["{", ",", ""])
_BEHIND = cells(["", "}"])
_QUOTE = cells(["", '"'])


def event_schema(spec: Spec, layout: Layout) -> pa.Schema:
    """The columns of events.

    Raises:
        ValueError: If there is no such layout, or there are too many attributes for a column each.
    """
    number = pa.field("event_id", pa.int64(), nullable=False)
    if layout == "json":
        return pa.schema([number, pa.field("event", pa.string(), nullable=False)])
    if layout == "map":
        return pa.schema([number, pa.field("event", pa.map_(pa.string(), pa.string()), nullable=False)])
    if layout != "columns":
        raise ValueError(f'layout is {layout!r}; accepted is "json", "columns" or "map"')
    if spec.dimensions > _MOST_COLUMNS:
        raise ValueError(
            f'layout "columns" makes a column of each of the {spec.dimensions:,} attributes; accepted is at most '
            f'{_MOST_COLUMNS:,}: use "json" or "map"'
        )
    first_text = spec.dimensions - spec.text_dimensions
    kinds = [pa.int64() if attribute < first_text else pa.string() for attribute in range(spec.dimensions)]
    return pa.schema([number, *(pa.field(f"a{attribute}", kind) for attribute, kind in enumerate(kinds))])


def event_columns(events: Events, layout: Layout) -> list[pa.Array]:
    """The columns behind the number, as the schema of the layout has them."""
    if layout == "json":
        return [_json(events)]
    if layout == "map":
        return [_map(events)]
    return _columns(events)


def _json(events: Events) -> pa.StringArray:
    """One JSON object an event, without spaces."""
    rows, most = events.attributes.shape
    place, sizes = np.arange(most), events.sizes[:, None]
    before = np.take(_BEFORE, np.where(place < sizes, np.minimum(place, 1), 2)).ravel()
    behind = np.take(_BEHIND, (place == sizes - 1).astype(np.int64)).ravel()
    attributes, values = events.attributes.ravel(), events.values.ravel()
    name = np.take(names(events.domain.absent, '"', '":'), attributes)
    text = events.domain.is_text(attributes)
    quote = [np.take(_QUOTE, text.astype(np.int64))] if events.domain.has_text else []
    present = attributes < events.domain.absent
    value = value_cells(events.domain, attributes, values, present)
    return joined([before, name, *quote, *value, *quote, behind], rows * most, np.arange(1, rows + 1) * most)


def _map(events: Events) -> pa.MapArray:
    """Names and values, all of them strings."""
    there = events.attributes < events.domain.absent
    attributes, values = events.attributes[there], events.values[there]
    each = np.arange(1, len(attributes) + 1)
    keys = joined([np.take(names(events.domain.absent, "", ""), attributes)], len(attributes), each)
    items = joined(
        value_cells(events.domain, attributes, values, np.ones(len(attributes), np.bool_)),
        len(attributes),
        each,
    )
    offsets = np.concatenate([[0], np.cumsum(events.sizes)]).astype(np.int32)
    return pa.MapArray.from_arrays(pa.array(offsets), keys, items)


def _columns(events: Events) -> list[pa.Array]:
    """A column for each attribute, null where an event lacks it."""
    rows = len(events.sizes)
    values = np.full((events.domain.absent + 1, rows), -1, np.int64)
    values[events.attributes, np.arange(rows)[:, None]] = events.values
    each = np.arange(1, rows + 1)
    columns = []
    for attribute in range(events.domain.absent):
        column = values[attribute]
        missing = column < 0
        if attribute < events.domain.first_text:
            columns.append(pa.array(column, mask=missing))
            continue
        length = events.domain.spec.word_length
        spelled = joined([words(column, length, np.where(missing, 0, length))], rows, each)
        columns.append(_with_nulls(spelled, missing))
    return columns


def _with_nulls(column: pa.StringArray, missing: NDArray[np.bool_]) -> pa.Array:
    kept = np.where(missing, 0, np.arange(len(column)))
    return column.take(pa.array(kept, mask=missing))
