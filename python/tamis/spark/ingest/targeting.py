"""Advertisements and the like: targeting that stands in columns becomes expressions.

In the display-ads workloads of the PS-Tree and A-Tree papers an advertisement names channels, regions,
positions and more, and a session of a user is an event. In the latter, 1,392,196 expressions over 122
attributes have 1 to 56 predicates in up to nine levels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pyspark.sql import DataFrame

from tamis.errors import TamisError
from tamis.expression import Attribute, Expression, all_of, any_of, attr
from tamis.spark.ingest.conversion import BadRow, Row, convert
from tamis.spark.ingest.ingested import Ingested
from tamis.spark.ingest.rules import accepted, read
from tamis.spark.ingest.values import is_missing, plain


class Condition(Protocol):
    """A part of the targeting, written in one or more columns."""

    def columns(self) -> Iterator[str]:
        """Name the columns it is written in."""

    def expression(self, row: Row) -> Expression | None:
        """Give what a row asks for; None if it asks for nothing."""


def profiles(rows: DataFrame, id_col: str, conditions: Sequence[Condition]) -> Ingested:
    """Make a subscription of the targeting columns of each row: all conditions must hold.

    A condition whose columns are null, or an empty list, asks for nothing; a row that asks for nothing at all
    is ``TRUE`` and matches every event. Bad are rows with a value that cannot be asked for, or a range whose
    ends are the wrong way round, whose id is null, and all rows that share an id.

    Args:
        rows: A row for each advertisement.
        id_col: The column of ids, strings or integers.
        conditions: What the columns mean: `Allowed`, `Excluded`, `Range`, `Written`, `AnyOf`, `Alternatives`.
    """
    columns = list(dict.fromkeys(name for condition in conditions for name in condition.columns()))
    if not columns:
        raise ValueError("no conditions: name at least one, such as Allowed('regions', 'region')")
    return convert(
        rows, TargetingRule(tuple(conditions)), id_col=id_col, columns=columns, result="expression"
    )


@dataclass(frozen=True)
class TargetingRule:
    """Makes an expression of the targeting columns of a row."""

    conditions: tuple[Condition, ...]

    def __call__(self, id: Any, row: Row) -> str:
        """Join the conditions of a row."""
        return accepted(all_of(*_asked(self.conditions, row)), next(self.conditions[0].columns()))


@dataclass(frozen=True)
class Listed(ABC):
    """A condition on one attribute that is written as the values in a column.

    Attributes:
        column: A column of lists, or of single values; null or an empty list asks for nothing.
        attribute: The attribute of events; by default that of the column's name.
        each: ``"one"`` if an event holds one value; ``"list"`` if it holds several.
    """

    column: str
    attribute: str | None = None
    each: Literal["one", "list"] = "one"

    def columns(self) -> Iterator[str]:
        """Name the column."""
        yield self.column

    def expression(self, row: Row) -> Expression | None:
        """Ask for what the values say."""
        values = _values(self.column, row)
        with _blaming(self.column):
            return self._asking(attr(self.attribute or self.column), values) if values else None

    @abstractmethod
    def _asking(self, attribute: Attribute, values: list[Any]) -> Expression: ...


@dataclass(frozen=True)
class Allowed(Listed):
    """The attribute has one of the values in a column: ``region IN ('CA', 'DE')``.

    If events hold lists, one of their elements must be allowed.
    """

    def _asking(self, attribute: Attribute, values: list[Any]) -> Expression:
        return (attribute.any() if self.each == "list" else attribute).is_in(values)


@dataclass(frozen=True)
class Excluded(Listed):
    """The attribute has none of the values in a column: ``region NOT IN ('CA', 'DE')``.

    If events hold lists, none of their elements may be excluded. Events that lack the attribute do not match,
    as in SQL; `tamis.Index` with ``missing="false"`` lets them.
    """

    def _asking(self, attribute: Attribute, values: list[Any]) -> Expression:
        # `any(tags) NOT IN` would ask for some element that is not excluded.
        return ~attribute.any().is_in(values) if self.each == "list" else attribute.not_in(values)


@dataclass(frozen=True)
class Range:
    """The attribute lies between two columns, ends included; a null end is open.

    Attributes:
        low: The column of the lower ends; None if there is none.
        high: The column of the upper ends; None if there is none.
        attribute: The attribute of events.
    """

    low: str | None
    high: str | None
    attribute: str

    def __post_init__(self) -> None:
        """Refuse a range without columns."""
        if self.low is None and self.high is None:
            raise ValueError(f"the range of {self.attribute!r} has no column; name low, high, or both")

    def columns(self) -> Iterator[str]:
        """Name the columns."""
        yield from (column for column in (self.low, self.high) if column is not None)

    def expression(self, row: Row) -> Expression | None:
        """Ask for what lies between."""
        low, high = self._end(row, self.low), self._end(row, self.high)
        attribute, column = attr(self.attribute), next(self.columns())
        with _blaming(column):
            if low is not None and high is not None:
                if low > high:
                    raise BadRow(column, f"the range from {low} to {high} holds nothing")
                return attribute.between(low, high)
            half: Expression | None = None
            if low is not None:
                half = attribute >= low
            elif high is not None:
                half = attribute <= high
            return half

    @staticmethod
    def _end(row: Row, column: str | None) -> Any:
        value = None if column is None else plain(row[column])
        return None if is_missing(value) else value


@dataclass(frozen=True)
class Written:
    """A column of expressions, for what the others cannot say; null asks for nothing."""

    column: str

    def columns(self) -> Iterator[str]:
        """Name the column."""
        yield self.column

    def expression(self, row: Row) -> Expression | None:
        """Parse what is written."""
        text = row[self.column]
        return None if text is None else read(text, self.column)


@dataclass(frozen=True, init=False)
class AnyOf:
    """One of several conditions holds; those that ask for nothing are left out."""

    conditions: tuple[Condition, ...]

    def __init__(self, *conditions: Condition) -> None:
        """Take one or more conditions."""
        if not conditions:
            raise ValueError("AnyOf takes at least one condition")
        object.__setattr__(self, "conditions", conditions)

    def columns(self) -> Iterator[str]:
        """Name the columns of all conditions."""
        for condition in self.conditions:
            yield from condition.columns()

    def expression(self, row: Row) -> Expression | None:
        """Join them with OR."""
        asked = _asked(self.conditions, row)
        return any_of(*asked) if asked else None


@dataclass(frozen=True)
class Alternatives:
    """A column of lists of structs: one of the structs holds, and a struct if all its conditions do.

    Attributes:
        column: The column.
        conditions: What the fields of a struct mean; their columns are its fields.
    """

    column: str
    conditions: tuple[Condition, ...]

    def columns(self) -> Iterator[str]:
        """Name the column."""
        yield self.column

    def expression(self, row: Row) -> Expression | None:
        """Join the structs with OR, the conditions of each with AND."""
        structs = row[self.column]
        if not structs:
            return None
        return any_of(*(all_of(*self._within(struct)) for struct in structs))

    def _within(self, struct: Any) -> list[Expression]:
        if not isinstance(struct, dict):
            raise BadRow(self.column, f"an alternative is a struct, not {struct!r}")
        try:
            return _asked(self.conditions, struct)
        except BadRow as bad:
            raise BadRow(f"{self.column}.{bad.column}", bad.reason) from bad
        except KeyError as missing:
            fields = ", ".join(map(repr, struct))
            raise BadRow(self.column, f"there is no field {missing}; there are {fields}") from missing


def _asked(conditions: Sequence[Condition], row: Row) -> list[Expression]:
    expressions = (condition.expression(row) for condition in conditions)
    return [expression for expression in expressions if expression is not None]


def _values(column: str, row: Row) -> list[Any]:
    """Give the values of a list, or the single value, of a column.

    Nulls within a list stay, to be refused: nobody knows what was meant.
    """
    cell = row[column]
    cells = cell if isinstance(cell, list) else [] if is_missing(cell) else [cell]
    return [None if is_missing(one) else plain(one) for one in cells]


@contextmanager
def _blaming(column: str) -> Iterator[None]:
    """Make the errors of building an expression those of a column."""
    try:
        yield
    except (TamisError, TypeError) as error:
        raise BadRow(column, str(error)) from error
