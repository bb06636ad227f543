"""Adding, replacing and removing rules, and access by id."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tamis.errors import InvalidId, NeverMatchesWarning
from tamis.expression import Expression
from tamis.index.arguments import is_arrow, source
from tamis.index.arrow_data import checked
from tamis.index.handle import IndexHandle
from tamis.results import Id


class Rules(IndexHandle):
    """The rules of an index, as a collection."""

    __slots__ = ()

    def add(self, id: Id, expression: str | Expression) -> None:
        """Add a rule: an expression under a new id.

        Raises:
            DuplicateId: The id is in use.
            ParseError: The text is no expression.
        """
        if not self._native.add(id, source(expression)):
            _warn_never([repr(id)], lambda: self._native.remove(id))

    def add_many(self, ids: Any, expressions: Iterable[str | Expression] | None = None) -> None:
        """Add many rules, or none of them if one fails; the error names the row.

        Takes ids and expressions side by side, or one argument: a mapping, pairs, or Arrow data with the
        columns ``id`` and ``expression``.

        >>> from tamis import Index
        >>> index = Index()
        >>> index.add_many(["a", "b"], ["x > 1", "x > 2"])
        >>> index.add_many({"c": "x > 3"})
        >>> index.match({"x": 3})
        ['a', 'b']
        """
        if expressions is None and is_arrow(ids):
            rules = _repeatable(ids)
            never = self._native.add_arrow(rules)
            if never:
                _warn_never([f"row {row}" for row in never], lambda: self._remove_all(_arrow_ids(rules)))
            return
        id_list, expression_list = _side_by_side(ids, expressions)
        never = self._native.add_many(id_list, [source(expression) for expression in expression_list])
        if never:
            _warn_never([repr(id_list[row]) for row in never], lambda: self._remove_all(id_list))

    def replace(self, id: Id, expression: str | Expression) -> None:
        """Replace the expression of an id, which keeps its position in insertion order.

        Raises:
            UnknownId: The id is not in the index.
        """
        before = self._native.expression(id) if id in self else None
        if not self._native.replace(id, source(expression)):
            _warn_never([repr(id)], lambda: self._native.replace(id, before))

    def remove(self, id: Id) -> None:
        """Remove a rule.

        Raises:
            UnknownId: The id is not in the index.
        """
        self._native.remove(id)

    def _remove_all(self, ids: Iterable[Id]) -> None:
        for id in ids:
            self._native.remove(id)

    def __len__(self) -> int:
        """Count the rules."""
        return len(self._native)

    def __contains__(self, id: object) -> bool:
        """Tell whether an id is in the index."""
        try:
            return id in self._native
        except InvalidId:
            return False

    def __getitem__(self, id: Id) -> Expression:
        """Give the expression of an id."""
        return Expression(self._native.expression(id))

    def __iter__(self) -> Iterator[Id]:
        """Iterate over the ids in insertion order, as of the call."""
        return iter(self._native.all_ids())


def _side_by_side(
    ids: Any, expressions: Iterable[str | Expression] | None
) -> tuple[Sequence[Id], Sequence[str | Expression]]:
    if expressions is None:
        pairs = list(ids.items() if isinstance(ids, Mapping) else ids)
        for row, pair in enumerate(pairs):
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise TypeError(f"row {row}: add_many takes pairs of id and expression, not {pair!r}")
        return [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    if isinstance(expressions, str):
        raise TypeError("expressions is one str, not many; use add() for a single expression")
    id_list, expression_list = list(ids), list(expressions)
    if len(id_list) != len(expression_list):
        raise ValueError(f"{len(id_list)} ids, but {len(expression_list)} expressions")
    return id_list, expression_list


def _repeatable(data: Any) -> Any:
    """Return Arrow data that can be read more than once."""
    # Data of pyarrow exists only where pyarrow is loaded.
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(data, arrow.RecordBatchReader):
        return checked(data).read_all()
    return data


def _arrow_ids(data: Any) -> list[Id]:
    import pyarrow as pa

    return pa.table(data).column("id").to_pylist()  # type: ignore[no-any-return]


def _warn_never(names: list[str], undo: Callable[[], object]) -> None:
    """Warn of rules that can never match. Where warnings are errors, the call has done nothing."""
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    try:
        warnings.warn(f"no event can satisfy the expression of {shown}", NeverMatchesWarning, stacklevel=3)
    except NeverMatchesWarning:
        undo()
        raise
