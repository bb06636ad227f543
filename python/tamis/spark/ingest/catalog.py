"""Sparse catalogs: wide tables whose rows fill few of the columns.

The OpIndex paper (PVLDB 2014, section 7) crawled 296,846 products with 10,204 attributes. A product is an
event with the attributes it has; what somebody wants is a conjunction over some of them.
"""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tamis.errors import TamisError
from tamis.expression import Attribute, Expression, all_of, attr
from tamis.spark.columns import id_type, named, require
from tamis.spark.ingest.conversion import BadRow, Row, convert
from tamis.spark.ingest.duplicates import Duplicates, copies
from tamis.spark.ingest.event_columns import EventColumn
from tamis.spark.ingest.ingested import Ingested
from tamis.spark.ingest.rules import accepted
from tamis.spark.ingest.styles import draw
from tamis.spark.ingest.values import attributes


@dataclass(frozen=True)
class Relative:
    """A tolerance that grows with the value: ``Relative(0.1)`` is ten percent to either side."""

    share: float


Tolerance: TypeAlias = int | float | datetime.timedelta | Relative
Layout: TypeAlias = Literal["columns", "json"]


def table(
    rows: DataFrame,
    id_col: str,
    *,
    columns: Sequence[str] | None = None,
    tolerance: Mapping[str, Tolerance] | None = None,
    at_most: int | None = None,
    seed: int = 0,
) -> Ingested:
    """Make a subscription of each row: what it has must be there.

    A value asks for equality, or for a range around it where there is a tolerance; a list for each of its
    elements. Structs and maps reach into events by dotted path. Bad are rows that have nothing, or a value
    that cannot be asked for, whose id is null, and all rows that share an id.

    Args:
        rows: A row for each wish.
        id_col: The column of ids, strings or integers.
        columns: The columns to take; by default all but the ids.
        tolerance: How far a value may be from the one asked for, by attribute.
        at_most: How many attributes a rule may ask for. Of a row that has more, common attributes are the
            more likely to stay: each is drawn with the logarithm of its frequency as its weight, as in the
            OpIndex paper. To learn the frequencies, the table is read when this function is called.
        seed: What the draw depends on, besides id and attribute.
    """
    taken = _columns(rows, id_col, columns)
    if at_most is not None and at_most < 1:
        raise ValueError(f"at_most is {at_most}; a rule asks for at least 1 attribute")
    weights = {} if at_most is None else _weights(rows, taken)
    maker = RowRule(tuple(taken), dict(tolerance or {}), at_most, seed, weights)
    return convert(rows, maker, id_col=id_col, columns=taken, result="expression")


def table_events(
    rows: DataFrame,
    id_col: str,
    *,
    columns: Sequence[str] | None = None,
    layout: Layout = "columns",
    duplicates: Duplicates = "bad",
) -> Ingested:
    """Make an event of each row, with the attributes that are not null.

    Decimals become numbers as matching knows them: integers of 64 bits if they have no fraction and fit,
    else floats. Bad are rows with text that is not UTF-8, whose id is null, and all rows that share an id;
    and with ``layout="json"`` rows with an infinite number, for which JSON has none.

    Args:
        rows: A row for each event.
        id_col: The column of ids, strings or integers.
        columns: The columns to take; by default all but the ids.
        layout: ``"columns"`` keeps a column for each attribute, and dates and times as they are. ``"json"``
            makes one column ``event``, which is smaller and faster for tables with many columns.
        duplicates: ``"keep"`` does not look for shared ids, which saves a shuffle and works on streams.

    Raises:
        ValueError: A column is of a type that the layout cannot hold.
    """
    taken = _columns(rows, id_col, columns)
    kind = id_type(rows, id_col)
    if layout not in ("columns", "json"):
        raise ValueError(f"layout is {layout!r}; it takes 'columns' or 'json'")
    if layout == "columns" and "event_id" in taken:
        raise ValueError("a column is named 'event_id', as the ids of events will be; rename it")
    parts = [EventColumn(name, rows.schema[name].dataType, layout) for name in taken]
    counted = rows.withColumn("tamis copies", copies(id_col, duplicates))
    id, count = named(id_col).cast(kind), F.col("tamis copies")
    shared = F.concat(count.cast("string"), F.lit(" rows have this id; an id may be there once"))
    faults = [fault for part in parts for fault in part.faults()]
    faults += [
        F.when(id.isNull(), _fault(id_col, F.lit("the id is null"))),
        F.when(count > 1, _fault(id_col, shared)),
    ]
    whole = F.struct(*(part.value() for part in parts)) if parts else F.struct(F.lit(None).alias("none"))
    shown = F.to_json(F.struct(*(named(name) for name in taken))) if parts else F.lit("{}")
    fault = F.coalesce(*faults)
    checked = counted.select(id.alias("id"), whole.alias("whole"), fault.alias("fault"), shown.alias("row"))
    kept = checked.where("fault IS NULL")
    given = F.to_json("whole").alias("event") if layout == "json" else F.col("whole.*")
    good = kept.select(F.col("id").alias("event_id"), given)
    bad = checked.where("fault IS NOT NULL").select(
        F.col("id").cast("string"), "fault.column", "fault.reason", F.make_valid_utf8("row").alias("row")
    )
    return Ingested(good, bad, checked)


