"""The matches of many events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from tamis import _native

if TYPE_CHECKING:
    import pyarrow

Id: TypeAlias = str | int


class Matches(Sequence[list[Id]]):
    """One list of ids per event, made when it is asked for.

    Behind it lie two arrays that Arrow and numpy read without a copy: event ``i`` matched
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

    __slots__ = ("_native",)

    def __init__(self, native: _native.NativeMatches) -> None:
        """Wrap the matches of the core."""
        self._native = native

    def __len__(self) -> int:
        """Count the events."""
        return len(self._native)

    @overload
    def __getitem__(self, event: int) -> list[Id]: ...
    @overload
    def __getitem__(self, event: slice) -> list[list[Id]]: ...
    def __getitem__(self, event: int | slice) -> list[Id] | list[list[Id]]:
        """Give the ids one event matched, or those of several."""
        if isinstance(event, slice):
            return [self._native.row(i) for i in range(*event.indices(len(self)))]
        return self._native.row(event)

    def __eq__(self, other: object) -> bool:
        """Compare event by event with any sequence of lists."""
        if isinstance(other, Matches | list | tuple):
            return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it compares equal to lists, which have no hash

    def __repr__(self) -> str:
        """Say how much there is."""
        return f"Matches({len(self)} events, {len(self.ids)} matches)"

    @property
    def offsets(self) -> _native.NativeArray:
        """Where each event's ids begin, and the end: int64, one more than events."""
        return self._native.offsets_array()

    @property
    def ids(self) -> _native.NativeArray:
        """All ids, event by event: int64, or strings if some id is a string."""
        return self._native.ids_array()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Give the matches as Arrow data with the columns ``event`` and ``id``."""
        return self._native.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pyarrow.Table:
        """Give the matches as a table with the columns ``event`` (from 0) and ``id``."""
        import pyarrow

        return pyarrow.table(self)
