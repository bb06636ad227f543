"""How events lie in a table: typed columns, JSON texts, or maps.

A layout is made on the driver, where it says what workers need of a table, and used in workers, where it
hands a batch to an index. Batches hold the layout's columns and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from tamis.index import Index
from tamis.results import Matches, RankedMatches

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import StructType

Event = Mapping[str, Any]
# What attributes count: none for all events, or some for each.
EachWeights = dict[str, float] | list[dict[str, float]]

# Spark runs a worker for each core; more threads would only stand in each other's way.
_THREADS = 1


@dataclass(frozen=True)
class ColumnsLayout:
    """A column for each attribute, null where an event lacks it; structs for dotted names."""

    columns: tuple[str, ...]

    def referred(self, attributes: Iterable[str]) -> ColumnsLayout:
        """Leave out the columns that no attribute refers to: carrying them to workers costs most."""
        wanted = {
            ".".join(parts[: depth + 1])
            for parts in (attribute.split(".") for attribute in attributes)
            for depth in range(len(parts))
        }
        return ColumnsLayout(tuple(column for column in self.columns if column in wanted))

    def match(self, index: Index, batch: pa.RecordBatch) -> Matches:
        """Match every row of a batch."""
        return index.match_batches(batch, threads=_THREADS)

    def top_k(self, index: Index, batch: pa.RecordBatch, k: int, weights: EachWeights) -> RankedMatches:
        """Rank the matches of every row of a batch."""
        return index.top_k_batches(batch, k, weights, threads=_THREADS)

    def mappings(self, batch: pa.RecordBatch) -> list[Event]:
        """Give every row as a mapping."""
        return batch.to_pylist()  # type: ignore[no-any-return]

    def observable(self, table: pa.Table) -> Any:
        """Give events as `Index.observe` takes them."""
        return table


@dataclass(frozen=True)
class JsonLayout:
    """A column of JSON objects; null is an event without attributes."""

    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns to read."""
        return (self.column,)

    def referred(self, attributes: Iterable[str]) -> JsonLayout:
        """Stay as it is: what is not referred to is skipped by the parser."""
        return self

    def match(self, index: Index, batch: pa.RecordBatch) -> Matches:
        """Match every row of a batch."""
        return index.match_json_many(_json_texts(batch), threads=_THREADS)

    def top_k(self, index: Index, batch: pa.RecordBatch, k: int, weights: EachWeights) -> RankedMatches:
        """Rank the matches of every row of a batch."""
        return index.top_k_json_many(_json_texts(batch), k, weights, threads=_THREADS)

    def mappings(self, batch: pa.RecordBatch) -> list[Event]:
        """Give every row as a mapping."""
        return [json.loads(text) for text in _json_texts(batch)]

    def observable(self, table: pa.Table) -> Any:
        """Give events as `Index.observe` takes them."""
        return [event for batch in table.to_batches() for event in self.mappings(batch)]


