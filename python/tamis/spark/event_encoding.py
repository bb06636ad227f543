"""How a table encodes events: one typed column per attribute, a column of JSON objects, or a column of maps.

The driver chooses an `EventEncoding` from the table's schema; workers use it to pass Arrow batches to an
index. A batch holds the columns of the encoding and no others.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa
import pyarrow.compute as pc

from tamis import Index, Matches, RankedMatches

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType, StructType

Event = Mapping[str, Any]
AttributeWeights = dict[str, float] | list[dict[str, float]]
"""Weights of attributes: one mapping for all events, or one per event."""

# Spark runs one worker per core, so each worker matches on one thread.
_THREADS = 1


@dataclass(frozen=True)
class TypedColumns:
    """One column per attribute, null where an event lacks it; structs hold attributes with dotted names."""

    columns: tuple[str, ...]

    def restricted_to(self, attributes: Iterable[str]) -> TypedColumns:
        """Drop the columns that no attribute refers to: sending columns to workers dominates the cost."""
        prefixes = {
            ".".join(parts[: depth + 1])
            for parts in (attribute.split(".") for attribute in attributes)
            for depth in range(len(parts))
        }
        return TypedColumns(tuple(column for column in self.columns if column in prefixes))

    def match(self, index: Index, batch: pa.RecordBatch) -> Matches:
        """Match every row of a batch."""
        return index.match_batches(batch, threads=_THREADS)

    def top_k(self, index: Index, batch: pa.RecordBatch, k: int, weights: AttributeWeights) -> RankedMatches:
        """Rank the matches of every row of a batch."""
        return index.top_k_batches(batch, k, weights, threads=_THREADS)

    def mappings(self, batch: pa.RecordBatch) -> list[Event]:
        """Return every row as a mapping."""
        return batch.to_pylist()  # type: ignore[no-any-return]

    def observations(self, table: pa.Table) -> Any:
        """Return events in a form that `Index.observe` accepts."""
        return table


@dataclass(frozen=True)
class _EventColumn(ABC):
    """A column that holds whole events; null is an event without attributes."""

    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns to read."""
        return (self.column,)

    def restricted_to(self, attributes: Iterable[str]) -> Self:
        """Return itself: attributes that no rule refers to are skipped when the event is read."""
        return self

    @abstractmethod
    def mappings(self, batch: pa.RecordBatch) -> list[Event]:
        """Return every row as a mapping."""

    def observations(self, table: pa.Table) -> Any:
        """Return events in a form that `Index.observe` accepts."""
        return [event for batch in table.to_batches() for event in self.mappings(batch)]


@dataclass(frozen=True)
class JsonColumn(_EventColumn):
    """A column of JSON objects."""

    def match(self, index: Index, batch: pa.RecordBatch) -> Matches:
        """Match every row of a batch."""
        return index.match_json_many(_json_texts(batch), threads=_THREADS)

    def top_k(self, index: Index, batch: pa.RecordBatch, k: int, weights: AttributeWeights) -> RankedMatches:
        """Rank the matches of every row of a batch."""
        return index.top_k_json_many(_json_texts(batch), k, weights, threads=_THREADS)

    def mappings(self, batch: pa.RecordBatch) -> list[Event]:
        """Return every row as a mapping."""
        return [json.loads(text) for text in _json_texts(batch)]


@dataclass(frozen=True)
class MapColumn(_EventColumn):
    """A column of maps from attribute to value."""

    def match(self, index: Index, batch: pa.RecordBatch) -> Matches:
        """Match every row of a batch."""
        return index.match_many(self.mappings(batch), threads=_THREADS)

    def top_k(self, index: Index, batch: pa.RecordBatch, k: int, weights: AttributeWeights) -> RankedMatches:
        """Rank the matches of every row of a batch."""
        return index.top_k_many(self.mappings(batch), k, weights, threads=_THREADS)

    def mappings(self, batch: pa.RecordBatch) -> list[Event]:
        """Return every row as a mapping."""
        return [dict(pairs or ()) for pairs in batch.column(0).to_pylist()]


EventEncoding = TypedColumns | JsonColumn | MapColumn


def _json_texts(batch: pa.RecordBatch) -> list[bytes]:
    # Bytes, because the native parser checks the encoding; decoding in Python would check it twice.
    texts = pc.fill_null(batch.column(0).cast(pa.large_string()), "{}")
    return texts.cast(pa.large_binary()).to_pylist()  # type: ignore[no-any-return]


# --- on the driver ----------------------------------------------------------------------------------


