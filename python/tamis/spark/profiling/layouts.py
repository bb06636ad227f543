"""How a DataFrame holds events: a column for each attribute, one of JSON, or one of maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pyspark.sql import DataFrame
from pyspark.sql.types import MapType, StringType

from tamis.spark.ingest.columns import require

JSON_NAMES = ("event", "json", "value")
"""What a column of JSON is called, if it is the only one beside the ids."""


@dataclass(frozen=True)
class EventLayout:
    """The layout, and the columns that hold the attributes."""

    kind: Literal["columns", "json", "map"]
    columns: tuple[str, ...]


def layout_of(
    events: DataFrame,
    *,
    event_id_col: str,
    attr_cols: Sequence[str] | None,
    json_col: str | None,
    map_col: str | None,
) -> EventLayout:
    """Take the layout that is named, or find the one that is obvious.

    Beside the ids, a single string column called ``event``, ``json`` or ``value`` is JSON, a single map
    column is a map; all else is a column for each attribute.

    Raises:
        ValueError: Several are named, or a column that is not there.
    """
    if sum(given is not None for given in (attr_cols, json_col, map_col)) > 1:
        raise ValueError("give one of attr_cols, json_col and map_col: events have one layout")
    if isinstance(attr_cols, str):
        raise ValueError(f"attr_cols is the text {attr_cols!r}; it takes a sequence of names")
    others = [name for name in events.columns if name != event_id_col]
    if attr_cols is not None:
        found = EventLayout("columns", tuple(attr_cols))
    elif json_col is not None:
        found = EventLayout("json", (json_col,))
    elif map_col is not None:
        found = EventLayout("map", (map_col,))
    elif len(others) == 1 and isinstance(events.schema[others[0]].dataType, MapType):
        found = EventLayout("map", (others[0],))
    elif len(others) == 1 and _is_json(events, others[0]):
        found = EventLayout("json", (others[0],))
    else:
        found = EventLayout("columns", tuple(others))
    require(events, found.columns)
    return found


def _is_json(events: DataFrame, name: str) -> bool:
    return name in JSON_NAMES and isinstance(events.schema[name].dataType, StringType)
