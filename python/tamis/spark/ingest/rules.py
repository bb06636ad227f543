"""Rules that someone wrote: which of them are expressions?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from tamis.errors import ParseError
from tamis.expression import DEFAULT, Expression, Limits, parse
from tamis.spark.ingest.conversion import BadRow, Row, convert
from tamis.spark.ingest.ingested import Ingested


def subscriptions(
    rules: DataFrame, id_col: str = "id", expr_col: str = "expression", *, limits: Limits | None = None
) -> Ingested:
    """Check a table of rules.

    Bad are rows whose expression is null, empty, or no expression (the reason shows the place, with a caret),
    whose id is null, and all rows that share an id.

    Args:
        rules: A row for each rule.
        id_col: The column of ids, strings or integers.
        expr_col: The column of expressions; good rows keep their text as it is.
        limits: What expressions are accepted, as in `tamis.Index`.
    """
    maker = CheckedText(expr_col, limits or DEFAULT)
    return convert(rules, maker, id_col=id_col, columns=[expr_col], result="expression")


@dataclass(frozen=True)
class CheckedText:
    """Gives a row's expression as it is, if it is one."""

    column: str
    limits: Limits

    def __call__(self, id: Any, row: Row) -> str:
        """Check the text of a row."""
        text = row[self.column]
        read(text, self.column, self.limits)
        return str(text)


def read(text: object, column: str, limits: Limits = DEFAULT) -> Expression:
    """Parse the expression of a column.

    Raises:
        BadRow: It is null, empty, not text, or no expression.
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


def accepted(expression: Expression, column: str) -> str:
    """Give the text of an expression that was built, as an index would accept it.

    Raises:
        BadRow: It is past a limit.
    """
    text = str(expression)
    read(text, column)
    return text
