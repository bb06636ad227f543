"""What all parts of `Index` share: the index of the core."""

from __future__ import annotations

from tamis import _native


class IndexHandle:
    """Holds the index of the core; its methods are in the classes that `Index` inherits from."""

    __slots__ = ("_native",)

    _native: _native.NativeIndex
