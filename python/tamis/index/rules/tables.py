"""Rules as callers have them: mappings, pairs, records, frames, Arrow data."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from tamis.expression import Expression
from tamis.index.arguments import is_arrow
from tamis.index.arrow_data import checked
from tamis.results import Id

ID_COLUMN = "id"
EXPRESSION_COLUMN = "expression"

Rule: TypeAlias = str | Expression
Columns: TypeAlias = tuple[Sequence[Id], Sequence[Rule]]


def side_by_side(ids: Any, expressions: Iterable[Rule] | None, columns: tuple[str, str]) -> Columns:
    """Give ids and expressions as two lists of equal length.

    Raises:
        TypeError: A row is neither a pair nor a mapping, or the expressions are one text.
        KeyError: A mapping lacks a column.
        ValueError: The numbers of ids and expressions differ.
    """
    if expressions is None:
        return _rows(ids, columns)
    if isinstance(expressions, str):
        raise TypeError("expressions is one str, not many; use add() for a single expression")
    id_list, expression_list = list(ids), list(expressions)
    if len(id_list) != len(expression_list):
        raise ValueError(f"{len(id_list)} ids, but {len(expression_list)} expressions")
    return id_list, expression_list


def _rows(rows: Any, columns: tuple[str, str]) -> Columns:
    if is_arrow(rows):
        import pyarrow as pa

        table = pa.table(repeatable(rows))
        _require(table.column_names, columns)
        return table[columns[0]].to_pylist(), table[columns[1]].to_pylist()
    if _is_frame(rows):
        # Of pandas without pyarrow; a frame with it exports Arrow data.
        _require([*rows.columns], columns)
        return rows[columns[0]].tolist(), rows[columns[1]].tolist()
    pairs = list(rows.items() if isinstance(rows, Mapping) else rows)
    ids: list[Id] = []
    expressions: list[Rule] = []
    for row, pair in enumerate(pairs):
        if isinstance(pair, Mapping):
            missing = [column for column in columns if column not in pair]
            if missing:
                raise KeyError(_no_column(missing[0], [*pair], f"row {row}"))
            pair = (pair[columns[0]], pair[columns[1]])
        elif not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(f"row {row}: a rule is a pair of id and expression, or a mapping, not {pair!r}")
        ids.append(pair[0])
        expressions.append(pair[1])
    return ids, expressions


def _is_frame(rows: Any) -> bool:
    return type(rows).__name__ == "DataFrame" and hasattr(rows, "columns")


def _require(found: list[str], columns: tuple[str, str]) -> None:
    for column in columns:
        if column not in found:
            raise KeyError(_no_column(column, found, "the table"))


def _no_column(column: str, found: list[str], place: str) -> str:
    names = ", ".join(repr(name) for name in found) or "none"
    return f"{place} has no column {column!r} but {names}; name yours with id_column= and expression_column="


def repeatable(data: Any) -> Any:
    """Give Arrow data that can be read more than once."""
    # Data of pyarrow exists only where pyarrow is loaded.
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(data, arrow.RecordBatchReader):
        return checked(data).read_all()
    return data


def arrow_ids(data: Any, column: str) -> list[Id]:
    """Give the ids of Arrow data."""
    import pyarrow as pa

    return pa.table(data).column(column).to_pylist()  # type: ignore[no-any-return]
