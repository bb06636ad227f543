"""How a row becomes an expression or an event in a worker, or a bad row with a reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tamis.spark.columns import arrow_id_type, id_type, named, require
from tamis.spark.ingest.duplicates import Duplicates, copies
from tamis.spark.ingest.ingested import Ingested
from tamis.spark.manifest import IdType

Row: TypeAlias = Mapping[str, Any]
Maker: TypeAlias = Callable[[Any, Row], str]
"""Makes the text of an expression or an event of an id and a row, or raises `BadRow`."""
Result: TypeAlias = Literal["expression", "event"]


class BadRow(Exception):
    """A row that gives nothing; caught in the worker that met it."""

    def __init__(self, column: str, reason: str) -> None:
        """Name the column to blame, and why."""
        super().__init__(reason)
        self.column, self.reason = column, reason


def convert(
    rows: DataFrame,
    maker: Maker,
    *,
    id_col: str,
    columns: Sequence[str],
    result: Result,
    duplicates: Duplicates = "bad",
) -> Ingested:
    """Make an expression or an event of each row, in the workers.

    Args:
        rows: The input.
        maker: What makes it; pickled, so it is a small frozen dataclass of an importable module.
        id_col: The column of ids.
        columns: The columns the maker reads; no others travel to the workers.
        result: What is made, and the name of its column.
        duplicates: Whether rows that share an id are bad.
    """
    kind = id_type(rows, id_col)
    require(rows, columns)
    name = "id" if result == "expression" else "event_id"
    # One struct for the row, so that no name of a column can clash with ours.
    given = rows.select(
        named(id_col).cast(kind).alias("id"),
        copies(id_col, duplicates).alias("copies"),
        F.struct(*(named(column) for column in columns)).alias("row"),
    )
    work = Conversion(maker, kind, id_col)
    schema = f"id {kind}, result string, column string, reason string, row string"
    checked = given.mapInArrow(work.run, schema)
    good = checked.where("reason IS NULL").select(F.col("id").alias(name), F.col("result").alias(result))
    bad = checked.where("reason IS NOT NULL").select(F.col("id").cast("string"), "column", "reason", "row")
    return Ingested(good, bad, checked)


@dataclass(frozen=True)
class Conversion:
    """The work on Arrow batches with the columns ``id``, ``copies`` and ``row``."""

    maker: Maker
    kind: IdType
    id_col: str

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Convert batch by batch; each gives one of as many rows."""
        schema = pa.schema(
            {
                "id": arrow_id_type(self.kind),
                "result": pa.string(),
                "column": pa.string(),
                "reason": pa.string(),
                "row": pa.string(),
            }
        )
        for batch in batches:
            converted = [self._convert(*row) for row in _readable_rows(batch, self.id_col)]
            columns = zip(*converted, strict=True) if converted else [()] * len(schema)
            arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _convert(self, id: Any, copies: int, row: Row, fault: BadRow | None) -> tuple[Any, ...]:
        try:
            if fault:
                raise fault
            result = self.maker(id, row)
            if id is None:
                raise BadRow(self.id_col, "the id is null")
            if copies > 1:
                raise BadRow(self.id_col, f"{copies} rows have this id; an id may be there once")
        except BadRow as bad:
            return id, None, bad.column, bad.reason, json.dumps(row, ensure_ascii=False, default=str)
        return id, result, None, None, None


def _readable_rows(
    batch: pa.RecordBatch, id_col: str
) -> Iterator[tuple[Any, int, dict[str, Any], BadRow | None]]:
    """Give the rows as Python values, with the fault of those whose text is not UTF-8.

    Spark lets any bytes pass as a string; Arrow's bulk conversion would fail for the whole batch.
    """
    ids, copies, rows = (batch.column(name) for name in ("id", "copies", "row"))
    try:
        yield from (
            (*row, None) for row in zip(ids.to_pylist(), copies.to_pylist(), rows.to_pylist(), strict=True)
        )
        return
    except UnicodeDecodeError:
        pass
    for id, count, row in zip(ids, copies, rows, strict=True):
        values, faults = {}, []
        for name, scalar in [(id_col, id), *row.items()]:
            try:
                values[name] = scalar.as_py()
            except UnicodeDecodeError:
                values[name] = _readable(scalar)
                faults.append(BadRow(name, "the text is not valid UTF-8"))
        shown = {name: values[name] for name in row}
        yield values[id_col] if id.is_valid else None, count.as_py(), shown, faults[0] if faults else None


def _readable(scalar: pa.Scalar) -> str:
    """Show what can be read of text that is not UTF-8."""
    if pa.types.is_string(scalar.type) or pa.types.is_large_string(scalar.type):
        return str(scalar.as_buffer().to_pybytes(), "utf-8", "replace")
    return f"a value of type {scalar.type} with text that is not UTF-8"
