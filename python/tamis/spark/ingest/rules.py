"""Checks a table of written rules, and parses single rules for the other modules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from tamis import Expression, Limits, ParseError, parse
from tamis.spark.ingest.conversion import BadRow, RowValues, convert
from tamis.spark.ingest.ingested import Ingested

_DEFAULT_LIMITS = Limits()


def subscriptions(
    rules: DataFrame, id_col: str = "id", expr_col: str = "expression", *, limits: Limits | None = None
) -> Ingested:
    """Check a table of rules.

    A row is bad if its expression is null, empty or does not parse (the reason shows the position, with a
    caret), if its id is null, or if another row has the same id.

    Args:
        rules: One row per rule.
        id_col: The column of ids, strings or integers.
        expr_col: The column of expressions; good rows keep their text unchanged.
        limits: The limits of expressions, as in `tamis.Index`.
    """
    converter = CheckedText(expr_col, limits or Limits())
    return convert(rules, converter, id_col=id_col, columns=[expr_col], result="expression")


@dataclass(frozen=True)
class CheckedText:
    """Returns a row's expression unchanged if it parses."""

    column: str
    limits: Limits

    def __call__(self, id: Any, row: RowValues) -> str:
        """Check the text of a row."""
        text = row[self.column]
        parse_rule(text, self.column, self.limits)
        return str(text)


def parse_rule(text: object, column: str, limits: Limits = _DEFAULT_LIMITS) -> Expression:
    """Parse the expression of a column.

    Raises:
        BadRow: It is null, empty or not text, or it does not parse.
    """
    if text is None:
        raise BadRow(column, "the expression is null")
    if not isinstance(text, str):
        raise BadRow(column, f"an expression is text, not {type(text).__name__}")
    if not text.strip():
        raise BadRow(column, "the expression is empty")
    try:
        return parse(text, limits)
    except ParseError as error:
        raise BadRow(column, str(error)) from error


def checked_text(expression: Expression, column: str) -> str:
    """Return the text of a built expression, after a check that an index accepts it.

    Raises:
        BadRow: It exceeds a limit.
    """
    text = str(expression)
    parse_rule(text, column)
    return text
