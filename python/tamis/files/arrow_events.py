"""Events as tables, CSV or Parquet, read with pyarrow and matched without leaving Arrow.

CSV has no types, so pyarrow infers one per column from the whole file: integers, floats,
booleans (``true``/``false``), ISO dates, ISO timestamps, else strings. An empty cell, quoted or
not, is a missing value in every column, also in one of strings; no other text stands for a
missing value (``NA`` may be a country). Times of day are no values of the language and stay text.
Integers beyond 64 bits are read as floats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tamis.files.errors import InputError
from tamis.files.paths import value_at
from tamis.files.rule import Report, stop_at_first

if TYPE_CHECKING:
    import pyarrow as pa

    from tamis.index import Index

_ROWS_PER_CHUNK = 16_384


class ArrowEvents:
    """Some rows of a table, one event each."""

    def __init__(self, batch: pa.RecordBatch, numbers: Sequence[int]) -> None:
        self._batch = batch
        self.numbers = numbers

    @property
    def size(self) -> int:
        """Count the rows, the unit of progress through a table."""
        return len(self.numbers)

    def __len__(self) -> int:
        """Count the events."""
        return len(self.numbers)

    def part(self, start: int, stop: int) -> ArrowEvents:
        """Give the rows from ``start`` up to ``stop``, counted from 0."""
        return ArrowEvents(self._batch.slice(start, stop - start), self.numbers[start:stop])

    def match(self, index: Index, threads: int | None) -> Sequence[Sequence[str | int]]:
        """Match the rows: one list of ids per row, in insertion order."""
        pairs = index.match_arrow(self._batch, threads=threads, ordered=True)
        answers: list[list[str | int]] = [[] for _ in self.numbers]
        for row, id in zip(pairs["event"].to_pylist(), pairs["id"].to_pylist(), strict=True):
            answers[row].append(id)
        return answers

    def mappings(self) -> list[Mapping[str, object]]:
        """Give the rows as dicts; timestamps are rounded down to microseconds, as Python has."""
        rows: list[Mapping[str, object]] = _to_microseconds(self._batch).to_pylist()
        return rows

    def values(self, path: str) -> list[object]:
        """Give each row's value at a dotted path, None where it has none."""
        names: list[str] = self._batch.schema.names
        holders = [name for name in names if path == name or path.startswith(f"{name}.")]
        rows = ArrowEvents(self._batch.select(holders), self.numbers).mappings()
        return [value_at(row, path) for row in rows] if holders else [None] * len(self)


def _to_microseconds(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Turn columns of nanoseconds, which Python's datetime cannot hold, into microseconds."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for at, field in enumerate(batch.schema):
        if pa.types.is_timestamp(field.type) and field.type.unit == "ns":
            whole = pc.floor_temporal(batch.column(at), unit="microsecond")
            column = whole.cast(pa.timestamp("us", field.type.tz))
            batch = batch.set_column(at, field.name, column)
    return batch


class ParquetSource:
    """The rows of a Parquet file, read batch by batch."""

    def __init__(self, path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._path = path
        try:
            self._file = pq.ParquetFile(path)
        except pa.ArrowException as error:
            raise InputError(str(path), f"not Parquet: {error}") from error
        self.total: int = self._file.metadata.num_rows

    def chunks(self) -> Iterator[ArrowEvents]:
        """Read the rows in the file's order."""
        import pyarrow as pa

        first = 1
        try:
            for batch in self._file.iter_batches(batch_size=_ROWS_PER_CHUNK):
                yield ArrowEvents(batch, range(first, first + batch.num_rows))
                first += batch.num_rows
        except pa.ArrowException as error:
            raise InputError(str(self._path), f"not Parquet: {error}") from error

    def place(self, number: int) -> str:
        """Name the place of an event: the row."""
        return f"{self._path}: row {number}"


class CsvSource:
    """The rows of a CSV file, read at once since a type holds for the whole column."""

    def __init__(self, path: Path, report: Report = stop_at_first) -> None:
        import pyarrow as pa

        self._path = path
        data = pa.py_buffer(path.read_bytes())
        bad_rows: list[int] = []
        try:
            self._table = _read_csv(data)
        except pa.ArrowInvalid:
            self._table, bad_rows = self._read_around_bad_rows(data, report)
        self.total: int = self._table.num_rows
        self._numbers = _numbers_without(bad_rows, self.total)

    def chunks(self) -> Iterator[ArrowEvents]:
        """Give the rows in the file's order."""
        at = 0
        for batch in self._table.to_batches(max_chunksize=_ROWS_PER_CHUNK):
            yield ArrowEvents(batch, self._numbers[at : at + batch.num_rows])
            at += batch.num_rows

    def place(self, number: int) -> str:
        """Name the place of an event: the row, not counting the header."""
        return f"{self._path}: row {number}"

    def _read_around_bad_rows(self, data: pa.Buffer, report: Report) -> tuple[pa.Table, list[int]]:
        import pyarrow as pa

        bad_rows: list[pa.csv.InvalidRow] = []

        def leave_out(row: pa.csv.InvalidRow) -> str:
            bad_rows.append(row)
            return "skip"

        try:
            table = _read_csv(data, leave_out)
        except pa.ArrowInvalid as error:
            raise InputError(str(self._path), f"not CSV: {error}") from error
        # pyarrow counts the header as row 1.
        for row in bad_rows:
            message = f"expected {row.expected_columns} cells, found {row.actual_columns}"
            report(InputError(self.place(row.number - 1), message))
        return table, [row.number - 1 for row in bad_rows]


def _read_csv(data: pa.Buffer, leave_out: Callable[[pa.csv.InvalidRow], str] | None = None) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv

    def read(types: Mapping[str, pa.DataType]) -> pa.Table:
        return csv.read_csv(
            pa.BufferReader(data),
            # Rows know their numbers only when one thread reads them.
            csv.ReadOptions(use_threads=leave_out is None),
            csv.ParseOptions(newlines_in_values=True, invalid_row_handler=leave_out),
            csv.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=True),
        )

    table = read({})
    times = {field.name: pa.string() for field in table.schema if pa.types.is_time(field.type)}
    return read(times) if times else table


def _numbers_without(bad_rows: list[int], count: int) -> Sequence[int]:
    """Number ``count`` good rows as they stand in the file, where bad rows count too."""
    if not bad_rows:
        return range(1, count + 1)
    bad = set(bad_rows)
    return [number for number in range(1, count + len(bad) + 1) if number not in bad]