def find_encoding(
    schema: StructType,
    *,
    exclude: Iterable[str],
    attr_cols: Iterable[str] | None = None,
    json_col: str | None = None,
    map_col: str | None = None,
) -> EventEncoding:
    """Find how a table encodes events, from its schema or from what the caller names.

    If the caller names nothing and one column is left besides the excluded ones, a map, a variant, or a
    string column named ``event`` or ``json``, holds the event. Otherwise every column is an attribute.

    Args:
        schema: The table's schema.
        exclude: Columns that are not attributes.
        attr_cols: The columns of attributes.
        json_col: The column of JSON objects.
        map_col: The column of maps.

    Raises:
        ValueError: A column does not exist, or several encodings are named.
        TypeError: A column has a type that its encoding does not allow.
    """
    from pyspark.sql.types import MapType, StringType, VariantType

    from tamis.spark.columns import column_type

    named = {"attr_cols": attr_cols, "json_col": json_col, "map_col": map_col}
    if sum(value is not None for value in named.values()) > 1:
        raise ValueError("attr_cols, json_col and map_col exclude each other")
    if json_col is not None:
        kind = column_type(schema, json_col)
        if not isinstance(kind, StringType | VariantType):
            raise TypeError(
                f"column {json_col!r} is {kind.simpleString()}; JSON is read from a string or a variant"
            )
        return JsonColumn(json_col)
    if map_col is not None:
        kind = column_type(schema, map_col)
        if not (isinstance(kind, MapType) and isinstance(kind.keyType, StringType)):
            raise TypeError(f"column {map_col!r} is {kind.simpleString()}; a map with string keys is needed")
        return MapColumn(map_col)
    if attr_cols is not None:
        for column in (columns := tuple(attr_cols)):
            column_type(schema, column)
        return TypedColumns(columns)
    excluded = set(exclude)
    others = [field for field in schema.fields if field.name not in excluded]
    if len(others) == 1 and may_hold_events(schema, only := others[0].name):
        return MapColumn(only) if isinstance(others[0].dataType, MapType) else JsonColumn(only)
    return TypedColumns(tuple(field.name for field in others))


def may_hold_events(schema: StructType, column: str) -> bool:
    """Return whether a column may hold whole events, by its type and name: JSON objects, maps, variants."""
    from pyspark.sql.types import MapType, StringType, VariantType

    from tamis.spark.columns import column_type

    kind = column_type(schema, column)
    if isinstance(kind, MapType):
        return isinstance(kind.keyType, StringType)
    return isinstance(kind, VariantType) or (isinstance(kind, StringType) and column in ("event", "json"))


def check_column_types(encoding: EventEncoding, schema: StructType, attributes: Iterable[str]) -> None:
    """Reject attributes whose values expressions cannot compare, before any task runs.

    Args:
        encoding: How the table encodes events.
        schema: The table's schema.
        attributes: What rules refer to; dotted names lead into structs and maps.

    Raises:
        TypeError: The message lists the types to cast to.
    """
    from pyspark.sql.types import MapType

    from tamis.spark.columns import column_type

    if isinstance(encoding, MapColumn):
        kind = column_type(schema, encoding.column)
        assert isinstance(kind, MapType)
        _check_comparable(encoding.column, kind, kind.valueType)
    if isinstance(encoding, TypedColumns):
        for attribute in attributes:
            _check_path(schema, attribute, attribute)


def _check_path(within: DataType, path: str, attribute: str) -> None:
    """Check what a path leads to within a type; names may have dots, so each beginning of it is tried."""
    from pyspark.sql.types import MapType, StructType, VariantType

    if isinstance(within, VariantType):
        _check_comparable(attribute, within, within)
    elif isinstance(within, MapType):
        _check_comparable(attribute, within.valueType, within.valueType)
        _check_parts(path, attribute, lambda _: within.valueType)
    elif isinstance(within, StructType):
        fields = {field.name: field.dataType for field in within.fields}
        if (kind := fields.get(path)) is not None:
            _check_comparable(attribute, kind, kind)
        _check_parts(path, attribute, fields.get)


def _check_parts(path: str, attribute: str, find: Callable[[str], DataType | None]) -> None:
    for dot in (at for at, character in enumerate(path) if character == "."):
        if (inner := find(path[:dot])) is not None:
            _check_path(inner, path[dot + 1 :], attribute)


def _check_comparable(name: str, shown: DataType, kind: DataType) -> None:
    """Check the type of an attribute. Structs, maps and binaries are only present or missing."""
    from pyspark.sql import types as T

    inner = kind.elementType if isinstance(kind, T.ArrayType) else kind
    comparable = (
        *(T.StringType, T.BooleanType, T.IntegralType, T.FloatType, T.DoubleType, T.DecimalType, T.NullType),
        *(T.DateType, T.TimestampType, T.TimestampNTZType),
        *(T.StructType, T.MapType, T.ArrayType, T.BinaryType),
    )
    if not isinstance(inner, comparable):
        raise TypeError(
            f"column {name!r} is {shown.simpleString()}, which expressions cannot compare; "
            "cast it to bigint, double, decimal, string, boolean, date or timestamp"
        )


def worker_columns(encoding: EventEncoding, schema: StructType) -> tuple[EventEncoding, list[Column]]:
    """Return the columns that Spark sends to workers, and how they encode events.

    Their names are `tamis 0`, `tamis 1` and so on, because `mapInArrow` fails on names with dots. Workers
    restore the names.

    Variants are sent as JSON. So are maps whose values JSON represents exactly: Spark writes JSON faster than
    it sends maps.
    Floats and dates are not: JSON has no NaN and no infinity, changes the digits of a float, and makes dates
    strings.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.types import BooleanType, IntegralType, MapType, StringType, VariantType

    from tamis.spark.columns import column_type, exact_column

    if isinstance(encoding, JsonColumn) and isinstance(column_type(schema, encoding.column), VariantType):
        return encoding, [F.to_json(exact_column(encoding.column)).alias("tamis 0")]
    if isinstance(encoding, MapColumn):
        kind = column_type(schema, encoding.column)
        if isinstance(kind, MapType) and isinstance(kind.valueType, StringType | BooleanType | IntegralType):
            return JsonColumn(encoding.column), [F.to_json(exact_column(encoding.column)).alias("tamis 0")]
    return encoding, [
        exact_column(column).alias(f"tamis {number}") for number, column in enumerate(encoding.columns)
    ]
