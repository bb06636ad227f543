"""The same trees as conditions of SQLite and DuckDB, and a table of rows in each.

A renderer gives every condition fully parenthesized, so the oracle's precedence plays no part. In the closed
world each predicate is wrapped in coalesce(..., false), with the NOT of negated spellings outside of it.
"""

from __future__ import annotations

import datetime
import functools
import math
import re
import sqlite3
from collections.abc import Sequence
from typing import Any, Protocol

import duckdb
import pyarrow as pa
from tests.semantics.generator import Row
from tests.semantics.tree import (
    COLUMNS,
    Between,
    Column,
    Compare,
    Constant,
    Flag,
    Function,
    In,
    IsNull,
    Join,
    Kind,
    Not,
    Pattern,
    Predicate,
    Tree,
    Value,
)

Truth = bool | None


class Dialect(Protocol):
    """The syntax that differs between the two databases."""

    def literal(self, column: Column, value: Value) -> str: ...
    def pattern(self, column: Column, word: str, pattern: str) -> str: ...
    def function(self, name: str, column: Column, argument: str) -> str: ...


def condition(tree: Tree, dialect: Dialect, closed_world: bool) -> str:
    match tree:
        case Constant(value):
            return "TRUE" if value else "FALSE"
        case Not(operand):
            return f"(NOT {condition(operand, dialect, closed_world)})"
        case Join(connective, operands):
            # Truth values compare as values do, and a comparison with NULL is NULL: Kleene's XOR.
            sql = {"XOR": "<>", "XNOR": "="}.get(connective, connective)
            return "(" + f" {sql} ".join(condition(o, dialect, closed_world) for o in operands) + ")"
        case IsNull(column, negated):
            return f"({column.quoted} IS {'NOT ' if negated else ''}NULL)"
        case _:
            positive, negated = _positive(tree, dialect)
            if closed_world:
                positive = f"coalesce({positive}, FALSE)"
            return f"(NOT {positive})" if negated else f"({positive})"


def _positive(tree: Predicate, dialect: Dialect) -> tuple[str, bool]:
    """A predicate without the NOT in its spelling, and whether there was one."""
    match tree:
        case Flag(column):
            return column.quoted, False
        case Compare(column, symbol, value):
            negated = symbol in ("!=", "<>")
            return f"{column.quoted} {'=' if negated else symbol} {dialect.literal(column, value)}", negated
        case Between(column, negated, low, high):
            bounds = f"{dialect.literal(column, low)} AND {dialect.literal(column, high)}"
            return f"{column.quoted} BETWEEN {bounds}", negated
        case In(column, negated, values):
            members = ", ".join(dialect.literal(column, value) for value in values)
            return f"{column.quoted} IN ({members})", negated
        case Pattern(column, negated, word, pattern):
            return dialect.pattern(column, word, pattern), negated
        case Function(name, column, argument):
            return dialect.function(name, column, argument), False
        case _:
            raise AssertionError(tree)


