"""Converts targeting columns, as of advertisements, to rules.

In the display-ads workloads of the PS-Tree and A-Tree papers an advertisement names channels, regions,
positions and more, and a user's session is an event. The A-Tree paper has 1,392,196 expressions over 122
attributes, with 1 to 56 predicates in up to nine levels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pyspark.sql import DataFrame

from tamis import Attribute, Expression, TamisError, all_of, any_of, attr
from tamis.spark.ingest.conversion import BadRow, RowValues, convert
from tamis.spark.ingest.ingested import Ingested
from tamis.spark.ingest.rules import checked_text, parse_rule
from tamis.spark.ingest.values import is_missing, plain


class Condition(Protocol):
    """The meaning of one or more targeting columns."""

    def columns(self) -> Iterator[str]:
        """Return the columns it reads."""

    def expression(self, row: RowValues) -> Expression | None:
        """Return the expression of a row; None if the row has no restriction."""


def profiles(rows: DataFrame, id_col: str, conditions: Sequence[Condition]) -> Ingested:
    """Make a rule of the targeting columns of each row: the conjunction of all conditions.

    A condition whose columns are null, or an empty list, does not restrict; a row without any restriction is
    ``TRUE`` and matches every event. A row is bad if a value cannot be a literal, if the lower end of a range
    is above the upper end, if its id is null, or if another row has the same id.

    Args:
        rows: One row per advertisement.
        id_col: The column of ids, strings or integers.
        conditions: The meaning of the columns: `Allowed`, `Excluded`, `Range`, `ExpressionColumn`, `AnyOf`,
            `Alternatives`.
    """
    columns = list(dict.fromkeys(name for condition in conditions for name in condition.columns()))
    if not columns:
        raise ValueError("no conditions: name at least one, such as Allowed('regions', 'region')")
    return convert(
        rows, TargetingRule(tuple(conditions)), id_col=id_col, columns=columns, result="expression"
    )


@dataclass(frozen=True)
class TargetingRule:
    """Converts the targeting columns of a row to an expression."""

    conditions: tuple[Condition, ...]

    def __call__(self, id: Any, row: RowValues) -> str:
        """Conjoin the conditions of a row."""
        return checked_text(all_of(*_expressions(self.conditions, row)), next(self.conditions[0].columns()))


@dataclass(frozen=True)
class ListCondition(ABC):
    """A condition on one attribute, given by a column of values.

    Attributes:
        column: A column of lists, or of single values; null or an empty list does not restrict.
        attribute: The attribute of events; by default the column's name.
        each: ``"one"`` if an event has one value of the attribute; ``"list"`` if it has a list.
    """

    column: str
    attribute: str | None = None
    each: Literal["one", "list"] = "one"

    def columns(self) -> Iterator[str]:
        """Return the column."""
        yield self.column

    def expression(self, row: RowValues) -> Expression | None:
        """Return the predicate on the values."""
        values = _values(self.column, row)
        with _column_errors(self.column):
            return self._predicate(attr(self.attribute or self.column), values) if values else None

    @abstractmethod
    def _predicate(self, attribute: Attribute, values: list[Any]) -> Expression: ...


@dataclass(frozen=True)
class Allowed(ListCondition):
    """The attribute has one of the values in a column: ``region IN ('CA', 'DE')``.

    If events have lists, one of their elements must be allowed.
    """

    def _predicate(self, attribute: Attribute, values: list[Any]) -> Expression:
        return (attribute.any() if self.each == "list" else attribute).is_in(values)


@dataclass(frozen=True)
class Excluded(ListCondition):
    """The attribute has none of the values in a column: ``region NOT IN ('CA', 'DE')``.

    If events have lists, none of their elements may be excluded. Events that lack the attribute do not match,
    as in SQL; with ``missing="false"`` in `tamis.Index` they do.
    """

    def _predicate(self, attribute: Attribute, values: list[Any]) -> Expression:
        # `any(tags) NOT IN` would hold if some element is not excluded.
        return ~attribute.any().is_in(values) if self.each == "list" else attribute.not_in(values)


@dataclass(frozen=True)
class Range:
    """The attribute is between the values of two columns, both included; a null end is open.

    Attributes:
        low: The column of the lower ends; None if there is none.
        high: The column of the upper ends; None if there is none.
        attribute: The attribute of events.
    """

    low: str | None
    high: str | None
    attribute: str

    def __post_init__(self) -> None:
        """Check that there is a column."""
        if self.low is None and self.high is None:
            raise ValueError(f"the range of {self.attribute!r} has no column; name low, high, or both")

    def columns(self) -> Iterator[str]:
        """Return the columns."""
        yield from (column for column in (self.low, self.high) if column is not None)

    def expression(self, row: RowValues) -> Expression | None:
        """Return the range predicate."""
        low, high = self._end(row, self.low), self._end(row, self.high)
        attribute, column = attr(self.attribute), next(self.columns())
        with _column_errors(column):
            if low is not None and high is not None:
                if low > high:
                    raise BadRow(column, f"the range from {low} to {high} is empty")
                return attribute.between(low, high)
            half: Expression | None = None
            if low is not None:
                half = attribute >= low
            elif high is not None:
                half = attribute <= high
            return half

    @staticmethod
    def _end(row: RowValues, column: str | None) -> Any:
        value = None if column is None else plain(row[column])
        return None if is_missing(value) else value


@dataclass(frozen=True)
class ExpressionColumn:
    """A column of expressions, for what the other conditions cannot express; null does not restrict."""

    column: str

    def columns(self) -> Iterator[str]:
        """Return the column."""
        yield self.column

    def expression(self, row: RowValues) -> Expression | None:
        """Parse the expression."""
        text = row[self.column]
        return None if text is None else parse_rule(text, self.column)


Written = ExpressionColumn
"""Another name of `ExpressionColumn`."""


@dataclass(frozen=True, init=False)
class AnyOf:
    """At least one of several conditions holds; conditions without a restriction are left out."""

    conditions: tuple[Condition, ...]

    def __init__(self, *conditions: Condition) -> None:
        """Accept one or more conditions."""
        if not conditions:
            raise ValueError("AnyOf takes at least one condition")
        object.__setattr__(self, "conditions", conditions)

    def columns(self) -> Iterator[str]:
        """Return the columns of all conditions."""
        for condition in self.conditions:
            yield from condition.columns()

    def expression(self, row: RowValues) -> Expression | None:
        """Return the disjunction."""
        expressions = _expressions(self.conditions, row)
        return any_of(*expressions) if expressions else None


@dataclass(frozen=True)
class Alternatives:
    """A column of lists of structs: the disjunction over the structs of the conjunction of their conditions.

    Attributes:
        column: The column.
        conditions: The meaning of the fields of a struct; their columns are its fields.
    """

    column: str
    conditions: tuple[Condition, ...]

    def columns(self) -> Iterator[str]:
        """Return the column."""
        yield self.column

    def expression(self, row: RowValues) -> Expression | None:
        """Return the disjunction of conjunctions."""
        structs = row[self.column]
        if not structs:
            return None
        return any_of(*(all_of(*self._struct_expressions(struct)) for struct in structs))

    def _struct_expressions(self, struct: Any) -> list[Expression]:
        if not isinstance(struct, dict):
            raise BadRow(self.column, f"an alternative is a struct, not {struct!r}")
        try:
            return _expressions(self.conditions, struct)
        except BadRow as bad:
            raise BadRow(f"{self.column}.{bad.column}", bad.reason) from bad
        except KeyError as missing:
            fields = ", ".join(map(repr, struct))
            raise BadRow(self.column, f"there is no field {missing}; there are {fields}") from missing


def _expressions(conditions: Sequence[Condition], row: RowValues) -> list[Expression]:
    expressions = (condition.expression(row) for condition in conditions)
    return [expression for expression in expressions if expression is not None]


def _values(column: str, row: RowValues) -> list[Any]:
    """Return the values of a list, or the single value, of a column.

    Nulls within a list stay, so that they are rejected as literals: their meaning is unclear.
    """
    cell = row[column]
    cells = cell if isinstance(cell, list) else [] if is_missing(cell) else [cell]
    return [None if is_missing(one) else plain(one) for one in cells]


@contextmanager
def _column_errors(column: str) -> Iterator[None]:
    """Turn errors of building an expression into a `BadRow` of a column."""
    try:
        yield
    except (TamisError, TypeError) as error:
        raise BadRow(column, str(error)) from error
