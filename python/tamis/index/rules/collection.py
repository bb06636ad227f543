"""Adding, replacing and removing rules, and access by id."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from tamis.errors import InvalidId, UnknownId
from tamis.expression import Expression
from tamis.index.arguments import is_arrow, source
from tamis.index.handle import IndexHandle
from tamis.index.rules.batch import Batch
from tamis.index.rules.never_matching import warn_never
from tamis.index.rules.tables import EXPRESSION_COLUMN, ID_COLUMN, arrow_ids, repeatable, side_by_side
from tamis.results import Id

_Default = TypeVar("_Default")


class Rules(IndexHandle):
    """The rules of an index, as a mutable mapping of ids to expressions."""

    __slots__ = ()

    def add(self, id: Id, expression: str | Expression) -> None:
        """Add a rule: an expression under a new id.

        Raises:
            DuplicateId: The id is in use; `upsert` would replace its rule.
            ParseError: The text is no expression.
        """
        if self._batches and (batch := self._open_batch()) is not None:
            batch.add(id, expression)
        elif not self._native.add(id, source(expression)):
            warn_never([repr(id)], lambda: self._native.remove(id))

    def add_many(
        self,
        ids: Any,
        expressions: Iterable[str | Expression] | None = None,
        *,
        id_column: str = ID_COLUMN,
        expression_column: str = EXPRESSION_COLUMN,
    ) -> None:
        """Add many rules, or none of them if one fails; the error names the row.

        Takes ids and expressions side by side, or one argument: a mapping of ids to expressions, pairs, or a
        table with a column of ids and one of expressions: a list of mappings, a frame, or Arrow data.

        Args:
            ids: The ids, or all rules.
            expressions: The expressions, if `ids` has only the ids.
            id_column: The name of a table's column of ids.
            expression_column: The name of a table's column of expressions.

        >>> from tamis import Index
        >>> index = Index()
        >>> index.add_many(["a", "b"], ["x > 1", "x > 2"])
        >>> index.add_many({"c": "x > 3"})
        >>> index.add_many([{"rule": "d", "when": "x > 0"}], id_column="rule", expression_column="when")
        >>> index.match({"x": 3})
        ['a', 'b', 'd']
        """
        columns = (id_column, expression_column)
        if self._batches and (batch := self._open_batch()) is not None:
            batch._append_many("add", ids, expressions, columns)
            return
        if expressions is None and is_arrow(ids):
            rules = repeatable(ids)
            never = self._native.add_arrow(rules, columns)
            if never:
                rows = [f"row {row}" for row in never]
                warn_never(rows, lambda: self._remove_all(arrow_ids(rules, id_column)))
            return
        id_list, expression_list = side_by_side(ids, expressions, columns)
        never = self._native.add_many(id_list, [source(expression) for expression in expression_list])
        if never:
            warn_never([repr(id_list[row]) for row in never], lambda: self._remove_all(id_list))

    def replace(self, id: Id, expression: str | Expression) -> None:
        """Replace the expression of an id, which keeps its position in insertion order.

        Raises:
            UnknownId: The id is not in the index; `upsert` would add it.
        """
        if self._batches and (batch := self._open_batch()) is not None:
            batch.replace(id, expression)
            return
        before = self._native.text(id) if id in self else None
        if not self._native.replace(id, source(expression)):
            warn_never([repr(id)], lambda: self._native.replace(id, before))

    def upsert(self, id: Id, expression: str | Expression) -> None:
        """Replace the expression of an id, or add a new id; ``index[id] = expression`` does it too.

        >>> from tamis import Index
        >>> index = Index()
        >>> index.upsert("a", "x > 1")
        >>> index["a"] = "x > 2"
        >>> index.match({"x": 2})
        []
        """
        self._upsert([id], [expression])

    def upsert_many(
        self,
        ids: Any,
        expressions: Iterable[str | Expression] | None = None,
        *,
        id_column: str = ID_COLUMN,
        expression_column: str = EXPRESSION_COLUMN,
    ) -> None:
        """Replace or add many rules, or none of them if one fails; takes what `add_many` takes.

        If an id occurs more than once, the last expression counts. Other threads see all of the changes or
        none. Unlike `add_many`, it keeps the whole batch in memory until it is done.

        >>> from tamis import Index
        >>> index = Index()
        >>> index.add("a", "x > 1")
        >>> index.upsert_many({"a": "x > 5", "b": "x > 2"})
        >>> index.match({"x": 3})
        ['b']
        """
        columns = (id_column, expression_column)
        if self._batches and (batch := self._open_batch()) is not None:
            batch._append_many("upsert", ids, expressions, columns)
        else:
            self._upsert(*side_by_side(ids, expressions, columns))

    def remove(self, id: Id) -> None:
        """Remove a rule; ``del index[id]`` does it too.

        Raises:
            UnknownId: The id is not in the index.
        """
        if self._batches and (batch := self._open_batch()) is not None:
            batch.remove(id)
        else:
            self._native.remove(id)

    def remove_many(self, ids: Iterable[Id]) -> None:
        """Remove many rules, or none of them if one is not in the index; the error names the row.

        >>> from tamis import Index
        >>> index = Index()
        >>> index.add_many({"a": "x > 1", "b": "x > 2", "c": "x > 3"})
        >>> index.remove_many(["a", "c"])
        >>> list(index)
        ['b']
        """
        changes: list[tuple[str, Id, Any]] = [("remove", id, None) for id in ids]
        if self._batches and (batch := self._open_batch()) is not None:
            batch._changes += changes
        else:
            self._native.apply(changes)

    def batch(self) -> Batch:
        """Make several changes at once: ``with index.batch():`` collects what this thread changes.

        When the block ends, all changes are made together, in their order. Until then, every thread sees the
        index as it was, this one included. If the block raises, or a change is refused, none is made.

        >>> from tamis import Index
        >>> index = Index()
        >>> index.add("old", "x > 1")
        >>> with index.batch():
        ...     index.remove("old")
        ...     index.add("new", "x > 2")
        ...     list(index)
        ['old']
        >>> list(index)
        ['new']
        """
        return Batch(self)

    def clear(self) -> None:
        """Remove all rules."""
        self.remove_many(self)

    def get(self, id: Id, default: _Default | None = None) -> Expression | _Default | None:
        """Give the expression of an id, or `default` if it is not in the index."""
        try:
            return self[id]
        except (UnknownId, InvalidId):
            return default

    def keys(self) -> list[Id]:
        """Give all ids in insertion order."""
        return self._native.all_ids()

    def values(self) -> Iterator[Expression]:
        """Iterate over the expressions in insertion order."""
        return (expression for _, expression in self.items())

    def items(self) -> Iterator[tuple[Id, Expression]]:
        """Iterate over ids and expressions in insertion order; rules removed meanwhile are left out.

        >>> from tamis import Index
        >>> index = Index()
        >>> index.add_many({"a": "x > 1", "b": "x > 2"})
        >>> [(id, str(rule)) for id, rule in index.items()]
        [('a', 'x > 1'), ('b', 'x > 2')]
        """
        for id in self:
            expression = self.get(id)
            if expression is not None:
                yield id, expression

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

    def __setitem__(self, id: Id, expression: str | Expression) -> None:
        """As `upsert`."""
        self._upsert([id], [expression])

    def __delitem__(self, id: Id) -> None:
        """As `remove`."""
        self.remove(id)

    def __iter__(self) -> Iterator[Id]:
        """Iterate over the ids in insertion order, as of the call."""
        return iter(self._native.all_ids())

    def _open_batch(self) -> Batch | None:
        """Give the batch that this thread has open."""
        return self._batches.get(threading.get_ident())

    def _upsert(self, ids: Any, expressions: Any) -> None:
        if self._batches and (batch := self._open_batch()) is not None:
            batch._append_many("upsert", ids, expressions, (ID_COLUMN, EXPRESSION_COLUMN))
            return
        before = {id: self._native.text(id) for id in ids if id in self}
        rows = zip(ids, expressions, strict=True)
        never = self._native.apply([("upsert", id, source(expression)) for id, expression in rows])
        if never:
            warn_never([repr(ids[row]) for row in never], lambda: self._restore(ids, before), levels=4)

    def _restore(self, ids: Iterable[Id], before: dict[Id, str]) -> None:
        """Put back the rules of some ids, and remove those that had none."""
        changes: list[tuple[str, Id, Any]] = [("replace", id, text) for id, text in before.items()]
        added = [id for id in dict.fromkeys(ids) if id not in before]
        self._native.apply(changes + [("remove", id, None) for id in added])

    def _remove_all(self, ids: Iterable[Id]) -> None:
        self._native.apply([("remove", id, None) for id in ids])
