"""The predicates of many expressions, as tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tamis import _native
from tamis.expression.expression import Expression
from tamis.expression.limits import DEFAULT, Limits

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True)
class Dissection:
    """The predicates of many expressions.

    Attributes:
        expressions: A row for each expression: ``error``, null if it is valid; ``predicates``, their number;
            ``depth`` and ``conjunctions``, as `Expression.depth` and `Expression.conjunctions` count them.
        predicates: A row for each predicate, from left to right: ``row``, the expression's number from 0, and
            the attributes of `Predicate`; ``values`` are literals in the language.
    """

    expressions: pyarrow.Table
    predicates: pyarrow.Table


def dissect(expressions: Any, limits: Limits | None = None) -> Dissection:
    """List the predicates of many expressions at once; `Expression.predicates` does it for one.

    Args:
        expressions: Texts, or Expressions, or a column of Arrow data. A null, and what is no expression, has
            an ``error`` and no predicates.
        limits: What expressions are accepted.

    >>> parts = dissect(["age > 30 and not vip", "country in ('US', 'DE')", "age >"])
    >>> parts.expressions.select(["predicates", "depth"]).to_pydict()
    {'predicates': [2, 1, None], 'depth': [3, 1, None]}
    >>> parts.predicates.select(["row", "attribute", "operator", "values"]).to_pylist()[2]
    {'row': 1, 'attribute': 'country', 'operator': 'IN', 'values': ["'US'", "'DE'"]}
    """
    import pyarrow

    table = pyarrow.table({"expression": _column(expressions)})
    expression_rows, predicate_rows = _native.dissect(table, (limits or DEFAULT).as_tuple())
    return Dissection(_table(expression_rows), _table(predicate_rows))


def _table(batch: _native.NativeBatch) -> pyarrow.Table:
    import pyarrow

    return pyarrow.table(batch)


def _column(expressions: Any) -> pyarrow.Array | pyarrow.ChunkedArray:
    import pyarrow

    if hasattr(expressions, "__arrow_c_stream__"):
        return pyarrow.chunked_array(expressions)
    if hasattr(expressions, "__arrow_c_array__"):
        return pyarrow.array(expressions)
    if isinstance(expressions, str) or not isinstance(expressions, Iterable):
        raise TypeError(f"dissect takes many expressions, not {type(expressions).__name__}")
    texts = [str(given) if isinstance(given, Expression) else given for given in expressions]
    return pyarrow.array(texts, pyarrow.large_string())