@dataclass(frozen=True)
class MapLayout:
    """A column of maps from attribute to value; null is an event without attributes."""

    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns to read."""
        return (self.column,)

    def referred(self, attributes: Iterable[str]) -> MapLayout:
        """Stay as it is: keys are ignored where nothing refers to them."""
        return self

    def match(self, index: Index, batch: pa.RecordBatch) -> Matches:
        """Match every row of a batch."""
        return index.match_many(self.mappings(batch), threads=_THREADS)

    def top_k(self, index: Index, batch: pa.RecordBatch, k: int, weights: EachWeights) -> RankedMatches:
        """Rank the matches of every row of a batch."""
        return index.top_k_many(self.mappings(batch), k, weights, threads=_THREADS)

    def mappings(self, batch: pa.RecordBatch) -> list[Event]:
        """Give every row as a mapping."""
        return [dict(pairs or ()) for pairs in batch.column(0).to_pylist()]

    def observable(self, table: pa.Table) -> Any:
        """Give events as `Index.observe` takes them."""
        return [event for batch in table.to_batches() for event in self.mappings(batch)]


Layout = ColumnsLayout | JsonLayout | MapLayout


def _json_texts(batch: pa.RecordBatch) -> list[bytes]:
    # As bytes: the parser checks the encoding, and Python need not.
    texts = pc.fill_null(batch.column(0).cast(pa.large_string()), "{}")
    return texts.cast(pa.large_binary()).to_pylist()  # type: ignore[no-any-return]


# --- on the driver ----------------------------------------------------------------------------------


def find_layout(
    schema: StructType,
    *,
    other_than: Iterable[str],
    attr_cols: Iterable[str] | None = None,
    json_col: str | None = None,
    map_col: str | None = None,
) -> Layout:
    """Tell how events lie in a table.

    If nothing is said and there is one column besides those that are taken, a map, or a string named
    ``event`` or ``json``, is the event; otherwise every column is an attribute.

    Args:
        schema: The table's.
        other_than: Columns that are no attributes.
        attr_cols: The columns that are attributes.
        json_col: The column with JSON objects.
        map_col: The column with maps.

    Raises:
        ValueError: A column is not there, or two layouts are asked for.
        TypeError: A column is of a type that has no meaning in its place.
    """
    from pyspark.sql.types import MapType, StringType

    from tamis.spark.columns import column_type

    asked = {"attr_cols": attr_cols, "json_col": json_col, "map_col": map_col}
    if sum(value is not None for value in asked.values()) > 1:
        raise ValueError("attr_cols, json_col and map_col exclude each other")
    if json_col is not None:
        kind = column_type(schema, json_col)
        if not isinstance(kind, StringType):
            raise TypeError(f"column {json_col!r} is {kind.simpleString()}; JSON is read from a string")
        return JsonLayout(json_col)
    if map_col is not None:
        kind = column_type(schema, map_col)
        if not (isinstance(kind, MapType) and isinstance(kind.keyType, StringType)):
            raise TypeError(f"column {map_col!r} is {kind.simpleString()}; a map with string keys is needed")
        return MapLayout(map_col)
    if attr_cols is not None:
        for column in (columns := tuple(attr_cols)):
            column_type(schema, column)
        return ColumnsLayout(columns)
    taken = set(other_than)
    free = [field for field in schema.fields if field.name not in taken]
    if len(free) == 1:
        only = free[0]
        if isinstance(only.dataType, StringType) and only.name in ("event", "json"):
            return JsonLayout(only.name)
        if isinstance(only.dataType, MapType) and isinstance(only.dataType.keyType, StringType):
            return MapLayout(only.name)
    return ColumnsLayout(tuple(field.name for field in free))


def check_types(layout: Layout, schema: StructType) -> None:
    """Refuse columns whose values have no meaning in an expression, before any task runs.

    Raises:
        TypeError: The message says what to cast to.
    """
    from pyspark.sql.types import ArrayType, BinaryType, DecimalType, MapType

    from tamis.spark.columns import column_type

    for column in layout.columns:
        kind = column_type(schema, column)
        inner = kind.elementType if isinstance(kind, ArrayType) else kind
        inner = inner.valueType if isinstance(layout, MapLayout) and isinstance(inner, MapType) else inner
        if isinstance(inner, DecimalType | BinaryType | MapType):
            raise TypeError(
                f"column {column!r} is {kind.simpleString()}, which expressions cannot compare; "
                "cast it to bigint, double, string, boolean, date or timestamp"
            )


def carried(layout: Layout, schema: StructType) -> tuple[Layout, list[Column]]:
    """Tell which columns Spark sends to workers, and how events lie in those.

    They come as `tamis 0`, `tamis 1` and so on: `mapInArrow` fails on names with dots. Workers name them
    again.

    Maps of values that JSON says exactly go as JSON: Spark writes it faster than it sends maps. NaN and
    infinity have no JSON, a float another value in it, and dates would become strings.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.types import BooleanType, IntegralType, MapType, StringType

    from tamis.spark.columns import column_type, named

    if isinstance(layout, MapLayout):
        kind = column_type(schema, layout.column)
        if isinstance(kind, MapType) and isinstance(kind.valueType, StringType | BooleanType | IntegralType):
            return JsonLayout(layout.column), [F.to_json(named(layout.column)).alias("tamis 0")]
    return layout, [named(column).alias(f"tamis {place}") for place, column in enumerate(layout.columns)]
