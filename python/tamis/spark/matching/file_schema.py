"""The columns of several Parquet files together, in Spark's types."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.errors import PySparkTypeError
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DoubleType,
    FloatType,
    FractionalType,
    IntegralType,
    LongType,
    MapType,
    NullType,
    StringType,
    StructField,
    StructType,
    VariantType,
)

from tamis import FileError

# How Parquet stores a variant.
_VARIANT_FIELDS = {"metadata": pa.binary(), "value": pa.binary()}


@dataclass
class FileSchema:
    """The columns of all files: a file may lack some.

    Attributes:
        fields: Each column with its type. A column of a type that is no value has the type void.
        unreadable: The Arrow types of those columns.
    """

    fields: StructType = field(default_factory=StructType)
    unreadable: dict[str, pa.DataType] = field(default_factory=dict)

    @property
    def types(self) -> dict[str, DataType]:
        """The type of each column."""
        return {column.name: column.dataType for column in self.fields.fields}

    def check(self, columns: Iterable[str]) -> None:
        """Check that columns which rules refer to have values.

        Raises:
            TypeError: The message names the type.
        """
        for column in columns:
            if isinstance(self.types.get(column), VariantType):
                raise TypeError(
                    f"column {column!r} is variant, which only Spark can decode; read the files with "
                    "spark.read and pass the DataFrame to tamis.spark.match"
                )
            if column in self.unreadable:
                raise TypeError(
                    f"column {column!r} is {self.unreadable[column]}, which expressions cannot compare; "
                    "cast it to bigint, double, string, boolean, date or timestamp"
                )


def merge_schemas(files: list[str], schemas: list[pa.Schema]) -> FileSchema:
    """Merge the schemas of files.

    Raises:
        FileError: Two files have a column of the same name whose types have no common one.
    """
    merged: dict[str, DataType] = {}
    first: dict[str, str] = {}
    result = FileSchema()
    for file, schema in zip(files, schemas, strict=True):
        for column in schema:
            try:
                kind = spark_type(column.type)
            except PySparkTypeError:
                kind = NullType()
                result.unreadable[column.name] = column.type
            before = merged.setdefault(column.name, kind)
            both = _common_type(before, kind)
            if both is None:
                raise FileError(
                    f"column {column.name!r} is {before.simpleString()} in {first[column.name]} and "
                    f"{kind.simpleString()} in {file}; match them separately, or cast one of them",
                    path=file,
                )
            merged[column.name] = both
            first.setdefault(column.name, file)
    result.fields = StructType([StructField(name, kind) for name, kind in merged.items()])
    return result


def spark_type(kind: pa.DataType) -> DataType:
    """Return the type that holds the values of an Arrow type, also if Spark has no type of that name.

    Raises:
        PySparkTypeError: There is none.
    """
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return spark_type(kind.value_type)
    if pa.types.is_unsigned_integer(kind):
        return LongType()
    if pa.types.is_float16(kind):
        return FloatType()
    if pa.types.is_string_view(kind):
        return StringType()
    if pa.types.is_map(kind):
        return MapType(spark_type(kind.key_type), spark_type(kind.item_type))
    if _is_list(kind):
        return ArrayType(spark_type(kind.value_type))
    if pa.types.is_struct(kind):
        if {field.name: field.type for field in kind} == _VARIANT_FIELDS:
            return VariantType()
        return StructType([StructField(field.name, spark_type(field.type)) for field in kind])
    return from_arrow_type(kind)


def _is_list(kind: pa.DataType) -> bool:
    lists = pa.ListType | pa.LargeListType | pa.FixedSizeListType | pa.ListViewType | pa.LargeListViewType
    return isinstance(kind, lists)


def _common_type(a: DataType, b: DataType) -> DataType | None:
    """Return a type that holds the values of both, or None.

    Every file is matched with its own types; the common one says how the column is used.
    """
    if a == b or isinstance(b, NullType):
        return a
    if isinstance(a, NullType):
        return b
    if isinstance(a, IntegralType) and isinstance(b, IntegralType):
        return LongType()
    if isinstance(a, IntegralType | FractionalType) and isinstance(b, IntegralType | FractionalType):
        return DoubleType()
    if isinstance(a, StructType) and isinstance(b, StructType):
        return _common_struct(a, b)
    if isinstance(a, ArrayType) and isinstance(b, ArrayType):
        element = _common_type(a.elementType, b.elementType)
        return None if element is None else ArrayType(element)
    return None


def _common_struct(a: StructType, b: StructType) -> StructType | None:
    merged = {field.name: field.dataType for field in a.fields}
    for inner in b.fields:
        both = _common_type(merged.get(inner.name, inner.dataType), inner.dataType)
        if both is None:
            return None
        merged[inner.name] = both
    return StructType([StructField(name, kind) for name, kind in merged.items()])
