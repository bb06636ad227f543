"""Columns of a table: named exactly, there, and of a type that can be an id."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, IntegralType, StringType, StructType

from tamis.spark.manifest import IdType


def named(column: str) -> Column:
    """Refer to a column by its exact name, whatever signs are in it."""
    return F.col("`" + column.replace("`", "``") + "`")


def column_type(schema: StructType, column: str) -> DataType:
    """Give the type of a column.

    Raises:
        ValueError: There is no such column; the message says which there are.
    """
    for field in schema.fields:
        if field.name == column:
            return field.dataType
    raise ValueError(f"there is no column {column!r}; there are {', '.join(schema.names) or 'none'}")


def require(rows: DataFrame, names: Iterable[str]) -> None:
    """Check that columns are there.

    Raises:
        ValueError: One is not; the message says which are.
    """
    for name in names:
        column_type(rows.schema, name)


def id_type(rows: DataFrame, column: str) -> IdType:
    """Tell what ids an index gets from a column: strings stay strings, integers become bigint.

    Raises:
        ValueError: There is no such column.
        TypeError: It is of another type.
    """
    kind = column_type(rows.schema, column)
    if isinstance(kind, StringType):
        return "string"
    if isinstance(kind, IntegralType):
        return "bigint"
    raise TypeError(f"column {column!r} is {kind.simpleString()}; ids are strings or integers")


def arrow_id_type(ids: IdType) -> pa.DataType:
    """Give the type of a column of ids as workers make it."""
    return pa.int64() if ids == "bigint" else pa.string()
