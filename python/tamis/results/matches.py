"""The matches of many events."""

from __future__ import annotations

from typing import TypeAlias

from tamis import _native
from tamis.results.bad_event import BadEvent
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

    Attributes:
        errors: The events that could not be read, if ``on_error`` allowed any. They have no matches.
    """

    __slots__ = ("_unread", "errors")

    def __init__(self, native: _native.NativeMatches, none_for_bad: bool = False) -> None:
        """Wrap the matches of the core.

        Args:
            native: The matches.
            none_for_bad: Whether events that could not be read have None instead of an empty list.
        """
        super().__init__(native)
        self.errors = [BadEvent(*parts) for parts in native.bad_events()]
        self._unread = frozenset(bad.event for bad in self.errors) if none_for_bad else frozenset()

    def _row(self, event: int) -> list[Id]:
        if self._unread and event % len(self) in self._unread:
            return None  # type: ignore[return-value]  # only where the caller asked for it
        return super()._row(event)
