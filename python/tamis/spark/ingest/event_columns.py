"""Converts a column of a table to an attribute of events, and finds values that cannot be converted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Literal, TypeAlias

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    MapType,
    NullType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
    VarcharType,
)

from tamis.spark.columns import exact_column

_TEXT = StringType | CharType | VarcharType
_FLOATS = FloatType | DoubleType
_TIMES = DateType | TimestampType | TimestampNTZType
_UNCHANGED = BooleanType | IntegralType | NullType

EventTableLayout: TypeAlias = Literal["columns", "json"]


@dataclass(frozen=True)
class EventColumn:
    """One column of a table, to become an attribute of events."""

    name: str
    type: DataType
    layout: EventTableLayout

    def value(self) -> Column:
        """Return the column converted to a type that matching reads.

        Raises:
            ValueError: The layout cannot hold its type.
        """
        return self._value(exact_column(self.name), self.type, self.name).alias(self.name)

    def errors(self) -> list[Column]:
        """Return a column for each kind of error: null, or a struct of ``column`` and ``reason``."""
        found = {
            "the text is not valid UTF-8": self._holds(exact_column(self.name), self.type, _invalid_text),
            "the number is infinite, which JSON cannot represent; layout='columns' can": (
                self._holds(exact_column(self.name), self.type, _infinite) if self.layout == "json" else None
            ),
        }
        return [
            F.when(holds, F.struct(F.lit(self.name).alias("column"), F.lit(reason).alias("reason")))
            for reason, holds in found.items()
            if holds is not None
        ]

    def _value(self, column: Column, kind: DataType, path: str) -> Column:
        if isinstance(kind, DecimalType):
            whole = kind.scale == 0 and kind.precision <= 18
            return column.cast("bigint" if whole else "double")
        if isinstance(kind, _FLOATS) and self.layout == "json":
            # NaN is a missing value; Spark would write it as a string.
            return F.when(~F.isnan(column), column)
        if isinstance(kind, StructType):
            fields = [
                self._value(column.getField(field.name), field.dataType, f"{path}.{field.name}").alias(
                    field.name
                )
                for field in kind.fields
            ]
            return F.when(column.isNotNull(), F.struct(*fields)) if fields else column
        if isinstance(kind, ArrayType):
            return F.transform(column, lambda one: self._value(one, kind.elementType, path))
        if isinstance(kind, MapType) and self.layout == "json" and isinstance(kind.keyType, _TEXT):
            return F.transform_values(column, lambda _, one: self._value(one, kind.valueType, path))
        if isinstance(kind, _UNCHANGED | _TEXT | _FLOATS):
            return column
        if isinstance(kind, _TIMES) and self.layout == "columns":
            return column
        raise ValueError(f"column {path!r} is {kind.simpleString()}; {self._hint(kind)}")

    def _hint(self, kind: DataType) -> str:
        if isinstance(kind, _TIMES):
            return "JSON has no times: use layout='columns', or cast it to a string or a number"
        if isinstance(kind, MapType):
            return "maps need layout='json' and string keys"
        return "attributes are booleans, numbers, strings, dates, timestamps, and lists and structs of them"

    def _holds(
        self, column: Column, kind: DataType, has_error: Callable[[Column, DataType], Column | None]
    ) -> Column | None:
        """Return whether a value, or a value inside it, has an error; None if its type excludes that."""
        if isinstance(kind, StructType):
            inside = [
                self._holds(column.getField(field.name), field.dataType, has_error) for field in kind.fields
            ]
            found = [one for one in inside if one is not None]
            return reduce(lambda left, right: left | right, found) if found else None
        if isinstance(kind, MapType):
            sides = [(F.map_keys(column), kind.keyType), (F.map_values(column), kind.valueType)]
            parts = [self._exists(side, inner, has_error) for side, inner in sides]
            found = [one for one in parts if one is not None]
            return reduce(lambda left, right: left | right, found) if found else None
        if isinstance(kind, ArrayType):
            return self._exists(column, kind.elementType, has_error)
        return has_error(column, kind)

    def _exists(
        self, column: Column, kind: DataType, has_error: Callable[[Column, DataType], Column | None]
    ) -> Column | None:
        if self._holds(F.lit(None), kind, has_error) is None:
            return None

        def inside(one: Column) -> Column:
            held = self._holds(one, kind, has_error)
            assert held is not None
            return F.coalesce(held, F.lit(False))

        return F.exists(column, inside)


def _invalid_text(column: Column, kind: DataType) -> Column | None:
    return ~F.is_valid_utf8(column) if isinstance(kind, _TEXT) else None


def _infinite(column: Column, kind: DataType) -> Column | None:
    return F.abs(column) == F.lit(float("inf")) if isinstance(kind, _FLOATS) else None
