"""Attribute statistics of events, computed by the JVM in one pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DateType,
    FractionalType,
    MapType,
    NullType,
    NumericType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from tamis.spark.columns import exact_column
from tamis.spark.event_encoding import JsonColumn, MapColumn, TypedColumns, find_encoding

KINDS = ("number", "text", "bool", "time", "list", "object")
"""The kinds of values that are counted. Expressions compare the first four."""

_MAX_TEXT_LENGTH = 200
# Candidates that the top-k sketch keeps per attribute.
_TRACKED_ITEMS = 1_000


def profile_events(
    events: DataFrame,
    *,
    event_id_col: str = "event_id",
    attr_cols: Sequence[str] | None = None,
    json_col: str | None = None,
    map_col: str | None = None,
    top: int = 10,
    nesting: int = 3,
) -> DataFrame:
    """Compute statistics of attributes: one row per attribute, the most frequent first.

    Columns: ``attribute``; ``events``, the number of all events; ``present``, the number of events that have
        the
    attribute; ``frequency`` and ``missing``, the shares that have it and lack it; ``number``, ``text``,
    ``bool``, ``time``, ``list``, ``object``, the number of values of each kind; ``distinct``, the approximate
    number of distinct values; ``number_min``, ``number_max``, ``text_min``, ``text_max``, ``time_min``,
    ``time_max``; and ``top``, the most frequent values as text with their share of ``present``. The sum of
    ``frequency`` is the mean number of attributes per event.

    Null and NaN are missing. JSON that is not an object is not counted; `ingest.json` finds such rows.

    Args:
        events: The events, in any layout.
        event_id_col: The column of ids, which is not an attribute; it may be absent.
        attr_cols: The columns of attributes; by default all but the ids.
        json_col: The column of JSON.
        map_col: The column of maps.
        top: The number of most frequent values per attribute. Exact for attributes with fewer than 1,000
            distinct values, otherwise approximate.
        nesting: The levels of nested JSON objects to flatten; deeper objects are values of kind ``object``.
    """
    if not 1 <= top <= _TRACKED_ITEMS:
        raise ValueError(f"top is {top}; accepted is 1 to {_TRACKED_ITEMS}")
    if nesting < 1:
        raise ValueError(f"nesting is {nesting}; accepted is at least 1 level")
    encoding = find_encoding(
        events.schema, exclude=[event_id_col], attr_cols=attr_cols, json_col=json_col, map_col=map_col
    )
    match encoding:
        case JsonColumn():
            values = _json_values(events, encoding.column, nesting)
        case MapColumn():
            values = _map_values(events, encoding.column)
        case TypedColumns():
            values = _column_values(events, encoding)
    return _statistics(values, top)


def _statistics(values: DataFrame, top: int) -> DataFrame:
    """Aggregate the rows that `_value` makes, per attribute.

    ``is_first`` is 1 in exactly one row per event; an empty event has that row alone.
    """
    frequent = f"approx_top_k(shown, {top}, {_TRACKED_ITEMS}) FILTER (WHERE shown IS NOT NULL)"
    counted = values.groupBy("attribute").agg(
        F.sum("is_first").alias("first_rows"),
        F.count("kind").alias("present"),
        *(F.count_if(F.col("kind") == kind).alias(kind) for kind in KINDS),
        F.approx_count_distinct(F.when(F.col("kind").isNotNull(), F.struct("kind", "shown"))).alias(
            "distinct"
        ),
        *(
            limit(side).alias(f"{side}_{name}")
            for side in ("number", "text_value", "time_value")
            for name, limit in (("min", F.min), ("max", F.max))
        ),
        F.expr(frequent).alias("frequent"),
    )
    # One partition for all attributes, which are far fewer than events.
    events = F.sum("first_rows").over(Window.partitionBy(F.lit(0)))
    shares = F.transform(
        "frequent",
        lambda one: F.struct(one["item"].alias("value"), (one["count"] / F.col("present")).alias("share")),
    )
    frequency = F.col("present") / F.col("events")
    return (
        counted.withColumn("events", events)
        .where("attribute IS NOT NULL AND present > 0")
        .select(
            "attribute",
            "events",
            "present",
            frequency.alias("frequency"),
            (1 - frequency).alias("missing"),
            *KINDS,
            F.when(F.col("list") + F.col("object") < F.col("present"), F.col("distinct")).alias("distinct"),
            "number_min",
            "number_max",
            F.col("text_value_min").alias("text_min"),
            F.col("text_value_max").alias("text_max"),
            F.col("time_value_min").alias("time_min"),
            F.col("time_value_max").alias("time_max"),
            shares.alias("top"),
        )
        .sortWithinPartitions(F.desc("present"), "attribute")
    )


def _value(attribute: Column, is_first: Column, column: Column, kind: DataType) -> Column:
    """Return the row of one value; its kind is null if the value is missing."""
    is_present = column.isNotNull()
    if isinstance(kind, FractionalType) and kind.typeName() != "decimal":
        is_present = is_present & ~F.isnan(column)
    name = _kind_of(kind)
    scalar = name not in ("list", "object")
    shown = F.substring(column.cast("string"), 1, _MAX_TEXT_LENGTH) if scalar else _none("string")
    return F.struct(
        attribute.alias("attribute"),
        F.when(is_present, F.lit(name)).alias("kind"),
        (F.when(is_present, column.cast("double")) if name == "number" else _none("double")).alias("number"),
        (shown if name == "text" else _none("string")).alias("text_value"),
        (column.cast("timestamp") if name == "time" else _none("timestamp")).alias("time_value"),
        F.when(is_present, shown).alias("shown"),
        is_first.alias("is_first"),
    )


def _none(kind: str) -> Column:
    return F.lit(None).cast(kind)


def _kind_of(kind: DataType) -> str:
    if isinstance(kind, NumericType):
        return "number"
    if isinstance(kind, BooleanType):
        return "bool"
    if isinstance(kind, DateType | TimestampType | TimestampNTZType):
        return "time"
    if isinstance(kind, ArrayType):
        return "list"
    if isinstance(kind, StringType):
        return "text"
    return "object"


def _column_values(events: DataFrame, encoding: TypedColumns) -> DataFrame:
    leaves = [
        leaf
        for name in encoding.columns
        for leaf in _leaves(exact_column(name), events.schema[name].dataType, name)
    ]
    rows = [_value(F.lit(path), F.lit(0), column, kind) for path, column, kind in leaves]
    rows.append(_value(_none("string"), F.lit(1), F.lit(None), NullType()))
    return events.select(F.explode(F.array(*rows)).alias("value")).select("value.*")


def _leaves(column: Column, kind: DataType, path: str) -> Iterator[tuple[str, Column, DataType]]:
    """Flatten structs: their fields are attributes with dotted names."""
    if not isinstance(kind, StructType):
        yield path, column, kind
        return
    for field in kind.fields:
        yield from _leaves(column.getField(field.name), field.dataType, f"{path}.{field.name}")


def _map_values(events: DataFrame, name: str) -> DataFrame:
    kind = events.schema[name].dataType
    assert isinstance(kind, MapType), "the encoding is MapColumn"
    entries = events.select(F.posexplode_outer(exact_column(name)).alias("pos", "key", "item"))
    is_first = F.when(F.coalesce("pos", F.lit(0)) == 0, 1).otherwise(0)
    row = _value(F.col("key"), is_first, F.col("item"), kind.valueType)
    return entries.select(row.alias("value")).select("value.*")


def _json_values(events: DataFrame, name: str, nesting: int) -> DataFrame:
    """Explode objects as variants, level by level.

    Rejected alternatives, both measured: a map of strings costs as much and loses which values were numbers;
    parsing in Python workers takes twice as long.
    """
    spark, text = events.sparkSession, exact_column(name)
    objects = events.where(text.rlike(r"^\s*\{")).select(F.try_parse_json(text).alias("item"))
    values = objects.where("item IS NOT NULL").select(
        _none("string").alias("attribute"), "item", F.lit(1).alias("is_first")
    )
    for level in range(nesting):
        # Level 0 holds objects only; `schema_of_variant` would render the type of a whole event.
        is_object = F.schema_of_variant("item").startswith("OBJECT") if level else F.lit(True)
        exploded = values.withColumn("object", F.when(is_object, F.col("item"))).lateralJoin(
            spark.tvf.variant_explode_outer(F.col("object").outer()).toDF("pos", "key", "inner")
        )
        is_inner = F.col("key").isNotNull()
        values = exploded.select(
            F.when(is_inner, F.concat_ws(".", "attribute", "key"))
            .otherwise(F.col("attribute"))
            .alias("attribute"),
            F.when(is_inner, F.col("inner")).otherwise(F.col("item")).alias("item"),
            F.when(F.coalesce("pos", F.lit(0)) == 0, F.col("is_first")).otherwise(0).alias("is_first"),
        )
    # Separate columns, so that Spark computes them once per value.
    typed = values.withColumn("type", F.schema_of_variant("item"))
    return typed.withColumn("kind", _kind_of_variant(F.col("type"))).select(*_variant_row())


def _kind_of_variant(type: Column) -> Column:
    kinds = {
        "BIGINT": "number",
        "STRING": "text",
        "DECIMAL": "number",
        "DOUBLE": "number",
        "FLOAT": "number",
        "BOOLEAN": "bool",
        "ARRAY": "list",
        "OBJECT": "object",
    }
    return F.coalesce(*(F.when(type.startswith(name), kind) for name, kind in kinds.items()))


def _variant_row() -> list[Column]:
    kind = F.col("kind")
    scalar = kind.isin("number", "text", "bool")
    shown = F.when(scalar, F.substring(F.try_variant_get("item", "$", "string"), 1, _MAX_TEXT_LENGTH))
    number = F.when(kind == "number", F.try_variant_get("item", "$", "double"))
    return [
        F.col("attribute"),
        # An empty event is one row without an attribute, and has no value.
        F.when(F.col("attribute").isNotNull(), kind).alias("kind"),
        number.alias("number"),
        F.when(kind == "text", shown).alias("text_value"),
        _none("timestamp").alias("time_value"),
        shown.alias("shown"),
        F.col("is_first"),
    ]
