"""Columns of a DataFrame: references by exact name, existence checks, types of ids."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, IntegralType, StringType, StructType

from tamis.spark.store.manifest import IdType


def exact_column(column: str) -> Column:
    """Refer to a column by its exact name: dots and quotes in it have no special meaning."""
    return F.col("`" + column.replace("`", "``") + "`")


def column_type(schema: StructType, column: str) -> DataType:
    """Return the type of a column.

    Raises:
        ValueError: The column does not exist; the message lists those that do.
    """
    for field in schema.fields:
        if field.name == column:
            return field.dataType
    raise ValueError(f"there is no column {column!r}; there are {', '.join(schema.names) or 'none'}")


def require_columns(rows: DataFrame, names: Iterable[str]) -> None:
    """Check that columns exist.

    Raises:
        ValueError: One does not; the message lists those that do.
    """
    for name in names:
        column_type(rows.schema, name)


def id_type(rows: DataFrame, column: str) -> IdType:
    """Return the type that an index stores the ids of a column as: strings as string, integers as bigint.

    Raises:
        ValueError: The column does not exist.
        TypeError: It has another type.
    """
    kind = column_type(rows.schema, column)
    if isinstance(kind, StringType):
        return "string"
    if isinstance(kind, IntegralType):
        return "bigint"
    raise TypeError(f"column {column!r} is {kind.simpleString()}; ids are strings or integers")


def arrow_id_type(ids: IdType) -> pa.DataType:
    """Return the Arrow type of a column of ids."""
    return pa.int64() if ids == "bigint" else pa.string()
