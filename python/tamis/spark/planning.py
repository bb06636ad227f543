"""What is asked of a match, checked before any task runs: shared by tables, files and streams."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DoubleType,
    LongType,
    MapType,
    NumericType,
    StringType,
    StructType,
)

from tamis.spark import store
from tamis.spark.calling import call
from tamis.spark.columns import column_type
from tamis.spark.layouts import ColumnsLayout, Layout, check_types, find_layout
from tamis.spark.manifest import IndexRef, Manifest
from tamis.spark.matcher import Matcher, Output
from tamis.spark.temporary import temporary_index


@dataclass(frozen=True)
class Request:
    """What `match` and its kin are asked for; see there."""

    event_id_col: str = "event_id"
    attr_cols: Iterable[str] | None = None
    json_col: str | None = None
    map_col: str | None = None
    top_k: int | None = None
    weights_col: str | None = None
    groups: int = 1
    output: Output = "rows"

    def __post_init__(self) -> None:
        """Refuse what makes no sense whatever the table."""
        if self.output not in ("rows", "array"):
            raise ValueError(f"output is {self.output!r}, must be 'rows' or 'array'")
        if self.top_k is not None and self.top_k < 1:
            raise ValueError(f"top_k is {self.top_k}, must be at least 1")
        if self.weights_col is not None and self.top_k is None:
            raise ValueError("weights_col has no effect without top_k")
        if self.groups < 1:
            raise ValueError(f"groups is {self.groups}, must be at least 1")
        if self.event_id_col in ("id", "score", "ids", "scores"):
            raise ValueError(
                f"events are named by the column {self.event_id_col!r}, as matches are; rename it"
            )


@dataclass(frozen=True)
class Plan:
    """A request made definite for a table of events and an index.

    Attributes:
        request: What was asked for.
        ref: The version to match with.
        layout: How events lie in the table, as far as the index refers to them.
        schema: What workers give.
        arrow_schema: The same in Arrow.
    """

    request: Request
    ref: IndexRef
    layout: Layout
    schema: StructType
    arrow_schema: pa.Schema

    @property
    def leading(self) -> list[str]:
        """The columns that workers need in front of the layout's."""
        weights = self.request.weights_col
        return [self.request.event_id_col, *([weights] if weights is not None else [])]

    def matchers(self, layout: Layout) -> list[Matcher]:
        """Give the task for each group of shards."""
        groups = self.request.groups
        return [
            Matcher(
                ref=self.ref,
                layout=layout,
                schema=self.arrow_schema,
                output=_output(self.request),
                top_k=self.request.top_k,
                leading=len(self.leading),
                group=group,
                groups=groups,
            )
            for group in range(groups)
        ]

    def joined(self, parts: list[DataFrame]) -> DataFrame:
        """Bring together what the groups of shards found."""
        every = reduce(DataFrame.unionAll, parts)
        if len(parts) == 1 or (self.request.top_k is None and self.request.output == "rows"):
            return every
        event = self.schema.fieldNames()[0]
        by_event = every.groupBy(event)
        if self.request.top_k is None:
            return by_event.agg(F.flatten(F.collect_list("ids")).alias("ids"))
        ranked = F.transform(
            F.arrays_zip("ids", "scores"),
            # The order of structs is that of their fields: best first, equal scores by id.
            lambda pair: F.struct((-pair["scores"]).alias("rank"), pair["ids"].alias("id")),
        )
        best = F.slice(F.array_sort(F.flatten(F.collect_list(ranked))), 1, self.request.top_k)
        merged = by_event.agg(best.alias("best"))
        if self.request.output == "rows":
            single = merged.select(event, F.explode("best").alias("best"))
            return single.select(event, "best.id", (-F.col("best.rank")).alias("score"))
        return merged.select(
            event,
            F.transform("best", lambda pair: pair["id"]).alias("ids"),
            F.transform("best", lambda pair: -pair["rank"]).alias("scores"),
        )


def plan_for(spark: SparkSession, schema: StructType, index: IndexRef | DataFrame, request: Request) -> Plan:
    """Make a request definite for events of a schema.

    Raises:
        ValueError: A column is not there, or no column is an attribute of the index.
        TypeError: A column is of a type that has no meaning in its place.
    """
    event_id = column_type(schema, request.event_id_col)
    taken = [request.event_id_col]
    if request.weights_col is not None:
        _check_weights(column_type(schema, request.weights_col), request.weights_col)
        taken.append(request.weights_col)
    layout = find_layout(
        schema,
        other_than=taken,
        attr_cols=request.attr_cols,
        json_col=request.json_col,
        map_col=request.map_col,
    )
    ref = index if isinstance(index, IndexRef) else temporary_index(index)
    manifest = call(spark, store.pinned_manifest, ref)
    referred = layout.referred(manifest.attributes)
    _check_attributes(layout, referred, manifest)
    check_types(referred, schema)
    found = _found_schema(request, event_id, ref)
    arrow_schema = to_arrow_schema(
        found,
        timezone=spark.conf.get("spark.sql.session.timeZone"),
        prefers_large_types=spark.conf.get("spark.sql.execution.arrow.useLargeVarTypes") == "true",
    )
    return Plan(request, ref, referred, found, arrow_schema)


def _output(request: Request) -> Output:
    """What workers give: lists where groups have to be joined event by event."""
    return "array" if request.groups > 1 and request.top_k is not None else request.output


def _found_schema(request: Request, event_id: DataType, ref: IndexRef) -> StructType:
    id_type: DataType = LongType() if ref.id_type == "bigint" else StringType()
    schema = StructType().add(request.event_id_col, event_id)
    if _output(request) == "rows":
        schema.add("id", id_type)
        return schema if request.top_k is None else schema.add("score", DoubleType())
    schema.add("ids", ArrayType(id_type))
    return schema if request.top_k is None else schema.add("scores", ArrayType(DoubleType()))


def _check_attributes(layout: Layout, referred: Layout, manifest: Manifest) -> None:
    if isinstance(referred, ColumnsLayout) and not referred.columns and manifest.attributes:
        shown = ", ".join(manifest.attributes[:8]) + (", ..." if len(manifest.attributes) > 8 else "")
        raise ValueError(
            f"no subscription refers to any of the columns {', '.join(layout.columns) or '(none)'}; "
            f"they refer to {shown}. Names are compared letter by letter; json_col and map_col say where "
            "events are texts or maps"
        )


def _check_weights(kind: DataType, column: str) -> None:
    if not (
        isinstance(kind, MapType)
        and isinstance(kind.keyType, StringType)
        and isinstance(kind.valueType, NumericType)
    ):
        raise TypeError(f"column {column!r} is {kind.simpleString()}; weights are a map<string,double>")
