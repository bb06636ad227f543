"""A request resolved for a table of events and an index, and checked before any task runs."""

from __future__ import annotations

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

from tamis.spark.build.temporary_index import temporary_index
from tamis.spark.columns import column_type
from tamis.spark.event_encoding import (
    EventEncoding,
    TypedColumns,
    check_column_types,
    find_encoding,
    may_hold_events,
)
from tamis.spark.matching.request import MatchRequest
from tamis.spark.matching.task import MatchTask
from tamis.spark.store import version_files
from tamis.spark.store.manifest import IndexRef, Manifest
from tamis.spark.store.remote_call import remote_call


@dataclass(frozen=True)
class MatchJob:
    """A request resolved for a table of events and an index.

    Attributes:
        request: The arguments.
        ref: The version to match with.
        encoding: How the table encodes the attributes that the index refers to.
        schema: The columns that tasks emit.
        arrow_schema: The same as an Arrow schema.
    """

    request: MatchRequest
    ref: IndexRef
    encoding: EventEncoding
    schema: StructType
    arrow_schema: pa.Schema

    @property
    def leading_columns(self) -> list[str]:
        """The columns before those of the encoding: the event id, and the weights if given."""
        weights = self.request.weights_col
        return [self.request.event_id_col, *([weights] if weights is not None else [])]

    def tasks(self, encoding: EventEncoding) -> list[MatchTask]:
        """Return the task of each group of shards."""
        groups = self.request.groups
        return [
            MatchTask(
                ref=self.ref,
                encoding=encoding,
                schema=self.arrow_schema,
                output=self.request.task_output,
                top_k=self.request.top_k,
                leading=len(self.leading_columns),
                group=group,
                groups=groups,
            )
            for group in range(groups)
        ]

    def merge(self, parts: list[DataFrame]) -> DataFrame:
        """Merge the matches of the groups of shards."""
        union = reduce(DataFrame.unionAll, parts)
        if len(parts) == 1 or (self.request.top_k is None and self.request.output == "rows"):
            return union
        event = self.schema.fieldNames()[0]
        by_event = union.groupBy(event)
        if self.request.top_k is None:
            return by_event.agg(F.flatten(F.collect_list("ids")).alias("ids"))
        ranked = F.transform(
            F.arrays_zip("ids", "scores"),
            # Structs sort by their fields in order: highest score first, equal scores by id.
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


def prepare_job(
    spark: SparkSession, schema: StructType, index: IndexRef | DataFrame, request: MatchRequest
) -> MatchJob:
    """Resolve a request for events of a schema; a table of rules is indexed first.

    Raises:
        ValueError: A column does not exist, or no column is an attribute of the index.
        TypeError: A column has a type that is not allowed for its role.
    """
    event_id = column_type(schema, request.event_id_col)
    exclude = [request.event_id_col]
    if request.weights_col is not None:
        _check_weights(column_type(schema, request.weights_col), request.weights_col)
        exclude.append(request.weights_col)
    encoding = find_encoding(
        schema,
        exclude=exclude,
        attr_cols=request.attr_cols,
        json_col=request.json_col,
        map_col=request.map_col,
    )
    ref = index if isinstance(index, IndexRef) else temporary_index(index)
    manifest = remote_call(spark, version_files.pinned_manifest, ref)
    restricted = encoding.restricted_to(manifest.attributes)
    _check_attributes(encoding, restricted, manifest)
    if request.attr_cols is None:
        _refuse_unread_payload(schema, encoding, manifest)
    check_column_types(restricted, schema, manifest.attributes)
    emitted = _emitted_schema(request, event_id, ref)
    arrow_schema = to_arrow_schema(
        emitted,
        timezone=spark.conf.get("spark.sql.session.timeZone"),
        prefers_large_types=spark.conf.get("spark.sql.execution.arrow.useLargeVarTypes") == "true",
    )
    return MatchJob(request, ref, restricted, emitted, arrow_schema)


def _emitted_schema(request: MatchRequest, event_id: DataType, ref: IndexRef) -> StructType:
    id_type: DataType = LongType() if ref.id_type == "bigint" else StringType()
    schema = StructType().add(request.event_id_col, event_id)
    if request.task_output == "rows":
        schema.add("id", id_type)
        return schema if request.top_k is None else schema.add("score", DoubleType())
    schema.add("ids", ArrayType(id_type))
    return schema if request.top_k is None else schema.add("scores", ArrayType(DoubleType()))


def _check_attributes(encoding: EventEncoding, restricted: EventEncoding, manifest: Manifest) -> None:
    if isinstance(restricted, TypedColumns) and not restricted.columns and manifest.attributes:
        shown = ", ".join(manifest.attributes[:8]) + (", ..." if len(manifest.attributes) > 8 else "")
        raise ValueError(
            f"no rule refers to any of the columns {', '.join(encoding.columns) or '(none)'}; "
            f"rules refer to {shown}. Names are case-sensitive; "
            "json_col or map_col names a column of JSON or maps"
        )


def _refuse_unread_payload(schema: StructType, encoding: EventEncoding, manifest: Manifest) -> None:
    """Refuse a table of attributes whose rules ask for others that another of its columns may hold."""
    if not isinstance(encoding, TypedColumns):
        return
    names = {attribute.split(".")[0] for attribute in manifest.attributes} | {*manifest.attributes}
    missing = sorted(
        name for name in names - {*encoding.columns} if name.split(".")[0] not in encoding.columns
    )
    payloads = [
        column for column in encoding.columns if column not in names and may_hold_events(schema, column)
    ]
    if missing and payloads:
        raise ValueError(
            f"rules refer to {missing[0]!r}, which is no column, but column {payloads[0]!r} may hold it; "
            f"json_col={payloads[0]!r} or map_col={payloads[0]!r} reads events from that column alone, "
            "attr_cols names the columns that are attributes"
        )


def _check_weights(kind: DataType, column: str) -> None:
    if not (
        isinstance(kind, MapType)
        and isinstance(kind.keyType, StringType)
        and isinstance(kind.valueType, NumericType)
    ):
        raise TypeError(f"column {column!r} is {kind.simpleString()}; weights are a map<string,double>")
