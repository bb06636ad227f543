"""The best matches of one event or many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tamis.index.arguments import Weights, event_weights, match_count, thread_count
from tamis.index.groups import Groups
from tamis.index.handle import IndexHandle
from tamis.results import Id, RankedMatches

if TYPE_CHECKING:
    import pyarrow


class Ranking(IndexHandle):
    """Finds the matches with the highest scores."""

    __slots__ = ()

    def top_k(
        self,
        event: Mapping[str, Any],
        k: int = 5,
        weights: Weights | None = None,
        *,
        group_by: Groups | None = None,
        per_group: int = 1,
    ) -> list[tuple[Id, float]]:
        """Find the k best matches by score, best first; ties in insertion order.

        The score is the sum, over the satisfied predicates, of the predicate's weight times the
        attribute's weight in ``weights``; both are 1.0 by default.

        Args:
            event: A mapping, as `match` takes.
            k: Maximum matches.
            weights: Attribute weights, finite and not negative.
            group_by: Groups of ids: at most ``per_group`` of the matches are of one group.
            per_group: Maximum matches of each group; without ``group_by`` it has no effect.

        >>> from tamis import Index
        >>> index = Index()
        >>> index.add("plain", "age > 18 and city = 'Paris'")
        >>> index.add("keen", "age > 18 ^ 5 and city = 'Paris'")
        >>> index.top_k({"age": 30, "city": "Paris"}, k=2, weights={"age": 0.5})
        [('keen', 3.5), ('plain', 1.5)]
        """
        return self._native.top_k(event, match_count(k, group_by, per_group), dict(weights or {}))

    def top_k_many(
        self,
        events: Iterable[Mapping[str, Any]],
        k: int = 5,
        weights: Weights | Iterable[Weights | None] | None = None,
        threads: int | None = None,
        *,
        group_by: Groups | None = None,
        per_group: int = 1,
    ) -> RankedMatches:
        """Find the k best matches of many events at once, for each event those of `top_k`, on several cores.

        Args:
            events: Mappings, as `match` takes.
            k: Maximum matches per event.
            weights: Attribute weights, as in `top_k`: a mapping for all events, or one mapping (or None) per
                event.
            threads: How many threads to use; by default one per core.
            group_by: Groups of ids, as in `top_k`.
            per_group: Maximum matches of each group.

        Raises:
            EventError: An event or a weight has an invalid value, or the number of weights is not that of
                the events.

        >>> from tamis import Index
        >>> index = Index()
        >>> index.add_many({"plain": "age > 18 and vip", "keen": "age > 18 ^ 5 or vip"})
        >>> events = [{"age": 30, "vip": True}, {"age": 40, "vip": True}]
        >>> list(index.top_k_many(events, k=1, weights=[{"age": 0.25}, None]))
        [[('keen', 2.25)], [('keen', 6.0)]]
        """
        events = events if isinstance(events, list) else list(events)
        wanted, each = match_count(k, group_by, per_group), event_weights(weights)
        return RankedMatches(self._native.top_k_many(events, wanted, each, thread_count(threads)))

    def top_k_json_many(
        self,
        events: str | bytes | Iterable[str | bytes],
        k: int = 5,
        weights: Weights | Iterable[Weights | None] | None = None,
        threads: int | None = None,
        *,
        group_by: Groups | None = None,
        per_group: int = 1,
    ) -> RankedMatches:
        r"""As `top_k_many`, for JSON objects: one per line of a text, or one per text of an iterable.

        Blank lines are skipped.

        >>> from tamis import Index
        >>> index = Index()
        >>> index.add_many({1: "a > 1", 2: "a > 1 ^ 2"})
        >>> list(index.top_k_json_many('{"a": 1}\n{"a": 2}\n', k=1))
        [[], [(2, 2.0)]]
        """
        if not isinstance(events, str | bytes | list):
            events = list(events)
        wanted, each = match_count(k, group_by, per_group), event_weights(weights)
        return RankedMatches(self._native.top_k_json_many(events, wanted, each, thread_count(threads)))

    def top_k_arrow(
        self,
        data: Any,
        k: int = 5,
        weights: Weights | Iterable[Weights | None] | None = None,
        threads: int | None = None,
        *,
        group_by: Groups | None = None,
        per_group: int = 1,
    ) -> pyarrow.Table:
        """As `top_k_many`, for the rows of any Arrow data: pyarrow, polars, DuckDB, pandas with pyarrow.

        Returns:
            A table with the columns ``event``, the row's number from 0, ``id`` and ``score``; each event's
            best match comes first.
        """
        return self.top_k_batches(
            data, k, weights, threads, group_by=group_by, per_group=per_group
        ).to_arrow()

    def top_k_batches(
        self,
        data: Any,
        k: int = 5,
        weights: Weights | Iterable[Weights | None] | None = None,
        threads: int | None = None,
        *,
        group_by: Groups | None = None,
        per_group: int = 1,
    ) -> RankedMatches:
        """As `top_k_many`, for the rows of any Arrow data; `top_k_arrow` gives the same as a table.

        >>> import pyarrow
        >>> from tamis import Index
        >>> index = Index()
        >>> index.add_many({1: "a > 0", 2: "a > 10 ^ 3"})
        >>> list(index.top_k_batches(pyarrow.table({"a": [5, 50]}), k=1))
        [[(1, 1.0)], [(2, 3.0)]]
        """
        wanted, each = match_count(k, group_by, per_group), event_weights(weights)
        return RankedMatches(self._native.top_k_arrow(data, wanted, each, thread_count(threads)))
