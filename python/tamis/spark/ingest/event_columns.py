"""A column of a table as an attribute of events: what it becomes, and which of its values are at fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Literal

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

from tamis.spark.columns import named

_TEXT = StringType | CharType | VarcharType
_FLOATS = FloatType | DoubleType
_TIMES = DateType | TimestampType | TimestampNTZType
_AS_THEY_ARE = BooleanType | IntegralType | NullType


@dataclass(frozen=True)
class EventColumn:
    """One column of a table, to be an attribute in a layout of events."""

    name: str
    type: DataType
    layout: Literal["columns", "json"]

    def value(self) -> Column:
        """Give the column as matching reads it.

        Raises:
            ValueError: Its type has no place in the layout.
        """
        return self._value(named(self.name), self.type, self.name).alias(self.name)

    def faults(self) -> list[Column]:
        """Give a column for each kind of fault: null, or a struct of ``column`` and ``reason``."""
        found = {
            "the text is not valid UTF-8": self._holds(named(self.name), self.type, _broken_text),
            "the number is infinite, for which JSON has no form; layout='columns' has": (
                self._holds(named(self.name), self.type, _infinite) if self.layout == "json" else None
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
            # Spark would write NaN as text; to matching it is a missing value.
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
        if isinstance(kind, _AS_THEY_ARE | _TEXT | _FLOATS):
            return column
        if isinstance(kind, _TIMES) and self.layout == "columns":
            return column
        raise ValueError(f"column {path!r} is {kind.simpleString()}; {self._hint(kind)}")

    def _hint(self, kind: DataType) -> str:
        if isinstance(kind, _TIMES):
            return "JSON has no times: take layout='columns', or cast it to a string or a number"
        if isinstance(kind, MapType):
            return "a map is an attribute only with layout='json', and if its keys are strings"
        return "attributes are booleans, numbers, strings, dates, timestamps, and lists and structs of them"

    def _holds(
        self, column: Column, kind: DataType, fault: Callable[[Column, DataType], Column | None]
    ) -> Column | None:
        """Tell whether a value, or a value inside it, is at fault; None if that cannot be."""
        if isinstance(kind, StructType):
            inside = [
                self._holds(column.getField(field.name), field.dataType, fault) for field in kind.fields
            ]
            found = [one for one in inside if one is not None]
            return reduce(lambda left, right: left | right, found) if found else None
        if isinstance(kind, MapType):
            sides = [(F.map_keys(column), kind.keyType), (F.map_values(column), kind.valueType)]
            parts = [self._exists(side, inner, fault) for side, inner in sides]
            found = [one for one in parts if one is not None]
            return reduce(lambda left, right: left | right, found) if found else None
        if isinstance(kind, ArrayType):
            return self._exists(column, kind.elementType, fault)
        return fault(column, kind)

    def _exists(
        self, column: Column, kind: DataType, fault: Callable[[Column, DataType], Column | None]
    ) -> Column | None:
        if self._holds(F.lit(None), kind, fault) is None:
            return None

        def inside(one: Column) -> Column:
            held = self._holds(one, kind, fault)
            assert held is not None
            return F.coalesce(held, F.lit(False))

        return F.exists(column, inside)


def _broken_text(column: Column, kind: DataType) -> Column | None:
    return ~F.is_valid_utf8(column) if isinstance(kind, _TEXT) else None


def _infinite(column: Column, kind: DataType) -> Column | None:
    return F.abs(column) == F.lit(float("inf")) if isinstance(kind, _FLOATS) else None
