"""The results of many events: one list per event, backed by arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, overload

from tamis import _native

if TYPE_CHECKING:
    import pyarrow

Item = TypeVar("Item")


class _NativeResults(Protocol[Item]):
    """Results of the core."""

    def __len__(self) -> int: ...
    def row(self, row: int) -> list[Item]: ...
    def offsets_array(self) -> _native.NativeArray: ...
    def ids_array(self) -> _native.NativeArray: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


class EventResults(Sequence[list[Item]], Generic[Item]):
    """A sequence with one list per event; a list is made when it is accessed."""

    __slots__ = ("_native",)

    def __init__(self, native: _NativeResults[Item]) -> None:
        """Wrap the results of the core."""
        self._native = native

    def __len__(self) -> int:
        """Count the events."""
        return len(self._native)

    @overload
    def __getitem__(self, event: int) -> list[Item]: ...
    @overload
    def __getitem__(self, event: slice) -> list[list[Item]]: ...
    def __getitem__(self, event: int | slice) -> list[Item] | list[list[Item]]:
        """Give the list of one event, or the lists of a slice."""
        if isinstance(event, slice):
            return [self._row(i) for i in range(*event.indices(len(self)))]
        return self._row(event)

    def _row(self, event: int) -> list[Item]:
        return self._native.row(event)

    def __eq__(self, other: object) -> bool:
        """Compare event by event with any sequence of lists."""
        if isinstance(other, EventResults | list | tuple):
            return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it compares equal to lists, which have no hash

    def __repr__(self) -> str:
        """Give the number of events and of matches."""
        return f"{type(self).__name__}({len(self)} events, {len(self.ids)} matches)"

    @property
    def offsets(self) -> _native.NativeArray:
        """The start of each event's ids, and the end of the last: int64, one more than events."""
        return self._native.offsets_array()

    @property
    def ids(self) -> _native.NativeArray:
        """The ids of all events, concatenated: int64, or strings if an id of the index is a string."""
        return self._native.ids_array()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Give everything as Arrow data, as `to_arrow` does."""
        return self._native.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pyarrow.Table:
        """Give everything as a table of the columns ``event`` (from 0), ``id`` and, if ranked, ``score``."""
        import pyarrow

        return pyarrow.table(self)