def _columns(rows: DataFrame, id_col: str, columns: Sequence[str] | None) -> list[str]:
    if isinstance(columns, str):
        raise ValueError(f"columns is the text {columns!r}; it takes a sequence of names")
    taken = [name for name in rows.columns if name != id_col] if columns is None else list(columns)
    require(rows, [id_col, *taken])
    return taken


def _fault(column: str, reason: Any) -> Any:
    return F.struct(F.lit(column).alias("column"), reason.alias("reason"))


def _weights(rows: DataFrame, columns: Sequence[str]) -> dict[str, float]:
    """Learn how often each attribute is there; as many figures as there are attributes."""
    given = rows.select(F.struct(*(named(name) for name in columns)).alias("row"))
    counted = given.mapInArrow(count_attributes, "attribute string, rows bigint")
    totals = counted.groupBy("attribute").agg(F.sum("rows").alias("rows")).collect()
    # One more than the frequency: an attribute seen once would have the weight zero.
    return {row["attribute"]: math.log(1 + row["rows"]) for row in totals}


def count_attributes(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Count the rows of each batch that have an attribute."""
    for batch in batches:
        counts = Counter(name for row in _readable(batch.column(0)) for name, _ in _held(row))
        columns = [pa.array(counts.keys(), pa.string()), pa.array(counts.values(), pa.int64())]
        yield pa.RecordBatch.from_arrays(columns, names=["attribute", "rows"])


def _readable(rows: pa.Array) -> Iterator[Row]:
    """Give the rows; those with text that is not UTF-8 will be bad, so they do not count."""
    for row in rows:
        with suppress(UnicodeDecodeError):
            yield row.as_py()


def _held(row: Row) -> Iterator[tuple[str, Any]]:
    for column, cell in row.items():
        yield from attributes(column, cell)


@dataclass(frozen=True)
class RowRule:
    """Makes a conjunction of what a row has."""

    columns: tuple[str, ...]
    tolerance: Mapping[str, Tolerance]
    at_most: int | None
    seed: int
    weights: Mapping[str, float]

    def __call__(self, id: Any, row: Row) -> str:
        """Join a predicate for each attribute, in the order of the columns."""
        held = dict(_held(row))
        if self.at_most is not None and len(held) > self.at_most:
            chosen = sorted(held, key=lambda name: self._lot(id, name))[: self.at_most]
            held = {name: value for name, value in held.items() if name in set(chosen)}
        predicates = [one for name, value in held.items() for one in self._predicates(name, value)]
        if not predicates:
            raise BadRow("", "all columns are null: the rule would match every event")
        return accepted(all_of(*predicates), self.columns[0])

    def _lot(self, id: Any, name: str) -> float:
        """Draw the time until an attribute comes; with rate w it is among the first with weight w."""
        weight = self.weights.get(name, math.log(2))
        return -math.log(1 - draw(self.seed, id, name)) / weight

    def _predicates(self, name: str, value: Any) -> list[Expression]:
        try:
            if isinstance(value, list):
                return [self._predicate(attr(name).any(), name, one) for one in value]
            return [self._predicate(attr(name), name, value)]
        except (TamisError, OverflowError) as error:
            raise BadRow(name, str(error)) from error

    def _predicate(self, attribute: Attribute, name: str, value: Any) -> Expression:
        tolerance = self.tolerance.get(name)
        if tolerance is None:
            equal: Expression = attribute == value
            return equal
        margin: Any = abs(value) * tolerance.share if isinstance(tolerance, Relative) else tolerance
        try:
            low, high = value - margin, value + margin
        except TypeError as error:
            found = f"the tolerance {tolerance} does not fit a value of type {type(value).__name__}"
            raise BadRow(name, found) from error
        return attribute.between(low, high)
