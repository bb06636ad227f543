"""Several changes of an index at once."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tamis.expression import Expression
from tamis.index.arguments import source
from tamis.index.rules.never_matching import warn_never
from tamis.index.rules.tables import EXPRESSION_COLUMN, ID_COLUMN, side_by_side
from tamis.results import Id

if TYPE_CHECKING:
    from tamis.index.handle import IndexHandle


class Batch:
    """Changes that are made together when the ``with`` block ends: all of them, or none.

    `Index.batch` makes one. Until the block ends, the index is as it was, for every thread. If the block
    raises, the changes are dropped; if one of them is refused, for example because its id is in use, the
    error names it by its number from 0, and none is made.
    """

    __slots__ = ("_changes", "_index")

    def __init__(self, index: IndexHandle) -> None:
        """Begin without changes."""
        self._index = index
        self._changes: list[tuple[str, Id, Any]] = []

    def add(self, id: Id, expression: str | Expression) -> None:
        """As `Index.add`; the expression is checked now, the id when the block ends."""
        self._append("add", id, expression)

    def replace(self, id: Id, expression: str | Expression) -> None:
        """As `Index.replace`; the expression is checked now, the id when the block ends."""
        self._append("replace", id, expression)

    def upsert(self, id: Id, expression: str | Expression) -> None:
        """As `Index.upsert`; the expression is checked now."""
        self._append("upsert", id, expression)

    def remove(self, id: Id) -> None:
        """As `Index.remove`; the id is checked when the block ends."""
        self._changes.append(("remove", id, None))

    def add_many(
        self,
        ids: Any,
        expressions: Iterable[str | Expression] | None = None,
        *,
        id_column: str = ID_COLUMN,
        expression_column: str = EXPRESSION_COLUMN,
    ) -> None:
        """As `Index.add_many`; the expressions are checked now, the ids when the block ends."""
        self._append_many("add", ids, expressions, (id_column, expression_column))

    def upsert_many(
        self,
        ids: Any,
        expressions: Iterable[str | Expression] | None = None,
        *,
        id_column: str = ID_COLUMN,
        expression_column: str = EXPRESSION_COLUMN,
    ) -> None:
        """As `Index.upsert_many`; the expressions are checked now."""
        self._append_many("upsert", ids, expressions, (id_column, expression_column))

    def remove_many(self, ids: Iterable[Id]) -> None:
        """As `Index.remove_many`; the ids are checked when the block ends."""
        self._changes.extend(("remove", id, None) for id in ids)

    def __setitem__(self, id: Id, expression: str | Expression) -> None:
        """As `upsert`."""
        self.upsert(id, expression)

    def __delitem__(self, id: Id) -> None:
        """As `remove`."""
        self.remove(id)

    def __len__(self) -> int:
        """Count the changes so far."""
        return len(self._changes)

    def _append(self, kind: str, id: Id, expression: str | Expression) -> None:
        given = source(expression)
        if not self._index._native.can_match(given):
            warn_never([repr(id)], lambda: None, levels=4)
        self._changes.append((kind, id, given))

    def _append_many(
        self, kind: str, ids: Any, expressions: Iterable[str | Expression] | None, columns: tuple[str, str]
    ) -> None:
        changes = [
            (kind, id, source(expression))
            for id, expression in zip(*side_by_side(ids, expressions, columns), strict=True)
        ]
        can_match = self._index._native.can_match
        never = [repr(id) for _, id, given in changes if not can_match(given)]
        if never:
            warn_never(never, lambda: None, levels=4)
        self._changes += changes

    def __enter__(self) -> Batch:
        """Collect the changes that this thread makes to the index.

        Raises:
            RuntimeError: This thread has a batch open already.
        """
        batches = self._index._batches
        if batches.setdefault(threading.get_ident(), self) is not self:
            raise RuntimeError("a batch of this index is open already in this thread")
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        """Make all changes, unless the block raised."""
        del self._index._batches[threading.get_ident()]
        if error is None:
            self._index._native.apply(self._changes)
