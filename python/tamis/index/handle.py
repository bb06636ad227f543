"""What all parts of `Index` share: the index of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, cast

from tamis import _native
from tamis.errors import ClosedIndex

if TYPE_CHECKING:
    from tamis.index.rules.batch import Batch


class IndexHandle:
    """Holds the index of the core; its methods are in the classes that `Index` inherits from."""

    __slots__ = ("_batches", "_native")

    # Replaced by `CLOSED` when the index is closed, so that open indexes pay nothing for the check.
    _native: _native.NativeIndex
    # The open batches, by the thread that opened them.
    _batches: dict[int, Batch]


class _ClosedNative:
    """Stands for the index of the core after `Index.close`: every use raises."""

    __slots__ = ()

    def __getattr__(self, name: str) -> NoReturn:
        """Raise for every method."""
        raise ClosedIndex("the index is closed; load or make it again")

    def __len__(self) -> int:
        """Raise: special methods are not looked up by `__getattr__`."""
        self.__getattr__("__len__")

    def __contains__(self, item: Any) -> bool:
        """Raise as `__len__` does."""
        self.__getattr__("__contains__")


CLOSED = cast(_native.NativeIndex, _ClosedNative())
