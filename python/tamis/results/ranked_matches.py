"""The best matches of many events."""

from __future__ import annotations

from tamis import _native
from tamis.results.event_results import EventResults
from tamis.results.matches import Id


class RankedMatches(EventResults[tuple[Id, float]]):
    """One list of ids and scores per event, best first; a list is made when it is accessed.

    It is backed by three arrays that Arrow and numpy read without a copy: the best matches of event ``i`` are
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

    __slots__ = ("_scores",)

    def __init__(self, native: _native.NativeRankedMatches) -> None:
        """Wrap the ranked matches of the core."""
        super().__init__(native)
        self._scores = native.scores_array

    @property
    def scores(self) -> _native.NativeArray:
        """The score of each id: float64."""
        return self._scores()
