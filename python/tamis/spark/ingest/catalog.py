"""Converts sparse catalogs, wide tables whose rows fill few columns, to rules or events.

The OpIndex paper (PVLDB 2014, section 7) crawled 296,846 products with 10,204 attributes. A product is an
event with the attributes it has; a wish is a conjunction over some of them.
"""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tamis import Attribute, Expression, TamisError, all_of, attr
from tamis.spark.columns import exact_column, id_type, require_columns
from tamis.spark.ingest.conversion import BadRow, RowValues, convert
from tamis.spark.ingest.duplicates import Duplicates, id_count
from tamis.spark.ingest.event_columns import EventColumn, EventTableLayout
from tamis.spark.ingest.ingested import Ingested
from tamis.spark.ingest.rules import checked_text
from tamis.spark.ingest.styles import draw
from tamis.spark.ingest.values import attributes


@dataclass(frozen=True)
class Relative:
    """A tolerance proportional to the value: ``Relative(0.1)`` is 10% to either side."""

    share: float


Tolerance: TypeAlias = int | float | datetime.timedelta | Relative


def table(
    rows: DataFrame,
    id_col: str,
    *,
    columns: Sequence[str] | None = None,
    tolerance: Mapping[str, Tolerance] | None = None,
    at_most: int | None = None,
    seed: int = 0,
) -> Ingested:
    """Make a rule of each row: an event must have all values of the row.

    A value becomes an equality, or a range around it if its attribute has a tolerance; a list becomes one
    predicate per element. Fields of structs and maps have dotted names. A row is bad if all its columns are
    null, if a value cannot be a literal, if its id is null, or if another row has the same id.

    Args:
        rows: One row per wish.
        id_col: The column of ids, strings or integers.
        columns: The columns to use; by default all but the ids.
        tolerance: The accepted distance from the row's value, by attribute.
        at_most: The maximum number of attributes of a rule. From a row with more, attributes are drawn with
            the logarithm of their frequency as weight, as in the OpIndex paper. The call itself then reads
            the table, to count the frequencies.
        seed: The seed of the draws, which also depend on the id and the attribute.
    """
    used = _used_columns(rows, id_col, columns)
    if at_most is not None and at_most < 1:
        raise ValueError(f"at_most is {at_most}; accepted is at least 1 attribute")
    weights = {} if at_most is None else _attribute_weights(rows, used)
    converter = RowRule(tuple(used), dict(tolerance or {}), at_most, seed, weights)
    return convert(rows, converter, id_col=id_col, columns=used, result="expression")


def table_events(
    rows: DataFrame,
    id_col: str,
    *,
    columns: Sequence[str] | None = None,
    layout: EventTableLayout = "columns",
    duplicates: Duplicates = "bad",
) -> Ingested:
    """Make an event of each row, with the columns that are not null as attributes.

    Decimals become 64-bit integers if they have no fraction and fit, otherwise floats. A row is bad if a text
    is not UTF-8, if its id is null, or if another row has the same id; with ``layout="json"`` also if a
    number is infinite, which JSON cannot represent.

    Args:
        rows: One row per event.
        id_col: The column of ids, strings or integers.
        columns: The columns to use; by default all but the ids.
        layout: ``"columns"`` keeps one column per attribute, and dates and times unchanged. ``"json"`` makes
            one column ``event``, which is smaller and faster for tables with many columns.
        duplicates: ``"keep"`` does not check for repeated ids, which saves a shuffle and works on streams.

    Raises:
        ValueError: A column has a type that the layout cannot hold.
    """
    used = _used_columns(rows, id_col, columns)
    kind = id_type(rows, id_col)
    if layout not in ("columns", "json"):
        raise ValueError(f"layout is {layout!r}; accepted is 'columns' or 'json'")
    if layout == "columns" and "event_id" in used:
        raise ValueError(
            "a column is named 'event_id', which is the name of the id column of events; rename it"
        )
    parts = [EventColumn(name, rows.schema[name].dataType, layout) for name in used]
    counted = rows.withColumn("tamis copies", id_count(id_col, duplicates))
    id, count = exact_column(id_col).cast(kind), F.col("tamis copies")
    repeated = F.concat(count.cast("string"), F.lit(" rows have this id; ids must be unique"))
    errors = [error for part in parts for error in part.errors()]
    errors += [
        F.when(id.isNull(), _row_error(id_col, F.lit("the id is null"))),
        F.when(count > 1, _row_error(id_col, repeated)),
    ]
    event = F.struct(*(part.value() for part in parts)) if parts else F.struct(F.lit(None).alias("none"))
    shown = F.to_json(F.struct(*(exact_column(name) for name in used))) if parts else F.lit("{}")
    error = F.coalesce(*errors)
    checked = counted.select(id.alias("id"), event.alias("event"), error.alias("error"), shown.alias("row"))
    valid = checked.where("error IS NULL")
    attributes_or_json = F.to_json("event").alias("event") if layout == "json" else F.col("event.*")
    good = valid.select(F.col("id").alias("event_id"), attributes_or_json)
    bad = checked.where("error IS NOT NULL").select(
        F.col("id").cast("string"), "error.column", "error.reason", F.make_valid_utf8("row").alias("row")
    )
    return Ingested(good, bad, checked)


