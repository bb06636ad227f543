"""Expressions as trees of plain data, and the tamis text of each.

The oracles read the same trees through their own renderers (see `dialects`). Nothing here knows what an
expression means: a tree is only what a person could have written.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias


class Kind(Enum):
    """The kinds of column a table of events has."""

    INT = "int"
    FLOAT = "float"
    TEXT = "text"
    # Text of ASCII letters: where case is folded, databases agree only about those.
    ASCII = "ascii"
    BOOL = "bool"
    DATE = "date"
    TIMESTAMP = "timestamp"


@dataclass(frozen=True)
class Column:
    name: str
    kind: Kind

    @property
    def quoted(self) -> str:
        return '"' + self.name.replace('"', '""') + '"'

    @property
    def text(self) -> str:
        """As an attribute; only what must be quoted is."""
        return self.quoted if " " in self.name else self.name


# Dotted names are nested mappings in the event and plain names in the table.
COLUMNS = (
    Column("i", Kind.INT),
    Column("n.i", Kind.INT),
    Column("f", Kind.FLOAT),
    Column("n.f", Kind.FLOAT),
    Column("t", Kind.TEXT),
    Column('odd "name"', Kind.TEXT),
    Column("a", Kind.ASCII),
    Column("b", Kind.BOOL),
    Column("n.b", Kind.BOOL),
    Column("d", Kind.DATE),
    Column("ts", Kind.TIMESTAMP),
)

Value: TypeAlias = bool | int | float | str | datetime.date | datetime.datetime


@dataclass(frozen=True)
class Constant:
    value: bool


@dataclass(frozen=True)
class Flag:
    """A boolean column by itself."""

    column: Column


@dataclass(frozen=True)
class Compare:
    column: Column
    symbol: str
    value: Value
    # `3 < a` instead of `a > 3`.
    value_first: bool = False


@dataclass(frozen=True)
class Between:
    column: Column
    negated: bool
    low: Value
    high: Value


@dataclass(frozen=True)
class In:
    column: Column
    negated: bool
    values: tuple[Value, ...]


@dataclass(frozen=True)
class IsNull:
    column: Column
    negated: bool


@dataclass(frozen=True)
class Pattern:
    """LIKE, ILIKE or RLIKE."""

    column: Column
    negated: bool
    word: str
    pattern: str


@dataclass(frozen=True)
class Function:
    """startswith, endswith or contains."""

    name: str
    column: Column
    argument: str


@dataclass(frozen=True)
class Not:
    operand: Tree


@dataclass(frozen=True)
class Join:
    connective: str
    operands: tuple[Tree, ...]


Predicate: TypeAlias = Flag | Compare | Between | In | IsNull | Pattern | Function
Tree: TypeAlias = Constant | Predicate | Not | Join


def predicates_of(tree: Tree) -> Iterator[Constant | Predicate]:
    """The leaves from left to right."""
    match tree:
        case Not(operand):
            yield from predicates_of(operand)
        case Join(_, operands):
            for operand in operands:
                yield from predicates_of(operand)
        case _:
            yield tree


FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
# Loosest first; XOR and XNOR share a level.
PRECEDENCE = {"OR": 0, "XOR": 1, "XNOR": 1, "AND": 2}


def to_text(tree: Tree) -> str:
    """The expression in tamis, without needless parentheses, so that precedence is tested."""
    match tree:
        case Not(operand):
            inner = to_text(operand)
            return f"not ({inner})" if isinstance(operand, Join) else f"not {inner}"
        case Join(connective, operands):
            own = PRECEDENCE[connective]
            parts = []
            for place, operand in enumerate(operands):
                text = to_text(operand)
                if isinstance(operand, Join):
                    inner_level = PRECEDENCE[operand.connective]
                    # On one level, the leftmost needs none: they join from left to right.
                    if inner_level < own or (inner_level == own and place > 0):
                        text = f"({text})"
                parts.append(text)
            return f" {connective} ".join(parts)
        case _:
            return _predicate(tree)


def _predicate(tree: Constant | Predicate) -> str:
    match tree:
        case Constant(value):
            return _literal(value)
        case Flag(column):
            return column.text
        case Compare(column, symbol, value, value_first):
            if value_first:
                return f"{_literal(value)} {FLIPPED.get(symbol, symbol)} {column.text}"
            return f"{column.text}{symbol}{_literal(value)}"
        case Between(column, negated, low, high):
            return f"{column.text} {_not(negated)}between {_literal(low)} and {_literal(high)}"
        case In(column, negated, values):
            return f"{column.text} {_not(negated)}in ({', '.join(map(_literal, values))})"
        case IsNull(column, negated):
            return f"{column.text} is {_not(negated)}null"
        case Pattern(column, negated, word, pattern):
            return f"{column.text} {_not(negated)}{word} {_literal(pattern)}"
        case Function(name, column, argument):
            return f"{name}({column.text}, {_literal(argument)})"


def _not(negated: bool) -> str:
    return "not " if negated else ""


def _literal(value: Value) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case float():
            return repr(value)
        case str():
            return "'" + value.replace("'", "''") + "'"
        case datetime.datetime():
            return f"timestamp '{value.isoformat(sep=' ')}'"
        case datetime.date():
            return f"date '{value.isoformat()}'"
