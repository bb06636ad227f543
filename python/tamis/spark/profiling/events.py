"""What events hold, attribute by attribute, counted by the JVM."""

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

from tamis.spark.columns import named
from tamis.spark.layouts import ColumnsLayout, JsonLayout, MapLayout, find_layout

KINDS = ("number", "text", "bool", "time", "list", "object")
"""The kinds of values, as the language knows them; lists and objects are of no kind."""

_LONGEST_TEXT = 200
_ITEMS_TRACKED = 1_000


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
    """Count what events hold: a row for each attribute, the most frequent first.

    Columns: ``attribute``; ``events``, how many there are in all; ``present``, how many have the attribute;
    ``frequency`` and ``missing``, the shares that do and do not; ``number``, ``text``, ``bool``, ``time``,
    ``list``, ``object``, how many values are of each kind; ``distinct``, about how many values there are;
    ``number_min``, ``number_max``, ``text_min``, ``text_max``, ``time_min``, ``time_max``; and ``top``, the
    most frequent values as text with their share of ``present``. The sum of ``frequency`` is the mean size
    of an event.

    Null and NaN are missing. JSON that is no object is not counted; `ingest.json` tells which it is.

    Args:
        events: The events, in any layout.
        event_id_col: The column of ids, which is no attribute; it need not be there.
        attr_cols: The columns of attributes; by default all but the ids.
        json_col: The column of JSON.
        map_col: The column of maps.
        top: How many of the most frequent values to give. Exact as long as an attribute has less than 1,000
            distinct values, else near.
        nesting: How many levels of objects in JSON are followed; deeper ones are values of kind ``object``.
    """
    if not 1 <= top <= _ITEMS_TRACKED:
        raise ValueError(f"top is {top}; it takes 1 to {_ITEMS_TRACKED}")
    if nesting < 1:
        raise ValueError(f"nesting is {nesting}; it takes at least 1 level")
    layout = find_layout(
        events.schema, other_than=[event_id_col], attr_cols=attr_cols, json_col=json_col, map_col=map_col
    )
    match layout:
        case JsonLayout():
            values = _json_values(events, layout.column, nesting)
        case MapLayout():
            values = _map_values(events, layout.column)
        case ColumnsLayout():
            values = _column_values(events, layout)
    return _count(values, top)


def _count(values: DataFrame, top: int) -> DataFrame:
    """Count rows of ``attribute``, ``kind``, ``number``, ``text``, ``time``, ``shown`` and ``begins``.

    ``begins`` is 1 in one row of each event, which is there even if the event is empty.
    """
    frequent = f"approx_top_k(shown, {top}, {_ITEMS_TRACKED}) FILTER (WHERE shown IS NOT NULL)"
    counted = values.groupBy("attribute").agg(
        F.sum("begins").alias("begun"),
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
    # All attributes, in one partition: there are far fewer of them than of events.
    events = F.sum("begun").over(Window.partitionBy(F.lit(0)))
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


def _value(attribute: Column, begins: Column, column: Column, kind: DataType) -> Column:
    """Give one value as a row to be counted; its kind is null if it is missing."""
    there = column.isNotNull()
    if isinstance(kind, FractionalType) and kind.typeName() != "decimal":
        there = there & ~F.isnan(column)
    name = _kind_of(kind)
    scalar = name not in ("list", "object")
    shown = F.substring(column.cast("string"), 1, _LONGEST_TEXT) if scalar else F.lit(None).cast("string")
    return F.struct(
        attribute.alias("attribute"),
        F.when(there, F.lit(name)).alias("kind"),
        (F.when(there, column.cast("double")) if name == "number" else _none("double")).alias("number"),
        (shown if name == "text" else _none("string")).alias("text_value"),
        (column.cast("timestamp") if name == "time" else _none("timestamp")).alias("time_value"),
        F.when(there, shown).alias("shown"),
        begins.alias("begins"),
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


def _column_values(events: DataFrame, layout: ColumnsLayout) -> DataFrame:
    leaves = [
        leaf for name in layout.columns for leaf in _leaves(named(name), events.schema[name].dataType, name)
    ]
    rows = [_value(F.lit(path), F.lit(0), column, kind) for path, column, kind in leaves]
    rows.append(_value(_none("string"), F.lit(1), F.lit(None), NullType()))
    return events.select(F.explode(F.array(*rows)).alias("value")).select("value.*")


def _leaves(column: Column, kind: DataType, path: str) -> Iterator[tuple[str, Column, DataType]]:
    """Go into structs, whose fields are attributes by dotted path."""
    if not isinstance(kind, StructType):
        yield path, column, kind
        return
    for field in kind.fields:
        yield from _leaves(column.getField(field.name), field.dataType, f"{path}.{field.name}")


def _map_values(events: DataFrame, name: str) -> DataFrame:
    kind = events.schema[name].dataType
    assert isinstance(kind, MapType), "that is what the layout says"
    entries = events.select(F.posexplode_outer(named(name)).alias("pos", "key", "held"))
    begins = F.when(F.coalesce("pos", F.lit(0)) == 0, 1).otherwise(0)
    row = _value(F.col("key"), begins, F.col("held"), kind.valueType)
    return entries.select(row.alias("value")).select("value.*")


def _json_values(events: DataFrame, name: str, nesting: int) -> DataFrame:
    """Explode objects as variants, level by level.

    Measured against a map of strings, which costs as much and forgets what was a number, and against
    parsing in Python workers, which takes twice as long.
    """
    spark = events.sparkSession
    objects = events.where(named(name).rlike(r"^\s*\{")).select(F.try_parse_json(named(name)).alias("held"))
    begun = objects.where("held IS NOT NULL").select(
        _none("string").alias("attribute"), "held", F.lit(1).alias("begins")
    )
    for level in range(nesting):
        # The type of a whole event would be long to spell, and is known.
        is_object = F.schema_of_variant("held").startswith("OBJECT") if level else F.lit(True)
        inside = F.when(is_object, F.col("held"))
        exploded = begun.withColumn("inside", inside).lateralJoin(
            spark.tvf.variant_explode_outer(F.col("inside").outer()).toDF("pos", "key", "inner")
        )
        is_inner = F.col("key").isNotNull()
        begun = exploded.select(
            F.when(is_inner, F.concat_ws(".", "attribute", "key"))
            .otherwise(F.col("attribute"))
            .alias("attribute"),
            F.when(is_inner, F.col("inner")).otherwise(F.col("held")).alias("held"),
            F.when(F.coalesce("pos", F.lit(0)) == 0, F.col("begins")).otherwise(0).alias("begins"),
        )
    # Columns of their own, so that they are computed once for each value.
    typed = begun.withColumn("type", F.schema_of_variant("held"))
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
    shown = F.when(scalar, F.substring(F.try_variant_get("held", "$", "string"), 1, _LONGEST_TEXT))
    number = F.when(kind == "number", F.try_variant_get("held", "$", "double"))
    return [
        F.col("attribute"),
        # An empty event is one row without an attribute; the object it held is no value.
        F.when(F.col("attribute").isNotNull(), kind).alias("kind"),
        number.alias("number"),
        F.when(kind == "text", shown).alias("text_value"),
        _none("timestamp").alias("time_value"),
        shown.alias("shown"),
        F.col("begins"),
    ]
