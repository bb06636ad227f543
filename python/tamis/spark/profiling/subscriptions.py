"""Statistics of rules: workers parse and count batch by batch, the JVM adds up."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from tamis import Dissection, Limits, dissect
from tamis.spark.columns import exact_column, require_columns
from tamis.spark.profiling.selectivity import selectivities

_ASPECTS = pa.schema(
    [
        ("aspect", pa.string()),
        ("attribute", pa.string()),
        ("value", pa.string()),
        ("subscriptions", pa.int64()),
        ("predicates", pa.int64()),
    ]
)


def profile_subscriptions(
    subscriptions: DataFrame,
    *,
    expr_col: str = "expression",
    sample: DataFrame | None = None,
    limits: Limits | None = None,
    **layout: Any,
) -> DataFrame:
    """Compute statistics of rules: one row per aspect, the most frequent first.

    Columns: ``aspect``, ``attribute`` and ``value``, as below; ``subscriptions``, the number of rules that
        have
    the aspect, and ``share``, their share of all valid rules; ``predicates``, the number of predicates that
    the aspect counts; ``selectivity``, the mean selectivity of those predicates, if there is a sample.

    | aspect | attribute | value |
    | --- | --- | --- |
    | all | | |
    | attribute | the attribute | |
    | operator | | as in `Predicate` |
    | attribute operator | the attribute | the operator |
    | kind | | the kind of the literals |
    | size | | the number of predicates |
    | depth | | the number of levels |
    | conjunctions | | the conjunctions it expands to, rounded up to a power of two |
    | bad | | rules that do not parse; `ingest.subscriptions` gives the reasons |

    Args:
        subscriptions: One row per rule.
        expr_col: The column of expressions.
        sample: Events to compute selectivities from, in any layout; see `sample_events`.
        limits: The limits of expressions, as in `tamis.Index`.
        layout: The layout of the sample, as in `profile_events`.
    """
    require_columns(subscriptions, [expr_col])
    task = AspectCount(limits or Limits())
    schema = "aspect string, attribute string, value string, subscriptions bigint, predicates bigint"
    counted = subscriptions.select(exact_column(expr_col).cast("string")).mapInArrow(task.run, schema)
    totals = counted.groupBy("aspect", "attribute", "value").agg(
        F.sum("subscriptions").alias("subscriptions"), F.sum("predicates").alias("predicates")
    )
    # One partition for all aspects, which are far fewer than rules.
    valid = F.sum(F.when(F.col("aspect") == "all", F.col("subscriptions"))).over(Window.partitionBy(F.lit(0)))
    share = F.when(F.col("aspect") != "bad", F.col("subscriptions") / valid)
    shares = totals.withColumn("share", share)
    if sample is None:
        profile = shares.withColumn("selectivity", F.lit(None).cast("double"))
    else:
        measured = selectivities(subscriptions, sample, expr_col=expr_col, limits=limits, **layout)
        profile = _with_selectivity(shares, measured)
    columns = ("aspect", "attribute", "value", "subscriptions", "share", "predicates", "selectivity")
    ordered = profile.select(*columns).coalesce(1)
    return ordered.sortWithinPartitions("aspect", F.desc("subscriptions"), "attribute", "value")


def _with_selectivity(shares: DataFrame, measured: DataFrame) -> DataFrame:
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
        measured.select(F.explode(aspects).alias("key"), "predicates", "selectivity")
        .groupBy("key")
        .agg((F.sum(F.col("selectivity") * F.col("predicates")) / F.sum("predicates")).alias("selectivity"))
    )
    return shares.withColumn("key", F.struct("aspect", "attribute", "value")).join(means, "key", "left")


@dataclass(frozen=True)
class AspectCount:
    """The task that counts aspects. Batches have one column, the expressions."""

    limits: Limits

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Count the aspects of each batch."""
        for batch in batches:
            counted = pa.concat_tables(_aspects(dissect(batch.column(0), self.limits)))
            yield from counted.combine_chunks().to_batches()


def _aspects(parts: Dissection) -> Iterator[pa.Table]:
    """Count, per aspect, the rules that have it and the predicates it covers."""
    yield _ASPECTS.empty_table()
    for name, attribute, value in (
        ("attribute", "attribute", None),
        ("operator", None, "operator"),
        ("attribute operator", "attribute", "operator"),
        ("kind", None, "kind"),
    ):
        keys = [key for key in (attribute, value) if key is not None]
        counted = parts.predicates.group_by(keys).aggregate([("row", "count_distinct"), ("row", "count")])
        yield _table(counted, name, attribute, value, "row_count_distinct", "row_count")
    good = parts.expressions.filter(pc.is_null(parts.expressions["error"]))
    powers = pa.array(map(_power_of_two, good["conjunctions"].to_pylist()), pa.string())
    good = good.append_column("size", good["predicates"]).set_column(3, "conjunctions", powers)
    for name, value in (
        ("all", None),
        ("size", "size"),
        ("depth", "depth"),
        ("conjunctions", "conjunctions"),
    ):
        if len(good) > 0:
            keys = [value] if value is not None else []
            counted = good.group_by(keys).aggregate([([], "count_all"), ("predicates", "sum")])
            yield _table(counted, name, None, value, "count_all", "predicates_sum")
    if len(good) < len(parts.expressions):
        bad = {"subscriptions": [len(parts.expressions) - len(good)], "predicates": [0]}
        yield _table(pa.table(bad), "bad", None, None, "subscriptions", "predicates")


def _table(
    counted: pa.Table,
    name: str,
    attribute: str | None,
    value: str | None,
    subscriptions: str,
    predicates: str,
) -> pa.Table:
    """Give counts the columns of `_ASPECTS`."""
    none = pa.nulls(len(counted), pa.string())
    columns = [
        pa.repeat(name, len(counted)),
        none if attribute is None else counted[attribute],
        none if value is None else counted[value],
        counted[subscriptions],
        counted[predicates],
    ]
    return pa.table(columns, names=_ASPECTS.names).cast(_ASPECTS)


def _power_of_two(count: float) -> str:
    if math.isinf(count):
        return "more"
    return str(2 ** math.ceil(math.log2(count)))
