"""Columns of the input: named exactly, there, and of a type that can be an id."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import ByteType, CharType, IntegerType, LongType, ShortType, StringType, VarcharType

IdType: TypeAlias = Literal["bigint", "string"]
Duplicates: TypeAlias = Literal["bad", "keep"]


def named(name: str) -> Column:
    """Refer to the column of exactly this name, dots and backticks included."""
    return F.col("`" + name.replace("`", "``") + "`")


def require(rows: DataFrame, names: Iterable[str]) -> None:
    """Check that the columns are there.

    Raises:
        ValueError: One is not; the message names those that are.
    """
    for name in names:
        if name not in rows.columns:
            raise ValueError(f"there is no column {name!r}; there are {', '.join(map(repr, rows.columns))}")


def id_type(rows: DataFrame, id_col: str) -> IdType:
    """Tell what ids an index would get from a column.

    Raises:
        ValueError: There is no such column, or its type cannot be an id.
    """
    require(rows, [id_col])
    kind = rows.schema[id_col].dataType
    if isinstance(kind, ByteType | ShortType | IntegerType | LongType):
        return "bigint"
    if isinstance(kind, StringType | CharType | VarcharType):
        return "string"
    found = kind.simpleString()
    raise ValueError(f"column {id_col!r} is {found}; ids are strings or integers of up to 64 bits")


def copies(id_col: str, duplicates: Duplicates) -> Column:
    """Count the rows that have the id of a row.

    A window, not a join with counts: the input is read once, so the answer holds also for inputs that
    come out differently each time.

    Raises:
        ValueError: ``duplicates`` is neither ``"bad"`` nor ``"keep"``.
    """
    if duplicates == "bad":
        return F.count(F.lit(1)).over(Window.partitionBy(named(id_col)))
    if duplicates == "keep":
        return F.lit(1).cast("bigint")
    raise ValueError(f"duplicates is {duplicates!r}; it takes 'bad' or 'keep'")