def _string(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


# --- SQLite -----------------------------------------------------------------------------------------


class SqliteTable:
    """The rows in SQLite. Literals are parameters: its reader of floats may miss the last bit."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.connection = sqlite3.connect(":memory:")
        self.connection.execute("PRAGMA case_sensitive_like = ON")
        self.connection.create_function("regexp", 2, _regexp, deterministic=True)
        # Without types, values stay as they are; with them, some would be converted.
        self.connection.execute(f"CREATE TABLE event (row, {', '.join(c.quoted for c in COLUMNS)})")
        places = ", ".join("?" * (len(COLUMNS) + 1))
        cells = [[n, *(_sqlite_value(row[column.name]) for column in COLUMNS)] for n, row in enumerate(rows)]
        self.connection.executemany(f"INSERT INTO event VALUES ({places})", cells)
        self.parameters: list[Any] = []

    def literal(self, column: Column, value: Value) -> str:
        self.parameters.append(_sqlite_value(value))
        return f"?{len(self.parameters)}"

    def pattern(self, column: Column, word: str, pattern: str) -> str:
        place = self.literal(column, pattern)
        if word == "rlike":
            return f"{column.quoted} REGEXP {place}"
        if word == "ilike":
            return f"lower({column.quoted}) LIKE lower({place}) ESCAPE '\\'"
        return f"{column.quoted} LIKE {place} ESCAPE '\\'"

    def function(self, name: str, column: Column, argument: str) -> str:
        text, part = column.quoted, self.literal(column, argument)
        match name:
            case "startswith":
                return f"substr({text}, 1, length({part})) = {part}"
            case "endswith":
                tail = f"substr({text}, length({text}) - length({part}) + 1) = {part}"
                return f"(length({text}) >= length({part}) AND {tail})"
            case _:
                return f"instr({text}, {part}) > 0"

    def truths(self, tree: Tree, closed_world: bool) -> list[Truth]:
        """The truth value of the tree for every row."""
        rows = self._query(tree, closed_world, "SELECT {} FROM event ORDER BY row")
        return [None if truth is None else bool(truth) for (truth,) in rows]

    def matches(self, tree: Tree, closed_world: bool) -> list[int]:
        """The rows that satisfy a WHERE."""
        return [
            row for (row,) in self._query(tree, closed_world, "SELECT row FROM event WHERE {} ORDER BY row")
        ]

    def _query(self, tree: Tree, closed_world: bool, query: str) -> list[tuple[Any, ...]]:
        self.parameters = []
        sql = query.format(condition(tree, self, closed_world))
        return self.connection.execute(sql, self.parameters).fetchall()

    def close(self) -> None:
        self.connection.close()


def _sqlite_value(value: Value | None) -> bool | int | float | str | None:
    """SQLite has no dates: instants are text of one width, which sorts alike. It makes NaN a NULL itself."""
    match value:
        case datetime.datetime():
            return value.isoformat(sep=" ", timespec="microseconds")
        case datetime.date():
            return f"{value.isoformat()} 00:00:00.000000"
        case _:
            return value


@functools.lru_cache(maxsize=10_000)
def _regexp(pattern: str, text: str | None) -> bool | None:
    # `$` of Python also matches before a line end at the end of the text.
    return None if text is None else re.search(pattern.replace("$", r"\Z"), text) is not None


# --- DuckDB -----------------------------------------------------------------------------------------

_SQL_TYPE = {Kind.INT: "BIGINT", Kind.FLOAT: "DOUBLE"}
_ARROW_TYPE = {
    Kind.INT: pa.int64(),
    Kind.FLOAT: pa.float64(),
    Kind.TEXT: pa.string(),
    Kind.ASCII: pa.string(),
    Kind.BOOL: pa.bool_(),
    Kind.DATE: pa.date32(),
    Kind.TIMESTAMP: pa.timestamp("us"),
}


class DuckdbTable:
    """The rows in DuckDB, in columns of their types."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.connection = duckdb.connect(config={"threads": 1})
        columns = {"row": pa.array(range(len(rows)), pa.int64())}
        for column in COLUMNS:
            cells = [_duckdb_value(row[column.name]) for row in rows]
            columns[column.name] = pa.array(cells, _ARROW_TYPE[column.kind])
        self.connection.register("incoming", pa.table(columns))
        # Copied, because conditions on Arrow data may be evaluated by Arrow instead.
        self.connection.execute("CREATE TABLE event AS SELECT * FROM incoming")
        self.connection.unregister("incoming")

    def literal(self, column: Column, value: Value) -> str:
        match value:
            case bool():
                return str(value).upper()
            case int() | float():
                return f"CAST('{value!r}' AS {_SQL_TYPE[column.kind]})"
            case datetime.datetime():
                return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
            case datetime.date():
                return f"DATE '{value.isoformat()}'"
            case str():
                return _string(value)

    def pattern(self, column: Column, word: str, pattern: str) -> str:
        if word == "rlike":
            return f"regexp_matches({column.quoted}, {_string(pattern)})"
        return f"{column.quoted} {word} {_string(pattern)} ESCAPE '\\'"

    def function(self, name: str, column: Column, argument: str) -> str:
        sql = {"startswith": "starts_with", "endswith": "suffix"}.get(name, name)
        return f"{sql}({column.quoted}, {_string(argument)})"

    def truths(self, tree: Tree, closed_world: bool) -> list[Truth]:
        """The truth value of the tree for every row."""
        rows = self._query(f"SELECT {condition(tree, self, closed_world)} FROM event ORDER BY row")
        return [truth for (truth,) in rows]

    def matches(self, tree: Tree, closed_world: bool) -> list[int]:
        """The rows that satisfy a WHERE."""
        where = condition(tree, self, closed_world)
        return [row for (row,) in self._query(f"SELECT row FROM event WHERE {where} ORDER BY row")]

    def _query(self, sql: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql).fetchall()

    def close(self) -> None:
        self.connection.close()


def _duckdb_value(value: Value | None) -> Value | None:
    """NaN is a value in DuckDB and a missing one in tamis."""
    return None if isinstance(value, float) and math.isnan(value) else value
