"""Groups of ids, for rankings with at most some matches of each group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tamis import _native
from tamis.results import Id


class Groups:
    """Which group each id belongs to, such as the campaign of each advertisement; made once, used often.

    An id that is not in it is a group of its own. Groups belong to no index and do not change: make another
    one when ids are added or move. Picklable.

    Args:
        pairs: A mapping from id to group, or pairs of id and group; both are str or int. Of several pairs
            with the same id, the last counts.

    Raises:
        InvalidId: An id or a group is neither a str nor an integer of 64 bits.

    >>> from tamis import Groups, Index
    >>> index = Index()
    >>> index.add_many({"ad-1": "age > 18 ^ 3", "ad-2": "age > 18 ^ 2", "ad-3": "age > 18"})
    >>> campaigns = Groups({"ad-1": "summer", "ad-2": "summer", "ad-3": "winter"})
    >>> index.top_k({"age": 30}, k=2, group_by=campaigns)
    [('ad-1', 3.0), ('ad-3', 1.0)]
    """

    __slots__ = ("_native",)

    _native: _native.NativeGroups

    def __init__(self, pairs: Mapping[Id, Id] | Iterable[tuple[Id, Id]]) -> None:
        """See the class."""
        items = pairs.items() if isinstance(pairs, Mapping) else pairs
        self._native = _native.NativeGroups(list(items))

    def __len__(self) -> int:
        """Count the ids."""
        return len(self._native)

    def __contains__(self, id: Id) -> bool:
        """Tell whether an id has a group."""
        return self._native.get(id) is not None

    def __getitem__(self, id: Id) -> Id:
        """Give the group of an id.

        Raises:
            KeyError: The id has none.
        """
        group = self._native.get(id)
        if group is None:
            raise KeyError(id)
        return group

    def __reduce__(self) -> tuple[type[Groups], tuple[list[tuple[Id, Id]]]]:
        """Pickle the pairs."""
        return Groups, (self._native.items(),)

    def __repr__(self) -> str:
        """Show the number of ids."""
        return f"<tamis.Groups of {len(self)} ids>"
