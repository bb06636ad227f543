"""Weights of predicates for top-k: predicates on rare attributes weigh more.

The method of the BE*-Tree paper (ICDE 2012, section VII-C), taken from the k-index paper: with ``inv`` the
inverse frequency of an attribute among the rules, the weight of a predicate on it is the maximum of ``inv``
and a draw from a normal distribution with mean 0.8 ``inv`` and standard deviation 0.05 ``inv``.

Here ``inv`` is 1 for the rarest attribute. The paper does not give its scale, which does not affect the
ranking.
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

from tamis import Explanation, Expression, ParseError, all_of, any_of, parse
from tamis.spark.columns import exact_column, require_columns
from tamis.spark.ingest.conversion import RowValues, convert
from tamis.spark.ingest.ingested import Ingested
from tamis.spark.ingest.rules import checked_text, parse_rule
from tamis.spark.ingest.styles import draw


def weighted(
    subscriptions: DataFrame, id_col: str = "id", expr_col: str = "expression", *, seed: int = 0
) -> Ingested:
    """Give each predicate of each rule a weight by the inverse frequency of its attribute.

    Existing weights are replaced. The call itself reads the table, to count the rules per attribute; the
    counts are kept in memory, one per attribute. Rows are bad for the same reasons as in `subscriptions`.

    Args:
        subscriptions: One row per rule.
        id_col: The column of ids, strings or integers.
        expr_col: The column of expressions.
        seed: The seed of the draws, which also depend on the id and the position of the predicate.
    """
    require_columns(subscriptions, [expr_col])
    texts = subscriptions.select(exact_column(expr_col).cast("string"))
    counted = texts.mapInArrow(count_attributes, "attribute string, subscriptions bigint")
    totals = counted.groupBy("attribute").agg(F.sum("subscriptions").alias("subscriptions"))
    counts = {row["attribute"]: row["subscriptions"] for row in totals.collect()}
    rarest = min(counts.values(), default=1)
    inverse = {attribute: rarest / count for attribute, count in counts.items()}
    converter = WeightedRule(expr_col, inverse, seed)
    return convert(subscriptions, converter, id_col=id_col, columns=[expr_col], result="expression")


def count_attributes(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Count, for each attribute, the expressions of a batch that refer to it; skip what does not parse."""
    for batch in batches:
        counts: Counter[str] = Counter()
        for text in batch.column(0).cast(pa.binary()).to_pylist():
            with suppress(UnicodeDecodeError, ParseError):
                counts.update(parse(str(text or b"", "utf-8")).attributes())
        columns = [pa.array(counts.keys(), pa.string()), pa.array(counts.values(), pa.int64())]
        yield pa.RecordBatch.from_arrays(columns, names=["attribute", "subscriptions"])


@dataclass(frozen=True)
class WeightedRule:
    """Replaces the weights of an expression."""

    column: str
    inverse: Mapping[str, float]
    seed: int

    def __call__(self, id: Any, row: RowValues) -> str:
        """Rebuild the expression bottom-up with weighted predicates."""
        tree = parse_rule(row[self.column], self.column).explain({})
        order, pending = [], [tree]
        while pending:
            node = pending.pop()
            order.append(node)
            pending.extend(node.children)
        # Reversed, the order is a postorder: operands from left to right, then their connective.
        built: list[Expression] = []
        for position, node in enumerate(reversed(order)):
            if node.children:
                first = len(built) - len(node.children)
                built[first:] = [_connected(node.text, built[first:])]
            else:
                built.append(self._weighted(node, id, position))
        return checked_text(built[0], self.column)

    def _weighted(self, leaf: Explanation, id: Any, position: int) -> Expression:
        predicate = parse(leaf.text)
        if not predicate.attributes():
            return predicate
        (attribute,) = predicate.attributes()
        # The attribute is unknown if the input changed after the frequencies were counted.
        inverse = self.inverse.get(attribute, 1.0)
        drawn = inverse * (0.8 + 0.05 * self._normal(id, position))
        return predicate.weight(max(inverse, drawn))

    def _normal(self, id: Any, position: int) -> float:
        """Draw from the standard normal distribution (Box-Muller)."""
        radius = math.sqrt(-2 * math.log(1 - draw(self.seed, id, position, "radius")))
        return radius * math.cos(2 * math.pi * draw(self.seed, id, position, "angle"))


def _connected(connective: str, operands: list[Expression]) -> Expression:
    if connective == "NOT":
        return ~operands[0]
    if connective == "AND":
        return all_of(*operands)
    if connective == "OR":
        return any_of(*operands)
    if connective == "XOR":
        return reduce(lambda left, right: left ^ right, operands)
    return reduce(lambda left, right: left.xnor(right), operands)
