"""Rules as tables, CSV or Parquet, with the columns ``expression`` and, if wanted, ``id``.

Without an ``id`` column a rule's id is the number of its row, from 1. Other columns are ignored.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from tamis.files.errors import InputError
from tamis.files.rule import Report, Rule, ids_from_text

# The csv module refuses cells beyond 128 KiB; an expression may be longer.
_LONGEST_CELL = 16 * 1024 * 1024


def read_csv(data: bytes, path: Path, report: Report) -> Iterator[Rule]:
    """Read comma-separated rules; the first line names the columns.

    Python's csv module reads them, since it knows the line of each row, also when cells span
    lines. Ids are integers when all of them are written as integers.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}:{line}", "the file is not valid UTF-8") from error
    records = _csv_records(text, path)
    _, header = next(records, (1, []))
    _require_expression(header, path)
    at_expression = header.index("expression")
    at_id = header.index("id") if "id" in header else None

    ids: list[str] = []
    rules: list[tuple[str, int]] = []
    for row, (line, record) in enumerate(records, start=1):
        if len(record) != len(header):
            message = f"expected {len(header)} cells, found {len(record)}"
            report(InputError(f"{path}:{line}", message))
            continue
        id = str(row) if at_id is None else record[at_id].strip()
        if not id:
            report(InputError(f"{path}:{line}", "the id is missing"))
            continue
        ids.append(id)
        rules.append((record[at_expression], line))
    for typed, (expression, line) in zip(ids_from_text(ids), rules, strict=True):
        yield Rule(typed, expression, line)


def _csv_records(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Give the records that are not blank, each with the line where it starts."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        line = 1
        for record in reader:
            if record:
                yield line, record
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path}:{reader.line_num}", f"not CSV: {error}") from error
    finally:
        csv.field_size_limit(before)


def read_parquet(data: bytes, path: Path, report: Report) -> Iterator[Rule]:
    """Read rules from a Parquet file; ids are integers or strings, as the column is."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        names: list[str] = file.schema_arrow.names
        _require_expression(names, path)
        table = file.read(columns=[name for name in ("id", "expression") if name in names])
    except pa.ArrowException as error:
        raise InputError(str(path), f"not Parquet: {error}") from error
    expressions: list[object] = table["expression"].to_pylist()
    ids: list[object] = table["id"].to_pylist() if "id" in names else list(range(1, len(expressions) + 1))
    for row, (id, expression) in enumerate(zip(ids, expressions, strict=True), start=1):
        if isinstance(id, bool) or not isinstance(id, str | int):
            found = "nothing" if id is None else repr(id)
            message = f"the id must be a string or an integer, found {found}"
            report(InputError(f"{path}: row {row}", message))
        elif not isinstance(expression, str):
            found = "nothing" if expression is None else repr(expression)
            message = f"the expression must be a string, found {found}"
            report(InputError(f"{path}: row {row}", message))
        else:
            yield Rule(id, expression, row)


def _require_expression(columns: list[str], path: Path) -> None:
    if "expression" not in columns:
        found = ", ".join(columns) or "none"
        message = f'expected a column named "expression", found the columns: {found}'
        raise InputError(str(path), message)
