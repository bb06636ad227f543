"""Selectivities of predicates: the share of a sample of events that satisfies each."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tamis import Index, Limits, NeverMatchesWarning, dissect
from tamis.spark.columns import exact_column, require_columns
from tamis.spark.event_encoding import EventEncoding, find_encoding

# Groups of predicates, each matched with the whole sample: a million predicates make some 16,000 per group.
_GROUPS = 64
# Events per call: their matches are held in memory.
_EVENTS_PER_CALL = 128

_PREDICATES = pa.schema(
    [
        ("predicate", pa.string()),
        ("attribute", pa.string()),
        ("operator", pa.string()),
        ("predicates", pa.int64()),
    ]
)
_SCHEMA = "predicate string, attribute string, operator string, predicates bigint, selectivity double"


def selectivities(
    subscriptions: DataFrame,
    sample: DataFrame,
    *,
    expr_col: str = "expression",
    limits: Limits | None = None,
    event_id_col: str = "event_id",
    attr_cols: tuple[str, ...] | None = None,
    json_col: str | None = None,
    map_col: str | None = None,
) -> DataFrame:
    """Compute the share of a sample of events that satisfies each distinct predicate.

    The sample is matched with an index of the predicates, so the result is exact for the sample, for any
    operator. A predicate under NOT counts as written, without the NOT.

    Columns: ``predicate``, its text without a weight; ``attribute``; ``operator``; ``predicates``, its number
        of
    occurrences; ``selectivity``, null if the sample is empty. Expressions that do not parse are left out.

    Args:
        subscriptions: One row per expression.
        sample: Events, in any layout; see `sample_events`. It is copied to 64 tasks.
        expr_col: The column of expressions.
        limits: The limits of expressions, as in `tamis.Index`.
        event_id_col: The column of ids of the sample, which is not an attribute.
        attr_cols: The columns of attributes; by default all but the ids.
        json_col: The column of JSON.
        map_col: The column of maps.
    """
    require_columns(subscriptions, [expr_col])
    encoding = find_encoding(
        sample.schema, exclude=[event_id_col], attr_cols=attr_cols, json_col=json_col, map_col=map_col
    )
    count_task = PredicateCount(limits or Limits())
    counted = subscriptions.select(exact_column(expr_col).cast("string")).mapInArrow(
        count_task.run, "predicate string, attribute string, operator string, predicates bigint"
    )
    group = F.pmod(F.xxhash64("predicate"), F.lit(_GROUPS)).cast("int")
    distinct = (
        counted.groupBy("predicate", "attribute", "operator")
        .agg(F.sum("predicates").alias("predicates"))
        .withColumn("group", group)
    )
    groups = sample.sparkSession.range(_GROUPS).select(F.col("id").cast("int").alias("group"))
    event = F.struct(*(exact_column(name) for name in encoding.columns)).alias("event")
    copies = sample.select(event).crossJoin(groups)
    match_task = SampleMatch(encoding)

    # A function: Spark chooses what to pass by the number of arguments, and counts `self` of a method.
    def measure(predicates: pa.Table, events: pa.Table) -> pa.Table:
        return match_task.measure(predicates, events)

    pairs = distinct.groupBy("group").cogroup(copies.groupBy("group"))
    return pairs.applyInArrow(measure, _SCHEMA)


@dataclass(frozen=True)
class PredicateCount:
    """The task that counts predicates. Batches have one column, the expressions."""

    limits: Limits

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Count the distinct predicates of each batch."""
        for batch in batches:
            predicates = dissect(batch.column(0), self.limits).predicates
            counted = predicates.group_by(["text", "attribute", "operator"]).aggregate([("row", "count")])
            renamed = counted.rename_columns(_PREDICATES.names).cast(_PREDICATES)
            yield from renamed.combine_chunks().to_batches()


@dataclass(frozen=True)
class SampleMatch:
    """The task that matches the whole sample with a group of predicates."""

    encoding: EventEncoding

    def measure(self, predicates: pa.Table, sample: pa.Table) -> pa.Table:
        """Match the sample with the predicates, and append the selectivities."""
        texts = predicates["predicate"].to_pylist()
        counts = np.zeros(len(texts), dtype=np.int64)
        if texts:
            index = Index(limits=Limits(max_length=2**62, max_depth=1000, max_regex_size=2**62))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NeverMatchesWarning)
                index.add_many(list(range(len(texts))), texts)
            for start in range(0, len(sample), _EVENTS_PER_CALL):
                ids = self._matches(index, sample["event"].slice(start, _EVENTS_PER_CALL))
                counts += np.bincount(ids, minlength=len(texts))
        shares = pa.array(counts / len(sample) if len(sample) else [None] * len(texts), pa.float64())
        return predicates.select(["predicate", "attribute", "operator", "predicates"]).append_column(
            "selectivity", shares
        )

    def _matches(self, index: Index, events: pa.ChunkedArray) -> Any:
        columns = events.combine_chunks().flatten()
        batch = pa.RecordBatch.from_arrays(columns, names=list(self.encoding.columns))
        return np.asarray(self.encoding.match(index, batch).ids)
