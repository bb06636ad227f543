"""Matching one event or many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tamis.index.arguments import OnError, is_strict, thread_count
from tamis.index.handle import IndexHandle
from tamis.results import Id, Matches

if TYPE_CHECKING:
    import pyarrow


class Matching(IndexHandle):
    """Finds the rules that events satisfy."""

    __slots__ = ()

    def match(self, event: Mapping[str, Any]) -> list[Id]:
        """Find the ids of all rules that the event satisfies, in insertion order.

        Nested mappings reach dotted attributes.

        >>> from tamis import Index
        >>> index = Index()
        >>> index.add(1, "user.age >= 18")
        >>> index.match({"user": {"age": 20}})
        [1]
        """
        return self._native.match_one(event)

    def match_json(self, event: str | bytes) -> list[Id]:
        """As `match`, for one JSON object.

        >>> from tamis import Index
        >>> index = Index()
        >>> index.add(1, "a > 1")
        >>> index.match_json('{"a": 2}')
        [1]
        """
        return self._native.match_json(event)

    def match_many(
        self,
        events: Iterable[Mapping[str, Any]],
        threads: int | None = None,
        ordered: bool = False,
        on_error: OnError = "raise",
    ) -> Matches:
        """Match many events at once.

        Args:
            events: Mappings, as `match` takes.
            threads: How many threads to use; by default one per core.
            ordered: Whether each event's ids are in insertion order; sorting costs.
            on_error: What happens if an event cannot be read. ``"raise"`` raises; ``"skip"`` gives the event
                an empty list and ``"null"`` None, and both list it in `Matches.errors`.

        >>> from tamis import Index
        >>> index = Index()
        >>> index.add(1, "a > 0")
        >>> matches = index.match_many([{"a": 5}, {"a": object()}], on_error="null")
        >>> list(matches), matches.errors[0].event
        ([[1], None], 1)
        """
        events = events if isinstance(events, list) else list(events)
        strict = is_strict(on_error)
        native = self._native.match_many(events, thread_count(threads), ordered, strict)
        return Matches(native, on_error == "null")

    def match_json_many(
        self,
        events: str | bytes | Iterable[str | bytes],
        threads: int | None = None,
        ordered: bool = False,
        on_error: OnError = "raise",
    ) -> Matches:
        r"""As `match_many`, for JSON objects: one per line of a text, or one per text of an iterable.

        Blank lines are skipped.

        >>> from tamis import Index
        >>> index = Index()
        >>> index.add(1, "a > 1")
        >>> list(index.match_json_many('{"a": 1}\n{"a": 2}\n'))
        [[], [1]]
        """
        if not isinstance(events, str | bytes | list):
            events = list(events)
        strict = is_strict(on_error)
        native = self._native.match_json_many(events, thread_count(threads), ordered, strict)
        return Matches(native, on_error == "null")

    def match_arrow(
        self, data: Any, threads: int | None = None, ordered: bool = False, on_error: OnError = "raise"
    ) -> pyarrow.Table:
        """Match the rows of any Arrow data: pyarrow, polars, DuckDB, pandas with pyarrow.

        Returns:
            A table with the columns ``event``, the row's number from 0, and ``id``. Rows that could not be
            read are in `Matches.errors` of `match_batches`, not here.
        """
        return self.match_batches(data, threads, ordered, on_error).to_arrow()

    def match_batches(
        self, data: Any, threads: int | None = None, ordered: bool = False, on_error: OnError = "raise"
    ) -> Matches:
        """As `match_many`, for the rows of any Arrow data; `match_arrow` gives the same as a table.

        Use it where offsets and ids are needed as arrays, for example to add a column of lists to a batch.

        >>> import pyarrow
        >>> from tamis import Index
        >>> index = Index()
        >>> index.add_many({1: "a > 0", 2: "a > 10"})
        >>> matches = index.match_batches(pyarrow.table({"a": [5, 50, -1]}), ordered=True)
        >>> list(matches)
        [[1], [1, 2], []]
        >>> pyarrow.array(matches.offsets).to_pylist()
        [0, 1, 3, 3]
        """
        strict = is_strict(on_error)
        native = self._native.match_arrow(data, thread_count(threads), ordered, strict)
        return Matches(native, on_error == "null")
