"""Converts rows to expressions or events in workers; a row that cannot be converted gets a reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tamis.spark.columns import arrow_id_type, exact_column, id_type, require_columns
from tamis.spark.ingest.duplicates import Duplicates, id_count
from tamis.spark.ingest.ingested import Ingested
from tamis.spark.store.manifest import IdType

RowValues: TypeAlias = Mapping[str, Any]
RowConverter: TypeAlias = Callable[[Any, RowValues], str]
"""Converts an id and a row to the text of an expression or an event, or raises `BadRow`."""
Result: TypeAlias = Literal["expression", "event"]


class BadRow(Exception):
    """A row that cannot be converted; the worker catches it and emits the row with the reason."""

    def __init__(self, column: str, reason: str) -> None:
        """Name the column at fault and the reason."""
        super().__init__(reason)
        self.column, self.reason = column, reason


def convert(
    rows: DataFrame,
    converter: RowConverter,
    *,
    id_col: str,
    columns: Sequence[str],
    result: Result,
    duplicates: Duplicates = "bad",
) -> Ingested:
    """Convert each row to an expression or an event, in the workers.

    Args:
        rows: The input.
        converter: Converts one row. It is pickled, so it should be a small dataclass of an importable module.
        id_col: The column of ids.
        columns: The columns that the converter reads; no others are sent to workers.
        result: What a row becomes, and the name of its column.
        duplicates: Whether rows with the same id are bad.
    """
    kind = id_type(rows, id_col)
    require_columns(rows, columns)
    name = "id" if result == "expression" else "event_id"
    # One struct for the row, so that its column names cannot clash with `id` and `copies`.
    sent = rows.select(
        exact_column(id_col).cast(kind).alias("id"),
        id_count(id_col, duplicates).alias("copies"),
        F.struct(*(exact_column(column) for column in columns)).alias("row"),
    )
    task = Conversion(converter, kind, id_col)
    schema = f"id {kind}, result string, column string, reason string, row string"
    checked = sent.mapInArrow(task.run, schema)
    good = checked.where("reason IS NULL").select(F.col("id").alias(name), F.col("result").alias(result))
    bad = checked.where("reason IS NOT NULL").select(F.col("id").cast("string"), "column", "reason", "row")
    return Ingested(good, bad, checked)


@dataclass(frozen=True)
class Conversion:
    """The task. Batches have the columns ``id``, ``copies`` and ``row``."""

    converter: RowConverter
    kind: IdType
    id_col: str

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Convert batch by batch; the number of rows stays the same."""
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

    def _convert(self, id: Any, copies: int, row: RowValues, fault: BadRow | None) -> tuple[Any, ...]:
        try:
            if fault:
                raise fault
            result = self.converter(id, row)
            if id is None:
                raise BadRow(self.id_col, "the id is null")
            if copies > 1:
                raise BadRow(self.id_col, f"{copies} rows have this id; ids must be unique")
        except BadRow as bad:
            return id, None, bad.column, bad.reason, json.dumps(row, ensure_ascii=False, default=str)
        return id, result, None, None, None


def _readable_rows(
    batch: pa.RecordBatch, id_col: str
) -> Iterator[tuple[Any, int, dict[str, Any], BadRow | None]]:
    """Return the rows as Python values, with an error for rows whose text is not UTF-8.

    A Spark string may hold any bytes; Arrow's bulk conversion fails for the whole batch, so a batch with such
    a row is converted value by value.
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
    """Decode text that is not UTF-8, with replacement characters."""
    if pa.types.is_string(scalar.type) or pa.types.is_large_string(scalar.type):
        return str(scalar.as_buffer().to_pybytes(), "utf-8", "replace")
    return f"a value of type {scalar.type} with text that is not UTF-8"