def _used_columns(rows: DataFrame, id_col: str, columns: Sequence[str] | None) -> list[str]:
    if isinstance(columns, str):
        raise ValueError(f"columns is the string {columns!r}; accepted is a sequence of names")
    used = [name for name in rows.columns if name != id_col] if columns is None else list(columns)
    require_columns(rows, [id_col, *used])
    return used


def _row_error(column: str, reason: Any) -> Any:
    return F.struct(F.lit(column).alias("column"), reason.alias("reason"))


def _attribute_weights(rows: DataFrame, columns: Sequence[str]) -> dict[str, float]:
    """Return the logarithm of each attribute's frequency."""
    structs = rows.select(F.struct(*(exact_column(name) for name in columns)).alias("row"))
    counted = structs.mapInArrow(count_attributes, "attribute string, rows bigint")
    totals = counted.groupBy("attribute").agg(F.sum("rows").alias("rows")).collect()
    # Plus one: otherwise an attribute of a single row would have the weight 0.
    return {row["attribute"]: math.log(1 + row["rows"]) for row in totals}


def count_attributes(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Count, for each attribute, the rows of a batch that have it."""
    for batch in batches:
        counts = Counter(name for row in _readable(batch.column(0)) for name, _ in _row_attributes(row))
        columns = [pa.array(counts.keys(), pa.string()), pa.array(counts.values(), pa.int64())]
        yield pa.RecordBatch.from_arrays(columns, names=["attribute", "rows"])


def _readable(rows: pa.Array) -> Iterator[RowValues]:
    """Return the rows whose text is UTF-8; the others are bad and do not count."""
    for row in rows:
        with suppress(UnicodeDecodeError):
            yield row.as_py()


def _row_attributes(row: RowValues) -> Iterator[tuple[str, Any]]:
    for column, cell in row.items():
        yield from attributes(column, cell)


@dataclass(frozen=True)
class RowRule:
    """Converts a row to a conjunction of its values."""

    columns: tuple[str, ...]
    tolerance: Mapping[str, Tolerance]
    at_most: int | None
    seed: int
    weights: Mapping[str, float]

    def __call__(self, id: Any, row: RowValues) -> str:
        """Conjoin the predicates of all attributes, in the order of the columns."""
        values = dict(_row_attributes(row))
        if self.at_most is not None and len(values) > self.at_most:
            chosen = set(sorted(values, key=lambda name: self._arrival(id, name))[: self.at_most])
            values = {name: value for name, value in values.items() if name in chosen}
        predicates = [one for name, value in values.items() for one in self._predicates(name, value)]
        if not predicates:
            raise BadRow("", "all columns are null: the rule would match every event")
        return checked_text(all_of(*predicates), self.columns[0])

    def _arrival(self, id: Any, name: str) -> float:
        """Draw an exponential arrival time; the first arrivals are a draw without replacement by weight."""
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
