"""How often a predicate holds, found by asking a sample of events."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tamis.errors import NeverMatchesWarning
from tamis.expression import DEFAULT, Limits, dissect
from tamis.index import Index
from tamis.spark.columns import named, require
from tamis.spark.layouts import Layout, find_layout

# Enough that a million predicates come in groups of some thousands; each group sees the whole sample.
_GROUPS = 64
# So many events are matched at once: what they match is held in memory.
_EVENTS_AT_ONCE = 128

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
    """Tell for each distinct predicate which share of a sample of events satisfies it.

    The sample is matched with an index of the predicates, so the answer is exact for the sample, whatever the
    operator. A predicate under NOT is taken as it stands there, without the NOT.

    Columns: ``predicate``, its text without a weight; ``attribute``; ``operator``; ``predicates``, how often
    it is there; ``selectivity``, null if the sample is empty. Rows that are no expressions are left out.

    Args:
        subscriptions: A row for each expression.
        sample: Events, in any layout; see `sample_events`. It is copied to some tens of tasks.
        expr_col: The column of expressions.
        limits: What expressions are accepted.
        event_id_col: The column of ids of the sample, which is no attribute.
        attr_cols: The columns of attributes; by default all but the ids.
        json_col: The column of JSON.
        map_col: The column of maps.
    """
    require(subscriptions, [expr_col])
    layout = find_layout(
        sample.schema, other_than=[event_id_col], attr_cols=attr_cols, json_col=json_col, map_col=map_col
    )
    work = PredicateCount(limits or DEFAULT)
    counted = subscriptions.select(named(expr_col).cast("string")).mapInArrow(
        work.run, "predicate string, attribute string, operator string, predicates bigint"
    )
    group = F.pmod(F.xxhash64("predicate"), F.lit(_GROUPS)).cast("int")
    distinct = (
        counted.groupBy("predicate", "attribute", "operator")
        .agg(F.sum("predicates").alias("predicates"))
        .withColumn("group", group)
    )
    groups = sample.sparkSession.range(_GROUPS).select(F.col("id").cast("int").alias("group"))
    event = F.struct(*(named(name) for name in layout.columns)).alias("event")
    everywhere = sample.select(event).crossJoin(groups)
    work_on_group = SampleMatch(layout)

    # Spark tells by the number of arguments what to pass, and would count `self` of a method.
    def measure(predicates: pa.Table, events: pa.Table) -> pa.Table:
        return work_on_group.measure(predicates, events)

    asked = distinct.groupBy("group").cogroup(everywhere.groupBy("group"))
    return asked.applyInArrow(measure, _SCHEMA)


@dataclass(frozen=True)
class PredicateCount:
    """The work on Arrow batches with one column, the expressions."""

    limits: Limits

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Count the distinct predicates of each batch."""
        for batch in batches:
            predicates = dissect(batch.column(0), self.limits).predicates
            counted = predicates.group_by(["text", "attribute", "operator"]).aggregate([("row", "count")])
            named = counted.rename_columns(_PREDICATES.names).cast(_PREDICATES)
            yield from named.combine_chunks().to_batches()


@dataclass(frozen=True)
class SampleMatch:
    """The work on a group of predicates and the whole sample."""

    layout: Layout

    def measure(self, predicates: pa.Table, sample: pa.Table) -> pa.Table:
        """Match the sample with the predicates and count."""
        texts = predicates["predicate"].to_pylist()
        counts = np.zeros(len(texts), dtype=np.int64)
        if texts:
            index = Index(limits=Limits(max_length=2**62, max_depth=1000, max_regex_size=2**62))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NeverMatchesWarning)
                index.add_many(list(range(len(texts))), texts)
            for start in range(0, len(sample), _EVENTS_AT_ONCE):
                ids = self._matches(index, sample["event"].slice(start, _EVENTS_AT_ONCE))
                counts += np.bincount(ids, minlength=len(texts))
        known = len(sample) > 0
        shares = pa.array(counts / len(sample) if known else [None] * len(texts), pa.float64())
        return predicates.select(["predicate", "attribute", "operator", "predicates"]).append_column(
            "selectivity", shares
        )

    def _matches(self, index: Index, events: pa.ChunkedArray) -> Any:
        columns = events.combine_chunks().flatten()
        batch = pa.RecordBatch.from_arrays(columns, names=list(self.layout.columns))
        return np.asarray(self.layout.match(index, batch).ids)
