"""What subscriptions ask for: parsed and counted batch by batch in workers, added up by the JVM."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from tamis.limits import DEFAULT, Limits
from tamis.spark.columns import named, require
from tamis.spark.profiling.predicates import Shape, shape_or_none
from tamis.spark.profiling.selectivity import selectivities

Aspect: TypeAlias = tuple[str, str | None, str | None]


def profile_subscriptions(
    subscriptions: DataFrame,
    *,
    expr_col: str = "expression",
    sample: DataFrame | None = None,
    limits: Limits | None = None,
    **layout: Any,
) -> DataFrame:
    """Count what subscriptions ask for: a row for each aspect, the most frequent first.

    Columns: ``aspect``, ``attribute`` and ``value``, as below; ``subscriptions``, how many have it, and
    ``share``, which part of all expressions that is; ``predicates``, how many of theirs it is about;
    ``selectivity``, the mean share of events for which those predicates hold, if there is a sample.

    | aspect | attribute | value |
    | --- | --- | --- |
    | all | | |
    | attribute | asked about | |
    | operator | | as in `Predicate` |
    | attribute operator | asked about | the operator |
    | kind | | the kind of values asked for |
    | size | | how many predicates |
    | depth | | how many levels |
    | conjunctions | | to how many it expands, up to the next power of two |
    | bad | | (no expressions; `ingest.subscriptions` tells why) |

    Args:
        subscriptions: A row for each expression.
        expr_col: The column of expressions.
        sample: Events to take selectivities from, in any layout; see `sample_events`.
        limits: What expressions are accepted.
        layout: The layout of the sample, as `profile_events` takes it.
    """
    require(subscriptions, [expr_col])
    work = AspectCount(limits or DEFAULT)
    schema = "aspect string, attribute string, value string, subscriptions bigint, predicates bigint"
    counted = subscriptions.select(named(expr_col).cast("string")).mapInArrow(work.run, schema)
    totals = counted.groupBy("aspect", "attribute", "value").agg(
        F.sum("subscriptions").alias("subscriptions"), F.sum("predicates").alias("predicates")
    )
    # All aspects, in one partition: there are far fewer of them than of subscriptions.
    everyone = F.sum(F.when(F.col("aspect") == "all", F.col("subscriptions"))).over(
        Window.partitionBy(F.lit(0))
    )
    share = F.when(F.col("aspect") != "bad", F.col("subscriptions") / everyone)
    shares = totals.withColumn("share", share)
    if sample is None:
        whole = shares.withColumn("selectivity", F.lit(None).cast("double"))
    else:
        known = selectivities(subscriptions, sample, expr_col=expr_col, limits=limits, **layout)
        whole = _with_selectivity(shares, known)
    columns = ("aspect", "attribute", "value", "subscriptions", "share", "predicates", "selectivity")
    ordered = whole.select(*columns).coalesce(1)
    return ordered.sortWithinPartitions("aspect", F.desc("subscriptions"), "attribute", "value")


def _with_selectivity(shares: DataFrame, known: DataFrame) -> DataFrame:
    def aspect(name: str, attribute: bool, value: bool) -> Any:
        return F.struct(
            F.lit(name).alias("aspect"),
            (F.col("attribute") if attribute else F.lit(None).cast("string")).alias("attribute"),
            (F.col("operator") if value else F.lit(None).cast("string")).alias("value"),
        )

    aspects = F.array(
        aspect("all", False, False),
        aspect("attribute", True, False),
        aspect("operator", False, True),
        aspect("attribute operator", True, True),
    )
    means = (
        known.select(F.explode(aspects).alias("of"), "predicates", "selectivity")
        .groupBy("of")
        .agg((F.sum(F.col("selectivity") * F.col("predicates")) / F.sum("predicates")).alias("selectivity"))
    )
    here = F.struct("aspect", "attribute", "value")
    return shares.withColumn("of", here).join(means, "of", "left")


@dataclass(frozen=True)
class AspectCount:
    """The work on Arrow batches with one column, the expressions."""

    limits: Limits

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Count the aspects of each batch, so that few rows leave the worker."""
        for batch in batches:
            subscriptions: Counter[Aspect] = Counter()
            predicates: Counter[Aspect] = Counter()
            for shape in self._shapes(batch.column(0)):
                aspects = _aspects(shape)
                predicates.update(aspects)
                subscriptions.update(aspects.keys())
            aspects_seen = list(zip(*subscriptions, strict=True)) if subscriptions else [(), (), ()]
            columns = [pa.array(column, pa.string()) for column in aspects_seen]
            columns.append(pa.array(subscriptions.values(), pa.int64()))
            columns.append(pa.array([predicates[aspect] for aspect in subscriptions], pa.int64()))
            names = ["aspect", "attribute", "value", "subscriptions", "predicates"]
            yield pa.RecordBatch.from_arrays(columns, names=names)

    def _shapes(self, texts: pa.Array) -> Iterator[Shape | None]:
        return (shape_or_none(text, self.limits) for text in texts.cast(pa.binary()).to_pylist())


def _aspects(shape: Shape | None) -> dict[Aspect, int]:
    """Give the aspects of one subscription, each with the number of its predicates."""
    if shape is None:
        return {("bad", None, None): 0}
    size = len(shape.predicates)
    aspects: Counter[Aspect] = Counter()
    for predicate in shape.predicates:
        aspects["attribute", predicate.attribute, None] += 1
        aspects["operator", None, predicate.operator] += 1
        aspects["attribute operator", predicate.attribute, predicate.operator] += 1
        aspects["kind", None, predicate.kind] += 1
    for name, value in (
        ("all", None),
        ("size", str(size)),
        ("depth", str(shape.depth)),
        ("conjunctions", _power_of_two(shape.conjunctions)),
    ):
        aspects[name, None, value] = size
    return aspects


def _power_of_two(count: float) -> str:
    if math.isinf(count):
        return "more"
    return str(2 ** math.ceil(math.log2(count)))
