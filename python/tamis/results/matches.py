"""The matches of many events."""

from __future__ import annotations

from typing import TypeAlias

from tamis import _native
from tamis.results.event_results import EventResults

Id: TypeAlias = str | int


class Matches(EventResults[Id]):
    """One list of ids per event; a list is made when it is accessed.

    It is backed by two arrays that Arrow and numpy read without a copy: event ``i`` matched
    ``ids[offsets[i]:offsets[i + 1]]``.

    >>> from tamis import Index
    >>> index = Index()
    >>> index.add_many([1, 2], ["a > 0", "a > 10"])
    >>> matches = index.match_many([{"a": 5}, {"a": 50}, {"b": 1}], ordered=True)
    >>> list(matches)
    [[1], [1, 2], []]
    >>> import numpy
    >>> numpy.asarray(matches.offsets).tolist(), numpy.asarray(matches.ids).tolist()
    ([0, 1, 3, 3], [1, 1, 2])
    """

    __slots__ = ()

    def __init__(self, native: _native.NativeMatches) -> None:
        """Wrap the matches of the core."""
        super().__init__(native)
