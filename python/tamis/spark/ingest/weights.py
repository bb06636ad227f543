"""Weights of predicates for top-k: what is rarely asked about counts more.

The way of the BE*-Tree paper (ICDE 2012, section VII-C), which it takes from the k-index paper: with ``inv``
the inverse frequency of an attribute among the subscriptions, a predicate on it weighs the larger of ``inv``
and a draw from a normal distribution around 0.8 ``inv`` with the deviation 0.05 ``inv``.

Here ``inv`` is 1 for the attribute that is asked about least; the paper does not give its scale, which
changes no order among matches.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tamis.errors import ParseError
from tamis.expression import Expression, all_of, any_of, parse
from tamis.results import Explanation
from tamis.spark.columns import named, require
from tamis.spark.ingest.conversion import Row, convert
from tamis.spark.ingest.ingested import Ingested
from tamis.spark.ingest.rules import accepted, read
from tamis.spark.ingest.styles import draw


def weighted(
    subscriptions: DataFrame, id_col: str = "id", expr_col: str = "expression", *, seed: int = 0
) -> Ingested:
    """Give each predicate of each subscription a weight by how rarely its attribute is asked about.

    Weights that are there are replaced. To learn the frequencies, the table is read when this function is
    called; they are kept in memory, one for each attribute. Bad are the rows that `subscriptions` finds bad.

    Args:
        subscriptions: A row for each subscription.
        id_col: The column of ids, strings or integers.
        expr_col: The column of expressions.
        seed: What the draw depends on, besides the id and the place of the predicate.
    """
    require(subscriptions, [expr_col])
    texts = subscriptions.select(named(expr_col).cast("string"))
    counted = texts.mapInArrow(count_attributes, "attribute string, subscriptions bigint")
    totals = counted.groupBy("attribute").agg(F.sum("subscriptions").alias("subscriptions"))
    counts = {row["attribute"]: row["subscriptions"] for row in totals.collect()}
    rarest = min(counts.values(), default=1)
    inverse = {attribute: rarest / count for attribute, count in counts.items()}
    maker = WeightedRule(expr_col, inverse, seed)
    return convert(subscriptions, maker, id_col=id_col, columns=[expr_col], result="expression")


def count_attributes(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Count the expressions of each batch that ask about an attribute, and only expressions."""
    for batch in batches:
        counts: Counter[str] = Counter()
        for text in batch.column(0).cast(pa.binary()).to_pylist():
            with suppress(UnicodeDecodeError, ParseError):
                counts.update(parse(str(text or b"", "utf-8")).attributes())
        columns = [pa.array(counts.keys(), pa.string()), pa.array(counts.values(), pa.int64())]
        yield pa.RecordBatch.from_arrays(columns, names=["attribute", "subscriptions"])


@dataclass(frozen=True)
class WeightedRule:
    """Makes a weighted expression of an expression."""

    column: str
    inverse: Mapping[str, float]
    seed: int

    def __call__(self, id: Any, row: Row) -> str:
        """Weigh the predicates and join them as they were."""
        tree = read(row[self.column], self.column).explain({})
        order, pending = [], [tree]
        while pending:
            node = pending.pop()
            order.append(node)
            pending.extend(node.children)
        # Operands come before what joins them, the first first.
        built: list[Expression] = []
        for place, node in enumerate(reversed(order)):
            if node.children:
                first = len(built) - len(node.children)
                built[first:] = [_joined(node.text, built[first:])]
            else:
                built.append(self._weighed(node, id, place))
        return accepted(built[0], self.column)

    def _weighed(self, leaf: Explanation, id: Any, place: int) -> Expression:
        predicate = parse(leaf.text)
        if not predicate.attributes():
            return predicate
        (attribute,) = predicate.attributes()
        # Another task may have read other rows, if the input changed since the frequencies were learnt.
        inverse = self.inverse.get(attribute, 1.0)
        drawn = inverse * (0.8 + 0.05 * self._normal(id, place))
        return predicate.weight(max(inverse, drawn))

    def _normal(self, id: Any, place: int) -> float:
        """Draw from the normal distribution, after Box and Muller."""
        radius = math.sqrt(-2 * math.log(1 - draw(self.seed, id, place, "radius")))
        return radius * math.cos(2 * math.pi * draw(self.seed, id, place, "angle"))


def _joined(connective: str, operands: list[Expression]) -> Expression:
    if connective == "NOT":
        return ~operands[0]
    if connective == "AND":
        return all_of(*operands)
    if connective == "OR":
        return any_of(*operands)
    if connective == "XOR":
        return reduce(lambda left, right: left ^ right, operands)
    return reduce(lambda left, right: left.xnor(right), operands)
