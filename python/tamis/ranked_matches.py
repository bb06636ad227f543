"""The best matches of many events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from tamis import _native
from tamis.matches import Id

if TYPE_CHECKING:
    import pyarrow


class RankedMatches(Sequence[list[tuple[Id, float]]]):
    """One list of ids and scores per event, best first, made when it is asked for.

    Behind it lie three arrays that Arrow and numpy read without a copy: the best matches of event ``i`` are
    ``ids[offsets[i]:offsets[i + 1]]`` with the scores ``scores[offsets[i]:offsets[i + 1]]``.

    >>> from tamis import Index
    >>> index = Index()
    >>> index.add_many([1, 2], ["a > 0", "a > 10 ^ 3"])
    >>> ranked = index.top_k_many([{"a": 5}, {"a": 50}, {"b": 1}])
    >>> list(ranked)
    [[(1, 1.0)], [(2, 3.0), (1, 1.0)], []]
    >>> import numpy
    >>> numpy.asarray(ranked.offsets).tolist(), numpy.asarray(ranked.scores).tolist()
    ([0, 1, 3, 3], [1.0, 3.0, 1.0])
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.NativeRankedMatches) -> None:
        """Wrap the ranked matches of the core."""
        self._native = native

    def __len__(self) -> int:
        """Count the events."""
        return len(self._native)

    @overload
    def __getitem__(self, event: int) -> list[tuple[Id, float]]: ...
    @overload
    def __getitem__(self, event: slice) -> list[list[tuple[Id, float]]]: ...
    def __getitem__(self, event: int | slice) -> list[tuple[Id, float]] | list[list[tuple[Id, float]]]:
        """Give the best matches of one event, or those of several."""
        if isinstance(event, slice):
            return [self._native.row(i) for i in range(*event.indices(len(self)))]
        return self._native.row(event)

    def __eq__(self, other: object) -> bool:
        """Compare event by event with any sequence of lists."""
        if isinstance(other, RankedMatches | list | tuple):
            return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it compares equal to lists, which have no hash

    def __repr__(self) -> str:
        """Say how much there is."""
        return f"RankedMatches({len(self)} events, {len(self.ids)} matches)"

    @property
    def offsets(self) -> _native.NativeArray:
        """Where each event's matches begin, and the end: int64, one more than events."""
        return self._native.offsets_array()

    @property
    def ids(self) -> _native.NativeArray:
        """All ids, event by event: int64, or strings if some id is a string."""
        return self._native.ids_array()

    @property
    def scores(self) -> _native.NativeArray:
        """The score of each id: float64."""
        return self._native.scores_array()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Give the matches as Arrow data with the columns ``event``, ``id`` and ``score``."""
        return self._native.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pyarrow.Table:
        """Give the matches as a table with the columns ``event`` (from 0), ``id`` and ``score``."""
        import pyarrow

        return pyarrow.table(self)
